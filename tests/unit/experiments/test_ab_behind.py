"""A run of a comparison that fell behind its rate is known as such as soon as it is over."""

from brimline.analysis.observation import observe
from brimline.experiments.paired.runner import fell_behind
from tests.unit.analysis.records import MS, run_record, summary


def test_a_generator_that_is_late_is_told() -> None:
    late = {"service": [(MS, 10_000)], "response": [(90 * MS, 10_000)], "lag": [(80 * MS, 10_000)]}
    assert "the generator sent late" in fell_behind(observe(run_record(latencies=late)))


def test_operations_that_never_went_out_are_told() -> None:
    behind = summary(due=12_000, overdue=2_000, sent=10_000)
    assert "never went out" in fell_behind(observe(run_record(summary=behind)))


def test_a_run_on_time_and_a_closed_loop_say_nothing() -> None:
    assert fell_behind(observe(run_record())) == ""
    assert fell_behind(observe(run_record(rate=None))) == ""
