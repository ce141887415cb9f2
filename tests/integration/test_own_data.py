"""Workloads with collections of their own, from the command line: loaded, looked at, and as they were afterwards."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest

from tests.support.command_line import CommandLine, Outcome
from tests.support.repetitions import repetitions

pytestmark = pytest.mark.mongod

Data = pymongo.database.Database[dict[str, Any]]
DATABASE = "own_data"
SHORT = ("--duration", "200ms", "--warmup", "0s", "--connections", "2")
CALM = ("--think-time", "2ms")
SPEC = """\
name: own
database: own_data
collections:
  customers: {records: 200, fields: {city: {kind: choice, of: [Beijing, Wuhan]}}, key_prefix: c}
  orders:
    records: 300
    fields: {total: {kind: int, max: 500}, customer: {key_of: customers}}
    indexes: [{customer: 1}, {keys: {total: -1}, name: by_total}]
    options: {validator: {total: {$gte: 0}}}
  legacy: existing
values:
  customer: {key_of: customers}
  order: {key_of: orders}
  known: {sample: orders, fields: [customer, total], count: 50}
operations:
  OPERATIONS
"""
READ = "latest: {share: 1, find: {collection: orders, filter: {customer: $known.customer, total: $known.total}}}"
INSERT = "place: {share: 1, insert: {collection: orders, document: {total: 5, customer: $customer}}}"
UPDATE = "change: {share: 1, update: {collection: orders, filter: {_id: $order}, update: {$inc: {total: 1}}}}"
LEGACY = "note: {share: 1, insert: {collection: legacy, document: {customer: $customer}}}"


@pytest.fixture
def database(uri: str) -> Iterator[Data]:
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client.drop_database(DATABASE)
        client[DATABASE]["legacy"].insert_many([{"_id": number} for number in range(5)])
        yield client[DATABASE]
        client.drop_database(DATABASE)


def _write(*operations: str) -> None:
    Path("own.yaml").write_text(SPEC.replace("OPERATIONS", "\n  ".join(operations)))


def _run(here: CommandLine, uri: str, *words: str) -> Outcome:
    return here.run("run", "own.yaml", "--uri", uri, *SHORT, *CALM, *words)


def _state(database: Data) -> Any:
    return {name: list(database[name].find().sort("_id")) for name in ("customers", "orders", "legacy")}


def test_a_load_tells_of_each_collection(here: CommandLine, uri: str, database: Data) -> None:
    _write(READ)
    outcome = here.run("load", "own.yaml", "--uri", uri, "--json", "--junit", "out.xml")
    assert outcome.exit_code == 0, outcome.stderr
    told = outcome.json()
    assert (told["kind"], [each["document_count"] for each in told["collections"]]) == ("loads", [200, 300])
    assert Path("out.xml").read_text().count("<testcase") == 2
    assert len(here.record_directories(kind="load")) == 2
    again = here.run("load", "own.yaml", "--uri", uri, "--resume")
    assert again.stdout.count("already: nothing was sent") == 2
    assert database["legacy"].count_documents({}) == 5


def test_loads_of_several_collections_are_one_summary(here: CommandLine, uri: str, database: Data) -> None:
    _write(READ)
    outcome = here.run("load", "own.yaml", "--uri", uri)
    assert outcome.exit_code == 0, outcome.stderr
    lines = [line for line in outcome.stdout.splitlines() if line.startswith("counted: ")]
    assert [line.split(",")[0] for line in lines] == [
        "counted: 200 documents in own_data.customers",
        "counted: 300 documents in own_data.orders",
    ]
    assert outcome.stdout.count("report.html") == 2
    assert "next: " not in outcome.stdout, "no summary of each beside it"


def test_a_run_loads_what_is_missing_samples_and_leaves_the_data_as_they_were(
    here: CommandLine, uri: str, database: Data
) -> None:
    _write(READ, INSERT, LEGACY)
    refused = _run(here, uri)
    refused.check_error(
        2, "own.yaml:", ": operations.note: the step insert legacy writes to own_data.legacy", "--allow-writes"
    )
    assert database.list_collection_names() == ["legacy"]
    refused = _run(here, uri, "--allow-writes")
    refused.check_error(2, "own_data.customers is empty", "--data load")
    outcome = _run(here, uri, "--allow-writes", "--data", "load")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert "$known: 50 rows of own_data.orders, evenly over the records" in outcome.stderr
    before = _state(database)
    assert [len(before[name]) for name in before] == [200, 300, 5], "all that it inserted is gone"
    (run,) = (path for path in here.record_directories(kind="own") if "-load-" not in path.name)
    plans = json.loads((run / "plans.json").read_text())
    assert [each["step"] for each in plans["start"]] == ["find orders", "insert orders", "insert legacy"]
    assert plans["start"][0]["plan_summary"] == plans["end"][0]["plan_summary"]
    assert plans["start"][0]["index_names"]
    table = json.loads((run / "plan.json").read_text())["work"]["tables"][0]
    assert (table["row_count"], len(table["sha256"])) == (50, 64)


def test_what_an_experiment_changes_is_put_back_before_each_of_its_runs(
    here: CommandLine, uri: str, database: Data
) -> None:
    _write(UPDATE)
    assert here.run("load", "own.yaml", "--uri", uri).exit_code == 0
    before = _state(database)
    words = ("--vary", "connections=1,2", "--repeats", "1", "--repeats-max", "1", *SHORT[:4])
    outcome = here.run("sweep", "own.yaml", "--uri", uri, *words)
    run_count = len(list(here.runs.glob("*vary*/trials/*-run-*")))
    assert run_count >= 2, outcome.stderr
    assert outcome.stderr.count("was put back from its copy in") == 1, outcome.stderr
    assert outcome.stderr.count("trying each step once") == 1
    assert "for putting back up to" in next(line for line in outcome.stderr.splitlines() if "estimate: " in line)
    (directory,) = here.record_directories(kind="vary")
    page = here.run("report", str(directory), "--format", "md", "-o", "-").stdout
    times = "once, in " if run_count == 2 else f"{run_count - 1} times in "
    assert f"- Put back from a copy: {times}" in page, page
    assert _state(database) != before
    _write(READ)
    outcome = _run(here, uri)
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert "putting own_data.orders back from its copy" in outcome.stderr
    assert _state(database) == before


NO_HINT = "one: {share: 1, find: {collection: orders, filter: {total: 1}, hint: nowhere}}"


def test_a_step_that_the_server_refuses_ends_it_before_anything_is_sent(
    here: CommandLine, uri: str, database: Data
) -> None:
    _write(NO_HINT)
    line = 1 + Path("own.yaml").read_text().splitlines().index(f"  {NO_HINT}")
    outcome = _run(here, uri, "--data", "load")
    outcome.check_error(2, f"own.yaml:{line}: operations.one: the step find orders: the server refuses it", "hint")
    assert here.record_directories(kind="own") == here.record_directories(kind="load-own")


SEARCHED = """\
name: searched
database: own_data
collections:
  places:
    records: 100
    fields: {text: {kind: fake, what: sentence}, at: {kind: point}}
    indexes: [{text: text}, {at: 2dsphere}]
operations:
  FILTER
"""


@pytest.mark.parametrize(
    ("step", "indexed"),
    [
        ("find: {collection: places, filter: {$text: {$search: a}}}", "text: text"),
        (
            "aggregate: {collection: places, pipeline: [{$geoNear: {near: {type: Point, coordinates: [1, 2]}, "
            "distanceField: far}}, {$limit: 2}]}",
            "at: 2dsphere",
        ),
        *repetitions(
            ("aggregate: {collection: places, pipeline: [{$match: {$text: {$search: a}}}]}", "text: text"),
            ("update: {collection: places, filter: {$text: {$search: a}}, update: {$set: {n: 1}}}", "text: text"),
            ("find: {collection: places, limit: 2, hint: at_2dsphere}", "at: 2dsphere"),
        ),
    ],
)
def test_a_step_that_needs_an_index_waits_for_the_load_that_makes_it(
    step: str, indexed: str, here: CommandLine, uri: str, database: Data
) -> None:
    text = SEARCHED.replace("FILTER", f"one: {{share: 1, {step}}}")
    Path("own.yaml").write_text(text)
    outcome = _run(here, uri, "--data", "load")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert database["places"].estimated_document_count() == 100
    # And where no load makes it, that is found.
    database.drop_collection("places")
    Path("own.yaml").write_text(text.replace(indexed, "n: 1"))
    refused = _run(here, uri, "--data", "load", "--drop")
    refused.check_error(2, ": operations.one: the step", "correct it; no operation was sent")


def test_documents_of_others_that_are_taken_as_they_are_need_a_word_to_be_written_to(
    here: CommandLine, uri: str, database: Data
) -> None:
    _write("change: {share: 1, update: {collection: orders, filter: {}, update: {$inc: {total: 1}}}}")
    database["orders"].insert_one({"_id": 1, "customer": "c", "total": 1})
    refused = _run(here, uri, "--data", "as-is")
    refused.check_error(
        2, "own.yaml:", ": operations.change: the step update orders writes to own_data.orders", "--allow-writes"
    )
    assert database["orders"].find_one() == {"_id": 1, "customer": "c", "total": 1}
    outcome = _run(here, uri, "--data", "as-is", "--allow-writes")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert database["orders"].find_one()["total"] > 1  # type: ignore[index]
    assert sorted(database.list_collection_names()) == ["legacy", "orders"]


def test_a_slip_is_found_before_anything_is_loaded(here: CommandLine, uri: str, database: Data) -> None:
    _write("one: {share: 1, aggregate: {collection: orders, pipeline: [{$project: {x: {$nothing: 1}}}]}}")
    outcome = _run(here, uri, "--data", "load")
    outcome.check_error(
        2, "own.yaml:", ": operations.one: the step aggregate orders: the server refuses it", "$nothing"
    )
    assert database.list_collection_names() == ["legacy"]


def test_a_sample_of_an_empty_collection_has_its_line(here: CommandLine, uri: str, database: Data) -> None:
    Path("own.yaml").write_text(
        SPEC.replace("sample: orders, fields: [customer, total]", "sample: legacy").replace("OPERATIONS", INSERT)
    )
    database["legacy"].delete_many({})
    line = 1 + next(n for n, text in enumerate(Path("own.yaml").read_text().splitlines()) if "known:" in text)
    _run(here, uri, "--data", "load").check_error(2, f"own.yaml:{line}: values.known")


def test_what_the_engine_refuses_has_the_operations_line(here: CommandLine, uri: str, database: Data) -> None:
    long = "{$value: {concat: [{$value: {kind: string, length: 9000000}}, x]}}"
    _write(f"one: {{share: 1, insert: {{collection: orders, document: {{a: {long}, b: {long}}}}}}}")
    outcome = _run(here, uri, "--data", "load")
    assert outcome.exit_code == 2
    assert "error: own.yaml:16: operations.one.steps.0.body" in outcome.stderr
    long = "{concat: [{kind: string, length: 9000000}, {kind: string, length: 9000000}]}"
    text = SPEC.replace("OPERATIONS", "one: {share: 1, insert: {collection: orders, document: {a: $customer}}}")
    Path("own.yaml").write_text(text.replace("customer: {key_of: customers}\n  order", f"customer: {long}\n  order"))
    outcome = _run(here, uri, "--data", "load")
    assert outcome.exit_code == 2
    assert "error: own.yaml:12: values.customer" in outcome.stderr, outcome.stderr


def test_a_live_collection_has_to_be_there(here: CommandLine, uri: str, database: Data) -> None:
    _write("one: {share: 1, find: {collection: legacy}}")
    database.drop_collection("legacy")
    outcome = _run(here, uri, "--data", "load")
    outcome.check_error(
        2, "own.yaml:", ": operations.one: the step find legacy needs own_data.legacy, which isn't there"
    )
    assert database.list_collection_names() == []


def test_levels_of_an_index_change_the_plan(here: CommandLine, uri: str, database: Data) -> None:
    _write("one: {share: 1, find: {collection: orders, filter: {customer: $customer}}}")
    words = ("--vary", "indexes=orders.none,orders.customer", "--data", "load")
    outcome = here.run("sweep", "own.yaml", "--uri", uri, *words, "--repeats", "1", "--repeats-max", "1", *SHORT)
    assert outcome.exit_code in (0, 4), outcome.stderr
    (sweep,) = here.record_directories(kind="vary")
    found = [json.loads(path.read_text())["start"][0] for path in sweep.glob("trials/*/plans.json")]
    assert {each["collection_scan"] for each in found} == {False, True}
    page = here.run("report", str(sweep), "--format", "md", "-o", "-").stdout
    for level, plan in (("none", "COLLSCAN"), ("customer", "IXSCAN { customer: 1 }")):
        assert f"| one | orders.{level} | {plan} |" in page, page
    assert len(here.record_directories(kind="load")) == 0, "loads are the experiment's"


@pytest.mark.slow("pairs of runs, before each of which data are put back")
@pytest.mark.other_client
@pytest.mark.parametrize(
    "words",
    [("ab", "--b", "connections=4"), *repetitions((("interfere", "--with", "scan"),))],
    ids=["ab", "interfere"],
)
def test_pairs_of_runs_compare_such_operations_and_put_their_data_back_before_each(
    words: tuple[str, ...], here: CommandLine, uri: str, database: Data
) -> None:
    _write(READ, UPDATE)
    verb, *rest = words
    outcome = here.run(verb, "own.yaml", *rest, "--pairs", "2", "--uri", uri, "--data", "load", *SHORT, *CALM, "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    document = outcome.json()
    assert [len(document[side]) for side in ("a", "b")] == [2, 2], document
    assert {change["metric"] for change in document["changes"]} >= {"throughput", "errors"}
    run_count = len(list(here.runs.glob(f"*{verb}*/trials/*")))
    assert f"own_data.orders was put back from its copy {run_count - 1} times, in" in outcome.stderr


def test_the_profiler_tells_what_each_step_took_and_is_as_before(here: CommandLine, uri: str, database: Data) -> None:
    _write(READ, UPDATE, "three: {share: 1, find: {collection: orders, filter: {customer: $customer}, limit: 3}}")
    for share in ("0%", "1"):
        _run(here, uri, "--data", "load", "--profiler", share).check_error(2, "--profiler", "1%")
    before = database.command({"profile": -1})
    outcome = _run(here, uri, "--data", "load", "--profiler", "100%", "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert database.command({"profile": -1}) == before
    (directory,) = (path for path in here.record_directories(kind="own") if "-load-" not in path.name)
    told = {each["operation"]: each for each in json.loads((directory / "plans.json").read_text())["profile"]}
    assert told.keys() == {"latest", "change", "three"}
    sent = outcome.json()["operations"]
    assert 0 < told["change"]["commands"] <= sent["change"]["samples"]
    assert told["change"]["docs_examined"] == told["change"]["commands"]
    page = here.run("report", str(directory), "--format", "md", "-o", "-").stdout
    assert f"| change: update orders | {told['change']['commands']} |" in page, page
    assert _run(here, uri, "--json").exit_code in (0, 4)
    plain, _ = sorted(path for path in here.record_directories(kind="own") if "-load-" not in path.name)[::-1]
    assert json.loads((plain / "plans.json").read_text())["profile"] == []


def test_the_profiler_tells_of_steps_that_the_server_explained_none_of(
    here: CommandLine, uri: str, database: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brimline.execution.around.mongodb.look_at_plans", lambda *_: [])
    _write(INSERT)
    outcome = _run(here, uri, "--data", "load", "--profiler", "100%", "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    (directory,) = (path for path in here.record_directories(kind="own") if "-load-" not in path.name)
    plans = json.loads((directory / "plans.json").read_text())
    assert (plans["start"], [each["operation"] for each in plans["profile"]]) == ([], ["place"])


@pytest.mark.slow("three runs with the profiler on")
def test_any_number_of_threads_sends_the_same_commands_with_the_same_values(
    here: CommandLine, uri: str, database: Data
) -> None:
    place = "place: {share: 1, insert: {collection: orders, document: {_id: $index, total: 5, customer: $customer}}}"
    _write(READ, UPDATE, place)
    assert _run(here, uri, "--data", "load", "--operations", "5").exit_code in (0, 4)
    sent = []
    for threads in (1, 2, 4):
        database.drop_collection("system.profile")
        database.command({"profile": 2})
        # Samples are of rows that follow from the seed: what is in them is the same in each run.
        words = ("--operations", "200", "--threads", str(threads), "--connections", "4", "--warmup", "0s")
        outcome = here.run("run", "own.yaml", "--uri", uri, *words, "--json")
        database.command({"profile": 0})
        assert outcome.exit_code in (0, 4), outcome.stderr
        of_run = {"ns": f"{DATABASE}.orders", "op": {"$in": ["query", "update"]}, "appName": {"$regex": "brimline"}}
        commands = [entry["command"] for entry in database["system.profile"].find(of_run)]
        found = Counter(json.dumps(each.get("filter", each.get("q")), default=str) for each in commands)
        found |= Counter(json.dumps(each, default=str) for each in database["orders"].find({"_id": {"$type": "long"}}))
        sent.append((found, outcome.json()["operations_hash"]))
    assert sum(sent[0][0].values()) >= 100
    assert sent[1] == sent[0] and sent[2] == sent[0]
