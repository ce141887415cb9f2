"""Records that were changed or cut short after they were written: every verb that reads one says so, in one line.

Nothing of it may look like a defect of brimline, and nothing may be read as if it were whole.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brimline.cli.app import main
from tests.unit.report.report_samples import simulated_plan, write_run

DEEP = '{"a":' * 100_000


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("records") / "20260302t091405z-sound-00000000"
    write_run(directory, simulated_plan(rate_ops_per_s=200.0, warmup_s=0.5, duration_s=2.0))
    return directory


@pytest.fixture
def damaged(sound: Path, tmp_path: Path) -> Path:
    """A copy to do damage to."""
    return shutil.copytree(sound, tmp_path / "20260302t091505z-damaged-00000000")


def outcome(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(words)
    return int(str(ended.value.code)), *capsys.readouterr()


def changed(file: str, path: tuple[str, ...], value: Any) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        document = json.loads((directory / file).read_text())
        inner = document
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        (directory / file).write_text(json.dumps(document))

    return change


def replaced(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        text = (directory / file).read_text()
        assert old in text
        (directory / file).write_text(text.replace(old, new, 1))

    return change


def written(file: str, text: str) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        (directory / file).write_text(text)

    return change


def raw(file: str, content: bytes) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        (directory / file).write_bytes(content)

    return change


def piped(file: str) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        (directory / file).unlink()
        os.mkfifo(directory / file)

    return change


def emptied(file: str) -> Callable[[Path], None]:
    """A directory in its place."""

    def change(directory: Path) -> None:
        (directory / file).unlink()
        (directory / file).mkdir()

    return change


DAMAGE = {
    "record: deep": written("record.json", DEEP),
    "record: a list": written("record.json", "[]"),
    "summary: a list": changed("record.json", ("summary",), []),
    "summary: a text": changed("record.json", ("summary",), "lost"),
    "summary: a count as text": changed("record.json", ("summary", "due"), "many"),
    "summary: the start as text": changed("record.json", ("summary", "started_unix_ns"), "noon"),
    "summary: operations": changed("record.json", ("summary", "operations"), []),
    "summary: commands": changed("record.json", ("summary", "commands"), 7),
    "opcounters: a list": changed("record.json", ("opcounters",), [1]),
    "opcounters: one side": changed("record.json", ("opcounters",), {"before": {}}),
    "files: a list": changed("record.json", ("files",), ["plan.json"]),
    "plan: no plan": written("plan.json", "{}"),
    "environment: a text": changed("environment.json", ("server",), "mongod"),
    "operations: no number": replaced("operations.csv", "measure,", "measure,x"),
    "intervals: other columns": replaced("intervals.csv", "phase", "phases"),
    "histograms: no histogram": replaced("latency.hlog", "HISTF", "HISTX"),
    "histograms: no line": replaced("latency.hlog", "Tag=", "Tag"),
    "events: no event": written("events.jsonl", "[]\n"),
    "intervals: a line without end": replaced("intervals.csv", "measure", "measure" + "0" * 140_000),
    "server: a time as text": replaced("server.csv", "\n", "\nnever"),
}


@pytest.mark.parametrize("verb", ["show", "compare", "trend"])
@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_one_error_in_every_verb(
    name: str, verb: str, sound: Path, damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    DAMAGE[name](damaged)
    words = {"show": [str(damaged)], "compare": [str(sound), str(damaged)], "trend": [str(sound), str(damaged)]}
    code, out, err = outcome([verb, *words[verb]], capsys)
    assert "internal" not in err and "Traceback" not in err
    if code == 0:
        # What can still be read is, and said to be no longer what was sealed.
        assert err == "" and "changed since it was sealed" in out
    else:
        assert code in (1, 4) and err.count("error: ") == 1


NAMED = {
    "record: cut": (written("record.json", '{"format_ver'), "record.json is damaged: it is not JSON"),
    "record: a list": (DAMAGE["record: a list"], "record.json is damaged: it is not a JSON object"),
    "record: the end": (changed("record.json", ("ended_by",), 3), "record.json is damaged: ended_by must be text"),
    "record: no summary": (
        DAMAGE["summary: a text"],
        'record.json is damaged: summary must be an object, but is "lost"',
    ),
    "record: no files": (changed("record.json", ("files",), None), "record.json is damaged: files must be an object"),
    "record: no balance": (changed("record.json", ("imbalances",), 1), "record.json is damaged: imbalances must be"),
    "plan: cut": (written("plan.json", '{"na'), "plan.json is damaged: it is no JSON"),
    "plan: a list": (written("plan.json", "[]"), "plan.json is damaged: must be a mapping, not a list"),
    "plan: no text": (raw("plan.json", b"\xff\xfe{\0"), "plan.json is damaged: it is no JSON"),
    "plan: the target": (changed("plan.json", ("target",), 3), "plan.json is damaged: target: "),
    "plan: a name that steers": (changed("plan.json", ("name",), "\x1b[31mred"), "plan.json is damaged: name: "),
    "histograms: no line": (replaced("latency.hlog", "\nTag=", "\nnoise\nTag="), "latency.hlog is damaged: line "),
    "events: no event": (DAMAGE["events: no event"], "events.jsonl is damaged near "),
    "plan: a named pipe": (piped("plan.json"), "plan.json is damaged: it is not a file"),
    "intervals: a named pipe": (piped("intervals.csv"), "intervals.csv is damaged: it is not a file"),
    "record: a directory": (emptied("record.json"), "record.json is damaged: it is not a file"),
}


@pytest.mark.parametrize("verb", ["show", "report", "compare"])
@pytest.mark.parametrize("name", NAMED)
def test_damage_names_the_file_and_what_to_do(
    name: str, verb: str, sound: Path, damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, told = NAMED[name]
    change(damaged)
    code, _, err = outcome([verb, *([str(sound)] if verb == "compare" else []), str(damaged)], capsys)
    assert code == 1
    assert err.startswith(f"error: {damaged}/{told}")
    assert err.count("error: ") == err.count("hint: ") == 1 and "restore it from a copy" in err


@pytest.mark.parametrize("verb", ["list", "show"])
def test_a_name_from_elsewhere_does_not_steer_the_terminal(
    verb: str, damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed("record.json", ("name",), "\x1b[31mred\u202e")(damaged)
    words = {"list": ["--runs-dir", str(damaged.parent)], "show": [str(damaged)]}
    code, out, err = outcome([verb, *words[verb]], capsys)
    assert (code, err) == (0, "")
    assert "\N{REPLACEMENT CHARACTER}[31mred" in out and not {"\x1b", "\u202e"} & set(out)


def test_what_is_whole_is_read(sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(["show", str(sound)], capsys)
    assert (code, err) == (0, "") and "changed since" not in out
