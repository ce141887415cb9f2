"""The section that shows the nodes of runs that several shared: of one run, or of all of an experiment."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from brimline.analysis.nodes import NodeFigures, figures_of_nodes, most_of_nodes, node_figures
from brimline.errors import RecordError
from brimline.record.experiment import ExperimentRecord
from brimline.record.layout import NODES_FILE
from brimline.record.model import RunRecord
from brimline.record.reader import read_nodes
from brimline.report.node_section import named, node_section
from brimline.report.view import Cell, Section
from brimline.units import UNKNOWN_TEXT, format_count, format_duration, format_percentage, format_rate
from brimline.wording import message

_LABELS = (
    *("Sent", "Lag p99", "Service p99", "Busiest thread", "Failed", "Connections"),
    *("Clock ahead by", "Give or take", "Drift"),
)


_OF_A_RUN = (
    "{count} nodes in all, over the measured window; p99 is the median of the intervals' own. The times of an "
    "operation are of one clock, that of its node. Figures of all nodes are on the coordinator's clock, to "
    "within what a node's clock is known to."
)
_OF_RUNS = (
    "{count} nodes in all, over the measured windows of {runs} runs. Each figure is the most of any run, and p99 is "
    "the median of a run's intervals. The clock is that of the run in which it is known least well."
)


def nodes(record: RunRecord) -> Section:
    """One row a node; no blocks of a run that one client performed alone."""
    found = node_figures(record)
    return node_section(_LABELS, [_row(node) for node in found], message(_OF_A_RUN, count=format_count(len(found))))


def nodes_over(experiment: ExperimentRecord) -> Section:
    """The same over all runs of an experiment."""
    runs = _runs(experiment)
    found = most_of_nodes(runs)
    caption = message(_OF_RUNS, count=format_count(len(found)), runs=format_count(len(runs)))
    return node_section(_LABELS, [_row(node) for node in found], caption)


def nodes_in(experiment: ExperimentRecord) -> list[NodeFigures]:
    """What those rows are of."""
    return most_of_nodes(_runs(experiment))


def _runs(experiment: ExperimentRecord) -> list[list[NodeFigures]]:
    """Of each run that nodes shared, of the trials and below them, what each node did."""
    found = []
    for path in sorted(path for trial in experiment.trials for path in trial.directory.rglob(NODES_FILE)):
        with suppress(RecordError):  # what is damaged is told where the run is read
            found.append(figures_of_nodes(*read_nodes(path.parent)))
    return [run for run in found if run]


def _row(node: NodeFigures) -> list[Cell]:
    clock = node.clock
    return [
        named(node.node, node.host, node.lost),
        Cell(text=format_rate(node.sent_per_s)),
        Cell(text=format_duration(node.lag_p99_ns) if node.lag_p99_ns else UNKNOWN_TEXT),
        Cell(text=format_duration(node.service_p99_ns)),
        Cell(text=format_percentage(node.busiest_thread_share)),
        Cell(text=format_count(node.failed), tone="fail" if node.failed else ""),
        Cell(text=format_count(node.connections)),
        Cell(text=_signed(clock["ahead_ns"]) if clock else UNKNOWN_TEXT),
        Cell(text=format_duration(clock["error_ns"]) if clock else UNKNOWN_TEXT),
        Cell(text=_drift(clock)),
    ]


def _signed(length_ns: int) -> str:
    return f"−{format_duration(-length_ns)}" if length_ns < 0 else format_duration(length_ns)


def _drift(clock: dict[str, Any]) -> str:
    drift = clock.get("drift_ppm")
    return UNKNOWN_TEXT if drift is None else f"{_minus(f'{drift:.1f}')} ± {clock['drift_error_ppm']:.1f} ppm"


def _minus(number: str) -> str:
    """With the sign that all other figures have, and none of a zero."""
    return number.removeprefix("-") if float(number) == 0 else number.replace("-", "−")


def nodes_document(nodes: Sequence[NodeFigures]) -> list[dict[str, Any]]:
    """The rows for machines; empty of what one client performed alone."""
    return [
        {
            "node": node.node,
            "host": node.host,
            "sent_ops_per_s": node.sent_per_s,
            "failed": node.failed,
            "lag_p99_ns": node.lag_p99_ns or None,
            "service_p99_ns": node.service_p99_ns,
            "busiest_thread_share": node.busiest_thread_share,
            "connections": node.connections,
            "late_ns": node.late_ns,
            "clock_ahead_ns": node.clock.get("ahead_ns"),
            "clock_error_ns": node.clock.get("error_ns"),
            "clock_drift_ppm": node.clock.get("drift_ppm"),
            "why_lost": node.lost,
        }
        for node in nodes
    ]
