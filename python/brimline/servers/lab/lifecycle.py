"""Owns the life of a lab: brought up whole or not at all, looked at, taken down.

As with a single server, the guardians end the servers when the command that brings them up dies in any way, and the
next command sweeps what is left. Only a lab that is up outlives its command, until `take_down`.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from brimline.errors import TargetError, UsageError
from brimline.servers.lab import access
from brimline.servers.lab.fleet import Fleet
from brimline.servers.lab.kinds import kind_of
from brimline.servers.lab.leftovers import remove, sweep_labs
from brimline.servers.lab.mongodb import view_of_set
from brimline.servers.lab.recipe import Recipe
from brimline.servers.lab.spec import LabSpec, check_name
from brimline.servers.lab.state import (
    LAB_FILE,
    Lab,
    LabServer,
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
    recipe: Recipe,
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
        UsageError: there is a lab of that name, or what the recipe needs isn't there.
        TargetError: it can't be brought up, or not before the deadline.
    """
    sweep_labs(parent)
    recipe.check(spec)
    version = recipe.version
    lab = claim(parent or labs_directory(), name=spec.name, topology=spec.topology, outlives=outlives)
    lab = replace(lab, user=access.USER if spec.auth else None, tls=spec.tls, version=version, settings=_settings(spec))
    fleet = Fleet(lab=lab, spec=spec, until=time.monotonic() + deadline_s, meanwhile=meanwhile, say=say)
    try:
        say(f"bringing up {spec.topology} {spec.name}: {recipe.described}")
        access.make_secrets(lab)
        made = recipe.make(fleet)
        access.write_uris(lab, made.uris_with_password)
        lab = replace(lab, servers=tuple(fleet.servers), uris=made.uris, settings={**lab.settings, **made.facts})
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
            state = "up" if kind_of(server.role).answers(lab, server) else "does not answer"
        else:
            if server.set_name not in views:
                views[server.set_name] = view_of_set(lab, server.set_name)
            state = views[server.set_name].get(server.address, "does not answer")
        looks.append(ServerLook(server=server, pid=process.pid, state=state))
    return looks


def is_complete(looks: Sequence[ServerLook]) -> bool:
    """Whether every server does what it is there for: one primary a set, all others in step."""
    primaries = {look.server.set_name for look in looks if look.state == "PRIMARY"}
    sets = {look.server.set_name for look in looks if look.server.set_name is not None}
    return primaries == sets and all(look.works for look in looks)


def _settings(spec: LabSpec) -> dict[str, object]:
    return {
        "cache_gb": spec.cache_gb,
        "cpus": list(spec.cpus),
        "cpu_share": spec.cpu_share,
        "small": spec.small,
        "election_timeout_ms": spec.election_timeout_ms,
        "network": None if spec.network is None else spec.network.to_document(),
    }


def _abandon(lab: Lab, guardians: Sequence[Guardian]) -> None:
    for guardian in guardians:
        end(guardian)
    remove(lab)
