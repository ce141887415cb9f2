"""One statement again and again by a driver for asyncio: DRIVER HOST PORT USER DATABASE STATEMENT TIMES.

Its own standard library and the driver are all it imports, so that it runs in an environment of its own.
"""

import asyncio
import importlib
import sys
from typing import Any


async def asyncpg(host: str, port: int, user: str, database: str, statement: str, times: int) -> None:
    """By asyncpg, which prepares statements."""
    driver: Any = importlib.import_module("asyncpg")
    connection = await driver.connect(host=host, port=port, user=user, database=database, ssl=False)
    prepared = await connection.prepare(statement)
    for _ in range(times):
        await prepared.fetch()
    await connection.close()


async def aiomysql(host: str, port: int, user: str, database: str, statement: str, times: int) -> None:
    """By aiomysql, which sends statements as text."""
    driver: Any = importlib.import_module("aiomysql")
    connection = await driver.connect(host=host, port=port, user=user, db=database, autocommit=True)
    async with connection.cursor() as cursor:
        for _ in range(times):
            await cursor.execute(statement)
            await cursor.fetchall()
    connection.close()


if __name__ == "__main__":
    name, host, port, user, database, statement, times = sys.argv[1:]
    run = {"asyncpg": asyncpg, "aiomysql": aiomysql}[name]
    asyncio.run(run(host, int(port), user, database, statement, int(times)))
