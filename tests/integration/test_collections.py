"""Several collections of one workload: loaded, proved and made what the workload says that they are."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from brimline import _native
from brimline.dataset import Definition, read_manifest
from brimline.errors import BrimlineError, UsageError
from brimline.execution import DataPolicy, LoadReport, RunContext, StopToken, WantedData, ensure_data, load_data
from brimline.plan import load_plan, wire_target
from brimline.servers import Deployment
from brimline.spec import Spec
from tests.support.kept_database import Data, Told, database_for_a_test
from tests.support.repetitions import each_once

pytestmark = pytest.mark.mongod

DATABASE = "several"


@pytest.fixture
def database(mongod: Deployment) -> Iterator[Data]:
    with database_for_a_test(mongod, DATABASE) as database:
        yield database


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def context(mongod: Deployment, told: Told) -> RunContext:
    return RunContext(deployment=mongod, spec_text="", environment={}, progress=told, stop=StopToken())


def _wanted(mongod: Deployment, collection: str, definition: Definition | None = None, **data: Any) -> WantedData:
    data = {"records": 30, "database": DATABASE, "collection": collection, **data}
    spec = Spec.model_validate({"name": "several", "data": data, "operations": {"read": 1}})
    plan = load_plan(spec, target=wire_target(spec, address=mongod.address))
    return WantedData(load=plan, definition=definition)


@pytest.fixture
def load(context: RunContext, tmp_path: Path) -> Callable[..., list[LoadReport]]:
    def load(*wanted: WantedData, **words: Any) -> list[LoadReport]:
        return load_data(wanted, make_directory=_directories(tmp_path), context=context, **words)

    return load


@pytest.fixture
def ensure(context: RunContext, tmp_path: Path) -> Callable[..., list[LoadReport]]:
    def ensure(*wanted: WantedData, policy: DataPolicy = DataPolicy.LOAD, **words: Any) -> list[LoadReport]:
        return ensure_data(wanted, policy=policy, make_directory=_directories(tmp_path), context=context, **words)

    return ensure


def _directories(parent: Path) -> Callable[..., Path]:
    def make(_: object) -> Path:
        directory = parent / f"load-{len(list(parent.iterdir()))}"
        directory.mkdir()
        return directory

    return make


def _names(database: Data, collection: str) -> list[str]:
    return [index["name"] for index in database[collection].list_indexes() if index["name"] != "_id_"]


def test_each_collection_has_its_record_its_proof_and_its_manifest(
    mongod: Deployment, database: Data, load: Callable[..., list[LoadReport]]
) -> None:
    reports = load(_wanted(mongod, "a"), _wanted(mongod, "b", records=20))
    assert [(report.namespace, report.document_count) for report in reports] == [
        (f"{DATABASE}.a", 30),
        (f"{DATABASE}.b", 20),
    ]
    assert len({report.record.directory for report in reports if report.record}) == 2
    for name, count in (("a", 30), ("b", 20)):
        manifest = read_manifest(database, name)
        assert manifest is not None and (manifest.state, manifest.count) == ("complete", count)
        assert database[name].count_documents({}) == count


Refusing = Callable[[Data], None]
REFUSING: dict[str, tuple[Refusing, Definition | None, type[BrimlineError], str]] = {
    "documents of others": (
        lambda data: data["b"].insert_one({"_id": 1}),
        None,
        UsageError,
        "holds documents that brimline did not load",
    ),
    "a validator that refuses": (
        lambda data: None,
        Definition.of(options={"validator": {"nowhere": {"$exists": True}}}),
        UsageError,
        "refuses the documents to load: Document failed validation",
    ),
    "an option that is none": (
        lambda data: None,
        Definition.of(options={"no_such_option": 1}),
        UsageError,
        "the server refuses to make several.b with the option no_such_option",
    ),
    "an index that is none": (
        lambda data: None,
        Definition.of(indexes=[{"key": {"a": "no such kind"}}]),
        UsageError,
        "the server refuses to make several.b with the index",
    ),
    "a unique index that refuses": (
        lambda data: None,
        Definition.of(indexes=[{"key": {"nowhere": 1}, "unique": True}]),
        UsageError,
        "duplicate key",
    ),
    "a size": (
        lambda data: None,
        Definition.of(options={"capped": True, "size": 4096}),
        UsageError,
        "is capped and would lose documents",
    ),
}


@pytest.mark.parametrize(("kind", "policy"), each_once(list(REFUSING), ["load", "ensure"]))
def test_nothing_is_changed_before_all_collections_passed_their_checks(
    kind: str,
    policy: str,
    mongod: Deployment,
    database: Data,
    load: Callable[..., list[LoadReport]],
    ensure: Callable[..., list[LoadReport]],
) -> None:
    prepare, definition, error, words = REFUSING[kind]
    load(_wanted(mongod, "a", records=10))
    prepare(database)
    before = {name: list(database[name].find()) for name in sorted(database.list_collection_names())}
    with pytest.raises(error, match=words):
        (load if policy == "load" else ensure)(_wanted(mongod, "a"), _wanted(mongod, "b", definition))
    assert {name: list(database[name].find()) for name in sorted(database.list_collection_names())} == before


def test_what_a_run_left_is_not_taken_away_where_other_data_is_missing(
    mongod: Deployment, database: Data, load: Callable[..., list[LoadReport]], ensure: Callable[..., list[LoadReport]]
) -> None:
    load(_wanted(mongod, "a"))
    (key,) = _native.generate_keys(_wanted(mongod, "a").load.canonical_json(), 30, 1)
    database["a"].insert_one({"_id": key})
    with pytest.raises(UsageError, match=r"several\.b is empty"):
        ensure(_wanted(mongod, "a"), _wanted(mongod, "b"), policy=DataPolicy.CHECK)
    assert database["a"].count_documents({}) == 31
    assert ensure(_wanted(mongod, "a"), policy=DataPolicy.CHECK) == []
    assert database["a"].count_documents({}) == 30


EVERY_INDEX: Sequence[dict[str, Any]] = (
    {"key": {"field0": 1, "field1": -1}},
    {"key": {"field2": 1}, "unique": True, "name": "one of each"},
    {"key": {"field3": 1}, "sparse": True},
    {"key": {"field4": 1}, "partialFilterExpression": {"field5": {"$gt": "a"}}},
    {"key": {"when": 1}, "expireAfterSeconds": 3600},
    {"key": {"field6": "text", "field7": "text"}, "weights": {"field6": 3}, "collation": {"locale": "simple"}},
    {"key": {"field8": "hashed"}},
    {"key": {"place": "2dsphere"}},
    {"key": {"$**": 1}, "wildcardProjection": {"field9": 1}},
    {"key": {"field9": 1}, "collation": {"locale": "sv", "strength": 1}},
)


def test_options_and_indexes_are_made_and_what_is_there_already_stays(
    mongod: Deployment, database: Data, ensure: Callable[..., list[LoadReport]], told: Told
) -> None:
    definition = Definition.of(
        options={"validator": {"field0": {"$exists": True}}, "collation": {"locale": "de"}}, indexes=EVERY_INDEX
    )
    wanted = _wanted(mongod, "a", definition)
    assert len(ensure(wanted)) == 1
    assert len(_names(database, "a")) == len(EVERY_INDEX)
    (about,) = database.list_collections(filter={"name": "a"})
    assert about["options"]["validator"] == {"field0": {"$exists": True}}
    assert about["options"]["collation"]["locale"] == "de"
    assert any("making the indexes field0_1_field1_-1, one of each" in text for text in told.texts)
    assert ensure(wanted) == []
    assert ensure(wanted, policy=DataPolicy.CHECK) == []
    assert len(ensure(_wanted(mongod, "a", definition, records=31))) == 1, "other data"
    assert len(_names(database, "a")) == len(EVERY_INDEX)


def test_indexes_of_loaded_data_follow_the_workload_without_a_load(
    mongod: Deployment, database: Data, ensure: Callable[..., list[LoadReport]]
) -> None:
    ensure(_wanted(mongod, "a", Definition.of(indexes=[{"key": {"field0": 1}}, {"key": {"field1": 1}}])))
    database["a"].create_index([("theirs", 1)])
    changed = _wanted(mongod, "a", Definition.of(indexes=[{"key": {"field0": -1}}, {"key": {"field1": 1}}]))
    with pytest.raises(UsageError, match="without the index field0_-1, with the further index field0_1") as refused:
        ensure(changed, policy=DataPolicy.CHECK)
    assert "--data load" in str(refused.value.hint)
    assert ensure(changed) == []
    assert sorted(_names(database, "a")) == ["field0_-1", "field1_1", "theirs_1"]
    unique = _wanted(mongod, "a", Definition.of(indexes=[{"key": {"field0": -1}, "unique": True}]))
    assert ensure(unique) == []
    assert sorted(_names(database, "a")) == ["field0_-1", "theirs_1"]
    assert database["a"].index_information()["field0_-1"]["unique"]
    ensure(_wanted(mongod, "a", Definition(), records=31))
    assert _names(database, "a") == ["theirs_1"], "of others, and so it stays"


def test_what_others_gave_a_collection_and_the_workload_has_otherwise_is_replaced_only_when_told_so(
    mongod: Deployment, database: Data, ensure: Callable[..., list[LoadReport]], told: Told
) -> None:
    database.create_collection("a", validator={"field0": {"$exists": True}})
    database["a"].create_index([("field1", 1)], unique=True)
    wanted = _wanted(
        mongod,
        "a",
        Definition.of(options={"validator": {"field1": {"$exists": True}}}, indexes=[{"key": {"field1": 1}}]),
    )
    with pytest.raises(UsageError, match=r"has what the workload has otherwise.*field1_1, validator"):
        ensure(wanted)
    assert database["a"].index_information()["field1_1"]["unique"]
    ensure(wanted, drop=True)
    assert "unique" not in database["a"].index_information()["field1_1"]
    assert any("replaced field1_1, validator" in text for text in told.texts)


@pytest.mark.parametrize("name", ["theirs", "field0_1"])
def test_an_index_in_the_place_of_one_of_brimlines_is_somebody_elses(
    name: str, mongod: Deployment, database: Data, ensure: Callable[..., list[LoadReport]]
) -> None:
    """It was dropped without a word, since it is over fields of which brimline had made one."""
    indexes = Definition.of(indexes=[{"key": {"field0": 1}}])
    wanted = _wanted(mongod, "a", indexes)
    ensure(wanted)
    database["a"].drop_index("field0_1")
    database["a"].create_index([("field0", 1)], name=name, expireAfterSeconds=99999)
    for again in (wanted, _wanted(mongod, "a", indexes, records=31)):
        with pytest.raises(UsageError, match=name):
            ensure(again)
        assert "expireAfterSeconds" in database["a"].index_information()[name]
    ensure(_wanted(mongod, "a", Definition(), records=31))
    assert _names(database, "a") == [name]
    ensure(wanted, drop=True)
    assert _names(database, "a") == ["field0_1"]
    assert "expireAfterSeconds" not in database["a"].index_information()["field0_1"]


def test_a_time_series_is_counted(mongod: Deployment, database: Data, ensure: Callable[..., list[LoadReport]]) -> None:
    definition = Definition.of(
        options={"timeseries": {"timeField": "at", "metaField": "sensor", "granularity": "minutes"}},
        indexes=[{"key": {"sensor": 1, "at": -1}}],
    )
    fields = {"at": {"kind": "clock", "start": "2024-01-01", "every": "1s"}, "sensor": {"kind": "int", "max": 4}}
    wanted = _wanted(mongod, "a", definition, fields=fields)
    (report,) = ensure(wanted)
    assert report.document_count == 30
    assert next(iter(database.list_collections(filter={"name": "a"})))["type"] == "timeseries"
    assert ensure(wanted, policy=DataPolicy.CHECK) == []


def test_a_time_series_whose_documents_have_no_time_is_refused_before_anything_is_made(
    mongod: Deployment, database: Data, ensure: Callable[..., list[LoadReport]]
) -> None:
    definition = Definition.of(options={"timeseries": {"timeField": "at"}})
    with pytest.raises(UsageError, match="refuses the documents to load"):
        ensure(_wanted(mongod, "a", definition))
    assert [name for name in database.list_collection_names() if not name.startswith("system.")] == []


def test_a_load_without_its_indexes_goes_on(
    mongod: Deployment,
    database: Data,
    load: Callable[..., list[LoadReport]],
    ensure: Callable[..., list[LoadReport]],
) -> None:
    """Killed between the last document and the indexes: it reads as unfinished."""
    wanted = _wanted(mongod, "a", Definition.of(indexes=[{"key": {"field0": 1}}]))
    load(wanted, _wanted(mongod, "b"))
    database["a"].drop_index("field0_1")
    database["brimline_manifest"].update_one({"_id": "a"}, {"$set": {"state": "loading"}})
    with pytest.raises(UsageError, match="did not end"):
        ensure(wanted, _wanted(mongod, "b"), policy=DataPolicy.CHECK)
    reports = load(wanted, _wanted(mongod, "b"), going_on=[wanted, _wanted(mongod, "b")])
    assert [report.record for report in reports] == [None, None]
    assert _names(database, "a") == ["field0_1"]
    assert read_manifest(database, "a").own_indexes == ({"field0": 1},)  # type: ignore[union-attr]


def test_duplicates_that_only_the_whole_data_has_leave_it_unfinished(
    mongod: Deployment, database: Data, load: Callable[..., list[LoadReport]]
) -> None:
    fields = {"n": {"kind": "sequence", "start": 0, "step": 1}, "m": {"kind": "int", "max": 15}}
    definition = Definition.of(indexes=[{"key": {"m": 1}, "unique": True}])
    with pytest.raises(UsageError, match=r"can't have the unique index.*duplicate key"):
        load(_wanted(mongod, "a", definition, fields=fields))
    manifest = read_manifest(database, "a")
    assert manifest is not None and manifest.state == "loading"
