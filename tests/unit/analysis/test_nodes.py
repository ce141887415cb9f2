"""What is said of the nodes of a run: whether they began together, on one clock, and what each did."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.host_use import other_programs_share
from brimline.analysis.nodes import blamed, most_of_nodes, node_figures, node_findings
from brimline.analysis.observation import observe
from brimline.analysis.standstills import standstill_findings
from brimline.record.model import NodeRow, NodeTotals, RunRecord, Standstill
from brimline.report import print_report
from brimline.report.run.view import run_report
from brimline.report.run_nodes import nodes
from tests.support.simulation import simulate

S = 1_000_000_000
CLOCK = {"ahead_ns": 5 * S, "error_ns": 20_000, "readings": 4, "drift_ppm": 1.5, "drift_error_ppm": 0.5}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    return simulate({}, tmp_path_factory.mktemp("alone") / "run", connections=8, warmup="1s", duration="2s")


def _shared(alone: RunRecord, *changes: dict[str, Any]) -> RunRecord:
    """The same run as if two nodes had done it, a half each; `changes` are of each one's totals."""
    assert alone.summary is not None
    half = {name: alone.summary[name] // 2 for name in ("due", "sent", "ok", "miss", "failed", "unfinished")}  # type: ignore[literal-required]
    totals: list[NodeTotals] = [
        {
            "node": node, "host": host, "pid": 1, "cpu_cores": 2, "python": "3", "threads": 1, "elapsed_ns": 3 * S,
            "operations_hash": "0", "late_ns": 0, "clock": CLOCK, "ended_by": "completed", "lost": None,
            **half, **change,
        }  # type: ignore[typeddict-item]
        for node, (host, change) in enumerate(zip(("here", "elsewhere"), changes or ({}, {}), strict=True))
    ]  # fmt: skip
    rows: list[NodeRow] = [
        {
            **interval, "node": node, "sent": 100, "ok": 100, "miss": 0, "failed": node, "held_back": 0,
            "process_cpu_ns": S // 2, "busiest_thread_cpu_ns": S // 4, "service_p99_ns": 1_000, "lag_p99_ns": 0,
            "clock_ahead_ns": 0, "clock_error_ns": 0,
        }
        for interval in alone.intervals
        for node in (0, 1)
    ]  # fmt: skip
    summary = {**alone.summary, "nodes": totals}
    return replace(alone, summary=summary, nodes=rows, environment={"host": {"name": "here"}})  # type: ignore[arg-type]


def test_a_run_of_one_client_has_nothing_to_say_of_nodes(alone: RunRecord) -> None:
    assert (node_figures(alone), node_findings(alone), nodes(alone).blocks) == ([], [], [])


@pytest.mark.parametrize(
    ("change", "standing", "part"),
    [
        ({}, Standing.PASS, "2 nodes began together, on one clock to within 40.0 µs"),
        ({"lost": "gone"}, Standing.FAIL, "lost: 1 (elsewhere)"),
        ({"late_ns": S // 4}, Standing.WARN, "began up to 250 ms after the others: 1 (elsewhere)"),
        ({"late_ns": S}, Standing.FAIL, "began up to 1"),
        ({"clock": {**CLOCK, "error_ns": S // 50}}, Standing.WARN, "may be 20.0 ms apart"),
        ({"clock": {**CLOCK, "error_ns": 70_000}}, Standing.PASS, "one clock to within 90.0 µs"),
        ({"clock": {}}, Standing.PASS, "to within 20.0 µs"),
    ],
)
def test_what_nodes_lack_is_told(alone: RunRecord, change: dict[str, Any], standing: Standing, part: str) -> None:
    (finding,) = node_findings(_shared(alone, {}, change))
    assert finding.verdict is standing
    assert part in finding.evidence


def test_each_node_has_its_figures_in_the_report(alone: RunRecord) -> None:
    record = _shared(alone)
    first, second = node_figures(record)
    assert (first.sent_per_s, first.busiest_thread_share, second.failed) == (100.0, 0.25, 2)
    report = run_report(record, observe(record))
    (section,) = [each for each in report.sections if each.id == "nodes"]
    assert len(section.blocks[0].rows) == 2  # type: ignore[union-attr]
    printed = StringIO()
    print_report(report, Console(file=printed, width=160))
    assert "1 elsewhere" in printed.getvalue(), "show has the table as well"
    assert report.data["nodes"][1]["clock_drift_ppm"] == 1.5


def test_of_several_runs_each_node_has_what_was_most_and_its_clock_where_it_is_known_least(alone: RunRecord) -> None:
    well, badly = {"clock": CLOCK}, {"clock": {**CLOCK, "ahead_ns": -3 * S, "error_ns": 900_000}}
    first = [replace(each, lag_p99_ns=5) for each in node_figures(_shared(alone, well, badly))]
    second = [replace(each, sent_per_s=300.0) for each in node_figures(_shared(alone, badly, well))]
    found = most_of_nodes([first, second, first[:1]])
    assert [(each.node, each.host) for each in found] == [(0, "here"), (1, "elsewhere")]
    assert {(each.sent_per_s, each.lag_p99_ns, each.clock["ahead_ns"]) for each in found} == {(300.0, 5, -3 * S)}
    assert [each.lost for each in most_of_nodes([[replace(first[0], lost="gone")], second])] == ["gone", None]
    (unread, _) = most_of_nodes([[replace(first[0], clock={})], second])
    assert unread.clock == {}
    assert most_of_nodes([]) == []


def test_what_nodes_take_of_their_own_hosts_is_not_taken_of_the_servers(alone: RunRecord) -> None:
    observation = observe(_shared(alone))
    assert observation.generator.elsewhere_share == pytest.approx(0.5)
    busy = replace(observation.server, host_cpus_busy=2.0, host_cpu_count=2.0, server_cpus_used=1.0, shared_host=True)
    generator = replace(observation.generator, process_share=1.0)
    share = other_programs_share(busy, generator)
    assert share == pytest.approx(0.25), "half a CPU is the node's here, half a CPU is of others"


def test_the_node_that_is_the_cause_is_named(alone: RunRecord) -> None:
    late = Finding("generator_lag", Standing.WARN, "lag p99 498 µs")
    record = _shared(alone)
    rows = [{**row, "lag_p99_ns": 1 + row["node"]} for row in record.nodes]
    record = replace(record, nodes=rows)  # type: ignore[arg-type]
    assert blamed(record, late, lambda node: node.lag_p99_ns).evidence == "lag p99 498 µs; most on node 1 (elsewhere)"
    fine = replace(late, verdict=Standing.PASS)
    assert blamed(record, fine, lambda node: node.lag_p99_ns) == fine
    assert blamed(alone, late, lambda node: node.lag_p99_ns) == late


@pytest.mark.parametrize(("drift", "said"), [(-0.04, "0.0"), (-1.5, "−1.5"), (1.5, "1.5")])
def test_a_drift_has_the_sign_of_all_figures_and_zero_has_none(alone: RunRecord, drift: float, said: str) -> None:
    (table,) = nodes(_shared(alone, {"clock": {**CLOCK, "drift_ppm": drift}}, {})).blocks
    assert table.rows[0][-1].text == f"{said} ± 0.5 ppm"  # type: ignore[union-attr]


def test_a_standstill_is_told_of_its_node() -> None:
    still = Standstill(from_ns=S, to_ns=S + S // 2, still_ns=S // 2, node=1)
    (found,) = standstill_findings([still], begin_ns=0, end_ns=2 * S)
    assert found.evidence.startswith("the generator itself on node 1 did not run for 500 ms")
