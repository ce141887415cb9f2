"""Owns which servers hold the data of a deployment: its shards, and the members of each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brimline.servers.answers import words
from brimline.servers.deployment import Client, Deployment, control_client
from brimline.servers.members import answer_of, named_addresses

_LOOK_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One server. `shard` is the name of what it holds a copy of, "" where there is one shard only."""

    shard: str
    address: str


def parts_of(deployment: Deployment) -> tuple[Part, ...]:
    """Every server with data, shard by shard; none where a single one has them all. Raises nothing.

    Client-routed shards are numbered as their records are routed; of a cluster the router names them.
    """
    if deployment.kind == "mongos":
        with _client(deployment, deployment.address) as client:
            listed = answer_of(client, "listShards").get("shards")
        shards = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
        named = [(words(each.get("_id")), words(each.get("host", ""))) for each in shards]
        return tuple(
            Part(shard=name, address=address)
            for name, hosts in named
            for address in named_addresses(hosts.rpartition("/")[2].split(","))
        )
    fronts = (deployment.address, *deployment.shards)
    if len(fronts) == 1 and deployment.kind != "replica-set member":
        return ()
    found = tuple(
        Part(shard=f"shard {number}" if len(fronts) > 1 else "", address=address)
        for number, front in enumerate(fronts, start=1)
        for address in _members(deployment, front)
    )
    return found if len(found) > 1 else ()


def _members(deployment: Deployment, front: str) -> Iterator[str]:
    """The server itself, and the others of its set."""
    with _client(deployment, front) as client:
        hello = answer_of(client, "hello")
    known = [address for name in ("hosts", "passives") for address in named_addresses(hello.get(name))]
    # Its own name for itself may be another than the one it was reached by.
    yield front
    yield from (address for address in known if address not in (front, hello.get("me")))


def _client(deployment: Deployment, address: str) -> Client:
    return control_client(address, access=deployment.access, purpose="monitor", connect_timeout_s=_LOOK_TIMEOUT_S)
