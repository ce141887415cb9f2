"""The words of any verb: whatever a password looks like, no output and no record holds it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from brimline.cli.app import main
from brimline.cli.words import redact_words
from tests.support.secrets import ADDRESSES, ASSIGNMENTS, SECRET
from tests.support.ycsb_golden import GOLDEN

pytestmark = pytest.mark.usefixtures("impatient")

WORKLOAD = str(GOLDEN / "workloadc.properties")


def said(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    with pytest.raises(SystemExit) as ended:
        main(words)
    streams = capsys.readouterr()
    return ended.value.code, streams.out + streams.err


@pytest.mark.parametrize("words", [["list", "sw"], ["list", "sw", "and more"], ["lab", "list", "sw"]])
def test_words_that_a_verb_does_not_take_are_told_plainly(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    verb = " ".join(["brimline", *words[: words.index("sw")]])
    rest = " ".join(words[words.index("sw") :])
    assert said(words, capsys) == (2, f"error: {verb} has no use for {rest}\nhint: see {verb} --help\n")


@pytest.mark.parametrize(
    "words",
    [
        *(["ycsb-c", "--uri", address] for address in ADDRESSES),
        *(["ycsb-c", f"--uri={address}"] for address in ADDRESSES),
        *(["ycsb-c", "--null", address] for address in ADDRESSES),
        *(["-P", WORKLOAD, "-p", assignment, "--null"] for assignment in ASSIGNMENTS),
        ["ycsb-c", "--uri", f"mongodb://u:{SECRET}", f"{SECRET}@h/y"],
        ["ycsb-c", f"--password={SECRET}"],
        ["ycsb-c", "--rate", f"mongodb://u:{SECRET} {SECRET}@h"],
    ],
)
def test_no_error_repeats_a_secret(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = said(["run", *words], capsys)
    assert code in (2, 5) and text.count("error: ") == 1
    assert SECRET not in text
    assert not list(tmp_path.iterdir()), "nothing was begun"


@pytest.mark.parametrize(
    "words",
    [
        *(["--uri", address] for address in ADDRESSES),
        *([f"--uri={address}"] for address in ADDRESSES),
        *(["-p", f"mongodb.url={address}"] for address in ADDRESSES),
        *([address] for address in ADDRESSES),
        *(["-p", assignment] for assignment in ASSIGNMENTS),
        *([f"-p{assignment}"] for assignment in ASSIGNMENTS),
        ["--sslPEMKeyPassword", SECRET],
        [f"--api-key={SECRET}"],
    ],
)
def test_words_are_shown_without_their_secret(words: list[str]) -> None:
    shown = redact_words(words)
    assert len(shown) == len(words)
    assert SECRET not in " ".join(shown) and "***" in " ".join(shown)


@pytest.mark.parametrize(
    "word",
    [
        "run",
        "ycsb-c",
        "--uri=mongodb://h:1,[::1]:2/y?w=1",
        "--rate=5000/s",
        "--p99",
        "-P",
        "/a/b:c",
        "x=y",
        "--tlr=1,2,3s",
    ],
)
def test_words_without_a_secret_stay(word: str) -> None:
    assert redact_words([word]) == (word,)


def test_a_record_holds_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of addresses given several times the last counts, so that a run with all the others is one that works."""
    strays = [word for address in ADDRESSES for word in ("-p", f"mongodb.url={address}")]
    words = ["run", "-P", WORKLOAD, *strays, "-p", "mongodb.url=mongodb://h:1/y", "--null", "--duration", "50ms"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["brimline", *words])
    code, text = said(words, capsys)
    assert code in (0, 4), text
    assert SECRET not in text
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert "environment.json" in {path.name for path in files}
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("verb", ["workloads", "list"])
def test_a_full_disk_keeps_no_record_of_what_measured_nothing(verb: str, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "brimline", verb],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, timeout=60, check=False,
        )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr == "error: can't print the result: no space left on device\n"


def test_the_program_starts_no_threads_for_linear_algebra() -> None:
    """They spin while they wait, beside a load. On a machine with one processor there are none anyway."""
    code = (
        "import os, sys, brimline.__main__ as program; sys.argv = ['brimline', '--version']\n"
        "try: program.main()\n"
        "finally:\n"
        " import numpy; numpy.ones((300, 300)) @ numpy.ones((300, 300)); print(len(os.listdir('/proc/self/task')))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60, check=True
    )
    assert ended.stdout.splitlines()[-1] == "1"


def test_a_value_that_is_not_offered_is_refused_in_our_words(capsys: pytest.CaptureFixture[str]) -> None:
    """And not with the class of what the parser's check raised."""
    code, told = said(["capacity", "ycsb-b", "--require", "nonsense"], capsys)
    assert code == 2 and "error: invalid value for '--require': 'nonsense' is not one of 'verified'" in told
