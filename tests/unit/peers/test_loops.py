"""The loops of the PyMongo peers, on a virtual clock: what a latency is of, and what counts as failed."""

import argparse
import asyncio
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pymongo.results import InsertManyResult, InsertOneResult, UpdateResult

from benchmarks.peers.pymongo import asynchronous, blocking, work

BUILDING_NS, REPLY_NS, REPLY_COUNT = 1_000_000, 700, 20
REPLIES = {
    "find_one": {"_id": "user1"},
    "update_one": UpdateResult({"n": 1}, acknowledged=True),
    "insert_one": InsertOneResult("user1", acknowledged=True),
    "insert_many": InsertManyResult([], acknowledged=True),
}


class SlowRecords:
    """Each key and each value takes a while to be made."""

    def __init__(self, clock: SimpleNamespace) -> None:
        self._clock = clock

    def choose(self, chance: Random) -> str:
        self._clock.now_ns += BUILDING_NS
        return "user1"

    def change(self, chance: Random) -> dict[str, Any]:
        return {"$set": {"field1": self.choose(chance)}}

    def next(self, chance: Random) -> dict[str, Any]:
        return {"_id": self.choose(chance)}

    def batch(self, chance: Random, count: int) -> list[dict[str, Any]]:
        return [self.next(chance) for _ in range(count)]


class Collection:
    """Replies after a while; the window is over with the last reply."""

    def __init__(self, clock: SimpleNamespace, window: work.Window, *, awaited: bool) -> None:
        self._clock, self._window, self._awaited = clock, window, awaited
        self.sent: list[str] = []

    def __getattr__(self, method: str) -> Any:
        def send(*_: Any, **__: Any) -> Any:
            self.sent.append(method)
            self._clock.now_ns += REPLY_NS
            if len(self.sent) == REPLY_COUNT:
                self._window.phase = work.STOP
            return asyncio.sleep(0, REPLIES[method]) if self._awaited else REPLIES[method]

        return send


@pytest.mark.parametrize("program", [blocking, asynchronous], ids=["blocking", "asynchronous"])
@pytest.mark.parametrize(
    ("workload", "batch", "kinds"),
    [
        ("c", 1, {"find_one"}),
        ("a", 1, {"find_one", "update_one"}),
        ("load", 1, {"insert_one"}),
        ("load", 10, {"insert_many"}),
    ],
)
def test_a_latency_begins_when_the_key_is_chosen_and_the_documents_are_built(
    program: ModuleType, workload: str, batch: int, kinds: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, window = SimpleNamespace(now_ns=0), work.Window(work.MEASURE)
    for module in (program, work):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter_ns=lambda: clock.now_ns))
    collection = Collection(clock, window, awaited=program is asynchronous)
    tally, given = work.Tally(window), argparse.Namespace(workload=workload, batch=batch)
    looping = program.loop(given, SlowRecords(clock), collection, Random(7), tally)
    if looping is not None:
        asyncio.run(looping)
    assert set(collection.sent) == kinds
    assert (tally.operations, tally.failed) == (batch * (REPLY_COUNT - 1), 0)
    assert tally.latencies_ns.quantile(1.0) == REPLY_NS
    assert clock.now_ns >= REPLY_COUNT * (batch * BUILDING_NS + REPLY_NS)


def test_what_found_or_wrote_nothing_is_not_fulfilled() -> None:
    assert all(work.fulfilled(reply) for reply in REPLIES.values())
    assert not work.fulfilled(None)
    assert not work.fulfilled(UpdateResult({"n": 0}, acknowledged=True))


def test_a_batch_that_failed_counts_with_all_its_documents() -> None:
    tally = work.Tally(work.Window(work.MEASURE))
    tally.note(0, 10, ok=False)
    assert (tally.operations, tally.failed) == (0, 10)
