"""`latency.hlog` loses nothing: what the engine recorded is what the log gives back."""

from pathlib import Path

from brimline import _native
from brimline.record import hlog, read_record
from brimline.record.model import BREAKDOWN_CLOCKS
from tests.support.simulation import simulate

FAULT = {"when": {"share": 0.25}, "kind": {"error": {"code": 11600, "name": "Interrupted"}}}
PARTS = ("read_ok", "read_failed", "update_ok", "update_failed")


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
    clocks = ("service", "response", "lag", "held_back_lag")  # eight connections are full at times
    assert {(entry.operation, entry.clock, entry.phase) for entry in entries} == {
        ("read", clock, phase) for clock in clocks for phase in ("warmup", "measure")
    }
    merged: dict[str, _native.Histogram] = {}
    for entry in entries:
        histogram = _native.Histogram.decode(entry.text)
        assert _native.Histogram.decode(histogram.encode()).buckets() == histogram.buckets()
        if entry.phase == "measure":
            merged.setdefault(entry.clock, _native.Histogram()).merge(histogram)
    again = read_record(record.directory)
    held_back = merged.pop("held_back_lag")
    assert held_back.buckets() == again.breakdown["read", "held_back_lag"].buckets()
    for clock, histogram in merged.items():
        assert histogram.buckets() == again.histograms["read", clock].buckets()
        assert histogram.count() == 10_000
    rows = [row for row in record.operations if row["phase"] == "measure"]
    assert held_back.count() == sum(row["held_back"] for row in rows) > 0
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


def test_what_times_consist_of_is_recorded_apart(tmp_path: Path) -> None:
    """A quarter of the commands fails: the parts of a read-modify-write and their endings add up to what was sent."""
    script = {"service": {"kind": "fixed", "ns": 1_000_000}, "faults": [FAULT]}
    record = simulate(
        script,
        tmp_path / "run",
        operations={"read": 1, "read_modify_write": 1},
        load={"kind": "constant", "rate": 500},
        connections=4,
        warmup="0s",
        duration="4s",
    )
    counts = {key: histogram.count() for key, histogram in record.breakdown.items()}
    assert record.summary is not None
    reads, both = (record.summary["operations"][name] for name in ("read", "read_modify_write"))
    assert reads["failed"] > 0 < both["failed"]
    assert counts["read", "failed_service"] == counts["read", "failed_response"] == reads["failed"]
    assert counts["read_modify_write", "failed_service"] == both["failed"]
    parts = {name: counts.get(("read_modify_write", f"{name}_response"), 0) for name in PARTS}
    assert parts["read_ok"] + parts["read_failed"] == both["sent"]
    assert parts["update_ok"] + parts["update_failed"] == parts["read_ok"]
    assert parts["update_ok"] == both["ok"]
    whole = record.histograms["read_modify_write", "service"]
    one_command = record.breakdown["read_modify_write", "update_ok_service"]
    assert whole.max() >= 2_000_000 > one_command.min() >= 999_000
    assert {key[1] for key in record.breakdown} <= set(BREAKDOWN_CLOCKS)
    assert not {key[1] for key in record.histograms} & set(BREAKDOWN_CLOCKS)
