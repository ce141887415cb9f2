"""What a server is, from its own answers; and which process of this machine it is."""

import os
import socket
from typing import Any

import pytest

from brimline.servers.addresses import joined_address, names_loopback
from brimline.servers.database import awaits_others
from brimline.servers.deployment import engine_of, is_local_host, is_loopback, kind_of, split_address
from brimline.servers.listening import listens

_GIT = "c9a99c120371d4d4c52cbb15dac34a36ce8d3b1d"


@pytest.mark.parametrize(
    ("build", "status", "engine"),
    [
        ({"version": "6.0.5", "gitVersion": _GIT}, {"process": "mongod", "wiredTiger": {}}, "MongoDB"),
        ({"version": "8.0.4", "gitVersion": _GIT}, {"process": "mongos", "sharding": {}}, "MongoDB"),
        (
            {"version": "7.0.42", "gitVersion": _GIT, "ferretdb": {"version": "v2.7"}},
            {"wiredTiger": {}},
            "FerretDB",
        ),
        ({"version": "7.0.42", "ferretdbVersion": "v1.24"}, {}, "FerretDB"),
        ({"version": "5.0.0", "gitVersion": "unknown"}, {"wiredTiger": {}}, "unknown"),
        ({"version": "7.0.0", "gitVersion": _GIT}, {"process": "mongod"}, "unknown"),
        (
            {"version": "6.0.0-scripted", "scripted": True, "gitVersion": _GIT},
            {"wiredTiger": {}},
            "brimline-testserver",
        ),
    ],
)
def test_only_mongodb_is_called_mongodb(build: dict[str, Any], status: dict[str, Any], engine: str) -> None:
    assert engine_of(build, status) == engine


def test_the_role_comes_from_hello() -> None:
    assert kind_of({"msg": "isdbgrid"}, "MongoDB") == "mongos"
    assert kind_of({"setName": "rs0"}, "MongoDB") == "replica-set member"
    assert kind_of({}, "MongoDB") == "standalone"
    assert kind_of({}, "FerretDB") == "unknown"


def test_a_process_is_known_by_the_port_it_listens_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert listens(os.getpid(), port)
        assert not listens(os.getppid(), port)
        assert not listens(4_000_000, port)
    assert not listens(os.getpid(), port)


def test_local_addresses_are_those_that_can_be_bound() -> None:
    assert is_local_host("127.0.0.1")
    assert is_local_host("localhost")
    assert not is_local_host("192.0.2.1")  # TEST-NET-1, never assigned
    assert not is_local_host("no such host")


def test_addresses_of_the_loopback_interface() -> None:
    assert all(is_loopback(address) for address in ("127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"))
    assert not any(is_loopback(address) for address in ("192.0.2.1:1", "[2001:db8::1]:1", "no such host:1"))


def test_an_address_is_split() -> None:
    assert split_address("[::1]:27017") == ("::1", 27017)
    assert split_address("db.example.com:1") == ("db.example.com", 1)
    for host in ("::1", "db.example.com", "10.0.0.1"):
        assert split_address(joined_address(host, 27017)) == (host, 27017)


def test_no_name_but_localhost_is_taken_for_this_machine() -> None:
    assert all(map(names_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(names_loopback, ("10.0.0.1", "0.0.0.0", "::", "localhost.example.com", "")))


@pytest.mark.parametrize(
    ("protocol", "settings", "others"),
    [
        ("mysql", {"sync_binlog": "1"}, False),
        ("mysql", {"rpl_semi_sync_master_enabled": "OFF"}, False),
        ("mysql", {"rpl_semi_sync_source_enabled": "ON"}, True),
        ("postgres", {"synchronous_commit": "on", "synchronous_standby_names": ""}, False),
        ("postgres", {"synchronous_commit": "on", "synchronous_standby_names": "b"}, True),
        ("postgres", {"synchronous_commit": "local", "synchronous_standby_names": "b"}, False),
        ("postgres", {}, None),
    ],
)
def test_whether_a_write_of_a_database_waits_for_another_server(
    protocol: str, settings: dict[str, str], others: bool | None
) -> None:
    assert awaits_others(protocol, settings) is others
