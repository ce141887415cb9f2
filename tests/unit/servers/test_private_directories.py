"""What says which processes are ended and which files removed is one's own, and nobody else writes there."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from brimline.errors import TargetError, UsageError
from brimline.servers import state
from brimline.servers.lab.leftovers import sweep_labs
from brimline.servers.lab.lifecycle import find_lab, take_down
from brimline.servers.lab.state import claim, read_lab, stored_labs
from brimline.servers.state import create_directory, private_directory


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_it_is_0700_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "brimline" / "labs"
    before = os.umask(umask)
    try:
        private_directory(path)
    finally:
        os.umask(before)
    assert (_mode(path.parent), _mode(path)) == (0o700, 0o700)


@pytest.mark.parametrize("use", [create_directory, stored_labs, lambda parent: find_lab("kept", parent=parent)])
def test_one_that_others_may_write_to_is_closed(use: Callable[[Path], object], tmp_path: Path) -> None:
    claim(tmp_path, name="kept", topology="standalone", outlives=True)
    tmp_path.chmod(0o777)
    use(tmp_path)
    assert _mode(tmp_path) == 0o700


def test_one_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = claim(tmp_path, name="planted", topology="standalone", outlives=True)
    somebody_else = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: somebody_else)
    for use in (
        lambda: claim(tmp_path, name="mine", topology="standalone", outlives=True),
        lambda: find_lab("planted", parent=tmp_path),
        lambda: take_down("planted", parent=tmp_path),
        lambda: stored_labs(tmp_path),
        lambda: create_directory(tmp_path),
    ):
        with pytest.raises(TargetError, match="belongs to another user"):
            use()
    assert sweep_labs(tmp_path) == ()
    assert state.sweep(tmp_path).directories == ()
    assert lab.directory.is_dir()


def test_a_lab_that_another_user_put_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = claim(tmp_path, name="planted", topology="standalone", outlives=True)
    monkeypatch.setattr("brimline.servers.lab.state.is_own", lambda path: path != lab.directory)
    assert read_lab(lab.directory) is None
    with pytest.raises(UsageError, match="no lab called"):
        find_lab("planted", parent=tmp_path)
