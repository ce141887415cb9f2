"""Owns the life of a lab: brought up whole or not at all, looked at, taken down.

As with a single server, the guardians end the servers when the command that brings them up dies in any way, and the
next command sweeps what is left. Only a lab that is up outlives its command, until `take_down`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pymongo.errors import PyMongoError

from brimline.errors import TargetError, UsageError
from brimline.servers.binary import ServerBinary, version_number
from brimline.servers.lab import access, replica_sets, sharding
from brimline.servers.lab.fleet import Fleet, Wish
from brimline.servers.lab.leftovers import remove, sweep_labs
from brimline.servers.lab.spec import LabSpec, MemberSpec, check_name
from brimline.servers.lab.state import (
    LAB_FILE,
    Lab,
    LabServer,
    Role,
    claim,
    damaged_lab,
    labs_directory,
    owned,
    read_lab,
    server_process,
    stored_labs,
)
from brimline.servers.launch import Guardian, end, keep
from brimline.servers.owner import Scope
from brimline.servers.processes import is_alive
from brimline.servers.state import require_own

DEADLINE_S = 180.0
"""For the whole lab: a set of three takes 5 to 15 s on a quiet machine."""
_PING_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLook:
    """One server now. `state`: PRIMARY, SECONDARY, ARBITER …, "up", "does not answer" or "ended"."""

    server: LabServer
    pid: int | None
    state: str

    @property
    def works(self) -> bool:
        """Whether it does what it is there for."""
        return self.state in {"PRIMARY", "SECONDARY", "ARBITER", "up"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A lab that is up, and the guardians of its servers."""

    lab: Lab
    guardians: list[Guardian]

    def take_down(self) -> None:
        """Ends it; nothing is left."""
        _abandon(self.lab, self.guardians)


def bring_up(
    spec: LabSpec,
    *,
    mongod: ServerBinary,
    mongos: Path | None = None,
    outlives: bool,
    deadline_s: float = DEADLINE_S,
    say: Callable[[str], None] = lambda _: None,
    meanwhile: Callable[[], None] = lambda: None,
    parent: Path | None = None,
) -> Raised:
    """Brings a lab up; it is complete when this returns, and gone when this raises.

    `outlives`: it stays when this process ends, until it is taken down. `meanwhile` is called several times a second;
    what it raises ends the attempt.

    Raises:
        UsageError: there is a lab of that name, or a sharded cluster is wanted and there is no mongos for it.
        TargetError: it can't be brought up, or not before the deadline.
    """
    sweep_labs(parent)
    router = sharding.require_mongos(mongos, mongod=mongod) if spec.topology == "sharded cluster" else None
    version = version_number(mongod)
    lab = claim(parent or labs_directory(), name=spec.name, topology=spec.topology, outlives=outlives)
    lab = replace(lab, user=access.USER if spec.auth else None, tls=spec.tls, version=version, settings=_settings(spec))
    fleet = Fleet(
        lab=lab,
        spec=spec,
        mongod=mongod,
        mongos=router,
        until=time.monotonic() + deadline_s,
        meanwhile=meanwhile,
    )
    try:
        say(f"bringing up {spec.topology} {spec.name}: {mongod.described}")
        access.make_secrets(lab)
        lab = _built(fleet, say)
        meanwhile()  # from here on it stays: who asked for the end until now is not left with a lab
        if outlives:
            for guardian in fleet.guardians:
                if guardian.poll() is None:
                    keep(guardian)
        lab = owned(lab, phase="up")
    except OSError as error:
        _abandon(lab, fleet.guardians)
        raise TargetError(
            f"the lab can't be brought up: {(error.strerror or str(error)).lower()}",
            hint=f"labs are kept in {lab.directory.parent}; set XDG_CACHE_HOME to have them elsewhere",
        ) from error
    except BaseException:
        _abandon(lab, fleet.guardians)
        raise
    return Raised(lab=lab, guardians=fleet.guardians)


def take_down(name: str, *, parent: Path | None = None) -> None:
    """Ends a lab and removes all of it. Raises UsageError where there is none or it is being started, TargetError."""
    require_own(parent or labs_directory())
    lab = damaged_lab((parent or labs_directory()) / check_name(name)) or find_lab(name, parent=parent)
    if lab.phase == "starting" and is_alive(lab.owner) and lab.scope == Scope.current():
        raise UsageError(
            f'the lab "{name}" is being brought up by process {lab.owner.pid}', hint="end that process, and it is gone"
        )
    if not remove(owned(lab, phase="stopping")):
        raise TargetError(
            f'the lab "{name}" can\'t be taken down: a process or a file of it stays',
            hint=f"see {lab.directory}; brimline lab down {name} tries again",
        )


def find_lab(name: str, *, parent: Path | None = None) -> Lab:
    """The lab of that name. Raises UsageError where there is none."""
    parent = parent or labs_directory()
    require_own(parent)
    lab = read_lab(parent / check_name(name))
    if lab is None and damaged_lab(parent / name) is not None:
        raise UsageError(
            f'what the lab "{name}" is can\'t be read: {LAB_FILE} is damaged',
            hint=f"brimline lab down {name} removes it",
        )
    if lab is None:
        names = ", ".join(each.name for each in stored_labs(parent))
        raise UsageError(
            f'there is no lab called "{name}"', hint=f"there are: {names}" if names else "brimline lab up starts one"
        )
    return lab


def look_at(lab: Lab) -> list[ServerLook]:
    """What each server of a lab is now."""
    views: dict[str | None, dict[str, str]] = {}
    looks = []
    for server in lab.servers:
        process = server_process(lab, server)
        if process is None:
            looks.append(ServerLook(server=server, pid=None, state="ended"))
            continue
        if server.set_name is None:
            state = "up" if _answers(lab, server.address) else "does not answer"
        else:
            if server.set_name not in views:
                views[server.set_name] = _view_of_set(lab, server.set_name)
            state = views[server.set_name].get(server.address, "does not answer")
        looks.append(ServerLook(server=server, pid=process.pid, state=state))
    return looks


def is_complete(looks: Sequence[ServerLook]) -> bool:
    """Whether every server does what it is there for: one primary a set, all others in step."""
    primaries = {look.server.set_name for look in looks if look.state == "PRIMARY"}
    sets = {look.server.set_name for look in looks if look.server.set_name is not None}
    return primaries == sets and all(look.works for look in looks)


def _built(fleet: Fleet, say: Callable[[str], None]) -> Lab:
    """Starts the servers, makes of them what the topology is, and says how to reach it."""
    spec, lab = fleet.spec, fleet.lab
    reached: list[tuple[list[str], str | None]]
    if spec.topology == "sharded cluster":
        reached = [(_cluster(fleet, say), None)]
    elif spec.members:
        names = _set_names(spec)
        sets = _sets(fleet, names, spec.members, say)
        reached = [(_seeds(sets[name]), name) for name in names]
    else:
        servers = fleet.start([Wish(role=_own_role(spec))] * spec.set_count)
        for server in servers:
            _await_answer(fleet, server)
            access.create_first_user(lab, server.address, until=fleet.until, meanwhile=fleet.meanwhile)
        reached = [([server.address], None) for server in servers]
    uris, whole = (
        tuple(
            access.connection_string(lab, addresses, set_name=set_name, with_password=with_password)
            for addresses, set_name in reached
        )
        for with_password in (False, True)
    )
    access.write_uris(lab, list(whole))
    built = _build_info(lab, reached[0][0][0])
    return replace(lab, servers=tuple(fleet.servers), uris=uris, settings={**lab.settings, **built})


def _sets(
    fleet: Fleet,
    names: Sequence[str],
    members: tuple[MemberSpec, ...],
    say: Callable[[str], None],
    *,
    role: Role | None = None,
) -> dict[str, list[LabServer]]:
    """Replica sets of the same members, started side by side; by name."""
    wishes = [
        Wish(
            role="arbiter" if member.arbiter else role or "member",
            set_name=name,
            member=member,
            cluster_role=role,
        )
        for name in names
        for member in members
    ]
    servers = fleet.start(wishes)
    sets = {name: [server for server in servers if server.set_name == name] for name in names}
    for name, of_set in sets.items():
        say(f"{name}: waiting for one primary and all others in step")
        configuration = replica_sets.set_configuration(
            fleet.spec,
            members,
            [server.address for server in of_set],
            set_name=name,
            version=fleet.lab.version or "",
        )
        if role == "config server":
            configuration["configsvr"] = True
        replica_sets.initiate(fleet.lab, configuration, members, until=fleet.until, meanwhile=fleet.meanwhile, say=say)
    return sets


def _cluster(fleet: Fleet, say: Callable[[str], None]) -> list[str]:
    """A config server, the shards and a mongos; the address of the latter."""
    spec, config_name = fleet.spec, f"{fleet.spec.name}-config"
    config = _sets(fleet, [config_name], (MemberSpec(),), say, role="config server")[config_name]
    shards = _sets(fleet, _set_names(spec), spec.members, say, role="shard")
    (router,) = fleet.start([Wish(role="mongos", configdb=f"{config_name}/{config[0].address}")])
    say("telling the mongos of its shards")
    sharding.add_shards(
        fleet.lab,
        router,
        {name: [server.address for server in servers if server.role != "arbiter"] for name, servers in shards.items()},
        until=fleet.until,
        meanwhile=fleet.meanwhile,
    )
    return [router.address]


def _set_names(spec: LabSpec) -> list[str]:
    if not spec.shard_count:
        return [spec.name]
    return [f"{spec.name}-shard-{number}" for number in range(1, spec.shard_count + 1)]


def _own_role(spec: LabSpec) -> Role:
    return "shard" if spec.shard_count else "standalone"


def _seeds(servers: Sequence[LabServer]) -> list[str]:
    """Those that a client is told of: it may neither read from hidden members nor from arbiters."""
    return [server.address for server in servers if not server.hidden and server.role != "arbiter"]


def _build_info(lab: Lab, address: str) -> dict[str, str]:
    with access.lab_client(lab, address) as client:
        try:
            build = client.admin.command("buildInfo")
        except PyMongoError as error:
            raise TargetError("the lab went away as soon as it was up", hint="try again") from error
    return {
        "git_version": str(build.get("gitVersion", "")),
        "openssl": str(build.get("openssl", {}).get("running", "unknown")),
    }


def _settings(spec: LabSpec) -> dict[str, object]:
    return {
        "cache_gb": spec.cache_gb,
        "cpus": list(spec.cpus),
        "cpu_share": spec.cpu_share,
        "small": spec.small,
        "election_timeout_ms": spec.election_timeout_ms,
        "network": None if spec.network is None else spec.network.to_document(),
    }


def _await_answer(fleet: Fleet, server: LabServer) -> None:
    while not _answers(fleet.lab, server.address, signed_in=False):
        fleet.meanwhile()
        if time.monotonic() > fleet.until:
            raise TargetError(f"the server at {server.address} doesn't answer in time", hint="give a longer --deadline")
        time.sleep(_PING_S)


def _answers(lab: Lab, address: str, *, signed_in: bool = True) -> bool:
    try:
        with access.lab_client(lab, address, signed_in=signed_in) as client:
            client.admin.command("ping" if signed_in else "hello")
    except PyMongoError:
        return False
    return True


def _view_of_set(lab: Lab, set_name: str) -> dict[str, str]:
    """The states of the members as the first one with data that answers sees them."""
    for server in lab.servers:
        if server.set_name == set_name and server.role != "arbiter" and server_process(lab, server) is not None:
            view = replica_sets.member_states(lab, server.address)
            if view:
                return view
    return {}


def _abandon(lab: Lab, guardians: Sequence[Guardian]) -> None:
    for guardian in guardians:
        end(guardian)
    remove(lab)
