"""Loads side by side: what is offered and done is compared within each, and the run's figures are the workload's."""

from pathlib import Path
from typing import Any, cast

import pytest

from brimline.analysis.finding import Standing
from brimline.analysis.loads import all_loads, connection_count, judgeable, main_load
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.verdict import Verdict, judge
from brimline.api.run_result import run_result
from brimline.errors import InvalidRun
from brimline.plan.model import OperationsWork
from brimline.plan.operations import TablePlan
from brimline.record.model import RunRecord
from brimline.report import said_in
from tests.support.own_run import write_own_run
from tests.support.own_work import SHOP, own_plan
from tests.unit.analysis.records import MS, FixedHistogram, S, interval_row, operation_row, run_record, summary

REVENUE = {"operations": [2], "pacer": {"kind": "constant", "rate_ops_per_s": 2.0}, "connections": 1}
WEIGHTS = {"latest_orders": 0.75, "place_order": 0.25, "revenue": 0.0}


def shop(*, rate: float | None = 1000.0, revenue: int = 2, waits: int = 0, **changes: Any) -> RunRecord:
    """Ten seconds of 750 and 250 operations a second, and of `revenue`, of which 2 a second are due in a load apart.

    `waits`: by how much the backlog grows each second. An operation of `revenue` takes a second.
    """
    pacer: dict[str, Any] = {"kind": "closed"} if rate is None else {"kind": "constant", "rate_ops_per_s": rate}
    plan = own_plan(SHOP, weights=WEIGHTS, loads=[REVENUE], pacer=pacer, connections=8, warmup_ns=0, duration_ns=10 * S)
    rows = [
        row
        for second in range(10)
        for row in (
            operation_row(second, operation="latest_orders", sent=750, ok=750),
            operation_row(second, operation="place_order", sent=250, ok=250),
            operation_row(second, operation="revenue", sent=revenue, ok=revenue, in_flight_ns=S),
        )
    ]
    clocks = ("service",) if rate is None else ("service", "response", "lag")
    fast = {(name, clock): FixedHistogram([(MS, 7000)]) for name in SHOP if name != "revenue" for clock in clocks}
    slow = {("revenue", clock): FixedHistogram([(1000 * MS, 10 * revenue)]) for clock in ("service", "response", "lag")}
    overdue = 10 * waits
    totals = {
        name: {"sent": count, "ok": count, "miss": 0, "failed": 0, "unfinished": 0}
        for name, count in (("latest_orders", 7500), ("place_order", 2500), ("revenue", 10 * revenue))
    }
    values: dict[str, Any] = {
        "plan": plan,
        "operations": rows,
        "intervals": [interval_row(second, connections_up=9, backlog=waits * (second + 1)) for second in range(10)],
        "histograms": cast(Any, {**fast, **slow}),
        "summary": summary(
            due=10_000 + 10 * revenue + overdue, sent=10_000 + 10 * revenue, ok=10_000 + 10 * revenue,
            overdue=overdue, oldest_overdue_ns=5 * S, operations=totals,
        ),
    }  # fmt: skip
    return run_record(**(values | changes))


def finding(observation: Observation, name: str) -> tuple[Standing, str]:
    return next((each.verdict, each.evidence) for each in observation.findings if each.name == name)


def test_the_figures_of_the_run_are_those_of_the_workloads_load() -> None:
    observation = observe(shop())
    assert observation.throughput_ops_per_s == 1000
    assert (observation.offered_ops_per_s, observation.completed_share, observation.overdue) == (1000, 1, 0)
    assert observation.mean_in_flight == 2
    for known in (observation.response, observation.service, observation.lag):
        assert known is not None and (known.count, known.max_ns) == (14_000, MS)
    assert observation.kinds["revenue", "response"].max_ns == 1000 * MS
    assert observation.failures["revenue"] == (0, 20)
    assert observation.failures[None] == (0, 10_020)
    assert finding(observation, "sent") == (Standing.PASS, "planned 10 000, sent 10 000")
    assert not any(each.name == "connections" for each in observation.findings)


def test_a_load_apart_that_falls_behind_is_told_and_is_not_the_workloads() -> None:
    """One of two due each second is sent, so that ten are overdue in the end."""
    observation = observe(shop(revenue=1, waits=1))
    assert (observation.completed_share, observation.overdue) == (1, 0)
    assert observation.backlog_growth is not None and observation.backlog_growth.value == 0
    assert observation.response is not None and observation.response.missing == 0
    assert observation.kinds["revenue", "response"].missing == 10
    standing, evidence = finding(observation, "sent")
    assert standing is Standing.WARN
    assert evidence.startswith("planned 10 000, sent 10 000; revenue: planned 20, sent 10: 10 (50 %) never went out")


def test_the_workloads_own_backlog_stays_its_own() -> None:
    """Twenty more wait each second, none of them of the load apart."""
    observation = observe(shop(waits=20))
    assert observation.overdue == 200
    assert observation.backlog_growth is not None and observation.backlog_growth.value == pytest.approx(20)
    assert observation.completed_share == pytest.approx(10_000 / 10_200)
    assert observation.kinds["revenue", "response"].missing == 0
    assert judge(observation, Slo()).verdict is Verdict.FAIL


def test_a_closed_loop_beside_an_open_load() -> None:
    observation = observe(shop(rate=None))
    assert observation.closed_loop
    assert observation.response is None and observation.service is not None
    assert observation.service.max_ns == MS
    assert observation.kinds["revenue", "response"].count == 20
    late = finding(observe(shop(rate=None, revenue=1, waits=1)), "sent")
    assert late[0] is Standing.WARN and late[1].startswith("revenue: planned 20, sent 10: 10 (50 %) never went out")


def test_an_operation_with_a_load_apart_has_its_own_objective() -> None:
    missed = Slo(latencies=(LatencyObjective(), LatencyObjective(operation="revenue", quantile=0.5, limit_ns=MS)))
    record = shop()
    observation = observe(record, objectives=missed.latencies)
    judgement = judge(observation, missed)
    assert judgement.verdict is Verdict.FAIL
    assert [each.verdict for each in judgement.objectives[1:]] == [Verdict.PASS, Verdict.FAIL]
    assert judgement.reasons[0].startswith("revenue response p50 1.00 s")


def test_of_a_closed_loop_only_what_has_an_open_load_is_judged() -> None:
    """The workload's own operations have no response times there."""
    of_revenue = LatencyObjective(operation="revenue", quantile=0.5, limit_ns=2 * S)
    slo = Slo(latencies=(LatencyObjective(), LatencyObjective(operation="place_order"), of_revenue))
    record = shop(rate=None)
    judged = judgeable(record, slo)
    assert judged is not None and judged.latencies == (of_revenue,)
    observation = observe(record, objectives=slo.latencies)
    assert [each.verdict for each in judge(observation, judged).objectives if each.is_latency] == [Verdict.PASS]
    assert judgeable(record, Slo()) is None
    assert judgeable(shop(), slo) is slo


def test_parts_are_whole_records() -> None:
    record = shop(revenue=1, waits=1)
    main, revenue = all_loads(record)
    assert connection_count(record) == 9
    assert (main.plan.connections, revenue.plan.connections, revenue.plan.pacer.kind) == (8, 1, "constant")
    assert main.summary is not None and revenue.summary is not None
    assert (main.summary["due"], main.summary["sent"], main.summary["overdue"]) == (10_000, 10_000, 0)
    assert (revenue.summary["due"], revenue.summary["sent"], revenue.summary["overdue"]) == (20, 10, 10)
    assert {row["operation"] for row in revenue.operations} == {"revenue"}
    assert {key[0] for key in main.histograms} == {"latest_orders", "place_order"}


def test_a_run_without_loads_apart_is_what_it_was() -> None:
    record = run_record()
    assert main_load(record) is record
    assert all_loads(record) == [record]
    assert connection_count(record) == 8


def test_what_an_authors_operation_does_not_find_is_no_mistake() -> None:
    """A queue may be empty: it is told, and the run is worth what it is."""
    rows = [operation_row(second, operation="latest_orders", ok=500, miss=500) for second in range(10)]
    observation = observe(shop(operations=rows))
    standing, evidence = finding(observation, "misses")
    assert (observation.miss_rate, standing, observation.valid) == (0.5, Standing.WARN, True)
    assert evidence == ("50 % of the operations found no document; a step that must find one says so with expect")


def test_rows_that_came_to_their_end_are_why_a_run_did(tmp_path: Path) -> None:
    """It proves nothing, which the command line ends with 4, and names the values that have an end."""
    plan = own_plan(SHOP)
    assert isinstance(plan.work, OperationsWork)
    tables = tuple(
        TablePlan(
            name=name, columns=("sku",), row_count=2, sha256="", order="in_turn", at_end=at_end, scope="shared"
        )
        for name, at_end in (("sku", "error"), ("price", "again"))
    )  # fmt: skip
    plan = plan.model_copy(update={"work": plan.work.model_copy(update={"tables": tables})})
    record = run_record(plan=plan, ended_by="ran_dry", message="the rows that operations take have come to their end")
    standing, evidence = finding(observe(record), "ended")
    assert standing is Standing.FAIL
    assert evidence == (
        "the run ended early: the rows of $sku have come to their end, and at_end is error; give more rows, or "
        "at_end: again to take them once more, or stop to let the run end with them"
    )
    result = run_result(write_own_run(tmp_path / "run", plan, plans={}, ended_by="ran_dry"), None)
    assert isinstance(result.error, InvalidRun) and evidence in result.error.message
    assert "ended early: ran dry" in [badge.text for badge in result.report.verdict.badges]
    assert said_in("zh", "ran dry") == "数据行已用完"
