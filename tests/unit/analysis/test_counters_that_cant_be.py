"""Counters of a server that can't be are unknown, and never room that is left."""

from typing import Any

import pytest

from brimline.analysis.server_window import ServerWindow
from brimline.monitor.server_status import read_status
from brimline.servers.deployment import _cpu_count

_S = 1_000_000_000


@pytest.mark.parametrize("value", [-1, -(2**63), 2**53 + 1, 9 * 10**18, 1e300, float("nan"), float("inf"), "7", None])
def test_a_value_that_cant_be_is_unknown(value: object) -> None:
    status = {"opcounters": {"query": value}, "connections": {"current": value}, "mem": {"resident": value}}
    columns = read_status(status)
    assert [columns[name] for name in ("query", "connections", "resident_bytes")] == [None] * 3


def test_what_can_be_is_kept() -> None:
    columns = read_status({"opcounters": {"query": 0}, "flowControl": {"isLagged": True}})
    assert (columns["query"], columns["flow_control_lagged"]) == (0, 1)


@pytest.mark.parametrize(
    ("cores", "known"), [(8, 8), (0, None), (-4, None), (9 * 10**18, None), (True, None), (2.0, None)]
)
def test_how_many_cpus_a_server_can_have(cores: object, known: int | None) -> None:
    class Admin:
        def command(self, _name: str) -> dict[str, Any]:
            return {"system": {"numCores": cores}}

    class Client:
        admin = Admin()

    assert _cpu_count(Client()) == known  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [[10, 5, 20], [10, 20, 5], [10, 30, None, 20, 40]])
def test_a_counter_that_falls_anywhere_has_no_rate(counts: list[int | None]) -> None:
    window = ServerWindow([{"at_ns": place * _S, "query": count} for place, count in enumerate(counts)])
    assert (window.rate("query"), window.growth("query")) == (None, None)


def test_a_negative_gauge_is_unknown() -> None:
    window = ServerWindow([{"at_ns": -_S, "connections": -3, "query": 1}, {"at_ns": _S, "connections": 5, "query": 5}])
    assert (window.mean("connections"), window.rate("query")) == (5.0, 2.0)
