"""What is told of a server's files in memory, with files of known content."""

import os
from pathlib import Path

import pytest

from brimline.servers.page_cache import PAGE_BYTES, disk_bytes, drop, resident_share

SIZE = 256 * PAGE_BYTES


def test_a_file_that_was_just_written_is_in_memory_and_its_size_is_known(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "collection.wt").write_bytes(os.urandom(SIZE))
    share = resident_share(tmp_path)
    if share is None:
        pytest.skip("this file system doesn't tell")
    assert share == 1.0
    os.sync()
    assert SIZE <= disk_bytes(tmp_path) < 4 * SIZE  # a file system may take more in advance


def test_a_dropped_file_is_not_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "collection.wt").write_bytes(os.urandom(SIZE))
    advised: list[int] = []
    really = os.posix_fadvise

    def noted(file: int, offset: int, length: int, advice: int) -> None:
        advised.append(advice)
        really(file, offset, length, advice)

    monkeypatch.setattr(os, "posix_fadvise", noted)
    drop(tmp_path)
    assert advised == [os.POSIX_FADV_DONTNEED]
    share = resident_share(tmp_path)
    # 1: a file system in memory has nowhere to drop it to. Pages that another processor still holds stay for a while.
    assert share is None or share < 0.5 or share == 1.0


def test_without_files_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"x")
    assert resident_share(tmp_path) is None
    drop(tmp_path / "missing")
    assert disk_bytes(tmp_path / "missing") == 0
