"""Owns labs of MongoDB: how their mongod and mongos are started, and what is made of them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pymongo.errors import PyMongoError

from brimline.errors import TargetError
from brimline.servers.binary import ServerBinary, version_number
from brimline.servers.bundled import MONGOD_LOG, server_command
from brimline.servers.lab import access, replica_sets, sharding
from brimline.servers.lab.fleet import Fleet
from brimline.servers.lab.recipe import Made, Recipe
from brimline.servers.lab.spec import LabSpec, MemberSpec
from brimline.servers.lab.state import Lab, LabServer, Role, server_process
from brimline.servers.lab.wish import Wish
from brimline.servers.launch import Manner

_SMALL_JOURNAL = ("--wiredTigerEngineConfigString", "log=(prealloc=false,file_max=10MB)")
_SMALL_OPLOG = ("--oplogSize", "64")
_FAREWELL, _FAREWELL_MS = "shutdownTimeoutMillisForSignaledShutdown", 1000
_CLUSTER_ROLES = {"config server": "--configsvr", "shard": "--shardsvr"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MongodWish(Wish):
    """A mongod; `cluster_role` is that of its set in a cluster."""

    binary: ServerBinary
    spec: LabSpec
    cluster_role: Role | None = None

    @property
    def program(self) -> Path:
        """The mongod."""
        return self.binary.path

    @property
    def cache_entry(self) -> Path | None:
        """As the binary has it."""
        return self.binary.cache_entry

    @property
    def serves_clients(self) -> bool:
        """Behind a mongos no client comes."""
        return self.cluster_role is None

    def start(self, lab: Lab, directory: Path, port: int) -> tuple[list[str], Manner]:
        """With the security of the lab."""
        command = server_command(self.binary.path, directory=directory, port=port, cache_gb=self.spec.cache_gb)
        if self.set_name is not None:
            command += ["--replSet", self.set_name]
        if self.cluster_role is not None:
            command.append(_CLUSTER_ROLES[self.cluster_role])
        if self.spec.small:
            command += [*_SMALL_JOURNAL, *(_SMALL_OPLOG if self.set_name else ())]
        return [*command, *access.server_options(lab)], Manner(libraries=self.binary.libraries)


@dataclass(frozen=True, slots=True, kw_only=True)
class MongosWish(Wish):
    """A mongos."""

    mongos: Path
    configdb: str

    @property
    def program(self) -> Path:
        """The mongos."""
        return self.mongos

    def start(self, lab: Lab, directory: Path, port: int) -> tuple[list[str], Manner]:
        """With the security of the lab."""
        where = ["--configdb", self.configdb, "--port", str(port), "--bind_ip", "127.0.0.1"]
        quiet = ["--logpath", str(directory / MONGOD_LOG), "--nounixsocket", "--quiet"]
        return [str(self.mongos), *where, *quiet, *access.server_options(lab)], Manner()


@dataclass(frozen=True, slots=True, kw_only=True)
class MongoDbRecipe(Recipe):
    """Servers of one mongod; a sharded cluster needs the mongos."""

    mongod: ServerBinary
    mongos: Path | None = None

    @property
    def described(self) -> str:
        """The mongod."""
        return self.mongod.described

    @property
    def version(self) -> str:
        """That of the mongod."""
        return version_number(self.mongod)

    def check(self, spec: LabSpec) -> None:
        """A cluster needs a mongos of the mongod's release."""
        if spec.topology == "sharded cluster":
            sharding.require_mongos(self.mongos, mongod=self.mongod)

    def make(self, fleet: Fleet) -> Made:
        """What the topology is."""
        spec, lab = fleet.spec, fleet.lab
        reached: list[tuple[list[str], str | None]]
        if spec.topology == "sharded cluster":
            reached = [(self._cluster(fleet), None)]
        elif spec.members:
            names = _set_names(spec)
            sets = self._sets(fleet, names, spec.members)
            reached = [(_seeds(sets[name]), name) for name in names]
        else:
            wish = MongodWish(role=_own_role(spec), binary=self.mongod, spec=spec)
            servers = fleet.start([wish] * spec.set_count)
            for server in servers:
                fleet.await_answer(server, lambda server: answers(lab, server.address, signed_in=False))
                access.create_first_user(lab, server.address, until=fleet.until, meanwhile=fleet.meanwhile)
            reached = [([server.address], None) for server in servers]
        uris, whole = (
            tuple(
                access.connection_string(lab, addresses, set_name=set_name, with_password=with_password)
                for addresses, set_name in reached
            )
            for with_password in (False, True)
        )
        return Made(uris=uris, uris_with_password=whole, facts=_build_info(lab, reached[0][0][0]))

    def _sets(
        self,
        fleet: Fleet,
        names: Sequence[str],
        members: tuple[MemberSpec, ...],
        *,
        role: Role | None = None,
    ) -> dict[str, list[LabServer]]:
        """Replica sets of the same members, started side by side; by name."""
        wishes = [
            MongodWish(
                role="arbiter" if member.arbiter else role or "member",
                set_name=name,
                member=member,
                cluster_role=role,
                binary=self.mongod,
                spec=fleet.spec,
            )
            for name in names
            for member in members
        ]
        servers = fleet.start(wishes)
        sets = {name: [server for server in servers if server.set_name == name] for name in names}
        for name, of_set in sets.items():
            fleet.say(f"{name}: waiting for one primary and all others in step")
            configuration = replica_sets.set_configuration(
                fleet.spec,
                members,
                [server.address for server in of_set],
                set_name=name,
                version=fleet.lab.version or "",
            )
            if role == "config server":
                configuration["configsvr"] = True
            replica_sets.initiate(
                fleet.lab, configuration, members, until=fleet.until, meanwhile=fleet.meanwhile, say=fleet.say
            )
        return sets

    def _cluster(self, fleet: Fleet) -> list[str]:
        """A config server, the shards and a mongos; the address of the latter."""
        spec, config_name = fleet.spec, f"{fleet.spec.name}-config"
        config = self._sets(fleet, [config_name], (MemberSpec(),), role="config server")[config_name]
        shards = self._sets(fleet, _set_names(spec), spec.members, role="shard")
        mongos = sharding.require_mongos(self.mongos, mongod=self.mongod)
        wish = MongosWish(role="mongos", mongos=mongos, configdb=f"{config_name}/{config[0].address}")
        (router,) = fleet.start([wish])
        fleet.say("telling the mongos of its shards")
        sharding.add_shards(
            fleet.lab,
            router,
            {
                name: [server.address for server in servers if server.role != "arbiter"]
                for name, servers in shards.items()
            },
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


def answers(lab: Lab, address: str, *, signed_in: bool = True) -> bool:
    """Whether a mongod or mongos of the lab answers."""
    try:
        with access.lab_client(lab, address, signed_in=signed_in) as client:
            client.admin.command("ping" if signed_in else "hello")
    except PyMongoError:
        return False
    return True


def shorten_farewell(lab: Lab, server: LabServer) -> None:
    """Has a server that is about to end take leave of its clients within a second.

    On a signal, members and routers go on for 15 s, so that clients far away may look for others. Those of a lab hear
    of it at once. A server that doesn't know the setting, or takes no command any more, ends as it does by itself.
    """
    name = "mongosShutdownTimeoutMillisForSignaledShutdown" if server.role == "mongos" else _FAREWELL
    with suppress(PyMongoError), access.lab_client(lab, server.address) as client:
        client.admin.command({"setParameter": 1, name: _FAREWELL_MS})


def view_of_set(lab: Lab, set_name: str) -> dict[str, str]:
    """The states of the members as their primary sees them; without a primary, as the first with data that answers.

    Secondaries learn of each other by heartbeats, and a secondary may be told later than the primary what another is.
    """
    first: dict[str, str] = {}
    for server in lab.servers:
        if server.set_name == set_name and server.role != "arbiter" and server_process(lab, server) is not None:
            view = replica_sets.member_states(lab, server.address)
            if view.get(server.address) == "PRIMARY":
                return view
            first = first or view
    return first
