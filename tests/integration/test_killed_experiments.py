"""Experiments whose process is killed ten times, and that go on each time: the same cells, and none twice.

Its quick twin is `test_any_experiment_has_the_same_cells_and_none_twice`, without processes and a server.
"""

import json
import random
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from brimline.record import read_experiment
from tests.support.command_line import CommandLine, Running
from tests.support.waiting import eventually

pytestmark = [pytest.mark.mongod, pytest.mark.other_client, pytest.mark.long]

KILLS = 10
SHORT = ("--records", "1000", "--duration", "200ms", "--warmup", "50ms")
SCANS = """
name: scanned
data: {records: 1000}
scans:
  repetitions: 3
  scenarios:
    - {name: whole, filter: all}
    - {name: narrow, range: {field: _id, widths: [10, 100, 1000]}}
"""
CAPACITY = """
from dataclasses import replace
from pathlib import Path
import brimline
from brimline.api.options import Options
from brimline.experiments.settings import SweepSettings, quick
options = Options(null=True)
begun = sorted(Path("runs").glob("*-capacity-*"))
if begun:
    brimline.resume_search(begun[0], options=options)
else:
    sweep = SweepSettings(connections_max=8, warmup_s=0.0, duration_s=0.2)
    settings = replace(quick(), sweep=sweep, calibrate_s=0.2, window_s=0.2, warmup_s=0.0, windows_max=8, budget_s=60.0)
    brimline.capacity("ycsb-c", settings=settings, options=options)
"""
VERBS: dict[str, tuple[str, Sequence[str], int]] = {
    "vary": ("sweep", ("ycsb-c", *SHORT, "--vary", "connections=1,2", "--repeats", "4", "--repeats-max", "4"), 8),
    "ab": ("ab", ("ycsb-c", *SHORT, "--b", "connections=2", "--pairs", "6"), 12),
    "growth": ("grow", ("ycsb-c", "--to", "3k", "--step", "1k", "--queries", "200", "--connections", "1,2"), 21),
    "interfere": ("interfere", ("ycsb-c", *SHORT, "--with", "scan", "--background-rows", "2k", "--pairs", "4"), 8),
    "failover": (
        "failover",
        (
            "ycsb-c",
            "--records",
            "1000",
            "--rate",
            "200/s",
            "--before",
            "2s",
            "--hold",
            "0s",
            "--after",
            "2s",
            "--repeats",
            "4",
            "--ledger",
            "0",
            "--fault",
            "sleep 0.01; true",
            "--undo",
            "sleep 0.01; true",
        ),
        4,
    ),
    "scan": ("scan", ("scanned.yaml",), 4),
    "nested": ("interfere", ("ycsb-c", *SHORT, "--with", "scan", "--background-rows", "2k", "--pairs", "3",
                             "--vary", "connections=1,2"), 2 + 2 * 6),
}  # fmt: skip
"""By kind of record: the verb, what begins it, and how many cells it has at least. `nested` is a design of others."""
KINDS = {"nested": "vary"}


def cells(directory: Path) -> list[str]:
    """What was asked for, without what differs from try to try; of a cell within another one behind that."""
    found = (path for path in sorted(directory.glob("**/trials/*/trial.json")) if "dropped" not in path.parts)
    asked = {path.parent: json.loads(path.read_text()) for path in found}
    around = {each: [asked[outer] for outer in (*reversed(each.parents), each) if outer in asked] for each in asked}
    return [json.dumps([_without_effects(each) for each in its], sort_keys=True) for its in around.values()]


def _without_effects(trial: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in trial.items() if name not in ("took_s", "cool_down", "server", "needs")}


def _killed_somewhere(running: Running, runs: Path, kind: str, rng: random.Random) -> bool:
    """Kills it while it asks for a cell, measures one, or has recorded one; whether it was there for it."""
    pattern = f"*z-{kind}-*/**/trials/*/{rng.choice(('trial.json', 'intervals.csv', 'record.json'))}"
    before, more = len(list(runs.glob(pattern))), rng.randint(1, 2)

    def came_on() -> bool:
        return running.process.poll() is not None or len(list(runs.glob(pattern))) >= before + more

    assert eventually(came_on, timeout_s=60), "it came no further"
    running.send(signal.SIGKILL)
    ended = running.end(timeout_s=60)
    assert ended.exit_code in (-signal.SIGKILL, 0, 4), ended.stderr
    return ended.exit_code == -signal.SIGKILL


@pytest.mark.slow("processes are killed ten times")
@pytest.mark.parametrize("kind", VERBS)
def test_an_experiment_that_is_killed_ten_times_has_its_cells_once(
    kind: str, uri: str, brimline_cli: CommandLine
) -> None:
    """Quick twins, killed once: `test_a_sweep_killed_in_the_middle_goes_on`, and that of a comparison."""
    verb, words, least = VERBS[kind]
    at = ("--uri", f"{uri}/killed_{kind}", *(() if kind == "growth" else ("--data", "load")))
    rng, kind = random.Random(kind), KINDS.get(kind, kind)
    (brimline_cli.directory / "scanned.yaml").write_text(SCANS)
    for _ in range(KILLS):
        begun = list(brimline_cli.runs.glob(f"*z-{kind}-*"))
        again = ("--resume", str(begun[0]), *at) if begun else (*words, *at)
        if not _killed_somewhere(brimline_cli.start(verb, *again), brimline_cli.runs, kind, rng):
            break
    (directory,) = brimline_cli.runs.glob(f"*z-{kind}-*")
    last = brimline_cli.run(verb, "--resume", directory, *at)
    assert read_experiment(directory).ended_by == "completed", last.stderr
    found = Counter(cells(directory))
    assert set(found.values()) == {1}, [cell for cell, count in found.items() if count > 1]
    assert least <= len(found) <= least + 4, found


@pytest.mark.slow("processes are killed ten times")
def test_a_search_that_is_killed_ten_times_has_each_probe_once(brimline_cli: CommandLine) -> None:
    """Quick twin: `test_every_prefix_can_be_resumed_and_concluded`; of a process, those of the other experiments."""
    script, rng = brimline_cli.directory / "search.py", random.Random(1)
    script.write_text(CAPACITY)
    for _ in range(KILLS):
        if not _killed_somewhere(brimline_cli.start_python(script), brimline_cli.runs, "capacity", rng):
            break
    brimline_cli.start_python(script).end(timeout_s=120)
    (directory,) = brimline_cli.runs.glob("*z-capacity-*")
    assert read_experiment(directory).ended_by == "completed"
    document = brimline_cli.run("show", directory, "--json").json()
    levels = [each["connections"] for each in document["probes"] if each["stage"] == "sweep"]
    assert levels == [1, 2, 4, 8][: len(levels)] and len(levels) >= 2
    assert [each["number"] for each in document["probes"]] == list(range(1, len(document["probes"]) + 1))
    assert sum(each["stage"] == "calibrate" for each in document["probes"]) == 1
