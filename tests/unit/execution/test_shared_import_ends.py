"""How an import that nodes share ends where what they tell can't be kept: at once, on all of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from brimline.errors import RecordError, UsageError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.link import ANSWER_WITHIN_S
from brimline.execution.cluster.node import Refusal
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
    """A node that inserts until it is told to end, or has no room any more in look number `full_at`."""

    def __init__(self, part: ImportPart, *, full_at: int | None = None, **answers: Any) -> None:
        self._full_at, self.answers = full_at, answers
        self._told = {**at_the_beginning(part), "counts": {**at_the_beginning(part)["counts"], "inserted": 7}}
        self.calls: list[str] = []

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        self.calls.append(arguments[0] if name == "of_import" else name)
        if self.calls[-1] in self.answers:
            return self.answers[self.calls[-1]]
        match self.calls[-1]:
            case "begin_import":
                return []
            case "look" if self.calls.count("look") == self._full_at:
                return Refusal("No space left on device")
            case "clock":
                return 0
            case "look":
                is_over = not {"stop", "abort"}.isdisjoint(self.calls)
                progress = {**self._told, "checkpoint": self._told, "is_over": is_over, "elapsed_ns": 0}
                return ImportLook(
                    progress=progress, intervals=[], zero_ns=0, is_ready=True, rejected=b"{}\n", is_behind=False
                )
            case "join":
                return {**self._told, "ending": {"kind": "stopped"}, "standstills": [], "elapsed_ns": 0}, 0
        return None

    def close(self) -> None:
        self.calls.append("close")


def _ended(nodes: Sequence[_Inserting], directory: Path) -> dict[str, Any]:
    """What an import of `nodes` comes to."""
    order = ImportOrder(plan={"interval_ns": 1_000_000_000, "workers": 1}, plan_hash="", files=[])
    run = SharedImport(
        [order, order], [(node, HELLO) for node in nodes], shares=SHARES, paths=[str(directory / "t.json")],
        kept=ImportParts(directory, SHARES.parts), access=PortableAccess.of(Access()), held=False,
        on_lost=lambda _: None,
    )  # fmt: skip
    summary: dict[str, Any] = json.loads(run.join())
    return summary


def test_a_record_that_can_not_be_written_ends_all_nodes_and_what_they_did_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that nobody asks any more went on for as long as it waits for a question, while the server counted."""

    def note(_kept: ImportParts, number: int, _checkpoint: Mapping[str, Any], _rejected: bytes) -> None:
        if number == 1:
            raise RecordError("the disk is full", hint="make room")

    monkeypatch.setattr(ImportParts, "note", note)
    nodes = [_Inserting(part) for part in SHARES.parts]
    summary = _ended(nodes, tmp_path)
    assert summary["ending"] == {"kind": "unwritable", "reason": "the disk is full"}
    assert summary["counts"]["inserted"] == 14
    assert [node["lost"] for node in summary["nodes"]] == [None, None]
    for node in nodes:
        assert node.calls[-1] == "join" and node.calls.count("abort") == 1


def test_a_node_that_fails_while_it_inserts_is_lost_and_ended_and_what_came_in_is_told(tmp_path: Path) -> None:
    """It was told as an option that is wrong, with no word of its documents, and inserted until its lease was over."""
    nodes = [_Inserting(part, full_at=full_at) for part, full_at in zip(SHARES.parts, (None, 3), strict=True)]
    summary = _ended(nodes, tmp_path)
    reason = "node 1 (there) was lost: No space left on device"
    assert summary["ending"] == {"kind": "worker_lost", "reason": reason}
    assert summary["counts"]["inserted"] == 14
    assert nodes[1].calls[-1] == "close" and "join" not in nodes[1].calls
    assert nodes[0].calls[-1] == "join"


def test_a_node_without_room_for_its_part_is_named(tmp_path: Path) -> None:
    nodes = [_Inserting(SHARES.parts[0]), _Inserting(SHARES.parts[1], start=Refusal("No space left on device"))]
    with pytest.raises(UsageError, match="can't import its part: No space left on device") as told:
        _ended(nodes, tmp_path)
    assert "TMPDIR" in (told.value.hint or "")


def test_an_input_that_is_gone_while_it_is_sent_is_the_end_and_no_node_is_lost(tmp_path: Path) -> None:
    summary = _ended([_Inserting(SHARES.parts[0]), _Inserting(SHARES.parts[1], begin_import=[0])], tmp_path)
    assert (summary["ending"]["kind"], summary["ending"]["input"]) == ("input", 0)
    assert summary["ending"]["reason"] == "it can't be read any more: No such file or directory"
    assert [node["lost"] for node in summary["nodes"]] == [None, None]
