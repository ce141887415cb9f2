"""Owns taking labs away: those that are to go, and those whose owner died on the way or whose servers are all gone.

Imported by what starts any server, so it imports nothing that starts one.
"""

import shutil
import signal
from contextlib import suppress
from pathlib import Path

from brimline.servers.lab.cpu_share import release
from brimline.servers.lab.small_disk import unmount_below
from brimline.servers.lab.state import UNFINISHED_PREFIX, Guarded, Lab, guarded, labs_directory, read_lab
from brimline.servers.owner import Scope
from brimline.servers.processes import is_alive, kill
from brimline.servers.state import is_own


def sweep_labs(parent: Path | None = None) -> tuple[str, ...]:
    """Takes away every lab that nobody can use any more; gives their names. Never raises.

    These are: a lab whose set-up or end was cut short, one that was not to outlive a process that is gone, one of which
    no server runs any more, unless a fault is on it, and all of an earlier boot of this machine.
    """
    parent = parent or labs_directory()
    swept = []
    with suppress(OSError):
        here = Scope.current()
        if not is_own(parent):
            return ()
        for directory in sorted(parent.glob("*")):
            lab = None if directory.is_symlink() else read_lab(directory)
            if lab is not None and _is_abandoned(lab, here) and remove(lab, here=here):
                swept.append(lab.name)
        for directory in parent.glob(f"{UNFINISHED_PREFIX}*"):
            _sweep_unfinished(directory, here)
    return tuple(swept)


def remove(lab: Lab, *, here: Scope | None = None) -> bool:
    """Ends all processes of a lab and removes its directory, whatever state they are in; whether nothing is left.

    What was started last goes first, since it may need the others. Guardians end their servers, or the kernel does. No
    process is touched unless pid, start time and executable are those that were written down, in this boot and this pid
    namespace.
    """
    gone = True
    if lab.scope == (here or Scope.current()):
        # Looked at once more after the first round: a guardian that was just starting may have written its state since.
        for _ in range(2):
            ended = [_end(each) for each in guarded(lab.directory)]
            gone = all(ended)
    if gone:
        release(lab.directory)
        unmount_below(lab.directory)
        shutil.rmtree(lab.directory, ignore_errors=True)
    return gone and not lab.directory.exists()


def _end(each: Guarded) -> bool:
    """Whether neither server nor guardian is left. A server of several processes is asked for all of them first."""
    if each.guardian is not None:
        kill(each.guardian, number=signal.SIGTERM)
    if each.server is not None and each.end_signal != signal.SIGKILL:
        kill(each.server, number=each.end_signal)
    ended = [kill(process) for process in each.processes]
    return all(ended)


def _is_abandoned(lab: Lab, here: Scope) -> bool:
    outlives_owner = lab.phase == "up" and lab.outlives
    if outlives_owner and lab.scope.boot_id == here.boot_id and lab.struck_file.exists():
        return False
    running = [process for each in guarded(lab.directory) for process in each.processes]
    return lab.scope.all_gone(running if outlives_owner else [lab.owner], here)


def _sweep_unfinished(directory: Path, here: Scope) -> None:
    """A directory that never got its name: nothing was started in it yet."""
    lab = read_lab(directory)
    pid, _, ticks = directory.name.removeprefix(UNFINISHED_PREFIX).partition("-")
    if lab is not None and (lab.scope != here or is_alive(lab.owner)):
        return
    if lab is None and _runs(pid, ticks.partition("-")[0]):
        return
    shutil.rmtree(directory, ignore_errors=True)


def _runs(pid: str, start_ticks: str) -> bool:
    try:
        fields = (Path("/proc") / pid / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    return fields[19] == start_ticks
