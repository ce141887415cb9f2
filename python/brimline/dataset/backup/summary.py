"""Owns what a backup says of itself, in `brimline-backup.json` beside mongodump's files: what it holds, as of when."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from brimline.errors import RecordError
from brimline.record.environment import brimline_version
from brimline.record.files import DAMAGED_HINT, read_json, replace_json

SUMMARY_FILE = "brimline-backup.json"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionBackup:
    """One collection: how many documents, their bytes uncompressed, and the hash of all, whatever their order."""

    database: str
    collection: str
    type: str
    documents: int
    bytes: int
    hash: str

    @property
    def namespace(self) -> str:
        """`database.collection`."""
        return f"{self.database}.{self.collection}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A whole backup. `as_of`: seconds and increment of the cluster time that all collections are as of; None: none.

    `not_consistent`: why collections may be of different instants; "" where all are of one. `files_bytes`: what it
    takes on the disk. `elapsed_s` and `complete`: how long it took, and whether it came to its end.
    `apart`: collections that no server shows as of an instant, which are capped ones, and which are read beside.
    """

    server: str
    server_version: str
    as_of: tuple[int, int] | None
    not_consistent: str
    gzip: bool
    collections: tuple[CollectionBackup, ...]
    files_bytes: int
    elapsed_s: float
    apart: tuple[str, ...] = ()
    complete: bool = True

    @property
    def documents(self) -> int:
        """In all collections."""
        return sum(each.documents for each in self.collections)

    @property
    def bytes(self) -> int:
        """Of all documents, uncompressed."""
        return sum(each.bytes for each in self.collections)


def backup_document(backup: Backup) -> dict[str, Any]:
    """For the file, and for `--json`."""
    return {
        "format_version": FORMAT_VERSION,
        "brimline_version": brimline_version(),
        "kind": "backup",
        "server": backup.server,
        "server_version": backup.server_version,
        "complete": backup.complete,
        "as_of": None if backup.as_of is None else list(backup.as_of),
        "not_consistent": backup.not_consistent,
        "apart": list(backup.apart),
        "gzip": backup.gzip,
        "document_count": backup.documents,
        "document_bytes": backup.bytes,
        "files_bytes": backup.files_bytes,
        "elapsed_s": backup.elapsed_s,
        "collections": [asdict(each) for each in backup.collections],
    }


def write_summary(directory: Path, backup: Backup) -> None:
    """Puts it beside the files. Raises RecordError."""
    replace_json(directory / SUMMARY_FILE, backup_document(backup))


def read_summary(directory: Path) -> Backup | None:
    """What a backup of brimline's says of itself; None in a directory of another tool. Raises RecordError."""
    path = directory / SUMMARY_FILE
    if not path.exists():
        return None
    values = read_json(path)
    try:
        return Backup(
            server=str(values["server"]),
            server_version=str(values["server_version"]),
            as_of=None if values["as_of"] is None else (int(values["as_of"][0]), int(values["as_of"][1])),
            not_consistent=str(values["not_consistent"]),
            gzip=bool(values["gzip"]),
            collections=tuple(_collections(values["collections"])),
            files_bytes=int(values["files_bytes"]),
            elapsed_s=float(values["elapsed_s"]),
            apart=tuple(map(str, values["apart"])),
            complete=bool(values["complete"]),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise RecordError(f"{path} is damaged: {error}", hint=DAMAGED_HINT) from error


def _collections(values: Sequence[Mapping[str, Any]]) -> list[CollectionBackup]:
    return [CollectionBackup(**each) for each in values]
