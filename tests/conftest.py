"""Owns what several kinds of tests share: one real server, the command line, and a clean environment."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from brimline.servers import Deployment, bundled, deployment
from brimline.servers.distrust import ControlClient
from tests.support.command_line import CommandLine
from tests.support.server import required_mongod


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_whoever_runs_the_tests() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("BRIMLINE_")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def mongod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """One real mongod for all tests that leave it as they found it, or drop what they need gone."""
    binary = required_mongod()
    with bundled(binary=binary, directory=tmp_path_factory.mktemp("mongod"), cache_gb=0.25) as deployment:
        yield deployment


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control connections wait a tenth of a second for a server, in tests that have none."""
    waits = {"serverSelectionTimeoutMS": 100, "connectTimeoutMS": 100}
    monkeypatch.setattr(deployment, "ControlClient", lambda uri, **options: ControlClient(uri, **{**options, **waits}))


@pytest.fixture
def brimline_cli(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in a directory and a cache of its own; what it leaves running is ended."""
    with CommandLine.below(tmp_path) as command_line:
        yield command_line
