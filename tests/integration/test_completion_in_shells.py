"""Tab in the shells themselves, each on a terminal of its own; and what the scripts are told."""

import fcntl
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(brimline completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -Uz compinit; compinit -u -D; eval "$(brimline completion zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "brimline completion fish | source"),
}
"""By name: how each is started without anybody's settings, and what its user writes into them."""
SOURCES = Path(__file__).parents[2] / "python"


class Shell:
    """A shell at a terminal, which is typed into."""

    def __init__(self, name: str, directory: Path) -> None:
        command, script = SHELLS[name]
        bin_directory = directory / "bin"
        bin_directory.mkdir()
        program = bin_directory / "brimline"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m brimline "$@"\n')
        program.chmod(0o755)
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=directory,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={
                "PATH": f"{bin_directory}:{os.environ['PATH']}",
                "PYTHONPATH": str(SOURCES),
                "HOME": str(directory),
                "TERM": "dumb" if name == "bash" else "xterm",
                "PS1": "$ ",
                "LANG": "C.UTF-8",
            },
        )
        os.close(slave)
        self._script = script

    def load_script(self) -> None:
        self.type(f"{self._script}\necho rea''dy\n")
        self.shows(r"\bready\b")

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def shows(self, pattern: str, *, within_s: float = 30.0) -> str:
        """What it wrote until then, without control sequences."""
        text, ends_s = "", time.monotonic() + within_s
        while not re.search(pattern, text):
            assert time.monotonic() < ends_s, f"{pattern!r} is not in {text!r}"
            if select.select([self._master], [], [], 0.1)[0]:
                text += os.read(self._master, 65536).decode(errors="replace")
                text = re.sub(r"\x1b(\[[0-9;?>=]*[a-zA-Z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>])", "", text)
        return text

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shell]:
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param} on this machine")
    (tmp_path / "own.yaml").touch()
    shell = Shell(request.param, tmp_path)
    try:
        shell.load_script()
        yield shell
    finally:
        shell.close()


@pytest.mark.slow("each Tab starts brimline, and a shell reads its script")
def test_tab_completes(shell: Shell) -> None:
    shell.type("brimline import-r\t")
    shell.shows("import-results ")
    shell.type("\x15brimline sweep --vary topology=client-routed-2x\t")
    shell.shows("client-routed-2x2")
    shell.type("\x15brimline run ow\t")
    shell.shows(r"own\.yaml")


def completed(brimline_cli: CommandLine, *words: str, shell: str = "bash") -> list[str]:
    outcome = brimline_cli.run("completion", shell, "--", *words)
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ([""], ["run", "capacity", "lab"]),
        (["ca"], ["capacity"]),
        (["--v"], ["--version"]),
        (["run", "ycsb-"], ["ycsb-a", ":files"]),
        (["run", "ycsb-a", "--dur"], ["--duration"]),
        (["run", "--lang", ""], ["en", "zh"]),
        (["run", "--lang=z"], ["--lang=zh"]),
        (["run", "-P", ""], [":files"]),
        (["run", "--data", "l"], ["load"]),
        (["run", "--server-version", "6"], ["6.0.5"]),
        (["sweep", "ycsb-a", "--vary", "topo"], ["topology="]),
        (["sweep", "ycsb-a", "--vary", "topology=standalone,sh"], ["topology=standalone,sharded-2"]),
        (["sweep", "ycsb-a", "--vary", "workload=ycsb-a,ycsb-b"], ["workload=ycsb-a,ycsb-b"]),
        (["sweep", "ycsb-a", "--show", "p50,p99."], ["p50,p99.9"]),
        (["lab", "d"], ["down"]),
        (["show", "lat"], ["latest", ":files"]),
        (["compare", "one", "lat"], ["latest"]),
        (["schema", "w"], ["workload"]),
    ],
    ids=lambda words: " ".join(words) or "nothing",
)
def test_what_may_stand_there(words: list[str], some: list[str], brimline_cli: CommandLine) -> None:
    assert set(some) <= set(completed(brimline_cli, *words))


@pytest.mark.parametrize(
    "words", [["nonsense", ""], ["lab", "nonsense", ""], ["run", "ycsb-a", "x"], ["run", "--rate", ""], ["list", ""]]
)
def test_where_nothing_is_known_nothing_is_said(words: list[str], brimline_cli: CommandLine) -> None:
    assert completed(brimline_cli, *words) == []


def test_shells_with_room_for_it_are_told_what_each_is(brimline_cli: CommandLine) -> None:
    assert completed(brimline_cli, "ca", shell="zsh") == ["capacity:Find the highest load that meets an objective."]
    assert completed(brimline_cli, "ca", shell="fish") == ["capacity\tFind the highest load that meets an objective."]


def test_a_lab_and_a_record_complete_by_name(brimline_cli: CommandLine) -> None:
    run = brimline_cli.run("run", "ycsb-c", "--null", "--duration", "100ms", "--warmup", "0s", "--records", "10", "-q")
    assert run.exit_code in (0, 4)
    (record,) = brimline_cli.record_directories()
    assert record.name in completed(brimline_cli, "report", record.name[:8])
