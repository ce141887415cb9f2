import re
from pathlib import Path
from typing import Any

import pytest

from brimline.compat.jmeter.quotas import Quota
from tests.support.jmx import controller, element, group, plan_text, sampler
from tests.unit.compat.jmeter.translating import keys_of, names, promised, requests, translated, workload

A, B, C = sampler("A"), sampler("B"), sampler("C")


def condition(text: str, *below: str) -> str:
    return controller("IfController", *below, condition=text, useExpression=True)


def percent(share: float, *below: str, each: bool = True) -> str:
    return controller("ThroughputController", *below, style=1, perThread=each, percentThroughput=str(share))


def times(number: int, *below: str, each: bool = True) -> str:
    return controller("ThroughputController", *below, style=0, perThread=each, maxThroughput=number)


def loop(count: Any, *below: str) -> str:
    return controller("LoopController", *below, loops=str(count))


COUNTED: list[tuple[str, dict[str, Any], list[str], dict[str, int]]] = [
    # What a plan's body is, threads and loops; the order of one operation; samples of each label as JMeter has them.
    ("sequence", {"body": [A, B]}, ["A", "B"], {"A": 6, "B": 6}),
    ("loop", {"body": [A, loop(3, B)]}, ["A", "B", "B 2", "B 3"], {"A": 6, "B": 18}),
    ("loop of none", {"body": [A, loop(0, B)]}, [""], {"A": 6}),
    ("same label", {"body": [A, A]}, ["A", "A 2"], {"A": 12}),
    ("once", {"body": [controller("OnceOnlyController", A), B]}, ["A", "B", "B 2", "B 3"], {"A": 2, "B": 6}),
    ("once in a loop", {"body": [loop(2, controller("OnceOnlyController", A), B)], "loops": 1}, ["A", "B", "B 2"],
     {"A": 2, "B": 4}),
    ("in turn", {"body": [controller("InterleaveControl", A, B, C, style=1)]}, ["A", "B", "C"],
     {"A": 2, "B": 2, "C": 2}),
    ("in turn, uneven", {"body": [controller("InterleaveControl", A, B, style=1)]}, ["A", "B", "A 2"],
     {"A": 4, "B": 2}),
    ("in turn within a loop", {"body": [loop(3, controller("InterleaveControl", A, B, style=1))], "loops": 4},
     ["A", "B", "A 2", "B 2", "A 3", "B 3"], {"A": 12, "B": 12}),
    ("percent", {"body": [percent(30, A), B], "loops": 10}, ["B", "A", "B 2", "B 3", "B 4", "B 5", "A 2", "B 6",
     "B 7", "B 8", "A 3", "B 9", "B 10"], {"A": 6, "B": 20}),
    ("so many times", {"body": [times(2, A), B]}, ["A", "B", "A 2", "B 2", "B 3"], {"A": 4, "B": 6}),
    ("so many times in all", {"body": [times(2, A, each=False), B]}, ["A", "B", "B 2", "B 3"], {"A": 2, "B": 6}),
    ("if", {"body": [condition("true", A), condition("${__jexl3(1 > 2)}", B), condition('"${x}" == "1"', C)],
            "variables": {"x": "1"}}, ["A", "C"], {"A": 6, "C": 6}),
    ("if it was right", {"body": [A, condition("${JMeterThread.last_sample_ok}", B)]}, ["A", "B"], {"A": 6, "B": 6}),
    ("any order", {"body": [controller("RandomOrderController", A, B)]}, ["A", "B"], {"A": 6, "B": 6}),
    ("switch", {"body": [controller("SwitchController", A, B, value="1")]}, [""], {"B": 6}),
    ("switch by name", {"body": [controller("SwitchController", A, B, value="B")]}, [""], {"B": 6}),
    ("switch beyond", {"body": [controller("SwitchController", A, B, value="7")]}, [""], {"A": 6}),
    ("plain controllers", {"body": [controller("RecordingController", A), controller("TransactionController", B)]},
     ["A", "B"], {"A": 6, "B": 6}),
    ("critical section", {"body": [controller("CriticalSectionController", A)]}, [""], {"A": 6}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "order", "counts"), [each[1:] for each in COUNTED], ids=[each[0] for each in COUNTED]
)
def test_an_operation_has_the_requests_of_iterations_in_order(
    tmp_path: Path, given: dict[str, Any], order: list[str], counts: dict[str, int]
) -> None:
    """`tests/contract/test_jmeter.py` holds some of these counts to JMeter's own run."""
    plan = plan_text(group(*given["body"], threads=2, loops=given.get("loops", 3)), variables=given.get("variables"))
    keys = workload(tmp_path, plan)
    assert names(keys) == order
    assert promised(keys) == counts


CHANCES: list[tuple[str, list[str], int, dict[tuple[str, ...], float]]] = [
    ("random", [controller("RandomController", A, B, style=1)], 1000, {("A",): 0.5, ("B",): 0.5}),
    ("random beside", [A, controller("RandomController", B, C, style=1)], 1000, {("A", "B"): 0.5, ("A", "C"): 0.5}),
    ("percent", [percent(30, A), B], 1000, {("A", "B"): 0.3, ("B",): 0.7}),
    ("so many", [times(500, A, each=False), B], 1000, {("A", "B"): 0.25, ("B",): 0.75}),
    ("in turn", [controller("InterleaveControl", A, B, style=1), loop(60, C)], 1000, {}),
    ("by chance", [condition("${__jexl3(${__Random(1,100)} <= 30)}", A), B], 1000, {("A", "B"): 0.3, ("B",): 0.7}),
    ("of two", [controller("RandomController", A, controller("RandomController", B, C))], 1000,
     {("A",): 0.5, ("B",): 0.25, ("C",): 0.25}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "loops", "ways"), [each[1:] for each in CHANCES], ids=[each[0] for each in CHANCES])
def test_what_comes_by_chance_is_operations_with_shares(
    tmp_path: Path, body: list[str], loops: int, ways: dict[tuple[str, ...], float]
) -> None:
    keys = workload(tmp_path, plan_text(group(*body, threads=2, loops=loops)))
    total = sum(each["share"] for each in keys["operations"].values())
    found = {
        tuple(re.sub(r" \d+$", "", step.get("name", name)) for step in requests(keys, name)): each["share"] / total
        for name, each in keys["operations"].items()
    }
    if ways:
        assert {way: pytest.approx(share, abs=1e-3) for way, share in ways.items()} == found
    else:
        assert list(found.values()) == [0.5, 0.5]
    assert keys["load"] == {"kind": "tlr", "threads": 2, "loops": loops, "ramp_up": "1ms"}


def test_iterations_that_send_nothing_are_no_operations(tmp_path: Path) -> None:
    found = translated(tmp_path, plan_text(group(percent(30, A), threads=2, loops=1000)))
    keys = keys_of(found)
    assert promised(keys) == {"A": 600}
    assert any("0.7 of its iterations send nothing" in each for each in found.changed)


@pytest.mark.parametrize(
    ("body", "loops", "said"),
    [
        (controller("WhileController", A), 1, "repeats as long as a condition holds, with 1 request"),
        (controller("ForeachController", A, A), 1, "repeats for each of several matches, with 2 requests"),
        (controller("RunTime", A), 1, "repeats for a time, with 1 request"),
        (controller("IncludeController"), 1, "is in another file"),
        (controller("ModuleController"), 1, "is elsewhere in the plan"),
        (condition('${__groovy(vars.get("x") == "y")}', A), 1, "its condition is not known beforehand, with 1 request"),
        (condition("${x} == 1 && ${y} == 2", A), 1, "its condition is not known beforehand, with 1 request"),
        (loop("${n}", A), 1, "how often it repeats is not known beforehand, with 1 request"),
        (loop(-1, A), 1, "repeats for ever within an iteration, with 1 request"),
        (times(2, A), -1, "comes so many times in an endless test, with 1 request"),
        (percent("${n}", A), 1, "how often it comes is not known beforehand, with 1 request"),
        (controller("SwitchController", A, value="${n}"), 1, "what it takes is not known beforehand, with 1 request"),
        (element("JDBCSampler", "sql", {}), 1, "is no request of HTTP"),
        (element("TestAction", "stop", {"ActionProcessor.action": 0}), 1, "stops a thread, the test or the loop"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_listed_with_what_is_in_it(tmp_path: Path, body: str, loops: int, said: str) -> None:
    users = group(sampler("First"), body, loops=loops, duration=60 if loops < 0 else None)
    found = translated(tmp_path, plan_text(users))
    assert [each.partition("): ")[2].partition(";")[0] for each in found.not_taken] == [said]
    assert len(requests(keys_of(found))) == 1


def test_what_is_once_is_in_each_operation_where_loops_have_no_end(tmp_path: Path) -> None:
    found = translated(tmp_path, plan_text(group(controller("OnceOnlyController", A), B, loops=-1, duration=60)))
    assert names(keys_of(found)) == ["A", "B"]
    assert any("in each operation, and not once for each thread" in each for each in found.changed)


def test_rows_that_stop_threads_are_taken_one_for_each_iteration(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("1\n2\n")
    settings = {"filename": "rows.csv", "variableNames": "x", "recycle": False, "stopThread": True}
    rows = element("CSVDataSet", "r", settings)
    found = translated(tmp_path, plan_text(rows, group(controller("OnceOnlyController", A), sampler("B", "/${x}"))))
    assert keys_of(found)["load"]["loops"] == 3


def test_ways_and_steps_are_bounded(tmp_path: Path) -> None:
    many = [controller("RandomController", A, B) for _ in range(8)]
    found = translated(tmp_path, plan_text(group(*many)))
    assert len(keys_of(found)["operations"]) == 64
    assert any("more than 64 ways through the plan" in each for each in found.not_taken)
    found = translated(tmp_path, plan_text(group(loop(10**9, A))))
    assert len(requests(keys_of(found))) == 400
    assert any("more than 400 requests" in each for each in found.not_taken)


def test_names_are_labels(tmp_path: Path) -> None:
    """The one request's, the one transaction's, or the group's; what no name may have is told."""

    def operations(*body: str) -> list[str]:
        return list(workload(tmp_path, plan_text(group(*body, name="Group 1")))["operations"])

    assert operations(A) == ["A"]
    assert operations(controller("TransactionController", A, B, name="Buy it")) == ["Buy it"]
    assert operations(A, B) == ["Group 1"]
    assert operations(controller("RandomController", sampler("首页"), sampler("read"))) == ["首页", "read_"]
    assert operations(sampler("GET /orders/{id}")) == ["GET /orders/{id}"]
    assert operations(sampler(" a.html?x=1 ")) == ["a_html?x_1"]
    assert operations(sampler("-")) == ["requests"]


def test_quotas_count_as_jmeter() -> None:
    """In each turn while (100 times + 50) / turns is below the percentage."""
    for share in (1.0, 7.5, 25.0, 33.3, 50.0, 66.6, 90.0, 99.0):
        quota, executed = Quota(share, 0, each_thread=True), 0
        for turn in range(100):
            comes = (100.0 * executed + 50.0) / (turn + 1) < share
            assert quota.comes(turn, 1, 100) is comes
            executed += comes
