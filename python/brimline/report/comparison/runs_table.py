"""Owns the table of the runs behind a comparison or a trend, in the order of time, so that drift can be seen."""

from collections.abc import Sequence
from itertools import pairwise

from brimline.analysis.compared_run import ComparedRun, Metric, noun_of
from brimline.analysis.configuration import configuration_differences, difference_text
from brimline.report.comparison.figures import figure_text
from brimline.report.view import Cell, Column, Table
from brimline.units import UNKNOWN_TEXT, format_count
from brimline.wording import capitalised, joined

_PLANNED = "Planned and sent are of the whole run, warm-up included."


def sides_table(sides: Sequence[tuple[str, ComparedRun]], metrics: Sequence[Metric]) -> Table:
    """The runs of A and B, each with its side."""
    return _table([run for _, run in sides], metrics, first=("Side", [side for side, _ in sides]))


def series_table(runs: Sequence[ComparedRun], metrics: Sequence[Metric]) -> Table:
    """The runs of a trend, each with what was configured otherwise in the run before it."""
    changed = ["", *(_changed(before, after) for before, after in pairwise(runs))]
    return _table(runs, metrics, last=("Changed since the one before", changed) if any(changed) else None)


def _table(
    runs: Sequence[ComparedRun],
    metrics: Sequence[Metric],
    *,
    first: tuple[str, Sequence[str]] | None = None,
    last: tuple[str, Sequence[str]] | None = None,
) -> Table:
    """`first` and `last`: a further column, its label and its cells."""
    behind = any(run.unsent for run in runs)
    return Table(
        columns=[
            *([Column(label=first[0], numeric=False)] if first else []),
            *(Column(label=label) for label in ("Planned", "Sent") if behind),
            *(Column(label=metric.label) for metric in metrics),
            Column(label=capitalised(noun_of(runs[0].kind) if runs else "run"), numeric=False, leading=True),
            *([Column(label=last[0], numeric=False, optional=True)] if last else []),
        ],
        rows=[
            [
                *([Cell(text=first[1][place])] if first else []),
                *(_totals_cells(run) if behind else ()),
                *(_figure_cell(run, metric) for metric in metrics),
                Cell(text=run.name),
                *([Cell(text=last[1][place], tone="warn" if last[1][place] else "")] if last else []),
            ]
            for place, run in enumerate(runs)
        ],
        caption=_PLANNED if behind else "",
    )


def _changed(before: ComparedRun, after: ComparedRun) -> str:
    return joined("; ", map(difference_text, configuration_differences([before], [after])))


def _totals_cells(run: ComparedRun) -> tuple[Cell, Cell]:
    if run.totals is None:
        return Cell(text=UNKNOWN_TEXT), Cell(text=UNKNOWN_TEXT)
    sent = Cell(text=format_count(run.totals.sent), tone="fail" if run.unsent else "")
    return Cell(text=format_count(run.totals.planned)), sent


def _figure_cell(run: ComparedRun, metric: Metric) -> Cell:
    return Cell(text=figure_text(run, metric))
