"""Tables of a report."""

from brimline.report.language.translator import translator_for
from brimline.report.view import Column, Table
from brimline.wording import capitalised, message


def test_columns_that_share_a_label_are_told_apart_where_no_group_stands_above_them() -> None:
    """On a phone and in Markdown."""
    columns = [
        Column(label="Records"),
        *(Column(label=label, group=f"{count} connections") for count in (1, 8) for label in ("Server", "Client")),
        Column(label="Rate", unit="MB/s", group="Disk"),
    ]
    assert Table(columns=columns, rows=[]).headings == [
        "Records", "1 connections, Server", "1 connections, Client", "8 connections, Server", "8 connections, Client",
        "Rate, MB/s",
    ]  # fmt: skip


def test_what_begins_a_row_keeps_its_capital_in_the_words_of_a_kind_of_target() -> None:
    """A run on SQL is told in other words than documents and commands; its facts began in small letters."""
    english = translator_for("en", "tables")
    assert english.say(capitalised(message("{clock} {quantile}", clock="response", quantile="p99"))) == "Response p99"
    assert english.say(capitalised("commands/s")) == "Statements/s"
    assert english.say(message("{text}", text="p99")) == "p99"
    assert translator_for("zh").say(capitalised(message("{clock} {quantile}", clock="x", quantile="p99"))) == "x p99"
