"""Owns what tests of brimline import share: an import that has begun in another process."""

import signal
import time
from pathlib import Path

from brimline.record.data_import import read_checkpoint
from tests.support.command_line import CommandLine, Running
from tests.support.waiting import eventually

SLOWLY = ("--batchSize", "50", "-j", "2")
"""In small steps, so that with `slow` inserts an import is not over before something happens to it."""


def begun(brimline_cli: CommandLine, times: int = 1) -> bool:
    """Whether the import has begun so many attempts."""
    files = list(brimline_cli.runs.glob("*/events.jsonl"))
    return bool(files) and files[0].read_text().count('"attempt"') >= times


def start(brimline_cli: CommandLine, times: int, *arguments: str | Path) -> Running:
    """Starts an import, or goes on with one, and waits until it has begun so many attempts."""
    running = brimline_cli.start("import", *arguments, "-q", "--json")
    assert eventually(lambda: begun(brimline_cli, times), timeout_s=60), running.end().stderr
    return running


def kill_behind_a_checkpoint(brimline_cli: CommandLine, running: Running, *, settled: int = 0, after_s: float) -> int:
    """Kills an import `after_s` after its checkpoint has moved beyond `settled` bytes; returns how far it is then.

    An import that is killed before goes on from its beginning, which shows nothing about where it left off.
    """
    assert eventually(lambda: _settled(brimline_cli) > settled, timeout_s=60), "no checkpoint was written"
    time.sleep(after_s)
    assert running.process.poll() is None, "the import was over before it could be killed"
    running.send(signal.SIGKILL)
    running.end()
    return _settled(brimline_cli)


def _settled(brimline_cli: CommandLine) -> int:
    """Bytes of the first input behind which the import of this directory would go on."""
    (events,) = brimline_cli.runs.glob("*/events.jsonl")
    place = (read_checkpoint(events.parent) or {}).get("place", {})
    return int(place.get("offset", 0))
