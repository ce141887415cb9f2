"""Servers that aren't brimline's: commands make the fault and undo it, also where the run is interrupted."""

import signal
from pathlib import Path

import pytest

from brimline.record import read_experiment
from brimline.record.fault import BEGUN_FILE, read_fault
from tests.support.command_line import CommandLine
from tests.support.small_disk import small_disk
from tests.support.waiting import eventually

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]


@pytest.mark.slow("a run has seconds before a fault and after it; one is interrupted, and made again")
def test_commands_of_a_person_are_undone_on_an_interrupt_and_gone_on_with(
    uri: str, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    done, undone = tmp_path / "done", tmp_path / "undone"
    at = ("--uri", f"{uri}/by_commands", "--data", "load")
    running = brimline_cli.start(
        "failover", "ycsb-a", *at, "--records", "500", "--rate", "200/s", "--repeats", "1", "--before", "2s",
        "--hold", "2s", "--after", "2s", "--fault", f"echo >> {done}; true", "--undo", f"echo >> {undone}; true",
    )  # fmt: skip
    assert eventually(done.exists, timeout_s=60, interval_s=0.02)
    running.send(signal.SIGINT)
    ended = running.end(timeout_s=60)
    assert ended.exit_code == 130, ended.stderr
    assert undone.exists(), "the servers are put back first"
    (directory,) = brimline_cli.runs.glob("*-failover-*")
    ended = brimline_cli.run("failover", "--resume", directory, *at)
    assert ended.exit_code in (0, 4), ended.stderr  # 4: this machine stood still meanwhile
    (entry,) = read_experiment(directory).trials
    facts = read_fault(entry.directory)
    assert facts is not None and not facts.trouble and not facts.undo_trouble
    assert done.read_text() == undone.read_text() == "\n\n"
    assert not (entry.directory / BEGUN_FILE).exists()
    document = brimline_cli.run("show", directory, "--json").json()
    assert (directory / "report.html").stat().st_size > 0
    (trial,) = document["trials"]
    assert trial["figures"]["outage_ns"] < 1e9, "a command that does nothing to it costs nothing"
    assert trial["ledger"]["acknowledged"] > 100
    assert (trial["ledger"]["missing"], trial["ledger"]["twice"]) == (0, 0)


@pytest.mark.slow("a run has seconds before a fault and after it")
def test_an_undo_that_fails_is_said_loudly_until_somebody_sees_to_it(
    uri: str, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """Alone and in a design: nothing more is measured on servers that are not as they were."""
    tries = tmp_path / "tries"
    asked = (
        "failover", "ycsb-a", "--uri", f"{uri}/not_undone", "--data", "load", "--records", "500", "--rate", "200/s",
        "--repeats", "2", "--before", "2s", "--hold", "0s", "--after", "2s", "--ledger", "0",
        "--fault", "true it is done", "--undo", f"echo >> {tries}; echo no such unit >&2; exit 5",
    )  # fmt: skip
    for words in ((), ("--vary", "connections=2,4")):
        tries.unlink(missing_ok=True)
        ended = brimline_cli.run(*asked, *words)
        ended.check_error(5, "was not undone: the command ended with 5: no such unit", "do it by hand: echo >>")
        assert "the servers are NOT as they were" in ended.stderr
        assert tries.read_text() == "\n", "neither another fault nor another combination"
    (directory,) = brimline_cli.runs.glob("*-failover-*")
    assert len(list(directory.glob(f"*/*/{BEGUN_FILE}"))) == 1
    again = brimline_cli.run("failover", "--resume", directory, "--uri", f"{uri}/not_undone", "--data", "load")
    assert "never undone; see to it by hand: echo >>" in " ".join(again.stderr.split())
    gone = brimline_cli.run("failover", "--resume", directory, "--uri", "mongodb://127.0.0.1:1/not_undone")
    gone.check_error(5, "refused")
    assert "never undone; see to it by hand: echo >>" in " ".join(gone.stderr.split()), "also where none answers"


@pytest.mark.slow("a run has seconds before a fault")
def test_a_full_disk_of_its_own_is_one_error_and_the_fault_is_undone(
    uri: str, brimline_cli: CommandLine, tmp_path: Path
) -> None:
    """The fault fills the disk that the record is written to."""
    undone = tmp_path / "undone"
    with small_disk(tmp_path / "disk", "8m") as disk:
        ended = brimline_cli.run(
            "failover", "ycsb-a", "--uri", f"{uri}/full", "--data", "load", "--records", "500", "--rate", "50/s",
            "--repeats", "1", "--before", "2s", "--hold", "5m", "--after", "2s", "--ledger", "0",
            "--runs-dir", disk / "runs", "--fault", f"cat /dev/zero > {disk}/filler 2> /dev/null; true",
            "--undo", f"rm {disk}/filler; echo >> {undone}",
        )  # fmt: skip
        ended.check_error(1, "can't write", "no space left", "--resume")
        assert ended.elapsed_s < 200, "it does not wait for the end of the fault"
        assert undone.read_text() == "\n"
        assert not list(disk.glob(f"runs/*/*/*/{BEGUN_FILE}"))
