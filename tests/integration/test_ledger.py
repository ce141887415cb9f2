"""The ledger of a failover finds each write that a server lost or did twice, and no other."""

import threading

import pymongo
import pytest
from pymongo.errors import BulkWriteError, PyMongoError, ServerSelectionTimeoutError, WTimeoutError

from brimline.analysis.ledger import Settled, settle
from brimline.errors import TargetError
from brimline.execution.ledger import COLLECTION, SESSIONS, Ledger
from brimline.plan.model import ReplicaSet
from brimline.servers.deployment import Deployment
from brimline.spec.target import WriteConcernSpec
from tests.support.numbered_writes import Writes, numbered_writes
from tests.support.waiting import eventually

SET = ReplicaSet(name="numbered", members=(), selection_timeout_ns=1_000_000_000)


def deployment(address: str, *, retries: bool) -> Deployment:
    return Deployment(
        address=address, uri_redacted=f"mongodb://{address}", kind="replica-set member", engine="MongoDB",
        version="8.0.0", git_version="", local=False, pid=None, cpu_count=None, retry_writes=retries,
        replica_set=SET.model_copy(update={"members": (address,)}),
    )  # fmt: skip


def settled_of(writes: Writes, *, count: int, retries: bool = False) -> Settled:
    with numbered_writes(writes) as address:
        ledger = Ledger(deployment(address, retries=retries), database="shop", rate_per_s=10_000.0,
                        write_concern=WriteConcernSpec(w=1))  # fmt: skip
        ledger.prepare()
        ledger.start()
        assert eventually(lambda: writes.count >= count, interval_s=0.01)
        ledger.stop()
        return settle(ledger.writes, ledger.there(), ledger.stale)


def _keys(found: list[tuple[str, int]]) -> list[tuple[int, int]]:
    return sorted((int(key.split("/")[1]), number) for key, number in found)


@pytest.mark.slow("some thousand writes by the official driver, of which one in a thousand is forgotten")
def test_every_write_that_a_server_forgets_is_found() -> None:
    """One in a thousand, each of them acknowledged; and the session that wrote it misses it at once."""
    writes = Writes(forget_every=1000)
    settled = settled_of(writes, count=4000)
    assert len(writes.forgotten) >= 4
    assert [(each.session, each.number) for each in settled.missing] == _keys(writes.forgotten)
    assert settled.stale_of("read-your-writes") == len(writes.forgotten)
    assert (settled.twice, settled.unknown, settled.entries.strange) == ([], [], [])


@pytest.mark.parametrize("old_by", [1, 3], ids=["its last write", "what it had read as well"])
def test_every_read_that_a_session_should_not_have_seen_is_found(old_by: int) -> None:
    """A read without its session's last write breaks read-your-writes; one without what an earlier read had, monotonic
    reads as well. The next read has all again, so that nothing is missing in the end."""
    writes = Writes(old_every=97, old_by=old_by)
    settled = settled_of(writes, count=1500)
    lacked = [(int(key.split("/")[1]), numbers) for key, numbers in writes.left_out]
    assert len(lacked) >= 10
    own = sorted((session, numbers[-1]) for session, numbers in lacked)
    earlier = sorted((session, number) for session, numbers in lacked for number in numbers[:-1])
    found = {
        kind: sorted((each.session, each.number) for each in settled.stale if each.kind == kind)
        for kind in ("read-your-writes", "monotonic reads")
    }
    assert found == {"read-your-writes": own, "monotonic reads": earlier}
    assert (settled.missing, settled.twice, settled.unknown) == ([], [], [])


def test_its_sessions_watch_the_servers_as_one_application() -> None:
    """At an election all who watch wake at once: a client for each session made outages longer than they were."""
    with numbered_writes(Writes()) as address:
        ledger = Ledger(deployment(address, retries=False), database="shop", rate_per_s=10_000.0,
                        write_concern=WriteConcernSpec(w=1))  # fmt: skip
        ledger.prepare()
        before = _who_watch()
        ledger.start()
        try:
            assert eventually(lambda: {each.session for each in ledger.writes} == set(range(SESSIONS)), interval_s=0.01)
            assert len(_who_watch() - before) == 1
        finally:
            ledger.stop()
        assert eventually(lambda: not _who_watch() - before, interval_s=0.01)


def _who_watch() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name == "pymongo_server_monitor_thread"}


def test_every_write_that_is_done_twice_is_found() -> None:
    """The answer is lost, the driver sends it once more under its number, and the server does it again."""
    writes = Writes(break_every=50)
    settled = settled_of(writes, count=400, retries=True)
    assert len(writes.doubled) >= 7
    assert [(each.session, each.number) for each in settled.twice] == _keys(writes.doubled)
    assert (settled.missing, settled.unknown) == ([], [])


def test_without_retries_a_lost_answer_is_a_write_of_unknown_fate() -> None:
    writes = Writes(break_every=50)
    settled = settled_of(writes, count=400)
    assert [(each.session, each.number) for each in settled.unknown] == _keys(writes.doubled)
    assert settled.unknown_there == settled.unknown, "it was done, and nobody was told"
    assert all(each.error for each in settled.unknown)
    assert (settled.missing, settled.twice) == ([], [])


@pytest.mark.parametrize("act", ["prepare", "there", "remove"])
def test_a_server_that_is_gone_is_said_in_a_few_words(act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise ServerSelectionTimeoutError("127.0.0.1:1: refused, Topology Description: <TopologyDescription id: 6b0>")

    monkeypatch.setattr("brimline.execution.ledger.primary_now", lambda found: found)
    monkeypatch.setattr("brimline.execution.ledger.control_client", gone)
    ledger = Ledger(deployment("127.0.0.1:1", retries=True), database="shop", rate_per_s=1.0, write_concern=None)
    with pytest.raises(TargetError, match=r"can't be (made|read|removed): the server doesn't answer$"):
        getattr(ledger, act)()


LATE = {"code": 64, "errmsg": "waiting for replication timed out"}


@pytest.mark.parametrize(
    ("act", "refusal"),
    [
        ("prepare", BulkWriteError({"writeErrors": [], "writeConcernErrors": [LATE]})),
        ("there", WTimeoutError("x", 64, LATE)),
    ],
)
def test_a_majority_that_is_not_reached_is_said(
    act: str, refusal: PyMongoError, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a set with an arbiter and a delayed member, whose vote the majority needs."""

    def late(*_: object, **__: object) -> None:
        raise refusal

    monkeypatch.setattr("brimline.execution.ledger.primary_now", lambda found: found)
    monkeypatch.setattr("brimline.execution.ledger.control_client", late)
    ledger = Ledger(deployment("127.0.0.1:1", retries=True), database="shop", rate_per_s=1.0, write_concern=None)
    with pytest.raises(TargetError, match="waiting for replication timed out") as caught:
        getattr(ledger, act)()
    assert "one that is delayed or down counts as well" in caught.value.hint


def test_a_write_that_most_members_do_not_have_yet_is_not_missing() -> None:
    """What was acknowledged a moment before the ledger is read."""
    settled = settled_of(Writes(is_behind=True), count=100)
    assert len(settled.acknowledged) >= 90
    assert settled.missing == []


@pytest.mark.mongod
@pytest.mark.other_client
def test_a_real_server_keeps_each_once_and_nothing_is_left_of_them(mongod: Deployment) -> None:
    ledger = Ledger(mongod, database="brimline_ledger_test", rate_per_s=2000.0, write_concern=None)
    ledger.prepare()
    ledger.start()
    assert eventually(lambda: len(ledger.writes) >= 300, interval_s=0.01)
    ledger.stop()
    settled = settle(ledger.writes, ledger.there(), ledger.stale)
    counts = settled.counts()
    assert counts.pop("acknowledged") >= 300
    assert not any(counts.values()), counts
    ledger.remove()
    with pymongo.MongoClient[dict[str, object]](f"mongodb://{mongod.address}") as client:
        assert COLLECTION not in client.brimline_ledger_test.list_collection_names()
        client.drop_database("brimline_ledger_test")
