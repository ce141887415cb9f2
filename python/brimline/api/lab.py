"""Owns the verb `lab`: servers of a topology on this machine, for experiments, tests and examples."""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

from brimline.errors import UsageError
from brimline.execution import StopToken, interruptible
from brimline.servers.binary import find_mongod, find_mongos
from brimline.servers.lab.leftovers import sweep_labs
from brimline.servers.lab.lifecycle import DEADLINE_S, Raised, ServerLook, bring_up, find_lab, look_at, take_down
from brimline.servers.lab.mongodb import MongoDbRecipe
from brimline.servers.lab.network import Between, Network, parse_bit_rate
from brimline.servers.lab.order_service import OrderServiceRecipe, find_order_service
from brimline.servers.lab.recipe import Recipe
from brimline.servers.lab.restart import start_servers, stop_servers
from brimline.servers.lab.spec import (
    CACHE_GB_DEFAULT,
    ELECTION_TIMEOUT_MS_DEFAULT,
    NAME_DEFAULT,
    SHARDS_MAX,
    WORKERS_DEFAULT,
    IdGenerator,
    LabSpec,
    MemberSpec,
    ServiceSpec,
    System,
    members_of,
)
from brimline.servers.lab.sql import SqlRecipe
from brimline.servers.lab.state import Lab, LabServer, labs_directory, stored_labs
from brimline.servers.sql_programs import SqlSystem, find_sql_program
from brimline.units import counted, parse_duration, parse_percentage

__all__ = ["LabWords", "lab", "lab_down", "lab_spec", "lab_start", "lab_status", "lab_stop", "lab_up", "labs"]

Say = Callable[[str], None]


class LabWords(TypedDict, total=False):
    """What can be said about a lab; what isn't said is its default.

    `replica_set`: members with data, of the set or of each shard. `shards`: of a cluster with mongos. `client_routed`:
    independent servers, or sets, among which the client routes. `priorities`: of the first members. `hidden` and
    `delays_s`: members by number, from 1. `cpus`: processors that the servers may run on; `cpu_share`: how many
    CPUs each may use (root). `small`: small journal files,
    for tests of behaviour. `delay` ("5ms", each way) and `rate` ("100mbit") of a line `between` "clients" and servers,
    the "members", or "all", `loss` ("1%") of its segments. `deadline_s`: until when it must be up. `mariadb`,
    `postgres`: one such server in place of MongoDB's. `order_service`: an order service on a database of that kind, in
    `workers` processes, with ids of a "snowflake" generator, or of that of a "field-report", which fails under load.
    """

    replica_set: int | None
    shards: int | None
    client_routed: int | None
    priorities: tuple[float, ...]
    hidden: tuple[int, ...]
    delays_s: dict[int, int]
    arbiter: bool
    auth: bool
    tls: bool
    cache_gb: float
    cpus: tuple[int, ...]
    cpu_share: float | None
    small: bool
    election_timeout_ms: int
    delay: str | None
    rate: str | None
    loss: str | None
    between: Between | None
    mongod: Path | None
    mongos: Path | None
    server_version: str | None
    deadline_s: float
    mariadb: bool
    postgres: bool
    order_service: System | None
    workers: int | None
    id_generator: IdGenerator | None


@contextmanager
def lab(*, say: Say = lambda _: None, **words: Unpack[LabWords]) -> Iterator[Lab]:
    """A lab for the length of the `with` block: complete when the block begins, gone when it ends in any way.

        with brimline.lab(replica_set=3, auth=True) as lab:
            print(lab.uris, lab.password_file)

    Raises UsageError and TargetError.
    """
    spec = replace(lab_spec(words), name=f"{NAME_DEFAULT}-{secrets.token_hex(4)}")
    raised = _brought_up(spec, words, outlives=False, say=say)
    try:
        yield raised.lab
    finally:
        raised.take_down()


def lab_up(name: str = NAME_DEFAULT, *, say: Say = lambda _: None, **words: Unpack[LabWords]) -> Lab:
    """Brings up a lab that stays when this process ends. Raises UsageError, TargetError and Interrupted."""
    return _brought_up(replace(lab_spec(words), name=name), words, outlives=True, say=say).lab


def lab_down(name: str = NAME_DEFAULT) -> None:
    """Takes a lab down; nothing of it is left. Raises UsageError where there is none, TargetError."""
    if name not in sweep_labs():
        take_down(name)


def lab_start(
    name: str = NAME_DEFAULT,
    members: Sequence[str] = (),
    *,
    deadline_s: float = DEADLINE_S,
    say: Say = lambda _: None,
) -> list[LabServer]:
    """Starts servers of a lab that have ended, all or `members` (numbers from 1, ports or addresses); gives those.

    Raises UsageError, TargetError and Interrupted.
    """
    sweep_labs()
    with interruptible() as stop:
        return start_servers(name, members, deadline_s=deadline_s, say=say, meanwhile=stop.raise_if_requested)


def lab_stop(name: str, members: Sequence[str]) -> list[LabServer]:
    """Ends servers of a lab, whose data stays; gives those that ran. Raises UsageError and TargetError."""
    sweep_labs()
    return stop_servers(name, members)


def lab_status(name: str = NAME_DEFAULT) -> tuple[Lab, list[ServerLook]]:
    """A lab and what each of its servers is now. Raises UsageError where there is none."""
    sweep_labs()
    found = find_lab(name)
    return found, look_at(found)


def labs() -> list[Lab]:
    """All labs on this machine, also those that are being brought up or taken down."""
    sweep_labs()
    return stored_labs(labs_directory())


def lab_spec(words: LabWords) -> LabSpec:
    """What the words ask for. Raises UsageError."""
    system = _system(words)
    shards, routed = words.get("shards"), words.get("client_routed")
    if shards is not None and routed is not None:
        raise UsageError("a lab has shards behind a mongos or client-routed ones", hint="give one of the two")
    count = routed if shards is None else shards
    if count is not None and not 1 <= count <= SHARDS_MAX:
        raise UsageError(f"a lab can't have {counted(count, 'shard')}", hint=f"give 1 to {SHARDS_MAX}")
    members = _members(words)
    if unknown := set(words.get("cpus", ())) - (allowed := os.sched_getaffinity(0)):
        raise UsageError(f"there is no processor {min(unknown)} for the servers", hint=f"there are {sorted(allowed)}")
    if shards is not None:
        members = members or (MemberSpec(),)  # a shard is always a replica set
    return LabSpec(
        topology=(
            "sharded cluster"
            if shards is not None
            else "client-routed shards"
            if routed is not None
            else "replica set"
            if members
            else "standalone"
        ),
        system=system,
        members=members,
        shard_count=count or 0,
        auth=words.get("auth", False) or system != "mongodb",
        tls=words.get("tls", False),
        cache_gb=words.get("cache_gb", CACHE_GB_DEFAULT),
        cpus=words.get("cpus", ()),
        cpu_share=words.get("cpu_share"),
        small=words.get("small", False),
        election_timeout_ms=words.get("election_timeout_ms", ELECTION_TIMEOUT_MS_DEFAULT),
        network=_network(words),
        service=_service(words),
    )


_SQL: tuple[SqlSystem, ...] = ("mariadb", "postgres")
_OF_MONGODB = {
    "replica_set": "--replica-set",
    "shards": "--shards",
    "client_routed": "--client-routed",
    "mongod": "--mongod",
    "mongos": "--mongos",
    "server_version": "--server-version",
}


def _system(words: LabWords) -> System:
    """The kind of the servers. Raises UsageError where two are asked for, or what only another kind has."""
    asked: dict[str, System] = {f"--{name}": name for name in _SQL if words.get(name)}
    if (service := words.get("order_service")) is not None:
        asked[f"--order-service {service}"] = service
    if len(asked) > 1:
        raise UsageError(
            f"{' and '.join(asked)} are several databases, and a lab has one", hint="bring up labs of different names"
        )
    for option, system in asked.items():
        for word, of_mongodb in _OF_MONGODB.items() if system != "mongodb" else ():
            if words.get(word) is not None:
                raise UsageError(
                    f"{of_mongodb} is of MongoDB, and the lab is {option}", hint="leave one of the two out"
                )
    return next(iter(asked.values()), "mongodb")


def _service(words: LabWords) -> ServiceSpec | None:
    if words.get("order_service") is None:
        for word, option in (("workers", "--workers"), ("id_generator", "--id-generator")):
            if words.get(word) is not None:
                raise UsageError(
                    f"{option} is of an order service, and the lab has none", hint="add --order-service mongodb"
                )
        return None
    workers = words.get("workers")
    return ServiceSpec(
        workers=WORKERS_DEFAULT if workers is None else workers,
        id_generator=words.get("id_generator") or "snowflake",
    )


def _network(words: LabWords) -> Network | None:
    delay, rate, loss, between = (words.get("delay"), words.get("rate"), words.get("loss"), words.get("between"))
    if delay is None and rate is None and loss is None:
        if between is not None:
            raise UsageError(
                "--between says where a line is, and there is none", hint="add --delay 5ms, --rate 100mbit or --loss 1%"
            )
        return None
    try:
        return Network(
            delay_ns=0 if delay is None else parse_duration(delay),
            rate_bit_per_s=None if rate is None else parse_bit_rate(rate),
            between=between or "clients",
            loss=0.0 if loss is None else parse_percentage(loss),
        )
    except ValueError as error:
        raise UsageError(str(error), hint="write them like --delay 5ms --rate 100mbit --loss 1%") from error


def _members(words: LabWords) -> tuple[MemberSpec, ...]:
    count = words.get("replica_set")
    if count is not None:
        return members_of(
            count,
            priorities=words.get("priorities", ()),
            hidden=words.get("hidden", ()),
            delays_s=words.get("delays_s", {}),
            arbiter=words.get("arbiter", False),
        )
    if any(words.get(word) for word in ("priorities", "hidden", "delays_s", "arbiter")):
        raise UsageError(
            "priorities, hidden and delayed members and arbiters belong to a replica set", hint="add --replica-set N"
        )
    return ()


def _brought_up(spec: LabSpec, words: LabWords, *, outlives: bool, say: Say) -> Raised:
    with interruptible() as stop:
        return bring_up(
            spec,
            recipe=_recipe(spec, words, say=say, stop=stop),
            outlives=outlives,
            deadline_s=words.get("deadline_s", DEADLINE_S),
            say=say,
            meanwhile=stop.raise_if_requested,
        )


def _recipe(spec: LabSpec, words: LabWords, *, say: Say, stop: StopToken) -> Recipe:
    service = None if spec.service is None else find_order_service()
    database = _database(spec, words, say=say, stop=stop)
    if spec.service is None or service is None:
        return database
    return OrderServiceRecipe(database=database, service=spec.service, directory=service)


def _database(spec: LabSpec, words: LabWords, *, say: Say, stop: StopToken) -> Recipe:
    if spec.system != "mongodb":
        return SqlRecipe(program=find_sql_program(spec.system, tls=spec.tls))
    mongod = find_mongod(
        flag=words.get("mongod"),
        server_version=words.get("server_version"),
        say=say,
        meanwhile=stop.raise_if_requested,
    )
    mongos = find_mongos(flag=words.get("mongos")) if spec.topology == "sharded cluster" else None
    return MongoDbRecipe(mongod=mongod, mongos=mongos)
