"""Owns the levels that a search verified: which loads were candidates, how often each held, and which one counts."""

from collections.abc import Iterator, Sequence

from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.outcome import Judged, TrialOutcome, usable
from brimline.experiments.settings import Grade
from brimline.report.view import Cell, Column, Table, Tone
from brimline.units import UNKNOWN_TEXT, format_duration
from brimline.wording import message


def levels_table(points: Sequence[CapacityConclusion]) -> Table | None:
    """A row for each candidate of each limit, the highest first; None where no limit came to verification."""
    rows = [row for point in points for row in _rows(point)]
    if not rows:
        return None
    return Table(
        columns=[
            Column(label="Objective", numeric=False, leading=True),
            Column(label="Result", numeric=False, tag=True),
            Column(label="Candidate", unit=points[0].settings.axis.unit),
            Column(label="Windows"),
            Column(label="Held"),
            Column(label="Seen"),
        ],
        rows=rows,
        caption="Candidates and their neighbours, with every window at that very load. Seen: what the limit is on, "
        "from the lowest to the highest window.",
    )


def _rows(point: CapacityConclusion) -> Iterator[list[Cell]]:
    judged = usable(point.state.judged)
    loads = {each.load for each in judged if each.probe.stage == "verify"}
    for load in sorted(loads, reverse=True):
        windows = [each for each in judged if each.load == load]
        result, tone = _result(point, load, windows)
        yield [
            Cell(text=point.settings.slo.leading.text),
            Cell(text=result, tone=tone),
            Cell(text=point.settings.axis.number(load)),
            Cell(text=str(len(windows))),
            Cell(text=str(sum(each.outcome is TrialOutcome.PASS for each in windows))),
            Cell(text=_seen(point, windows)),
        ]


def _result(point: CapacityConclusion, load: float, windows: Sequence[Judged]) -> tuple[str, Tone]:
    if point.grade is Grade.VERIFIED and load == point.figure:
        return "verified", "pass"
    if any(each.outcome is TrialOutcome.FAIL for each in windows):
        return "not held", "fail"
    return "candidate", "muted"


def _seen(point: CapacityConclusion, windows: Sequence[Judged]) -> str:
    """`8.10 ms to 9.40 ms`."""
    key = point.settings.slo.leading.key
    figures = [each.trial.observation.quantile(key) for each in windows]
    seen = [each for each in figures if each is not None]
    values = sorted(each.known_ns for each in seen if each.known_ns is not None)
    if not values:
        return UNKNOWN_TEXT
    low, high = format_duration(values[0]), format_duration(values[-1])
    if len(values) < len(seen):
        return message("≥ {value}", value=low)
    return low if low == high else message("{low} to {high}", low=low, high=high)
