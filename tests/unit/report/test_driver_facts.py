"""What a report says of a driver's pool: how often it was waited for how long, from counts whose places are known."""

import bson
import pytest

from brimline.report.run.driver_facts import _below_ns
from brimline.runners import runner_facts

SAID = {"ready": b"", "workers": 4}


def told(before: object, after: object) -> dict[str, object]:
    used = {name: bson.encode({"pool_waits": each}) for name, each in (("used_before", before), ("used_after", after))}
    return runner_facts({**SAID, **used})


def test_waits_are_those_of_the_run_alone() -> None:
    assert told([3, 0, 1], [3, 5, 4])["pool_waits"] == [0, 5, 3]


def test_what_grows_is_of_the_run_and_what_is_the_most_is_of_a_whole_life() -> None:
    before = {"cpu_ns": 300, "collections": 2, "memory_peak_bytes": 5_000, "pool_taken": True}
    after = {"cpu_ns": 1_000, "collections": 2, "memory_peak_bytes": 7_000, "pool_taken": 9}
    said = {**SAID, "used_before": bson.encode(before), "used_after": bson.encode(after)}
    assert runner_facts(said) == {"workers": 4, "cpu_ns": 700, "collections": 0, "memory_peak_bytes": 7_000}


@pytest.mark.parametrize(
    ("before", "after"),
    [([1], [1, 2]), ([5], [4]), (["1"], ["2"]), ([True], [True]), ([-1], [1]), (3, 4), ([], []), ([0] * 99, [1] * 99)],
)
def test_counts_that_can_not_be_are_left_out(before: object, after: object) -> None:
    assert "pool_waits" not in told(before, after)


@pytest.mark.parametrize("name", ["cpu_ns", "collections", "collections_ns", "pool_taken", "pool_waited_ns"])
def test_a_count_that_falls_was_none(name: str) -> None:
    """Once negative, a CPU time for each operation was below 0."""
    said = {"used_before": bson.encode({name: 300}), "used_after": bson.encode({name: 1})}
    assert runner_facts({**SAID, **said}) == {"workers": 4}


def test_a_share_of_the_waits_lies_below_the_end_of_its_place() -> None:
    """98 below 1 µs, one from 4 µs to 8 µs, one from 512 µs to 1.024 ms."""
    waits = [98, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert _below_ns(waits, 0.5) == 1_000
    assert _below_ns(waits, 0.99) == 8_000
    assert _below_ns(waits, 1.0) == 1_024_000
