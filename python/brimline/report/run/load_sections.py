"""The sections that only a load has: its documents beside its commands, and which documents were refused."""

from brimline.plan.pacing import connections_text
from brimline.record.model import ErrorRow, RunRecord
from brimline.report.data_size import size_facts
from brimline.report.load_figures import LoadFigures, load_figures
from brimline.report.view import Block, Cell, Column, Fact, Facts, Section, Table, Tone
from brimline.units import UNKNOWN_TEXT, format_count, format_percentage, format_rate
from brimline.wording import message


def documents(record: RunRecord) -> Section:
    """Documents and commands in columns of their own, and how the commands were sent; empty for what is no load."""
    figures = load_figures(record)
    blocks: list[Block] = []
    if figures is not None:
        blocks = [_table(record, figures), _facts(figures), *size_facts(record.server_facts)]
        refused = record.summary.get("document_errors", []) if record.summary else []
        if refused:
            blocks.append(_refused(refused, figures))
    return Section(id="documents", title="Documents and commands", short="Documents", blocks=blocks)


def _table(record: RunRecord, figures: LoadFigures) -> Table:
    summary, inserts = record.summary, figures.inserts
    rows: list[tuple[str, int | None, int | None, Tone, str]] = [
        ("To load", figures.documents_to_load, figures.commands_planned, "", ""),
        ("Sent", inserts and inserts["sent"], summary and summary["sent"], "", ""),
        ("Inserted", figures.documents_inserted, summary and summary["ok"], "", "of commands: without any error"),
    ]
    if figures.present_before:
        rows.insert(0, ("There before", figures.present_before, None, "", "loaded by an earlier command, and kept"))
    if inserts is not None and summary is not None:
        rows += [
            ("Failed", inserts["failed"], summary["failed"], "fail", "of documents: refused one by one"),
            ("Skipped", inserts["skipped"], None, "warn", "not tried after the first failure of an ordered command"),
            (
                "Unknown",
                inserts["unknown"],
                summary["unfinished"],
                "warn",
                "in commands that failed as a whole or were not answered",
            ),
        ]
    cells = [
        [
            Cell(text=label),
            _count(document_count, tone),
            _count(command_count, tone),
            Cell(text=note, tone="muted"),
        ]
        for label, document_count, command_count, tone, note in rows
    ]
    rates = [
        Cell(text="Per second"),
        Cell(text=format_rate(figures.documents_per_s, unit="documents/s", digits=4)),
        Cell(text=format_rate(figures.commands_per_s, unit="commands/s", digits=4)),
        Cell(text="inserted documents; answered commands", tone="muted"),
    ]
    return Table(
        columns=[
            Column(label="Whole load", numeric=False, leading=True),
            Column(label="Documents"),
            Column(label="Insert commands"),
            Column(label="Note", numeric=False),
        ],
        rows=[*cells, rates],
        caption="Documents sent = inserted + failed + skipped + unknown. A command fails if one of its documents does.",
    )


def _count(count: int | None, tone: Tone) -> Cell:
    return Cell(text=UNKNOWN_TEXT if count is None else format_count(count), tone=tone if count else "")


def _facts(figures: LoadFigures) -> Facts:
    order = "ordered: a command stops at its first failure" if figures.ordered else "unordered"
    return Facts(
        title="How it was sent",
        facts=[
            Fact(
                label="Batch size",
                value=message(
                    "{count} documents per command, {order}", count=format_count(figures.batch_size), order=order
                ),
            ),
            Fact(
                label="In flight",
                value=message(
                    "at most {count} over {connections}",
                    count=_commands(figures.in_flight_max or figures.connections),
                    connections=connections_text(figures.connections),
                ),
            ),
            Fact(label="Write concern", value=figures.write_concern_text),
        ],
    )


def _commands(count: int) -> str:
    return "1 command" if count == 1 else message("{count} commands", count=format_count(count))


def _refused(rows: list[ErrorRow], figures: LoadFigures) -> Table:
    sent = max(figures.inserts["sent"] if figures.inserts else 0, 1)
    return Table(
        columns=[
            Column(label="Documents refused", numeric=False, leading=True),
            Column(label="Code"),
            Column(label="Documents"),
            Column(label="% of documents"),
            Column(label="First example", numeric=False),
        ],
        rows=[
            [
                Cell(text=row["label"] or row["outcome"].replace("_", " ")),
                Cell(text=str(row["code"]) if row["code"] else UNKNOWN_TEXT),
                Cell(text=format_count(row["count"]), tone="fail"),
                Cell(text=format_percentage(row["count"] / sent)),
                Cell(text=row["example"], tone="muted"),
            ]
            for row in rows
        ],
        caption="The table of errors further down counts commands.",
    )
