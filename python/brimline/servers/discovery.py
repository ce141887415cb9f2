"""Owns finding the members of a replica set or the routers of a cluster behind the hosts of a connection string.

Every host is asked for its `hello`, and so is every member that one of them names, until a primary is found or the time
is over. What follows from the answers is pure: `judge` says which servers there are, or what is wrong.

Source: the drivers' server discovery and monitoring specification, as far as a look at one instant goes.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeGuard

from bson import ObjectId
from pymongo.errors import OperationFailure, PyMongoError

from brimline.errors import BrimlineError, TargetError
from brimline.servers.answers import at, words
from brimline.servers.contact import PATIENCE_S, NoContact

Role = Literal["primary", "secondary", "mongos", "standalone", "other"]
MEMBER_COUNT_MAX = 50
"""Most members of a replica set (the manual's limits); a server that names more lies."""
_REST_S = 0.25
_ELECTION_FIRST_WIRE_VERSION = 17
"""From this wire version on (6.0) elections decide before configurations."""
_ADDRESS = re.compile(r"(?:[\w.-]{1,255}|\[[0-9a-fA-F:.%\w]{2,64}\]):\d{1,5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A server that has answered. `last_write_s` is the wall-clock second of the newest write that it holds.

    `election` is what a primary says of the election that it has won, later ones are greater; None: nothing.
    """

    address: str
    role: Role
    set_name: str | None = None
    others: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    last_write_s: float | None = None
    is_hidden: bool = False
    election: tuple[bytes, int] | None = None
    wire_version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Where operations can go: `writable` is the primary, or every mongos; `secondaries` are those that take reads.

    `members` are the addresses of all members of a set that may become primary or take reads, `silent` those among them
    that didn't answer.
    """

    writable: tuple[Member, ...]
    secondaries: tuple[Member, ...] = ()
    members: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def primary(self) -> Member:
        """The first server that takes writes."""
        return self.writable[0]


def member_of(address: str, hello: Mapping[str, Any]) -> Member:
    """What a `hello` says. Members that start or are removed are of the role "other"."""
    if hello.get("msg") == "isdbgrid":
        return Member(address=address, role="mongos")
    if "setName" not in hello:
        is_outside = hello.get("isreplicaset") or not hello.get("isWritablePrimary", True)
        return Member(address=address, role="other" if is_outside else "standalone")
    role: Role = "other"
    if hello.get("isWritablePrimary"):
        role = "primary"
    elif hello.get("secondary"):
        role = "secondary"
    written, tags, me = at(hello, "lastWrite", "lastWriteDate"), hello.get("tags"), hello.get("me")
    return Member(
        address=me.lower() if _is_address(me) else address,
        role=role,
        set_name=words(hello["setName"]),
        others=tuple(each for name in ("hosts", "passives") for each in _addresses(hello.get(name))),
        tags={words(name): words(value) for name, value in tags.items()} if isinstance(tags, Mapping) else {},
        last_write_s=written.timestamp() if isinstance(written, datetime) else None,
        is_hidden=bool(hello.get("hidden")),
        election=_election(hello),
        wire_version=wire if isinstance(wire := hello.get("maxWireVersion"), int) else 0,
    )


def _election(hello: Mapping[str, Any]) -> tuple[bytes, int] | None:
    number, configuration = hello.get("electionId"), hello.get("setVersion")
    if isinstance(number, ObjectId) and isinstance(configuration, int):
        return number.binary, configuration
    return None


def _addresses(named: Any) -> list[str]:
    """The addresses in a list of them, as far as a set can have members; what is no address is left out."""
    named = named[: MEMBER_COUNT_MAX + 1] if isinstance(named, list) else ()
    return [each.lower() for each in named if _is_address(each)]


def _is_address(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None


def discover(
    seeds: Sequence[str],
    ask: Callable[[str], Mapping[str, Any]],
    *,
    set_name: str | None,
    timeout_s: float,
    now: Callable[[], float] = time.monotonic,
    rest: Callable[[float], None] = time.sleep,
) -> Topology:
    """The servers behind `seeds`. `ask` is told an address and answers with its `hello`, or raises PyMongoError.

    Raises:
        TargetError: what is wrong, once `timeout_s` have passed; much sooner where nothing is there to wait for.
        OperationFailure: a server refuses to talk at all.
        PyMongoError: nobody answers; why the first of `seeds` doesn't.
    """
    begun_s = now()
    while True:
        members, silent = _ask_all(seeds, ask, until_s=now() + timeout_s, now=now)
        try:
            return judge(members, list(silent), set_name=set_name)
        except _NotYet as error:
            nothing_there = not members and all(isinstance(each, NoContact) for each in silent.values())
            if now() >= begun_s + (min(PATIENCE_S, timeout_s) if nothing_there else timeout_s):
                if not members:
                    raise silent[seeds[0]] from None
                raise TargetError(error.message, hint=error.hint) from None
            rest(_REST_S)


def _ask_all(
    seeds: Sequence[str], ask: Callable[[str], Mapping[str, Any]], *, until_s: float, now: Callable[[], float]
) -> tuple[list[Member], dict[str, PyMongoError]]:
    """Everybody who answered, and why the others did not, by address. After `until_s` nobody but the seeds is asked.

    Raises TargetError when they name more servers than a set can have.
    """
    waiting, seen = list(seeds), set(seeds)
    members: dict[str, Member] = {}
    silent: dict[str, PyMongoError] = {}
    while waiting and (waiting[0] in seeds or now() < until_s):
        if len(seen) > len(seeds) + MEMBER_COUNT_MAX:
            raise TargetError(
                f"the server at {seeds[0]} and those it names know of more than {MEMBER_COUNT_MAX} members",
                hint="no replica set has so many; check that these are MongoDB servers",
            )
        address = waiting.pop(0)
        try:
            member = member_of(address, ask(address))
        except OperationFailure:
            raise
        except PyMongoError as error:
            silent[address] = error
            continue
        members.setdefault(member.address, member)
        for other in member.others:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return list(members.values()), silent


class _NotYet(BrimlineError):
    """What may be gone a moment later."""


def judge(members: Sequence[Member], silent: Sequence[str], *, set_name: str | None) -> Topology:
    """What the answers amount to.

    Raises TargetError for what stays wrong, and a private error of the same base for what may change.
    """
    routers = tuple(member for member in members if member.role == "mongos")
    if routers and len(routers) == len(members):
        if set_name is not None:
            raise TargetError(
                "the connection string names a replica set, and its hosts are routers of a sharded cluster",
                hint="leave replicaSet out",
            )
        return Topology(writable=routers)
    standalone = [member.address for member in members if member.role == "standalone"]
    if standalone:
        raise TargetError(
            f"the server at {standalone[0]} is no member of a replica set",
            hint="leave replicaSet out and give its address alone",
        )
    of_sets = [member for member in members if member.set_name is not None]
    names = sorted({str(member.set_name) for member in of_sets})
    if set_name is not None and of_sets and set_name not in names:
        raise TargetError(
            f'the servers belong to the replica set "{names[0]}", not "{set_name}"',
            hint=f"write replicaSet={names[0]}",
        )
    if set_name is None and len(names) > 1:
        raise TargetError(
            f"the hosts belong to different replica sets: {', '.join(names)}", hint="give the hosts of one of them"
        )
    wanted = set_name or (names[0] if names else None)
    mine = [member for member in of_sets if member.set_name == wanted]
    primaries = tuple(member for member in mine if member.role == "primary")
    if not primaries:
        raise _no_primary(wanted, [member for member in members if member.set_name in (wanted, None)], silent)
    secondaries = tuple(member for member in mine if member.role == "secondary" and not member.is_hidden)
    writable = _newest(primaries)
    named = (writable[0].address, *writable[0].others)
    members_named = tuple(sorted(set(named)))
    return Topology(
        writable=writable,
        secondaries=secondaries,
        members=members_named,
        silent=tuple(address for address in members_named if address in silent),
    )


def _newest(primaries: tuple[Member, ...]) -> tuple[Member, ...]:
    """One: after a partition the old primary may not know yet that it is none any more.

    It is of an earlier election; where one of them doesn't say of which, it has the older write.
    """
    elections = [member.election for member in primaries if member.election is not None]
    if len(elections) < len(primaries):
        return (max(primaries, key=lambda member: member.last_write_s or 0.0),)
    elections_first = min(member.wire_version for member in primaries) >= _ELECTION_FIRST_WIRE_VERSION
    ranks = [election if elections_first else election[::-1] for election in elections]
    return (primaries[ranks.index(max(ranks))],)


_STATES = {"other": "neither primary nor secondary"}


def _no_primary(name: str | None, members: Iterable[Member], silent: Sequence[str]) -> _NotYet:
    states = [f"{member.address} is {_STATES.get(member.role, member.role)}" for member in members]
    states += [f"{address} does not answer" for address in silent]
    known = f" {name}" if name else ""
    return _NotYet(
        f"the replica set{known} has no primary: {', '.join(states)}",
        hint="wait until it has elected one; a majority of its members must run",
    )
