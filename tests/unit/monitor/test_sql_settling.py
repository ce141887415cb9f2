"""Before a PostgreSQL server's counts are read, what has ended is counted, and nothing else is waited for."""

from typing import Any, cast

import pytest

from brimline.monitor.sql import postgres
from brimline.servers.sql_client import CONTROL_SESSION


class Server:
    """Its sessions by their names; one ends with each look at them."""

    def __init__(self, *sessions: str) -> None:
        self.sessions, self.looks = list(sessions), 0

    def rows(self, text: str, *given: Any) -> list[tuple[int]]:
        """How many there are beside the one that asks."""
        if "pg_stat_activity" not in text:
            return []
        _, control, awaits_control = given
        self.looks += 1
        there = [name for name in self.sessions if (name == control) is awaits_control]
        if there:
            self.sessions.remove(there[0])
        return [(len(there),)]


@pytest.mark.parametrize(
    ("connected", "sessions", "looks"),
    [
        pytest.param(False, ["brimline", "brimline", CONTROL_SESSION], 3, id="after a run"),
        pytest.param(True, ["brimline", "brimline"], 1, id="own connections of a run that has sent nothing"),
        pytest.param(True, ["brimline", CONTROL_SESSION], 2, id="what made the tables before it"),
    ],
)
def test_what_is_waited_for(connected: bool, sessions: list[str], looks: int) -> None:
    server = Server(*sessions)
    postgres.DIALECT.settle(cast(Any, server), "shop", connected)
    assert server.looks == looks
