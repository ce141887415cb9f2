"""Owns which columns are shown: mongostat's own by name, any path of `serverStatus`, and what brimline's monitor reads.

- `insert`, `net_in` …: a column of mongostat's.
- `mem.bits`: what lies at that path; `opcounters.getmore.diff()`: by how much it grew; `….rate()`: per second.
- `write_conflicts`, `cache_bytes_dirty` …: a column of the monitor (`row.py`) that `serverStatus` holds; counters are
  shown per second. mongostat has none of these.

Each can be given a heading of its own: `metrics.document.inserted.rate()=dps`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brimline.compat.mongostat.columns import VALUES, StatInterval, at_path, default_columns, growth
from brimline.errors import UsageError
from brimline.monitor.row import COUNTERS
from brimline.monitor.server_status import read_status

INVALID = "INVALID"
"""What stands where the server has nothing at a path, or nothing that can be counted."""

_DIFF, _RATE = ".diff()", ".rate()"
_MONITORED = frozenset(read_status({})) - VALUES.keys()


@dataclass(frozen=True, slots=True)
class Field:
    """A column that is shown: where its value comes from, and its heading."""

    source: str
    heading: str

    def text(self, interval: StatInterval, *, human: bool) -> str:
        """The value, as it is printed."""
        if self.source in VALUES:
            return VALUES[self.source](interval, human)
        if self.source in _MONITORED:
            return _monitored(self.source, interval)
        for ending in (_DIFF, _RATE):
            if self.source.endswith(ending):
                path = self.source.removesuffix(ending).split(".")
                grown = interval.grown(*path) if ending == _DIFF else interval.per_s(*path)
                return INVALID if grown is None else _plain(grown)
        return _plain(at_path(interval.after, *self.source.split(".")))


def parse_fields(text: str) -> tuple[Field, ...]:
    """The fields of a list such as `host=H,insert,mem.bits=bits`. Raises UsageError."""
    fields = []
    for part in text.split(","):
        source, _, heading = (each.strip() for each in part.partition("="))
        if not source:
            raise UsageError(f'the list of columns "{text}" has an empty place', hint="write it as insert,query,time")
        if "." not in source and source not in VALUES and source not in _MONITORED:
            raise UsageError(
                f"there is no column {source}",
                hint=f"mongostat's are {', '.join(VALUES)}; a path of serverStatus has a dot, as mem.bits",
            )
        fields.append(Field(source, heading or source))
    return tuple(fields)


def chosen_fields(
    status: Mapping[str, Any], *, only: Sequence[Field] = (), more: Sequence[Field] = ()
) -> tuple[Field, ...]:
    """`only`, or else those that fit the server and `more` behind them."""
    return tuple(only) or (*(Field(name, name) for name in default_columns(status)), *more)


def _monitored(column: str, interval: StatInterval) -> str:
    later = read_status(interval.after)[column]
    if column not in COUNTERS:
        return "" if later is None else str(later)
    grown = growth(read_status(interval.before)[column], later)
    return "" if grown is None else str(int(grown / interval.elapsed_s))


def _plain(value: Any) -> str:
    if value is None or isinstance(value, Mapping | list):
        return INVALID
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
