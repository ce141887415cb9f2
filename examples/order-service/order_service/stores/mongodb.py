"""Owns orders in MongoDB: one document each. A write is acknowledged when it is in the journal."""

from typing import Any

from pymongo import AsyncMongoClient, WriteConcern
from pymongo.asynchronous.collection import AsyncCollection

_DATABASE = "shop"


class MongoDbStore:
    """By PyMongo's asynchronous client."""

    def __init__(self, client: AsyncMongoClient[dict[str, Any]], orders: AsyncCollection[dict[str, Any]]) -> None:
        self._client, self._orders = client, orders

    async def put(self, order: dict[str, Any]) -> None:
        """See `Store`."""
        await self._orders.insert_one({"_id": order["id"], **{key: order[key] for key in order if key != "id"}})

    async def get(self, order_id: int) -> dict[str, Any] | None:
        """See `Store`."""
        found = await self._orders.find_one({"_id": order_id})
        return None if found is None else {"id": found.pop("_id"), **found}

    async def ping(self) -> None:
        """See `Store`."""
        await self._client.admin.command("ping")

    async def close(self) -> None:
        """See `Store`."""
        await self._client.close()


async def opened(uri: str, *, pool: int) -> MongoDbStore:
    """See `stores.opened`."""
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
        uri, minPoolSize=pool, maxPoolSize=pool, serverSelectionTimeoutMS=10_000
    )
    database = client.get_default_database(_DATABASE)
    orders = database.get_collection("orders", write_concern=WriteConcern(w=1, j=True))
    store = MongoDbStore(client, orders)
    await store.ping()  # so that a wrong address is told at the start
    return store
