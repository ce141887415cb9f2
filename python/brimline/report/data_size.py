"""Owns how large the data is, in words and as JSON: one table for loads, imports and steps of growth."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from brimline.analysis.data_size import DataSize, data_size
from brimline.monitor.sizes import CHECKPOINT_NOT_NEEDED
from brimline.report.view import Fact, Facts
from brimline.units import format_bytes
from brimline.wording import message


def size_facts(server_facts: Mapping[str, Any]) -> list[Facts]:
    """Sizes of the data in the end; nothing where the server told none."""
    size = data_size(server_facts)
    if size is None:
        return []
    parts = (
        ("Data", size.data_bytes, "before compression"),
        ("Storage", size.storage_bytes, ""),
        ("Indexes", size.index_bytes, ""),
        ("Storage and indexes", size.total_bytes, ""),
        ("Per document", size.document_bytes, "before compression"),
        ("Files on disk", size.files_bytes, "all of the server, its journal included"),
    )
    facts = [
        Fact(label=label, value=format_bytes(known), note=note) for label, known, note in parts if known is not None
    ]
    return [Facts(title="Size of the data afterwards", facts=[*facts, _as_of(size)])] if facts else []


def size_document(server_facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same for machines; null where the server told none."""
    size = data_size(server_facts)
    return None if size is None else {**asdict(size), "document_bytes": size.document_bytes}


def _as_of(size: DataSize) -> Fact:
    if size.checkpoint == CHECKPOINT_NOT_NEEDED:
        return Fact(label="As of", value="the last write", note="files have their size at once")
    if size.is_whole:
        return Fact(label="As of", value="a checkpoint after the last write")
    if not size.checkpoint:
        return Fact(label="As of", value="the server's last checkpoint", note="none was asked for")
    note = message("another one was {reason}", reason=size.checkpoint)
    return Fact(label="As of", value="the server's last checkpoint", tone="warn", note=note)
