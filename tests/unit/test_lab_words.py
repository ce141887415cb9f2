"""The words of `brimline lab up`: none of them may be left out or rounded without a word."""

import pytest
import typer
from typer.testing import CliRunner

from brimline.cli import lab
from brimline.cli.app import main
from brimline.errors import BrimlineError, UsageError
from brimline.servers.lab.lifecycle import take_down
from brimline.servers.lab.spec import NAME_DEFAULT


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--cpus", "1-0"], '--cpus must be processors, but is "1-0"'),
        (["--cpus", ","], '--cpus must be processors, but is ","'),
        (["--cpus", ""], "--cpus must be processors"),
        (["--cpus", "0,,1"], "--cpus must be processors"),
        (["--cpus", "0-99999999999"], "--cpus must be processors"),
        (["--cpus", "٠"], "--cpus must be processors"),
        (["--replica-set", "3", "--priorities", "1,,2"], '--priorities must be numbers, but is "1,,2"'),
        (["--replica-set", "3", "--priorities", ""], "--priorities must be numbers"),
        (["--replica-set", "3", "--delayed", "3=60s", "--delayed", "3=20s"], "--delayed says two times for member 3"),
        (["--replica-set", "3", "--delayed", "3=1500ms"], "behind by whole seconds, not by 1500ms"),
        (["--replica-set", "3", "--delayed", "3"], "--delayed must be a member and a time"),
    ],
)
def test_a_word_that_would_be_changed_is_refused(
    words: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab, "lab_up", _not_reached)
    done = CliRunner().invoke(lab.app, ["up", *words])
    assert isinstance(done.exception, UsageError)
    assert complaint in done.exception.message
    assert done.exception.hint


def test_words_that_mean_something_reach_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: dict[str, object] = {}

    def note(name: str, **words: object) -> None:
        taken.update(words, name=name)
        raise typer.Exit

    monkeypatch.setattr(lab, "lab_up", note)
    words = ["--cpus", "0, 2-3", "--priorities", "2,1.5", "--delayed", "3=60s", "--delayed", "3=1m"]
    CliRunner().invoke(lab.app, ["up", "odd", *words])
    assert taken["name"] == "odd"
    assert (taken["cpus"], taken["priorities"], taken["delays_s"]) == ((0, 2, 3), (2.0, 1.5), {3: 60})


def test_lab_alone_shows_its_help_and_calls_it_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["lab"])
    shown = capsys.readouterr().err
    assert ended.value.code == 2
    assert shown.startswith("Usage: brimline lab")
    assert "hint" not in shown


def test_a_damaged_lab_is_listed_with_what_removes_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab, "labs", list)
    monkeypatch.setattr(lab, "damaged_names", lambda _parent: ["one"])
    with pytest.raises(SystemExit) as ended:
        main(["lab", "list"])
    assert not ended.value.code
    assert "the lab one can't be read: its lab.json is damaged" in capsys.readouterr().err


def _not_reached(*_: object, **__: object) -> None:
    raise BrimlineError("the lab must not be brought up", hint="")


def test_an_empty_name_is_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(lab, "lab_down", asked.append)
    CliRunner().invoke(lab.app, ["down", ""])
    CliRunner().invoke(lab.app, ["down"])
    assert asked == ["", NAME_DEFAULT]


def test_no_lab_is_called_nothing() -> None:
    with pytest.raises(UsageError, match='a lab can\'t be called ""'):
        take_down("")
