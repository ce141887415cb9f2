"""Tables of a report."""

from brimline.report.view import Column, Table


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
