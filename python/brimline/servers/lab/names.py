"""Owns topologies by one word, such as `replica-set-3`: how they are read, and the lab each stands for."""

import re

from brimline.servers.lab.spec import SHARDS_MAX, LabSpec, Topology, members_of

STANDALONE = "standalone"
_SET = re.compile(r"replica-set-(?P<members>\d+)")
_ROUTED = re.compile(r"(?:client-routed|shards)-(?P<shards>\d+)(?:x(?P<members>\d+))?")
_CLUSTER = re.compile(r"sharded-(?P<shards>\d+)(?:x(?P<members>\d+))?")
CLIENT_ROUTED: Topology = "client-routed shards"
EXAMPLES = (STANDALONE, "replica-set-3", "client-routed-2", "client-routed-2x2", "sharded-2", "sharded-2x2")
"""Topologies as they are written; the numbers are anybody's."""
TOPOLOGIES = (
    "standalone, replica-set-3, client-routed-2 (shards-2 for short), client-routed-2x2 for shards of 2 members, "
    "sharded-2 or sharded-2x2 behind a mongos"
)


def read_topology(text: str) -> str:
    """The one spelling of a topology's name. Raises ValueError, and UsageError where the number of members can't be."""
    if text == STANDALONE:
        return text
    if _SET.fullmatch(text):
        spec = topology_spec(text)
        return f"replica-set-{len(spec.members)}"
    if match := _ROUTED.fullmatch(text) or _CLUSTER.fullmatch(text):
        if not 1 <= int(match["shards"]) <= SHARDS_MAX:
            raise ValueError(f"there can be 1 to {SHARDS_MAX} shards, not {match['shards']}")
        spec = topology_spec(text)
        if spec.topology == "sharded cluster":
            return f"sharded-{spec.shard_count}" + (f"x{len(spec.members)}" if len(spec.members) > 1 else "")
        return f"client-routed-{spec.shard_count}" + (f"x{len(spec.members)}" if spec.members else "")
    if text.startswith(("cluster", "sharded")):
        raise ValueError(
            f'"{text}" is no topology: a cluster behind a mongos is sharded-2, or sharded-2x3 with shards of 3 members'
        )
    raise ValueError(f'"{text}" is no topology; there are {TOPOLOGIES}')


def topology_spec(name: str) -> LabSpec:
    """The lab of a topology, all else as a lab has it. Raises UsageError where the number of members can't be."""
    if match := _SET.fullmatch(name):
        return LabSpec(topology="replica set", members=members_of(int(match["members"])))
    if match := _ROUTED.fullmatch(name):
        members = members_of(int(match["members"])) if match["members"] else ()
        return LabSpec(topology=CLIENT_ROUTED, members=members, shard_count=int(match["shards"]))
    if match := _CLUSTER.fullmatch(name):
        members = members_of(int(match["members"] or 1))  # a shard is always a replica set
        return LabSpec(topology="sharded cluster", members=members, shard_count=int(match["shards"]))
    return LabSpec()


def is_client_routed(name: str) -> bool:
    """Whether the client itself finds the server of a record."""
    return _ROUTED.fullmatch(name) is not None


def is_sharded(name: str) -> bool:
    """Whether there is a mongos between client and servers."""
    return _CLUSTER.fullmatch(name) is not None
