"""What users get wrong and what goes wrong around them: one error, one hint, the right exit code, no secret kept."""

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from brimline.execution.cluster import cluster
from brimline.execution.cluster.shared_work import LOOK_S
from brimline.servers import Deployment
from brimline.servers.bundled import free_port
from tests.support.command_line import CommandLine, Outcome
from tests.support.nodes import HereLink
from tests.support.repetitions import repetitions
from tests.support.scripted_server import scripted_server
from tests.support.small_disk import small_disk
from tests.support.ycsb_command import workload

SECRET = "hunter2-S3cr3t"
SPEC = """\
name: small
data: {records: 1000}
operations: {read: 0.9, update: 0.1}
connections: 4
warmup: 0s
duration: 1s
"""
CORE_WORKLOAD = ("-p", "workload=site.ycsb.workloads.CoreWorkload", "-p", "recordcount=1000")


def _spec(directory: Path, text: str = SPEC, *, more: str = "") -> Path:
    path = directory / "small.yaml"
    path.write_text(text + more)
    return path


def _check_no_secret(brimline_cli: CommandLine, outcome: Outcome) -> None:
    assert SECRET not in outcome.stdout + outcome.stderr
    assert "hunter2" not in outcome.stdout + outcome.stderr
    assert brimline_cli.files_with("hunter2") == []


# Addresses


def test_no_server_at_the_address(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("run", "ycsb-c", "--uri", f"mongodb://127.0.0.1:{free_port()}", "--json")
    outcome.check_error(5, "no server answers at mongodb://127.0.0.1:", "connection refused", "check host and port")
    assert outcome.json() == {"error": outcome.error, "hint": outcome.hint, "exit_code": 5}


@pytest.mark.parametrize("verb", [("run", "ycsb-c"), ("capacity", "ycsb-c", "--quick"), ("stat",), ("doctor",)])
def test_an_empty_address_is_no_wish_for_another_server(brimline_cli: CommandLine, verb: tuple[str, ...]) -> None:
    """As a variable of a script that was never set."""
    brimline_cli.run(*verb, "--uri", "").check_error(2, "the address that was given is empty", "mongodb://HOST:PORT")


def test_a_wrong_scheme(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("run", "ycsb-c", "--uri", "redis://127.0.0.1:6379")
    outcome.check_error(2, "redis://", "mongodb://HOST:PORT")


def test_a_password_in_an_address_is_not_repeated(brimline_cli: CommandLine, tmp_path: Path) -> None:
    uri = f"mongodb://admin:{SECRET}@127.0.0.1:{free_port()}"
    for outcome in (
        brimline_cli.run("run", "ycsb-c", "--uri", uri),
        brimline_cli.run("capacity", "ycsb-c", environment={"BRIMLINE_URI": uri}),
        brimline_cli.run("load", _spec(tmp_path, more=f"target: {{uri: '{uri}'}}\n")),
    ):
        outcome.check_error(5, "no server answers", "connection refused")
        assert outcome.stdout == ""
        _check_no_secret(brimline_cli, outcome)
    for user_info in (f"admin:/{SECRET}?@:{SECRET}/", f"admin:{SECRET}@{SECRET}", f"admin:{SECRET}:{SECRET}"):
        outcome = brimline_cli.run("run", "ycsb-c", "--uri", f"mongodb://{user_info}@127.0.0.1/x")
        outcome.check_error(2, "password", "%40")
        assert outcome.stdout == ""
        _check_no_secret(brimline_cli, outcome)


@pytest.mark.mongod
def test_a_password_in_an_address_that_is_not_used_is_not_stored(
    brimline_cli: CommandLine, mongod: Deployment, tmp_path: Path
) -> None:
    """The spec and the command line go into the record; here both hold one, and --uri has its way."""
    stray = f"mongodb://admin:{SECRET}@db.example.org:27017/"
    spec = _spec(tmp_path, more=f"target: {{uri: '{stray}'}}\n")
    server = ("--uri", f"mongodb://{mongod.address}", "--data", "load", "--drop")
    from_yaml = brimline_cli.run("run", spec, *server, "--json")
    properties = (*CORE_WORKLOAD, "-p", "readproportion=1", "-p", "operationcount=100")
    from_properties = brimline_cli.run("run", *properties, "-p", f"mongodb.url={stray}", *server, "--json")
    for outcome in (from_yaml, from_properties):
        assert outcome.exit_code == 0, outcome.stderr
        assert outcome.json()["counts_whole_run"]["failed"] == 0
        _check_no_secret(brimline_cli, outcome)
    assert len(brimline_cli.files_with("db.example.org")) >= 1, "the address itself is kept, without the password"


# Specs


def test_a_misspelt_key_is_named_with_its_path_and_what_was_meant(brimline_cli: CommandLine, tmp_path: Path) -> None:
    text = "data: {records: 1000, feilds: 5}\noperations: {read: 1}\n"
    outcome = brimline_cli.run("run", _spec(tmp_path, text), "--null")
    outcome.check_error(2, "small.yaml:1", "data.feilds", 'did you mean "fields"')
    outcome = brimline_cli.run("run", _spec(tmp_path, more="conections: 3\n"), "--null")
    outcome.check_error(2, "small.yaml:7", "conections", "connections")
    assert not brimline_cli.runs.exists()


def test_proportions_that_add_up_to_0(brimline_cli: CommandLine, tmp_path: Path) -> None:
    spec = _spec(tmp_path, "data: {records: 1000}\noperations: {read: 0, update: 0}\n")
    brimline_cli.run("run", spec, "--null").check_error(2, "operations", "add up to 0")
    properties = (*CORE_WORKLOAD, "-p", "readproportion=0", "-p", "updateproportion=0")
    brimline_cli.run("run", *properties, "--null").check_error(2, "add up to 0")


def test_words_that_the_command_line_does_not_know(brimline_cli: CommandLine) -> None:
    brimline_cli.run("runn", "ycsb-c").check_error(2, "runn", "--help")
    brimline_cli.run("run", "ycsb-c", "--connection", "3").check_error(2, "--connection", "--help")
    brimline_cli.run("run", "ycsb-g", "--null").check_error(2, "ycsb-g", "shipped workloads")


# Places


@pytest.mark.parametrize("place", ["/proc/self/none", "file/runs"])
def test_a_runs_directory_that_can_not_be_written(place: str, brimline_cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = brimline_cli.run("run", "ycsb-c", "--null", "--duration", "100ms", "--runs-dir", place)
    outcome.check_error(1, f"can't write {place}", "--runs-dir")


@pytest.mark.mongod
def test_a_runs_directory_that_can_not_be_written_is_told_before_a_load(
    brimline_cli: CommandLine, mongod: Deployment
) -> None:
    outcome = brimline_cli.run(
        "run", "ycsb-c", "--uri", f"mongodb://{mongod.address}", "--data", "load", "--runs-dir", "/proc/self/none"
    )
    outcome.check_error(1, "can't write /proc/self/none")


def _small_records(limit_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))


def test_a_file_that_can_not_grow_ends_the_run_and_keeps_what_was_measured(
    brimline_cli: CommandLine, tmp_path: Path
) -> None:
    spec = _spec(tmp_path, more="interval: 10ms\nload: {kind: constant, rate: 2000/s}\n")
    running = brimline_cli.start_fresh(
        *("run", spec, "--null", "--duration", "120s"), before_exec=lambda: _small_records(200_000)
    )
    outcome = running.end()
    outcome.check_error(1, "can't write", "what was measured in the first", "is kept in")
    _check_prefix(brimline_cli)


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 kB."""
    with small_disk(tmp_path / "small-disk", "300k") as place:
        yield place


@pytest.mark.parametrize("workers", [(), ("--workers", "local:2")])
def test_a_full_disk_ends_the_run_and_keeps_what_was_measured(
    brimline_cli: CommandLine,
    full_disk: Path,
    tmp_path: Path,
    workers: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also while nodes measure, of which none goes on."""
    nodes: list[HereLink] = []
    monkeypatch.setattr(cluster, "ProcessLink", lambda: nodes.append(HereLink()) or nodes[-1])
    spec = _spec(tmp_path, more="interval: 10ms\nload: {kind: constant, rate: 2000/s}\n")
    outcome = brimline_cli.run("run", spec, "--null", "--duration", "120s", "--runs-dir", full_disk, *workers)
    outcome.check_error(1, "no space left on device", "free some space", "is kept in")
    _check_prefix(brimline_cli, full_disk)
    asked = [each.calls for each in nodes]
    time.sleep(5 * LOOK_S)
    assert [each.calls for each in nodes] == asked and len(nodes) == (2 if workers else 0)


def _check_prefix(brimline_cli: CommandLine, runs: Path | None = None) -> None:
    """What was measured before the disk was full is a record that can be shown."""
    shown = brimline_cli.run("show", "latest", "--runs-dir", runs or brimline_cli.runs, "--json")
    assert shown.exit_code == 0, shown.stderr
    document = shown.json()
    assert document["ended_by"] in ("killed", "error")
    assert document["measured_s"] > 0.1
    assert document["throughput_ops_per_s"] == pytest.approx(2000, rel=0.2)


# The server of brimline's own


def _program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_mongod_that_is_no_program(brimline_cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no program\n")
    outcome = brimline_cli.run("run", "ycsb-c", environment={"BRIMLINE_MONGOD": str(tmp_path / "plain")})
    outcome.check_error(2, "BRIMLINE_MONGOD", str(tmp_path / "plain"))
    garbage = _program(tmp_path / "garbage", "\x7fELF and nothing else\n")
    outcome = brimline_cli.run("run", "ycsb-c", "--mongod", garbage)
    outcome.check_error(5, "the server can't be started", "processor")
    assert brimline_cli.run("run", "ycsb-c", "--mongod", tmp_path / "none").exit_code == 2
    assert list(brimline_cli.servers.iterdir()) == []
    assert brimline_cli.files_with("") == [], "nothing was measured"


def test_a_port_that_is_always_in_use(brimline_cli: CommandLine, tmp_path: Path) -> None:
    """What mongod says when another program took its port, each time it is tried."""
    words = "Failed to set up listener: SocketException: Address already in use"
    taken = _program(tmp_path / "mongod", f'#!/bin/sh\necho "{words}" >&2\nexit 48\n')
    outcome = brimline_cli.run("run", "ycsb-c", "--mongod", taken)
    outcome.check_error(5, "Address already in use", "another program keeps taking the port")
    assert list(brimline_cli.servers.iterdir()) == []


def test_a_cache_directory_that_can_not_be_written(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("run", "ycsb-c", environment={"XDG_CACHE_HOME": "/proc/self"})
    outcome.check_error(5, "/proc/self/brimline", "XDG_CACHE_HOME")


def test_a_run_in_which_everything_fails_proves_nothing(brimline_cli: CommandLine) -> None:
    """Whatever the server's words are: they don't steer the terminal."""
    error = {"error": {"code": 1, "name": "\x1b]0;title\x07\u202eName"}}
    with scripted_server({"faults": [{"when": {"share": 1.0}, "kind": error}]}) as server:
        outcome = brimline_cli.run(
            "run", "ycsb-c", "--uri", server.uri, "--data", "as-is", "--duration", "1s", "--warmup", "0s"
        )
    outcome.check_error(4, "read operations succeeded: most often", "mend what the failed checks name")
    assert not {"\x1b", "\x07", "\u202e"} & set(outcome.stdout + outcome.stderr)


def test_the_database_of_an_address_is_held_to_the_rules_of_a_workload(brimline_cli: CommandLine) -> None:
    with scripted_server({}) as server:
        for name, hint in (("admin", "choose another"), ("local", "choose another"), ("a.b", "with none of")):
            outcome = brimline_cli.run("load", "ycsb-c", "--uri", f"{server.uri}/{name}", "--records", "100")
            outcome.check_error(2, "the connection string can't be honoured", hint)


def test_too_few_open_files_are_noticed_before_the_start(brimline_cli: CommandLine) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    too_many = str(min(50_000, hard))
    if int(too_many) < hard:
        pytest.skip("this process may open more files than a run may have connections")
    with scripted_server({}) as server:
        outcome = brimline_cli.run(
            "run", "ycsb-c", "--uri", server.uri, "--data", "as-is", "--connections", too_many, "--duration", "1s"
        )
    outcome.check_error(2, "open files", "ulimit -n")
    assert not list(brimline_cli.runs.glob("*")), "nothing was recorded"


@pytest.mark.parametrize(
    "verb",
    [
        ("sweep", "ycsb-c", "--connections-max", "300", "--data", "as-is"),
        ("sweep", "ycsb-c", "--vary", "connections=1,300", "--data", "as-is"),
        ("capacity", "ycsb-c", "--connections", "300", "--data", "as-is"),
        ("capacity", "ycsb-c", "--connections", "300", "--frontier", "5ms,10ms", "--data", "as-is"),
        ("ab", "ycsb-c", "--a", "connections=1", "--b", "connections=300", "--pairs", "3", "--data", "as-is"),
        ("grow", "ycsb-c", "--to", "2000", "--step", "1000", "--connections", "1,300"),
        ("run", "ycsb-c", "--connections", "300", "--data", "as-is"),
        ("interfere", "ycsb-c", "--connections", "300", "--with", "scan", "--data", "as-is"),
    ],
    ids=lambda verb: f"{verb[0]} {verb[2]}",
)
def test_too_few_open_files_for_one_run_of_many_are_noticed_before_the_first(
    verb: tuple[str, ...], brimline_cli: CommandLine
) -> None:
    """None of these verbs begins with the run that has most connections, or it is their only one."""
    with scripted_server({}) as server:
        outcome = brimline_cli.start(*verb, "--uri", server.uri, open_files_max=200).end()
        outcome.check_error(2, "needs 428 open files, and this process may have 200", "ulimit -n")
        counted = server.opcounters()
    assert (counted["query"], counted["insert"]) == (0, 0), "nothing was sent"
    assert not list(brimline_cli.runs.glob("*")), "nothing was recorded"


@pytest.mark.parametrize("phase", ["load", "run"])
def test_too_many_threads_of_ycsb_are_refused_before_it_says_that_it_is_connected(
    phase: str, brimline_cli: CommandLine
) -> None:
    with scripted_server({}) as server:
        words = ("-P", workload("c"), "-p", f"mongodb.url={server.uri}/ycsb", "-threads", "300")
        outcome = brimline_cli.start("ycsb", phase, "mongodb", *words, open_files_max=200).end()
        counted = server.opcounters()
    outcome.check_error(2, "needs 428 open files, and this process may have 200", "ulimit -n")
    assert outcome.stdout == ""
    assert (counted["query"], counted["insert"]) == (0, 0), "nothing was sent"
    assert not list(brimline_cli.runs.glob("*")), "nothing was recorded"


@pytest.mark.parametrize(
    "words",
    [("sweep",), ("sweep", "--vary", "cache-gb=0.25,1"), ("capacity", "--on", "connections", "--quick")],
    ids=" ".join,
)
def test_a_think_time_is_not_dropped_silently(words: tuple[str, ...], brimline_cli: CommandLine) -> None:
    spec = "data: {records: 100}\noperations: {read: 1}\nload: {kind: closed, think_time: 10ms}\n"
    (brimline_cli.directory / "pausing.yaml").write_text("name: pausing\n" + spec)
    outcome = brimline_cli.run(words[0], "pausing.yaml", *words[1:])
    assert outcome.exit_code == 2
    assert "load.think_time" in outcome.stderr and "\nhint: leave load.think_time out" in outcome.stderr
    assert not list(brimline_cli.directory.glob("runs/*"))


# The same from a process


@pytest.mark.parametrize(
    ("exit_code", "words"),
    [
        (5, ("run", "ycsb-c", "--uri", "mongodb://127.0.0.1:9")),
        (2, ("capacity", "ycsb-c", "--connection", "3")),
        (0, ("list",)),
        *repetitions(
            (2, ("run", "ycsb-c", "--uri", "")),
            (2, ("run", "ycsb-c", "--uri", "redis://127.0.0.1:6379")),
            (2, ("run", "ycsb-g", "--null")),
            (2, ("runn", "ycsb-c")),
            (2, ("sweep", "ycsb-c", "--vary", "colour=a,b")),
            (2, ("import", "absent.json", "--uri", "mongodb://127.0.0.1:9")),
            (2, ("show",)),
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else None,
)
def test_a_process_says_what_the_function_says(
    exit_code: int, words: tuple[str, ...], brimline_cli: CommandLine
) -> None:
    """All other refusals are tested by calling the function."""
    process, function = brimline_cli.run_process(*words), brimline_cli.run(*words)
    assert process.exit_code == function.exit_code == exit_code
    assert (process.stdout, process.stderr) == (function.stdout, function.stderr)
