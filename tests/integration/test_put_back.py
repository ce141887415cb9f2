"""Data that operations of one's own write: taken away, put back or loaded again, and known to be changed meanwhile."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bson import ObjectId

from brimline import _native
from brimline.api.wanted import wanted_data
from brimline.dataset import Manifest, pristine, read_manifest
from brimline.dataset.ownership import all_our_own
from brimline.errors import Interrupted, UsageError
from brimline.execution import DataPolicy, RunContext, StopToken, ensure_data, load_data, putting_back
from brimline.execution.cluster.cluster import Cluster
from brimline.execution.data_events import tell_data_events_in_all
from brimline.plan import NullTarget, Plan, resolve, wire_target
from brimline.servers import Deployment
from brimline.servers.owner import Owner, Scope
from brimline.servers.processes import identify
from brimline.spec import Spec
from tests.support.kept_database import Data, Told, database_for_a_test
from tests.support.nodes import HereLink

pytestmark = pytest.mark.mongod

DATABASE = "kept"
COPY = "brimline_pristine_a"
INSERT_IDS = {"insert": {"collection": "a", "document": {"x": 1}}}
INSERT_KEYS = {"insert": {"collection": "a", "document": {"_id": {"$value": {"new_key_of": "a"}}}}}
UPDATE = {"update": {"collection": "a", "filter": {}, "update": {"$set": {"changed": 1}}}}
READ = {"find": {"collection": "a"}}


@pytest.fixture
def database(mongod: Deployment) -> Iterator[Data]:
    with database_for_a_test(mongod, DATABASE) as database:
        yield database


class Workload:
    """A collection `a` of 20 records with an index, and what runs do to it."""

    def __init__(self, mongod: Deployment, directory: Path) -> None:
        self.told = Told()
        self._mongod = mongod
        self._directory = directory
        self.context = RunContext(deployment=mongod, spec_text="", environment={}, progress=self.told, stop=StopToken())

    def plan(self, *steps: dict[str, Any], **of_a: Any) -> Plan:
        values = {
            "name": "kept",
            "database": DATABASE,
            "collections": {"a": {"records": 20, "indexes": [{"field0": 1}], **of_a}, "live": "existing"},
            "operations": {"one": {"share": 1, "steps": list(steps or (READ,))}},
        }
        spec = Spec.model_validate(values)
        target = wire_target(spec, address=self._mongod.address)
        self.context = replace(self.context, wanted=wanted_data(spec, target=target))
        return resolve(spec, target=target)

    def load(self) -> None:
        load_data(self.context.wanted, make_directory=self._make, context=self.context)

    def ensure(self, policy: DataPolicy = DataPolicy.CHECK, *, drop: bool = False) -> None:
        ensure_data(self.context.wanted, policy=policy, make_directory=self._make, context=self.context, drop=drop)

    @property
    def identity(self) -> bytes:
        """What the object ids of the run begin with."""
        assert self.context.carried.identity is not None
        return self.context.carried.identity[:6]

    def own(self, count: int) -> list[dict[str, Any]]:
        """Documents under object ids of the run."""
        return [{"_id": ObjectId(self.identity + os.urandom(6))} for _ in range(count)]

    @contextmanager
    def killed(self, plan: Plan) -> Iterator[None]:
        """A run that ends without a word."""
        context = replace(self.context, stop=StopToken())
        with putting_back(plan, context):
            yield
            context.stop.request()
            context.stop.request()

    def _make(self, _: object) -> Path:
        directory = self._directory / f"load-{len(list(self._directory.iterdir()))}"
        directory.mkdir()
        return directory


@pytest.fixture
def workload(mongod: Deployment, database: Data, tmp_path: Path) -> Workload:
    return Workload(mongod, tmp_path)


def _manifest(database: Data) -> Manifest:
    found = read_manifest(database, "a")
    assert found is not None
    return found


def _content(database: Data) -> list[dict[str, Any]]:
    return list(database["a"].find().sort("_id"))


def test_documents_under_ids_of_the_run_are_taken_away_and_nobody_else_s(workload: Workload, database: Data) -> None:
    plan = workload.plan(INSERT_IDS, {"insert": {"collection": "live", "document": {"x": 1}}})
    workload.load()
    before = _content(database)
    theirs = {"_id": ObjectId()}
    database["live"].insert_one(theirs)
    with putting_back(plan, workload.context):
        identity = workload.identity
        assert _manifest(database).state == "changed", "an interruption hides nothing"
        assert _manifest(database).identities == (identity.hex(),)
        for name in ("a", "live"):
            ids = [ObjectId(identity + rest) for rest in (b"\0" * 6, b"\xff" * 6, os.urandom(6))]
            database[name].insert_many([{"_id": each} for each in ids])
    assert _content(database) == before
    assert list(database["live"].find()) == [theirs]
    assert _manifest(database).state == "complete"
    assert COPY not in database.list_collection_names()


def test_what_a_killed_run_inserted_is_taken_away_before_the_next(workload: Workload, database: Data) -> None:
    """Its manifest says what its ids begin with."""
    plan = workload.plan(INSERT_IDS, INSERT_KEYS)
    workload.load()
    before, uuid = _content(database), _manifest(database).collection_uuid
    with workload.killed(plan):
        keys = _native.generate_keys(workload.context.wanted[0].load.canonical_json(), 20, 5)
        database["a"].insert_many([*workload.own(2), *({"_id": key} for key in keys)])
    assert len(_content(database)) == 27
    workload.ensure()
    assert _content(database) == before
    assert (_manifest(database).state, _manifest(database).collection_uuid) == ("complete", uuid), "not loaded again"
    with workload.killed(plan):
        database["a"].insert_many(workload.own(1))
    database["a"].delete_one({"_id": before[0]["_id"]})
    workload.ensure()
    assert _content(database) == before, "loaded again"


@pytest.mark.parametrize("step", [INSERT_IDS, UPDATE])
def test_after_a_kill_only_what_is_known_is_taken_for_the_run_s(
    step: dict[str, Any], workload: Workload, database: Data
) -> None:
    plan = workload.plan(step)
    workload.load()
    theirs = [{"_id": ObjectId()}, {"_id": "theirs"}]
    with workload.killed(plan):
        database["a"].insert_many(workload.own(2))
        database["a"].update_many({}, {"$set": {"changed": 1}})
        database["a"].delete_many({"_id": {"$in": [each["_id"] for each in _content(database)[-2:]]}})
    database["a"].insert_many(theirs)
    for attempt in (workload.ensure, workload.load, lambda: workload.ensure(DataPolicy.LOAD)):
        with pytest.raises(UsageError, match="document") as refused:
            attempt()
        assert "--drop" in str(refused.value.hint)
        assert database["a"].count_documents({"_id": {"$in": [each["_id"] for each in theirs]}}) == 2
    workload.ensure(DataPolicy.LOAD, drop=True)
    assert len(_content(database)) == 20


def test_after_a_kill_changed_data_without_others_are_put_back(workload: Workload, database: Data) -> None:
    plan = workload.plan(UPDATE, INSERT_IDS, INSERT_KEYS)
    workload.load()
    before = _content(database)
    for _ in range(2):
        with workload.killed(plan):
            keys = _native.generate_keys(workload.context.wanted[0].load.canonical_json(), 20, 5)
            database["a"].insert_many([*workload.own(2), *({"_id": key} for key in keys)])
            database["a"].delete_one({"_id": before[0]["_id"]})
        workload.ensure()
        assert _content(database) == before
    assert len([text for text in workload.told.texts if "put back from its copy" in text]) == 1, "said once"


def test_one_that_is_stopped_while_data_are_copied_has_changed_nothing(
    workload: Workload, database: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = workload.plan(UPDATE)
    workload.load()
    monkeypatch.setattr("brimline.execution.put_back.tell_copying", lambda context, _: context.stop.request())
    with pytest.raises(Interrupted), putting_back(plan, workload.context):
        pytest.fail("the run began")
    assert _manifest(database).state == "complete"
    assert not [text for text in workload.told.texts if "the operations changed" in text]


def test_what_another_command_is_at_work_on_is_not_offered_to_be_dropped(workload: Workload, database: Data) -> None:
    """While a load, and while a run that changes the data, goes on."""
    workload.plan(UPDATE)
    workload.load()
    with subprocess.Popen(["sleep", "20"]) as other:
        process = identify(other.pid)
        assert process is not None
        owner = Owner(scope=Scope.current(), process=process).to_document()
        for manifest in (_manifest(database).changed(), replace(_manifest(database), state="loading", count=None)):
            document = manifest.to_document() | {"at_work": owner}
            database["brimline_manifest"].replace_one({"_id": "a"}, document)
            for command in (workload.load, workload.ensure, lambda: workload.ensure(DataPolicy.LOAD)):
                with pytest.raises(UsageError, match=rf"kept\.a is in use: .*process {other.pid}") as refused:
                    command()
                assert "--drop" not in str(refused.value.hint)
        other.kill()
    workload.load()


def test_what_a_killed_run_inserted_under_other_ids_can_t_be_told_and_stays(workload: Workload, database: Data) -> None:
    upsert = {"update": {"collection": "a", "filter": {"x": 1}, "update": {"$set": {"y": 1}}, "upsert": True}}
    plan = workload.plan(upsert)
    workload.load()
    before = _content(database)
    with putting_back(plan, workload.context):
        database["a"].insert_one({"x": 1})
    with workload.killed(plan):
        assert _content(database) == before, "of a run that ended, all that it left is known"
        database["a"].insert_one({"x": 1})
    with pytest.raises(UsageError, match="holds 1 document that may be somebody else's"):
        workload.ensure()
    assert database["a"].count_documents({"x": 1}) == 1


@pytest.mark.parametrize("is_changed", [True, False])
def test_one_that_came_for_one_that_went_is_seen(is_changed: bool, workload: Workload, database: Data) -> None:
    plan = _loaded(workload)
    before = _content(database)
    if is_changed:
        with putting_back(plan, workload.context):
            database["a"].update_many({}, {"$set": {"changed": 1}})
    database["a"].delete_one({"_id": before[0]["_id"]})
    database["a"].insert_one({"_id": "theirs"})
    with pytest.raises(UsageError, match="may hold documents that brimline did not load"):
        workload.load()
    if is_changed:
        with pytest.raises(UsageError, match="holds 1 document that may be somebody else's"):
            workload.ensure()
    assert database["a"].count_documents({"_id": "theirs"}) == 1
    workload.ensure(DataPolicy.LOAD, drop=True)


def test_documents_that_others_took_away_are_put_back(workload: Workload, database: Data) -> None:
    plan = _loaded(workload)
    before = _content(database)
    with putting_back(plan, workload.context):
        database["a"].update_many({}, {"$set": {"changed": 1}})
    database["a"].delete_one({"_id": before[0]["_id"]})
    workload.ensure()
    assert _content(database) == before


def test_records_that_follow_those_loaded_are_taken_away(workload: Workload, database: Data) -> None:
    plan = workload.plan(INSERT_KEYS)
    workload.load()
    before = _content(database)
    with putting_back(plan, workload.context):
        assert _manifest(database).state == "complete", "what comes by key is known without a word"
        keys = _native.generate_keys(workload.context.wanted[0].load.canonical_json(), 20, 5)
        database["a"].insert_many([{"_id": key} for key in keys])
    assert _content(database) == before


def test_changed_data_are_put_back_from_their_copy_before_the_next_run(workload: Workload, database: Data) -> None:
    plan = workload.plan(UPDATE)
    workload.load()
    before, indexes = _content(database), database["a"].index_information()
    for trial in range(3):
        with putting_back(plan, workload.context):
            assert _content(database) == before, trial
            database["a"].update_many({}, {"$set": {"changed": trial}})
            database["a"].delete_one({})
    assert _manifest(database).state == "changed"
    assert len([text for text in workload.told.texts if "copied aside" in text]) == 1
    assert [event["kind"] for event in workload.context.carried.events] == [
        "data_copied",
        "data_put_back",
        "data_put_back",
    ]
    workload.ensure()
    assert _content(database) == before
    assert database["a"].index_information() == indexes
    assert _manifest(database).state == "complete"
    assert all_our_own(database, _manifest(database)), "its UUID is the new one's"
    workload.ensure()
    assert [each["kind"] for each in workload.context.carried.events][3:] == ["data_put_back"]
    tell_data_events_in_all(workload.context)
    assert "kept.a was put back from its copy 3 times, in " in workload.told.texts[-1]


def test_a_run_that_only_reads_finds_what_was_loaded(workload: Workload, database: Data) -> None:
    changing = workload.plan(UPDATE)
    workload.load()
    before = _content(database)
    with putting_back(changing, workload.context):
        database["a"].update_many({}, {"$set": {"changed": 1}})
    with putting_back(workload.plan(READ), workload.context):
        assert _content(database) == before
    assert _manifest(database).state == "complete"


def _no_copy(*_: object) -> str:
    return "there is no room"


def _lose(data: Data) -> None:
    data.drop_collection(COPY)


def _replace(data: Data) -> None:
    _lose(data)
    data[COPY].insert_one({"_id": "theirs"})


def _write_to(data: Data) -> None:
    data[COPY].delete_one({})


SPOILT: dict[str, Callable[[Data], None]] = {
    "there is no room": lambda _: None,
    "the copy is gone": _lose,
    "the copy is another's": _replace,
    "the copy was written to": _write_to,
}


@pytest.mark.parametrize("kind", SPOILT)
def test_without_a_copy_the_data_are_loaded_again(
    kind: str, workload: Workload, database: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = workload.plan(UPDATE)
    workload.load()
    before, indexes = _content(database), database["a"].index_information()
    if kind == "there is no room":
        monkeypatch.setattr("brimline.dataset.reason_against_copy", _no_copy)
    with putting_back(plan, workload.context):
        database["a"].update_many({}, {"$set": {"changed": 1}})
    SPOILT[kind](database)
    with putting_back(plan, workload.context):
        assert _content(database) == before
        assert database["a"].index_information() == indexes
    assert any("loaded again" in text for text in workload.told.texts)


def test_workers_load_data_again_in_the_place_of_the_changed_ones(
    workload: Workload, database: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They make their connections, the collection is replaced, and then they begin."""
    plan = workload.plan(UPDATE)
    workload.load()
    before = _content(database)
    monkeypatch.setattr("brimline.dataset.reason_against_copy", _no_copy)
    link = HereLink()
    shared = replace(workload.context, executor=Cluster([link]))
    with putting_back(plan, shared):
        database["a"].update_many({}, {"$set": {"changed": 1}})
    asked = link.calls
    with putting_back(plan, shared):
        assert _content(database) == before
    assert link.calls > asked, "nothing was loaded by this process alone"
    link.close()


@pytest.mark.parametrize("options", [{"capped": True, "size": 1 << 20}, {"timeseries": {"timeField": "at"}}])
def test_what_can_t_be_put_back_is_loaded_again(options: dict[str, Any], workload: Workload, database: Data) -> None:
    fields = {"at": {"kind": "clock", "start": "2024-01-01", "every": "1s"}}
    plan = workload.plan(INSERT_IDS, INSERT_KEYS, options=options, fields=fields, indexes=[])
    workload.load()
    before = _content(database)
    for _ in range(2):
        with putting_back(plan, workload.context):
            assert _content(database) == before
            database["a"].insert_one({**before[0], **workload.own(1)[0]})
    (said,) = [text for text in workload.told.texts if "has no copy" in text]
    assert "it is capped" in said or "it is a time series" in said
    with workload.killed(plan):
        database["a"].insert_one({**before[0], **workload.own(1)[0]})
    workload.ensure()
    assert _content(database) == before
    database["a"].insert_one({**before[0], "_id": "theirs"})
    with pytest.raises(UsageError, match="may hold documents that brimline did not load"):
        workload.load()


def test_documents_that_the_server_takes_away_by_itself_are_there_again(workload: Workload, database: Data) -> None:
    """An index that lets them expire: what is gone is nobody else's doing."""
    plan = workload.plan(READ, indexes=[{"keys": {"at": 1}, "expireAfterSeconds": 3600}])
    workload.load()
    before = _content(database)
    database["a"].delete_many({"_id": {"$in": [each["_id"] for each in before[:5]]}})
    workload.ensure()
    assert _content(database) == before
    for _ in range(2):
        with putting_back(plan, workload.context):
            assert _content(database) == before
            database["a"].delete_one({})
    assert any("put back from its copy" in text for text in workload.told.texts)


def test_a_load_takes_the_copy_away(workload: Workload, database: Data) -> None:
    with putting_back(_loaded(workload), workload.context):
        pass
    assert COPY in database.list_collection_names()
    workload.load()
    assert sorted(database.list_collection_names()) == ["a", "brimline_manifest"]
    assert _manifest(database).state == "complete"


def test_a_collection_with_the_name_of_a_copy_is_left_alone(workload: Workload, database: Data) -> None:
    theirs = [{"_id": "theirs"}]
    database[COPY].insert_many(theirs)
    plan = _loaded(workload)
    before = _content(database)
    for _ in range(2):
        with putting_back(plan, workload.context):
            assert _content(database) == before
            database["a"].update_many({}, {"$set": {"changed": 1}})
    assert any("put back from its copy" in text for text in workload.told.texts)
    assert database[f"{COPY}_2"].count_documents({}) == 20
    assert list(database[COPY].find()) == theirs
    workload.load()
    assert sorted(database.list_collection_names()) == ["a", "brimline_manifest", COPY]
    assert list(database[COPY].find()) == theirs


def test_a_collection_in_the_place_of_a_copy_is_neither_replaced_nor_dropped(
    workload: Workload, database: Data
) -> None:
    with putting_back(_loaded(workload), workload.context):
        database["a"].update_many({}, {"$set": {"changed": 1}})
    _replace(database)
    for again in (workload.ensure, workload.load):
        again()
        assert list(database[COPY].find()) == [{"_id": "theirs"}]


def test_where_every_name_of_a_copy_is_taken_there_is_none(workload: Workload, database: Data) -> None:
    for name in pristine.copy_names("a"):
        database.create_collection(name)
    plan = _loaded(workload)
    before = _content(database)
    for _ in range(2):
        with putting_back(plan, workload.context):
            assert _content(database) == before
            database["a"].update_many({}, {"$set": {"changed": 1}})
    (said,) = [text for text in workload.told.texts if "has no copy" in text]
    assert "did not make" in said
    assert all(database[name].count_documents({}) == 0 for name in pristine.copy_names("a"))


def _loaded(workload: Workload) -> Plan:
    plan = workload.plan(UPDATE)
    workload.load()
    return plan


def test_an_older_brimline_takes_changed_data_for_somebody_else_s(workload: Workload, database: Data) -> None:
    with putting_back(_loaded(workload), workload.context):
        pass
    stored = database["brimline_manifest"].find_one({"_id": "a"})
    assert stored is not None
    assert stored["format_version"] == 2, "which it doesn't read"
    workload.ensure(DataPolicy.AS_IS)
    assert _manifest(database).state == "changed"


@pytest.mark.parametrize("step", [UPDATE, INSERT_IDS])
def test_a_collection_of_another_client_in_its_place_is_left_alone(
    step: dict[str, Any], workload: Workload, database: Data
) -> None:
    plan = workload.plan(step)
    workload.load()
    with workload.killed(plan):
        database["a"].insert_many(workload.own(1))
    assert _manifest(database).state == "changed"
    database.drop_collection("a")
    theirs = [{"_id": ObjectId(), "of": "theirs"}]
    database["a"].insert_many(theirs)
    with pytest.raises(UsageError, match="is another collection than the one that brimline loaded"):
        workload.ensure()
    assert _content(database) == theirs


GONE = "kept.a is no longer there: it was dropped, and --data load has it loaded again"


@pytest.mark.parametrize("step", [UPDATE, INSERT_IDS, INSERT_KEYS, READ])
def test_a_loaded_collection_that_disappears_is_told_and_loaded_again(
    step: dict[str, Any], workload: Workload, database: Data
) -> None:
    plan = workload.plan(step)
    workload.load()
    before, indexes = _content(database), database["a"].index_information()
    with putting_back(plan, workload.context):
        database.drop_collection("a")
    assert GONE in workload.told.texts
    with pytest.raises(UsageError, match=r"^kept\.a, which brimline loaded, is no longer there$") as refused:
        workload.ensure()
    assert "--data load" in str(refused.value.hint)
    workload.ensure(DataPolicy.LOAD)
    assert (_content(database), database["a"].index_information()) == (before, indexes)
    assert _manifest(database).state == "complete"
    assert [name for name in database.list_collection_names() if name.startswith(pristine.PREFIX)] == []


@pytest.mark.parametrize("step", [UPDATE, INSERT_IDS])
def test_an_experiment_loads_again_what_disappeared_in_an_earlier_run(
    step: dict[str, Any], workload: Workload, database: Data
) -> None:
    plan = workload.plan(step)
    workload.load()
    before, indexes = _content(database), database["a"].index_information()
    with putting_back(plan, workload.context):
        database.drop_collection("a")
    with putting_back(plan, workload.context):
        assert (_content(database), database["a"].index_information()) == (before, indexes)
    assert "loading kept.a again, which is no longer there" in workload.told.texts


def test_documents_that_another_client_put_to_changed_data_are_not_deleted(workload: Workload, database: Data) -> None:
    plan = _loaded(workload)
    before = _content(database)
    with putting_back(plan, workload.context):
        database["a"].update_many({}, {"$set": {"changed": 1}})
    database["a"].insert_one({"_id": "theirs"})
    with pytest.raises(UsageError, match="may hold documents that brimline did not load"):
        workload.load()
    for policy in (DataPolicy.CHECK, DataPolicy.LOAD):
        with pytest.raises(UsageError, match="holds 1 document that may be somebody else's") as refused:
            workload.ensure(policy)
        assert "--drop" in str(refused.value.hint)
    with pytest.raises(UsageError, match="holds 1 document"), putting_back(plan, workload.context):
        raise AssertionError("no run begins")
    assert _manifest(database).left_ids is not None, "they are still known to be another's"
    assert database["a"].count_documents({"_id": "theirs"}) == 1
    workload.ensure(DataPolicy.LOAD, drop=True)
    assert _content(database) == before


def test_documents_that_another_client_put_beside_those_of_a_run_stay(workload: Workload, database: Data) -> None:
    plan = workload.plan(INSERT_IDS)
    workload.load()
    theirs = {"_id": ObjectId()}
    with putting_back(plan, workload.context):
        database["a"].insert_one(theirs)
    assert any("holds 1 document more than were loaded" in text for text in workload.told.texts)
    with pytest.raises(UsageError, match="held 20 documents after loading and holds 21 now"):
        workload.ensure()
    assert database["a"].count_documents(theirs) == 1


def test_a_run_without_a_server_beside_one_touches_nothing(workload: Workload, database: Data) -> None:
    plan = _loaded(workload)
    with putting_back(plan.model_copy(update={"target": NullTarget()}), workload.context):
        assert _manifest(database).state == "complete"


def test_a_live_collection_that_disappears_is_told(workload: Workload, database: Data) -> None:
    plan = workload.plan({"find": {"collection": "live"}})
    workload.load()
    database["live"].insert_one({})
    with putting_back(plan, workload.context):
        database.drop_collection("live")
    assert "kept.live is no longer there: it was dropped while the run went on" in workload.told.texts


def test_where_whatever_is_there_is_taken_it_stays_as_the_run_left_it(workload: Workload, database: Data) -> None:
    plan = _loaded(workload)
    context = replace(workload.context, wanted=())
    for _ in range(2):
        with putting_back(plan, context):
            assert _manifest(database).left_ids is None, "it may leave more"
            database["a"].update_many({}, {"$inc": {"changed": 1}})
    assert {document["changed"] for document in _content(database)} == {2}
    assert _manifest(database).state == "changed"


def test_killed_while_it_was_put_back(workload: Workload, database: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _loaded(workload)
    before = _content(database)
    with putting_back(plan, workload.context):
        database["a"].update_many({}, {"$set": {"changed": 1}})

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(pristine, "collection_uuid", killed)
        with pytest.raises(KeyboardInterrupt):
            workload.ensure()
    workload.ensure()
    assert _content(database) == before
    assert _manifest(database).state == "complete"
