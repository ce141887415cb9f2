"""Owns the Apdex score (Application Performance Index, apdex.org): how many operations users would be satisfied with.

(satisfied + tolerating / 2) / all. Satisfied: at most T; tolerating: at most F; frustrated: slower, failed, or never
completed. JMeter's dashboard has the same table and the same thresholds by default.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from brimline.analysis.loads import all_loads, main_load
from brimline.analysis.never_completed import never_completed
from brimline.analysis.operation_names import shown
from brimline.record.model import RunRecord
from brimline.report.statistics import TOTAL_LABEL, OperationStatistics, report_clock
from brimline.report.view import Cell, Column, Table
from brimline.units import NS_PER_MS, UNKNOWN_TEXT, duration_label, format_count, parse_duration
from brimline.wording import message


@dataclass(frozen=True, slots=True, kw_only=True)
class ApdexThresholds:
    """T and F in ns."""

    toleration_ns: int = 500 * NS_PER_MS
    frustration_ns: int = 1500 * NS_PER_MS

    def __post_init__(self) -> None:
        if not 0 < self.toleration_ns <= self.frustration_ns:
            raise ValueError("the first threshold must be above 0 and at most the second")


JMETER_THRESHOLDS = ApdexThresholds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Apdex:
    """The score of one operation kind, or of all. Frustrated: failed, however fast, or never completed."""

    satisfied: int
    tolerating: int
    frustrated: int

    @property
    def score(self) -> float | None:
        """Between 0 and 1; None without operations."""
        count = self.satisfied + self.tolerating + self.frustrated
        return (self.satisfied + self.tolerating / 2) / count if count else None


def parse_thresholds(text: str) -> ApdexThresholds:
    """T and F of "10ms,40ms". Raises ValueError."""
    parts = text.split(",")
    if len(parts) != 2:
        raise ValueError(f'"{text}" is not two times; write them like "10ms,40ms"')
    toleration_ns, frustration_ns = map(parse_duration, parts)
    return ApdexThresholds(toleration_ns=toleration_ns, frustration_ns=frustration_ns)


def apdex_scores(record: RunRecord, thresholds: ApdexThresholds) -> dict[str, Apdex] | None:
    """By operation, over the measured window, on the clock that the report quotes.

    None where times of failed operations were not recorded apart, as in records of the first days.
    """
    clock = report_clock(record)
    scores = {}
    missing = {name: count for part in all_loads(record) for name, count in never_completed(part, clock).items()}
    for operation in sorted({operation for operation, of in record.histograms if of == clock}):
        every = record.histograms[operation, clock]
        failed = record.breakdown.get((operation, f"failed_{clock}"))
        failed_count = sum(
            row["failed"] for row in record.operations if row["phase"] == "measure" and row["operation"] == operation
        )
        if failed_count != (failed.count() if failed else 0):
            return None
        within = [every.count() - every.count_above(limit_ns) for limit_ns in _limits(thresholds)]
        if failed is not None:
            within = [
                count - (failed.count() - failed.count_above(limit_ns))
                for count, limit_ns in zip(within, _limits(thresholds), strict=True)
            ]
        satisfied, tolerated = within
        scores[operation] = Apdex(
            satisfied=satisfied,
            tolerating=tolerated - satisfied,
            frustrated=every.count() + missing.get(operation, 0) - tolerated,
        )
    return scores


def apdex_table(
    record: RunRecord, statistics: Sequence[OperationStatistics], thresholds: ApdexThresholds
) -> Table | None:
    """The table of JMeter's dashboard, with what it is made of; None where it can't be computed."""
    scores = apdex_scores(record, thresholds)
    if not scores:
        return None
    of_main = {operation for operation, _ in main_load(record).histograms}
    rows: list[tuple[str, Apdex]] = [(TOTAL_LABEL, _sum([each for name, each in scores.items() if name in of_main]))]
    rows += [(shown(each.label, record.plan), scores[each.label]) for each in statistics[1:] if each.label in scores]
    return Table(
        columns=[
            Column(label="Apdex"),
            Column(label="T (Toleration threshold)", optional=True),
            Column(label="F (Frustration threshold)", optional=True),
            Column(label="Satisfied"),
            Column(label="Tolerating"),
            Column(label="Frustrated"),
            Column(label="Label", numeric=False, leading=True),
        ],
        rows=[[*_cells(score, thresholds), Cell(text=label)] for label, score in rows],
        emphasised=frozenset({0}),
        caption=message(
            "Apdex = (satisfied + tolerating / 2) / all, from {clock} over the measured window. Satisfied: at most T; "
            "tolerating: at most F; frustrated: slower, failed, or never completed.",
            clock=f"{report_clock(record)} time",
        ),
    )


def _limits(thresholds: ApdexThresholds) -> tuple[int, int]:
    return thresholds.toleration_ns, thresholds.frustration_ns


def _sum(scores: Sequence[Apdex]) -> Apdex:
    return Apdex(
        satisfied=sum(each.satisfied for each in scores),
        tolerating=sum(each.tolerating for each in scores),
        frustrated=sum(each.frustrated for each in scores),
    )


def _cells(score: Apdex, thresholds: ApdexThresholds) -> list[Cell]:
    value = score.score
    return [
        Cell(text=UNKNOWN_TEXT if value is None else f"{value:.3f}"),
        *(Cell(text=duration_label(limit_ns)) for limit_ns in _limits(thresholds)),
        *(Cell(text=format_count(count)) for count in (score.satisfied, score.tolerating, score.frustrated)),
    ]
