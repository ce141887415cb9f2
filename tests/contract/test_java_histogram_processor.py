"""Histogram logs as HdrHistogram's own HistogramLogProcessor has them. Needs what the Java peers need."""

from pathlib import Path

import pytest

from benchmarks.peers.builds import Missing, build_java
from brimline.compat.ycsb import write_hdr_files
from tests.support.java_histograms import JavaProcessor
from tests.support.simulation import simulate
from tests.support.ycsb_runs import Run

VARYING = {"service": {"kind": "lognormal", "mean_ns": 800_000, "sigma": 1.0}}
SHARES = (0.5, 0.75, 0.9375)
"""Of these the processor prints the values, and of the numbers of values here they are whole ranks."""


@pytest.fixture(scope="module")
def processor() -> JavaProcessor:
    try:
        return JavaProcessor(build_java())
    except Missing as missing:
        pytest.skip(f"{missing.reason}; {missing.hint}")


def test_the_processor_has_the_tags_and_percentiles_of_a_record(processor: JavaProcessor, tmp_path: Path) -> None:
    load = {"kind": "constant", "rate": 1600}
    record = simulate(
        {**VARYING, "servers": 3}, tmp_path / "run",
        load=load, connections=8, warmup="1s", duration="5s", interval="500ms",
    )  # fmt: skip
    log = record.directory / "latency.hlog"
    clocks = ("lag", "response", "service")
    assert processor.tags(log) == [f"read.{clock}{phase}" for clock in clocks for phase in ("", ".warmup")]
    for clock in ("response", "service"):
        own = record.histograms["read", clock]
        theirs = processor.distribution(log, "-tag", f"read.{clock}", "-outputValueUnitRatio", "1000")
        assert theirs.count == own.count() == 8000
        assert round(theirs.highest * 1000) == own.max()
        assert [round(theirs.values[share] * 1000) for share in SHARES] == [own.quantile(share) for share in SHARES]
    for words in ((), ("-alltags",), ("-tag", "read")):
        done = processor.run(log, *words)
        seen = (done.returncode, done.stdout, "NullPointerException" in done.stderr)
        assert seen == (0, "", True), "as docs/guides/ycsb.md says"


def test_the_processor_has_the_files_of_ycsb(processor: JavaProcessor, tmp_path: Path) -> None:
    """Without tags, and in whole µs."""
    asked = ["hdrhistogram.fileoutput=true", f"hdrhistogram.output.path={tmp_path}/", "hdrhistogram.percentiles=50,75"]
    run = Run(tmp_path, *asked, "status=true", "status.interval=1", "target=400", workload="c", script=VARYING)
    write_hdr_files(run.record, run.output)
    assert processor.tags(tmp_path / "READ.hdr") == ["[NO TAG (default)]"]
    reads = processor.distribution(tmp_path / "READ.hdr", "-outputValueUnitRatio", "1")
    values = run.values()
    assert (reads.count, reads.highest) == (values["READ", "Operations"], values["READ", "MaxLatency(us)"])
    assert reads.values[0.5] == values["READ", "50thPercentileLatency(us)"]
    assert reads.values[0.75] == values["READ", "75thPercentileLatency(us)"]
