"""How many connections a process may have, by its limit of open files and the sockets that each takes."""

import resource

import pytest

from brimline.doctor.limits import OPEN_FILES_BESIDE
from brimline.execution import descriptors
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
