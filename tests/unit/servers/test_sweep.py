"""Sweeping: what is abandoned goes, what is in use or may be somebody else's stays."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from brimline.servers.processes import ProcessIdentity, identify, is_alive, kill
from brimline.servers.state import (
    OWNER_FILE,
    SERVER_FILE,
    Scope,
    create_directory,
    servers_directory,
    sweep,
)

_GONE = ProcessIdentity(pid=4_000_000, start_ticks=1, executable="/gone")
"""Above the kernel's largest pid that is given by default."""


@pytest.fixture
def sleeper() -> Iterator[ProcessIdentity]:
    process = subprocess.Popen(["sleep", "600"])
    deadline = time.monotonic() + 10
    while (found := identify(process.pid)) is None or not found.executable.endswith(("sleep", "coreutils")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield found
    process.kill()
    process.wait()


def _leftover(
    parent: Path, *, owner: ProcessIdentity, server: ProcessIdentity | None = None, scope: Scope | None = None
) -> Path:
    directory = parent / "mongod-left"
    directory.mkdir()
    document = {"scope": asdict(scope or Scope.current()), "process": asdict(owner)}
    (directory / OWNER_FILE).write_text(json.dumps(document))
    if server is not None:
        (directory / SERVER_FILE).write_text(json.dumps({"process": asdict(server)}))
    return directory


def _self() -> ProcessIdentity:
    found = identify(os.getpid())
    assert found is not None
    return found


def test_an_abandoned_server_is_killed_and_its_directory_removed(tmp_path: Path, sleeper: ProcessIdentity) -> None:
    directory = _leftover(tmp_path, owner=_GONE, server=sleeper)
    swept = sweep(tmp_path)
    assert swept.killed_pids == (sleeper.pid,)
    assert swept.directories == (directory,)
    assert not is_alive(sleeper)
    assert not directory.exists()


@pytest.mark.parametrize("other", [{"start_ticks": 1}, {"executable": "/usr/bin/mongod"}])
def test_a_process_that_took_over_the_pid_is_not_killed(
    tmp_path: Path, sleeper: ProcessIdentity, other: dict[str, Any]
) -> None:
    directory = _leftover(tmp_path, owner=_GONE, server=replace(sleeper, **other))
    assert sweep(tmp_path).killed_pids == ()
    assert is_alive(sleeper)
    assert not directory.exists()


def test_a_server_in_use_stays(tmp_path: Path, sleeper: ProcessIdentity) -> None:
    directory = _leftover(tmp_path, owner=_self(), server=sleeper)
    assert sweep(tmp_path).directories == ()
    assert directory.exists()
    assert is_alive(sleeper)


def test_an_owner_whose_pid_was_taken_over_is_gone(tmp_path: Path) -> None:
    directory = _leftover(tmp_path, owner=replace(_self(), start_ticks=1))
    assert sweep(tmp_path).directories == (directory,)


def test_after_a_reboot_no_pid_is_believed(tmp_path: Path, sleeper: ProcessIdentity) -> None:
    scope = replace(Scope.current(), boot_id="another boot")
    directory = _leftover(tmp_path, owner=_self(), server=sleeper, scope=scope)
    assert sweep(tmp_path).directories == (directory,)
    assert is_alive(sleeper)


@pytest.mark.parametrize("other", [{"host": "another host"}, {"pid_namespace": "pid:[1]"}])
def test_what_can_not_be_judged_from_here_stays(tmp_path: Path, other: dict[str, str]) -> None:
    directory = _leftover(tmp_path, owner=_GONE, scope=replace(Scope.current(), **other))
    assert sweep(tmp_path).directories == ()
    assert directory.exists()


def test_a_directory_without_owner_goes_when_it_is_old(tmp_path: Path) -> None:
    new, old, foreign = tmp_path / "mongod-new", tmp_path / "mongod-old", tmp_path / "something"
    for directory in (new, old, foreign):
        directory.mkdir()
    (old / OWNER_FILE).write_text("{damaged")
    for directory in (old, foreign):
        os.utime(directory, (1, 1))
    assert sweep(tmp_path).directories == (old,)
    assert new.exists()
    assert foreign.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "mongod-link").symlink_to(tmp_path / "precious")
    assert sweep(tmp_path / "servers").directories == ()
    assert (tmp_path / "precious").exists()


def test_sweeping_nothing_is_no_error(tmp_path: Path) -> None:
    assert sweep(tmp_path / "none").directories == ()


def test_a_new_directory_is_private_and_ours(tmp_path: Path) -> None:
    directory = create_directory(tmp_path / "servers")
    assert directory.stat().st_mode & 0o777 == 0o700
    assert json.loads((directory / OWNER_FILE).read_text())["process"] == asdict(_self())
    assert sweep(tmp_path / "servers").directories == ()


def test_servers_live_below_the_cache_directory() -> None:
    assert servers_directory({"XDG_CACHE_HOME": "/cache"}) == Path("/cache/brimline/servers")
    assert servers_directory({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache/brimline/servers"


def test_killing_a_process_that_is_gone_is_done_already() -> None:
    assert kill(_GONE)
