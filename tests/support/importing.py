"""Owns what tests of brimline import share: an import that has begun in another process."""

from pathlib import Path

from tests.support.command_line import CommandLine, Running
from tests.support.waiting import eventually

SLOWLY = ("--batchSize", "50", "-j", "2")
"""In small steps, so that with `OwnMongod.slow_inserts` an import is not over before something happens to it."""


def begun(brimline_cli: CommandLine, times: int = 1) -> bool:
    """Whether the import has begun so many attempts."""
    files = list(brimline_cli.runs.glob("*/events.jsonl"))
    return bool(files) and files[0].read_text().count('"attempt"') >= times


def start(brimline_cli: CommandLine, times: int, *arguments: str | Path) -> Running:
    """Starts an import, or goes on with one, and waits until it has begun so many attempts."""
    running = brimline_cli.start("import", *arguments, "-q", "--json")
    assert eventually(lambda: begun(brimline_cli, times), timeout_s=60), running.end().stderr
    return running
