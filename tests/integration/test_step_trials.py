"""Each step is tried once before a run: what the server refuses is found with its place, and nothing of it stays."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pymongo
import pytest

from brimline.errors import UsageError
from brimline.execution import RunContext, StopToken
from brimline.execution.progress import Silence
from brimline.execution.step_commands import step_commands
from brimline.execution.step_plans import look_at_plans
from brimline.execution.step_trials import try_steps
from brimline.plan import Plan, resolve, wire_target
from brimline.servers import Deployment, external
from brimline.spec import Spec
from tests.support.replica_set import Member

pytestmark = pytest.mark.mongod

Data = pymongo.database.Database[dict[str, Any]]
DATABASE = "tried"
Steps = Sequence[dict[str, Any]]


@pytest.fixture
def primary(member: Member) -> Deployment:
    """Of a replica set, which has transactions."""
    return external(f"mongodb://{member.address}/?directConnection=true")


@pytest.fixture(params=["standalone", "replica set"])
def server(request: pytest.FixtureRequest) -> Deployment:
    found: Deployment = request.getfixturevalue({"standalone": "mongod", "replica set": "primary"}[request.param])
    return found


@pytest.fixture
def database(server: Deployment) -> Iterator[Data]:
    with pymongo.MongoClient[dict[str, Any]](f"mongodb://{server.address}", directConnection=True) as client:
        client.drop_database(DATABASE)
        database = client[DATABASE]
        made = database.create_collection("a", validator={"n": {"$exists": True}})
        made.create_index([("n", 1), ("m", -1)])
        made.insert_many([{"_id": number, "n": number, "m": number % 10} for number in range(100)])
        database.create_collection("capped", capped=True, size=1 << 20)
        database["capped"].insert_one({"_id": 1, "n": 1})
        yield database
        client.drop_database(DATABASE)


class Told(Silence):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def context(server: Deployment, told: Told) -> RunContext:
    return RunContext(deployment=server, spec_text="", environment={}, progress=told, stop=StopToken())


def _plan(server: Deployment, *steps: dict[str, Any]) -> Plan:
    spec = {
        "name": "tried",
        "database": DATABASE,
        "collections": {"a": "existing", "capped": "existing"},
        "values": {"half": {"kind": "int", "max": 50}},
        "operations": {"one": {"share": 1, "steps": list(steps)}},
    }
    return resolve(Spec.model_validate(spec), target=wire_target(Spec.model_validate(spec), address=server.address))


def _state(database: Data) -> Any:
    names = sorted(name for name in database.list_collection_names() if not name.startswith("system."))
    return {name: list(database[name].find().sort("_id")) for name in names}


FAR = {"$value": {"date_add": {"date": {"kind": "date", "from": "9990-01-01", "to": "9991-01-01"}, "by": "30000d"}}}
"""A date behind the last one that Python has."""
GOOD: dict[str, dict[str, Any]] = {
    "find of a far date": {"find": {"collection": "a", "filter": {"n": FAR}}},
    "insert of a far date": {"insert": {"collection": "a", "document": {"n": FAR}}},
    "find": {"find": {"collection": "a", "filter": {"n": "$half"}, "sort": {"m": -1}, "limit": 5, "max_time": "2s"}},
    "aggregate": {"aggregate": {"collection": "a", "pipeline": [{"$group": {"_id": "$$m", "n": {"$sum": 1}}}]}},
    "out": {"aggregate": {"collection": "a", "pipeline": [{"$out": "elsewhere"}]}},
    "count": {"count": {"collection": "a", "filter": {"n": 1}}},
    "distinct": {"distinct": {"collection": "a", "field": "m"}},
    "insert": {"insert": {"collection": "a", "document": {"n": 1}, "count": 3}},
    "insert of what is there": {"insert": {"collection": "a", "document": {"_id": 1, "n": 1}}},
    "insert into a capped collection": {"insert": {"collection": "capped", "document": {"n": 1}}},
    "update": {"update": {"collection": "a", "filter": {"n": "$half"}, "update": {"$set": {"m": 5}}}},
    "updates": {"update": {"collection": "a", "filter": {}, "update": {"$set": {"m": 5}}, "many": True}},
    "replace": {"replace": {"collection": "a", "filter": {"_id": 1}, "replacement": {"n": 1}, "upsert": True}},
    "delete": {"delete": {"collection": "a", "filter": {"n": "$half"}}},
    "find_and_modify": {"find_and_modify": {"collection": "a", "filter": {"n": 1}, "update": {"$set": {"m": 5}}}},
    "bulk_write": {
        "bulk_write": {
            "collection": "a",
            "requests": [
                {"insert": {"document": {"n": 1}}},
                {"update": {"filter": {"n": 1}, "update": {"$set": {"m": 1}}}},
                {"update": {"filter": {"n": 2}, "update": {"$set": {"m": 1}}}},
                {"delete": {"filter": {"n": 1}}},
            ],
        }
    },
}


@pytest.mark.parametrize("kind", GOOD)
def test_nothing_of_a_trial_stays(
    kind: str, server: Deployment, database: Data, context: RunContext, told: Told
) -> None:
    before = _state(database)
    try_steps(_plan(server, GOOD[kind]), context)
    assert _state(database) == before
    assert told.notes == []


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a hint that is none": (
        {"find": {"collection": "a", "filter": {"n": 1}, "hint": "nowhere"}},
        "the server refuses it: .*hint",
    ),
    "a pattern that is none": ({"find": {"collection": "a", "filter": {"n": {"$regex": "("}}}}, "Regular expression"),
    "an expression that is none": (
        {"aggregate": {"collection": "a", "pipeline": [{"$project": {"x": {"$nothing": 1}}}]}},
        r"the step aggregate a: the server refuses it: .*\$nothing",
    ),
    "an update of what can't be changed": (
        {"update": {"collection": "a", "filter": {"n": 1}, "update": {"$set": {"n": 1, "n.x": 2}}}},
        "would create a conflict",
    ),
    "a delete by what is no filter": (
        {"delete": {"collection": "a", "filter": {"n": {"$in": 5}}}},
        "the step delete a: the server refuses it: .*needs an array",
    ),
    "an insert that the validator refuses": (
        {"insert": {"collection": "a", "document": {"m": 1}}},
        "the step insert a: the server refuses it: Document failed validation",
    ),
    "a command that is one of those": ({"command": {"find": "a", "filter": {"$nothing": 1}}}, r"\$nothing"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_the_server_refuses_is_found_with_its_place(
    kind: str, server: Deployment, database: Data, context: RunContext
) -> None:
    step, words = REFUSED[kind]
    before = _state(database)
    with pytest.raises(UsageError, match=r"^operations\.one: ") as refused:
        try_steps(_plan(server, GOOD["find"], step), context)
    assert refused.match(words)
    assert refused.value.hint == "correct it; no operation was sent"
    assert _state(database) == before


@pytest.mark.parametrize(
    "command",
    [
        {"insert": "a", "documents": [{"n": 1}, {"n": "x" * 9_000_000, "m": "y" * 9_000_000}]},
        {"update": "a", "updates": [{"q": {"n": 1}, "u": {"$set": {"m": "x" * 18_000_000}}}]},
        {"find": "a", "filter": {"n": "x" * 18_000_000}},
    ],
)
def test_a_document_over_16_mib_is_found_without_being_sent(
    command: dict[str, Any], server: Deployment, database: Data, context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As rows of a file can make it, whose lengths no spec says."""
    (found,) = step_commands(_plan(server, GOOD["find"]))
    too_large = replace(found, command=command)
    monkeypatch.setattr("brimline.execution.step_trials.step_commands", lambda plan: [too_large])
    with pytest.raises(UsageError, match=r"^operations\.one: .*a document of 18.* MB is over 16 MiB"):
        try_steps(_plan(server, GOOD["find"]), context)


def test_a_replica_set_also_shows_what_an_update_of_one_document_comes_to(
    primary: Deployment, mongod: Deployment, told: Told
) -> None:
    one = {"update": {"collection": "a", "filter": {"n": 1}, "update": {"$unset": {"n": 1}}}}
    many = {"update": {**one["update"], "many": True}}  # which a trial is not to execute
    for server, step, expected in (
        (mongod, one, None),
        (primary, one, "Document failed validation"),
        (primary, many, None),
    ):
        context = RunContext(deployment=server, spec_text="", environment={}, progress=told, stop=StopToken())
        with pymongo.MongoClient[dict[str, Any]](f"mongodb://{server.address}", directConnection=True) as client:
            client.drop_database(DATABASE)
            client[DATABASE].create_collection("a", validator={"n": {"$exists": True}})
            client[DATABASE]["a"].insert_one({"n": 1})
            if expected is None:
                try_steps(_plan(server, step), context)
            else:
                with pytest.raises(UsageError, match=expected):
                    try_steps(_plan(server, step), context)
            client.drop_database(DATABASE)


def test_what_only_the_run_can_show_is_said(
    server: Deployment, database: Data, context: RunContext, told: Told
) -> None:
    steps = [
        {"find": {"collection": "a"}, "save": {"many": "m"}},
        {"find": {"collection": "a", "filter": {"n": {"$in": "$many"}}}},
        {"command": {"ping": 1}},
    ]
    try_steps(_plan(server, *steps), context)
    assert told.notes == ["not tried beforehand, as only the run itself can show it: one/find a 2, one/command ping"]


Look = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def look(server: Deployment, database: Data) -> Look:
    def look(step: dict[str, Any]) -> dict[str, Any]:
        (found,) = look_at_plans(_plan(server, step), server)
        return found

    return look


def test_the_plan_of_a_read_says_what_it_took(look: Look) -> None:
    found = look({"find": {"collection": "a", "filter": {"n": {"$gte": 90}}}})
    assert (found["operation"], found["step"]) == ("one", "find a")
    assert found["command"] == {"find": "a", "filter": {"n": {"$gte": 90}}}
    assert found["plan_summary"] == "IXSCAN { n: 1, m: -1 }"
    assert found["index_names"] == ["n_1_m_-1"]
    assert (found["keys_examined"], found["docs_examined"], found["n_returned"]) == (10, 10, 10)
    assert (found["in_memory_sort"], found["collection_scan"]) == (False, False)


def test_a_filter_with_null_in_place_of_what_replies_bring_is_not_executed(server: Deployment, database: Data) -> None:
    """It would examine all documents, or none, which no step of a run does."""
    steps = (
        {"find": {"collection": "a"}, "save": {"number": "m"}},
        {"find": {"collection": "a", "filter": {"m": "$number"}}},
    )
    first, second = look_at_plans(_plan(server, *steps), server)
    assert (first["has_null"], first["docs_examined"]) == (False, 100)
    assert (second["has_null"], second["docs_examined"], second["n_returned"]) == (True, None, None)
    assert second["plan_summary"] == "COLLSCAN"


PLANS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"find": {"collection": "a", "filter": {"m": 5}, "sort": {"m": 1}, "limit": 3}},
        {"plan_summary": "COLLSCAN", "in_memory_sort": True, "collection_scan": True, "n_returned": 3}
        | {"index_could_sort": True, "sort_used_disk": False},
    ),
    ({"find": {"collection": "a", "filter": {"n": FAR}}}, {"n_returned": 0, "index_names": ["n_1_m_-1"]}),
    ({"find": {"collection": "a", "filter": {"_id": 5}}}, {"plan_summary": "IDHACK", "docs_examined": 1}),
    (
        {"aggregate": {"collection": "a", "pipeline": [{"$group": {"_id": "$$m"}}, {"$sort": {"_id": 1}}]}},
        {"collection_scan": True, "docs_examined": 100, "n_returned": 10, "in_memory_sort": True}
        | {"index_could_sort": False, "sort_used_disk": False},
    ),
    (
        {
            "aggregate": {
                "collection": "a",
                "pipeline": [
                    {"$sort": {"m": 1}},
                    {"$limit": 50},
                    {"$group": {"_id": "$$m"}},
                    {"$sort": {"_id": 1}},
                ],
            }
        },
        {"in_memory_sort": True, "index_could_sort": True},
    ),
    ({"count": {"collection": "a", "filter": {"n": {"$lt": 5}}}}, {"collection_scan": False, "docs_examined": 0}),
    ({"distinct": {"collection": "a", "field": "n"}}, {"index_names": ["n_1_m_-1"], "collection_scan": False}),
    (
        {"update": {"collection": "a", "filter": {"n": 5}, "update": {"$set": {"m": 1}}}},
        {"plan_summary": "IXSCAN { n: 1, m: -1 }", "docs_examined": None, "collection_scan": False},
    ),
    ({"delete": {"collection": "a", "filter": {"m": 5}}}, {"collection_scan": True, "n_returned": None}),
    (
        {"find_and_modify": {"collection": "a", "filter": {"n": 5}, "remove": True}},
        {"index_names": ["n_1_m_-1"], "n_returned": None},
    ),
    ({"insert": {"collection": "a", "document": {"n": 1}}}, {"plan_summary": None, "collection_scan": None}),
    ({"aggregate": {"collection": "a", "pipeline": [{"$out": "elsewhere"}]}}, {"plan_summary": "COLLSCAN"}),
]


@pytest.mark.parametrize(("step", "expected"), PLANS, ids=lambda each: next(iter(each)))
def test_plans(step: dict[str, Any], expected: dict[str, Any], look: Look, database: Data) -> None:
    before = _state(database)
    found = look(step)
    assert {name: found[name] for name in expected} == expected, found
    assert _state(database) == before, "nothing is written"
