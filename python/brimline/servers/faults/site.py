"""Owns the servers that a fault befalls: those of a lab on this machine, which is struck, and when all is well."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pymongo.errors import PyMongoError

from brimline.errors import TargetError, UsageError
from brimline.servers.deployment import Deployment, control_client
from brimline.servers.lab.lifecycle import is_complete, look_at
from brimline.servers.lab.lookup import lab_server
from brimline.servers.lab.restart import member_named
from brimline.servers.lab.state import Lab, LabServer, Role, server_process
from brimline.servers.processes import ProcessIdentity

PRIMARY, SECONDARY = "primary", "secondary"
"""Which server is struck, where none is named."""
LOOK_S = 0.1
"""How long the servers are left alone between two looks."""
_CONNECT_S = 1.0
_WITH_DATA: frozenset[Role] = frozenset({"standalone", "member", "shard"})
"""Of a sharded cluster the first shard is struck, and not who knows where data is."""
_STATES = {PRIMARY: ("PRIMARY", "up"), SECONDARY: ("SECONDARY",)}


@dataclass(slots=True, kw_only=True)
class Site:
    """Servers of `deployment`. `lab` and `server` (which is struck) are None where they aren't those of a lab here.

    `at`: which role is struck, "" where one is named. `kept`: what a fault notes for its own undoing.
    """

    deployment: Deployment
    lab: Lab | None = None
    server: LabServer | None = None
    at: str = ""
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def struck(self) -> tuple[Lab, LabServer]:
        """The lab and its server that is struck. Raises UsageError where these are no servers of a lab."""
        if self.lab is None or self.server is None:
            raise UsageError(
                "the servers aren't those of a lab on this machine, and brimline does nothing to others by itself",
                hint="say how it is done there: --fault 'ssh db1 sudo systemctl kill -s KILL mongod' "
                "--undo 'ssh db1 sudo systemctl start mongod'",
            )
        return self.lab, self.server

    def look_again(self) -> None:
        """Who is struck now: an election may have come between. Where nobody has the role, it is who had it."""
        if self.lab is not None and self.at:
            self.server = _in_role(self.lab, self.at) or self.server

    @property
    def process(self) -> ProcessIdentity:
        """That of the server which is struck. Raises TargetError where it doesn't run."""
        lab, server = self.struck
        found = server_process(lab, server)
        if found is None:
            raise TargetError(f"the server at {server.address} doesn't run", hint="see brimline lab status")
        return found

    @property
    def others(self) -> Sequence[LabServer]:
        """Those of the same set in the lab."""
        lab, server = self.struck
        same = [each for each in lab.servers if each.set_name == server.set_name and each != server]
        return same if server.set_name is not None else []

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to the process that is struck. Raises TargetError."""
        try:
            process = os.pidfd_open(self.process.pid)
            try:
                signal.pidfd_send_signal(process, number)
            finally:
                os.close(process)
        except OSError as error:
            raise TargetError(
                f"{number.name} can't be sent: {error.strerror}", hint="see brimline lab status"
            ) from error

    @property
    def is_whole(self) -> bool:
        """Whether every server does its part again: one primary, the others in step."""
        if self.lab is not None:
            return is_complete(look_at(self.lab))
        members = self.deployment.replica_set.members if self.deployment.replica_set else ()
        answers = [self._hello(each) for each in members or (self.deployment.address,)]
        return any(each.get("isWritablePrimary") for each in answers) and all(
            each.get("isWritablePrimary") or each.get("secondary") or each.get("arbiterOnly") for each in answers
        )

    def await_whole(self, within_s: float, *, meanwhile: Callable[[], bool] = lambda: True) -> bool:
        """Waits for that, as long as `meanwhile` says so; whether it came."""
        until = time.monotonic() + within_s
        while not self.is_whole:
            if time.monotonic() > until or not meanwhile():
                return False
            time.sleep(LOOK_S)
        return True

    def _hello(self, address: str) -> dict[str, Any]:
        try:
            access = self.deployment.access
            with control_client(address, access=access, connect_timeout_s=_CONNECT_S) as client:
                return client.admin.command("hello")
        except PyMongoError:
            return {}


def lab_of(deployment: Deployment) -> Lab | None:
    """The lab on this machine that the servers are part of; None where they are none of it."""
    found = (lab_server(each) for each in deployment.addresses)
    return next((lab for lab, _ in filter(None, found)), None)


def site_of(deployment: Deployment, *, at: str = PRIMARY) -> Site:
    """The servers of a deployment, and which is struck: `primary`, `secondary`, or one by number, port or address.

    Raises UsageError where there is no such server in the lab, TargetError where nobody is it now.
    """
    lab = lab_of(deployment)
    if lab is None:
        if at != PRIMARY:
            raise UsageError(
                "which server is struck can be said of a lab's alone", hint="leave --at out; the commands say where"
            )
        return Site(deployment=deployment)
    if at not in _STATES:
        return Site(deployment=deployment, lab=lab, server=member_named(lab, at))
    if (server := _in_role(lab, at)) is not None:
        return Site(deployment=deployment, lab=lab, server=server, at=at)
    raise TargetError(f"no server of the lab is a {at} now", hint="see brimline lab status")


def _in_role(lab: Lab, role: str) -> LabServer | None:
    looks = look_at(lab)
    return next((each.server for each in looks if each.state in _STATES[role] and each.server.role in _WITH_DATA), None)
