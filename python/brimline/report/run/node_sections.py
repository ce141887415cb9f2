"""The section that shows the nodes of a run that several shared."""

from typing import Any

from brimline.analysis.nodes import NodeFigures, node_figures
from brimline.record.model import RunRecord
from brimline.report.node_section import named, node_section
from brimline.report.view import Cell, Section
from brimline.units import UNKNOWN_TEXT, format_count, format_duration, format_percentage, format_rate
from brimline.wording import message

_LABELS = (
    *("Sent", "Lag p99", "Service p99", "Busiest thread", "Failed", "Connections"),
    *("Clock ahead by", "Give or take", "Drift"),
)


def nodes(record: RunRecord) -> Section:
    """One row a node; no blocks of a run that one client performed alone."""
    found = node_figures(record)
    caption = message(
        "{count} nodes in all, over the measured window; p99 is the median of the intervals' own. The times of an "
        "operation are of one clock, that of its node. Figures of all nodes are on the coordinator's clock, to "
        "within what a node's clock is known to.",
        count=format_count(len(found)),
    )
    return node_section(_LABELS, [_row(node) for node in found], caption)


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


def nodes_document(record: RunRecord) -> list[dict[str, Any]]:
    """The same for machines; empty of a run that one client performed alone."""
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
        for node in node_figures(record)
    ]
