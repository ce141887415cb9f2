"""Counters of a server that can't be are unknown, and never room that is left."""

from typing import Any

import pytest

from brimline.analysis.server_window import ServerWindow
from brimline.monitor.server_status import read_status
from brimline.monitor.sql.mysql import _status
from brimline.monitor.sql.postgres import read_views
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


@pytest.mark.parametrize("value", [-1, 2**64, 10**400, 1e300, float("nan"), float("inf")])
def test_what_a_host_elsewhere_or_a_file_tells_is_held_to_the_same(value: float) -> None:
    """What comes from a watcher, an exporter, a database or an old record is read in one place."""
    rows = [{"at_ns": place * _S, "host_busy_ns": value, "host_cpu_count": value, "sane": 3} for place in (1, 2)]
    window = ServerWindow(rows)  # type: ignore[arg-type]
    assert (window.rate("host_busy_ns"), window.mean("host_cpu_count"), window.mean("sane")) == (None, None, 3.0)


def test_no_machine_has_so_many_cpus() -> None:
    window = ServerWindow([{"at_ns": 0, "server_cpu_count": 1e9, "host_cpu_count": 64}])
    assert (window.mean("server_cpu_count"), window.mean("host_cpu_count")) == (None, 64.0)


@pytest.mark.parametrize("value", [-1, 2**53 + 1, 10**400])
def test_databases_tell_no_more_than_a_count_can_be(value: int) -> None:
    told = {"blks_hit": value, "blks_read": 7, "block_bytes": 8192, "tup_inserted": value}
    columns = read_views(told, activity={"connections": value}, checkpoints={}, log={}, fsyncs={})
    assert [columns[name] for name in ("insert", "buffer_requests", "connections")] == [None] * 3
    assert columns["buffer_misses"] == 7

    class Client:
        def rows(self, _text: str) -> list[tuple[str, str]]:
            return [("Com_insert", str(value)), ("Uptime", "5")]

    assert _status(Client()) == {"uptime": 5}  # type: ignore[arg-type]
