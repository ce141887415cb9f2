"""Owns bringing what was learnt of a server's host from elsewhere into the rows of the server, as if it were read here.

Each has instants of its own. At the instant of a row of the server, the host's counters are on the line between the
readings before and behind it. Where there was no reading, nothing is said.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from brimline.record.model import Scalar, ServerRow
from brimline.record.named_times import named_times_text, read_named_times

_OF_THE_LOOK = ("at_ns", "gap", "server")
_BY_NAME = ("members_cpu_ns_by_name", "others_cpu_ns_by_name")
_CPU_COUNT = "server_cpu_count"
_SPACINGS_MAX = 3.0
"""Readings further apart than so many times as usual have a hole between them."""


def with_host(server: Sequence[ServerRow], host: Sequence[ServerRow]) -> list[ServerRow]:
    """The rows of the server with those columns of the host that they don't have; the host's own where there are none.

    A row of another server than the one whose host it is stays as it is.
    """
    if not host:
        return list(server)
    if not server:
        return list(host)
    readings = [row for row in host if isinstance(row.get("at_ns"), int)]
    readings.sort(key=_at_ns)
    good = _named([row for row in readings if not row.get("gap")])
    gone = [_at_ns(row) for row in readings if row.get("gap")]
    instants = [_at_ns(row) for row in good]
    spacings = [later - earlier for earlier, later in pairwise(instants)]
    spacing_max = _SPACINGS_MAX * median(spacings) if spacings else 0.0
    return [_merged(row, good, instants, gone, spacing_max) for row in server]


def _named(readings: Sequence[ServerRow]) -> Sequence[ServerRow]:
    """With times by name in all between those that have them: not every look reads all processes."""
    filled = [{**row} for row in readings]
    for column in _BY_NAME:
        known = [number for number, row in enumerate(readings) if row.get(column) is not None]
        for first, last in pairwise(known):
            begun_ns, length_ns = _at_ns(readings[first]), max(_at_ns(readings[last]) - _at_ns(readings[first]), 1)
            for number in range(first + 1, last):
                share = (_at_ns(readings[number]) - begun_ns) / length_ns
                filled[number][column] = _between(readings[first][column], readings[last][column], share)
    return filled


def _merged(
    row: ServerRow, good: Sequence[ServerRow], instants: Sequence[int], gone: Sequence[int], spacing_max: float
) -> ServerRow:
    at_ns = row.get("at_ns")
    place = bisect_right(instants, at_ns) if isinstance(at_ns, int) else 0
    if not isinstance(at_ns, int) or not 0 < place < len(good):
        return row
    before, behind = good[place - 1], good[place]
    holed = instants[place] - instants[place - 1] > spacing_max
    if holed or bisect_right(gone, instants[place - 1]) != bisect_right(gone, instants[place]):
        return row
    if row.get("server") and before.get("server") and row["server"] != before["server"]:
        return row
    share = (at_ns - instants[place - 1]) / (instants[place] - instants[place - 1])
    learnt: dict[str, Scalar] = {
        name: _between(before.get(name), behind.get(name), share) for name in before if name not in _OF_THE_LOOK
    }
    known = {name: value for name, value in learnt.items() if value is not None}
    kept = {name: value for name, value in row.items() if value is not None and name != "shared_host"}
    return {**row, **known, **kept, **_fewest(_CPU_COUNT, known, kept)}


def _fewest(column: str, *told: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """A server knows how many CPUs its machine has, and its host how many of them it may use."""
    counts = [value for each in told if isinstance(value := each.get(column), int | float)]
    return {column: min(counts)} if counts else {}


def _between(before: Scalar, behind: Scalar, share: float) -> Scalar:
    """What a column said `share` of the way from one reading to the next; None where one of them is not known."""
    if before is None or behind is None:
        return None
    if isinstance(before, str) or isinstance(behind, str):
        earlier, later = read_named_times(before), read_named_times(behind)
        return named_times_text({name: round(_line(earlier.get(name, 0), later[name], share)) for name in later})
    between = _line(before, behind, share)
    return round(between) if isinstance(before, int) and isinstance(behind, int) else between


def _line(before: float, behind: float, share: float) -> float:
    return before + (behind - before) * share


def _at_ns(row: Mapping[str, Scalar]) -> int:
    at_ns = row["at_ns"]
    assert isinstance(at_ns, int)  # noqa: S101 - others were left out
    return at_ns
