"""What `brimline restore` tries before it drops anything is done the same way afterwards, with the same rights."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pymongo
import pytest
from bson import Binary, encode, json_util

from brimline.api.backup import backup, restore
from brimline.dataset.backup.summary import SUMMARY_FILE
from brimline.errors import TargetError, UsageError
from tests.support.replica_set import Member
from tests.support.secured_mongod import SecuredServer

pytestmark = pytest.mark.mongod

SHOP = "backup_tried"


@pytest.fixture
def whole_set(member: Member) -> str:
    return f"mongodb://{member.address}"


def test_a_user_who_may_not_bypass_validation_loses_nothing_to_documents_that_are_refused(
    secured: SecuredServer, tmp_path: Path
) -> None:
    with secured.client() as client:
        client[SHOP].command("createUser", "ann", pwd="a", roles=[{"role": "readWrite", "db": SHOP}])
        uri = f"mongodb://ann:a@{secured.address}/{SHOP}"
        client[SHOP]["orders"].insert_many([{"_id": each, "of": 1} for each in range(3)])
        backup(tmp_path / "dump", uri=uri, databases=[SHOP])
        assert restore(tmp_path / "dump", uri=uri, drop=True).documents == 3
        kept = tmp_path / "dump" / SHOP / "orders.metadata.json"
        metadata = json_util.loads(kept.read_text())
        metadata["indexes"].append({"v": 2, "key": {"of": 1}, "name": "of_1", "unique": True})
        kept.write_text(json_util.dumps(metadata))
        client[SHOP]["orders"].insert_one({"_id": "newer"})
        with pytest.raises(UsageError, match=r"orders as it was: .*duplicate key"):
            restore(tmp_path / "dump", uri=uri, drop=True)
        assert client[SHOP]["orders"].count_documents({}) == 4


@pytest.mark.parametrize("validator", [{}, {"validator": {"total": {"$gte": 0}}}])
def test_documents_with_encrypted_fields_come_back(whole_set: str, tmp_path: Path, validator: dict[str, Any]) -> None:
    field = {"keyId": Binary(uuid4().bytes, 4), "path": "name", "bsonType": "string",
             "queries": [{"queryType": "equality"}]}  # fmt: skip
    document = {"_id": 1, "name": Binary(b"\x07" + bytes(40), 6), "__safeContent__": [bytes(32)]}
    with pymongo.MongoClient[dict[str, Any]](whole_set, directConnection=True) as client:
        client.drop_database(SHOP)
        client[SHOP].command({"create": "people", "encryptedFields": {"fields": [field]}, **validator})
        client[SHOP]["people"].insert_many([document], bypass_document_validation=True)
        backup(tmp_path / "dump", uri=whole_set, databases=[SHOP])
        restore(tmp_path / "dump", uri=whole_set, drop=True)
        assert list(client[SHOP]["people"].find()) == [document]


@pytest.mark.parametrize("kept", ["_id", "of"])
def test_a_dump_with_a_key_twice_leaves_all_that_is_there(whole_set: str, tmp_path: Path, kept: str) -> None:
    """Not among the first documents, and in the last of two collections: neither is replaced."""
    documents = [{"_id": each, "of": each} for each in range(20)]
    with pymongo.MongoClient[dict[str, Any]](whole_set, directConnection=True) as client:
        client.drop_database(SHOP)
        for name in ("bills", "orders"):
            client[SHOP][name].insert_many(documents)
            client[SHOP][name].create_index("of", unique=True)
        backup(tmp_path / "dump", uri=whole_set, databases=[SHOP])
        (tmp_path / "dump" / SUMMARY_FILE).unlink()
        with (tmp_path / "dump" / SHOP / "orders.bson").open("ab") as file:
            file.write(encode({"_id": 20, "of": 20} | {kept: 7}))
        for name in ("bills", "orders"):
            client[SHOP][name].insert_one({"_id": "newer", "of": "newer"})
        with pytest.raises(TargetError, match=r"backup_tried.orders.* duplicate key .*backup_tried.orders") as refused:
            restore(tmp_path / "dump", uri=whole_set, drop=True)
        assert "nothing was changed" in str(refused.value.hint)
        assert sorted(client[SHOP].list_collection_names()) == ["bills", "orders"]
        assert [client[SHOP][name].count_documents({}) for name in ("bills", "orders")] == [21, 21]


def test_what_is_there_is_replaced_whatever_it_is(whole_set: str, tmp_path: Path) -> None:
    """A collection takes the place of a view, and a view that of a collection; nothing else stays."""
    with pymongo.MongoClient[dict[str, Any]](whole_set, directConnection=True) as client:
        client.drop_database(SHOP)
        client[SHOP]["orders"].insert_many([{"_id": each} for each in range(3)])
        client[SHOP].create_collection("seen", viewOn="orders", pipeline=[])
        backup(tmp_path / "dump", uri=whole_set, databases=[SHOP])
        client.drop_database(SHOP)
        client[SHOP]["seen"].insert_one({"_id": 1})
        client[SHOP].create_collection("orders", viewOn="seen", pipeline=[])
        restore(tmp_path / "dump", uri=whole_set, drop=True)
        assert client[SHOP]["seen"].count_documents({}) == 3
        listed = {each["name"]: each["type"] for each in client[SHOP].list_collections()}
    assert listed == {"orders": "collection", "seen": "view", "system.views": "collection"}
