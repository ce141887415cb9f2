"""Owns what tests of brimline import share: brimline in this process, and an import that has begun in another one."""

from pathlib import Path

import pytest

from brimline.cli.app import main
from tests.support.command_line import CommandLine, Outcome, Running
from tests.support.waiting import eventually

SLOWLY = ("--batchSize", "5", "-j", "2")
"""So that an import is not over before something happens to it."""


class Here:
    """brimline in this process, which is quicker than to start it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str | Path) -> Outcome:
        with pytest.raises(SystemExit) as ended:
            main([str(each) for each in arguments])
        printed = self._capsys.readouterr()
        return Outcome(int(ended.value.code or 0), printed.out, printed.err, 0.0)


def begun(brimline_cli: CommandLine, times: int = 1) -> bool:
    """Whether the import has begun so many attempts."""
    files = list(brimline_cli.runs.glob("*/events.jsonl"))
    return bool(files) and files[0].read_text().count('"attempt"') >= times


def start(brimline_cli: CommandLine, times: int, *arguments: str | Path) -> Running:
    """Starts an import, or goes on with one, and waits until it has begun so many attempts."""
    running = brimline_cli.start("import", *arguments, "-q", "--json")
    assert eventually(lambda: begun(brimline_cli, times), timeout_s=60), running.end().stderr
    return running
