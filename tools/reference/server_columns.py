"""Owns the part on the columns of `server.csv`, which a class lists in groups: a comment stands above each group."""

import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from brimline.monitor.row import CONSTANTS, COUNTERS, GAUGES, ServerRow
from tools.reference.markdown import code, plain, table

_COLUMN = re.compile(r"(?P<name>\w+): ")


def server_columns() -> Iterator[str]:
    """The heading, what the kinds mean, and the table."""
    yield "## server.csv"
    yield "From every run with a server: a row for each look at it. A column that is not known is empty."
    yield (
        "A *counter* grows since the start of the server or of its host; what it says is the difference of two rows. "
        "A *gauge* holds at the instant of the look. A *constant* is the same in every row."
    )
    yield (
        "`host.csv` is there only with `--host-metrics`: a row for each reading of the server's host, `at_ns`, `gap`, "
        "`server` and those of these columns that a host fills. Who reads a record brings them to the instants of "
        "`server.csv`. What is known of the source is `monitor.host` of `server.json`: `source`, `from`, "
        "`clock_error_ns`, the most by which instants can be wrong, `gaps`, from when to when there was no reading, "
        "and `unusable_since_ns`, when a column of which something is told at times first had nothing of use."
    )
    yield plain(inspect.getdoc(ServerRow) or "")
    for group, columns in groupby(_columns(), key=itemgetter(1)):
        yield plain(group)
        yield table(("Column", "Kind"), [(code(name), _kind(name)) for name, _ in columns])


def _columns() -> Iterator[tuple[str, str]]:
    """Each column with the comment above its group."""
    group, in_comment = "", False
    for line in inspect.getsource(ServerRow).splitlines():
        text = line.strip()
        if text.startswith("# "):
            group = f"{group} {text[2:]}" if in_comment else text[2:]
        in_comment = text.startswith("# ")
        if (column := _COLUMN.match(text)) is not None and line.startswith("    "):
            yield column["name"], group


def _kind(name: str) -> str:
    kinds = {"counter": COUNTERS, "gauge": GAUGES, "constant": CONSTANTS}
    return next((kind for kind, names in kinds.items() if name in names), "of the look")
