"""Whom a server knows of its deployment, and which of them run here: scripted answers, and this process's own port."""

import os
import socket
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from pymongo.errors import OperationFailure

from brimline.servers import listening
from brimline.servers.deployment import Client, Deployment
from brimline.servers.listening import process_name, server_on_port
from brimline.servers.members import known_members, member_processes


class _Admin:
    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def command(self, name: str) -> Any:
        if name not in self._answers:
            raise OperationFailure("not authorized on admin", code=13)
        return self._answers[name]


class _Client:
    def __init__(self, **answers: Any) -> None:
        self.admin = _Admin(answers)


def client(**answers: Any) -> Client:
    return cast(Client, _Client(**answers))


def test_a_member_names_its_set_and_who_only_votes() -> None:
    hello = {"setName": "rs", "hosts": ["a:1", "b:2"], "passives": ["c:3"], "arbiters": ["d:4"], "me": "a:1"}
    assert known_members(client(hello=hello)) == {"a:1": "", "b:2": "", "c:3": "", "d:4": "arbiter"}


def test_a_mongos_names_shards_and_config_servers() -> None:
    shards = {"map": {"config": "cfg/a:1,b:1", "one": "one/a:2,b:2", "two": "a:3"}}
    found = known_members(client(hello={"msg": "isdbgrid"}, getShardMap=shards))
    assert {address for address, role in found.items() if role == "config server"} == {"a:1", "b:1"}
    assert {address for address, role in found.items() if role == "shard"} == {"a:2", "b:2", "a:3"}
    assert known_members(client(hello={"msg": "isdbgrid"})) == {}, "who may not ask for the map"


@pytest.mark.parametrize("hello", [{}, {"hosts": "a:1"}, {"hosts": [1, None, "a"]}, {"msg": "isdbgrid", "hosts": {}}])
def test_what_a_server_makes_up_is_nobody(hello: Mapping[str, Any]) -> None:
    assert known_members(client(hello=hello, getShardMap={"map": ["a:1"]})) == {}


def test_who_of_them_is_here_is_told_by_the_port_that_a_server_listens_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as here:
        port = here.getsockname()[1]
        hello = {"setName": "rs", "hosts": [f"127.0.0.1:{port}", "127.0.0.1:1", "192.0.2.7:27017"]}
        primary = Deployment(address="127.0.0.1:2", uri_redacted="", kind="replica-set member", engine="MongoDB",
                             version="", git_version="", local=True, pid=1, cpu_count=2)  # fmt: skip
        assert member_processes(primary, client(hello=hello)) == (), "another program listens there"
        monkeypatch.setattr(listening, "_SERVER_NAMES", frozenset({process_name(os.getpid())}))
        (found,) = member_processes(primary, client(hello=hello))
    assert (found.pid, found.name) == (os.getpid(), f"{process_name(os.getpid())} 127.0.0.1:{port}")
    assert server_on_port(port) is None, "it listens no more"


def test_who_listens_is_looked_for_before_all_connections_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that listen come first in the kernel's table, which may have a hundred thousand rows."""
    (tmp_path / "net").mkdir()
    row = "0: 0100007F:{port:04X} 00000000:0000 {state} 0:0 0:0 0 0 0 {inode} 1\n"
    rows = [row.format(port=27017, state="0A", inode=7), row.format(port=27018, state="0A", inode=8)]
    connections = [row.format(port=27018, state="01", inode=9), "what nobody reads\n"]
    (tmp_path / "net" / "tcp").write_text("".join(["sl local_address\n", *rows, *connections]))
    monkeypatch.setattr(listening, "_PROC", tmp_path)
    assert listening._listening_inodes(27018) == {"8"}
    assert listening._listening_inodes(27019) == frozenset()
