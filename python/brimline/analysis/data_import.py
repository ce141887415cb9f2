"""Owns what can be said of an import: is every record accounted for, does the server hold what it should."""

from collections.abc import Mapping
from dataclasses import replace

from brimline.analysis.distribution import distribution, distribution_finding
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.import_nodes import import_node_findings
from brimline.analysis.standstills import standstill_findings
from brimline.record.data_import import ImportRecord, ImportRow
from brimline.record.layout import KILLED, RUNNING
from brimline.units import NS_PER_S, format_count
from brimline.wording import joined, message

_PARTS = ("inserted", "updated", "deleted", "unmatched", "rejected", "nulls")


def import_findings(record: ImportRecord) -> tuple[Finding, ...]:
    """Every check of an import; those that an end in the middle makes impossible are unknown."""
    return (
        _ended(record),
        _conservation(record),
        _count(record),
        *import_node_findings(record),
        _rejected(record),
        *_stood_still(record),
        *_text(record),
        *_rows(record),
        *_misfits(record),
        *_lines(record),
        *_inputs(record),
        *_files(record),
        *distribution_finding(distribution(record.server_facts), documents=record.state.count_after),
    )


def expected_count(record: ImportRecord) -> int:
    """How many documents the collection should hold."""
    counts = record.state.counts
    return record.state.count_before + counts.get("inserted", 0) - counts.get("deleted", 0)


def _ended(record: ImportRecord) -> Finding:
    if record.ended_by == "completed":
        return Finding("ended", Standing.PASS, "the inputs were read to their end")
    if record.ended_by == RUNNING:
        return Finding("ended", Standing.UNKNOWN, "the import is still under way")
    if record.ended_by == KILLED:
        return Finding(
            "ended", Standing.FAIL, "the import was never concluded: brimline or its machine stopped in the middle"
        )
    reason = record.state.message or record.ended_by
    return Finding("ended", Standing.FAIL, message("the import ended early: {reason}", reason=reason))


def _conservation(record: ImportRecord) -> Finding:
    counts = record.state.counts
    if not counts:
        return Finding("conservation", Standing.UNKNOWN, "nothing was counted")
    settled = sum(counts[name] for name in _PARTS)
    values = {name: format_count(counts[name]) for name in ("read", *_PARTS)}
    evidence = message(
        "{read} records read = {inserted} inserted + {updated} updated + {deleted} deleted + {unmatched} unmatched "
        "+ {rejected} rejected + {nulls} null",
        **values,
    )
    if settled == counts["read"]:
        return Finding("conservation", Standing.PASS, evidence)
    text = message("not so: {evidence}", evidence=evidence)
    return Finding("conservation", Standing.FAIL, text)


def _count(record: ImportRecord) -> Finding:
    state = record.state
    if state.count_after is None:
        return Finding("count", Standing.UNKNOWN, "the server did not count afterwards")
    expected = expected_count(record)
    values = {
        "before": format_count(state.count_before),
        "after": format_count(state.count_after),
        "expected": format_count(expected),
    }
    if state.count_after == expected:
        text = message("the server counted {before} documents before and {after} after, as it should be", **values)
        return Finding("count", Standing.PASS, text)
    text = message(
        "the server counted {before} documents before and {after} after, where {expected} should be", **values
    )
    if record.ended_by != "completed":
        return Finding("count", Standing.UNKNOWN, text)
    by_key = state.settings.get("mode") != "insert"
    # A statement in doubt is applied again, and whether it did something the first time can't be told.
    return Finding("count", Standing.WARN if by_key and state.attempts > 1 else Standing.FAIL, text)


def _stood_still(record: ImportRecord) -> list[Finding]:
    """What was counted stands whatever the clock did: of an import only its rates and times are spoilt."""
    return [replace(each, verdict=Standing.WARN) for each in _standstills(record)]


def _standstills(record: ImportRecord) -> list[Finding]:
    return standstill_findings(record.state.standstills, begin_ns=0, end_ns=record.state.duration_ns)


def documents_per_s(record: ImportRecord) -> float | None:
    """Documents the server acknowledged in the intervals that count, over the time these took; None without any."""
    rows = counted_rows(record)
    documents, duration_ns = sum(row.documents for row in rows), sum(row.end_ns - row.start_ns for row in rows)
    return documents * NS_PER_S / duration_ns if duration_ns and documents else None


def counted_rows(record: ImportRecord) -> list[ImportRow]:
    """Intervals without those in which the importer itself did not run, where that spoils a rate over all."""
    if not any(each.verdict is Standing.FAIL for each in _standstills(record)):
        return list(record.rows)
    still = [(each["from_ns"], each["to_ns"]) for each in record.state.standstills]
    return [row for row in record.rows if not any(row.start_ns < end and row.end_ns > begin for begin, end in still)]


def _rejected(record: ImportRecord) -> Finding:
    count = record.state.counts.get("rejected", 0)
    if not count:
        return Finding("rejected", Standing.PASS, "no record was rejected")
    text: str = "1 record was rejected; it is in rejected.jsonl with its line and reason"
    if count != 1:
        text = message(
            "{count} records were rejected; each is in rejected.jsonl with its line and reason",
            count=format_count(count),
        )
    return Finding("rejected", Standing.WARN, text)


def text_not_utf8(record: ImportRecord) -> str | None:
    """What became of text that is not UTF-8, and where the first of it is; None where all that came in is UTF-8.

    Dumps are not looked through, and of records of before brimline counted it nothing is known.
    """
    count, first = record.state.counts.get("not_utf8", 0), record.state.first_not_utf8
    if not count or first is None:
        return None
    settings, values = record.state.settings, {"count": format_count(count), "where": _line(record, first)}
    if settings["type"] in ("csv", "tsv"):
        return message(
            "{count} cells or column names hold bytes that are not UTF-8, and each such byte is stored as U+FFFD; "
            "the first is {where}",
            **values,
        )
    if settings["legacy"]:
        return message(
            "{count} strings hold bytes that are not UTF-8, and each such byte is stored as U+FFFD; "
            "the first is {where}",
            **values,
        )
    return message(
        "{count} strings hold bytes that are not UTF-8, and are stored as they are: drivers may refuse to read them; "
        "the first is {where}",
        **values,
    )


def ragged_text(record: ImportRecord) -> str | None:
    """How many rows of a table have more or fewer cells than it has columns, and where the first is; None without any.

    Their documents are mongoimport's: a missing cell is no field, and one without a column is called by its place.
    """
    count, first = record.state.counts.get("ragged", 0), record.state.first_ragged
    if not count or first is None:
        return None
    where = _line(record, first)
    if count == 1:
        return message("1 row has more or fewer cells than there are columns, {where}", where=where)
    return message("{count} rows have more or fewer cells than there are columns; the first is {where}",
                   count=format_count(count), where=where)  # fmt: skip


def _rows(record: ImportRecord) -> tuple[Finding, ...]:
    text = ragged_text(record)
    return () if text is None else (Finding("rows", Standing.WARN, text),)


_MISFIT_COLUMNS_MAX = 5


def misfit_count(record: ImportRecord) -> int:
    """How many cells didn't fit their column's type, of records that came in all the same."""
    return sum(record.state.misfits.values())


def misfits_text(record: ImportRecord) -> str | None:
    """What became of cells that didn't fit their column's type, and how many each column has; None: there are none."""
    columns = sorted(record.state.misfits.items(), key=lambda each: (-each[1], each[0]))
    if not columns:
        return None
    shown = [f"{name} {format_count(count)}" for name, count in columns[:_MISFIT_COLUMNS_MAX]]
    if more := len(columns) - len(shown):
        shown.append("1 more column" if more == 1 else message("{count} more columns", count=format_count(more)))
    count, left_out = misfit_count(record), record.state.settings["parse_grace"] == "skipField"
    values = {"count": format_count(count), "columns": joined(", ", shown)}
    if count == 1 and left_out:
        return message("1 cell did not fit its column's type and was left out: {columns}", **values)
    if count == 1:
        return message("1 cell did not fit its column's type and was stored as what it looks like: {columns}", **values)
    if left_out:
        return message("{count} cells did not fit their column's type and were left out: {columns}", **values)
    return message(
        "{count} cells did not fit their column's type and were stored as what they look like: {columns}", **values
    )


def _misfits(record: ImportRecord) -> tuple[Finding, ...]:
    text = misfits_text(record)
    return () if text is None else (Finding("cells", Standing.WARN, text),)


def _line(record: ImportRecord, place: Mapping[str, int]) -> str:
    inputs, line = record.state.inputs, format_count(place["line"])
    path = inputs[place["input"]].path if len(inputs) > 1 else None
    if path is None:
        return message("in line {line}", line=line)
    return message("in line {line} of {file}", line=line, file=path.rpartition("/")[2])


def _text(record: ImportRecord) -> tuple[Finding, ...]:
    text = text_not_utf8(record)
    return () if text is None else (Finding("text", Standing.WARN, text),)


def _lines(record: ImportRecord) -> tuple[Finding, ...]:
    if not record.state.tables_of_cr:
        return ()
    text = message(
        "lines end with CR alone, so that all is one header and no row: {files}; make them line feeds: tr '\\r' '\\n'",
        files=", ".join(record.state.tables_of_cr),
    )
    return (Finding("lines", Standing.WARN, text),)


def _inputs(record: ImportRecord) -> tuple[Finding, ...]:
    """Every record that was read is accounted for, but the file may hold others by now."""
    if not record.state.inputs_changed:
        return ()
    text = message("changed while it was read: {files}", files="; ".join(record.state.inputs_changed))
    return (Finding("inputs", Standing.FAIL, text),)


def _files(record: ImportRecord) -> tuple[Finding, ...]:
    if not record.files_changed:
        return ()
    names = ", ".join(record.files_changed)
    return (
        Finding("files", Standing.FAIL, message("files were changed since they were written: {names}", names=names)),
    )
