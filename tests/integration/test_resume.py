"""Searches that are killed in the middle and go on: what was measured counts, the probe that was cut short doesn't."""

import json
import signal
from pathlib import Path

import pytest

from brimline.errors import RecordError
from brimline.experiments.paired.order import arm_order
from brimline.record import ExperimentWriter, read_experiment
from tests.support.command_line import CommandLine
from tests.support.scripted_server import scripted_server
from tests.support.waiting import eventually

SCRIPT = {"service": {"kind": "lognormal", "mean_ns": 1_000_000, "sigma": 0.3}, "servers": 2}
SPEC = "name: resumed\ndata: {records: 1000}\noperations: {read: 1}\n"


def trials(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "trials").iterdir())


def test_a_sweep_killed_in_the_middle_goes_on(brimline_cli: CommandLine) -> None:
    spec = brimline_cli.directory / "resumed.yaml"
    spec.write_text(SPEC)
    arguments = ("--duration", "600ms", "--warmup", "100ms", "--connections-max", "8", "--data", "as-is")
    with scripted_server(SCRIPT) as server:
        running = brimline_cli.start("sweep", spec, "--uri", server.uri, *arguments)

        def third_probe() -> bool:
            return any((brimline_cli.runs).glob("*/trials/03-*/intervals.csv"))

        assert eventually(third_probe, timeout_s=60), "the third probe did not begin"
        running.send(signal.SIGKILL)
        running.end(timeout_s=30)
        (directory,) = brimline_cli.record_directories(kind="sweep")
        before = {name: (directory / "trials" / name / "record.json").read_bytes() for name in trials(directory)[:2]}

        outcome = brimline_cli.run("sweep", "--resume", directory, "--uri", server.uri, "--data", "as-is", "--json")
    document = json.loads(outcome.stdout)
    connections = [probe["connections"] for probe in document["probes"]]
    assert connections == [1, 2, 4, 8], outcome.stderr
    assert document["ended_by"] == "completed"
    assert {name: (directory / "trials" / name / "record.json").read_bytes() for name in before} == before
    assert [path.name for path in (directory / "dropped").iterdir()] == ["01-03-sweep-4-connections"]
    events = [json.loads(line)["kind"] for line in (directory / "events.jsonl").read_text().splitlines()]
    assert events.count("resumed") == 1 and events.count("dropped") == 1


def test_a_sweep_on_a_server_of_its_own_goes_on_with_another_one(brimline_cli: CommandLine) -> None:
    """Its port is another one, and mongod tells the port with the name of its host."""
    arguments = ("--records", "1000", "--duration", "600ms", "--warmup", "100ms", "--connections-max", "2")
    running = brimline_cli.start("sweep", "ycsb-c", *arguments)

    def second_probe() -> bool:
        return any(brimline_cli.runs.glob("*/trials/02-*/intervals.csv"))

    assert eventually(second_probe, timeout_s=60), "the second probe did not begin"
    running.send(signal.SIGINT)
    ended = running.end(timeout_s=30)
    (directory,) = brimline_cli.record_directories(kind="sweep")
    ended.check_error(130, "interrupted by SIGINT", f"brimline sweep --resume runs/{directory.name} goes on with it")
    outcome = brimline_cli.run("sweep", "--resume", directory, "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr  # 4: two levels show no plateau
    assert [probe["connections"] for probe in outcome.json()["probes"]] == [1, 2]


@pytest.mark.mongod
@pytest.mark.other_client
@pytest.mark.slow("a soak of seconds, interrupted and then killed, and gone on with each time")
def test_a_soak_goes_on_with_what_is_left_on_one_axis(brimline_cli: CommandLine, uri: str) -> None:
    """A server goes on running meanwhile: its own clock says how far the parts lie apart."""
    at = ("--uri", f"{uri}/soaked", "--data", "load")
    words = ("ycsb-a", "--records", "500", "--rate", "100/s", "--duration", "9s", "--warmup", "200ms", *at)
    for number, (how, code) in enumerate(((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)), start=1):
        begun = brimline_cli.record_directories(kind="soak")
        running = brimline_cli.start("soak", *(("--resume", begun[0], *at) if begun else words))

        def measured(number: int = number) -> bool:
            parts = [path.parent for path in brimline_cli.runs.glob(f"*-soak-*/trials/{number:02}-*/server.csv")]
            return any(
                (part / "intervals.csv").read_text().count("measure") > 10
                and len((part / "server.csv").read_text().splitlines()) > 2
                for part in parts
            )

        assert eventually(measured, timeout_s=60), "nothing was measured"
        running.send(how)
        ended = running.end(timeout_s=60)
        assert ended.exit_code == code, ended.stderr
        (directory,) = brimline_cli.record_directories(kind="soak")
        if how is signal.SIGINT:
            ended.check_error(130, "interrupted by SIGINT", f"brimline soak --resume runs/{directory.name} goes on")
    document = brimline_cli.run("soak", "--resume", directory, *at, "--json").json()
    assert (directory / "report.html").stat().st_size > 0
    parts = document["parts"]
    assert [each["ended_by"] for each in parts] == ["interrupt", "killed", "completed"]
    assert all(each["measured_s"] > 0.1 for each in parts)
    assert sum(each["measured_s"] for each in parts) == pytest.approx(9, abs=0.2)
    assert document["parts_left_out"] == 0
    assert document["span_s"] > 9.5, "with the pauses between them"


def test_an_ab_comparison_killed_in_the_middle_goes_on(brimline_cli: CommandLine) -> None:
    """The order of the runs is that of the seed, so what goes on is the comparison that was begun."""
    spec = brimline_cli.directory / "resumed.yaml"
    spec.write_text(SPEC)
    arguments = ("--b", "connections=2", "--pairs", "2", "--duration", "600ms", "--warmup", "100ms", "--data", "as-is")
    with scripted_server(SCRIPT) as server:
        running = brimline_cli.start("ab", spec, "--uri", server.uri, *arguments)

        def third_run() -> bool:
            return any((brimline_cli.runs).glob("*/trials/03-*/intervals.csv"))

        assert eventually(third_run, timeout_s=60), "the third run did not begin"
        running.send(signal.SIGKILL)
        running.end(timeout_s=30)
        (directory,) = brimline_cli.record_directories(kind="ab")
        before = {name: (directory / "trials" / name / "record.json").read_bytes() for name in trials(directory)[:2]}
        at = ("--uri", server.uri, "--data", "as-is")

        brimline_cli.run("ab", "ycsb-c", "--resume", directory, *at).check_error(2, "--resume goes on")
        outcome = brimline_cli.run("ab", "--resume", directory, *at, "--json")
        brimline_cli.run("capacity", "--resume", directory, *at).check_error(
            2, "holds an ab", f"brimline ab --resume {directory}"
        )
    document = json.loads(outcome.stdout)
    assert outcome.exit_code == 0, outcome.stderr
    assert [len(document[side]) for side in "ab"] == [2, 2] and document["left_out"] == []
    assert document["differences"] == [{"where": "plan", "name": "connections", "a": ["32"], "b": ["2"]}]
    assert {name: (directory / "trials" / name / "record.json").read_bytes() for name in before} == before
    assert len(trials(directory)) == 4 and len(list((directory / "dropped").iterdir())) == 1
    arms = [json.loads((directory / "trials" / name / "trial.json").read_text())["arm"] for name in trials(directory)]
    assert arms == list(arm_order("AB", 2, 1))


def test_another_workload_is_refused(brimline_cli: CommandLine) -> None:
    spec = brimline_cli.directory / "resumed.yaml"
    spec.write_text(SPEC)
    with scripted_server(SCRIPT) as server:
        at = ("--uri", server.uri, "--data", "as-is")
        begun = brimline_cli.run("sweep", spec, *at, "--duration", "200ms", "--warmup", "0s", "--connections-max", "1")
        assert "estimate: about 200 ms, 1 probe (sweep 1)" in begun.stderr
        (directory,) = brimline_cli.record_directories(kind="sweep")
        (directory / "spec.yaml").write_text(SPEC.replace("1000", "2000"))
        brimline_cli.run("sweep", "--resume", directory, *at).check_error(2, "now makes another plan", "begin a new")
        (directory / "spec.yaml").write_text(SPEC)
        environment = json.loads((directory / "environment.json").read_text())
        environment["server"]["version"] = "4.4.0"
        (directory / "environment.json").write_text(json.dumps(environment))
        brimline_cli.run("sweep", "--resume", directory, *at).check_error(
            2, "this is not the server", "and was 4.4.0", "give the same server"
        )
        brimline_cli.run("capacity", "--resume", directory, *at).check_error(
            2, "holds a sweep", f"brimline sweep --resume {directory}"
        )
        brimline_cli.run("capacity", "ycsb-c", "--resume", directory).check_error(2, "--resume goes on")


def test_two_processes_do_not_write_one_search(tmp_path: Path) -> None:
    fixed = {"kind": "sweep", "name": "x", "settings": {}, "spec_text": "", "environment": {}}
    with ExperimentWriter(tmp_path / "x", **fixed) as writer:  # type: ignore[arg-type]
        with pytest.raises(RecordError, match="written by another process"):
            ExperimentWriter.reopen(tmp_path / "x", settings={})
        writer.seal(ended_by="interrupt")
    with ExperimentWriter.reopen(tmp_path / "x", settings={"a": 1}) as writer:
        assert read_experiment(tmp_path / "x").ended_by == "running"
        assert read_experiment(tmp_path / "x").settings == {"a": 1}
