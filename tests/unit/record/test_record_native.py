"""A real run's record, with the compiled histograms: read back, as data frames, and as a public format."""

import base64
import struct
import zlib
from pathlib import Path

import pandas as pd

from brimline import _native
from brimline.record import RecordWriter, RunRecord, hlog, read_record
from brimline.record.model import Summary
from tests.unit.record.samples import SECOND_NS, plan


def simulated_run(directory: Path) -> tuple[RunRecord, Summary]:
    """3 s at 1 kHz with a service time of exactly 0.2 ms, the first second warm-up."""
    script = {"service": {"kind": "fixed", "ns": 200_000}}
    run_plan = plan(
        target={"kind": "simulated", "script": script, "generator_ns": 100},
        pacer={"kind": "constant", "rate_ops_per_s": 1000.0},
        warmup_ns=SECOND_NS,
        duration_ns=2 * SECOND_NS,
    )
    run = _native.start(run_plan.canonical_json())
    while run.poll(0.05)["stage"] != "finished":
        pass
    with RecordWriter(directory, run_plan, "name: ycsb-a\n", {}) as writer:
        writer.append(run.take_samples())
        summary = run.join()
        assert writer.seal(summary, None, ended_by=summary["ended_by"]) == []
    return read_record(directory), summary


def test_real_run_is_balanced_and_its_histograms_hold_every_operation(tmp_path: Path) -> None:
    record, summary = simulated_run(tmp_path)

    assert record.summary == summary
    assert record.imbalances == ()
    counts = {key: histogram.count() for key, histogram in record.histograms.items() if key[1] == "response"}
    assert sum(counts.values()) == 2000
    for histogram in record.histograms.values():
        assert histogram.max() < 1_000_000
    assert record.histograms["read", "service"].quantile(0.5) == _native_bucket(200_000)


def _native_bucket(value_ns: int) -> int:
    histogram = _native.Histogram()
    histogram.record(value_ns)
    return histogram.quantile(0.5)


def test_log_payload_is_hdrhistogram_v2_deflate(tmp_path: Path) -> None:
    """Cookies and layout of the public V2 encoding, read here without any of our own decoding."""
    simulated_run(tmp_path)
    entries = list(hlog.parse((tmp_path / "latency.hlog").read_text().splitlines()))

    assert {entry.phase for entry in entries} == {"warmup", "measure"}
    for entry in entries:
        data = base64.b64decode(entry.text, validate=True)
        cookie, length = struct.unpack(">II", data[:8])
        assert cookie & ~0xF0 == 0x1C849304
        assert length == len(data) - 8
        inner = zlib.decompress(data[8:])
        inner_cookie, payload, _, digits, lowest, _, ratio = struct.unpack(">IIIIqqd", inner[:40])
        assert inner_cookie & ~0xF0 == 0x1C849303
        assert (payload, digits, lowest, ratio) == (len(inner) - 40, 3, 1, 1.0)


def test_frames_hold_rows_and_quantiles(tmp_path: Path) -> None:
    record, _ = simulated_run(tmp_path)

    frames = record.frames()

    measured = frames["operations"].query("phase == 'measure'")
    assert measured["ok"].sum() == 2000
    assert len(frames["intervals"]) == len(record.intervals)
    quantiles: pd.DataFrame = frames["quantiles"]
    assert quantiles.loc[("read", "service"), "p99_ns"] == _native_bucket(200_000)
    assert quantiles.xs("response", level="clock")["count"].sum() == 2000
