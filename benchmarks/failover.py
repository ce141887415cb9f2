"""Takes the primary away again and again, by `brimline failover`, and holds what it says to what is known otherwise.

    python -m benchmarks.failover [--kills 20] [--step-downs 20] [--partitions 2] [--secured]

On a lab of three members. With w: "majority": not one acknowledged write is missing after all of it. With w: 1 and a
primary that is parted from the others, writes that it acknowledged alone are rolled back, and each is named. The outage
of every kill and step-down is that which a PyMongo client of its own saw. Of reads, one that reads once a millisecond
saw the same time within 20 ms. Of updates with w: "majority", one that updates as often is answered in rounds, whenever
most members have what came until then. So when its outage begins and ends is known no better than the time between two
of its answers there. Within that time and 20 ms the run's begins and ends as well.
Exit code 1 when one doesn't hold.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from typing import Any

import numpy as np

import brimline
from brimline.analysis.around_fault import FaultFigures, Gap, longest_gap
from brimline.api.failover import FailoverResult, FailoverSettings, failover
from brimline.api.options import Options
from brimline.servers.lab.state import Lab
from brimline.units import NS_PER_MS, NS_PER_S

ELECTION_TIMEOUT_MS = 1000
PACE_WITHIN_NS, PACE_QUANTILE = 2 * NS_PER_S, 0.99
"""How long before an outage and after it the time between two answers is looked at, and which of these times it is."""
OUTAGE_DIFFERENCE_MAX_NS = 20 * NS_PER_MS
WORKLOAD: dict[str, object] = {
    "operations": {"insert": 0.4, "update": 0.2, "read": 0.2, "transaction": 0.2},
    "transaction": {"reads": 1, "updates": 2},
    "data.records": 1000,
    "connections": 16,
    "threads": 2,
}
BESIDE = {"read": 1, "update": 8}
"""What a client of its own does and by how many threads. The run does that alone, because writes that wait for most
members soon hold every connection, and reads wait behind them.

The client reads, because a ping is also answered by a server that is no primary any more, until the client has heard of
it: for up to 16 ms. Several threads update, because one that waits for each answer sends one write in so many
milliseconds.
"""
RATE_PER_S = 400
"""So often that the time between two operations is no difference."""
_CLIENT = """
import json, select, sys, threading, time
import pymongo
from pymongo.errors import PyMongoError
uri, act, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = pymongo.MongoClient(uri, serverSelectionTimeoutMS=100, retryReads=False, retryWrites=False)
beside = client.beside.get_collection("updates", write_concern=pymongo.WriteConcern("majority"))
do = {
    "read": lambda: beside.find_one({"_id": 0}),
    "update": lambda: beside.update_one({"_id": threading.get_ident()}, {"$inc": {"n": 1}}, upsert=True),
}[act]
answered, over = [], threading.Event()
def work():
    while not over.wait(0.001 * threads):
        try:
            do()
        except PyMongoError:
            continue
        if not answered:
            print("ready", flush=True)
        answered.append(time.time_ns())
workers = [threading.Thread(target=work) for _ in range(threads)]
for each in workers:
    each.start()
sys.stdin.readline()
over.set()
for each in workers:
    each.join()
print(json.dumps(sorted(answered)))
"""
"""Like the run it opens its connections to the new primary when there is one, and none beforehand."""


@contextmanager
def beside(uri: str, act: str) -> Iterator[list[int]]:
    """A client of its own, one act a millisecond; afterwards when each was answered, in ns since 1970."""
    answered: list[int] = []
    command = [sys.executable, "-c", _CLIENT, uri, act, str(BESIDE[act])]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as client:
        assert client.stdout is not None
        client.stdout.readline()
        try:
            yield answered
        finally:
            said, _ = client.communicate("over\n", timeout=60)
            # Threads whose first answers came together have each said that they are ready.
            answered += json.loads(said.splitlines()[-1])


def strike(
    lab: Lab,
    fault: str,
    directory: Path,
    *,
    repeats: int = 1,
    write_concern: object = "majority",
    alone: str | None = None,
    rate_per_s: int = 200,
    **settings: Any,
) -> FailoverResult:
    """The product, on a lab that is there. `alone`: the one operation of the load.

    It then has as many connections as the client beside it: to open many more at once takes the new primary's time.
    """
    load = {"kind": "constant", "rate": rate_per_s}
    workload = {**WORKLOAD, "load": load, "target.write_concern": write_concern}
    if alone is not None:
        del workload["transaction"]
        workload |= {
            "operations": {alone: 1},
            "load": {"kind": "constant", "rate": RATE_PER_S},
            "connections": BESIDE[alone],
            "threads": 1,
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
            for fault, count in (("kill", arguments.kills), ("step-down", arguments.step_downs)):
                if count:
                    _tell(fault, _watched(lab, fault, count, Path(directory), wrong))
        if arguments.partitions:
            _tell("partition", _partitions(arguments.partitions, Path(directory), wrong))
    for each in wrong:
        sys.stdout.write(f"wrong: {each}\n")
    return 1 if wrong else 0


def _tell(fault: str, figures: dict[str, Any]) -> None:
    """At once: what comes behind it may take minutes."""
    sys.stdout.write(json.dumps({fault: figures}, indent=2) + "\n")
    sys.stdout.flush()


def _watched(lab: Lab, fault: str, count: int, directory: Path, wrong: list[str]) -> dict[str, Any]:
    """One at a time, each beside a client of its own, by turns of either kind."""
    (uri,) = lab.uri_file.read_text().split()
    results: list[FailoverResult] = []
    apart: dict[str, list[Apart]] = {act: [] for act in BESIDE}
    for number in range(count):
        act = list(BESIDE)[number % len(BESIDE)]
        with beside(uri, act) as answered:
            results.append(strike(lab, fault, directory, alone=act))
        (trial,) = results[-1].trials
        if trial.figures is None or trial.facts is None or trial.facts.begun_unix_ns is None:
            wrong.append(f"a {fault} has no figures: {trial.problem}")
            continue
        settings, begun_ns = results[-1].settings, trial.facts.begun_unix_ns
        seen = seen_beside(
            answered, trial.figures, begun_unix_ns=begun_ns, watched_s=settings.hold_s + settings.after_s
        )
        found = Apart.of(trial.figures, seen, begun_unix_ns=begun_ns, answered=answered)
        apart[act].append(found)
        if not (found.agrees if act == "read" else found.agrees_by_rounds):
            own_ns = trial.figures.gap.length_ns
            wrong.append(
                f"a {fault} takes {own_ns / 1e6:.1f} ms, and by {act} {seen.length_ns / 1e6:.1f} ms: begins "
                f"{found.begin_ns / 1e6:+.1f} ms and ends {found.end_ns / 1e6:+.1f} ms from the client's"
            )
    told = {
        f"outage_minus_{act}_ms": [_ms(each.end_ns - each.begin_ns) for each in those] for act, those in apart.items()
    }
    rounds = {
        "update_begins_apart_ms": [_ms(each.begin_ns) for each in apart["update"]],
        "update_ends_apart_ms": [_ms(each.end_ns) for each in apart["update"]],
        "update_pace_ms": [[_ms(each.pace_before_ns), _ms(each.pace_after_ns)] for each in apart["update"]],
    }
    return {**_sound(results, wrong), **told, **rounds}


def _ms(ns: int) -> float:
    return round(ns / NS_PER_MS, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """How much later than a client's the outage of a run begins and ends; both ns.

    `pace_before_ns`, `pace_after_ns`: the time between two answers of the client before its outage and after it.
    """

    begin_ns: int
    end_ns: int
    pace_before_ns: int
    pace_after_ns: int

    @classmethod
    def of(cls, own: FaultFigures, seen: Gap, *, begun_unix_ns: int, answered: Sequence[int]) -> "Apart":
        """The run's, on its own clock, beside the client's, on the wall clock, as are its answers."""
        zero_ns = begun_unix_ns - own.begun_ns
        return cls(
            begin_ns=zero_ns + own.gap.from_ns - seen.from_ns,
            end_ns=zero_ns + own.gap.to_ns - seen.to_ns,
            pace_before_ns=pace(answered, seen.from_ns - PACE_WITHIN_NS, seen.from_ns),
            pace_after_ns=pace(answered, seen.to_ns, seen.to_ns + PACE_WITHIN_NS),
        )

    @property
    def agrees(self) -> bool:
        """Whether both are as long as each other."""
        return abs(self.end_ns - self.begin_ns) <= OUTAGE_DIFFERENCE_MAX_NS

    @property
    def agrees_by_rounds(self) -> bool:
        """Whether they begin and end as near to each other as two answers were there."""
        edges = ((self.begin_ns, self.pace_before_ns), (self.end_ns, self.pace_after_ns))
        return all(abs(apart_ns) <= OUTAGE_DIFFERENCE_MAX_NS + pace_ns for apart_ns, pace_ns in edges)


def pace(answered: Sequence[int], begin_ns: int, end_ns: int) -> int:
    """The time between two answers from one instant to another, in ns: the longest but for one in a hundred."""
    within = [each for each in answered if begin_ns <= each <= end_ns]
    return round(float(np.quantile(np.diff(within), PACE_QUANTILE))) if len(within) > 1 else 0


def seen_beside(answered: Sequence[int], own: FaultFigures, *, begun_unix_ns: int, watched_s: float) -> Gap:
    """The longest time without an answer that a client beside a run saw while the run went on, on the wall clock.

    `watched_s`: how long the run had operations due after the fault began; it went on until its outage was over. What
    the client saw later is no part of the outage: the ledger is looked through then, and documents are dropped.
    """
    watched_ns = max(round(watched_s * NS_PER_S), own.gap.to_ns - own.begun_ns)
    end_ns = begun_unix_ns + watched_ns
    meanwhile = np.array([each for each in answered if each <= end_ns], dtype=np.int64)
    return longest_gap(meanwhile, begun_ns=begun_unix_ns, end_ns=end_ns)


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
