"""What a server, a file or a person wrote stays on its line in every format, and runs nothing."""

import csv
import io
import json

import pytest
from rich.console import Console
from rich.table import Table

from brimline.cli.live import LiveProgress
from brimline.cli.output import console
from brimline.cli.progress import TerminalProgress, WithoutProgress
from brimline.cli.talk import say
from brimline.errors import BrimlineError, on_one_line, visible
from brimline.execution.execute import _visible
from brimline.report.csv_text import csv_text
from brimline.report.view import Cell, Code, Fact
from brimline.servers.answers import words
from brimline.wording import message
from tests.support.command_line import CommandLine

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


def test_no_cell_of_a_printed_table_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("h\x1b[31m", box=None)
    table.add_row("a\x1b]0;b\x07")
    console().print(table, "c\x1b[2J")

    assert capsys.readouterr().out.split() == ["h\ufffd[31m", "a\ufffd]0;b\ufffd", "c\ufffd[2J"]


def test_a_listed_record_stays_on_its_line(brimline_cli: CommandLine) -> None:
    hostile = "pa\x1b[31mss\n\x1b]0;x\x07"
    record = brimline_cli.directory / "runs" / "20260101t000000z-x"
    record.mkdir(parents=True)
    state = {"format_version": 1, "kind": "run", "name": f"n{hostile}", "ended_by": "completed"}
    (record / "record.json").write_text(json.dumps(state))
    (record / "analysis.json").write_text(json.dumps({"verdict": hostile}))

    head, line, end = brimline_cli.run("list", "--runs-dir", "runs").stdout.split("\n")

    kept = "pa\ufffd[31mss\ufffd\ufffd]0;x\ufffd"
    assert (head.split()[0], end) == ("Started", "")
    assert line.count(kept) == 2
    assert f"n{kept}" in line


@pytest.mark.parametrize("mark", STEERING)
def test_a_statement_keeps_its_lines_and_steers_nothing(mark: str) -> None:
    """A workload's statements and the workload itself stand in a report as they were written, by whomever."""
    kept = mark if mark in "\n\t" else "\N{REPLACEMENT CHARACTER}"
    assert Code(text=f"SELECT\r\n\tx{mark}y").text == f"SELECT\n\tx{kept}y"


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
