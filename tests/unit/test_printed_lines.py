"""What is printed without a terminal has no blanks at the ends of its lines."""

import pytest
from rich.table import Table

from brimline.cli.output import console


def test_piped_tables_end_where_their_text_ends(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(box=None, show_header=False)
    table.add_row("a", "long cell")
    table.add_row("b", "x")
    console().print(table)
    lines = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in lines] == ["a  long cell", "b  x"]
    assert all(line == line.rstrip() for line in lines)
