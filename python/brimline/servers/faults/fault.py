"""Owns a fault that somebody asked for: one of the table, or commands of their own for servers that aren't a lab's."""

import os
import signal
import subprocess
from dataclasses import dataclass
from typing import IO, Protocol

from brimline.errors import TargetError, UsageError, redact_text
from brimline.servers.faults.kinds import KINDS, FaultKind
from brimline.servers.faults.site import Site
from brimline.servers.password import environment_without_secrets

COMMAND = "command"
"""The name of a fault that is a command of a person's own."""
COMMAND_WITHIN_S = 300.0
_WORDS_MAX, _READ_BYTES = 300, 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to befall a server: the name of a kind with what stands behind it, or two commands.

    `undo` "": nothing is undone.
    """

    name: str
    argument: str = ""
    command: str = ""
    undo: str = ""

    @property
    def kind(self) -> FaultKind | None:
        """Its entry in the table; None of a command."""
        return KINDS.get(self.name)


def parse_fault(text: str, undo: str = "") -> Asked:
    """What `--fault` and `--undo` say. Raises UsageError."""
    text, undo = text.strip(), undo.strip()
    name, colon, argument = text.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        if len(text.split()) < 2 and "/" not in text:
            known = ", ".join(KINDS)
            raise UsageError(
                f'there is no fault "{text}"',
                hint=f"there are {known}; or give a command of your own, one of a single word with its path: /bin/true",
            )
        return Asked(name=COMMAND, command=text, undo=undo)
    if colon and not kind.takes:
        raise UsageError(f"the fault {name} takes nothing behind its name", hint=f"write --fault {name}")
    if undo:
        raise UsageError(
            f"brimline undoes the fault {name} itself", hint="leave --undo out, or give a command as --fault"
        )
    kind.reads(argument)
    return Asked(name=name, argument=argument)


class Fault(Protocol):
    """What can befall servers."""

    @property
    def what(self) -> str:
        """What happens, as a clause."""

    @property
    def at(self) -> str:
        """Whom it befalls: an address; "" where only its command knows."""

    @property
    def by_hand(self) -> str:
        """What a person does where undoing it fails; "" where nothing is to be undone."""

    def do(self) -> None:
        """Makes it happen. Raises BrimlineError."""

    def undo(self) -> None:
        """Puts the servers back as they were. Raises BrimlineError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabFault:
    """One of the table."""

    kind: FaultKind
    argument: str
    site: Site

    @property
    def what(self) -> str:
        """That of its kind."""
        return self.kind.what

    @property
    def at(self) -> str:
        """The server that is struck."""
        return self.site.deployment.address if self.site.server is None else self.site.server.address

    @property
    def by_hand(self) -> str:
        """That of its kind."""
        return self.kind.by_hand(self.site, self.argument)

    def do(self) -> None:
        """That of its kind, to whoever has the role now."""
        self.site.look_again()
        if self.site.lab is not None and self.kind.takes_away:
            self.site.lab.struck_file.touch()
        self.kind.do(self.site, self.argument)

    def undo(self) -> None:
        """That of its kind."""
        self.kind.undo(self.site, self.argument)
        if self.site.lab is not None:
            self.site.lab.struck_file.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFault:
    """Commands of a person's own, run by the shell; what they print is told where they fail."""

    command: str
    undoing: str

    @property
    def what(self) -> str:
        """The command."""
        return redact_text(self.command)

    @property
    def at(self) -> str:
        """Nobody knows."""
        return ""

    @property
    def by_hand(self) -> str:
        """The command once more."""
        return redact_text(self.undoing)

    def do(self) -> None:
        """Runs it to its end. Raises TargetError."""
        _run(self.command)

    def undo(self) -> None:
        """Likewise."""
        if self.undoing:
            _run(self.undoing)


def fault_on(asked: Asked, site: Site, *, alone: bool = False) -> Fault:
    """What was asked for, on these servers. `alone`: it may befall the only server. Nothing is done by this.

    Raises UsageError where it can't be done to them, TargetError where the user may not.
    """
    kind = asked.kind
    if kind is None:
        return CommandFault(command=asked.command, undoing=asked.undo)
    if kind.of_lab:
        _ = site.struck
        if kind.takes_away:
            _require_successor(asked.name, site, alone=alone)
    else:
        members = site.deployment.replica_set.members if site.deployment.replica_set else ()
        if len(members) < 2:
            raise UsageError(
                f"{asked.name} needs a replica set of several members", hint="take one: --topology replica-set-3"
            )
    kind.check(site, asked.argument)
    return LabFault(kind=kind, argument=asked.argument, site=site)


def _require_successor(name: str, site: Site, *, alone: bool) -> None:
    """Refuses what nobody takes over from, or nobody that the load would find. Raises UsageError."""
    if not site.others and not alone:
        raise UsageError(
            f"{name} takes away the only server, and nobody takes over",
            hint="take a set of three, --topology replica-set-3, or say that it is meant: --alone",
        )
    if site.others and site.deployment.shards:
        raise UsageError(
            f"after {name} another server of its shard takes over, and the load of client-routed shards doesn't "
            "follow it there",
            hint="take a set, --topology replica-set-3, or a cluster behind a mongos; or shards of one server each, "
            "client-routed-2, with --alone",
        )


def _run(command: str) -> None:
    """In a session of its own: Ctrl-C at the terminal ends the run, and must not end what undoes a fault.

    What it says goes into memory, not through a pipe: a server that it starts (`mongod … &`) holds that open for as
    long as it lives, and would be ended by a write to it later.
    """
    try:
        with os.fdopen(os.memfd_create("said"), "w+b") as output, subprocess.Popen(  # noqa: S603 (the user's own)
            ["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**environment_without_secrets(), "PATH": os.environ.get("PATH", "")}, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                process.wait(timeout=COMMAND_WITHIN_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # what the shell began would go on, and strike after the undo
                raise
            said = _last_words(output)
    except subprocess.TimeoutExpired:
        raise TargetError(f"the command did not end within {COMMAND_WITHIN_S:g} s", hint=f"try it: {command}") from None
    except OSError as error:
        raise TargetError(
            f"the command could not be run: {redact_text(str(error))}", hint=f"try it: {command}"
        ) from None
    if process.returncode != 0:
        raise TargetError(
            f"the command ended with {process.returncode}: {said or 'it said nothing'}", hint=f"try it: {command}"
        )


def _last_words(output: IO[bytes]) -> str:
    """The end of what a command said, without what is secret."""
    length = output.seek(0, os.SEEK_END)
    output.seek(max(0, length - _READ_BYTES))
    return redact_text(output.read().decode(errors="replace").strip())[-_WORDS_MAX:]
