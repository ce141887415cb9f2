"""Owns how large the data of a record is in the end, and how far that is true: servers tell of files by checkpoints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brimline.monitor.sizes import CHECKPOINT_NOT_NEEDED, CHECKPOINT_TAKEN
from brimline.record.model import RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSize:
    """Of a collection or a table, and what all files of its servers take. None: not known.

    `data_bytes` are the documents before compression, `storage_bytes` and `index_bytes` what they take in files,
    `total_bytes` these two together. `checkpoint`: "taken", "at once" where a database needs none, why there was none,
    or "" where none was asked for.
    """

    documents: int | None = None
    data_bytes: int | None = None
    storage_bytes: int | None = None
    index_bytes: int | None = None
    total_bytes: int | None = None
    files_bytes: int | None = None
    checkpoint: str = ""

    @property
    def document_bytes(self) -> float | None:
        """Mean size of a document, before compression."""
        return self.data_bytes / self.documents if self.documents and self.data_bytes is not None else None

    @property
    def is_whole(self) -> bool:
        """Whether everything that was written is in these sizes."""
        return self.checkpoint in (CHECKPOINT_TAKEN, CHECKPOINT_NOT_NEEDED)


def data_size(server_facts: Mapping[str, Any]) -> DataSize | None:
    """Of what `RunRecord.server_facts` has of the end; None where the server told nothing."""
    after = server_facts.get("after") or {}
    checkpoint = str(after.get("checkpoint", ""))
    if table := (after.get("sql") or {}).get("table"):
        return DataSize(
            data_bytes=_bytes(table, "data_bytes"),
            index_bytes=_bytes(table, "index_bytes"),
            total_bytes=_bytes(table, "total_bytes", "file_bytes"),
            checkpoint=checkpoint,
        )
    if not (collection := after.get("collStats")):
        return None
    return DataSize(
        documents=_bytes(collection, "count"),
        data_bytes=_bytes(collection, "size"),
        storage_bytes=_bytes(collection, "storageSize"),
        index_bytes=_bytes(collection, "totalIndexSize"),
        total_bytes=_bytes(collection, "totalSize"),
        files_bytes=_bytes(after, "files_bytes"),
        checkpoint=checkpoint,
    )


def size_on_disk_bytes(record: RunRecord) -> int | None:
    """What the data of a run takes in the end, indexes included; None where the server doesn't say."""
    size = data_size(record.server_facts)
    return None if size is None else size.total_bytes


def _bytes(values: Mapping[str, Any], *names: str) -> int | None:
    return next((int(values[name]) for name in names if isinstance(values.get(name), int | float)), None)
