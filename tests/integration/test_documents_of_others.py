"""What a load without --drop may delete: brimline's own documents, and nothing of anybody else."""

from collections.abc import Callable, Iterator

import pymongo
import pytest

from brimline import _native
from brimline.dataset import MANIFEST_COLLECTION, Manifest, complete, prepare
from brimline.dataset.ownership import keys_plan
from brimline.errors import UsageError
from brimline.servers import Deployment, control_client

pytestmark = pytest.mark.mongod

Data = pymongo.database.Database[dict[str, object]]


def _manifest(*, seed: int = 1) -> Manifest:
    data = {
        "seed": seed,
        "record_count": 100,
        "insert_start": 0,
        "field_count": 10,
        "field_length": {"kind": "constant", "length": 100},
        "field_name_prefix": "field",
        "key_prefix": "user",
        "insert_order": "hashed",
        "zero_padding": 1,
    }
    return Manifest(
        collection="usertable", data=data, state="loading", count=None, loaded_at=None, brimline_version="0"
    )


@pytest.fixture
def database(mongod: Deployment) -> Iterator[Data]:
    with control_client(mongod.address) as client:
        client.drop_database("data")
        yield client["data"]


def _keys(manifest: Manifest, first: int, number: int) -> list[dict[str, object]]:
    return [{"_id": key} for key in _native.generate_keys(keys_plan(manifest), first, number)]


def _load(database: Data) -> Manifest:
    """A load of 100 records that ended."""
    manifest = _manifest()
    prepare(database, manifest)
    database["usertable"].insert_many(_keys(manifest, 0, 100))
    return complete(database, manifest)


def _unfinished(database: Data) -> None:
    prepare(database, _manifest())
    database["usertable"].insert_many(_keys(_manifest(), 30, 40))


def _run_that_was_killed(database: Data) -> None:
    database["usertable"].insert_many(_keys(_load(database), 100, 7))


def _whole(database: Data) -> None:
    assert _load(database).collection_uuid


def _emptied(database: Data) -> None:
    _load(database)
    database["usertable"].delete_many({})


@pytest.mark.parametrize("leave", [_unfinished, _run_that_was_killed, _whole, _emptied])
def test_brimline_s_own_data_is_replaced_without_asking(database: Data, leave: Callable[[Data], None]) -> None:
    leave(database)
    prepare(database, _manifest(seed=7))
    assert database["usertable"].count_documents({}) == 0


def _dropped_and_filled(database: Data) -> None:
    _load(database)
    database.drop_collection("usertable")
    database["usertable"].insert_many([{"precious": n} for n in range(3)])


def _dropped_and_filled_to_the_same_number(database: Data) -> None:
    _load(database)
    database.drop_collection("usertable")
    database["usertable"].insert_many([{"precious": n} for n in range(100)])


def _added_to(database: Data) -> None:
    _load(database)
    database["usertable"].insert_many([{"precious": n} for n in range(3)])


def _added_to_an_unfinished_load(database: Data) -> None:
    _unfinished(database)
    database["usertable"].insert_one({"precious": 1})


def _added_to_after_a_run(database: Data) -> None:
    _run_that_was_killed(database)
    database["usertable"].insert_one({"precious": 1})


def _some_deleted_and_some_added(database: Data) -> None:
    _load(database)
    database["usertable"].delete_many({"_id": {"$in": [each["_id"] for each in _keys(_manifest(), 0, 9)]}})
    database["usertable"].insert_one({"precious": 1})


@pytest.mark.parametrize(
    "change",
    [
        _dropped_and_filled,
        _dropped_and_filled_to_the_same_number,
        _added_to,
        _added_to_an_unfinished_load,
        _added_to_after_a_run,
        _some_deleted_and_some_added,
    ],
)
def test_a_manifest_doesn_t_make_documents_of_somebody_else_ours(
    database: Data, change: Callable[[Data], None]
) -> None:
    change(database)
    before = list(database["usertable"].find())
    manifest = database[MANIFEST_COLLECTION].find_one()
    with pytest.raises(UsageError, match="may hold documents that brimline did not load") as refusal:
        prepare(database, _manifest())
    assert "--drop" in (refusal.value.hint or "")
    assert list(database["usertable"].find()) == before
    assert database[MANIFEST_COLLECTION].find_one() == manifest
    prepare(database, _manifest(), drop=True)
    assert database["usertable"].count_documents({}) == 0
