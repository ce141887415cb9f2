"""Every verb as its users have it, against a real mongod."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import brimline
from brimline.execution import DataPolicy
from brimline.experiments.settings import CapacitySettings, SweepSettings
from brimline.report import render_json
from brimline.servers import Deployment
from brimline.spec import shipped_workloads
from tests.support.command_line import CALM, CommandLine
from tests.support.scripted_server import scripted_server
from tests.support.starved import awake
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod

SHORT_SWEEP = SweepSettings(connections_max=32, warmup_s=0.1, duration_s=0.4)
SHORT_CAPACITY = CapacitySettings(
    preset="quick",
    sweep=SHORT_SWEEP,
    calibrate_s=0.3,
    warmup_s=0.1,
    window_s=0.6,
    operations_min=400,
    budget_s=9.0,
)


@pytest.fixture
def uri(mongod: Deployment) -> str:
    return f"mongodb://{mongod.address}"


def _check_latency(document: dict[str, Any]) -> None:
    quantiles = [document[key] for key in ("p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns")]
    assert quantiles == sorted(quantiles)
    assert 1_000 < quantiles[0] < 60_000_000_000, "nanoseconds"
    assert document["count"] > 0


def _without_what_may_change(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "record"}


# run and load


def test_load_then_run_as_the_words_promise(brimline_cli: CommandLine, uri: str) -> None:
    """`brimline run ycsb-c --uri URI --connections 32 --duration … --json`, and the records opened again."""
    load = brimline_cli.run("load", "ycsb-c", "--uri", uri, "--records", "2000", "--drop", "--json")
    assert load.exit_code == 0, load.stderr
    loaded = load.json()
    assert load.stderr.count(f"load: {loaded['load_model']}\n") == 1
    assert loaded["load_model"].startswith("closed loop, unlimited, ")
    counts = loaded["counts_whole_run"]
    assert counts["by_operation"]["load"]["ok"] == counts["ok"] == 2
    assert Path(brimline_cli.directory, loaded["record"], "report.html").exists()

    run = awake(
        brimline_cli,
        *("run", "ycsb-c", "--uri", uri, "--records", "2000", "--connections", "32"),
        *("--duration", "1250ms", "--warmup", "200ms", "--json"),
    )
    assert run.exit_code == 0, run.stderr
    document = run.json()
    assert f"load: {document['load_model']}\n" in run.stderr, "talk goes to stderr"
    assert document["kind"] == "run"
    assert document["connections"] == 32
    measured = document["counts"]
    assert measured["ok"] == measured["by_operation"]["read"]["ok"] == document["service"]["count"]
    counts = document["counts_whole_run"]
    assert counts["ok"] > measured["ok"], "the warm-up is not in the measured window"
    assert set(counts["by_operation"]) == {"read"}
    assert counts["by_operation"]["read"]["ok"] == counts["ok"] == counts["sent"] == counts["due"] > 0
    assert counts["miss"] == counts["failed"] == counts["unfinished"] == counts["overdue"] == 0
    assert document["measured_s"] == pytest.approx(1.25)
    # Done in the window against due in it: they differ by what was in flight at its two ends.
    assert document["throughput_ops_per_s"] == pytest.approx(document["service"]["count"] / 1.25, abs=32)
    _check_latency(document["service"])
    _check_latency(document["operations"]["read"]["service"])
    assert document["response"] is None and document["lag"] is None, "a closed loop has service time only"
    assert document["client_cpu_ns_per_op"] > 100
    assert document["verdict"] == {"value": None, "reasons": []}
    assert document["errors"] == []
    record = brimline_cli.directory / document["record"]
    assert re.fullmatch(r"\d{8}t\d{6}z-ycsb-c-[0-9a-f]{8}", record.name)
    assert record.stat().st_mode & 0o777 == 0o700

    shown = brimline_cli.run("show", "latest", "--json")
    assert _without_what_may_change(shown.json()) == _without_what_may_change(document)
    report = record / "report.html"
    report.unlink()
    (record / "analysis.json").unlink()
    reported = brimline_cli.run("report", record.name, "--json")
    assert _without_what_may_change(reported.json()) == _without_what_may_change(document)
    assert report.exists()
    assert json.loads((record / "analysis.json").read_text()) == reported.json()
    text = brimline_cli.run("show", record)
    assert text.exit_code == 0
    assert "Throughput" in text.stdout and "read" in text.stdout
    listed = brimline_cli.run("list", "--json").json()["records"]
    assert [(entry["name"], entry["ended_by"], entry["problem"]) for entry in listed] == [
        ("ycsb-c", "completed", "")
    ] * 2


@pytest.mark.alone
def test_an_open_loop_has_response_and_lag_and_a_verdict(brimline_cli: CommandLine) -> None:
    """A service time that even a generator on a busy machine doesn't reach with its lag."""
    with scripted_server({"service": {"kind": "fixed", "ns": 30_000_000}}) as server:
        outcome = brimline_cli.run(
            *("run", "ycsb-a", "--uri", server.uri, "--data", "as-is", "--rate", "500/s", "--connections", "64"),
            *("--duration", "1s", "--warmup", "0s", "--p99", "5s", "--json", "-q"),
        )
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stderr == ""
    document = outcome.json()
    assert document["verdict"] == {"value": "pass", "reasons": []}
    assert document["objective"]["response_p99_ns"] == 5_000_000_000
    assert document["offered_ops_per_s"] == 500
    assert document["counts_whole_run"]["due"] == 500
    for clock in ("response", "service"):
        _check_latency(document[clock])
    assert document["lag"]["count"] == document["response"]["count"] == 500
    assert document["response"]["mean_ns"] >= document["service"]["mean_ns"] >= 30_000_000
    assert set(document["counts"]["by_operation"]) == {"read", "update"}


@pytest.mark.alone
def test_a_missed_objective_is_a_failed_gate(brimline_cli: CommandLine) -> None:
    with scripted_server({"service": {"kind": "fixed", "ns": 20_000_000}}) as server:
        outcome = brimline_cli.run(
            *("run", "ycsb-c", "--uri", server.uri, "--data", "as-is", "--rate", "2000/s", "--connections", "64"),
            *("--duration", "1s", "--warmup", "0s", "--p99", "2ms", "--json", "-q"),
        )
    outcome.check_error(3, "the objective was missed", "response p99", "report.html")
    assert outcome.json()["verdict"]["value"] == "fail"


# The server of brimline's own


def test_a_run_without_uri_starts_a_server_and_leaves_nothing(brimline_cli: CommandLine) -> None:
    running = brimline_cli.start_fresh(
        "run", "ycsb-b", "--records", "1000", "--duration", "1s", "--warmup", "0s", *CALM, "--json"
    )
    server = running.server()
    outcome = running.end()
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.json()["counts_whole_run"]["failed"] == 0
    assert "starting mongod" in outcome.stderr
    assert not server.is_running()
    assert list(brimline_cli.servers.iterdir()) == []


@pytest.mark.slow("a whole command against a real server")
def test_a_killed_brimline_leaves_a_readable_record_and_no_server(brimline_cli: CommandLine) -> None:
    running = brimline_cli.start("run", "ycsb-a", "--records", "1000", "--duration", "120s", "--warmup", "0s", *CALM)
    directory = brimline_cli.wait_for_samples("ycsb-a")
    server = running.server()
    running.process.kill()
    assert running.end().exit_code == -9
    assert eventually(lambda: not server.is_running()), "the server outlived brimline"
    assert eventually(lambda: list(brimline_cli.servers.iterdir()) == [])
    shown = brimline_cli.run("show", directory, "--json")
    assert shown.exit_code == 0, shown.stderr
    document = shown.json()
    assert document["ended_by"] == "killed"
    assert document["counts_whole_run"] is None
    assert document["throughput_ops_per_s"] > 0
    assert document["measured_s"] >= 1
    assert "killed" in brimline_cli.run("show", directory).stdout
    assert "killed" in brimline_cli.run("list").stdout


# sweep and capacity


def test_a_sweep_on_the_command_line(brimline_cli: CommandLine, uri: str) -> None:
    outcome = brimline_cli.run(
        *("sweep", "ycsb-c", "--uri", uri, "--records", "2000", "--data", "load", "--drop"),
        *("--connections-max", "4", "--duration", "500ms", "--warmup", "100ms", "--json"),
    )
    # On a busy machine four connections may not be enough for a plateau: then there is no number, and 4.
    assert outcome.exit_code in (0, 4), outcome.stderr
    document = outcome.json()
    assert document["kind"] == "sweep"
    assert [level["connections"] for level in document["levels"]] == [1, 2, 4]
    assert all(level["throughput_ops_per_s"] > 0 for level in document["levels"])
    assert len(document["probes"]) == 3
    shown = brimline_cli.run("show", "latest", "--json")
    how_it_ended = ("error", "hint", "exit_code")  # of the command, and no part of the record
    assert shown.json() == {key: value for key, value in document.items() if key not in how_it_ended}
    assert document.get("exit_code", 0) == outcome.exit_code
    assert "1 connection, closed loop" in outcome.stderr


@pytest.mark.alone
@pytest.mark.slow("a whole search in real time")
def test_a_capacity_on_real_time(tmp_path: Path) -> None:
    """The twin of the searches on the virtual clock: short windows, a wide margin, three tries on a busy machine."""
    # A service time that even a generator on a busy machine hardly reaches with its lag.
    script = {"service": {"kind": "fixed", "ns": 5_000_000}, "capacity_ops_per_s": 800.0}
    with scripted_server(script) as server:
        for _ in range(3):
            result = brimline.capacity(
                "ycsb-c",
                settings=SHORT_CAPACITY,
                overrides={"slo.response_p99": "50ms"},
                options=brimline.Options(uri=server.uri, runs_dir=tmp_path, data=DataPolicy.AS_IS),
            )
            if result.exit_code == 0:
                break
    assert result.exit_code == 0, result.error
    document = json.loads(render_json(result.report))
    assert document["kind"] == "capacity"
    assert document["objective"]["response_p99_ns"] == 50_000_000
    assert document["sweep"]["highest_ops_per_s"] == pytest.approx(800, rel=0.25)
    stages = [probe["stage"] for probe in document["probes"]]
    assert stages[0] == "calibrate" and {"sweep", "search"} <= set(stages)
    assert document["quotable"] is False
    assert document["conclusion"] == "sustained"
    assert document["sustained_ops_per_s"] == pytest.approx(800, rel=0.25)
    low, high = document["sustained_interval_ops_per_s"]
    assert low <= document["sustained_ops_per_s"] <= high
    again = brimline.open_result(result.directory, runs_dir=tmp_path)
    assert json.loads(render_json(again.report)) == document
    assert (result.directory / "report.html").exists()


def test_a_capacity_without_a_server_is_no_capacity(tmp_path: Path) -> None:
    settings = replace(SHORT_CAPACITY, sweep=SweepSettings(connections_max=2, warmup_s=0.0, duration_s=0.3))
    options = brimline.Options(null=True, runs_dir=tmp_path)
    result = brimline.capacity("ycsb-c", settings=settings, options=options)
    assert result.exit_code == 4
    assert result.error is not None
    document = json.loads(render_json(result.report))
    assert document["conclusion"] == "client_limited"
    assert document["sustained_ops_per_s"] is None and document["saturation_ops_per_s"] is None


# The rest


def test_latest_is_what_began_last(tmp_path: Path) -> None:
    """Also when both began in the same second, as a load and its search do: their names don't tell then."""
    options = brimline.Options(null=True, runs_dir=tmp_path)
    settings = SweepSettings(connections_max=1, warmup_s=0.0, duration_s=0.1)
    short = {"duration": "10ms", "warmup": "0s"}
    for _ in range(5):
        time.sleep(1 - time.time() % 1)
        first = brimline.run("ycsb-c", overrides=short, options=options)
        second = brimline.sweep("ycsb-c", settings=settings, options=options)
        if first.directory.name[:16] == second.directory.name[:16]:
            break
    latest = brimline.open_result("latest", runs_dir=tmp_path)
    assert latest.directory == second.directory


def test_the_verbs_that_only_look(brimline_cli: CommandLine) -> None:
    workloads = brimline_cli.run("workloads", "--json")
    assert [entry["name"] for entry in workloads.json()["workloads"]] == shipped_workloads()
    assert brimline_cli.run("list").stdout.strip() == "no runs yet"
    assert brimline_cli.run("list", "--json").json() == {"format_version": 1, "kind": "list", "records": []}
    version = brimline_cli.run("--version")
    assert re.fullmatch(r"brimline \S+\n", version.stdout)
    missing = brimline_cli.run("show")
    missing.check_error(2, "there is no run in runs", "--runs-dir")


@pytest.mark.slow("a whole command against a real server")
def test_doctor_says_what_this_machine_can_do(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("doctor", "--json")
    document = outcome.json()
    assert (document["format_version"], document["kind"]) == (1, "doctor")
    checks = document["checks"]
    assert outcome.exit_code == (4 if any(check["status"] == "fail" for check in checks) else 0)
    figures = {check["name"]: check["figures"] for check in checks}
    ceilings = figures["generator_ceiling"]["ceiling_by_threads_ops_per_s"]
    assert "1" in ceilings and all(rate > 0 for rate in ceilings.values())
    over_sockets = figures["socket_ceiling"]["ceiling_ops_per_s"]
    assert 1_000 < over_sockets < ceilings["1"], "sending and receiving take more than encoding and recording"
    assert 0 <= figures["generator_lag"]["lag_p50_ns"] <= figures["generator_lag"]["lag_p99_ns"]
    assert all(check["evidence"] for check in checks)
    assert all(check["hint"] for check in checks if check["status"] in ("warn", "fail"))
    assert brimline_cli.runs.exists() is False, "a check-up leaves no record"


@pytest.mark.usefixtures("brief_checks")
def test_doctor_holds_a_workload_against_a_server(brimline_cli: CommandLine, uri: str) -> None:
    """A hundred billion documents fit nowhere: a check fails, and so does the command."""
    outcome = brimline_cli.run("doctor", "ycsb-c", "--uri", uri, "--records", "100000M", "--json")
    assert outcome.exit_code == 4, outcome.stderr
    checks = {check["name"]: check for check in outcome.json()["checks"]}
    assert checks["server_disk"]["status"] == "fail"
    assert checks["server_disk"]["figures"]["planned_bytes"] > 100e12
    assert (checks["shared_host"]["status"], checks["shared_host"]["figures"]) == ("warn", {"shared": True})
    assert "mongod" not in checks
    table = brimline_cli.run("doctor", "ycsb-c", "--uri", uri, "--records", "100000M")
    assert table.exit_code == 4
    assert "server disk" in table.stdout and "fewer records" in table.stdout
