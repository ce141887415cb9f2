"""Ports of a lab: a server that doesn't listen yet keeps the one that it was given."""

from pathlib import Path

import pytest

from brimline.servers.lab import ports
from brimline.servers.lab.ports import claim_port


def test_a_port_that_is_offered_twice_is_given_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = [4001, 4001, 4001, 4002]
    monkeypatch.setattr(ports, "free_port", lambda: offered.pop(0))
    assert claim_port(tmp_path, str) == (4001, tmp_path / "4001")
    assert claim_port(tmp_path, str) == (4002, tmp_path / "4002")
    assert (tmp_path / "4002").stat().st_mode & 0o777 == 0o700


def test_a_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        claim_port(tmp_path / "gone", str)
