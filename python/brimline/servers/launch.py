"""Owns starting one server process under a guardian, and ending both. `guardian.py` says what a guardian is for."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from brimline.servers.password import environment_without_secrets

Guardian = subprocess.Popen[bytes]

START_FILE = "start.json"
"""In the directory of each server: how it was started, so that it can be once more."""
_GUARDIAN = Path(__file__).with_name("guardian.py")
_STOP_DEADLINE_S = 15.0
_kept: list[Guardian] = []
"""Guardians that outlive this process: held, so that Python doesn't warn of processes that nobody waits for."""


def launch(
    command: Sequence[str], *, directory: Path, libraries: Path | None = None, cpus: Sequence[int] = ()
) -> Guardian:
    """Starts `command` under a guardian, its standard error in `directory`/stderr. Raises OSError.

    `libraries`: see `ServerBinary`. `cpus`: the processors it may run on; none given: all.
    """
    options = {"libraries": str(libraries or ""), "cpus": list(cpus)}
    start = {"command": list(command), **options}
    (directory / START_FILE).write_text(json.dumps(start))
    with (directory / "stderr").open("wb") as stderr:
        # A process group of its own, so that Ctrl-C in the terminal reaches brimline alone, which then
        # stops the server. Not a session of its own: Linux schedules sessions as groups (autogroup), and
        # a generator in another group than the server it shares cores with is switched to after nearly
        # every reply, which cost 12 µs per operation and a third of the throughput.
        return subprocess.Popen(  # noqa: S603 (the user's own binary, no shell)
            [sys.executable, "-I", "-S", str(_GUARDIAN), json.dumps(options), str(directory), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            cwd=directory,
            env=environment_without_secrets(),
            process_group=0,
        )


def keep(guardian: Guardian) -> None:
    """From now on the server stays when this process ends. Raises OSError when its guardian has ended already."""
    if guardian.stdin is not None:
        guardian.stdin.write(b"keep")
        guardian.stdin.close()
    _kept.append(guardian)


def end(guardian: Guardian) -> None:
    """Asks the guardian to end its server and waits for both; a guardian that doesn't answer is killed."""
    if guardian.stdin is not None and not guardian.stdin.closed:
        with suppress(OSError):  # it has ended already
            guardian.stdin.write(b"stop")  # also heard when a forked child of ours still holds the pipe open
            guardian.stdin.close()
    try:
        guardian.wait(_STOP_DEADLINE_S)
    except subprocess.TimeoutExpired:
        os.kill(guardian.pid, signal.SIGKILL)
        guardian.wait()
