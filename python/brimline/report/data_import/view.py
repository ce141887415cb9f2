"""An import as a report: what came in and what did not, how fast, at what cost, and whether the server holds it."""

from collections.abc import Sequence
from typing import Any

from brimline.analysis.data_import import (
    counted_rows,
    documents_per_s,
    expected_count,
    import_findings,
    misfit_count,
    misfits_text,
    ragged_text,
    text_not_utf8,
)
from brimline.analysis.data_size import DataSize, data_size
from brimline.analysis.finding import Standing
from brimline.analysis.import_metrics import IMPORT_METRICS
from brimline.analysis.metrics import Known
from brimline.analysis.quantile_text import quantile_text
from brimline.record.data_import import (
    REJECTED_FILE,
    ImportRecord,
    ImportRow,
    documents_at_least,
    documents_in,
    documents_settled,
    documents_there,
)
from brimline.record.layout import KILLED, RUNNING
from brimline.record.rejects import Rejects, read_rejects
from brimline.report import blocks
from brimline.report.data_import.charts import chart_list
from brimline.report.data_import.nodes import nodes_document, nodes_section
from brimline.report.data_import.rejects import reason_facts, reasons_document, reasons_section, where_all_are
from brimline.report.data_size import size_document, size_facts
from brimline.report.distribution import distribution_document, distribution_section
from brimline.report.document import FORMAT_VERSION
from brimline.report.frame import framed
from brimline.report.grid import Grid, GridRow
from brimline.report.lint_section import findings_document
from brimline.report.view import (
    UNDER_WAY,
    Badge,
    Cell,
    Column,
    Fact,
    Facts,
    Report,
    Section,
    Table,
    Text,
    Tone,
    Verdict,
)
from brimline.spec.import_settings import ImportSettings
from brimline.stats.quantile_interval import QuantileInterval, quantile_intervals
from brimline.units import NS_PER_S, UNKNOWN_TEXT, format_bytes, format_count, format_duration, format_number
from brimline.wording import joined, message

_DUPLICATE_KEY = 11000
CHECKS_INTRO = "Whether every record is accounted for, and whether the server holds what it should."
_ROWS: tuple[tuple[str, str, Tone, str], ...] = (
    ("Records read", "read", "", "of the part of the input that is settled"),
    ("Inserted", "inserted", "", "documents that are new in the collection"),
    ("Updated", "updated", "", "stored documents that were replaced or merged into"),
    ("Deleted", "deleted", "", ""),
    ("Without a match", "unmatched", "", "of a delete: nothing was stored under the key"),
    ("Rejected", "rejected", "fail", "each is in rejected.jsonl with its line and reason"),
    ("Null", "nulls", "", "null in JSON: no document"),
    ("Not UTF-8", "not_utf8", "warn", "cells, column names or strings, of records that were sent"),
    ("Ragged", "ragged", "warn", "rows with more or fewer cells than there are columns, of records that were sent"),
    ("Found", "found", "", "of inserted: sent before an interruption, and found by _id"),
)


def import_report(record: ImportRecord) -> Report:
    """The report of an import."""
    findings = import_findings(record)
    rejects = _rejects(record)
    sections = [
        Section(id="charts", title="How it went", short="Charts", blocks=chart_list(record)),
        _records(record),
        reasons_section(record, rejects),
        _cost(record),
        nodes_section(record),
        distribution_section(record.server_facts),
        blocks.checks(findings, intro=CHECKS_INTRO),
        _inputs(record),
        blocks.environment(record.environment),
    ]
    return framed(
        record,
        kind="import",
        kind_title="Import",
        name=record.state.name,
        subtitle=_subtitle(record),
        verdict=_verdict(record, rejects),
        sections=sections,
        data=import_document(record, rejects),
        grids=[import_grid(record)],
    )


def import_grid(record: ImportRecord) -> Grid:
    """What the whole import came to, in one row."""
    rate, rows = documents_per_s(record), record.rows
    documents, span_ns = sum(row.documents for row in rows), sum(row.end_ns - row.start_ns for row in rows)
    size = data_size(record.server_facts) or DataSize()
    known = {
        "data_size": size.data_bytes,
        "storage_size": size.storage_bytes,
        "index_size": size.index_bytes,
        "document_size": size.document_bytes,
        "files_size": size.files_bytes,
        "import_rate": rate,
        "import_time": 1e6 * NS_PER_S / rate if rate else None,
        "input": sum(row.input_bytes for row in rows) * NS_PER_S / span_ns if span_ns else None,
        "client_cpu": record.state.client_cpu_ns / documents if documents else None,
        "server_cpu": record.state.server_cpu_ns / documents if documents and record.state.server_cpu_ns else None,
    }
    figures = {key: Known(float(value)) for key, value in known.items() if value is not None}
    return Grid(axes=(), rows=[GridRow(levels=(), figures=figures)], metrics=IMPORT_METRICS)


def _subtitle(record: ImportRecord) -> str:
    parts: list[str] = []
    if record.state.started_unix_ns is not None:
        parts.append(blocks.instant_text(record.state.started_unix_ns))
    settings = ImportSettings.from_document(record.state.settings)
    if record.state.duration_ns or record.ended_by != KILLED:
        length = format_duration(record.state.duration_ns)
        parts.append(message("at least {length}", length=length) if record.state.killed else length)
    parts += [
        message("{type}, mode {mode}", type=settings.type, mode=settings.mode),
        message("write concern {concern}", concern=settings.write_concern.text or "of the server"),
    ]
    return joined(" · ", parts)


def _rejects(record: ImportRecord) -> Rejects:
    return read_rejects(record.directory / REJECTED_FILE) if record.state.counts.get("rejected") else Rejects()


def _verdict(record: ImportRecord, rejects: Rejects) -> Verdict:
    counts = record.state.counts
    completed = record.ended_by == "completed"
    running = record.ended_by == RUNNING
    rate, rows = documents_per_s(record), counted_rows(record)
    is_partial = len(rows) < len(record.rows)
    killed = record.ended_by == KILLED
    none_in = not running and not killed and not documents_in(counts)
    has_no_rate = rate is None and (is_partial or none_in or killed)
    failed = [each for each in import_findings(record) if each.verdict is Standing.FAIL]
    read_nothing = bool(record.state.tables_of_cr) and not counts.get("read")
    is_empty = none_in and record.state.settings.get("mode") != "delete"
    tone: Tone = "fail" if failed else "warn" if running or read_nothing or is_empty else "pass"
    facts = [
        _documents_fact(record),
        Fact(
            label="Rejected",
            value=format_count(counts.get("rejected", 0)),
            tone="fail" if counts.get("rejected") else "",
            note=where_all_are(rejects),
        ),
        *reason_facts(record, rejects),
        *_standstill_fact(record),
        *_text_fact(record),
        *_ragged_fact(record),
        *_misfits_fact(record),
        *_latency_fact(record),
    ]
    if completed and read_nothing:
        sentence: str = "No record was read: the input's lines end with CR alone."
    elif completed and not failed and is_empty:
        sentence = _none_in(record, rejects)
    elif completed and not failed and record.state.misfits:
        sentence = message(
            "Every record is accounted for, {cells} aside, and the server counted {documents} afterwards.",
            cells=_cells(misfit_count(record)),
            documents=_documents(record.state.count_after or 0),
        )
    elif completed and not failed:
        sentence = message(
            "Every record is accounted for, and the server counted {documents} afterwards.",
            documents=_documents(record.state.count_after or 0),
        )
    elif completed:
        sentence = "The import went to its end, and its proof does not hold: see the checks."
    elif running:
        sentence = "The import is still under way."
    elif record.ended_by in ("input", "refused"):
        sentence = "The import stopped before the end of its input: see the checks."
    else:
        sentence = "The import did not go to its end; brimline import --resume goes on with it."
    return Verdict(
        tone=tone,
        caption=_no_rate(record, none_in=none_in) if has_no_rate else "Import rate",
        figure=format_number(rate, digits=4) if rate is not None else "",
        unit="" if has_no_rate else "documents/s",
        interval="" if rate is None else joined("; ", _over(record, rows)),
        sentence=sentence,
        badges=[] if completed else [_ended_badge(record)],
        facts=facts,
    )


def _no_rate(record: ImportRecord, *, none_in: bool) -> str:
    if record.ended_by == KILLED and not record.rows:
        return "No rate: no interval was kept"
    if not none_in:
        return "No rate: the importer stood still"
    is_delete = record.state.settings.get("mode") == "delete"
    return "No rate: no document was deleted" if is_delete else "No rate: no document came in"


def _none_in(record: ImportRecord, rejects: Rejects) -> str:
    """Why no document came in, of an import that went to its end."""
    count = record.state.counts.get("rejected", 0)
    if not count:
        return "No document came in: there was none in the input."
    all_are = not rejects.others and rejects.whole and {each.code for each in rejects.groups} == {_DUPLICATE_KEY}
    if count == 1 and all_are:
        return "No document came in: the only record is a duplicate of a document that is there."
    if count == 1:
        return "No document came in: the only record was rejected."
    if all_are:
        words = "No document came in: all {count} records are duplicates of documents that are there."
    else:
        words = "No document came in: all {count} records were rejected."
    return message(words, count=format_count(count))


def _documents_fact(record: ImportRecord) -> Fact:
    """How many documents came in; of a server that is gone, how many it had acknowledged."""
    if (least := documents_at_least(record)) is not None:
        note = "as far as was kept; the server was not asked"
        return Fact(label="Documents", value=message("at least {count}", count=format_count(least)), note=note)
    value, settled = format_count(documents_there(record.state)), documents_settled(record.state)
    if settled is None:
        return Fact(label="Documents", value=value)
    words = "{count} of them are settled: they are in, whatever the server lost"
    if record.state.settings.get("mode") == "delete":
        words = "{count} of them are settled: they are deleted, whatever the server lost"
    note = message(words, count=format_count(settled))
    return Fact(label="Acknowledged", value=value, note=note)


def _over(record: ImportRecord, rows: Sequence[ImportRow]) -> list[str]:
    """Over what the rate is, where that is not all of the import."""
    said = [_without_standstills(record, rows)] if len(rows) < len(record.rows) else []
    if record.state.killed:
        values = {
            "documents": _documents(sum(row.documents for row in rows)),
            "length": format_duration(sum(row.end_ns - row.start_ns for row in rows)),
        }
        words = "over {documents} in {length}: what a killed attempt did after its last kept interval is not known"
        said.append(message(words, **values))
    return said


def _without_standstills(record: ImportRecord, rows: Sequence[ImportRow]) -> str:
    """Over which time the rate is, where that is not all of it, and what was left out: more than it stood still."""
    over_ns, all_ns = (sum(row.end_ns - row.start_ns for row in each) for each in (rows, record.rows))
    values = {"length": format_duration(over_ns), "left": format_duration(all_ns - over_ns)}
    return message("over {length}; left out: {left}, all of each interval in which the importer stood still", **values)


def _ended_badge(record: ImportRecord) -> Badge:
    return UNDER_WAY if record.ended_by == RUNNING else Badge(text=record.ended_by.replace("_", " "), tone="fail")


def _text_fact(record: ImportRecord) -> list[Fact]:
    text = text_not_utf8(record)
    if text is None:
        return []
    return [Fact(label="Not UTF-8", value=format_count(record.state.counts["not_utf8"]), tone="warn", note=text)]


def _ragged_fact(record: ImportRecord) -> list[Fact]:
    text = ragged_text(record)
    if text is None:
        return []
    return [Fact(label="Ragged", value=format_count(record.state.counts["ragged"]), tone="warn", note=text)]


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else message("{count} cells", count=format_count(count))


def _documents(count: int) -> str:
    return "1 document" if count == 1 else message("{count} documents", count=format_count(count))


def _misfits_fact(record: ImportRecord) -> list[Fact]:
    text = misfits_text(record)
    if text is None:
        return []
    label = "Cells left out" if record.state.settings["parse_grace"] == "skipField" else "Cells of another type"
    return [Fact(label=label, value=format_count(misfit_count(record)), tone="warn", note=text)]


def _standstill_fact(record: ImportRecord) -> list[Fact]:
    """Of the rate the intervals that it spoils are left out; the time that the import took is what it is."""
    found = record.state.standstills
    text = next((each.evidence for each in import_findings(record) if each.name == "standstills"), None)
    if text is None:
        return []
    still = format_duration(sum(each["still_ns"] for each in found))
    return [Fact(label="Stood still", value=still, tone="warn", note=text)]


def _latency_fact(record: ImportRecord) -> list[Fact]:
    times = _command_times(record)
    if not times:
        return []
    note = "service time of a command with all its documents"
    return [Fact(label="Command p99", value=quantile_text(times[0.99]), note=note)]


def _command_times(record: ImportRecord) -> dict[float, QuantileInterval]:
    """Median and p99 of the service times of commands; empty without any."""
    buckets = record.service.buckets()
    return quantile_intervals(buckets, (0.5, 0.99)) if buckets else {}


def _command_times_document(record: ImportRecord) -> dict[str, Any]:
    times = _command_times(record)
    found: dict[str, Any] = {"service_p50_ns": None, "service_p99_ns": None}
    for name, quantile in (("p50", 0.5), ("p99", 0.99)):
        if each := times.get(quantile):
            found[f"service_{name}_ns"] = each.value_ns
            found[f"service_{name}_interval_ns"] = [each.low_ns, each.high_ns]
            found[f"service_{name}_enough_samples"] = each.is_figure
    return found


def _records(record: ImportRecord) -> Section:
    counts = record.state.counts
    always = ("read", "inserted", "rejected")
    rows = []
    for label, name, tone, note in _ROWS:
        value = counts.get(name, 0)
        if value or name in always:
            shown = tone if value else ""
            rows.append([Cell(text=label), Cell(text=format_count(value), tone=shown), Cell(text=note, tone="muted")])
    grace = record.state.settings.get("parse_grace", "")
    for column, value in sorted(record.state.misfits.items()):
        label = message("Cells of {column}", column=column)
        note = message("not of the column's type, with --parseGrace {grace}", grace=grace)
        rows.append([Cell(text=label), Cell(text=format_count(value), tone="warn"), Cell(text=note, tone="muted")])
    after = record.state.count_after
    rows.append(
        [Cell(text="Counted before"), Cell(text=format_count(record.state.count_before)), Cell(text="by the server")]
    )
    counted = UNKNOWN_TEXT if after is None else format_count(after)
    rows.append([Cell(text="Counted after"), Cell(text=counted), Cell(text="by the server")])
    table = Table(
        columns=[
            Column(label="Records", numeric=False, leading=True),
            Column(label="Number"),
            Column(label="Note", numeric=False),
        ],
        rows=rows,
    )
    return Section(id="records", title="What became of the records", short="Records", blocks=[table])


def _cost(record: ImportRecord) -> Section:
    state, documents = record.state, max(sum(row.documents for row in record.rows), 1)
    settings = ImportSettings.from_document(state.settings)
    client_ns = state.client_cpu_ns / documents
    facts = [
        Fact(label="Client CPU per document", value=format_duration(client_ns)),
        Fact(
            label="Server CPU per document",
            value=UNKNOWN_TEXT if state.server_cpu_ns is None else format_duration(state.server_cpu_ns / documents),
            note=_why_no_server_cpu(record),
        ),
        Fact(label="Connections", value=format_count(settings.connections)),
        Fact(label="Documents per command", value=format_count(settings.batch_size), note="at most"),
        Fact(label="Write concern", value=settings.write_concern.text or "of the server"),
    ]
    if state.server_cpu_ns:
        ratio = state.client_cpu_ns / state.server_cpu_ns
        facts.insert(2, Fact(label="Client over server", value=format_number(ratio, digits=3)))
    return Section(
        id="cost",
        title="What it cost",
        short="Cost",
        blocks=[Facts(title="CPU time", facts=facts), *size_facts(record.server_facts)],
    )


def _why_no_server_cpu(record: ImportRecord) -> str:
    if record.state.server_cpu_ns is not None:
        return ""
    if record.state.killed:
        return "an attempt was killed, and what the server used for it is not known"
    if record.ended_by == RUNNING:
        return "known when the import has ended"
    return "the server is on another machine, or was started again"


def _inputs(record: ImportRecord) -> Section:
    facts = [
        Fact(
            label="standard input" if each.path is None else each.path.rpartition("/")[2],
            value=UNKNOWN_TEXT if each.size_bytes is None else format_bytes(each.size_bytes),
            note="gzip" if each.gzip else "",
        )
        for each in record.state.inputs
    ]
    notes = []
    if record.state.attempts > 1:
        text = message("{count} attempts: the import went on from its checkpoint.", count=record.state.attempts)
        notes.append(Text(text=text))
    return Section(id="inputs", title="What was read", short="Inputs", blocks=[Facts(title="", facts=facts), *notes])


def import_document(record: ImportRecord, rejects: Rejects) -> dict[str, Any]:
    """Everything that the report says, for machines; what isn't known is null."""
    state, rate = record.state, documents_per_s(record)
    documents = sum(row.documents for row in record.rows)
    return {
        "format_version": FORMAT_VERSION,
        "kind": "import",
        "name": state.name,
        "namespace": state.namespace,
        "record": str(record.directory),
        "brimline_version": record.brimline_version,
        "ended_by": record.ended_by,
        "message": state.message,
        "ending": dict(state.ending),
        "started_unix_ns": state.started_unix_ns,
        "measured_s": state.duration_ns / 1e9,
        "attempts": state.attempts,
        "settings": dict(state.settings),
        "counts": dict(state.counts),
        "first_not_utf8": None if state.first_not_utf8 is None else dict(state.first_not_utf8),
        "first_ragged": None if state.first_ragged is None else dict(state.first_ragged),
        "cells_not_of_their_type": dict(state.misfits),
        "certain_counts": dict(state.kept.get("counts", {})),
        "rejected_by_reason": reasons_document(rejects),
        "document_count": documents_there(state) if (least := documents_at_least(record)) is None else least,
        "document_count_is_least": least is not None,
        "attempts_killed": state.killed,
        "count_before": state.count_before,
        "count_after": state.count_after,
        "count_expected": expected_count(record),
        "documents_per_s": rate,
        "input_bytes": sum(row.input_bytes for row in record.rows),
        "client_cpu_ns": state.client_cpu_ns,
        "server_cpu_ns": state.server_cpu_ns,
        "client_cpu_ns_per_document": state.client_cpu_ns / documents if documents else None,
        "server_cpu_ns_per_document": state.server_cpu_ns / documents if documents and state.server_cpu_ns else None,
        **_command_times_document(record),
        "commands": sum(row.commands for row in record.rows),
        "inputs": [{"path": each.path, "gzip": each.gzip, "size_bytes": each.size_bytes} for each in state.inputs],
        "sizes": {
            instant: (record.server_facts.get(instant) or {}).get("collStats") for instant in ("before", "after")
        },
        "data_size": size_document(record.server_facts),
        "distribution": distribution_document(record.server_facts),
        "nodes": nodes_document(record),
        "checks": findings_document(import_findings(record)),
    }
