"""Owns ending single servers of a lab that is up, and starting those that have ended again, on data and address."""

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from brimline.errors import TargetError, UsageError
from brimline.servers.bundled import MONGOD_LOG
from brimline.servers.deployment import split_address
from brimline.servers.failure import start_error, start_failure
from brimline.servers.lab import cpu_share
from brimline.servers.lab.disk_rate import restore_disk
from brimline.servers.lab.forwarding import restore_line
from brimline.servers.lab.kinds import kind_of
from brimline.servers.lab.lifecycle import find_lab, is_complete, look_at
from brimline.servers.lab.state import FORWARDER_PREFIX, Lab, LabServer, server_process
from brimline.servers.lab.waiting import wait_until
from brimline.servers.launch import START_FILE, Guardian, hold, keep, launch_again
from brimline.servers.listening import listens
from brimline.servers.processes import ProcessIdentity, kill
from brimline.servers.state import read_server

_SHUTDOWN_S = 30.0
_LOOK_S = 0.05


def stop_servers(name: str, members: Sequence[str]) -> list[LabServer]:
    """Ends servers of a lab in good order; what they hold stays. Those that have ended already are left out.

    Raises:
        UsageError: there is no such lab or member, or none would be left: a lab without a server is swept.
        TargetError: one doesn't end.
    """
    lab = find_lab(name)
    chosen = [member_named(lab, each) for each in members]
    running = {server.address: process for server in lab.servers if (process := server_process(lab, server))}
    if set(running) <= {server.address for server in chosen}:
        raise UsageError(
            f'no server of the lab "{name}" would be left', hint=f"brimline lab down {name} takes all of it away"
        )
    stopped = [server for server in chosen if server.address in running]
    for server in stopped:
        stop_server(lab, server)
    return stopped


def start_servers(
    name: str,
    members: Sequence[str],
    *,
    deadline_s: float,
    say: Callable[[str], None],
    meanwhile: Callable[[], None] = lambda: None,
) -> list[LabServer]:
    """Starts servers of a lab that have ended, all or `members`, and waits until each does its part again.

    Those that stand still go on, disks that are held to a rate are let go, and lines that are cut or slow are as they
    were brought up: a failover that was killed leaves such. Gives those that had ended.

    Raises:
        UsageError: there is no such lab or member, or it can't be told how the server was started.
        TargetError: one can't be started, or the lab is not complete before the deadline.
    """
    lab, until = find_lab(name), time.monotonic() + deadline_s
    chosen = [member_named(lab, each) for each in members] or list(lab.servers)
    ended = [server for server in chosen if server_process(lab, server) is None]
    for server in chosen:
        # Of one that has ended too: with cgroup 2 it comes back into the group of its share of the processors.
        if restore_disk(lab.directory, server=server.directory_name):
            say(f"the disk of {server.address} was held to a rate, and is let go")
        if server not in ended:
            _let_go_on(lab, server, say)
    for server in ended:
        say(f"starting {server.role} {server.address} …")
        _start(lab, server, until, meanwhile)
    waited = {server.address for server in ended}
    wait_until(
        lambda: _has_returned(lab, waited),
        until=until,
        meanwhile=meanwhile,
        why=lambda: "; ".join(f"{each.server.address} is {each.state}" for each in look_at(lab)),
        say=say,
    )
    if is_complete(look_at(lab)):
        lab.struck_file.unlink(missing_ok=True)
    return ended


def _let_go_on(lab: Lab, server: LabServer, say: Callable[[str], None]) -> None:
    """Undoes what a fault did to a server that runs. Raises TargetError."""
    process = server_process(lab, server)
    if process is not None and _stands_still(process):
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
        say(f"{server.address} stood still, and goes on")
    if restore_line(lab, server):
        say(f"the line to {server.address} is as it was brought up")


def _stands_still(process: ProcessIdentity) -> bool:
    """Whether a signal stopped it; proc(5) has the state behind the name."""
    with suppress(OSError):
        return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


def _has_returned(lab: Lab, waited: set[str]) -> bool:
    """Whether those that were started do their part; where none has ended, the whole lab does."""
    looks = look_at(lab)
    if all(look.state != "ended" for look in looks):
        return is_complete(looks)
    return all(look.works for look in looks if look.server.address in waited)


def member_named(lab: Lab, word: str) -> LabServer:
    """A server by its number from 1, its port or its address."""
    for number, server in enumerate(lab.servers, start=1):
        if word in {str(number), server.address, server.address.rpartition(":")[2]}:
            return server
    known = ", ".join(f"{number} ({server.address})" for number, server in enumerate(lab.servers, start=1))
    raise UsageError(f'the lab "{lab.name}" has no member "{word}"', hint=f"there are: {known}")


def stop_server(lab: Lab, server: LabServer) -> None:
    """Ends one in good order, whatever else runs; what it holds stays. Raises TargetError when it doesn't end."""
    kind, process = kind_of(server.role), server_process(lab, server)
    kind.before_stop(lab, server)
    if process is not None and not kill(process, timeout_s=_SHUTDOWN_S, number=kind.stop_signal):
        raise TargetError(
            f"the server at {server.address} doesn't end in time", hint="its log is in brimline lab status --json"
        )


def start_server(
    lab: Lab, server: LabServer, *, deadline_s: float, meanwhile: Callable[[], None] = lambda: None
) -> None:
    """Starts one that has ended; it listens when this returns. It ends with the lab. Raises as `start_servers`."""
    _start(lab, server, time.monotonic() + deadline_s, meanwhile)


def _start(lab: Lab, server: LabServer, until: float, meanwhile: Callable[[], None]) -> None:
    directory = lab.directory_of(server)
    guardian = _again(lab, directory)
    port = split_address(server.own_address)[1]
    while (process := server_process(lab, server)) is None or not listens(process.pid, port):
        meanwhile()
        if guardian.poll() is not None:
            failure = start_failure(
                exit_code=guardian.returncode, log=directory / MONGOD_LOG, stderr=directory / "stderr"
            )
            program = Path(json.loads((directory / START_FILE).read_text())["command"][0])
            raise start_error(failure, binary=program, waited_s=0.0, cache_entry=None)
        if time.monotonic() > until:
            raise TargetError(
                f"the {server.role} at {server.address} doesn't listen in time", hint="give a longer --deadline"
            )
        time.sleep(_LOOK_S)
    if (share := lab.settings.get("cpu_share")) is not None:
        cpu_share.hold(lab.directory, server=server.directory_name, pid=process.pid, share=share)
    if server.behind is not None:
        _forward_again(lab, server, process)


def _forward_again(lab: Lab, server: LabServer, process: ProcessIdentity) -> None:
    """The line to a server ended with it: it stands before the new process, at the same address."""
    directory = lab.servers_directory / f"{FORWARDER_PREFIX}{split_address(server.address)[1]}"
    if (old := read_server(directory)) is not None:
        kill(old)

    def before_new(command: list[str]) -> list[str]:
        return [*command[:-1], json.dumps({**json.loads(command[-1]), "server_pid": process.pid})]

    _again(lab, directory, before_new)


def _again(lab: Lab, directory: Path, changed: Callable[[list[str]], list[str]] = list) -> Guardian:
    """Starts what once ran in `directory`; of a lab that outlives this process it does so, too."""
    try:
        guardian = launch_again(directory, changed=changed)
    except (ValueError, KeyError, TypeError, FileNotFoundError) as error:
        raise UsageError(
            f"how the server in {directory} was started isn't known", hint="take the lab down, and bring it up again"
        ) from error
    # At once: a guardian that is told to end removes the server's data.
    if lab.outlives:
        keep(guardian)
    else:
        hold(guardian)
    return guardian
