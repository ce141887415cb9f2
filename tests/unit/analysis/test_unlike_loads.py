"""What is judged where the loads of two sides differ, and what puts both under one."""

from dataclasses import replace

import pytest

from brimline.analysis.compared_run import ComparedRun, LoadKind
from brimline.analysis.comparison import Comparison, compare_runs
from brimline.analysis.gate import GateVerdict, gate
from brimline.analysis.judged_change import ChangeVerdict
from brimline.analysis.unlike_loads import capacity_commands, same_load_commands
from tests.support.run_sets import MS, plan, simulated_run

NOISE = (0.0, 0.004, -0.004, 0.007, -0.007)


def runs(
    side: str, *, throughput: float, p99: float, kind: LoadKind = "closed loop", **settings: object
) -> list[ComparedRun]:
    """Five runs; `settings` are those of the plan that are not ycsb-c's."""
    made = [
        simulated_run(
            f"{side}{number}",
            figures={"throughput": throughput * (1 + noise), "p99": p99 * (1 + noise), "errors": 0.0},
            kind=kind,
            started_ns=10 * number + (side == "b"),
        )
        for number, noise in enumerate(NOISE)
    ]
    changed = {("plan", name.replace("__", ".")): value for name, value in settings.items()}
    return [replace(run, settings={**run.settings, **changed}) for run in made]


def verdicts(comparison: Comparison) -> dict[str, str]:
    return {each.metric.key: each.verdict.value for each in comparison.changes}


@pytest.mark.parametrize("more", [{"connections": 32}, {"in_flight_max": 4}, {"pacer__think_time": None}])
def test_with_more_in_flight_latency_is_no_verdict(more: dict[str, object]) -> None:
    """Three times as slow and a fifth faster at once: that is four times as much in flight, and nothing else."""
    a = runs("a", throughput=1000.0, p99=MS, pacer__think_time=5 * MS)
    comparison = compare_runs(a, runs("b", throughput=1200.0, p99=3.3 * MS, **({"pacer__think_time": 5 * MS} | more)))
    assert comparison.verdict is ChangeVerdict.IMPROVED and comparison.reason == "Better: Throughput."
    assert verdicts(comparison)["p99"] == "not judged"
    assert all(each.verdict is ChangeVerdict.NOT_JUDGED for each in comparison.shift)
    assert comparison.loads is not None and "Little's law" in comparison.loads.text


def test_the_same_change_under_one_load_is_a_verdict() -> None:
    comparison = compare_runs(runs("a", throughput=1000.0, p99=MS), runs("b", throughput=1200.0, p99=3.3 * MS))
    assert comparison.loads is None and comparison.verdict is ChangeVerdict.MIXED


def test_an_offered_rate_is_no_finding() -> None:
    a = runs("a", throughput=1000.0, p99=MS, kind="open loop", pacer__rate_ops_per_s=1000.0)
    b = runs("b", throughput=2000.0, p99=2 * MS, kind="open loop", pacer__rate_ops_per_s=2000.0)
    comparison = compare_runs(a, b)
    assert comparison.verdict is ChangeVerdict.NOT_JUDGED
    assert verdicts(comparison) == {"throughput": "not judged", "p99": "not judged", "errors": "equivalent"}
    assert comparison.loads is not None and comparison.loads.text.startswith("The loads differ (rate 1000 → 2000).")


def test_connections_bound_an_open_loop_and_are_not_its_load() -> None:
    a = runs("a", throughput=1000.0, p99=2 * MS, kind="open loop")
    comparison = compare_runs(a, runs("b", throughput=1000.0, p99=MS, kind="open loop", connections=32))
    assert comparison.loads is None and verdicts(comparison)["p99"] == "improved"


def test_a_gate_on_what_follows_from_the_load_is_inconclusive() -> None:
    comparison = compare_runs(
        runs("a", throughput=1000.0, p99=MS), runs("b", throughput=1000.0, p99=MS, connections=32)
    )
    by_name = {case.name: case for case in gate(comparison, {"throughput": 0.05, "p99": 0.05})}
    assert by_name["throughput"].verdict is GateVerdict.PASS
    assert by_name["p99"].verdict is GateVerdict.INCONCLUSIVE
    assert "follows from the load" in by_name["p99"].text


def test_commands_put_both_under_a_rate_that_both_bear() -> None:
    a, b = runs("a", throughput=1000.0, p99=MS), runs("b", throughput=800.0, p99=MS, connections=32)
    assert same_load_commands(a, b) == (
        "brimline run ycsb-c --connections 8 --rate 560/s",
        "brimline run ycsb-c --connections 32 --rate 560/s",
    )
    typed = "brimline ab ycsb-a --b connections=32 --think-time 5ms --duration 5s"
    assert same_load_commands(a, b, typed=typed) == (
        "brimline ab ycsb-a --b connections=32 --duration 5s --rate 560/s",
    )
    of_runs = [
        replace(side[0], environment={"command": f"brimline run ycsb-a --connections {count} --rate=3k --seed 2"})
        for side, count in ((a, 8), (b, 32))
    ]
    assert same_load_commands([of_runs[0]], [of_runs[1]]) == (
        "brimline run ycsb-a --connections 8 --seed 2 --rate 560/s",
        "brimline run ycsb-a --connections 32 --seed 2 --rate 560/s",
    )


def test_commands_find_what_both_bear_where_what_is_in_flight_differs() -> None:
    a, b = runs("a", throughput=1000.0, p99=MS), runs("b", throughput=800.0, p99=MS, connections=32)
    loads = compare_runs(a, b).loads
    assert loads is not None
    typed = "brimline ab ycsb-a --a connections=8 --b connections=32 --pairs 3 --duration=5s --seed 2"
    assert capacity_commands(loads, a, b, typed=typed) == (
        "brimline ab ycsb-a --a connections=8 --b connections=32 --seed 2 --measure capacity",
    )
    assert capacity_commands(loads, a, b) == (
        "brimline capacity ycsb-c --connections 8",
        "brimline capacity ycsb-c --connections 32",
    )
    rate = replace(loads, differences=(replace(loads.differences[0], name="pacer.rate_ops_per_s"),), closed=False)
    assert capacity_commands(rate, a, b, typed=typed) == ()


def test_another_number_of_engine_threads_is_no_other_load() -> None:
    assert plan().threads == 1
    comparison = compare_runs(runs("a", throughput=1000.0, p99=MS), runs("b", throughput=1000.0, p99=MS, threads=2))
    assert comparison.loads is None
