"""Copies of a server's files, made again and again beside a run, while files come and go."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.execution.backups import FileCopies
from brimline.execution.scratch import scratch
from tests.support.command_line import CommandLine


class Copies(FileCopies):
    """Those of a directory without a server, so that nothing is locked. Ends with the second."""

    def __init__(self, files: Path, directory: Path) -> None:
        deployment: Any = SimpleNamespace(own=SimpleNamespace(data_directory=files))
        plan: Any = None
        super().__init__(plan, deployment, directory=directory, text="backup:files")
        self.copied: list[dict[str, bytes]] = []

    @contextmanager
    def _locked(self) -> Iterator[None]:
        yield
        (place,) = self._directory.glob("*/files")
        self.copied.append({each.name: each.read_bytes() for each in place.iterdir()})

    def _made(self, size_bytes: int) -> None:
        super()._made(size_bytes)
        (self._files / "collection.wt").write_bytes(b"short")
        if len(self.copied) == 2:
            self._stop.set()


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    for name in ("data", "backups"):
        (tmp_path / name).mkdir()
    (tmp_path / "data" / "collection.wt").write_bytes(b"a longer one")
    return Copies(tmp_path / "data", tmp_path / "backups")


def test_each_copy_goes_over_the_one_before_and_none_is_left(copies: Copies, tmp_path: Path) -> None:
    copies._work()
    assert copies.copied == [{"collection.wt": b"a longer one"}, {"collection.wt": b"short"}]
    assert copies._sizes == [12, 5]
    assert not list((tmp_path / "backups").iterdir())


KILLED = """\
import os, signal, sys
from pathlib import Path
from brimline.execution.scratch import scratch
with scratch(Path(sys.argv[1])) as place:
    (place / "files").mkdir()
    (place / "files" / "collection.wt").write_bytes(b"left")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_backup_left_is_removed_and_named_by_the_next_command(
    tmp_path: Path, brimline_cli: CommandLine
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    subprocess.run([sys.executable, "-c", KILLED, runs], check=False)
    (left,) = runs.iterdir()
    assert (left / "files" / "collection.wt").exists(), "else there is nothing to remove"
    with scratch(runs) as in_use:
        words = ("run", "ycsb-c", "--null", "--operations", "10", "--runs-dir", runs)
        assert f"removed {left}, which a backup beside a run left" in brimline_cli.run(*words).stderr
        assert in_use.exists() and not left.exists()
        assert "removed" not in brimline_cli.run(*words).stderr


def test_files_that_a_server_renames_meanwhile_end_no_copy(
    copies: Copies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint writes the first and gives it its name; a log that is prepared likewise. The third went at once."""
    for name in ("WiredTiger.turtle.set", "WiredTigerTmplog.0001"):
        (tmp_path / "data" / name).write_bytes(b"soon renamed")
    assert [each.name for each in copies._wanted()] == ["collection.wt"]
    looks = iter([[tmp_path / "data" / "gone.wt"]])
    wanted = copies._wanted
    monkeypatch.setattr(copies, "_wanted", lambda: [*wanted(), *next(looks, [])])
    copies._work()
    assert copies._sizes == [12, 5]
