"""Limits that are provoked one by one on a real server, and what brimline names them.

A machine that other programs fill has another limit than the one provoked, and brimline says so. Then it is enough that
the provoked one was seen to be full; where even that can't be seen, the run is repeated.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pymongo.errors import PyMongoError

import brimline
from brimline.analysis.bottleneck import Bottleneck, BottleneckKind, Evidence, Fullness, bottleneck
from brimline.execution import DataPolicy, Silence
from brimline.plan import Plan
from brimline.servers import Deployment, bundled, control_client
from brimline.servers.lab.network import Network
from tests.support.cpu_quota import cpu_quota
from tests.support.forwarder import delaying_forwarder, forwarder
from tests.support.replica_set import replica_set
from tests.support.scripted_server import scripted_server
from tests.support.server import required_mongod

pytestmark = [
    pytest.mark.mongod,
    pytest.mark.alone,
    pytest.mark.slow("a reason is provoked on a real server, and measured"),
]

RECORDS = 2000
TRIES = 3
READS, UPDATES = {"read": 1}, {"update": 1}

Overrides = dict[str, Any]

BRIEF: Overrides = {"duration": "1s", "interval": "200ms"}
"""Of a control, in which something is to have room left."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A server for these tests alone: some of them take its CPU or its tickets away."""
    with bundled(binary=required_mongod(), directory=tmp_path_factory.mktemp("mongod"), cache_gb=0.25) as deployment:
        yield deployment


@pytest.fixture
def run(server: Deployment, tmp_path: Path) -> Callable[..., brimline.RunResult]:
    """Runs a workload for a second on the server, or on what is at another address."""

    def run(
        *, address: str = server.address, data: DataPolicy = DataPolicy.LOAD, progress: Any = None, **overrides: Any
    ) -> brimline.RunResult:
        chosen = {"data.records": RECORDS, "warmup": "200ms", "duration": "1200ms", "interval": "200ms"}
        named = {name.replace("__", "."): value for name, value in overrides.items()}
        options = brimline.Options(
            uri=f"mongodb://{address}", data=data, runs_dir=tmp_path, progress=progress or Silence()
        )
        return brimline.run("ycsb-c", overrides={**chosen, **named}, options=options)

    return run


def check_limit(run: Callable[[], brimline.RunResult], kind: BottleneckKind) -> Bottleneck:
    """Runs, and checks that what was provoked is what limited the run."""
    for _ in range(TRIES):
        found = bottleneck(run().observation)
        if found.kind is kind or (found.kind is BottleneckKind.HOST and seen(found, kind).full):
            return found
        assert found.kind is BottleneckKind.HOST, (found.kind, found.evidence)
    pytest.skip(f"other programs filled the host in {TRIES} of {TRIES} runs: {found.text}")


def seen(found: Bottleneck, kind: BottleneckKind) -> Evidence:
    (evidence,) = [each for each in found.candidates if each.kind is kind]
    return evidence


# The generator


def test_a_generator_without_cpu(run: Callable[..., brimline.RunResult]) -> None:
    """The server answers at once. The generator shares its only CPU with other programs, which make it late.

    So many connections that none of them has to wait for another after a pause.
    """
    with scripted_server({}) as scripted, pinned_to_a_busy_cpu():
        found = bottleneck(
            run(
                address=scripted.address,
                data=DataPolicy.AS_IS,
                load={"kind": "constant", "rate": 500},
                connections=500,
                duration="2s",
            ).observation
        )
    of_generator = seen(found, BottleneckKind.GENERATOR)
    assert found.kind in (BottleneckKind.GENERATOR, BottleneckKind.HOST) and of_generator.full, found.evidence
    assert "the generator sent late" in of_generator.text


@contextmanager
def pinned_to_a_busy_cpu() -> Iterator[None]:
    """This thread, and those it starts, on one CPU that others keep busy."""
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        pytest.skip("one CPU: the server would be as short of it as the generator")
    cpu = max(before)
    spin = f"import os; os.sched_setaffinity(0, {{{cpu}}})\nwhile True: pass"
    with ExitStack() as stack:
        for _ in range(2):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", spin]))
            stack.callback(process.kill)
        stack.callback(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, {cpu})
        yield


# The way to the server


def test_one_connection(run: Callable[..., brimline.RunResult]) -> None:
    check_limit(lambda: run(connections=1), BottleneckKind.CONNECTIONS)


def test_a_long_way(server: Deployment, run: Callable[..., brimline.RunResult]) -> None:
    with delaying_forwarder(server.address, delay_s=0.01) as far:
        check_limit(lambda: run(address=far, connections=8), BottleneckKind.NETWORK)
    with delaying_forwarder(server.address, delay_s=0.0) as near:
        control = bottleneck(run(address=near, connections=2, **BRIEF).observation)
    assert seen(control, BottleneckKind.NETWORK).standing is Fullness.NOT, control.evidence


def test_a_narrow_line(server: Deployment, run: Callable[..., brimline.RunResult]) -> None:
    """Operations are quick while the line is free; nobody but the forwarder knows how much it carries."""
    with forwarder(server.address, Network(rate_bit_per_s=20e6)) as narrow:
        check_limit(lambda: run(address=narrow, connections=16), BottleneckKind.NETWORK)


# Within the server


def test_a_server_with_part_of_a_cpu(server: Deployment, run: Callable[..., brimline.RunResult]) -> None:
    assert server.pid is not None
    with cpu_quota(server.pid, cpus=0.3) as limited, ExitStack() as stack:
        if not limited:
            stack.enter_context(one_cpu(server.pid))
        found = check_limit(lambda: run(connections=16), BottleneckKind.SERVER_CPU)
    if limited:
        assert "of 0.3 CPUs" in seen(found, BottleneckKind.SERVER_CPU).text


@contextmanager
def one_cpu(pid: int) -> Iterator[None]:
    """All threads of a process on one CPU, for a kernel without control groups that we may make."""
    before = os.sched_getaffinity(pid)
    threads = [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    for thread in threads:
        os.sched_setaffinity(thread, {min(before)})
    try:
        yield
    finally:
        for thread in threads:
            os.sched_setaffinity(thread, before)


def test_tickets_that_others_hold(server: Deployment, run: Callable[..., brimline.RunResult]) -> None:
    """Five slow finds hold the five tickets there are; each gives its own away now and then, as every find does."""
    with few_read_tickets(server, 5), slow_finds(server, 5):
        check_limit(lambda: run(connections=16), BottleneckKind.TICKETS)


@contextmanager
def few_read_tickets(server: Deployment, count: int) -> Iterator[None]:
    with control_client(server.address) as client:
        name = "wiredTigerConcurrentReadTransactions"
        client.admin.command({"setParameter": 1, name: count})
        try:
            yield
        finally:
            client.admin.command({"setParameter": 1, name: 128})


@contextmanager
def slow_finds(server: Deployment, count: int) -> Iterator[None]:
    """Finds that spend a tenth of a second on each document of a collection of their own."""

    def find() -> None:
        with control_client(server.address) as client, suppress(PyMongoError):  # ended from outside
            list(client["side"]["slow"].find({"$where": "sleep(100); return false"}))

    with control_client(server.address) as client:
        client["side"]["slow"].insert_many([{"number": number} for number in range(500)])
        threads = [threading.Thread(target=find) for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            for operation in client.admin.aggregate([{"$currentOp": {}}, {"$match": {"ns": "side.slow"}}]):
                client.admin.command({"killOp": 1, "op": operation["opid"]})
            for thread in threads:
                thread.join()
            client.drop_database("side")


def test_data_beyond_the_cache(run: Callable[..., brimline.RunResult]) -> None:
    """400 MB in a cache of 256 MiB."""
    overrides: Overrides = {"data__records": 40_000, "data__field_length": 1000, "data__collection": "large"}
    check_limit(lambda: run(**overrides, keys="uniform", connections=16), BottleneckKind.CACHE)
    small = bottleneck(run(connections=16, **BRIEF).observation)
    assert seen(small, BottleneckKind.CACHE).standing is Fullness.NOT, small.evidence


def test_a_missing_index(server: Deployment, run: Callable[..., brimline.RunResult]) -> None:
    """The collection is a view whose `_id` is a field: a find by key looks at all documents until one fits."""
    run(data__collection="by-id", operation_count=1)
    with control_client(server.address) as client:
        database = client["ycsb"]
        rename = [{"$addFields": {"key": "$_id"}}, {"$project": {"_id": 0}}, {"$out": "by-key"}]
        database["by-id"].aggregate(rename)
        database.create_collection("view", viewOn="by-key", pipeline=[{"$addFields": {"_id": "$key"}}])
        view: Overrides = {"data": DataPolicy.AS_IS, "data__collection": "view", "connections": 8}
        check_limit(lambda: run(**view), BottleneckKind.QUERY_PLAN)
        database["by-key"].create_index("key")
        with_index = bottleneck(run(**view, **BRIEF).observation)
    assert seen(with_index, BottleneckKind.QUERY_PLAN).standing is Fullness.NOT, with_index.evidence


def test_one_hot_document(run: Callable[..., brimline.RunResult]) -> None:
    """Many connections update one large document; as control two thousand, on which 64 writers seldom meet."""
    updates: Overrides = {"operations": UPDATES, "connections": 64}
    large: Overrides = {"data__records": 1, "data__collection": "hot", "data__fields": 100, "data__field_length": 1000}
    hot = run(**updates, **large).observation.server_use.conflicts_per_write
    many = run(**updates, keys="uniform").observation
    assert seen(bottleneck(many), BottleneckKind.LOCK).standing is Fullness.NOT
    # How often attempts meet depends on how many CPUs the server gets: measured 0.03 to 0.44, of many 0.002.
    assert hot is not None and many.server_use.conflicts_per_write is not None
    assert hot > max(5 * many.server_use.conflicts_per_write, 0.005)


# Waits for what a replica set promises


@pytest.fixture(scope="module")
def set_of_one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with replica_set(required_mongod(), tmp_path_factory.mktemp("set")) as (member,):
        yield member


def test_a_majority_of_one_waits_for_its_journal(
    set_of_one: Deployment, run: Callable[..., brimline.RunResult]
) -> None:
    overrides: Overrides = {"operations": UPDATES, "target__write_concern": {"w": "majority"}}
    check_limit(lambda: run(address=set_of_one.address, connections=4, **overrides), BottleneckKind.JOURNAL)


def test_writes_that_wait_for_another_member(tmp_path: Path, run: Callable[..., brimline.RunResult]) -> None:
    with replica_set(required_mongod(), tmp_path / "set", members=2, delays_s={1: 1}) as (member, _):
        overrides: Overrides = {"operations": UPDATES, "target__write_concern": {"w": 2}, "data__records": 100}
        overrides["duration"] = "3s"  # each write takes one
        check_limit(lambda: run(address=member.address, connections=8, **overrides), BottleneckKind.REPLICATION)


def test_a_document_that_a_transaction_holds(set_of_one: Deployment, run: Callable[..., brimline.RunResult]) -> None:
    """Every update collides with it and is tried again by the server, which uses hardly any CPU meanwhile."""
    hot: Overrides = {"operations": UPDATES, "data__records": 1, "target__write_concern": {"w": 1}}
    address = set_of_one.address
    run(address=address, **hot, operation_count=1)
    found = check_limit(
        lambda: run(address=address, connections=16, progress=TransactionOnTheDocument(address), **hot),
        BottleneckKind.LOCK,
    )
    assert not seen(found, BottleneckKind.SERVER_CPU).full


class TransactionOnTheDocument(Silence):
    """Changes the first document of the collection just before the run begins, and takes that back late in it."""

    HELD_S = 1.0

    def __init__(self, address: str) -> None:
        self._client = control_client(address)
        self._session = self._client.start_session()

    def begin(self, title: str, plan: Plan) -> None:
        self._session.start_transaction()
        self._client["ycsb"]["usertable"].update_one({}, {"$set": {"held": True}}, session=self._session)
        threading.Timer(self.HELD_S, self._give_back).start()

    def _give_back(self) -> None:
        self._session.abort_transaction()
        self._session.end_session()
        self._client.close()
