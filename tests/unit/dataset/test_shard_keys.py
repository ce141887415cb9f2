"""By what a collection is sharded that is made anew behind a mongos, as the commands to the router show."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.dataset import Definition, Manifest, replacement

WANTED = Definition.of(shard_key={"customer": "hashed"})
MANIFEST = Manifest(
    collection="orders",
    data={"insert_start": 0, "record_count": 1},
    state="loading",
    count=None,
    loaded_at=None,
    brimline_version="0",
)


class Collection:
    def __init__(self, documents: list[dict[str, Any]]) -> None:
        self._documents = documents

    def find_one(self, *_: object) -> dict[str, Any] | None:
        return next(iter(self._documents), None)

    def estimated_document_count(self) -> int:
        return len(self._documents)

    def list_indexes(self) -> list[dict[str, Any]]:
        return []

    def replace_one(self, *_: object, **__: object) -> None:
        pass


class Client:
    """With the databases `admin` and `config`."""

    def __init__(self, admin: Callable[..., None], sharded: list[dict[str, Any]]) -> None:
        self.admin = SimpleNamespace(command=admin)
        self._sharded = sharded

    def __getitem__(self, name: str) -> dict[str, Collection]:
        return {"collections": Collection(self._sharded)}


class Router:
    """A database behind a mongos, where `orders` is there or not, empty, and sharded by `key`."""

    name = "shop"

    def __init__(self, *, is_there: bool, key: dict[str, Any] | None = None, is_router: bool = True) -> None:
        self._is_there = is_there
        self._hello = {"msg": "isdbgrid"} if is_router else {}
        sharded = [] if key is None else [{"_id": "shop.orders", "key": key}]
        self.told: list[str] = []
        self.client = Client(self._admin, sharded)

    def _admin(self, command: Any, *_: object) -> None:
        if "shardCollection" in command:
            self.told.append(f"shard {command['key']}")

    def __getitem__(self, name: str) -> Collection:
        return Collection([])

    def list_collections(self, filter: dict[str, str]) -> Any:  # noqa: A002 (PyMongo's word)
        return iter([{"name": "orders", "options": {}}] if self._is_there and filter["name"] == "orders" else [])

    def command(self, command: Any) -> dict[str, Any]:
        if command == "hello":
            return self._hello
        if "create" in command:
            self.told.append("create")
        return {}

    def drop_collection(self, _: str) -> None:
        self.told.append("drop")


BESIDE = ["create", "shard {'customer': 'hashed'}"]
"""One beside is made first, and dropped in the end: nobody renames a sharded collection."""


@pytest.mark.parametrize(
    ("router", "wanted", "told"),
    [
        (Router(is_there=False), None, ["drop", "create", "shard {'_id': 'hashed'}"]),
        (Router(is_there=False), WANTED, ["drop", "create", "shard {'customer': 'hashed'}"]),
        (Router(is_there=True, key={"a": 1}), None, []),
        (Router(is_there=True, key={"a": 1}), WANTED, [*BESIDE, "drop", "create", BESIDE[-1], "drop"]),
        (Router(is_there=True, key={"customer": "hashed"}), WANTED, []),
        (Router(is_there=False, is_router=False), WANTED, ["drop", "create"]),
    ],
)
def test_what_a_router_is_told(router: Any, wanted: Definition | None, told: list[str]) -> None:
    found = replacement(router, MANIFEST, wanted=wanted)
    found.carry_out()
    assert router.told == told
    assert found.manifest.own_indexes == ([] if wanted is None else [{"customer": "hashed"}])
