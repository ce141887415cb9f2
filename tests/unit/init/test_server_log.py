import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from brimline.errors import UsageError
from brimline.init.observed import Observations, Observed
from brimline.init.server_log import log_observations, read_log

STARTED = {
    "t": {"$date": "2024-05-01T10:00:00.000+00:00"},
    "s": "I",
    "c": "CONTROL",
    "id": 23285,
    "ctx": "main",
    "msg": "Automatically disabling TLS 1.0",
}


def _line(attributes: dict[str, Any], *, at: str = "2024-05-01T10:00:05.000+00:00", **more: Any) -> str:
    entry = {"t": {"$date": at}, "s": "I", "c": "COMMAND", "id": 51803, "ctx": "conn7", "msg": "Slow query"}
    return json.dumps({**entry, "attr": attributes, **more}, separators=(",", ":"))


def _command(command: dict[str, Any], *, kind: str = "command", ns: str = "shop.orders", **more: Any) -> dict[str, Any]:
    return {"type": kind, "ns": ns, "appName": "web", "command": command, "durationMillis": 120, **more}


FIND = {"find": "orders", "filter": {"customer": {"$oid": "65a1b2c3d4e5f6a7b8c9d0e1"}}, "limit": 20, "$db": "shop"}
# What differs between versions: 4.4 and 5.0 have locks and queryHash, 7.0 adds queryFramework and cpuNanos, 8.0 renames
# queryHash and adds workingMillis, queryShapeHash and queues.
VERSIONS = {
    "4.4": {"queryHash": "566E7D8B", "planCacheKey": "00C15E72", "locks": {}, "protocol": "op_msg"},
    "5.0": {"queryHash": "566E7D8B", "planCacheKey": "0A55D20A", "remote": "10.0.0.1:5000", "protocol": "op_msg"},
    "6.0": {
        "queryHash": "566E7D8B",
        "queryFramework": "classic",
        "readConcern": {"level": "local"},
        "protocol": "op_msg",
    },
    "7.0": {"queryFramework": "sbe", "cpuNanos": 12345, "planningTimeMicros": 99, "isFromUserConnection": True},
    "8.0": {
        "planCacheShapeHash": "A1",
        "queryShapeHash": "F00D",
        "workingMillis": 119,
        "queues": {"execution": {"admissions": 1}},
    },
}


def _read(*lines: str) -> tuple[Observations, list[Observed]]:
    found: list[Observed] = []
    return log_observations(
        [json.dumps(STARTED, separators=(",", ":")), *lines], found.append, source="mongod.log"
    ), found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_find_of_each_version(version: str) -> None:
    attributes = _command(FIND, nreturned=7, planSummary="IXSCAN { customer: 1 }", **VERSIONS[version])
    told, [found] = _read(_line(attributes))
    assert (found.kind, found.database, found.collection, found.documents) == ("find", "shop", "orders", 7)
    assert (found.duration_ms, found.summary) == (120, "IXSCAN { customer: 1 }")
    assert told.only_slow
    assert not told.left_out


def test_writes_are_their_statements_and_not_the_command_around_them() -> None:
    told, found = _read(
        _line(_command({"q": {"a": 1}, "u": {"$set": {"b": 2}}, "multi": False, "upsert": False}, kind="update")),
        _line(_command({"update": "orders", "ordered": True, "$db": "shop"}, ns="shop.$cmd")),
        _line(_command({"q": {"a": 1}, "limit": 1}, kind="remove")),
        _line(_command({"delete": "orders", "ordered": True, "$db": "shop"}, ns="shop.$cmd")),
        _line(_command({"insert": "orders", "ordered": True, "$db": "shop"}, ninserted=50)),
    )
    assert [(each.kind, each.collection, each.documents) for each in found] == [
        ("update", "orders", None),
        ("delete", "orders", None),
        ("insert", "orders", 50),
    ]
    assert not told.left_out


def test_a_mongos_tells_of_all_statements_at_once() -> None:
    command = {"update": "orders", "updates": [{"q": {"a": 1}, "u": {"$inc": {"b": 1}}}] * 2, "$db": "shop"}
    _, found = _read(_line(_command(command)))
    assert [each.kind for each in found] == ["update", "update"]


def test_what_is_no_operation_is_counted_by_its_reason() -> None:
    told, found = _read(
        _line(_command({"getMore": 5, "collection": "orders", "$db": "shop"})),
        _line(_command({"hello": 1, "$db": "admin"}, ns="admin.$cmd")),
        _line(_command({"serverStatus": 1, "$db": "shop"}, ns="shop.$cmd")),
        _line({**_command(FIND), "appName": "brimline-init"}),
        _line({"type": "none", "ns": "shop.orders"}),
        _line(_command({"find": "orders"}), truncated={"command": {"filter": {"type": "object", "size": 99}}}),
        '{"t":{"$date":"2024-05-01T10:00:05.000+00:00"},"msg":"Slow query","attr":{"ns":',
    )
    assert found == []
    assert told.left_out == {
        "getMore, which belongs to a cursor": 1,
        "commands on the database admin": 1,
        "serverStatus": 1,
        "brimline's own": 1,
        "entries without a command": 1,
        "commands that the server cut for their length": 1,
        "lines that are damaged": 1,
    }


def test_the_time_that_is_covered() -> None:
    told, _ = _read(_line(_command(FIND)), _line(_command(FIND), at="2024-05-01T10:01:05.000+00:00"))
    assert told.covered_s == 60.0


def test_a_file_may_be_packed(tmp_path: Path) -> None:
    path = tmp_path / "mongod.log.gz"
    path.write_bytes(gzip.compress(f"{json.dumps(STARTED, separators=(',', ':'))}\n{_line(_command(FIND))}\n".encode()))
    found: list[Observed] = []
    assert read_log(path, found.append).command_count == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"2019-05-01T10:00:00.000+0000 I COMMAND  [conn1] command shop.orders find\n",
            "no log of a mongod in JSON lines",
        ),
        (b"", "no log of a mongod in JSON lines"),
        (bytes(range(256)) * 10, "no log of a mongod in JSON lines"),
        (json.dumps(STARTED, separators=(",", ":")).encode(), 'has no line "Slow query"'),
        (gzip.compress(b"x" * 1000, mtime=0)[:12], "can't be read"),  # workers name it alike
    ],
)
def test_what_is_no_log_is_one_error(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "some.log"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        read_log(path, lambda _: None)


def test_a_log_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read: No such file"):
        read_log(tmp_path / "none.log", lambda _: None)


def test_commands_of_transactions_are_known() -> None:
    _, [found] = _read(_line(_command({**FIND, "txnNumber": 5, "autocommit": False})))
    assert found.in_transaction
    _, [alone] = _read(_line(_command({**FIND, "txnNumber": 5})))
    assert not alone.in_transaction
