"""Passwords leave the process list before anything heavy is imported."""

import subprocess
import sys

import pytest

from brimline import __main__ as program
from brimline import process_list
from brimline.process_list import hide_secrets_at_once


@pytest.mark.parametrize(
    ("words", "hidden"),
    [
        (["run", "--uri", "mongodb://u:geheim@h/"], {"mongodb://u:geheim@h/": "mongodb://***@h/"}),
        (["run", "--uri=mongodb://u:geheim@h/"], {"--uri=mongodb://u:geheim@h/": "--uri=mongodb://***@h/"}),
        (["run", "--uri", "u:geheim@h"], {"u:geheim@h": "***@h"}),
        (["run", "--db-password", "geheim"], {"geheim": "***"}),
        (["ycsb", "run", "-p", "mongodb.url=mongodb://u:geheim@h/"],
         {"mongodb.url=mongodb://u:geheim@h/": "mongodb.url=mongodb://***@h/"}),
        (["backup", "mongodb://u:geheim@h/", "dump"], {"mongodb://u:geheim@h/": "mongodb://***@h/"}),
        (["init", "--from", "postgresql://u:geheim@h/db"], {"postgresql://u:geheim@h/db": "postgresql://***@h/db"}),
        (["run", "--otlp", "http://u:geheim@h:4318"], {"http://u:geheim@h:4318": "http://***@h:4318"}),
        (["failover", "--fault", "ssh h m --password geheim -x"],
         {"ssh h m --password geheim -x": "ssh h m --password *** -x"}),
        (["failover", "--undo", "PWD=geheim ssh h"], {"PWD=geheim ssh h": "PWD=***"}),
        (["failover", "--fault", "m --password-file f"], {}),
        (["run", "ycsb-a", "--rate", "10/s"], {}),
    ],
)  # fmt: skip
def test_what_is_hidden_at_once(monkeypatch: pytest.MonkeyPatch, words: list[str], hidden: dict[str, str]) -> None:
    written: dict[str, str] = {}
    monkeypatch.setattr(process_list, "_overwrite", written.update)
    hide_secrets_at_once(words)
    assert written == hidden


def test_it_is_the_first_thing_that_the_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(_: object) -> None:
        raise SystemExit(7)

    monkeypatch.setattr(program, "hide_secrets_at_once", first)
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 7


def test_what_comes_before_it_is_light() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import sys, brimline.__main__; print(*sorted(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split()
    ours = {name for name in told if name.startswith("brimline")}
    light = {"brimline", "brimline.__main__", "brimline.errors", "brimline.leaving", "brimline.process_list"}
    assert ours == light
    assert not {"typer", "pydantic", "pymongo", "yaml"} & set(told)
