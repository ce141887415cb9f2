"""Owns making a replica set of running servers, and knowing when it is complete."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from pymongo.errors import OperationFailure, PyMongoError

from brimline.errors import TargetError
from brimline.servers.deployment import Client
from brimline.servers.lab.access import create_first_user, lab_client
from brimline.servers.lab.spec import LabSpec, MemberSpec
from brimline.servers.lab.state import Lab
from brimline.servers.lab.waiting import wait_until

_HEARTBEAT_MS_MAX = 2000
_ALREADY_INITIALIZED = 23
_NOT_ALL_ANSWERED = 74
"""`NodeNotFound`: the check of the quorum failed."""
_NAMES_OF_STATES = {1: "PRIMARY", 2: "SECONDARY", 7: "ARBITER"}
Meanwhile = Callable[[], None]


def set_configuration(
    spec: LabSpec, members: Sequence[MemberSpec], addresses: Sequence[str], *, set_name: str, version: str
) -> dict[str, Any]:
    """The configuration that `replSetInitiate` is given. 4.4 calls a member's delay by its older name."""
    delay = "slaveDelay" if version.startswith("4.") else "secondaryDelaySecs"
    documents = []
    for number, (member, address) in enumerate(zip(members, addresses, strict=True)):
        document: dict[str, Any] = {"_id": number, "host": address, "priority": member.priority}
        if member.arbiter:
            document["arbiterOnly"] = True
        if member.hidden:
            document["hidden"] = True
        if member.delay_s:
            document[delay] = member.delay_s
        documents.append(document)
    timeout_ms = spec.election_timeout_ms
    settings = {
        "electionTimeoutMillis": timeout_ms,
        "heartbeatIntervalMillis": min(_HEARTBEAT_MS_MAX, max(50, timeout_ms // 4)),
    }
    return {"_id": set_name, "members": documents, "settings": settings}


def initiate(
    lab: Lab,
    configuration: Mapping[str, Any],
    members: Sequence[MemberSpec],
    *,
    until: float,
    meanwhile: Meanwhile,
    say: Callable[[str], None],
) -> None:
    """Makes the set, its user, and waits for one primary, the others secondaries and arbiters, and all in step.

    The member with the highest priority is the one that is told, so that it is elected at once and stays primary.
    `say` hears of the members that it takes long for. Raises TargetError when the deadline `until` (monotonic)
    passes; it says what each member is by then.
    """
    addresses = [str(member["host"]) for member in configuration["members"]]
    leader = addresses[max(range(len(members)), key=lambda number: members[number].priority)]
    wait = partial(wait_until, until=until, meanwhile=meanwhile, say=say)
    making = _Making(lab, leader, configuration)
    wait(making.is_done, why=lambda: making.why)
    create_first_user(lab, leader, until=until, meanwhile=meanwhile)
    wanted = {
        address: "ARBITER" if member.arbiter else "PRIMARY" if address == leader else "SECONDARY"
        for address, member in zip(addresses, members, strict=True)
    }
    wait(
        lambda: member_states(lab, leader) == wanted,
        why=lambda: out_of_step(wanted, member_states(lab, leader)),
    )
    # A delayed member learns of the user when its time has come.
    let_in = [
        address for address, member in zip(addresses, members, strict=True) if not (member.arbiter or member.delay_s)
    ]
    for address in let_in:
        wait(partial(_lets_in, lab, address), why=partial("{} lets nobody in yet".format, address))


def out_of_step(wanted: Mapping[str, str], states: Mapping[str, str]) -> str:
    """Which members are not what they should be, and what they are instead."""
    if not states:
        return "the primary doesn't say what the members are"
    late = [
        f"{address} is {states.get(address, 'not seen')}, not {state} yet"
        for address, state in wanted.items()
        if states.get(address) != state
    ]
    return "; ".join(late) or "the members agree just now"


def member_states(lab: Lab, address: str) -> dict[str, str]:
    """What each member of the set is, as the one at `address` sees it; nothing when it doesn't answer."""
    try:
        with lab_client(lab, address) as client:
            status = client.admin.command("replSetGetStatus")
    except PyMongoError:
        return {}
    return {
        str(member["name"]): _NAMES_OF_STATES.get(member["state"], str(member["stateStr"]))
        for member in status["members"]
    }


class _Making:
    """Tells the `leader` of its set until it takes writes: while a machine is busy, members can be asked too early.

    A member that doesn't answer the leader within seconds ends its attempt, and leaves it without a set, as before.
    """

    def __init__(self, lab: Lab, leader: str, configuration: Mapping[str, Any]) -> None:
        self.why = f"{leader} is not primary yet"
        self._lab, self._leader, self._configuration = lab, leader, dict(configuration)

    def is_done(self) -> bool:
        """Whether the leader takes writes; until then it is told of its set, and to stand for election.

        By itself it does so only when an election timeout is over, and now and then none came of it for a minute and
        more. Told too early it is refused, which changes nothing: until others know of the set, nobody votes for it.
        Raises TargetError where the set can never be made.
        """
        if _takes_writes(self._lab, self._leader):
            return True
        with suppress(PyMongoError), lab_client(self._lab, self._leader, signed_in=False) as client:
            if self._is_initiated(client):
                self.why = f"{self._leader} is not primary yet"
                client.admin.command("replSetStepUp")
        return False

    def _is_initiated(self, client: Client) -> bool:
        try:
            client.admin.command({"replSetInitiate": self._configuration})
        except OperationFailure as error:
            said = (error.details or {}).get("errmsg", error.code)
            if error.code == _NOT_ALL_ANSWERED:
                self.why = f"{self._leader} does not hear of all members: {said}"
                return False
            if error.code != _ALREADY_INITIALIZED:
                raise TargetError(
                    f"the replica set can't be made: {said}",
                    hint="see that nothing else uses the ports, and try again",
                ) from error
        return True


def _takes_writes(lab: Lab, address: str) -> bool:
    try:
        with lab_client(lab, address, signed_in=False) as client:
            return bool(client.admin.command("hello").get("isWritablePrimary"))
    except PyMongoError:
        return False


def _lets_in(lab: Lab, address: str) -> bool:
    try:
        with lab_client(lab, address) as client:
            client.admin.command("connectionStatus")
    except PyMongoError:
        return False
    return True
