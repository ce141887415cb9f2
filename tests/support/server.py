"""Owns the question whether there is a mongod to test with, and what tests do to one that they share."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pymongo
import pytest
from pymongo.errors import PyMongoError

from brimline.errors import UsageError
from brimline.servers import ServerBinary, find_mongod
from brimline.servers.bundled import server_command

OPT_OUT = "WITHOUT_MONGOD"
GONE_AFTER_MS = 2000
"""How long a client looks for a server that was killed, also to say good-bye; pymongo's own 30 s are waited in full."""


def required_mongod() -> ServerBinary:
    """The mongod that tests use. Without one they fail, so that nobody takes their absence for success."""
    try:
        return find_mongod()
    except UsageError as error:
        if os.environ.get(OPT_OUT):
            pytest.skip(f"{error.message} ({OPT_OUT} is set)")
        pytest.fail(f"{error.message}; set {OPT_OUT}=1 to do without these tests")


def with_test_commands(*of: Any, **settings: Any) -> list[str]:
    """As `server_command`, for a server that can be told to take its time."""
    return [*server_command(*of, **settings), "--setParameter", "enableTestCommands=1"]


@contextmanager
def slow(uri: str, command: str, *, each_ms: int = 20) -> Iterator[None]:
    """Each such command to a server with test commands takes so much longer."""
    longer = {"failCommands": [command], "blockConnection": True, "blockTimeMS": each_ms}
    with pymongo.MongoClient[dict[str, Any]](uri, serverSelectionTimeoutMS=GONE_AFTER_MS) as client:
        client.admin.command("configureFailPoint", "failCommand", mode="alwaysOn", data=longer)
        try:
            yield
        finally:
            with suppress(PyMongoError):  # it may have been killed, and forgotten it with that
                client.admin.command("configureFailPoint", "failCommand", mode="off")


def emptied(client: pymongo.MongoClient[dict[str, Any]]) -> None:
    """Takes away all that isn't the server's own."""
    for name in set(client.list_database_names()) - {"admin", "config", "local"}:
        client.drop_database(name)
