"""What a server can do to brimline by lying: make a command fail in its ordinary way, and nothing else.

Each case is a real command against a server that tells one lie. `python -m benchmarks.lies` tries many more seeds.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import bson
import pytest

from brimline.servers import Deployment
from tests.support.lied_to import VERBS, Case, Ended, case_of, lied_to
from tests.support.lies import Document, Lie, Sending, deep, edited, none, says, silence, told_in

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]

SEED_COUNT = 8
AT_ONCE = 6

IN_A_SET = "?replicaSet=rs"
AS_A_SET = {"setName": "rs", "isWritablePrimary": True, "me": "127.0.0.1:1", "hosts": ["127.0.0.1:1"]}
NO_PRIMARY = {"setName": "rs", "isWritablePrimary": False, "secondary": True, "hosts": ["127.0.0.1:1"]}


def _scram(iterations: str) -> Lie:
    """A server that knows nobody, and says so only after the work."""

    def spoil(_random: object, request: bytes, reply: bytes) -> Sending:
        asked = told_in(request).get("speculativeAuthenticate", told_in(request))
        nonce = bytes(asked.get("payload", b"r=")).rpartition(b"r=")[2].decode()

        def edit(document: Document) -> None:
            first = f"r={nonce}more,s=c2FsdHNhbHRzYWx0c2FsdA==,i={iterations}"
            says = {"conversationId": 1, "done": False, "payload": first.encode(), "ok": 1}
            if "hello" in told_in(request) or "ismaster" in told_in(request):
                document["speculativeAuthenticate"] = says
                document["saslSupportedMechs"] = ["SCRAM-SHA-256"]
            elif "saslStart" in told_in(request):
                document.clear()
                document.update(says)

        return Sending(edited(reply, edit))

    return Lie(f"{iterations} iterations", spoil, always=True)


def _endless_set() -> Lie:
    """Every member names five that nobody has heard of."""
    known = iter(range(10**9))

    def spoil(_random: object, _request: bytes, reply: bytes) -> Sending:
        def edit(document: Document) -> None:
            document |= {**NO_PRIMARY, "hosts": [f"127.0.0.1:{2 + next(known) % 1000}" for _ in range(5)]}

        return Sending(edited(reply, edit))

    return Lie("an endless set", spoil, command="hello", always=True)


NAMED: Sequence[Case] = (
    Case("run", says("hello", {"maxMessageSizeBytes": 2**31 - 1, "maxBsonObjectSize": 2**31 - 1})),
    Case("run", says("hello", {"maxMessageSizeBytes": -1, "maxBsonObjectSize": 0, "maxWriteBatchSize": 0})),
    Case("import", says("hello", {"maxWriteBatchSize": 1, "maxBsonObjectSize": 20, "maxMessageSizeBytes": 100})),
    Case("run", says("hello", {"minWireVersion": -5, "maxWireVersion": -1})),
    Case("run", says("hello", {"minWireVersion": b"0", "maxWireVersion": b"21"})),
    Case("stat", says("hello", {"minWireVersion": 900, "maxWireVersion": 2**31 - 1})),
    Case("run", says("hello", {"lastWrite": 5, "tags": 7, "hosts": 5, "passives": "x", "setName": 5, "me": 9})),
    Case(
        "run", says("hello", {**AS_A_SET, "hosts": ["x\n\x1b[31my", "", ":", "[::", "h:99999"]}), uri_options=IN_A_SET
    ),
    Case(
        "run", says("hello", {**NO_PRIMARY, "hosts": [f"127.0.0.1:{n}" for n in range(2, 3_000)]}), uri_options=IN_A_SET
    ),
    Case("stat", says("hello", {**AS_A_SET, "tags": deep(3_000)}), uri_options=IN_A_SET),
    Case("run", _endless_set(), uri_options=IN_A_SET),
    Case("stat", _scram("2147483647"), user="somebody"),
    Case("run", _scram("1"), user="somebody"),
    Case("scan", _scram("x"), user="somebody"),
    Case("run", says("serverStatus", {"pid": 1, "opcounters": {"insert": "many"}, "wiredTiger": [deep(2_000)]})),
    Case("scan", says("find", {"cursor": {"firstBatch": [{"_id": 1}], "id": bson.Int64(5), "ns": "a.b"}})),
    Case("run", says("find", {"cursor": {"firstBatch": [], "id": bson.Int64(0), "ns": bson.ObjectId()}})),
    Case("run", silence("update", first=20)),
    Case("scan", silence("find", first=14)),
    Case("stat", silence("hello")),
)


Tell = Callable[[Sequence[Case]], dict[str, Ended]]


@pytest.fixture
def tell(mongod: Deployment) -> Tell:
    """Tells the lie of each case, some at once."""

    def all_of(cases: Sequence[Case]) -> dict[str, Ended]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            ended = pool.map(lambda case: lied_to(case, mongod.address), cases)
            return dict(zip(map(str, cases), ended, strict=True))

    return all_of


def _wrongs(ended: dict[str, Ended]) -> dict[str, Sequence[str]]:
    return {name: each.wrongs for name, each in ended.items() if each.wrongs}


@pytest.mark.slow("many lies are told")
def test_a_server_that_tells_no_lie_is_worked_with(tell: Tell) -> None:
    """Else the other tests would hold of commands that fail by themselves.

    One after the other: a run is told of what others send to its server.
    """
    ended = {verb: told for verb in VERBS for told in tell([Case(verb, none())]).values()}
    assert [each.exit_code for each in ended.values()] == [0] * len(VERBS)
    assert _wrongs(ended) == {}


@pytest.mark.slow("each lie is told to a command in a process of its own, some of which wait for what never comes")
def test_lies_that_were_thought_of(tell: Tell) -> None:
    assert _wrongs(tell(NAMED)) == {}


@pytest.mark.long
@pytest.mark.slow("many lies are told")
def test_lies_that_were_drawn(tell: Tell) -> None:
    """As those of `test_lies_that_were_thought_of`, the quick twin; `make lies` draws more of them."""
    drawn = [case_of(seed) for seed in range(2 * SEED_COUNT)]
    assert _wrongs(tell([case for case in drawn if not case.lie.keeps_waiting][:SEED_COUNT])) == {}
