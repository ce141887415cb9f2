"""How an import that nodes share ends where what they tell can't be kept: at once, on all of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from brimline.errors import RecordError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.link import ANSWER_WITHIN_S
from brimline.execution.cluster.node_import import ImportLook, ImportOrder
from brimline.execution.cluster.shared_import import SharedImport
from brimline.record.data_import import ImportPart, ImportShares, Place
from brimline.record.import_parts import ImportParts, at_the_beginning
from brimline.servers import Access

BORDER = Place(input=0, offset=50, line=6)
SHARES = ImportShares(
    parts=[ImportPart(begin=Place(input=0, offset=0, line=1), until=BORDER), ImportPart(begin=BORDER, until=None)],
    heads_bytes=[0],
    input_bytes=100,
)
HELLO = {"host": "there", "pid": 1, "cpu_cores": 1, "python": "3"}


class _Inserting:
    """A node that inserts until it is told to abort."""

    def __init__(self, part: ImportPart) -> None:
        self._told = {**at_the_beginning(part), "counts": {**at_the_beginning(part)["counts"], "inserted": 7}}
        self.calls: list[str] = []

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        self.calls.append(arguments[0] if name == "of_import" else name)
        match self.calls[-1]:
            case "begin_import":
                return []
            case "clock":
                return 0
            case "look":
                progress = {
                    "is_over": "abort" in self.calls, "elapsed_ns": 0, "counts": self._told["counts"],
                    "checkpoint": self._told,
                }  # fmt: skip
                return ImportLook(
                    progress=progress, intervals=[], zero_ns=0, is_ready=True, rejected=b"{}\n", is_behind=False
                )
            case "join":
                return {**self._told, "ending": {"kind": "stopped"}, "standstills": [], "elapsed_ns": 0}, 0
        return None

    def close(self) -> None: ...


def test_a_record_that_can_not_be_written_ends_all_nodes_and_what_they_did_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that nobody asks any more went on for as long as it waits for a question, while the server counted."""

    def note(_kept: ImportParts, number: int, _checkpoint: Mapping[str, Any], _rejected: bytes) -> None:
        if number == 1:
            raise RecordError("the disk is full", hint="make room")

    monkeypatch.setattr(ImportParts, "note", note)
    nodes = [_Inserting(part) for part in SHARES.parts]
    order = ImportOrder(plan={"interval_ns": 1_000_000_000, "workers": 1}, plan_hash="", files=[])
    kept = ImportParts(tmp_path, SHARES.parts)
    run = SharedImport(
        [order, order], [(node, HELLO) for node in nodes], shares=SHARES, paths=["t.json"], kept=kept,
        access=PortableAccess.of(Access()), held=False, on_lost=lambda _: None,
    )  # fmt: skip
    summary = json.loads(run.join())
    assert summary["ending"] == {"kind": "unwritable", "reason": "the disk is full"}
    assert summary["counts"]["inserted"] == 14
    assert [node["lost"] for node in summary["nodes"]] == [None, None]
    for node in nodes:
        assert node.calls[-1] == "join" and node.calls.count("abort") == 1
