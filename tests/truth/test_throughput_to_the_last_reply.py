"""What throughput means: a run that ends with its operations lasts to the last reply, one that ends by time to its end.

On a virtual clock, where every reply takes what the script says and a run's length is known to the nanosecond.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from brimline.analysis.observation import observe
from brimline.analysis.window import done_in_window, until_last_reply
from brimline.api.export import exported
from brimline.api.run_result import run_result
from brimline.record import RunRecord
from brimline.record.model import IntervalRow
from brimline.report.printed import printed_figure, table_cells
from tests.support.simulation import simulate

MS = 1_000_000
S = 1_000_000_000
GENERATOR_NS = 100
"""The least there is: 32 sendings take 3 µs."""


def _run(directory: Path, *, service_ns: int = MS, **overrides: object) -> RunRecord:
    script = {"service": {"kind": "fixed", "ns": service_ns}}
    return simulate(script, directory, generator_ns=GENERATOR_NS, warmup="0s", **overrides)


def _agreed(record: RunRecord) -> float:
    """The throughput, which is the same wherever it is said."""
    result = run_result(record, None)
    rate = result.observation.throughput_ops_per_s
    data = result.report.data
    assert data["throughput_ops_per_s"] == rate
    assert sum(each["throughput_ops_per_s"] for each in data["operations"].values()) == pytest.approx(rate)
    headline = printed_figure(result.report.verdict.figure)
    assert headline is not None and headline.value == pytest.approx(rate, rel=1e-3)
    total = printed_figure(table_cells(result.report, "operations")[0]["Throughput"].text)
    assert total is not None and total.value == pytest.approx(rate, abs=total.tolerance)
    header, first, *_ = "".join(exported(result, "csv")).splitlines()
    in_csv = dict(zip(header.split(","), first.split(","), strict=True))
    assert float(in_csv["throughput_ops_per_s"]) == pytest.approx(rate, rel=1e-3)
    return rate


@pytest.mark.parametrize("count", [1, 32])
def test_operations_that_are_all_in_flight_at_once_take_one_service_time(tmp_path: Path, count: int) -> None:
    record = _run(tmp_path / "run", operation_count=count, connections=count)
    assert _agreed(record) == pytest.approx(count / 0.001, rel=4e-3)


@pytest.mark.parametrize("threads", [1, 2])
def test_t_l_r_ends_when_the_last_worker_is_done(tmp_path: Path, threads: int) -> None:
    """The last of four workers starts at 0.75 s; each has one operation."""
    load = {"kind": "tlr", "threads": 4, "loops": 1, "ramp_up": "1s"}
    record = _run(tmp_path / "run", load=load, threads=threads, service_ns=100 * MS)
    assert _agreed(record) == pytest.approx(4 / (0.75 + 0.1), rel=1e-6)


def test_a_last_reply_that_takes_several_intervals_ends_the_window(tmp_path: Path) -> None:
    """Two rounds of 2.25 s on three connections: the last is sent at 2.25 s, in the middle of an interval."""
    record = _run(tmp_path / "run", operation_count=6, connections=3, service_ns=2250 * MS, interval="1s")
    observation = observe(record)
    assert observation.measured_s == pytest.approx(4.5, rel=1e-6)
    assert observation.mean_in_flight == pytest.approx(3, rel=1e-6)
    assert _agreed(record) == pytest.approx(6 / 4.5, rel=1e-6)
    whole = until_last_reply(record)
    ends_s = [round(row["end_ns"] / S, 3) for row in whole.intervals if row["phase"] == "measure"]
    assert ends_s == [1, 2, 3, 4, 4.5], "the interval of the last sending is whole again"
    assert sum(row["engine_cpu_ns"] for row in whole.intervals) == sum(row["engine_cpu_ns"] for row in record.intervals)


def test_what_is_moved_stays_complete(tmp_path: Path) -> None:
    record = _run(tmp_path / "run", operation_count=400, connections=3, service_ns=20 * MS, interval="1s")
    whole = until_last_reply(record)
    assert whole is not record and until_last_reply(whole) is whole
    starts = {row["start_ns"] for row in whole.intervals}
    assert {row["start_ns"] for row in whole.operations} <= starts
    assert {each.start_ns for each in whole.interval_histograms()} <= starts
    assert sum(each.histogram.count() for each in whole.interval_histograms("service")) == 400
    keys = [(row["start_ns"], row["phase"], row["operation"]) for row in whole.operations]
    assert len(keys) == len(set(keys))
    for name in ("sent", "ok", "documents", "bytes_in", "bytes_out", "in_flight_ns"):
        assert sum(row[name] for row in whole.operations) == sum(row[name] for row in record.operations)


def test_operations_that_are_used_up_before_the_time_is(tmp_path: Path) -> None:
    record = _run(tmp_path / "run", operation_count=10, connections=10, duration="10s", service_ns=500 * MS)
    assert _agreed(record) == pytest.approx(10 / 0.5, rel=1e-5)


@pytest.mark.parametrize("count", [1, 2, 40])
@pytest.mark.parametrize("service_ns", [MS, 400 * MS])
def test_operations_that_are_due_by_a_rate_take_the_time_in_which_they_are(
    tmp_path: Path, count: int, service_ns: int
) -> None:
    """Of n at 20 a second the last is due after n - 1 gaps; a reply that comes later ends the window."""
    load = {"kind": "constant", "rate": 20}
    record = _run(
        tmp_path / "run", load=load, operation_count=count, duration="30s", service_ns=service_ns, connections=40
    )
    assert _agreed(record) == pytest.approx(count / max(count / 20, (count - 1) / 20 + service_ns / S), rel=1e-4)
    whole = until_last_reply(record)
    assert until_last_reply(whole) is whole


def test_random_arrivals_take_a_mean_gap_more(tmp_path: Path) -> None:
    record = _run(tmp_path / "run", load={"kind": "poisson", "rate": 20}, operation_count=5, connections=5)
    last_ns = next(row["end_ns"] for row in reversed(record.intervals) if row["phase"] == "measure")
    assert _agreed(record) == pytest.approx(5 / (last_ns / S + 1 / 20), rel=1e-6)


def test_a_run_by_time_counts_what_was_answered_in_it(tmp_path: Path) -> None:
    """In 1 s each of 4 connections has three replies; the fourth, at 1.2 s, counts in the latencies only."""
    record = _run(tmp_path / "run", connections=4, duration="1s", service_ns=300 * MS, interval="1s")
    assert until_last_reply(record) is record
    assert _agreed(record) == 12
    result = run_result(record, None)
    assert result.report.data["operations"]["read"]["samples"] == 16
    assert result.observation.service is not None and result.observation.service.count == 16


def test_operations_that_were_due_in_the_warm_up_count_where_they_were_answered(tmp_path: Path) -> None:
    """Half of what a full server answers in the window was due before it: headline and table count both."""
    script = {"service": {"kind": "fixed", "ns": 300 * MS}}
    record = simulate(
        script,
        tmp_path / "run",
        generator_ns=GENERATOR_NS,
        load={"kind": "constant", "rate": 20},
        connections=3,
        warmup="1s",
        duration="2s",
    )
    assert _agreed(record) == pytest.approx(sum(row["ok"] for row in done_in_window(record)) / 2)


def test_a_run_that_was_stopped_ends_where_it_was(tmp_path: Path) -> None:
    record = _run(tmp_path / "run", operation_count=10, connections=10)
    stopped = replace(record, ended_by="stopped")
    assert until_last_reply(stopped) is stopped


def test_what_was_never_answered_makes_no_window_longer(tmp_path: Path) -> None:
    record = _run(tmp_path / "run", operation_count=10, connections=10)
    last = record.intervals[-1]
    waiting: IntervalRow = {**last, "start_ns": last["end_ns"], "end_ns": last["end_ns"] + 10 * S, "in_flight": 1}
    longer = replace(record, intervals=[*record.intervals, waiting])
    assert observe(longer).throughput_ops_per_s == observe(record).throughput_ops_per_s
    assert until_last_reply(longer).intervals[-1]["phase"] == "drain"
