"""Owns the table of faults: what each does to a server of a lab, how it is undone, and by hand where that fails.

A fault is one entry of the table and nothing else.
"""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pymongo.errors import AutoReconnect, PyMongoError

from brimline.errors import TargetError, UsageError
from brimline.servers.deployment import control_client
from brimline.servers.external import primary_now
from brimline.servers.faults.site import Site
from brimline.servers.lab.disk_rate import hold_disk, let_go, require_rate
from brimline.servers.lab.forwarding import has_forwarder, order
from brimline.servers.lab.network import Network, parse_network
from brimline.servers.lab.restart import start_server, stop_server
from brimline.servers.lab.small_disk import FILLER, empty, fill, is_small
from brimline.servers.lab.state import server_process
from brimline.servers.processes import kill
from brimline.servers.rights import rights_of
from brimline.units import parse_bytes

START_WITHIN_S = 60.0
STEP_DOWN_S = 10
"""For how long the old primary may not be elected again, as `rs.stepDown()` has it after its own 60 s are shortened."""
_CATCH_UP_S = 5
_STEP_DOWN_TAKES = ("replSetStateChange",)
"""By MongoDB's name of the action."""
_SLOW_NETWORK = "50ms"
"""What a network is slow by, unless that is said: a trip to another continent."""
_SLOW_DISK = "1MB/s"
"""What a disk does each way, unless that is said: a volume whose burst is used up."""
_SMALL_DISK, _SMALL_DISK_MIN_BYTES = "1GB", 500_000_000
"""Journals alone take 300 MB."""
FULL_DISK = "full-disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultKind:
    """Something that befalls a server. `what` is said of it, `do` and `undo` make it so; both raise BrimlineError.

    `by_hand`: what a person does where undoing fails. `check` refuses what can't be, before anything is done.
    `reads` refuses what stands behind its name, before any server is there.
    `takes`: how what may stand behind its name is written. `takes_away`: the server is no primary any more, so that
    others must be there to take over. `by_line`: it acts on the forwarder before a server. `of_lab`: of a lab alone.
    """

    name: str
    what: str
    do: Callable[[Site, str], None]
    undo: Callable[[Site, str], None] = lambda _site, _argument: None
    by_hand: Callable[[Site, str], str] = lambda _site, _argument: ""
    check: Callable[[Site, str], None] = lambda _site, _argument: None
    reads: Callable[[str], object] = lambda _argument: None
    takes: str = ""
    takes_away: bool = True
    by_line: bool = False
    of_lab: bool = True


def _kill(site: Site, _argument: str) -> None:
    if not kill(site.process):
        raise TargetError("the server's process can't be killed", hint="see brimline lab status")


def _stop(site: Site, _argument: str) -> None:
    stop_server(*site.struck)


def _start(site: Site, _argument: str) -> None:
    lab, server = site.struck
    if server_process(lab, server) is None:
        start_server(lab, server, deadline_s=START_WITHIN_S)


def _start_by_hand(site: Site, _argument: str) -> str:
    lab, server = site.struck
    return f"brimline lab start {lab.name} {server.address}"


def _pause(site: Site, _argument: str) -> None:
    site.send(signal.SIGSTOP)


def _go_on(site: Site, _argument: str) -> None:
    site.send(signal.SIGCONT)


def _go_on_by_hand(site: Site, _argument: str) -> str:
    lab, server = site.struck
    process = server_process(lab, server)
    return f"kill -CONT {'PID of the server' if process is None else process.pid}"


def _step_down(site: Site, _argument: str) -> None:
    """A primary closes connections as it steps down, so that the answer may be lost; then it has done so."""
    command = {"replSetStepDown": STEP_DOWN_S, "secondaryCatchUpPeriodSecs": _CATCH_UP_S}
    primary = primary_now(site.deployment)
    try:
        with control_client(primary.address, access=primary.access, purpose="fault") as client:
            client.admin.command(command)
    except AutoReconnect:
        return
    except PyMongoError as error:
        raise TargetError(
            f"the primary doesn't step down: {str(error).partition(', full error')[0]}",
            hint="the user needs clusterManager on admin, and a secondary must be in step",
        ) from error


def _require_step_down(site: Site, _argument: str) -> None:
    """Raises TargetError where the user may not have a primary step down."""
    deployment = site.deployment
    if deployment.access.login is None:
        return
    try:
        with control_client(deployment.address, access=deployment.access, purpose="fault") as client:
            lacking = rights_of(client.admin).lacking_of_cluster(_STEP_DOWN_TAKES)
    except PyMongoError as error:
        raise TargetError("the user's rights can't be asked for", hint="check that the server still runs") from error
    if lacking:
        raise TargetError(
            f"the user may not have the primary step down: {', '.join(lacking)} isn't granted",
            hint="nothing was done; grant it, as the role clusterManager on admin would",
        )


def _part(site: Site, _argument: str) -> None:
    """Neither side hears the other: its connections to the others stand still, and theirs to it."""
    _cut(site, clients=False)


def _isolate(site: Site, _argument: str) -> None:
    _cut(site, clients=True)


def _cut(site: Site, *, clients: bool) -> None:
    lab, server = site.struck
    processes = [each.pid for other in site.others if (each := server_process(lab, other)) is not None]
    own = site.process.pid
    order(lab, server, cut="all" if clients else processes)
    for other in site.others:
        order(lab, other, cut=[own])


def _join(site: Site, _argument: str) -> None:
    """Each is told, also where one before it doesn't follow: that one alone stays cut."""
    lab, server = site.struck
    troubles = []
    for each in (server, *site.others):
        try:
            order(lab, each)
        except TargetError as error:
            troubles.append(error)
    if troubles:
        raise troubles[0]


def _slow_network(site: Site, argument: str) -> None:
    order(*site.struck, network=_line(argument))


def _line(argument: str) -> Network:
    """The line that is slow. Raises UsageError."""
    try:
        line = parse_network(argument or _SLOW_NETWORK)
    except ValueError as error:
        raise UsageError(f"slow-network: {error}", hint="write it like slow-network:200ms+1mbit") from error
    if line is None or line.loss:
        raise UsageError(
            "a slow network has a delay or a rate, and no loss", hint="write it like slow-network:200ms+1mbit"
        )
    return replace(line, between="all")


def _require_line(site: Site, _argument: str) -> None:
    lab, server = site.struck
    if not all(has_forwarder(lab, each) for each in (server, *site.others)):
        raise UsageError(
            "no line stands before the servers of this lab that could be cut or slowed",
            hint=f"bring it up with one: brimline lab up {lab.name} --delay 0ms --between all",
        )


def _require_others(site: Site, argument: str) -> None:
    if not site.others:
        raise UsageError(
            "a server that is alone has no other members to be parted from", hint="--fault isolate parts it from all"
        )
    _require_line(site, argument)


def _slow_disk(site: Site, argument: str) -> None:
    lab, server = site.struck
    directory, process = lab.directory_of(server), site.process
    site.kept["disk"] = hold_disk(
        lab.directory, server=server.directory_name, pid=process.pid, device=require_rate(directory),
        bytes_per_s=_disk_rate(argument),
    )  # fmt: skip


def _fast_disk(site: Site, _argument: str) -> None:
    lab, server = site.struck
    process = server_process(lab, server)
    if (held := site.kept.pop("disk", None)) is not None:
        let_go(held, pid=None if process is None else process.pid)


def _require_disk(site: Site, _argument: str) -> None:
    lab, server = site.struck
    require_rate(lab.directory_of(server))


def _disk_rate(argument: str) -> int:
    """Bytes per second. Raises UsageError."""
    try:
        rate = parse_bytes((argument or _SLOW_DISK).removesuffix("/s"))
    except ValueError as error:
        raise UsageError(f"slow-disk: {error}", hint="write it like slow-disk:1MB/s") from error
    if rate < 1:
        raise UsageError("a disk can't be that slow", hint="write it like slow-disk:1MB/s")
    return rate


def _fill_disk(site: Site, _argument: str) -> None:
    fill(_data(site))


def _empty_disk(site: Site, argument: str) -> None:
    """A server that found no room has ended itself."""
    empty(_data(site))
    _start(site, argument)


def _require_small_disk(site: Site, _argument: str) -> None:
    if not is_small(_data(site)):
        raise UsageError(
            "the servers of this lab are on the machine's own disk, which brimline doesn't fill",
            hint="leave --uri out: servers of brimline's own get small disks of their own, as root",
        )


def _data(site: Site) -> Path:
    lab, server = site.struck
    return lab.directory_of(server) / "data"


def small_disk_bytes(argument: str) -> int:
    """The size of the disk that becomes full. Raises UsageError."""
    try:
        size = parse_bytes(argument or _SMALL_DISK)
    except ValueError as error:
        raise UsageError(f"full-disk: {error}", hint="write it like full-disk:2GB") from error
    if size < _SMALL_DISK_MIN_BYTES:
        raise UsageError("a server has no room to begin on such a disk", hint="write it like full-disk:2GB")
    return size


def _empty_by_hand(site: Site, argument: str) -> str:
    return f"rm {_data(site) / FILLER}, then {_start_by_hand(site, argument)}"


def _start_lab_by_hand(site: Site, _argument: str) -> str:
    lab, _ = site.struck
    return f"brimline lab start {lab.name}"


_ALL = (
    FaultKind(name="kill", what="the server is killed (SIGKILL), and started again", do=_kill, undo=_start,
              by_hand=_start_by_hand),
    FaultKind(name="stop", what="the server is shut down in good order (SIGTERM), and started again", do=_stop,
              undo=_start, by_hand=_start_by_hand),
    FaultKind(name="pause", what="the server stands still (SIGSTOP), and goes on (SIGCONT)", do=_pause, undo=_go_on,
              by_hand=_go_on_by_hand),
    FaultKind(name="step-down", what="the primary steps down (replSetStepDown)", do=_step_down,
              check=_require_step_down, of_lab=False),
    FaultKind(name="partition", what="the server and the other members hear nothing of each other; clients reach both",
              do=_part, undo=_join, by_hand=_start_lab_by_hand, check=_require_others, by_line=True),
    FaultKind(name="isolate", what="the server hears nothing, neither of members nor of clients", do=_isolate,
              undo=_join, by_hand=_start_lab_by_hand, check=_require_line, by_line=True),
    FaultKind(name="slow-network", what="the line to the server is slow", do=_slow_network, undo=_join,
              by_hand=_start_lab_by_hand, check=_require_line, reads=_line, takes="slow-network:200ms+1mbit",
              takes_away=False, by_line=True),
    FaultKind(name="slow-disk", what="the disk of the server is slow", do=_slow_disk, undo=_fast_disk,
              by_hand=_start_lab_by_hand, check=_require_disk, reads=_disk_rate, takes="slow-disk:1MB/s",
              takes_away=False),
    FaultKind(name=FULL_DISK, what="the disk of the server is full", do=_fill_disk, undo=_empty_disk,
              by_hand=_empty_by_hand, check=_require_small_disk, reads=small_disk_bytes, takes="full-disk:2GB"),
)  # fmt: skip
KINDS: Mapping[str, FaultKind] = {kind.name: kind for kind in _ALL}
"""Every fault by its name."""
