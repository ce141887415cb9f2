from pathlib import Path
from typing import Any

import pytest

from tests.support.jmx import element, group, plan_text, sampler
from tests.unit.compat.jmeter.translating import keys_of, requests, translated, workload

A, B = sampler("A"), sampler("B")


def load(directory: Path, *body: str, **said: Any) -> dict[str, Any]:
    """The keys of a workload that say its load."""
    keys = workload(directory, plan_text(group(*(body or (A,)), **said)))
    known = ("load", "connections", "warmup", "duration", "operation_count")
    return {name: keys[name] for name in known if name in keys}


TLR = {"kind": "tlr", "threads": 2, "loops": 3, "ramp_up": "1ms"}


@pytest.mark.parametrize(
    ("said", "keys"),
    [
        ({}, {"load": TLR, "warmup": "0s"}),
        ({"threads": "20", "loops": "5", "ramp_up": "10"},
         {"load": {"kind": "tlr", "threads": 20, "loops": 5, "ramp_up": "10s"}, "warmup": "0s"}),
        ({"duration": "90"}, {"load": TLR, "warmup": "0s", "duration": "1m30s"}),
        ({"loops": -1, "duration": 60},
         {"load": {"kind": "closed"}, "connections": 2, "warmup": "0s", "duration": "1m"}),
        ({"threads": "${__P(threads,7)}", "loops": "${__P(loops)}"},
         {"load": {"kind": "tlr", "threads": 7, "loops": 1, "ramp_up": "1ms"}, "warmup": "0s"}),
    ],
)  # fmt: skip
def test_threads_loops_and_ramp_up_are_a_load(tmp_path: Path, said: dict[str, Any], keys: dict[str, Any]) -> None:
    assert load(tmp_path, **said) == keys


def test_a_property_of_the_command_line_counts(tmp_path: Path) -> None:
    keys = workload(tmp_path, plan_text(group(A, threads="${__P(threads,7)}")), threads="40")
    assert keys["load"]["threads"] == 40


def test_a_loop_without_an_end_is_also_said_by_its_controller(tmp_path: Path) -> None:
    text = plan_text(group(A, loops=1, duration=5)).replace(
        '<intProp name="LoopController.loops">1</intProp>\n<boolProp name="LoopController.continue_forever">false',
        '<boolProp name="LoopController.continue_forever">true',
    )
    assert workload(tmp_path, text)["load"] == {"kind": "closed"}


def timer(kind: str, delay: Any, spread: Any = None) -> str:
    properties = {"ConstantTimer.delay": str(delay), **({} if spread is None else {"RandomTimer.range": str(spread)})}
    return element(kind, "Wait", properties)


@pytest.mark.parametrize(
    ("timers", "pause"),
    [
        ([timer("ConstantTimer", 300)], "300ms"),
        ([timer("UniformRandomTimer", 1000, "500.0")], "1.25s"),
        ([timer("GaussianRandomTimer", 300, 100)], "300ms"),
        ([timer("PoissonRandomTimer", 100, 200)], "300ms"),
        ([timer("ConstantTimer", "${__Random(100,300)}")], "200ms"),
        ([timer("ConstantTimer", 300), timer("UniformRandomTimer", 0, 100)], "350ms"),
        ([timer("ConstantTimer", 0)], None),
    ],
)
def test_timers_are_a_pause_before_each_request_in_their_scope(
    tmp_path: Path, timers: list[str], pause: str | None
) -> None:
    keys = workload(tmp_path, plan_text(group(A, B, *timers)))
    assert [each.get("think_time") for each in requests(keys)] == [None, pause]
    assert keys["load"].get("think_time") == pause, "the pause before the first request is that between operations"
    own = workload(tmp_path, plan_text(group(A, sampler("B", "/", *timers))))
    assert [each.get("think_time") for each in requests(own)] == [None, pause]
    assert own["load"] == TLR


def test_a_pause_before_the_first_request_keeps_the_number_of_operations(tmp_path: Path) -> None:
    wanted = {"load": {"kind": "closed", "think_time": "50ms"}, "connections": 2, "warmup": "0s", "operation_count": 6}
    assert load(tmp_path, A, timer("ConstantTimer", 50)) == wanted


def test_a_pause_that_stands_alone_is_before_what_follows(tmp_path: Path) -> None:
    def wait(ms: int) -> str:
        return element("TestAction", "wait", {"ActionProcessor.action": 1, "ActionProcessor.duration": str(ms)})

    keys = workload(tmp_path, plan_text(group(A, wait(70), sampler("B", "/", timer("ConstantTimer", 30)))))
    assert [each.get("think_time") for each in requests(keys)] == [None, "100ms"]
    keys = workload(tmp_path, plan_text(group(A, B, wait(70))))
    assert (keys["load"]["think_time"], [each.get("think_time") for each in requests(keys)]) == ("70ms", [None, None])


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("ConstantThroughputTimer", "paces the threads to a rate; give --rate"),
        ("PreciseThroughputTimer", "paces the threads to a rate"),
        ("SyncTimer", "holds threads until they are many"),
        ("JSR223Timer", "is a script"),
        ("VariableTimer", "is a timer of a plugin"),
    ],
)
def test_other_timers_are_listed(tmp_path: Path, kind: str, said: str) -> None:
    text = plan_text(group(A, element(kind, "t", {})))
    (remark,) = translated(tmp_path, text).not_taken
    assert said in remark


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        ({"threads": "${n}"}, "its number of threads is not known beforehand"),
        ({"threads": 0}, "its number of threads is 0"),
        ({"threads": 10**6}, "its number of threads is 1e+06"),
        ({"loops": 0}, "it has no iteration"),
    ],
)
def test_a_group_without_threads_or_loops_is_not_taken(tmp_path: Path, said: dict[str, Any], lost: str) -> None:
    found = translated(tmp_path, plan_text(group(A, name="other"), group(B, **said)))
    assert list(keys_of(found)["operations"]) == ["A"]
    assert lost in found.not_taken[0]


def test_numbers_that_are_not_known_are_listed(tmp_path: Path) -> None:
    found = translated(tmp_path, plan_text(group(A, loops="${n}", ramp_up="${m}", duration="x")))
    assert keys_of(found)["load"] == {**TLR, "loops": 1}
    assert len(found.not_taken) == 3


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        (
            {"on_sample_error": "continue"},
            "a request that fails ends its operation, where JMeter sends the next one",
        ),
        ({"on_sample_error": "stoptest"}, "after a request that fails the next operation comes (stoptest there)"),
        ({"duration": 60, "delay": "30"}, "begins at once, and not after 30 s"),
    ],
)
def test_what_is_another_is_told(tmp_path: Path, said: dict[str, Any], changed: str) -> None:
    found = translated(tmp_path, plan_text(group(A, **said)))
    assert [each.partition("): ")[2] for each in found.changed] == [changed]


def test_groups_that_end_together_are_loads_side_by_side(tmp_path: Path) -> None:
    wait = timer("ConstantTimer", 100)
    plan = plan_text(
        group(A, name="one", loops=-1, duration=60, threads=3), group(B, wait, name="two", loops=-1, duration=60)
    )
    keys = workload(tmp_path, plan)
    assert keys["operations"] == {
        "A": {"load": {"kind": "closed"}, "connections": 3, "get": {"path": "/"}},
        "B": {"load": {"kind": "closed", "think_time": "100ms"}, "connections": 2, "get": {"path": "/"}},
    }
    assert (keys["duration"], "load" in keys) == ("1m", False)


@pytest.mark.parametrize(
    "other",
    [
        group(B, name="one"),
        group(B, name="one", loops=-1, duration=30),
        group(sampler("B", domain="other"), name="one", loops=-1, duration=60),
    ],
)
def test_other_groups_are_a_workload_each(tmp_path: Path, other: str) -> None:
    found = translated(tmp_path, plan_text(group(A, name="one", loops=-1, duration=60), other))
    assert list(found.workloads) == ["one", "one_2"]
    assert any("its 2 thread groups are a workload each" in each for each in found.changed)


@pytest.mark.parametrize("kind", ["SetupThreadGroup", "PostThreadGroup", "OpenModelThreadGroup", "UltimateThreadGroup"])
def test_other_kinds_of_groups_are_listed(tmp_path: Path, kind: str) -> None:
    found = translated(tmp_path, plan_text(element(kind, "g", {}, B), group(A)))
    assert list(keys_of(found)["operations"]) == ["A"]
    assert f'"g" ({kind}): ' in found.not_taken[0]
