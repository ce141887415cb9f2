"""Owns orders in PostgreSQL: one row each, items as JSONB. A write is acknowledged when it is committed."""

import json
from typing import Any

import asyncpg

_TABLE = """
CREATE TABLE IF NOT EXISTS orders (
  id BIGINT NOT NULL PRIMARY KEY,
  customer VARCHAR(64) NOT NULL,
  created_ms BIGINT NOT NULL,
  items JSONB NOT NULL,
  note VARCHAR(1000) NOT NULL
)
"""
_INSERT = "INSERT INTO orders (id, customer, created_ms, items, note) VALUES ($1, $2, $3, $4, $5)"
_SELECT = "SELECT id, customer, created_ms, items, note FROM orders WHERE id = $1"
_EXISTS = "SELECT to_regclass('orders') IS NOT NULL"


class PostgresStore:
    """By asyncpg, which prepares every statement once for each connection."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def put(self, order: dict[str, Any]) -> None:
        """See `Store`."""
        items = json.dumps(order["items"])
        await self._pool.execute(_INSERT, order["id"], order["customer"], order["created_ms"], items, order["note"])

    async def get(self, order_id: int) -> dict[str, Any] | None:
        """See `Store`."""
        row = await self._pool.fetchrow(_SELECT, order_id)
        return None if row is None else {**dict(row), "items": json.loads(row["items"])}

    async def ping(self) -> None:
        """See `Store`."""
        await self._pool.fetchval("SELECT 1")

    async def close(self) -> None:
        """See `Store`."""
        await self._pool.close()


async def opened(uri: str, *, pool: int) -> PostgresStore:
    """See `stores.opened`."""
    address, _, options = uri.partition("?")
    ca = dict(part.partition("=")[::2] for part in options.split("&")).get("tlsCAFile")
    tls = f"?sslmode=verify-full&sslrootcert={ca}" if ca else ""
    made = await asyncpg.create_pool(f"{address}{tls}", min_size=pool, max_size=pool)
    async with made.acquire() as connection, connection.transaction():
        # Of two workers that make the table at once, one would be told that a type exists.
        await connection.execute("SELECT pg_advisory_xact_lock(726269)")
        if not await connection.fetchval(_EXISTS):
            await connection.execute(_TABLE)
    return PostgresStore(made)
