"""What a server, a file or a person wrote stays on its line in every format, and runs nothing."""

import csv
import io

import pytest
from rich.console import Console

from brimline.cli.live import LiveProgress
from brimline.cli.progress import TerminalProgress, WithoutProgress
from brimline.cli.talk import say
from brimline.errors import BrimlineError, on_one_line, visible
from brimline.execution.execute import _visible
from brimline.report.csv_text import csv_text
from brimline.report.view import Cell, Fact
from brimline.servers.answers import words
from brimline.wording import message

STEERING = ["\n", "\r", "\t", "\x1b", "\x00", "\x85", "\u2028", "\u2029", "\u061c", "\u200f", "\u202e", "\u2066"]


@pytest.mark.parametrize("mark", STEERING)
def test_every_way_for_a_text_to_get_in(mark: str) -> None:
    hostile, kept = f"a{mark}b", "a\N{REPLACEMENT CHARACTER}b"
    row = {"operation": "read", "outcome": "", "code": 1, "label": hostile, "count": 1, "example": hostile}
    (shown,) = _visible([row])  # type: ignore[list-item]
    assert (shown["label"], shown["example"]) == (kept, kept)
    assert on_one_line(hostile) == kept
    assert words(hostile) in (kept, "a b")
    assert Cell(text=hostile).text == kept
    fact = Fact(label=hostile, value=hostile, note=hostile)
    assert (fact.label, fact.value, fact.note) == (kept, kept, kept)
    assert next(csv.reader(io.StringIO(csv_text((), [[hostile]]).lstrip("\n")))) == [kept]


@pytest.mark.parametrize("mark", STEERING)
def test_what_is_said_while_it_works_and_where_it_ends(mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    hostile, kept = f"a[/dim]{mark}b", "a[/dim]\N{REPLACEMENT CHARACTER}b"
    assert BrimlineError(f"{hostile} is there already").message == f"{kept} is there already"
    say(hostile)
    for each in (TerminalProgress(), LiveProgress(Console(stderr=True, highlight=False))):
        each.step(hostile)
        each.note(hostile)
        each.warning(hostile)
    WithoutProgress().warning(hostile)
    assert capsys.readouterr().err.split("\n") == [kept, *[f"{kept} …", kept, kept] * 2, kept, ""]


def test_a_hint_may_be_a_line_to_paste() -> None:
    assert BrimlineError("x", hint="put it first:\ta\tb\nc").hint == "put it first:\ta\tb\N{REPLACEMENT CHARACTER}c"


def test_own_texts_stay_as_they_are_and_can_be_translated() -> None:
    text = message("{n} operations", n=1)
    assert Cell(text=text).text is text
    assert visible("two\nlines") == "two\nlines"


@pytest.mark.parametrize(
    "begin", ["=", "+", "-", "@", "\u2212", "\uff1d", "\uff0b", "\uff0d", "\uff20", " =", "\t=", "\n@"]
)
def test_no_cell_begins_as_a_formula(begin: str) -> None:
    assert csv_text((), [[f"{begin}cmd()"]]).strip("\n").strip('"').startswith("'")


def test_numbers_are_numbers() -> None:
    assert csv_text((), [[-1.5, "a-b"]]).strip("\n") == "-1.5,a-b"
