"""How many connections a process may have, by its limit of open files and the sockets that each takes."""

import resource
from pathlib import Path

import pytest

from brimline.api.options import Options
from brimline.api.own_lab import sockets_per_connection
from brimline.api.vary import vary
from brimline.doctor.limits import OPEN_FILES_BESIDE
from brimline.errors import UsageError
from brimline.execution import descriptors
from brimline.servers.selection import Mode
from brimline.spec.readers import CONNECTION_COUNT_MAX


@pytest.mark.parametrize(
    ("hard", "sockets", "allowed"),
    [
        (OPEN_FILES_BESIDE + 300, 1, 300),
        (OPEN_FILES_BESIDE + 300, 4, 75),
        (OPEN_FILES_BESIDE, 1, 1),
        (OPEN_FILES_BESIDE + 300, 0, CONNECTION_COUNT_MAX),
        (resource.RLIM_INFINITY, 1, CONNECTION_COUNT_MAX),
        (10**9, 1, CONNECTION_COUNT_MAX),
    ],
)
def test_connections_allowed(monkeypatch: pytest.MonkeyPatch, hard: int, sockets: int, allowed: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, hard))
    assert descriptors.connections_within(sockets) == allowed


@pytest.mark.parametrize(
    ("topology", "reads", "sockets"),
    [
        (None, None, 1),
        ("standalone", None, 1),
        ("client-routed-2", None, 2),
        ("client-routed-4x2", None, 4),
        ("sharded-2", None, 1),
        ("replica-set-3", None, 1),
        ("replica-set-3", "primary", 1),
        ("replica-set-3", "primaryPreferred", 1),
        ("replica-set-3", "secondary", 2),
        ("replica-set-3", "nearest", 2),
        ("replica-set-1", "secondaryPreferred", 1),
    ],
)
def test_sockets_of_servers_that_are_not_started_yet(topology: str | None, reads: Mode | None, sockets: int) -> None:
    assert sockets_per_connection(Options(topology=topology), reads=reads) == sockets


@pytest.mark.parametrize(
    "factors",
    [("topology=standalone,shards-2",), ("topology=standalone,replica-set-3", "read-preference=primary,nearest")],
    ids=["client-routed shards", "reads of secondaries"],
)
def test_a_sweep_that_would_break_off_at_its_widest_combination_is_refused_before_the_first_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, factors: tuple[str, ...]
) -> None:
    """60 connections have room, twice as many sockets have not."""

    def start(*_: object, **__: object) -> None:
        raise AssertionError("a server was started")

    monkeypatch.delenv("BRIMLINE_URI", raising=False)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (200, 200))
    monkeypatch.setattr("brimline.api.workplace.own_server", start)
    with pytest.raises(UsageError, match="needs 248 open files, and this process may have 200"):
        vary("ycsb-c", factors=["connections=1,60", *factors], options=Options(runs_dir=tmp_path / "runs"))
    assert not list(tmp_path.iterdir())
