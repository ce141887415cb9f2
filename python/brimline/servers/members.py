"""Owns which processes of this machine are members of the same deployment as a server: of its set, cluster or lab.

A server says whom it knows: a member the others of its set, a mongos the shards and the config servers. Of a lab of
this machine all are known. Who of them is here is told by the port that a server's process listens on.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pymongo.errors import PyMongoError

from brimline.servers.answers import words
from brimline.servers.deployment import Client, Deployment, is_local_host, split_address
from brimline.servers.lab.lookup import lab_server
from brimline.servers.lab.state import server_process
from brimline.servers.listening import process_name, server_on_port

_ROLES = {"config server": "config server", "shard": "shard", "arbiter": "arbiter"}
"""What is said in place of a program's name."""
_CONFIG = "config"
"""The name that `getShardMap` has for the config servers; all others are shards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberProcess:
    """A process of this machine. `name`: what it is and where it listens, such as `mongod 127.0.0.1:27018`."""

    name: str
    pid: int


def member_processes(deployment: Deployment, client: Client) -> tuple[MemberProcess, ...]:
    """The other members that run here, each once; `client` asks the server of `deployment`. Raises nothing."""
    found: dict[int, MemberProcess] = {}
    for address, role, pid in (*_of_lab(deployment), *_of_answers(deployment, client)):
        if pid is not None and pid != deployment.pid and pid not in found:
            found[pid] = MemberProcess(name=f"{_ROLES.get(role) or process_name(pid) or 'server'} {address}", pid=pid)
    return tuple(found.values())


def _of_lab(deployment: Deployment) -> Iterator[tuple[str, str, int | None]]:
    found = lab_server(deployment.address)
    if found is not None:
        lab, _ = found
        for server in lab.servers:
            process = server_process(lab, server)
            yield server.address, server.role, None if process is None else process.pid


def _of_answers(deployment: Deployment, client: Client) -> Iterator[tuple[str, str, int | None]]:
    for address, role in (dict.fromkeys(deployment.addresses, "") | known_members(client)).items():
        with suppress(ValueError, OSError):
            host, port = split_address(address)
            if is_local_host(host):
                yield address, role, server_on_port(port)


def known_members(client: Client) -> dict[str, str]:
    """Whom a server knows, with what they are where it says so: its set by `hello`, its cluster by the map of shards.

    What it doesn't tell, or not to everybody, is left out.
    """
    hello = answer_of(client, "hello")
    shards: Mapping[str, Any] = {}
    if hello.get("msg") == "isdbgrid":
        shards = _mapping(answer_of(client, "getShardMap").get("map"))
    known = {address: "" for name in ("hosts", "passives") for address in named_addresses(hello.get(name))}
    known |= dict.fromkeys(named_addresses(hello.get("arbiters")), "arbiter")
    for name, hosts in shards.items():
        role = "config server" if name == _CONFIG else "shard"
        known |= dict.fromkeys(named_addresses(str(hosts).rpartition("/")[2].split(",")), role)
    return known


def answer_of(client: Client, command: str) -> Mapping[str, Any]:
    """What a server answers; nothing where it doesn't, or refuses."""
    try:
        return _mapping(client.admin.command(command))
    except PyMongoError:
        return {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def named_addresses(values: Any) -> list[str]:
    """Those of `values`, a list of a server's answer, that are addresses."""
    return [words(each) for each in values if isinstance(each, str) and ":" in each] if isinstance(values, list) else []
