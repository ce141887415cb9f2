"""Why records did not come in: the reasons with their counts and where each was met first."""

from typing import Any

from brimline.record.data_import import REJECTED_FILE, ImportRecord
from brimline.record.rejects import RejectGroup, Rejects
from brimline.report.view import Cell, Column, Fact, Section, Table
from brimline.units import UNKNOWN_TEXT, format_count
from brimline.wording import message, shortened

REASONS_AT_ONCE = 5
"""Reasons that the result itself shows; the report has more."""
REASONS_SHOWN = 20
REASON_CHARACTERS_MAX = 160
_CAPTION = (
    "Reasons that differ only in their values are one; the text is of the first record. Of a dump lines are documents."
)
_CAPTION_OF_PART = (
    "Reasons that differ only in their values are one; the text is of the first record. Of a dump lines are documents. "
    "Only the beginning of rejected.jsonl was read."
)


def reason_facts(record: ImportRecord, rejects: Rejects) -> list[Fact]:
    """The most frequent reasons, one fact each, and how many records had others."""
    shown = rejects.groups[:REASONS_AT_ONCE]
    facts = [
        Fact(label="for this reason", value=format_count(each.count), note=_where_and_why(record, each))
        for each in shown
    ]
    if others := _others(rejects, len(shown)):
        more = len(rejects.groups) - len(shown)
        note = message("and {count} more reasons: see the report", count=format_count(more)) if more > 1 else ""
        facts.append(Fact(label="for other reasons", value=format_count(others), note=note or "see the report"))
    return facts


def where_all_are(rejects: Rejects) -> str:
    """For how many reasons records were rejected, and where each stands: a terminal may have no room for all."""
    count = len(rejects.groups)
    words = "all are in {file}" if count == 1 else "for {count} reasons; all are in {file}"
    if rejects.others or not rejects.whole:
        words = "for {count} reasons or more; all are in {file}"
    return message(words, count=format_count(count), file=REJECTED_FILE) if count else ""


def reasons_section(record: ImportRecord, rejects: Rejects) -> Section:
    """The table of the reasons; empty where there are none."""
    shown = rejects.groups[:REASONS_SHOWN]
    rows = [
        [
            Cell(text=shortened(each.reason, REASON_CHARACTERS_MAX)),
            Cell(text=format_count(each.count), tone="fail"),
            Cell(text=_first_line(record, each)),
            Cell(text=str(each.code) if each.code else UNKNOWN_TEXT),
        ]
        for each in shown
    ]
    if others := _others(rejects, len(shown)):
        rows.append([Cell(text="others"), Cell(text=format_count(others)), *[Cell(text=UNKNOWN_TEXT)] * 2])
    table = Table(
        columns=[
            Column(label="Reason", numeric=False, leading=True),
            Column(label="Records"),
            Column(label="First in line"),
            Column(label="Server's code"),
        ],
        rows=rows,
        caption=_CAPTION if rejects.whole else _CAPTION_OF_PART,
    )
    return Section(id="rejected", title="Why records were rejected", short="Rejects", blocks=[table] if rows else [])


def reasons_document(rejects: Rejects) -> list[dict[str, Any]]:
    """The same for machines."""
    return [
        {"reason": each.reason, "code": each.code, "count": each.count, "input": each.input, "first_line": each.line}
        for each in rejects.groups[:REASONS_SHOWN]
    ]


def _where_and_why(record: ImportRecord, group: RejectGroup) -> str:
    reason = shortened(group.reason, REASON_CHARACTERS_MAX)
    if group.line is None:
        return reason
    name = _input_name(record, group)
    if group.count == 1:
        words = "{reason} (in {input}, line {line})" if name else "{reason} (in line {line})"
    else:  # the text is of the first, and other values may stand in the others
        words = "the first, in {input}, line {line}: {reason}" if name else "the first, in line {line}: {reason}"
    return message(words, input=name, line=group.line, reason=reason)


def _first_line(record: ImportRecord, group: RejectGroup) -> str:
    if group.line is None:
        return UNKNOWN_TEXT
    name = _input_name(record, group)
    return f"{name}: {group.line}" if name else str(group.line)


def _input_name(record: ImportRecord, group: RejectGroup) -> str:
    """The name of the file; "" where there is only one, or none."""
    inputs = record.state.inputs
    if len(inputs) < 2 or group.input is None or group.input >= len(inputs):
        return ""
    return (inputs[group.input].path or "").rpartition("/")[2]


def _others(rejects: Rejects, shown: int) -> int:
    return rejects.others + sum(each.count for each in rejects.groups[shown:])
