"""Single runs against a server that does what it was told: on a virtual clock, and some again on real time."""

from pathlib import Path
from typing import Any

import pytest

import brimline
from brimline.analysis.observation import Observation, observe
from brimline.analysis.verdict import Verdict, judge
from brimline.api.run_result import run_result
from brimline.execution import DataPolicy
from brimline.record import RunRecord
from tests.support.objectives import p99_within
from tests.support.scripted_server import ScriptedServer, scripted_server
from tests.support.simulation import simulate

MS = 1_000_000
S = 1_000_000_000


def _observed(record: RunRecord) -> Observation:
    observation = observe(record)
    assert record.complete, record.message
    assert not record.imbalances
    return observation


# The stall that a closed loop hides


def test_a_stall_shows_in_response_time_and_not_in_service_time(tmp_path: Path) -> None:
    """1 kHz on 10 connections, 0.2 ms service, 1 s of stall in 10 s: a tenth of all operations waits for 0 to 1 s."""
    script = {"service": {"kind": "fixed", "ns": MS // 5}, "stalls": [{"at_ns": 4 * S, "length_ns": S}]}
    record = simulate(
        script, tmp_path / "run", load={"kind": "constant", "rate": 1000}, connections=10, warmup="0s", duration="10s"
    )
    observation = _observed(record)
    assert observation.response is not None and observation.service is not None
    assert observation.response.p99_ns == pytest.approx(900 * MS, abs=60 * MS)
    assert observation.service.p99_ns < 2 * MS
    assert observation.response.count == 10_000


@pytest.mark.slow("it runs on real time")
def test_a_stall_shows_in_response_time_on_real_time(tmp_path: Path) -> None:
    """The twin on a real socket. A twentieth waits for up to 2 s, so the slowest hundredth for 1.6 s or more."""
    script = {"service": {"kind": "fixed", "ns": MS // 5}, "stalls": [{"at_ns": S, "length_ns": 2 * S}]}
    with scripted_server(script) as server:
        observation = _run(
            server,
            tmp_path,
            overrides={
                "load": {"kind": "constant", "rate": 500},
                "connections": 10,
                "warmup": "0s",
                "duration": "5s",
            },
        ).observation
    assert observation.response is not None and observation.service is not None
    assert 1200 * MS < observation.response.p99_ns < 3500 * MS
    # Only the ten in flight when it began are slow to the server: 0.4 % of 2500.
    assert observation.service.p99_ns < 400 * MS


# Little's law


def test_a_closed_loop_has_all_its_connections_in_flight(tmp_path: Path) -> None:
    """Mean in flight, known from outside, is throughput times mean time."""
    script = {"service": {"kind": "lognormal", "mean_ns": 2 * MS, "sigma": 1.0}, "servers": 4}
    observation = _observed(simulate(script, tmp_path / "run", connections=16, warmup="1s", duration="20s"))
    assert observation.service is not None
    product = observation.throughput_ops_per_s * observation.service.mean_ns / S
    assert product == pytest.approx(16, rel=0.02)
    assert observation.mean_in_flight == pytest.approx(16, rel=0.02)


def test_an_open_loop_keeps_little_s_law_with_response_time(tmp_path: Path) -> None:
    """What is due and not done, looked at 3000 times, is throughput times mean response time."""
    script = {"service": {"kind": "exponential", "mean_ns": 4 * MS}, "servers": 1}
    record = simulate(
        script,
        tmp_path / "run",
        # Not in step with the intervals, at whose ends the number is looked at.
        load={"kind": "constant", "rate": 201.3},
        connections=4,
        warmup="0s",
        duration="300s",
        interval="100ms",
    )
    assert record.complete
    response = record.histograms["read", "response"]
    seen = [row["in_flight"] + row["backlog"] for row in record.intervals if row["phase"] == "measure"]
    assert len(seen) == 3000
    product = response.count() / record.measured_s * response.mean() / S
    assert sum(seen) / len(seen) == pytest.approx(product, rel=0.02)
    assert product > 1, "the queue is what the law is about"


# Overload: what is done in a window is not what was due in it


def test_an_overloaded_server_is_credited_with_all_that_it_does(tmp_path: Path) -> None:
    """2000/s at 4000/s offered: in the window it works off what the warm-up has left, at its full speed."""
    script = {"service": {"kind": "fixed", "ns": MS}, "capacity_ops_per_s": 2000}
    record = simulate(
        script,
        tmp_path / "run",
        load={"kind": "constant", "rate": 4000},
        connections=16,
        warmup="1s",
        duration="2s",
        interval="100ms",
    )
    observation = _observed(record)
    assert observation.throughput_ops_per_s == pytest.approx(2000, rel=0.01)
    assert observation.mean_in_flight == pytest.approx(16, rel=0.02)
    assert observation.client_cpu_ns_per_op == pytest.approx(2_000, rel=0.02)
    # Of 8000 due in the window: 2 s x 2000/s less the 2000 that the warm-up left behind.
    assert observation.completed_share == pytest.approx(2000 / 8000, abs=0.01)
    assert observation.overdue == pytest.approx(6000, abs=20)


FAR_TOO_MUCH = {"load": {"kind": "constant", "rate": 1_000_000}, "connections": 8, "warmup": "1s", "duration": "2s"}


def test_a_server_that_never_comes_to_what_is_due_in_the_window_has_failed(tmp_path: Path) -> None:
    """8000/s at 1 000 000/s: all that is answered in the window was due in the warm-up, the server's fault."""
    record = simulate({"service": {"kind": "fixed", "ns": MS}}, tmp_path / "run", **FAR_TOO_MUCH)
    result = run_result(record, p99_within(10 * MS))
    assert result.observation.throughput_ops_per_s == pytest.approx(8000, rel=0.01)
    assert result.judgement is not None and result.judgement.verdict is Verdict.FAIL
    assert result.error is not None and result.exit_code == 3
    assert result.error.message.startswith(
        "the objective was missed: planned 3 000 000, sent 24 001: 2 975 999 (99.2 % of the whole run, "
        "its warm-up of 1.00 s included) never went out"
    )
    assert result.error.message.endswith(
        "all 8 places for operations in flight were taken; "
        "none of the operations offered in the measured window completed"
    )


def test_a_generator_that_never_comes_to_what_is_due_in_the_window_proves_nothing(tmp_path: Path) -> None:
    """The same with 5000/s that the generator does at most, and a server that takes a quarter of its time."""
    record = simulate(
        {"service": {"kind": "fixed", "ns": MS // 20}}, tmp_path / "run", generator_ns=MS // 5, **FAR_TOO_MUCH
    )
    result = run_result(record, p99_within(10 * MS))
    assert result.judgement is not None and result.judgement.verdict is Verdict.INVALID
    assert result.error is not None and result.exit_code == 4
    assert result.error.message.startswith("the run proves nothing: planned 3 000 000, sent 15 000: 2 985 000 (99.5 %")


def test_a_window_bounded_by_count_holds_all_that_was_offered(tmp_path: Path) -> None:
    """500 operations at 500/s and 30 ms each: all were due, sent and answered, the last one 30 ms after 0.998 s."""
    record = simulate(
        {"service": {"kind": "fixed", "ns": 30 * MS}},
        tmp_path / "run",
        load={"kind": "constant", "rate": 500},
        connections=50,
        warmup="0s",
        operation_count=500,
    )
    observation = _observed(record)
    assert observation.completed_share == 1.0
    assert observation.measured_s == pytest.approx(1.028, abs=0.001)
    assert judge(observation, p99_within(5 * S)).verdict is not Verdict.FAIL


def test_a_late_generator_does_not_spoil_a_pass(tmp_path: Path) -> None:
    """The generator takes 0.49 ms for each of 2000/s, so it is full; an objective of 1 s is met all the same."""
    record = simulate(
        {"service": {"kind": "fixed", "ns": MS // 10}},
        tmp_path / "run",
        generator_ns=490_000,
        load={"kind": "constant", "rate": 2000},
        connections=64,
        warmup="0s",
        duration="20s",
    )
    observation = _observed(record)
    assert not observation.valid, "the generator's CPU check must fail"
    assert judge(observation, p99_within(S)).verdict is Verdict.PASS
    assert judge(observation, p99_within(MS // 20)).verdict is Verdict.INVALID


def test_a_run_that_finds_nothing_proves_nothing(tmp_path: Path) -> None:
    script = {"faults": [{"when": {"share": 0.5}, "kind": "no_document"}], "service": {"kind": "fixed", "ns": MS}}
    observation = _observed(simulate(script, tmp_path / "run", connections=8, warmup="0s", duration="5s"))
    assert observation.miss_rate == pytest.approx(0.5, abs=0.05)
    assert not observation.valid


# Failures and misses


def _run(server: ScriptedServer, directory: Path, *, workload: str = "ycsb-c", overrides: dict[str, Any]) -> Any:
    return brimline.run(
        workload,
        overrides={"data.records": 1000, **overrides},
        options=brimline.Options(uri=server.uri, data=DataPolicy.AS_IS, runs_dir=directory),
    )


OPERATIONS = 20_000
READS: dict[str, Any] = {"operation_count": OPERATIONS, "warmup": "0s", "connections": 8}


def test_exactly_the_scripted_failures_are_counted_by_code(tmp_path: Path) -> None:
    fault = {"when": {"share": 0.01}, "kind": {"error": {"code": 11600, "name": "InterruptedAtShutdown"}}}
    with scripted_server({"faults": [fault]}) as server:
        record = _run(server, tmp_path, overrides=READS).record
        executed = server.opcounters()["query"]
    assert record.summary is not None
    assert record.summary["sent"] == OPERATIONS
    (error,) = record.summary["errors"]
    assert (error["operation"], error["outcome"], error["code"], error["label"]) == (
        "read",
        "server_error",
        11600,
        "InterruptedAtShutdown",
    )
    # The server's own count: it does not attempt what it fails.
    assert error["count"] == record.summary["failed"] == OPERATIONS - executed
    assert 120 < error["count"] < 280, "1 % of 20 000, give or take five standard deviations"
    simulated = simulate({"faults": [fault]}, tmp_path / "virtual", **READS).summary
    assert simulated is not None
    assert simulated["failed"] == error["count"], "the same script on the virtual clock"


def test_failures_of_writes_are_told_apart(tmp_path: Path) -> None:
    faults = [
        {"when": {"share": 0.02}, "kind": {"write_error": {"code": 121}}},
        {"when": {"share": 0.02}, "kind": {"write_concern_error": {"code": 64, "name": "WriteConcernFailed"}}},
    ]
    with scripted_server({"faults": faults}) as server:
        record = _run(server, tmp_path, workload="ycsb-a", overrides=READS).record
    assert record.summary is not None
    found = {(row["operation"], row["outcome"], row["code"]): row["count"] for row in record.summary["errors"]}
    assert set(found) == {("update", "write_error", 121), ("update", "write_concern_error", 64)}
    # 2 % of about 10 000 updates.
    assert all(120 < count < 290 for count in found.values()), found
    assert record.summary["operations"]["read"]["failed"] == 0
    assert record.summary["operations"]["update"]["failed"] == sum(found.values())


def test_a_reply_without_a_document_is_a_miss_and_no_failure(tmp_path: Path) -> None:
    fault = {"when": {"share": 0.02}, "kind": "no_document"}
    with scripted_server({"faults": [fault]}) as server:
        result = _run(server, tmp_path, overrides=READS)
        executed = server.opcounters()["query"]
    summary = result.record.summary
    simulated = simulate({"faults": [fault]}, tmp_path / "virtual", **READS).summary
    assert simulated is not None
    assert executed == OPERATIONS
    assert (summary["failed"], summary["miss"]) == (0, simulated["miss"])
    assert summary["ok"] == OPERATIONS - summary["miss"]
    assert 300 < summary["miss"] < 500
    assert result.observation.miss_rate == pytest.approx(summary["miss"] / OPERATIONS)
    assert result.observation.error_rate == 0


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("close", "connection_lost"), ("garbage", "bad_reply"), ("wrong_length", "bad_reply"), ("silence", "timeout")],
)
def test_one_broken_reply_is_one_failure(kind: str, outcome: str, tmp_path: Path) -> None:
    fault = {"when": {"at_request": 100}, "kind": kind}
    overrides = {**READS, "operation_count": 2000, "operation_timeout": "1s"}
    with scripted_server({"faults": [fault]}) as server:
        summary = _run(server, tmp_path, overrides=overrides).record.summary
    (error,) = summary["errors"]
    assert (error["outcome"], error["count"], error["code"]) == (outcome, 1, 0)
    assert (summary["sent"], summary["ok"], summary["failed"], summary["unfinished"]) == (2000, 1999, 1, 0)
