"""Writes files so that a crash or a full disk leaves what was there.

Appended whole or cut back, replaced atomically.
"""

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from brimline.errors import RecordError
from brimline.record.closing import Closing
from brimline.record.layout import DIRECTORY_MODE, FILE_MODE, RECORD_FILE, unreadable, unwritable

DAMAGED_HINT = "it was changed or cut short after it was written: restore it from a copy, or measure again"


class AppendOnlyFile(Closing):
    """A file that only grows, a new one unless `goes_on`. Each `append` reaches the kernel before it returns.

    One that goes on is cut back to its last whole line first: a crash may have torn the rest.

    When an append fails half-way, for instance on a full disk, the file is cut back to the end of the last
    whole one. Raises RecordError, about `called` where that is what a user knows it as.
    """

    def __init__(self, path: Path, *, goes_on: bool = False, called: Path | None = None) -> None:
        self._path = called or path
        self._size_bytes = 0
        if goes_on:
            require_file(path)
        mode = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (0 if goes_on else os.O_EXCL)
        try:
            self._descriptor = os.open(path, mode, FILE_MODE)
            if goes_on:
                self._size_bytes = path.read_bytes().rfind(b"\n") + 1
                os.ftruncate(self._descriptor, self._size_bytes)
        except OSError as error:
            raise unwritable(self._path, error) from error

    @property
    def size_bytes(self) -> int:
        """How much is in it."""
        return self._size_bytes

    def append(self, text: str) -> None:
        """Adds `text` whole or not at all."""
        data = text.encode()
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._size_bytes)
            raise unwritable(self._path, error) from error
        self._size_bytes += written

    def sync(self) -> None:
        """Waits until the content is on the disk."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise unwritable(self._path, error) from error

    def close(self) -> None:
        """Closes the file; idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def make_directory(directory: Path) -> None:
    """Makes a private directory, and private ones above it, where they are missing. Raises RecordError."""
    try:
        for missing in (*reversed(directory.parents), directory):
            if not missing.is_dir():
                missing.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
    except FileExistsError as error:
        raise unwritable(directory, NotADirectoryError(errno.ENOTDIR, "")) from error
    except OSError as error:
        raise unwritable(directory, error) from error


def replace_text(path: Path, text: str) -> None:
    """Replaces a file, or makes it. Raises RecordError."""
    replace_pieces(path, [text])


def replace_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Replaces a file by `pieces`, one after the other, so that a large text need not be in memory whole.

    Readers see the old content or the new one, also after a crash. What is no file, such as /dev/stdout or a named
    pipe, is written to and stays what it is. Raises RecordError.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        _write_to(path, pieces)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with AppendOnlyFile(temporary, called=path) as file:
            for piece in pieces:
                file.append(piece)
            file.sync()
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _write_to(path: Path, pieces: Iterable[str]) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(pieces)
    except OSError as error:
        raise unwritable(path, error) from error


def replace_json(path: Path, value: Mapping[str, Any]) -> None:
    """Replaces a file by `value` as indented JSON. Raises RecordError."""
    replace_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def is_there(path: Path) -> bool:
    """Whether there is such a file. Raises RecordError where its directory can't be entered."""
    try:
        return path.exists()
    except OSError as error:
        raise unreadable(path, error) from error


def require_file(path: Path) -> None:
    """Raises RecordError where something else has a file's name: opened, a named pipe would be waited for for ever."""
    if is_there(path) and not path.is_file():
        raise RecordError(f"{path} is damaged: it is not a file", hint=DAMAGED_HINT)


def read_json(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object. Raises RecordError."""
    require_file(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path} is damaged: it is not JSON", hint=DAMAGED_HINT) from error
    if not isinstance(value, dict):
        raise RecordError(f"{path} is damaged: it is not a JSON object", hint=DAMAGED_HINT)
    return value


def read_json_if_there(path: Path) -> dict[str, Any] | None:
    """As `read_json`; None where there is no such file."""
    return read_json(path) if is_there(path) else None


def is_of_kind(directory: Path, kind: str) -> bool:
    """Whether a record directory holds a record of this kind. Raises RecordError when it can't be read."""
    path = directory / RECORD_FILE
    return is_there(path) and read_json(path).get("kind") == kind


def digest(path: Path) -> str:
    """SHA-256 of a file's content, in hex. Raises RecordError."""
    require_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def digests(directory: Path, names: Iterable[str]) -> dict[str, str]:
    """SHA-256 of each of the files that is there, by name. Raises RecordError."""
    return {name: digest(directory / name) for name in names if (directory / name).exists()}


def sync_directory(directory: Path) -> None:
    """Waits until the names of what is in it are on the disk. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
