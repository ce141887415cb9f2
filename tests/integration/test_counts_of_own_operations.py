"""What a real server counts of commands by name and of documents is what their replies say."""

from typing import Any

import pymongo
import pytest

from brimline.monitor import check_agreement, command_names, own_counts, read_opcounters
from tests.support.own_work import own_plan, step
from tests.unit.record.samples import summary

pytestmark = pytest.mark.mongod

COMMANDS: tuple[dict[str, Any], ...] = (
    {"insert": "x", "documents": [{"_id": number, "a": number % 3} for number in range(100)]},
    {"update": "x", "updates": [{"q": {"a": 1}, "u": {"$inc": {"b": 1}}, "multi": True}]},
    {"update": "x", "updates": [{"q": {"_id": 1000}, "u": {"$set": {"b": 1}}, "upsert": True}]},
    {"delete": "x", "deletes": [{"q": {"_id": {"$gte": 90}}, "limit": 0}]},
    {"find": "x", "filter": {"a": 2}, "batchSize": 200},
    {"aggregate": "x", "pipeline": [{"$group": {"_id": "$a"}}], "cursor": {}},
    {"count": "x", "query": {"a": 1}},
    {"distinct": "x", "key": "a"},
)
KINDS = {"insert": "insert", "update": "update", "delete": "delete", "find": "query"}


def test_each_command_and_its_documents_are_counted(uri: str) -> None:
    client: pymongo.MongoClient[dict[str, Any]] = pymongo.MongoClient(uri, retryWrites=False)
    names = [next(iter(command)) for command in COMMANDS]
    plan = own_plan({f"operation {number}": [step(name)] for number, name in enumerate(names)})
    with client:
        database = client["own_agreement"]
        client.drop_database(database)
        before = read_opcounters(client, command_names(plan))
        replies = [database.command(command) for command in COMMANDS]
        after = read_opcounters(client, command_names(plan))
        client.drop_database(database)
    inserted, updated, upserted, deleted = (reply["n"] for reply in replies[:4])
    returned = sum(len(reply["cursor"]["firstBatch"]) for reply in replies[4:6])
    assert (inserted, updated, upserted, deleted, returned) == (100, 33, 1, 11, 33)
    told = summary(
        errors=[],
        command_names={name: {"answered": names.count(name), "uncertain": 0} for name in names},
        document_counts={"inserted": inserted, "matched": updated, "deleted": deleted, "returned": returned},
    )
    known = dict.fromkeys(KINDS.values(), 0)
    for name, reply in zip(names, replies, strict=True):
        if name in KINDS:
            known[KINDS[name]] += reply["n"] if name == "insert" else 1

    def compare(**changes: int) -> str:
        documents = {**told["document_counts"], **changes}
        own = own_counts(plan, {**told, "document_counts": documents})
        return check_agreement(before=before, after=after, acknowledged=known, uncertain={}, own=own).verdict

    assert compare() == "pass"
    assert [compare(**{name: told["document_counts"][name] + 1}) for name in told["document_counts"]] == [
        "fail"
    ] * 3 + ["pass"], "count and distinct bring what the server doesn't count as returned"
