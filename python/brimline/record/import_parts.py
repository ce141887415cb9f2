"""Owns the parts of an import that several nodes share: how far each is, and what each rejected.

Nothing of it is on the nodes' disks. `checkpoint.json` holds the checkpoint of every part beside their sum. What a part
rejects is in `rejected.<part>.jsonl` as long as the import may go on. Once an attempt is over, `rejected.jsonl` has it
in the order of the input.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from brimline.errors import RecordError
from brimline.record.data_import import CHECKPOINT_FILE, REJECTED_FILE, ImportPart, Place, read_checkpoint
from brimline.record.files import AppendOnlyFile, replace_json, replace_pieces
from brimline.record.layout import unwritable

_CHECKPOINT_VERSION = 1
_BEHIND_ALL = Place(input=2**31, offset=2**62, line=1)
_COUNTS = (
    *("read", "inserted", "updated", "deleted", "unmatched", "rejected"),
    *("oversized", "ignorable", "nulls", "found", "not_utf8", "ragged"),
)


class ImportParts:
    """The checkpoints and rejected records of all parts, in the record's directory. Raises RecordError."""

    def __init__(self, directory: Path, parts: Sequence[ImportPart]) -> None:
        self._directory = directory
        self._parts = parts
        noted = (read_checkpoint(directory) or {}).get("parts")
        self.checkpoints: list[dict[str, Any]] = noted or [at_the_beginning(part) for part in parts]
        self._bases = [each["rejected_bytes"] for each in self.checkpoints]
        self._arrived = [0 for _ in parts]
        self._is_concluded = False
        self._rejected = [_opened(self._path(number), length) for number, length in enumerate(self._bases)]

    def to_go_on(self, number: int) -> dict[str, Any]:
        """From where a node is to go on with a part; its own file of rejected records is empty."""
        return {**self.checkpoints[number], "rejected_bytes": 0}

    def note(self, number: int, checkpoint: Mapping[str, Any], rejected: bytes) -> None:
        """Takes what a node tells of its part: how far it is, and what else it rejected.

        A checkpoint counts once all is here that was rejected before it: a node may tell that later.
        """
        if rejected:
            self._rejected[number].append(rejected.decode())
            self._arrived[number] += len(rejected)
        if checkpoint["rejected_bytes"] > self._arrived[number]:
            return
        kept = {**checkpoint, "rejected_bytes": self._bases[number] + checkpoint["rejected_bytes"]}
        # A node that is lost may have sent more than it had told: all that is left of its part is looked for.
        self.checkpoints[number] = {**kept, "in_doubt_until": self._end(number)}

    def begin(self) -> None:
        """Notes, before anything is sent, that what is in the parts may have been."""
        for number, checkpoint in enumerate(self.checkpoints):
            self.checkpoints[number] = {**checkpoint, "in_doubt_until": self._end(number)}
        self.save()

    def save(self) -> None:
        """Replaces the checkpoint in the record."""
        replace_json(self._directory / CHECKPOINT_FILE, self.checkpoint)

    @property
    def checkpoint(self) -> dict[str, Any]:
        """The checkpoints of all parts and their sum."""
        return {
            "format_version": _CHECKPOINT_VERSION,
            **summed(self.checkpoints),
            "finished": all(each["finished"] for each in self.checkpoints),
            "parts": self.checkpoints,
        }

    def conclude(self) -> None:
        """Writes what all parts rejected in the order of the input, and the last checkpoint. Idempotent."""
        if self._is_concluded:
            return
        for file in self._rejected:
            file.close()
        paths = [self._path(number) for number in range(len(self._parts))]
        replace_pieces(self._directory / REJECTED_FILE, (path.read_text(encoding="utf-8") for path in paths))
        self.save()
        self._is_concluded = True

    def _end(self, number: int) -> dict[str, int]:
        return cast("dict[str, int]", self._parts[number]["until"] or _BEHIND_ALL)

    def _path(self, number: int) -> Path:
        return _rejected_path(self._directory, number)


def settled_bytes(directory: Path, parts: Sequence[ImportPart], sizes_bytes: Sequence[int]) -> int:
    """How much of inputs of these sizes is settled."""
    known = (read_checkpoint(directory) or {}).get("parts", [])
    return sum(
        place["offset"] - begin["offset"] + sum(sizes_bytes[begin["input"] : place["input"]])
        for begin, place in zip((part["begin"] for part in parts), (each["place"] for each in known), strict=False)
    )


def read_sizes(inputs: Sequence[tuple[int, bool]], input_bytes: int) -> list[int]:
    """Sizes of inputs as they are read, `input_bytes` in all, of sizes on the disk and whether each is compressed.

    Of compressed ones only the sum is known, and shared out by their sizes on the disk: exact where there is one.
    """
    packed = sum(size for size, is_packed in inputs if is_packed)
    unpacked = input_bytes - sum(size for size, is_packed in inputs if not is_packed)
    return [size * unpacked // packed if is_packed and packed else size for size, is_packed in inputs]


def remove_parts_files(directory: Path, part_count: int) -> None:
    """Takes away what only an import that goes on needs: once its record says that it was completed."""
    for number in range(part_count):
        _rejected_path(directory, number).unlink(missing_ok=True)


def _rejected_path(directory: Path, number: int) -> Path:
    return directory / f"rejected.{number}.jsonl"


def at_the_beginning(part: ImportPart) -> dict[str, Any]:
    """The checkpoint of a part of which nothing is done."""
    return {
        "format_version": _CHECKPOINT_VERSION,
        "place": part["begin"],
        "in_doubt_until": part["begin"],
        "counts": dict.fromkeys(_COUNTS, 0),
        "first_not_utf8": None,
        "first_ragged": None,
        "misfits": {},
        "rejected_bytes": 0,
        "finished": False,
    }


def summed(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What became of the records of all parts: counts and misfits added up, of the firsts those first in the input."""
    misfits: dict[str, int] = {}
    for part in parts:
        for column, count in part["misfits"].items():
            misfits[column] = misfits.get(column, 0) + count
    return {
        "counts": {name: sum(part["counts"].get(name, 0) for part in parts) for name in _COUNTS},
        **{name: _first(part[name] for part in parts) for name in ("first_not_utf8", "first_ragged")},
        "misfits": dict(sorted(misfits.items())),
    }


def _first(places: Any) -> Any:
    """Parts are in the order of the input."""
    return next((place for place in places if place is not None), None)


def _opened(path: Path, length: int) -> AppendOnlyFile:
    """A file of rejected records, cut to what its checkpoint knows of: what came later is written anew."""
    if not path.exists() and not length:
        return AppendOnlyFile(path)
    try:
        found = path.stat().st_size
        if found < length:
            raise RecordError(
                f"{path} has {found} bytes, and the checkpoint knows of {length}", hint="restore it from a copy"
            )
        os.truncate(path, length)
    except OSError as error:
        raise unwritable(path, error) from error
    return AppendOnlyFile(path, goes_on=True)
