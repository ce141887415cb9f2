"""What an operation of one's own costs a client: brimline beside a bare loop, plgm and SimRunner.

    make peers-own ARGUMENTS='--plgm /opt/plgm --simrunner /opt/SimRunner.jar'

Each client sends one and the same custom workload to one mongod on another core: a find by a field that is no key, at
most 20 documents of it, and an aggregation over all of them, each alone in a closed loop over 16 connections. The
server's profiler is read during a short run of each client first, and has to show the same commands. What a client
costs is user and system CPU time of its process, of a long run less that of a short one, so that no start counts, by
the commands that the server counted between the two. Clients take turns, because the machine's speed drifts; each
quotient is the median of those of the same round. The bare loop (`crates/engine/examples/ping_pong.rs`) sends the bytes
that brimline sent, recorded on their way to the server, and only waits for whole replies. plgm and SimRunner take part
where they are: named by option, by PEERS_PLGM and PEERS_SIMRUNNER, or on PATH as `plgm` and `SimRunner.jar`. Exit
code 3 where a quotient is higher than wanted.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymongo

import brimline
from benchmarks.recorded import recorded_requests
from benchmarks.scripted import ENGINE, PING_PONG, build, cores, pinned
from brimline.plan import WireTarget, resolve
from brimline.servers import bundled
from brimline.spec import load_spec

DATABASE, COLLECTION = "own_operations", "orders"
CONNECTIONS = 16
SECONDS, WARM_SECONDS = (1, 5), (10, 20)
"""Of the short run and of the long one; a JVM isn't at its speed in the first seconds."""
BARE = "bare loop"
RECORDED = 5_000
"""Operations whose messages the bare loop sends in turn."""
WANTED = {BARE: 1.3, "plgm": 0.25, "SimRunner": 0.25}
"""brimline's CPU time per command as a multiple of another client's, at most."""
WORKLOAD = """
name: own-operations
database: own_operations
collections:
  orders:
    records: 100k
    fields:
      customer: {kind: int, max: 999}
      created: {kind: clock, start: "2024-01-01", every: 1s}
      total: {kind: double, max: 500, decimals: 2}
      state: {kind: choice, of: [new, paid, sent]}
    indexes: [{customer: 1}]
values: {customer: {kind: int, max: 999}}
operations: {it: {share: 1, STEP}}
"""
PIPELINE = [
    {"$match": {"customer": "CUSTOMER"}},
    {"$group": {"_id": "$state", "total": {"$sum": "$total"}}},
]
STEPS = {
    "find": "find: {collection: orders, filter: {customer: $customer}, limit: 20}",
    "aggregate": "aggregate: {collection: orders, pipeline: [{$match: {customer: $customer}}, "
    "{$group: {_id: $$state, total: {$sum: $$total}}}]}",
}
_SAYS_NOTHING = {"lsid", "$db", "$clusterTime", "$readPreference", "batchSize", "cursor", "projection", "sort"}
"""Of a command in the profiler: who sent it, and what drivers send though nobody asked for it, where it is empty."""

Command = Callable[[int], list[str]]


@dataclass(frozen=True, slots=True)
class Client:
    """A client of so many seconds: its command and what it reads. `ends`: by itself; else it is ended."""

    command: Command
    stdin: Callable[[int], bytes] = lambda _: b"\n"
    ends: bool = True
    seconds: tuple[int, int] = SECONDS


def main() -> int:
    """Prints a table for each kind of command; 3 where a quotient is higher than wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plgm", default=os.environ.get("PEERS_PLGM") or shutil.which("plgm"))
    parser.add_argument("--simrunner", default=os.environ.get("PEERS_SIMRUNNER") or shutil.which("SimRunner.jar"))
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    if len(cores()) < 2:
        sys.exit("error: client and server need a core each, and this process may use only one")
    build()
    missed = []
    with server() as address, tempfile.TemporaryDirectory(prefix="brimline-own-") as directory:
        for kind in STEPS:
            clients = _clients(kind, address, Path(directory), plgm=asked.plgm, simrunner=asked.simrunner)
            missed += _compare(kind, clients, address, asked.rounds)
    for name, path in (("plgm", asked.plgm), ("SimRunner", asked.simrunner)):
        if not path:
            print(f"{name} is not here: name it with --{name.lower()}")
    for each in missed:
        print(f"error: {each}", file=sys.stderr)
    return 3 if missed else 0


@contextmanager
def server() -> Iterator[str]:
    """A mongod on the first core with the data loaded; its address."""
    with (
        tempfile.TemporaryDirectory(prefix="brimline-own-") as place,
        bundled(cache_gb=1.0, directory=Path(place)) as deployment,
        spec_file("find") as path,
    ):
        at = str(cores()[0])
        subprocess.run(["taskset", "-a", "-c", "-p", at, str(deployment.pid)], check=True, capture_output=True)
        brimline.load(
            path, options=brimline.Options(uri=f"mongodb://{deployment.address}", runs_dir=Path(place, "runs"))
        )
        yield deployment.address


def _compare(kind: str, clients: Mapping[str, Client], address: str, rounds: int) -> list[str]:
    """Prints what each client costs; what is not as wanted."""
    with pymongo.MongoClient[dict[str, Any]](f"mongodb://{address}", directConnection=True) as control:
        database = control[DATABASE]
        shapes = {name: _shapes(client, database) for name, client in clients.items()}
        wrong = [f"{kind}: {name} sends {shapes[name]}" for name in clients if shapes[name] != shapes["brimline"]]
        print(
            f"\n{kind}: client CPU per command in µs, {CONNECTIONS} connections; in the profiler: {shapes['brimline']}"
        )
        print(f"{'round':8}" + "".join(f"{name:>12}" for name in clients))
        costs = []
        for number in range(1, rounds + 1):
            costs.append({name: _cost_us(client, kind, control) for name, client in clients.items()})
            print(_row(str(number), costs[-1]), flush=True)
    print(_row("median", {name: statistics.median(each[name] for each in costs) for name in clients}))
    for name, limit in WANTED.items():
        if name in clients:
            quotient = statistics.median(each["brimline"] / each[name] for each in costs)
            print(f"brimline / {name}: {quotient:.3f}, wanted at most {limit}")
            if quotient > limit:
                wrong.append(f"{kind}: brimline costs {quotient:.3f} of {name}, and at most {limit} is wanted")
    return wrong


def _row(label: str, costs: Mapping[str, float]) -> str:
    return f"{label:8}" + "".join(f"{cost:>12.2f}" for cost in costs.values())


def _clients(kind: str, address: str, directory: Path, *, plgm: str | None, simrunner: str | None) -> dict[str, Client]:
    found = {
        "brimline": Client(
            command=lambda _: [str(ENGINE)], stdin=lambda seconds: _plan(kind, address, duration=f"{seconds}s").encode()
        ),
    }
    recording = directory / f"{kind}.requests"
    recording.write_bytes(_recorded(kind, address))
    found[BARE] = Client(
        command=lambda seconds: [str(PING_PONG), address, str(CONNECTIONS), str(seconds), str(recording)]
    )
    if plgm:
        found["plgm"] = _plgm(plgm, kind, address, directory)
    if simrunner:
        found["SimRunner"] = _simrunner(simrunner, kind, address, directory)
    return found


def _recorded(kind: str, address: str) -> bytes:
    """What brimline sends in some thousand operations, message by message."""

    def send(front: str) -> None:
        plan = _plan(kind, front, connections=1, duration="1h", operation_count=RECORDED)
        subprocess.run([str(ENGINE)], input=plan.encode(), stdout=subprocess.DEVNULL, check=True)

    return recorded_requests(address, send, kind)


@contextmanager
def spec_file(kind: str) -> Iterator[Path]:
    """The workload of one kind of command."""
    with tempfile.TemporaryDirectory(prefix="brimline-own-") as directory:
        path = Path(directory) / "own.yaml"
        path.write_text(WORKLOAD.replace("STEP", STEPS[kind]), encoding="utf-8")
        yield path


def _plan(kind: str, address: str, **overrides: Any) -> str:
    with spec_file(kind) as path:
        changes = {"connections": CONNECTIONS, "threads": 1, "warmup": "0s", **overrides}
        spec = load_spec(str(path), overrides=changes).spec
    return resolve(spec, target=WireTarget(address=address, write_concern=None, sessions=True)).canonical_json()


def _plgm(binary: str, kind: str, address: str, directory: Path) -> Client:
    place = directory / f"plgm-{kind}"
    for name in ("collections", "queries"):
        (place / name).mkdir(parents=True)
    fields = {"customer": {"type": "int", "max": 999}}
    collection = {"database": DATABASE, "collection": COLLECTION, "fields": fields}
    (place / "collections/own.json").write_text(json.dumps([collection]))
    query: dict[str, Any] = {"database": DATABASE, "collection": COLLECTION, "operation": kind}
    if kind == "find":
        query |= {"filter": {"customer": "<int>"}, "limit": 20}
    else:
        query |= {"pipeline": json.loads(json.dumps(PIPELINE).replace("CUSTOMER", "<int>"))}
    (place / "queries/own.json").write_text(json.dumps([query]))
    shares = ("find", "update", "delete", "insert", "bulk_insert", "aggregate", "transaction")

    def command(seconds: int) -> list[str]:
        settings: dict[str, Any] = {
            "uri": f"mongodb://{address}", "default_workload": False, "collections_path": str(place / "collections"),
            "queries_path": str(place / "queries"), "skip_seed": True, "drop_collections": False,
            "concurrency": CONNECTIONS, "duration": f"{seconds}s", "use_transactions": False, "debug_mode": False,
            "find_batch_size": 100, "custom_params": {"compressors": "zlib", "directConnection": "true"},
            "connection_params": {"connection_timeout": 30, "server_selection_timeout": 15, "max_pool_size": 200},
            **{f"{name}_percent": 100 if name == kind else 0 for name in shares},
        }  # fmt: skip
        (place / "config.yaml").write_text(json.dumps(settings))  # which is YAML as well
        return [binary, "--config", str(place / "config.yaml")]

    return Client(command=command)


def _simrunner(jar: str, kind: str, address: str, directory: Path) -> Client:
    customer = {"%natural": {"min": 0, "max": 1000}}
    pipeline = json.loads(json.dumps(PIPELINE).replace('"CUSTOMER"', json.dumps(customer)))
    params = {"filter": {"customer": customer}, "limit": 20} if kind == "find" else {"pipeline": pipeline}
    config = directory / f"simrunner-{kind}.json"
    template = {"name": "order", "database": DATABASE, "collection": COLLECTION, "drop": False, "template": {"_id": 1}}
    workload = {"name": "it", "template": "order", "op": kind, "params": params, "threads": CONNECTIONS}
    config.write_text(
        json.dumps(
            {
                "connectionString": f"mongodb://{address}/?directConnection=true",
                "reportInterval": 1000,
                "templates": [template],
                "workloads": [workload],
            }
        )
    )
    return Client(command=lambda _: ["java", "-jar", jar, str(config)], ends=False, seconds=WARM_SECONDS)


def _shapes(client: Client, database: Any) -> list[str]:
    """The commands of a short run as the profiler shows them, without their values."""
    database.command({"profile": 0})
    database.drop_collection("system.profile")
    database.create_collection("system.profile", capped=True, size=1 << 24)
    database.command({"profile": 2})
    _run(client, client.seconds[0])
    database.command({"profile": 0})
    found = {
        json.dumps(_shape(entry["command"]), sort_keys=True)
        for entry in database["system.profile"].find(
            {"ns": f"{DATABASE}.{COLLECTION}", "op": {"$in": ["query", "command"]}}
        )
        if next(iter(entry["command"])) in STEPS
    }
    return sorted(found)


def _shape(command: Mapping[str, Any]) -> Any:
    said = {name: value for name, value in command.items() if name not in _SAYS_NOTHING}
    said |= {name: value for name in ("sort", "projection") if (value := command.get(name))}
    return _without_values(said)


def _without_values(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: "?" if name == "customer" else _without_values(each) for name, each in value.items()}
    return [_without_values(each) for each in value] if isinstance(value, list) else value


def _cost_us(client: Client, kind: str, control: Any) -> float:
    """CPU time of one command."""

    def counted() -> int:
        return int(control.admin.command("serverStatus")["metrics"]["commands"][kind]["total"])

    costs = []
    for seconds in client.seconds:
        before = counted()
        cpu_s = _run(client, seconds)
        costs.append((cpu_s, counted() - before))
    (short_s, few), (long_s, many) = costs
    return (long_s - short_s) / (many - few) * 1e6


def _run(client: Client, seconds: int) -> float:
    """CPU time of the client's process."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory() as scratch:
        process = subprocess.Popen(
            [*pinned(cores()[1]), *client.command(seconds)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=scratch,
        )
        assert process.stdin is not None
        process.stdin.write(client.stdin(seconds))
        process.stdin.close()
        if not client.ends:
            time.sleep(seconds)
            process.terminate()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if client.ends and process.returncode != 0:
            output.seek(0)
            sys.exit(f"error: {client.command(seconds)[0]} failed\n{output.read().decode(errors='replace')[-2000:]}")
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
