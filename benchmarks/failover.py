"""Takes the primary away again and again, by `brimline failover`, and holds what it says to what is known otherwise.

    python -m benchmarks.failover [--kills 20] [--step-downs 20] [--partitions 2] [--secured]

On a lab of three members. With w: "majority": not one acknowledged write is missing after all of it. With w: 1 and a
primary that is parted from the others, writes that it acknowledged alone are rolled back, and each is named. The outage
of every kill is that which a PyMongo client of its own saw, one ping a millisecond, within 20 ms. Exit code 1 when one
doesn't hold.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from typing import Any

import brimline
from brimline.api.failover import FailoverResult, FailoverSettings, failover
from brimline.api.options import Options
from brimline.servers.lab.state import Lab
from brimline.units import NS_PER_MS

ELECTION_TIMEOUT_MS = 1000
OUTAGE_DIFFERENCE_MAX_NS = 20 * NS_PER_MS
WORKLOAD: dict[str, object] = {
    "operations": {"insert": 0.4, "update": 0.2, "read": 0.2, "transaction": 0.2},
    "transaction": {"reads": 1, "updates": 2},
    "data.records": 1000,
    "load": {"kind": "constant", "rate": 200},
    "connections": 16,
    "threads": 2,
}
_PINGS = """
import json, sys, time
import pymongo
from pymongo.errors import PyMongoError
client = pymongo.MongoClient(sys.argv[1], serverSelectionTimeoutMS=100, retryReads=False)
last = gap = began = 0
sys.stdout.write("ready\\n"); sys.stdout.flush()
import select
while not select.select([sys.stdin], [], [], 0.001)[0]:
    try:
        client.admin.command("ping")
    except PyMongoError:
        continue
    now = time.time_ns()
    if last and now - last > gap:
        gap, began = now - last, last
    last = now
print(json.dumps({"gap_ns": gap, "from_unix_ns": began}))
"""


@contextmanager
def pinging(uri: str) -> Iterator[dict[str, int]]:
    """A client of its own, one ping a millisecond; afterwards its longest time without an answer."""
    seen: dict[str, int] = {}
    with Popen([sys.executable, "-c", _PINGS, uri], stdin=PIPE, stdout=PIPE, text=True) as client:
        assert client.stdin is not None and client.stdout is not None
        client.stdout.readline()
        try:
            yield seen
        finally:
            said, _ = client.communicate("over\n", timeout=60)
            seen.update(json.loads(said))


def strike(
    lab: Lab,
    fault: str,
    directory: Path,
    *,
    repeats: int = 1,
    write_concern: object = "majority",
    reads_alone: bool = False,
    **settings: Any,
) -> FailoverResult:
    """The product, on a lab that is there.

    `reads_alone`: writes wait for most members also where a primary is there, and a ping doesn't.
    """
    workload = {**WORKLOAD, "target.write_concern": write_concern}
    if reads_alone:
        workload = {
            **{name: each for name, each in workload.items() if name != "transaction"},
            "operations": {"read": 1},
        }
    (uri,) = lab.uri_file.read_text().split()
    words: dict[str, Any] = {"before_s": 3.0, "hold_s": 4.0, "after_s": 5.0, **settings}
    return failover(
        "ycsb-a",
        settings=FailoverSettings(fault=fault, repeats=repeats, **words),
        options=Options(uri=uri, runs_dir=directory, data="load", drop=True),
        overrides=workload,
    )


def main() -> int:
    """Prints what happened and what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--step-downs", type=int, default=20)
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--secured", action="store_true", help="with access control and TLS")
    arguments = parser.parse_args()
    secured: bool = arguments.secured
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="brimline-failover-") as directory:
        with brimline.lab(
            replica_set=3, small=True, election_timeout_ms=ELECTION_TIMEOUT_MS, auth=secured, tls=secured
        ) as lab:
            _tell("kill", _kills(lab, arguments.kills, Path(directory), wrong))
            _tell("step-down", _all(lab, "step-down", arguments.step_downs, Path(directory), wrong))
        if arguments.partitions:
            _tell("partition", _partitions(arguments.partitions, Path(directory), wrong))
    for each in wrong:
        sys.stdout.write(f"wrong: {each}\n")
    return 1 if wrong else 0


def _tell(fault: str, figures: dict[str, Any]) -> None:
    """At once: what comes behind it may take minutes."""
    sys.stdout.write(json.dumps({fault: figures}, indent=2) + "\n")
    sys.stdout.flush()


def _kills(lab: Lab, count: int, directory: Path, wrong: list[str]) -> dict[str, Any]:
    """One at a time, each beside a client of its own."""
    (uri,) = lab.uri_file.read_text().split()
    results, differences = [], []
    for _ in range(count):
        with pinging(uri) as seen:
            results.append(strike(lab, "kill", directory, reads_alone=True))
        figures = results[-1].trials[0].figures
        if figures is None:
            wrong.append(f"a kill has no figures: {results[-1].trials[0].problem}")
            continue
        differences.append((figures.gap.length_ns - seen["gap_ns"]) / NS_PER_MS)
        if abs(differences[-1]) > OUTAGE_DIFFERENCE_MAX_NS / NS_PER_MS:
            wrong.append(
                f"the outage is {figures.gap.length_ns / 1e6:.1f} ms, and {seen['gap_ns'] / 1e6:.1f} to a ping"
            )
    return {**_sound(results, wrong), "outage_minus_ping_ms": [round(each, 1) for each in differences]}


def _all(lab: Lab, fault: str, count: int, directory: Path, wrong: list[str]) -> dict[str, Any]:
    return _sound([strike(lab, fault, directory, repeats=count)] if count else [], wrong)


def _sound(results: list[FailoverResult], wrong: list[str]) -> dict[str, Any]:
    """With most members' word for each write, none is missing and none there twice."""
    found = _summed(results)
    wrong += [f"{name}: {found[name]}" for name in ("missing", "twice", "strange", "problems") if found[name]]
    return found


def _partitions(count: int, directory: Path, wrong: list[str]) -> dict[str, Any]:
    """With w: 1, the primary of a minority acknowledges what is rolled back, and the ledger names each write."""
    with brimline.lab(replica_set=3, small=True, election_timeout_ms=3000, delay="0ms", between="all") as lab:
        results = [strike(lab, "partition", directory, repeats=count, write_concern=1, hold_s=10.0)]
        found = _summed(results)
        trials = results[0].trials
    if not found["missing"]:
        wrong.append("nothing was rolled back of what a parted primary acknowledged with w: 1")
    for trial in trials:
        if trial.settled is None or trial.facts is None or trial.facts.begun_unix_ns is None:
            continue
        early = [
            each for each in trial.settled.missing if each.done_unix_ns < trial.facts.begun_unix_ns - 1_000_000_000
        ]
        wrong += [f"{len(early)} missing writes were acknowledged before the fault"] if early else []
    return found


def _summed(results: list[FailoverResult]) -> dict[str, Any]:
    trials = [trial for result in results for trial in result.trials]
    gaps = sorted(trial.figures.gap.length_ns / 1e9 for trial in trials if trial.figures is not None)
    sums: dict[str, Any] = {"faults": len(trials), "problems": [trial.problem for trial in trials if trial.problem]}
    for trial in trials:
        for name, count in (trial.settled.counts() if trial.settled is not None else {}).items():
            sums[name] = sums.get(name, 0) + count
    sums |= {name: sums.get(name, 0) for name in ("acknowledged", "missing", "twice", "strange")}
    sums["unanswered"] = sum(trial.figures.unanswered for trial in trials if trial.figures is not None)
    sums["due"] = sum(trial.figures.due for trial in trials if trial.figures is not None)
    if gaps:
        sums["outage_s"] = {"least": round(gaps[0], 2), "median": round(median(gaps), 2), "most": round(gaps[-1], 2)}
    return sums


if __name__ == "__main__":
    sys.exit(main())
