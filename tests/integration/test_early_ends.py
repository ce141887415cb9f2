"""Runs that end before their time: by Ctrl-C, by a signal, by the death of the server. What was measured is kept."""

import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from brimline.record import read_record
from brimline.servers import control_client
from tests.support.command_line import CALM, CommandLine, Outcome
from tests.support.own_mongod import OwnMongod
from tests.support.repetitions import repetitions
from tests.support.scripted_server import scripted_server
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod

LONG = ("--records", "1000", "--duration", "120s", "--warmup", "0s")


def _check_interrupted(brimline_cli: CommandLine, outcome: Outcome, directory: Path, *, exit_code: int) -> Any:
    """The report on stdout, the error on stderr, and a whole record."""
    name = {129: "SIGHUP", 130: "SIGINT", 143: "SIGTERM"}[exit_code]
    outcome.check_error(exit_code, f"interrupted by {name}", "what was measured is kept in")
    assert "Throughput" in outcome.stdout and "report.html" in outcome.stdout
    record = read_record(directory)
    assert record.ended_by == "interrupt"
    assert record.summary is not None
    assert not record.imbalances and not record.files_changed
    assert record.summary["ok"] > 0
    assert record.opcounters is not None
    assert (directory / "report.html").exists()
    assert _servers_gone(brimline_cli)
    return record


def _servers_gone(brimline_cli: CommandLine) -> bool:
    return eventually(lambda: not brimline_cli.servers.exists() or list(brimline_cli.servers.iterdir()) == [])


@pytest.mark.parametrize(
    ("number", "exit_code"),
    [(signal.SIGINT, 130), (signal.SIGHUP, 129), *repetitions((signal.SIGTERM, 143))],
    ids=["Ctrl-C", "hang-up", "SIGTERM"],
)
def test_one_signal_drains_and_seals(number: signal.Signals, exit_code: int, brimline_cli: CommandLine) -> None:
    # One of them as fast as it goes, with as much in flight as there are connections.
    calm = () if number is signal.SIGINT else CALM
    running = brimline_cli.start("run", "ycsb-a", *LONG, *calm)
    directory = brimline_cli.wait_for_samples("ycsb-a")
    # To the whole job, as a terminal does it: the server must live until the run is drained.
    running.send_to_group(number)
    outcome = running.end(timeout_s=60)
    record = _check_interrupted(brimline_cli, outcome, directory, exit_code=exit_code)
    assert record.summary["unfinished"] == record.summary["failed"] == 0, "what was in flight was waited for"
    agreement = brimline_cli.run("show", directory, "--json").json()
    assert agreement["ended_by"] == "interrupt"
    assert {check["name"]: check["result"] for check in agreement["checks"]}["opcounters"] == "pass"


@pytest.mark.parametrize(
    ("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"]
)
@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.2, 0.4])
def test_a_signal_while_brimline_starts(
    delay_s: float, number: signal.Signals, exit_code: int, brimline_cli: CommandLine
) -> None:
    """Most of a second of imports: one line from the first moment on in which the program has the signals."""
    running = brimline_cli.start_fresh("run", "ycsb-a", *LONG)
    assert eventually(lambda: _catches_sigterm(running.process.pid), interval_s=0.001)
    time.sleep(delay_s)
    running.send(number)
    outcome = running.end(timeout_s=30)
    assert outcome.exit_code == exit_code, outcome.stderr
    assert f"error: interrupted by {number.name}" in outcome.stderr
    assert "Traceback" not in outcome.stderr and not outcome.stdout
    assert _servers_gone(brimline_cli)


def _catches_sigterm(pid: int) -> bool:
    """Python itself catches SIGINT from the start, but SIGTERM only on request."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def test_ctrl_c_reaches_a_job_in_the_background(brimline_cli: CommandLine) -> None:
    """A shell script starts its background jobs with SIGINT ignored."""
    running = brimline_cli.start_fresh("run", "ycsb-c", *LONG, *CALM, before_exec=_ignore_ctrl_c)
    directory = brimline_cli.wait_for_samples("ycsb-c")
    running.send(signal.SIGINT)
    _check_interrupted(brimline_cli, running.end(timeout_s=60), directory, exit_code=130)


def test_a_second_ctrl_c_does_not_wait_for_the_server(brimline_cli: CommandLine) -> None:
    """The server stands still after a second, so that draining would take its 60 s."""
    spec = brimline_cli.directory / "silent.yaml"
    spec.write_text(
        "data: {records: 1000}\noperations: {read: 1}\nconnections: 4\nwarmup: 0s\nduration: 120s\n"
        "interval: 100ms\ndrain_timeout: 60s\noperation_timeout: 120s\n"
    )
    stall = {"at_ns": 1_000_000_000, "length_ns": 3_000_000_000_000}
    with scripted_server({"service": {"kind": "fixed", "ns": 1_000_000}, "stalls": [stall]}) as server:
        running = brimline_cli.start("run", spec, "--uri", server.uri, "--data", "as-is")
        directory = brimline_cli.wait_for_samples("silent")
        time.sleep(1.5)
        running.send(signal.SIGINT)
        time.sleep(1.0)
        assert running.process.poll() is None, "one Ctrl-C waits for what is in flight"
        running.send(signal.SIGINT)
        started = time.monotonic()
        outcome = running.end(timeout_s=60)
    assert time.monotonic() - started < 30
    outcome.check_error(130, "interrupted by SIGINT", "is kept in")
    record = read_record(directory)
    assert record.ended_by == "interrupt"
    assert record.summary is not None
    assert record.summary["unfinished"] == 4
    assert record.summary["sent"] == record.summary["ok"] + 4
    assert not record.imbalances


@pytest.mark.slow("a run has to be well under way when it ends")
def test_ctrl_c_ends_a_search_and_keeps_its_trials(brimline_cli: CommandLine) -> None:
    running = brimline_cli.start("capacity", "ycsb-c", "--quick", "--records", "1000", "--json")
    directory = brimline_cli.wait_for_samples("ycsb-c", kind="capacity-").parents[1]
    assert eventually(lambda: len(list((directory / "trials").iterdir())) >= 3)
    running.send(signal.SIGINT)
    outcome = running.end(timeout_s=60)
    outcome.check_error(130, "interrupted by SIGINT", "is kept in")
    document = outcome.json()
    assert document["ended_by"] == "interrupt"
    assert document["conclusion"] == "incomplete"
    assert document["sustained_ops_per_s"] is None
    assert len(document["probes"]) >= 2
    assert _servers_gone(brimline_cli)
    shown = brimline_cli.run("show", directory.name, "--json")
    how_it_ended = ("error", "hint", "exit_code")  # of the command, and no part of the record
    assert shown.json() == {key: value for key, value in document.items() if key not in how_it_ended}


def test_ctrl_c_during_the_load(brimline_cli: CommandLine) -> None:
    running = brimline_cli.start("run", "ycsb-c", "--records", "5M")
    directory = brimline_cli.wait_for_samples("ycsb-c", kind="load-")
    running.send(signal.SIGINT)
    running.end(timeout_s=60).check_error(130, "interrupted by SIGINT", f"is kept in runs/{directory.name}")
    assert read_record(directory).ended_by == "interrupt"
    assert [path.name for path in brimline_cli.record_directories()] == [directory.name], "no run without its data"
    assert _servers_gone(brimline_cli)


def test_ctrl_c_before_anything_was_measured(brimline_cli: CommandLine) -> None:
    running = brimline_cli.start("run", "ycsb-c", *LONG)
    server = running.server()
    running.send(signal.SIGINT)
    outcome = running.end(timeout_s=60)
    assert outcome.exit_code == 130, outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert outcome.error.startswith("interrupted")
    assert eventually(lambda: not server.is_running())
    assert _servers_gone(brimline_cli)


@pytest.mark.slow("a run has to be well under way when it ends")
def test_a_server_killed_in_the_middle(brimline_cli: CommandLine) -> None:
    spec = brimline_cli.directory / "lost.yaml"
    spec.write_text(
        "data: {records: 1000}\noperations: {read: 0.5, update: 0.5}\nconnections: 8\nwarmup: 0s\n"
        "duration: 120s\ninterval: 200ms\nconnect_timeout: 1s\n"
    )
    running = brimline_cli.start("run", spec, "--json")
    directory = brimline_cli.wait_for_samples("lost")
    running.server().kill()
    outcome = running.end(timeout_s=60)
    outcome.check_error(5, "the target went away", "is kept in")
    document = outcome.json()
    assert document["ended_by"] == "target_lost"
    assert document["throughput_ops_per_s"] > 0
    assert {error["outcome"] for error in document["errors"]} <= {"connection_lost"}
    record = read_record(directory)
    assert not record.imbalances
    assert record.summary is not None and record.summary["ok"] > 0
    assert _servers_gone(brimline_cli)


@pytest.mark.slow("a run has to be well under way when it ends")
def test_a_server_killed_during_the_load(brimline_cli: CommandLine) -> None:
    spec = brimline_cli.directory / "lost.yaml"
    spec.write_text("data: {records: 5M}\noperations: {read: 1}\nconnect_timeout: 1s\ninterval: 200ms\n")
    running = brimline_cli.start("run", spec)
    directory = brimline_cli.wait_for_samples("lost", kind="load-")
    running.server().kill()
    running.end(timeout_s=60).check_error(5, "the load broke off", f"kept in runs/{directory.name}")
    assert read_record(directory).ended_by == "target_lost"
    assert _servers_gone(brimline_cli)


@pytest.mark.slow("a run has to be well under way when it ends")
def test_a_server_killed_in_a_search(brimline_cli: CommandLine) -> None:
    with scripted_server({"service": {"kind": "fixed", "ns": 1_000_000}}) as server:
        spec = brimline_cli.directory / "lost.yaml"
        spec.write_text("data: {records: 1000}\noperations: {read: 1}\nconnect_timeout: 1s\n")
        running = brimline_cli.start(
            "sweep", spec, "--uri", server.uri, "--data", "as-is", "--duration", "2s", "--warmup", "0s", "--json"
        )
        brimline_cli.wait_for_samples("lost", kind="sweep-")
        server.process.kill()
        outcome = running.end(timeout_s=60)
    outcome.check_error(5, "the sweep broke off", "report.html")
    document = outcome.json()
    assert document["sweep_ended_by"] == "broken_off"
    assert len(document["probes"]) >= 1


@pytest.mark.slow("a run has to be well under way when it ends")
def test_a_server_that_dies_just_before_the_end_is_missed(brimline_cli: CommandLine) -> None:
    """The engine waits 10 s for a lost server; when the run ends first, the last look at its counters tells."""
    with scripted_server({"service": {"kind": "fixed", "ns": 1_000_000}}) as server:
        running = brimline_cli.start(
            "run", "ycsb-c", "--uri", server.uri, "--data", "as-is", "--duration", "4s", "--warmup", "0s", "--json"
        )
        brimline_cli.wait_for_samples("ycsb-c")
        server.process.kill()
        outcome = running.end(timeout_s=60)
    outcome.check_error(5, "the target went away", "is kept in")
    assert outcome.json()["verdict"]["value"] == "invalid"


def test_a_client_of_a_server_that_is_gone_is_closed_without_waiting_for_it(tmp_path: Path) -> None:
    hour_s, noted = 3600.0, list[bool]()
    with OwnMongod.running(tmp_path / "db") as server:
        client = control_client(server.address, connect_timeout_s=hour_s)
        client.admin.command("ping")
        server.kill()
        assert eventually(lambda: not client.topology_description.has_readable_server(), timeout_s=30)
        closing = threading.Thread(target=lambda: noted.append(client.close() is None), daemon=True)
        closing.start()
        closing.join(10)
    assert noted == [True]
