"""Owns the checks of where the server is: on this host or another, and how this host schedules the two."""

from pathlib import Path

from brimline.doctor.check import Check, graded, unknown
from brimline.doctor.kernel_files import ROOT, number, session_of
from brimline.servers import Deployment
from brimline.servers.deployment import is_local_host, split_address

_SHARED_HINT = "for figures to quote, run brimline on another machine than the server"


def shared_host(deployment: Deployment | None) -> Check:
    """Whether generator and server take processors from each other. None: brimline's own server, which is here."""
    if deployment is None:
        return graded(
            "shared_host",
            "yes: brimline's own server runs beside the generator",
            warn=True,
            hint=f"{_SHARED_HINT}, and give --uri",
            figures={"shared": True},
        )
    if deployment.local:
        return graded(
            "shared_host",
            f"yes: process {deployment.pid} of this host is what listens at {deployment.address}",
            warn=True,
            hint=_SHARED_HINT,
            figures={"shared": True},
        )
    if is_local_host(split_address(deployment.address)[0]):
        why = f"{deployment.address} is this host, but no process in sight listens there: a container or a tunnel"
        return unknown("shared_host", why, hint="name the server by the address of its own host")
    return graded(
        "shared_host", f"no: {deployment.address} is an address of another host", hint="", figures={"shared": False}
    )


def session(deployment: Deployment | None, root: Path = ROOT) -> Check:
    """With autogroups the kernel shares processors between sessions first.

    Generator and server in different sessions of one host then cost a task switch per reply: +12 µs measured.
    """
    enabled = number(root / "proc/sys/kernel/sched_autogroup_enabled")
    if enabled is None:
        return unknown("session_scheduling", "the kernel doesn't show whether it groups tasks by session")
    if enabled == 0:
        return graded("session_scheduling", "tasks are not grouped by session", hint="", figures={"autogroup": False})
    if deployment is None:
        evidence = "grouped by session; brimline's own server runs in brimline's session"
        return graded("session_scheduling", evidence, hint="", figures={"autogroup": True, "same_session": True})
    if not deployment.local or deployment.pid is None:
        evidence = "grouped by session; the server is not a process in sight"
        return graded("session_scheduling", evidence, hint="", figures={"autogroup": True})
    ours, theirs = session_of(root, "self"), session_of(root, deployment.pid)
    if ours is None or theirs is None:
        return unknown("session_scheduling", f"the session of process {deployment.pid} can't be read")
    same = ours == theirs
    return graded(
        "session_scheduling",
        f"grouped by session; the server is in {'this one' if same else f'session {theirs}, brimline in {ours}'}",
        warn=not same,
        hint="each reply costs a task switch (+12 µs measured): start both from one shell, or "
        "sysctl kernel.sched_autogroup_enabled=0",
        figures={"autogroup": True, "same_session": same},
    )
