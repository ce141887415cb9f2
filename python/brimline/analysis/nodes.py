"""Owns what several nodes did of one run: each one's part, and whether they began together, on one clock."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from brimline.analysis.finding import Finding, Standing
from brimline.record.model import NodeRow, NodeTotals, RunRecord, Summary
from brimline.units import NS_PER_S, format_count, format_duration, format_percentage
from brimline.wording import Verbatim, joined, message

CHECK = "nodes"
CLOCK_ERROR_SHARE_MAX = 0.01
"""Share of an interval that the clocks may be apart: by so much a rate in one interval may be off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFigures:
    """One node over the measured window. Rates are per second; `busiest_thread_share` is of one CPU.

    `lag_p99_ns` and `service_p99_ns` are the medians of its intervals' own; 0 where there is none. `clock` is as in
    `NodeTotals`, `late_ns` how long after the agreed instant it was told to begin; `lost` why it is lost, None: it is
    there.
    """

    node: int
    host: str
    sent_per_s: float
    failed: int
    lag_p99_ns: int
    service_p99_ns: int
    busiest_thread_share: float
    connections: int
    clock: dict[str, Any]
    late_ns: int
    lost: str | None


def node_figures(record: RunRecord) -> list[NodeFigures]:
    """Of each node of a run that several shared, in their order; none of a run that one client performed alone."""
    return figures_of_nodes(record.summary.get("nodes", []) if record.summary else [], record.nodes)


def figures_of_nodes(nodes: Sequence[NodeTotals], rows: Sequence[NodeRow]) -> list[NodeFigures]:
    """The same of their totals and rows alone."""
    measured = [row for row in rows if row["phase"] == "measure"]
    return [_figures(node, [row for row in measured if row["node"] == node["node"]]) for node in nodes]


def most_of_nodes(runs: Sequence[Sequence[NodeFigures]]) -> list[NodeFigures]:
    """Of each node that took part in any of `runs`, each figure where it is largest.

    Its clock is that of the run in which it is known least well, None of it in a run: it isn't known.
    """
    which = attrgetter("node", "host")
    every = sorted((node for run in runs for node in run), key=which)
    return [_most(list(same)) for _, same in groupby(every, key=which)]


def _most(same: Sequence[NodeFigures]) -> NodeFigures:
    return NodeFigures(
        node=same[0].node,
        host=same[0].host,
        sent_per_s=max(each.sent_per_s for each in same),
        failed=max(each.failed for each in same),
        lag_p99_ns=max(each.lag_p99_ns for each in same),
        service_p99_ns=max(each.service_p99_ns for each in same),
        busiest_thread_share=max(each.busiest_thread_share for each in same),
        connections=max(each.connections for each in same),
        clock=max((each.clock for each in same), key=lambda clock: clock.get("error_ns", math.inf)),
        late_ns=max(each.late_ns for each in same),
        lost=next((each.lost for each in same if each.lost is not None), None),
    )


def _figures(node: NodeTotals, rows: Sequence[NodeRow]) -> NodeFigures:
    wall_ns = max(sum(row["end_ns"] - row["start_ns"] for row in rows), 1)
    # What is read in blocks has no rows of nodes: the whole run then stands for its window.
    sent, length_ns = (sum(row["sent"] for row in rows), wall_ns) if rows else (node["sent"], node["elapsed_ns"])
    return NodeFigures(
        node=node["node"],
        host=node["host"],
        sent_per_s=sent / max(length_ns, 1) * NS_PER_S,
        failed=sum(row["failed"] for row in rows) if rows else node["failed"],
        lag_p99_ns=_median([row["lag_p99_ns"] for row in rows]),
        service_p99_ns=_median([row["service_p99_ns"] for row in rows]),
        busiest_thread_share=min(1.0, sum(row["busiest_thread_cpu_ns"] for row in rows) / wall_ns),
        connections=max((row["connections_up"] for row in rows), default=0),
        clock=node["clock"],
        late_ns=node["late_ns"],
        lost=node["lost"],
    )


def _median(values: Sequence[int]) -> int:
    return sorted(values)[len(values) // 2] if values else 0


def cpu_elsewhere_ns(record: RunRecord) -> int:
    """CPU time, in the measured window, of nodes on other hosts than the one that the command ran on."""
    elsewhere = hosts_elsewhere(record)
    rows = (row for row in record.nodes if row["phase"] == "measure" and row["node"] in elsewhere)
    return sum(row["process_cpu_ns"] for row in rows)


def hosts_elsewhere(record: RunRecord) -> dict[int, str]:
    """By node, the hosts of those that ran on others than the command did."""
    nodes = record.summary.get("nodes", []) if record.summary else []
    here = (record.environment.get("host") or {}).get("name")
    return {node["node"]: node["host"] for node in nodes if node["host"] != here}


def clock_error_ns(record: RunRecord) -> int | None:
    """How far the clocks of two nodes may be apart; None of a run on one clock.

    Each is known against the coordinator's: two of them may be off to opposite sides.
    """
    nodes = record.summary.get("nodes", []) if record.summary else []
    errors = sorted((node["clock"]["error_ns"] for node in nodes if node["clock"]), reverse=True)
    return sum(errors[:2]) if errors else None


def node_findings(record: RunRecord) -> list[Finding]:
    """All nodes began together, on one clock, and stayed; nothing to say of a run that one client performed alone."""
    nodes = record.summary.get("nodes", []) if record.summary else []
    if not nodes:
        return []
    if lost := lost_nodes(record.summary):
        evidence = message("lost: {nodes}; what the others measured is kept", nodes=lost)
        return [Finding(CHECK, Standing.FAIL, evidence)]
    late_ns = max(node["late_ns"] for node in nodes)
    if late_ns > 0:
        late = [node for node in nodes if node["late_ns"] > 0]
        evidence = message(
            "began up to {late} after the others: {nodes}; it sent what was due meanwhile all at once",
            late=format_duration(late_ns),
            nodes=_named(late),
        )
        standing = Standing.WARN if late_ns < record.plan.warmup_ns / 2 else Standing.FAIL
        return [Finding(CHECK, standing, evidence)]
    error_ns = clock_error_ns(record)
    if error_ns is None:
        return [Finding(CHECK, Standing.UNKNOWN, "the clocks of the nodes were not read")]
    error, count = format_duration(error_ns), format_count(len(nodes))
    share = error_ns / record.plan.interval_ns
    if share > CLOCK_ERROR_SHARE_MAX:
        evidence = message(
            "the clocks of the {count} nodes may be {error} apart: a rate in one interval may be off by {share}",
            count=count,
            error=error,
            share=format_percentage(share),
        )
        return [Finding(CHECK, Standing.WARN, evidence)]
    evidence = message("{count} nodes began together, on one clock to within {error}", count=count, error=error)
    return [Finding(CHECK, Standing.PASS, evidence)]


def lost_nodes(summary: Summary | None) -> str:
    """Those of a run that were lost, with their hosts; "" where none was."""
    nodes = summary.get("nodes", []) if summary else []
    return _named([node for node in nodes if node["lost"] is not None])


def blamed(record: RunRecord, finding: Finding, figure: Callable[[NodeFigures], float]) -> Finding:
    """`finding`, with the node whose `figure` is largest where it doesn't pass; as it is of one client alone."""
    found = node_figures(record)
    if not found or finding.verdict not in (Standing.WARN, Standing.FAIL):
        return finding
    worst = max(found, key=figure)
    evidence = message(
        "{evidence}; most on node {node} ({host})",
        evidence=finding.evidence,
        node=worst.node,
        host=Verbatim(worst.host),
    )
    return replace(finding, evidence=evidence)


def _named(nodes: Sequence[NodeTotals]) -> str:
    return joined(", ", [f"{node['node']} ({node['host']})" for node in nodes])
