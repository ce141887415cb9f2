"""Words leave the process list before anything is imported, and come back without passwords."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

from brimline import __main__ as program
from brimline import process_list


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
    written: list[bytes] = []
    monkeypatch.setattr(process_list, "_hidden", (words, 1000))
    monkeypatch.setattr(process_list, "_write", lambda start, area: written.append(area))
    process_list.show_but_secrets(words)
    shown = [hidden.get(word, word).encode()[: len(word)].ljust(len(word), b"\0") for word in words]
    assert written == [b"".join(word + b"\0" for word in shown)]


def test_all_words_go_and_those_that_are_no_secret_come_back() -> None:
    told = _python(
        "import sys",
        "from brimline import process_list",
        "words = sys.argv[1:]",
        "seen = lambda: open('/proc/self/cmdline', 'rb').read().partition(b'seen()')[2]",
        "before = seen()",
        "process_list.hide_all(words)",
        "hidden = seen()",
        "process_list.show(['others'], ['x'])",
        "process_list.show_but_secrets(words)",
        "print(before, hidden.strip(bytes(1)), seen(), sep='\\n')",
        words=["run", "--uri", "mongodb://u:geheim@h/", "\u00e4", "", "--rate"],
    ).splitlines()
    assert b"geheim" in eval(told[0])
    assert b"run" not in eval(told[1])
    assert "geheim" not in told[1]
    assert b"\0run\0--uri\0mongodb://***@h/" + bytes(5) + "\0\u00e4\0\0--rate\0".encode() in eval(told[2])


def test_it_is_the_first_thing_that_the_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(_: object) -> None:
        raise SystemExit(7)

    monkeypatch.setattr(program, "hide_all", first)
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 7


def test_what_comes_before_it_is_nothing_that_python_has_not_imported_itself() -> None:
    bare = set(_python("import sys", "print(*sys.modules)").split())
    told = set(_python("import sys, brimline.__main__", "print(*sys.modules)").split())
    assert told - bare == {"brimline", "brimline.__main__", "brimline.process_list"}


def _python(*lines: str, words: Sequence[str] = ()) -> str:
    command = [sys.executable, "-c", "\n".join(lines), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
