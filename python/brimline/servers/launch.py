"""Owns starting one server process under a guardian, and ending both. `guardian.py` says what a guardian is for."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.servers.password import environment_without_secrets
from brimline.servers.state import SERVER_FILE

Guardian = subprocess.Popen[bytes]

START_FILE = "start.json"
"""In the directory of each server: how it was started, so that it can be once more."""
_GUARDIAN = Path(__file__).with_name("guardian.py")
_STOP_DEADLINE_S = 15.0
_NOBODY = 65534
"""The kernel's own number for a user that a namespace doesn't know; every distribution calls it nobody."""
_kept: list[Guardian] = []
"""Guardians that nobody waits for: held, so that Python neither warns of them nor closes what they listen to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a server is run; `guardian.py` says what each is for.

    `apart`: in namespaces of its own, where root is nobody; other users stay who they are.
    """

    libraries: Path | None = None
    cpus: tuple[int, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    end_signal: signal.Signals = signal.SIGKILL
    apart: bool = False

    def to_document(self) -> dict[str, Any]:
        """The options of the guardian."""
        return {
            "libraries": str(self.libraries or ""),
            "cpus": list(self.cpus),
            "before": [list(command) for command in self.before],
            "end_signal": int(self.end_signal),
            "namespace": {"user": os.geteuid() or _NOBODY, "not_root": os.geteuid() == 0} if self.apart else None,
        }


def launch(command: Sequence[str], *, directory: Path, manner: Manner | None = None) -> Guardian:
    """Starts `command` under a guardian, its standard error in `directory`/stderr. Raises OSError."""
    return _launched(list(command), (manner or Manner()).to_document(), directory)


def launch_again(directory: Path, *, changed: Callable[[list[str]], list[str]] = list) -> Guardian:
    """Starts what once ran in `directory`, on what it left there. Raises OSError, ValueError, KeyError, TypeError."""
    start = json.loads((directory / START_FILE).read_text())
    command, options = start["command"], {**start["options"], "before": []}
    (directory / SERVER_FILE).unlink(missing_ok=True)
    return _launched(changed(command), options, directory)


def _launched(command: list[str], options: dict[str, Any], directory: Path) -> Guardian:
    (directory / START_FILE).write_text(json.dumps({"command": command, "options": options}))
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


def hold(guardian: Guardian) -> None:
    """The server ends with this process at the latest, however that happens."""
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
