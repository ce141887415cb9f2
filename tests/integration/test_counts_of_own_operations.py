"""What a real server counts of commands by name and of documents is what their replies say."""

from typing import Any

import pymongo
import pytest

from brimline.monitor import brought_by_rows, check_agreement, command_names, own_counts, read_opcounters
from tests.support.own_work import constant, own_plan, step
from tests.unit.record.samples import operation_row, summary

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


@pytest.mark.other_client
@pytest.mark.parametrize(
    ("another", "verdict"),
    [
        ({}, "pass"),
        ({"update": "x", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"b": 1}}}]}, "fail"),
        ({"findAndModify": "x", "query": {"_id": 1}, "update": {"$inc": {"b": 1}}}, "fail"),
        ({"insert": "y", "documents": [{}]}, "fail"),
    ],
)
def test_a_pipeline_that_writes_is_no_other_client_and_hides_none(
    another: dict[str, Any], verdict: str, uri: str
) -> None:
    merge = {"aggregate": "x", "pipeline": [{"$group": {"_id": "$a"}}, {"$merge": "groups"}], "cursor": {}}
    plan = own_plan({"merge": [step("aggregate", body=constant(merge))], "latest": [step("find")]})
    with pymongo.MongoClient[dict[str, Any]](uri, retryWrites=False) as client:
        database = client["own_agreement_of_pipelines"]
        client.drop_database(database)
        database["x"].insert_many([{"_id": number, "a": number % 6} for number in range(60)])
        before = read_opcounters(client, command_names(plan))
        for _ in range(21):
            database.command(merge)
            database.command({"find": "x", "filter": {"_id": 1}})
            if another:
                database.command(another)
        after = read_opcounters(client, command_names(plan))
        client.drop_database(database)
    names = {name: {"answered": 21, "uncertain": 0} for name in ("aggregate", "find")}
    told = summary(errors=[], command_names=names, document_counts={"matched": 0, "returned": 21})
    own = own_counts(plan, told, brought_by_rows([operation_row(3, "latest", documents=21)], ()))
    agreement = check_agreement(before=before, after=after, acknowledged={"query": 21}, uncertain={}, own=own)
    assert agreement.verdict == verdict, agreement.evidence
