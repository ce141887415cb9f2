"""Sizes of a collection and its database, and what is said when they are refused."""

from collections.abc import Mapping
from typing import Any, cast

from bson.int64 import Int64
from pymongo.errors import AutoReconnect, OperationFailure

from brimline.monitor import namespace_document
from brimline.servers.deployment import Client


class _Database:
    def __init__(self, script: Mapping[str, Any]) -> None:
        self._script = script

    def command(self, command: Mapping[str, Any]) -> Any:
        answer = self._script[next(iter(command))]
        if isinstance(answer, Exception):
            raise answer
        return answer


def _document(script: Mapping[str, Any]) -> dict[str, Any]:
    client = cast(Client, {"shop": _Database(script)})
    return namespace_document(client, database="shop", collection="orders")


def test_sizes_are_the_servers_own_without_what_is_long() -> None:
    document = _document(
        {
            "dbStats": {"db": "shop", "dataSize": 5.0, "objects": Int64(3), "ok": 1.0},
            "collStats": {"count": 3, "indexSizes": {"_id_": 4096}, "wiredTiger": {"uri": "x"}, "indexDetails": {}},
        }
    )
    assert document == {
        "dbStats": {"dataSize": 5.0, "objects": 3},
        "collStats": {"count": 3, "indexSizes": {"_id_": 4096}},
    }


def test_what_is_refused_or_not_answered_is_named() -> None:
    refused = OperationFailure("no", code=13, details={"codeName": "Unauthorized"})
    document = _document({"dbStats": refused, "collStats": AutoReconnect("gone")})
    assert document == {"absent": {"dbStats": "refused: Unauthorized", "collStats": "not answered: AutoReconnect"}}


def test_a_silent_server_is_waited_for_once() -> None:
    document = _document({"dbStats": AutoReconnect("gone"), "collStats": {"count": 1}})
    assert document == {"absent": {"dbStats": "not answered: AutoReconnect"}}
