"""Histogram logs as a public reader has them: every row, tag and count; percentiles as brimline quotes them."""

from collections import Counter
from pathlib import Path

import pytest

from brimline.compat.ycsb import write_hdr_files
from brimline.record import RunRecord
from brimline.record.time_histogram import Histogram
from tests.support.public_histograms import PublicInterval, buckets, figures, merged_by_tag, public_intervals
from tests.support.simulation import simulate
from tests.support.ycsb_golden import GOLDEN, recorded
from tests.support.ycsb_runs import BROKEN, Run

VARYING = {"service": {"kind": "lognormal", "mean_ns": 800_000, "sigma": 1.0}}


def ours(histogram: Histogram) -> tuple[int, int, int, int]:
    return histogram.count(), histogram.quantile(0.5), histogram.quantile(0.99), histogram.max()


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith(("#", '"'))]


def spans_ms(rows: list[PublicInterval]) -> list[tuple[int, int]]:
    """The intervals in ms from the first one's beginning."""
    first_ms = rows[0].start_ms
    return sorted({(round(row.start_ms - first_ms), round(row.end_ms - first_ms)) for row in rows})


def measured(record: RunRecord) -> dict[str, Histogram]:
    """The histograms of the measured window by their tags."""
    return {f"{name}.{clock}": each for (name, clock), each in (*record.histograms.items(), *record.breakdown.items())}


def test_a_public_reader_has_every_row_of_a_record(tmp_path: Path) -> None:
    """10 000 reads, so that p50 and p99 are at whole ranks and no rule of rounding decides."""
    load = {"kind": "constant", "rate": 2000}
    record = simulate(
        {**VARYING, "servers": 3}, tmp_path / "run",
        load=load, connections=8, warmup="1s", duration="5s", interval="500ms",
    )  # fmt: skip
    rows = public_intervals(record.directory / "latency.hlog")
    tags = [line.partition(",")[0].removeprefix("Tag=") for line in lines_of(record.directory / "latency.hlog")]
    assert [row.tag for row in rows] == tags
    clocks = ("service", "response", "lag")
    answered = Counter(row["phase"] for row in record.operations if row["ok"])
    for clock in ("service", "response"):
        rows_by_phase = {"measure": tags.count(f"read.{clock}"), "warmup": tags.count(f"read.{clock}.warmup")}
        assert rows_by_phase == answered and min(answered.values()) > 1
    assert (tags.count("read.lag"), tags.count("read.lag.warmup")) == (10, 2), "of what was sent every half second"
    intervals = [(round(each["start_ns"] / 1e6), round(each["end_ns"] / 1e6)) for each in record.intervals]
    assert spans_ms(rows) == intervals
    theirs = merged_by_tag(rows)
    assert [theirs[f"read.{clock}.warmup"].get_total_count() for clock in clocks] == [2000] * 3
    own = measured(record)
    assert set(own) == {tag for tag in tags if not tag.endswith(".warmup")}
    for tag, histogram in own.items():
        assert buckets(theirs[tag]) == histogram.buckets(), tag
    for clock in clocks:
        assert figures(theirs[f"read.{clock}"]) == ours(own[f"read.{clock}"])
        assert figures(theirs[f"read.{clock}"])[0] == 10_000


def test_a_public_reader_tells_the_parts_of_operations_apart(tmp_path: Path) -> None:
    record = Run(tmp_path, workload="f", script=BROKEN).record
    theirs = merged_by_tag(public_intervals(record.directory / "latency.hlog"))
    own = measured(record)
    assert {"read.failed_service", "read_modify_write.update_ok_service"} <= set(own) == set(theirs)
    for tag, histogram in own.items():
        assert buckets(theirs[tag]) == histogram.buckets(), tag


@pytest.mark.parametrize("rows", [1, 3])
def test_a_public_reader_has_the_files_of_ycsb(rows: int, tmp_path: Path) -> None:
    """1000 reads, so that percentiles are at whole ranks."""
    asked = ["hdrhistogram.fileoutput=true", f"hdrhistogram.output.path={tmp_path}/", "target=400"]
    asked += ["status=true", "status.interval=1"] if rows > 1 else []
    run = Run(tmp_path, *asked, workload="c", script=VARYING)
    assert {path.name for path in write_hdr_files(run.record, run.output)} == {"READ.hdr", "CLEANUP.hdr"}
    values = run.values()
    for name, row_count in (("READ", rows), ("CLEANUP", 1)):
        found = public_intervals(tmp_path / f"{name}.hdr")
        assert [row.tag for row in found] == [None] * row_count
        names = ("Operations", "50thPercentileLatency(us)", "99thPercentileLatency(us)", "MaxLatency(us)")
        assert figures(merged_by_tag(found)[None]) == tuple(values[name, each] for each in names)
    reads = public_intervals(tmp_path / "READ.hdr")
    assert [begin for begin, _ in spans_ms(reads)] == [0, 1000, 2000][:rows]
    assert run.record.summary is not None
    assert reads[0].start_ms == pytest.approx(run.record.summary["started_unix_ns"] / 1e6, abs=0.6)


@pytest.mark.parametrize("name", ["READ", "UPDATE", "CLEANUP"])
def test_the_same_reader_has_the_files_that_ycsb_wrote(name: str) -> None:
    """So that it is the reader's reading, and not its kindness, that the other tests rest on."""
    (row,) = public_intervals(GOLDEN / f"a-run.hdr-fileoutput.{name}.hdr")
    text = dict(
        line.split(", ")[1:]
        for line in recorded("a-run.hdr-fileoutput.stdout").splitlines()
        if line.startswith(f"[{name}], ")
    )
    count, median, _, highest = figures(row.histogram)
    assert (str(count), str(highest)) == (text["Operations"], text["MaxLatency(us)"])
    assert str(median) == text["50thPercentileLatency(us)"]
