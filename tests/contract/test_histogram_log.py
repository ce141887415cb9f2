"""`latency.hlog` loses nothing: what the engine recorded is what the log gives back."""

from pathlib import Path

from brimline import _native
from brimline.record import hlog, read_record
from tests.support.simulation import simulate


def test_the_log_gives_back_every_value(tmp_path: Path) -> None:
    script = {"service": {"kind": "lognormal", "mean_ns": 800_000, "sigma": 1.0}, "servers": 3}
    record = simulate(
        script,
        tmp_path / "run",
        load={"kind": "constant", "rate": 2000},
        connections=8,
        warmup="1s",
        duration="5s",
        interval="500ms",
    )
    entries = list(hlog.parse((record.directory / "latency.hlog").read_text().splitlines()))
    assert {(entry.operation, entry.clock, entry.phase) for entry in entries} == {
        ("read", clock, phase) for clock in ("service", "response", "lag") for phase in ("warmup", "measure")
    }
    merged: dict[str, _native.Histogram] = {}
    for entry in entries:
        histogram = _native.Histogram.decode(entry.text)
        assert _native.Histogram.decode(histogram.encode()).buckets() == histogram.buckets()
        if entry.phase == "measure":
            merged.setdefault(entry.clock, _native.Histogram()).merge(histogram)
    again = read_record(record.directory)
    for clock, histogram in merged.items():
        assert histogram.buckets() == again.histograms["read", clock].buckets()
        assert histogram.count() == 10_000
    finished = sum(row["ok"] for row in record.operations if row["phase"] == "measure")
    assert finished == 10_000
    assert merged["response"].mean() >= merged["service"].mean()


def test_lines_read_back_as_they_were_written() -> None:
    histogram = _native.Histogram()
    for value_ns in (1, 999, 1_000_000, 3_600_000_000_000):
        histogram.record(value_ns, 3)
    entry = hlog.LogLine(
        phase="warmup",
        operation="read_modify_write",
        clock="lag",
        start_ns=123_456_789,
        end_ns=10_123_456_789,
        text=histogram.encode(),
    )
    text = hlog.header(1_700_000_000_123_456_789) + hlog.line(entry, max_ns=histogram.max())
    assert list(hlog.parse(text.splitlines())) == [entry]
