"""The sections that show one run: its charts, its operations, what became of them, what failed."""

from collections.abc import Sequence
from functools import partial

from brimline.analysis.loads import main_load
from brimline.analysis.never_succeeded import UNEXPECTED
from brimline.analysis.objective import LatencyObjective
from brimline.analysis.operation_names import shown
from brimline.analysis.outages import outage_ns, outages_of, retried_count
from brimline.analysis.unsent import not_begun
from brimline.plan.model import MixWork
from brimline.record.model import ErrorRow, Outage, RunRecord, Summary
from brimline.report import jmeter_table
from brimline.report.jmeter_table import error_percent, kilobytes_per_s, per_second, time_cells
from brimline.report.load_figures import is_load
from brimline.report.run.apdex import JMETER_THRESHOLDS, ApdexThresholds, apdex_table
from brimline.report.run.charts import over_time, percentile_curve
from brimline.report.run.parts_table import parts_table, request_parts_table
from brimline.report.run.server_charts import server_charts
from brimline.report.run.step_sections import loads_apart
from brimline.report.run.work_chart import work_chart
from brimline.report.series import drawn_buckets
from brimline.report.statistics import TOTAL_LABEL, OperationStatistics, report_clock
from brimline.report.time_axis import time_span
from brimline.report.view import Block, Cell, Column, Section, Table, Text, Tone
from brimline.spec.own.protocols import steps_of_target
from brimline.units import NS_PER_S, UNKNOWN_TEXT, format_count, format_duration, format_percentage
from brimline.wording import Verbatim, message

_OUTAGES_SHOWN = 50
_ACCOUNTING = (
    "Whole run, warm-up included, and the drain after it. Planned = sent + overdue; "
    "sent = answered + found nothing + failed + unfinished."
)
_ACCOUNTING_OF_LESS = (
    "Whole run, warm-up included, and the drain after it. Planned = sent + overdue + not begun; "
    "sent = answered + found nothing + failed + unfinished."
)
_ACCOUNTING_TITLE = "Planned against sent: whole run, warm-up included"


def charts(record: RunRecord, *, limit: LatencyObjective | None) -> Section:
    """Throughput and latency over time, the server meanwhile on the same time axis, and the percentile curve."""
    main = main_load(record)  # what is offered and done can only be drawn of one load
    buckets = drawn_buckets(main)
    if limit is not None and limit.clock != report_clock(record):
        limit = None  # not judged: this run has no such times
    drawn = [over_time(main, buckets, limit=limit)]
    if buckets:
        span = time_span(buckets)
        drawn += [work_chart(main, buckets, span), *server_charts(record, span)]
    drawn.append(percentile_curve(record, limit=limit, name=partial(shown, plan=record.plan)))
    return Section(
        id="charts",
        title="How it went",
        short="Charts",
        blocks=[chart for chart in drawn if chart is not None],
    )


def operations(
    record: RunRecord, statistics: Sequence[OperationStatistics], *, apdex: ApdexThresholds = JMETER_THRESHOLDS
) -> Section:
    """Statistics per operation kind, in JMeter's columns, and their Apdex, which a load has no use for."""
    rate_unit = "commands/s" if is_load(record) else "ops/s"
    span = "Whole load, replies after the last command included" if is_load(record) else _window(record)
    table = Table(
        columns=jmeter_table.columns(clock=report_clock(record), rate_unit=rate_unit),
        rows=[_operation_cells(each, record) for each in statistics],
        emphasised=frozenset({0}),
        caption=message(
            "{span}. Percentiles are over every operation of it; one that never completed counts as slower than all "
            "that did, which mean and minimum are of. "
            "≥: too few operations that completed lie above the percentile for a figure; the lower end of its 95 % "
            "interval, in which what never completed has waited until the end of the run, or the figure of a lower "
            "percentile where that is higher. "
            "Throughput counts answered operations, not those that failed. A KB is 1 024 bytes, as in JMeter.",
            span=span,
        ),
    )
    scores = None if is_load(record) else apdex_table(record, statistics, apdex)
    title = "Insert commands" if is_load(record) else "Operations"
    further = [
        each
        for each in (loads_apart(record), parts_table(record), request_parts_table(record), scores)
        if each is not None
    ]
    return Section(id="operations", title=title, short=title, blocks=[table, *further])


def _window(record: RunRecord) -> str:
    """Which operations the samples are, and which the rates: neither follows from the other."""
    return message(
        "Measured window of {length} only. Samples, errors and times are of operations that were due in it, answered "
        "in the drain after it too; rates are of what was answered in it, whenever it was due",
        length=format_duration(record.measured_s * NS_PER_S),
    )


def _operation_cells(row: OperationStatistics, record: RunRecord) -> list[Cell]:
    return [
        Cell(text=row.label if row.label == TOTAL_LABEL else shown(row.label, record.plan)),
        Cell(text=format_count(row.samples)),
        Cell(text=format_count(row.failed), tone="fail" if row.failed else ""),
        Cell(text=error_percent(row.error_rate), tone="fail" if row.failed else ""),
        *time_cells(row.latency),
        Cell(text=per_second(row.throughput_ops_per_s)),
        *(Cell(text=kilobytes_per_s(value)) for value in (row.received_bytes_per_s, row.sent_bytes_per_s)),
    ]


def accounting(record: RunRecord) -> Section:
    """Planned, sent, overdue and what became of it; nothing vanishes."""
    summary = record.summary
    if summary is None:
        text = Text(text="The run was not sealed: its totals are missing, what it had measured is above.", tone="warn")
        return Section(
            id="accounting",
            title=_ACCOUNTING_TITLE,
            short="Planned, sent",
            blocks=[text],
        )
    left, attempted_again = not_begun(record), summary.get("attempted_again", 0)
    of_service = not steps_of_target(record.plan.target.kind).has_records
    planned = summary["due"] + left
    rows: list[tuple[str, str, int, Tone]] = [
        ("Planned", _planned_note(record, left, attempted_again), planned, ""),
        ("Sent", "", summary["sent"], ""),
        (
            "Overdue",
            _age("oldest was due", summary["overdue"], summary["oldest_overdue_ns"]),
            summary["overdue"],
            "warn",
        ),
        ("Answered", "" if of_service else "with a document, or acknowledged", summary["ok"], ""),
        ("Found nothing", "" if of_service else "answered, but no document matched", summary["miss"], "warn"),
        ("Failed", "see the errors below", summary["failed"], "fail"),
        (
            "Unfinished",
            _age("oldest was sent", summary["unfinished"], summary["oldest_unfinished_ns"]),
            summary["unfinished"],
            "warn",
        ),
    ]
    if left:
        rows.insert(3, ("Not begun", "the run ended before it came to them", left, "warn"))
    if attempted_again:
        rows.insert(2, ("Attempted again", "of those sent: inserts that had failed", attempted_again, "warn"))
    retried = retried_count(record)
    if retried:
        rows.append(("Sent once more", "attempts besides those sent, after an error that allows it", retried, "warn"))
    table = Table(
        columns=[
            Column(label="Commands" if is_load(record) else "Operations", numeric=False, leading=True),
            Column(label="Count"),
            Column(label="Share of planned"),
            Column(label="Note", numeric=False),
        ],
        rows=[
            [
                Cell(text=label),
                Cell(text=format_count(count), tone=_tone_if(tone, count)),
                Cell(text=format_percentage(count / max(planned, 1))),
                Cell(text=note, tone="muted"),
            ]
            for label, note, count, tone in rows
        ],
        caption=_ACCOUNTING_OF_LESS if left else _ACCOUNTING,
    )
    return Section(
        id="accounting",
        title=_ACCOUNTING_TITLE,
        short="Planned, sent",
        blocks=[table, *_documents_of_inserts(record, summary)],
    )


def _documents_of_inserts(record: RunRecord, summary: Summary) -> list[Text]:
    """Where an operation inserts several documents, its count is not theirs."""
    work, inserts = record.plan.work, summary.get("inserts")
    if not isinstance(work, MixWork) or work.insert_batch_size == 1 or inserts is None:
        return []
    words = message(
        "An insert is of {size} documents: {inserted} were inserted, {failed} refused, of {unknown} nothing is known.",
        size=format_count(work.insert_batch_size),
        inserted=format_count(inserts["inserted"]),
        failed=format_count(inserts["failed"]),
        unknown=format_count(inserts["unknown"]),
    )
    return [Text(text=words)]


def _planned_note(record: RunRecord, left: int, attempted_again: int) -> str:
    if left and attempted_again:
        return "as many as were asked for, and inserts attempted again"
    if left:
        return "as many as were asked for"
    if record.plan.pacer.kind == "tlr":
        return "workers times loops"
    if record.plan.warmup_ns:
        warmup = format_duration(record.plan.warmup_ns)
        return message("due by the end of the run, in its warm-up of {warmup} too", warmup=warmup)
    return "due by the end of the run"


def _tone_if(tone: Tone, count: int) -> Tone:
    return tone if count else ""


def _age(what: str, count: int, age_ns: int) -> str:
    return message("{what} {age} before the end", what=what, age=format_duration(age_ns)) if count and age_ns else ""


def outages(record: RunRecord) -> Section:
    """When the target could not be used; no blocks where it always could."""
    found = outages_of(record)
    table = Table(
        columns=[
            Column(label="Outage", numeric=False, leading=True),
            Column(label="From"),
            Column(label="Lasted"),
            Column(label="Failed"),
            Column(label="Sent once more"),
            Column(label="Primary afterwards", numeric=False),
        ],
        rows=[
            [
                Cell(text=str(number)),
                Cell(text=format_duration(outage["from_ns"])),
                Cell(text=format_duration(outage_ns(outage, record)), tone="warn"),
                Cell(text=format_count(outage["failed"]), tone=_tone_if("fail", outage["failed"])),
                Cell(text=format_count(outage["retried"])),
                Cell(text=_after(outage)),
            ]
            for number, outage in enumerate(found[:_OUTAGES_SHOWN], start=1)
        ],
        caption=message(
            "{count} in all. An outage begins with the first operation or connection that is lost, and ends when an "
            "operation that was sent after that is answered. What was under way, or waited for a server longer than "
            "serverSelectionTimeoutMS, failed; its errors are below by class.",
            count=format_count(len(found)),
        ),
    )
    blocks: list[Block] = [table] if found else []
    return Section(id="outages", title="Outages", short="Outages", blocks=blocks)


def _after(outage: Outage) -> str:
    if outage["to_ns"] is None:
        return "it did not end before the run did"
    return outage["primary"] or UNKNOWN_TEXT


def _error_name(row: ErrorRow) -> str:
    if row["outcome"] == UNEXPECTED:
        return message("not as expected: {expected}", expected=Verbatim(row["label"]))
    return row["label"] or row["outcome"].replace("_", " ")


def errors(record: RunRecord) -> Section:
    """What failed, by kind, each with the first message seen."""
    if record.summary is None:
        return Section(id="errors", title="Errors", short="Errors", blocks=[])
    rows = sorted(record.summary["errors"], key=lambda row: -row["count"])
    if not rows:
        return Section(
            id="errors",
            title="Errors",
            short="Errors",
            blocks=[Text(text="No command failed." if is_load(record) else "No operation failed.")],
        )
    failed, sent = max(sum(row["count"] for row in rows), 1), max(record.summary["sent"], 1)
    table = Table(
        columns=[
            Column(label="Error", numeric=False, leading=True),
            Column(label="Operation", numeric=False),
            Column(label="Code"),
            Column(label="Commands" if is_load(record) else "Count"),
            Column(label="% of errors"),
            Column(label="% of all"),
            Column(label="First example", numeric=False),
        ],
        rows=[
            [
                Cell(text=_error_name(row)),
                Cell(text=shown(row["operation"], record.plan)),
                Cell(text=str(row["code"]) if row["code"] else UNKNOWN_TEXT),
                Cell(text=format_count(row["count"])),
                Cell(text=format_percentage(row["count"] / failed)),
                Cell(text=format_percentage(row["count"] / sent)),
                Cell(text=row["example"], tone="muted"),
            ]
            for row in rows
        ],
        caption="Whole run, warm-up and drain included.",
    )
    return Section(id="errors", title="Errors", short="Errors", blocks=[table])
