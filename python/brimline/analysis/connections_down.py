"""Owns what is said of connections that were missing while a run was measured: fewer than planned carried its load."""

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.loads import connection_count
from brimline.record.model import RunRecord
from brimline.units import format_count, format_duration
from brimline.wording import message


def connections_down(record: RunRecord) -> list[Finding]:
    """That some were down at the end of intervals that count, and in how many; nothing to say where all were up.

    Of several routers one may be gone without an outage, and without an error where commands are sent once more.
    """
    planned = connection_count(record)
    measured = [row for row in record.intervals if row["phase"] == "measure"]
    short = [row for row in measured if row["connections_up"] < planned]
    if not short:
        return []
    evidence = message(
        "{up} of {planned} connections were up at the fewest; some were down at the end of intervals of {time} in all",
        up=format_count(min(row["connections_up"] for row in short)),
        planned=format_count(planned),
        time=format_duration(sum(row["end_ns"] - row["start_ns"] for row in short)),
    )
    return [Finding("connections", Standing.WARN, evidence)]
