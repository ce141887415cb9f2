"""Owns orders in MariaDB or MySQL: one row each, items as JSON. A write is acknowledged when it is committed."""

import json
import ssl
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import asyncmy

_TABLE = """
CREATE TABLE IF NOT EXISTS orders (
  id BIGINT NOT NULL PRIMARY KEY,
  customer VARCHAR(64) NOT NULL,
  created_ms BIGINT NOT NULL,
  items JSON NOT NULL,
  note VARCHAR(1000) NOT NULL
) ENGINE=InnoDB
"""
_COLUMNS = ("id", "customer", "created_ms", "items", "note")
_INSERT = f"INSERT INTO orders ({', '.join(_COLUMNS)}) VALUES (%s, %s, %s, %s, %s)"  # noqa: S608 (names of ours)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM orders WHERE id = %s"  # noqa: S608
_EXISTS = "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'orders'"


class MariaDbStore:
    """By asyncmy."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    async def put(self, order: dict[str, Any]) -> None:
        """See `Store`."""
        values = (order["id"], order["customer"], order["created_ms"], json.dumps(order["items"]), order["note"])
        await self._rows(_INSERT, values)

    async def get(self, order_id: int) -> dict[str, Any] | None:
        """See `Store`."""
        rows = await self._rows(_SELECT, (order_id,))
        if not rows:
            return None
        found = dict(zip(_COLUMNS, rows[0], strict=True))
        return {**found, "items": json.loads(found["items"])}

    async def ping(self) -> None:
        """See `Store`."""
        await self._rows("SELECT 1", ())

    async def close(self) -> None:
        """See `Store`."""
        self._pool.close()
        await self._pool.wait_closed()

    async def _rows(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        async with self._pool.acquire() as connection, connection.cursor() as cursor:
            await cursor.execute(statement, values)
            return list(await cursor.fetchall())


async def opened(uri: str, *, pool: int) -> MariaDbStore:
    """See `stores.opened`."""
    parts = urlsplit(uri)
    ca = parse_qs(parts.query).get("tlsCAFile", [None])[0]
    where: dict[str, Any] = {} if ca is None else {"ssl": ssl.create_default_context(cafile=ca)}
    made = await asyncmy.create_pool(
        host=parts.hostname,
        port=parts.port or 3306,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=parts.path.strip("/") or "shop",
        autocommit=True,
        minsize=pool,
        maxsize=pool,
        **where,
    )
    store = MariaDbStore(made)
    if not await store._rows(_EXISTS, ()):
        await store._rows(_TABLE, ())
    return store
