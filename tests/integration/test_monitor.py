"""The monitor beside a real mongod: on a replica set, and for a user who may not see anything."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymongo
import pytest

from brimline.monitor import ServerRow
from brimline.monitor.look import ServerLook
from brimline.servers import Deployment, bundled, control_client
from brimline.servers.deployment import Client, inspect_deployment
from tests.support.server import required_mongod
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _mongod(directory: Path, *options: str) -> Iterator[str]:
    """A mongod with options that brimline's own never has. Gives its address."""
    port = _free_port()
    common = ("--dbpath", str(directory), "--bind_ip", "127.0.0.1", "--port", str(port))
    process = subprocess.Popen(
        [required_mongod().path, *common, "--wiredTigerCacheSizeGB", "0.25", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _rows(client: Client, deployment: Deployment, *, count: int = 3) -> tuple[list[ServerRow], ServerLook]:
    look = ServerLook(client, deployment)
    return [ServerRow(**look.take()) for _ in range(count)], look


def test_the_server_spends_little_on_the_monitor_and_the_record_can_say_how_much(tmp_path: Path) -> None:
    with bundled(directory=tmp_path, cache_gb=0.25) as deployment, control_client(deployment.address) as client:
        rows, look = _rows(client, deployment, count=40)
        spent = [row.monitor_server_cpu_ns for row in rows]
        assert None not in spent
        assert spent == sorted(spent, key=lambda each: each or 0)
        grown_ns = (spent[-1] or 0) - (spent[0] or 0)
        waited_ns = sum(row.round_trip_ns or 0 for row in rows[1:])
        # A thread that serves one connection can't be at work for longer than that waits for it.
        assert 0 < grown_ns <= waited_ns
        absent = {name: each.reason for each in look.absent() for name in each.metrics}
        assert "host_busy_ns" not in absent
        assert "monitor_server_cpu_ns" not in absent


def test_a_member_of_a_replica_set_shows_the_set(tmp_path: Path) -> None:
    with _mongod(tmp_path, "--replSet", "rs", "--oplogSize", "64") as address, control_client(address) as client:
        client.admin.command({"replSetInitiate": {"_id": "rs", "members": [{"_id": 0, "host": address}]}})
        assert eventually(lambda: bool(client.admin.command("hello").get("isWritablePrimary")))
        deployment = inspect_deployment(client, address=address, uri_redacted=f"mongodb://{address}")
        rows, _ = _rows(client, deployment)
        assert deployment.kind == "replica-set member"
        assert (rows[0].members_primary, rows[0].members_secondary, rows[0].members_unreachable) == (1, 0, 0)
        assert rows[0].replication_lag_slowest_ms is None  # nobody who could be behind
        assert rows[0].replication_lag_majority_ms is not None


def test_a_user_without_the_privilege_gets_no_figures_and_a_reason_and_goes_on(tmp_path: Path) -> None:
    with _mongod(tmp_path, "--auth") as address:
        with control_client(address) as first:
            assert eventually(lambda: _answers(first))
            # The first user may be made by anybody on the server's host; that one makes the others.
            first.admin.command(
                {"createUser": "root", "pwd": "r", "roles": ["root"]}
            )  # no secret: it lives for seconds
        with _signed_in(address, "root", "r") as root:
            deployment = inspect_deployment(root, address=address, uri_redacted=f"mongodb://{address}")
            root["shop"].command({"createUser": "ann", "pwd": "a", "roles": ["readWrite"]})
        with _signed_in(address, "ann", "a", database="shop") as client:
            rows, look = _rows(client, deployment)
    assert [row.gap for row in rows] == ["", "", ""]
    assert {row.insert for row in rows} == {None}
    assert rows[-1].host_busy_ns is not None
    (refused,) = [each for each in look.absent() if "insert" in each.metrics]
    assert "clusterMonitor" in refused.reason


def _answers(client: Client) -> bool:
    try:
        return bool(client.admin.command("ping"))
    except pymongo.errors.PyMongoError:
        return False


def _signed_in(address: str, user: str, word: str, *, database: str = "admin") -> Client:
    options: dict[str, Any] = {"username": user, "password": word, "authSource": database}
    return pymongo.MongoClient(f"mongodb://{address}", directConnection=True, **options)
