"""Takes the primary away again and again while a run goes on, and holds that nothing acknowledged is lost.

    python -m benchmarks.failover [--step-downs 10] [--kills 10] [--secured] [--seed 1]

One run of inserts, updates, reads and transactions with w: "majority" on a lab of three members. At random instants the
primary steps down, or is killed and started again. Held afterwards: the run went to its planned end by itself, every
operation is accounted for, every acknowledged insert is there, outages are reported with what became of operations, and
the servers' counters agree with the attempts where no member was started again. Exit code 1 when one does not hold.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil
import pymongo
from pymongo.errors import NotPrimaryError, OperationFailure, PyMongoError

import brimline
from brimline import _native
from brimline.analysis.outages import outage_ns
from brimline.analysis.validity import conservation, opcounters
from brimline.api.workplace import target_on
from brimline.execution import RunContext, Silence, StopToken, execute
from brimline.plan import Plan, resolve
from brimline.record import RunRecord
from brimline.record.model import ErrorRow
from brimline.servers import Deployment, control_client, external, primary_now
from brimline.servers.lab.state import Lab, LabServer, server_process
from brimline.servers.launch import Guardian, end, launch_again
from brimline.spec import load_spec

Blow = Literal["step-down", "kill"]
_ELECTION_TIMEOUT_MS = 1000
_BACK_S = 60.0
_LEAD_S, _TAIL_S = 2.0, 3.0
_TAKES_S: dict[Blow, float] = {"step-down": 4.0, "kill": 12.0}
"""What one blow takes at most on a busy machine, with the rest before it and the set whole again."""
_RATE_OPS_PER_S = 400.0
_RECORDS = 1000


@dataclass(slots=True)
class Blows:
    """What is done to the set `lab` while a run goes on; `done` is what was."""

    lab: Lab
    chance: random.Random
    done: list[Blow] = field(default_factory=list)
    guardians: list[Guardian] = field(default_factory=list)
    trouble: str = ""

    def strike(self, blows: Sequence[Blow]) -> None:
        """One blow after the other, each once the set is whole again after the last; for a thread of its own."""
        try:
            time.sleep(_LEAD_S)
            for blow in blows:
                time.sleep(self.chance.uniform(0.0, 2.0))
                {"step-down": self._step_down, "kill": self._kill}[blow]()
                self.done.append(blow)
                self._await(self._is_whole, "the set is not whole again")
        except (PyMongoError, psutil.Error, OSError, TimeoutError) as error:
            self.trouble = f"{type(error).__name__}: {error}"

    def end(self) -> None:
        """Ends the members that were started again."""
        for guardian in self.guardians:
            end(guardian)

    def _step_down(self) -> None:
        self._await(self._steps_down, "no primary steps down")

    def _steps_down(self) -> bool:
        """A primary may have been one until just now, or its secondaries be behind: then nothing has happened."""
        with self._client(self._primary().address) as client:
            try:
                client.admin.command({"replSetStepDown": 2, "secondaryCatchUpPeriodSecs": 1})
            except (NotPrimaryError, OperationFailure):
                return False
        return True

    def _kill(self) -> None:
        server = self._primary()
        process = server_process(self.lab, server)
        if process is None:
            raise TimeoutError("the primary's process is not known")
        mongod = psutil.Process(process.pid)
        mongod.kill()
        psutil.wait_procs([mongod], timeout=10)
        self._await(lambda: self._primary_or_none() is not None, "no other member was elected")
        self.guardians.append(launch_again(self.lab.directory_of(server)))

    def _primary(self) -> LabServer:
        self._await(lambda: self._primary_or_none() is not None, "there is no primary")
        found = self._primary_or_none()
        if found is None:
            raise TimeoutError("the primary is gone again")
        return found

    def _primary_or_none(self) -> LabServer | None:
        return next((each for each in self.lab.servers if self._hello(each).get("isWritablePrimary")), None)

    def _is_whole(self) -> bool:
        answers = [self._hello(each) for each in self.lab.servers]
        return all(each.get("isWritablePrimary") or each.get("secondary") for each in answers) and any(
            each.get("isWritablePrimary") for each in answers
        )

    def _hello(self, server: LabServer) -> dict[str, Any]:
        try:
            with self._client(server.address) as client:
                return client.admin.command("hello")
        except PyMongoError:
            return {}

    def _client(self, address: str) -> pymongo.MongoClient[dict[str, Any]]:
        return control_client(address, access=deployment_of(self.lab).access, connect_timeout_s=1.0)

    def _await(self, condition: Callable[[], bool], why: str) -> None:
        until = time.monotonic() + _BACK_S
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError(why)
            time.sleep(0.1)


def deployment_of(lab: Lab) -> Deployment:
    """The lab's set, found from its connection string; asked once."""
    if lab.name not in _deployments:
        (uri,) = lab.uri_file.read_text().split()
        _deployments[lab.name] = external(uri)
    return _deployments[lab.name]


_deployments: dict[str, Deployment] = {}


def plan_for(deployment: Deployment, *, duration_s: float, rate_ops_per_s: float = _RATE_OPS_PER_S) -> Plan:
    """Inserts, updates, reads and transactions at a rate, so that what waits during an outage is sent after it."""
    overrides: dict[str, object] = {
        "operations": {"insert": 0.6, "update": 0.1, "read": 0.1, "transaction": 0.2},
        "transaction": {"reads": 1, "updates": 2},
        "data.records": _RECORDS,
        "load": {"kind": "poisson", "rate": rate_ops_per_s},
        "connections": 16,
        "threads": 2,
        "warmup": "0s",
        "duration": f"{duration_s:.0f}s",
        "target.write_concern": "majority",
    }
    spec = load_spec("ycsb-a", overrides=overrides).spec
    return resolve(spec, target=target_on(spec, deployment))


@contextmanager
def _striking(blows: Blows, order: Sequence[Blow]) -> Iterator[None]:
    thread = threading.Thread(target=blows.strike, args=(order,), name="blows")
    thread.start()
    try:
        yield
    finally:
        thread.join()
        blows.end()


def run_under_blows(lab: Lab, order: Sequence[Blow], *, directory: Path, seed: int) -> tuple[RunRecord, list[str]]:
    """A run while `order` happens to the set; its record, and what does not hold afterwards."""
    deployment = deployment_of(lab)
    duration_s = _LEAD_S + sum(_TAKES_S[blow] for blow in order) + _TAIL_S
    plan = plan_for(deployment, duration_s=duration_s)
    collection_of(deployment, plan, drop=True)
    blows = Blows(lab, random.Random(seed))  # when to strike; no secret
    context = RunContext(
        deployment=deployment,
        spec_text="",
        environment={"server": {"kind": deployment.kind}},
        progress=Silence(),
        stop=StopToken(),
    )
    with _striking(blows, order):
        record = execute(plan, directory=directory, title="failover", context=context)
        time.sleep(_TAIL_S)
        wrong = broken_promises(record, plan, deployment, has_restarts="kill" in order)
    if blows.trouble or blows.done != list(order):
        wrong.append(f"the set got {len(blows.done)} of {len(order)} blows: {blows.trouble}")
    return record, wrong


def broken_promises(record: RunRecord, plan: Plan, deployment: Deployment, *, has_restarts: bool) -> list[str]:
    """What a run under blows must hold and does not; empty when all is well."""
    wrong = []
    summary = record.summary
    if summary is None or record.ended_by != "completed":
        return [f"the run did not go to its end by itself: {record.ended_by} {record.message}"]
    if conservation(record).verdict != "pass":
        wrong.append(conservation(record).evidence)
    if not summary.get("outages"):
        wrong.append("no outage is reported")
    inserts = summary.get("inserts")
    present = collection_of(deployment, plan)
    if inserts is None or not inserts["inserted"] <= present <= inserts["inserted"] + inserts["unknown"]:
        wrong.append(f"{present} documents are there of these inserts: {inserts}")
    counted = opcounters(record)
    if counted.verdict == "fail" or (counted.verdict == "unknown" and not has_restarts):
        wrong.append(counted.evidence)
    return wrong


def collection_of(deployment: Deployment, plan: Plan, *, drop: bool = False) -> int:
    """How many of the documents that the run inserts are there. `drop`: none of the collection is, afterwards."""
    address = primary_now(deployment, connect_timeout_s=_BACK_S).address
    with control_client(address, access=deployment.access) as client:
        collection = client[plan.namespace.database][plan.namespace.collection]
        if drop:
            collection.drop()
            collection.insert_many(
                {"_id": key, "field0": b""} for key in _native.generate_keys(plan.canonical_json(), 0, _RECORDS)
            )
        return int(collection.count_documents({})) - _RECORDS


def main() -> int:
    """Prints what happened and what does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step-downs", type=int, default=10)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--secured", action="store_true", help="with access control and TLS")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    step_downs: list[Blow] = ["step-down"] * arguments.step_downs
    kills: list[Blow] = ["kill"] * arguments.kills
    order = step_downs + kills
    random.Random(arguments.seed).shuffle(order)
    secured: bool = arguments.secured
    with (
        tempfile.TemporaryDirectory(prefix="brimline-failover-") as directory,
        brimline.lab(
            replica_set=3, small=True, election_timeout_ms=_ELECTION_TIMEOUT_MS, auth=secured, tls=secured
        ) as lab,
    ):
        record, wrong = run_under_blows(lab, order, directory=Path(directory) / "run", seed=arguments.seed)
        sys.stdout.write(json.dumps(_figures(record, order), indent=2) + "\n")
    for each in wrong:
        sys.stdout.write(f"wrong: {each}\n")
    return 1 if wrong else 0


def _figures(record: RunRecord, order: Sequence[Blow]) -> dict[str, Any]:
    summary = record.summary
    if summary is None:
        return {"blows": list(order)}
    lengths = sorted(outage_ns(each, record) / 1e9 for each in summary.get("outages", []))
    return {
        "step_downs": order.count("step-down"),
        "kills": order.count("kill"),
        "sent": summary["sent"],
        "ok": summary["ok"],
        "failed": summary["failed"],
        "retried": sum(each.get("retried", 0) for each in summary["operations"].values()),
        "errors": _errors(summary["errors"]),
        "inserts": summary.get("inserts"),
        "outages": len(lengths),
        "outage_s": [round(each, 2) for each in lengths],
        "opcounters": opcounters(record).evidence,
    }


def _errors(rows: Sequence[ErrorRow]) -> dict[str, int]:
    """By class and code, all operations together."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[f"{row['outcome']} {row['code']} {row['label']}"] += row["count"]
    return dict(counts)


if __name__ == "__main__":
    sys.exit(main())
