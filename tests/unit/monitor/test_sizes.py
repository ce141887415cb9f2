"""Sizes of several servers are those of all together, and it is said whether a checkpoint was taken for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from pymongo.errors import NetworkTimeout, OperationFailure

from brimline.analysis.data_size import data_size
from brimline.monitor import sizes
from brimline.monitor.part_counts import PartCounts
from brimline.servers.deployment import Client
from brimline.servers.parts import Part
from tests.unit.execution.test_around import SOMEBODY

FIRST, SECOND = "127.0.0.1:1", "127.0.0.1:2"


class ScriptedClient:
    """Answers commands by their name; a context manager, as a client is."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers
        self.asked: list[str] = []
        self.admin = self

    def __enter__(self) -> "ScriptedClient":
        return self

    def __exit__(self, *_: object) -> None: ...

    def __getitem__(self, name: str) -> "ScriptedClient":
        return self

    def command(self, command: str | Mapping[str, Any]) -> Any:
        name = command if isinstance(command, str) else next(iter(command))
        self.asked.append(name)
        answer = self._answers.get(name, OperationFailure("no such command", code=59))
        if isinstance(answer, Exception):
            raise answer
        return answer


def _of(count: int, storage: int, **answers: Any) -> ScriptedClient:
    return ScriptedClient(
        {
            "fsync": {"ok": 1.0},
            "dbStats": {"objects": count, "fsTotalSize": 9},
            "collStats": {"count": count, "size": count * 10, "storageSize": storage, "indexSizes": {"_id_": 1}},
            **answers,
        }
    )


def _sizes(
    monkeypatch: pytest.MonkeyPatch,
    servers: Mapping[str, ScriptedClient],
    *,
    checkpoint: bool = True,
    counts: Sequence[PartCounts] = (),
) -> dict[str, Any]:
    monkeypatch.setattr(sizes, "control_client", lambda address, **_: servers[address])
    first, *others = servers
    deployment = replace(SOMEBODY, address=first, shards=tuple(others))
    if others:
        counts = [PartCounts(part=Part(shard=address, address=address), role="standalone") for address in servers]
    return sizes.data_sizes(deployment, database="shop", collection="orders", checkpoint=checkpoint, counts=counts)


def test_a_checkpoint_is_taken_before_sizes_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    server = _of(3, 4096)
    found = _sizes(monkeypatch, {FIRST: server})
    assert server.asked.index("fsync") < server.asked.index("collStats")
    assert found["checkpoint"] == "taken"


def test_none_is_taken_where_none_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    server = _of(3, 4096)
    found = _sizes(monkeypatch, {FIRST: server}, checkpoint=False)
    assert "fsync" not in server.asked
    assert "checkpoint" not in found


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OperationFailure("no", code=13, details={"codeName": "Unauthorized"}), "refused: Unauthorized"),
        (NetworkTimeout("slow"), "not answered: NetworkTimeout"),
    ],
)
def test_a_checkpoint_that_is_refused_leaves_sizes_and_says_so(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    found = _sizes(monkeypatch, {FIRST: _of(3, 4096, fsync=error)})
    size = data_size({"after": found})
    assert size is not None
    assert (size.storage_bytes, size.checkpoint, size.is_whole) == (4096, said, False)


def test_shards_are_added_up_and_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = OperationFailure("no", code=13, details={"codeName": "Unauthorized"})
    found = _sizes(monkeypatch, {FIRST: _of(1, 100), SECOND: _of(3, 300, fsync=refused)})
    assert found["collStats"] == {"count": 4, "size": 40, "storageSize": 400, "avgObjSize": 10.0}
    assert found["dbStats"] == {"objects": 4, "fsTotalSize": 9}
    assert found["checkpoint"] == "refused: Unauthorized"
    assert [(each["address"], each["documents"], each["storage_bytes"]) for each in found["parts"]] == [
        (FIRST, 1, 100),
        (SECOND, 3, 300),
    ]


def test_one_shard_that_is_silent_leaves_no_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _sizes(monkeypatch, {FIRST: _of(1, 100), SECOND: _of(3, 300, collStats=NetworkTimeout("slow"))})
    assert "collStats" not in found
    assert found["absent"] == {f"collStats of {SECOND}": "not answered: NetworkTimeout"}


def test_a_router_tells_of_shards_that_do_not_answer_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    of_shards = {"east": {"count": 1, "size": 10, "uri": "x"}, "west": {"count": 2, "size": 20}}
    router = _of(3, 1, collStats={"count": 3, "size": 30, "sharded": True, "shards": of_shards})
    counts = [
        PartCounts(part=Part(shard=name, address=address)) for name, address in (("east", "a:1"), ("west", "b:1"))
    ]
    found = _sizes(monkeypatch, {FIRST: router}, counts=counts)
    assert found["collStats"] == {"count": 3, "size": 30, "sharded": True}
    assert [(each["shard"], each["documents"], each["data_bytes"]) for each in found["parts"]] == [
        ("east", 1, 10),
        ("west", 2, 20),
    ]


@pytest.mark.parametrize(("lock", "known"), [("7\n", True), ("8\n", False), ("", False), (None, False)])
def test_files_are_counted_where_the_lock_says_whose_they_are(tmp_path: Path, lock: str | None, known: bool) -> None:
    (tmp_path / "collection.wt").write_bytes(bytes(10_000))
    if lock is not None:
        (tmp_path / "mongod.lock").write_text(lock)
    options = {"parsed": {"storage": {"dbPath": str(tmp_path)}}}
    server = ScriptedClient({"getCmdLineOpts": options, "serverStatus": {"pid": 7}})
    found = sizes.server_files_bytes(cast(Client, server))
    assert (found is not None and found >= 10_000) if known else found is None
