"""The stretches of a window: together they are the whole, and each is as long as the next."""

from dataclasses import replace
from pathlib import Path

from brimline.analysis.latency import latency
from brimline.record.batches import BATCH_COUNT_MAX, batch_numbers
from brimline.stats.quantile_interval import merge_buckets
from tests.unit.report.report_samples import SECOND_NS, simulated_plan, write_run


def test_stretches_make_the_whole(tmp_path: Path) -> None:
    """A hundred intervals in sixty stretches, of two kinds of operation and three clocks."""
    plan = simulated_plan(rate_ops_per_s=500.0, warmup_s=2.0, duration_s=100, interval_ns=SECOND_NS)
    record = write_run(tmp_path / "run", plan)
    assert record.batches is not None
    numbers = list(batch_numbers(record.operations).values())
    assert len(numbers) == 100 and set(numbers) == set(range(BATCH_COUNT_MAX))
    assert {numbers.count(each) for each in numbers} == {1, 2}
    for clock in ("service", "response", "lag"):
        stretches = record.batches.of(clock)
        assert len(stretches) == BATCH_COUNT_MAX
        whole = merge_buckets([each.buckets() for (_, of), each in record.histograms.items() if of == clock])
        assert merge_buckets([each.buckets() for each in stretches]) == whole
        read = record.batches.of(clock, "read")
        assert merge_buckets([each.buckets() for each in read]) == record.histograms["read", clock].buckets()


def test_the_interval_is_the_same_as_from_the_log(tmp_path: Path) -> None:
    plan = simulated_plan(rate_ops_per_s=500.0, warmup_s=0.0, duration_s=30, interval_ns=SECOND_NS)
    record = write_run(tmp_path / "run", plan)
    assert latency(record, "response") == latency(replace(record, batches=None), "response")
