"""Owns topologies by one word, such as `replica-set-3`: how they are read, and the lab each stands for."""

import re

from brimline.servers.lab.spec import SHARDS_MAX, LabSpec, Topology, members_of

STANDALONE = "standalone"
_SET = re.compile(r"replica-set-(?P<members>\d+)")
_ROUTED = re.compile(r"(?:client-routed|shards)-(?P<shards>\d+)(?:x(?P<members>\d+))?")
_CLIENT_ROUTED: Topology = "client-routed shards"
TOPOLOGIES = (
    "standalone, replica-set-3, client-routed-2 (shards-2 for short), client-routed-2x2 for shards of 2 members"
)


def read_topology(text: str) -> str:
    """The one spelling of a topology's name. Raises ValueError, and UsageError where the number of members can't be."""
    if text == STANDALONE:
        return text
    if _SET.fullmatch(text):
        spec = topology_spec(text)
        return f"replica-set-{len(spec.members)}"
    if match := _ROUTED.fullmatch(text):
        if not 1 <= int(match["shards"]) <= SHARDS_MAX:
            raise ValueError(f"there can be 1 to {SHARDS_MAX} shards, not {match['shards']}")
        spec = topology_spec(text)
        return f"client-routed-{spec.shard_count}" + (f"x{len(spec.members)}" if spec.members else "")
    if text.startswith(("cluster", "sharded")):
        raise ValueError(
            "a sharded cluster is no topology to measure by its name: collections would have to be sharded behind a "
            "mongos; client-routed-2 is two servers among which the client routes"
        )
    raise ValueError(f'"{text}" is no topology; there are {TOPOLOGIES}')


def topology_spec(name: str) -> LabSpec:
    """The lab of a topology, all else as a lab has it. Raises UsageError where the number of members can't be."""
    if match := _SET.fullmatch(name):
        return LabSpec(topology="replica set", members=members_of(int(match["members"])))
    if match := _ROUTED.fullmatch(name):
        members = members_of(int(match["members"])) if match["members"] else ()
        return LabSpec(topology=_CLIENT_ROUTED, members=members, shard_count=int(match["shards"]))
    return LabSpec()


def is_client_routed(name: str) -> bool:
    """Whether the client itself finds the server of a record."""
    return _ROUTED.fullmatch(name) is not None
