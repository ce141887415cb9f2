"""Owns what brimline's own reports claim, taken from the finished report, beside the record's raw figures.

Nothing here asks how a report came to its figures: printed cells and JSON values are read back, and held against rows
and histograms of the record. A figure that was put in the wrong place, unit or row shows here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from brimline.analysis.lint import Claims, Figure, Repeated, Result
from brimline.analysis.loads import all_loads, main_load
from brimline.analysis.never_completed import due_buckets
from brimline.analysis.objective import parse_quantile
from brimline.analysis.operation_names import shown
from brimline.analysis.window import done_in_window
from brimline.plan.model import ClosedPacer
from brimline.plan.targets import SqlTarget
from brimline.record.model import CLOCKS, Clock, OperationRow, RunRecord, answered_count, finished_count
from brimline.report.load_figures import load_figures
from brimline.report.printed import printed_figure, printed_quantity, significant, table_cells
from brimline.report.statistics import TOTAL_LABEL, report_clock
from brimline.report.view import Cell, Report
from brimline.stats.quantile_interval import Buckets, merge_buckets, quantile_of, without_never
from brimline.units import NS_PER_MS
from brimline.wording import message

HISTOGRAM_RESOLUTION = 0.002
"""Two buckets of three significant digits: how far a mean of bucket values may be off."""
HEADLINE_DIGITS = 4
"""Digits of a run's headline."""
_EXPERIMENT_HEADLINES = {
    "limit": HEADLINE_DIGITS,
    "at_least": HEADLINE_DIGITS,
    "saturation_ops_per_s": 3,
    "generator_ceiling_ops_per_s": 3,
}
"""Where the JSON of an experiment has its headline, and the digits of it that are printed; the first that is known."""
_PERCENTILE = re.compile(r"(?:(?P<kind>\w+(?: \w+)*) )?(?P<clock>[Rr]esponse|[Ss]ervice) (?P<quantile>p[0-9.]+)")
"""How an objective on latency is named."""
OPERATIONS_ID = "operations"
"""The section of the statistics table."""
_PERCENTILE_COLUMNS = {"Median": 0.5, "90th": 0.9, "95th": 0.95, "99th": 0.99}
_JSON_QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p95_ns": 0.95, "p99_ns": 0.99, "p999_ns": 0.999, "p9999_ns": 0.9999}


def run_claims(report: Report, record: RunRecord) -> Claims:
    """What the report of a run claims, and the same from its raw files."""
    rows = list(_table_results(report, record))
    return Claims(
        results=[
            *rows,
            *_answered((row for row in rows if not row.parts), record),
            *_window(report, record),
            *_documents(record),
        ],
        repeated=[
            *_headline(report, record),
            *_judged_latency(report, record),
            *_totals(report, record),
            *_times(report, record),
        ],
    )


def probe_claims(report: Report) -> Claims:
    """What the report of an experiment claims: each probe's figures must fit each other, the headline its data."""
    data = report.data
    results = [
        Result(
            name=message("probe {number}", number=probe["number"]),
            throughput_per_s=_exact(probe["throughput_ops_per_s"]),
            threads=_exact(probe["connections"]) if _is_plain_closed_loop(probe) else None,
            mean_ns=None if latency["never_completed"] else _resolved(latency["mean_ns"]),
            max_ns=_resolved(latency["max_ns"]),
            percentiles_ns=_percentiles(latency),
            samples=_exact(latency["count"]),
        )
        for probe in data.get("probes", ())
        if (latency := probe["service"] if probe["closed_loop"] else probe["response"]) is not None
    ]
    return Claims(results=results, repeated=[*_experiment_headline(report)])


def _experiment_headline(report: Report) -> Iterator[Repeated]:
    """A search's headline is its limit as it was offered, whatever it was on; a sweep's is a mean, which is rounded."""
    printed = printed_figure(report.verdict.figure)
    for key, digits in _EXPERIMENT_HEADLINES.items():
        stated = report.data.get(key)
        if printed is not None and stated is not None:
            shown = significant(printed.value, digits=digits)
            yield Repeated(name="headline", values=[shown, Figure(stated)], exact=True)
            return


def _is_plain_closed_loop(probe: Mapping[str, Any]) -> bool:
    """Of a server, without pauses, without threads that come and go or share connections: these just go round."""
    return bool(probe["closed_loop"] and probe["back_to_back"]) and probe["target"] == "server"


def _percentiles(latency: Mapping[str, Any]) -> dict[float, Figure]:
    """Those that a report shows as figures; a bound is no claim."""
    found = {}
    for key, quantile in _JSON_QUANTILES.items():
        enough = latency.get(f"{key.removesuffix('_ns')}_enough_samples", True)
        if enough and latency.get(key) is not None:
            found[quantile] = _resolved(latency[key])
    return found


def _table_results(report: Report, record: RunRecord) -> Iterator[Result]:
    """Each row of the statistics table, and the first as the whole of those that share its load."""
    # A mean is of what completed, percentiles are of all: where some never did, they need not fit each other.
    all_completed = not any((report.data[clock] or {}).get("never_completed") for clock in CLOCKS)
    table = table_cells(report, OPERATIONS_ID)
    labels = [cells["Label"].text for cells in table]
    of_main = {shown(row["operation"], record.plan) for row in main_load(record).operations}
    for cells in table:
        label = cells["Label"].text
        yield Result(
            name=label,
            samples=_counted(cells["Samples"]),
            error_count=_counted(cells["Fail"]),
            error_share=printed_figure(cells["Error %"].text, factor=0.01),
            mean_ns=_milliseconds(cells["Average"]) if all_completed else None,
            min_ns=_milliseconds(cells["Min"]),
            max_ns=_milliseconds(cells["Max"]),
            percentiles_ns={
                quantile: figure
                for column, quantile in _PERCENTILE_COLUMNS.items()
                if (figure := _milliseconds(cells[column])) is not None
            },
            throughput_per_s=printed_figure(cells["Throughput"].text),
        )
    if len(labels) > 1:
        first = table[0]
        yield Result(
            name=f"{labels[0]}, counted",
            samples=_counted(first["Samples"]),
            error_count=_counted(first["Fail"]),
            parts=tuple(label for label in labels[1:] if label in of_main),
        )


def _answered(rows: Iterable[Result], record: RunRecord) -> Iterator[Result]:
    """Throughput counts what was answered in the span that the table names, which no other column does."""
    load = load_figures(record)
    span_s = Figure(record.measured_s if load is None else load.elapsed_s)
    done = done_in_window(record) if load is None else record.operations
    done_of_main = done_in_window(main_load(record)) if load is None else record.operations
    for row in rows:
        is_total = row.name == TOTAL_LABEL
        own = done_of_main if is_total else [each for each in done if row.name == shown(each["operation"], record.plan)]
        yield Result(
            name=f"{row.name}, answered",
            samples=Figure(answered_count(own)),
            duration_s=span_s,
            throughput_per_s=row.throughput_per_s,
        )


def _window(report: Report, record: RunRecord) -> Iterator[Result]:
    """The whole run as JSON says it, against rows; Little's law where no connection ever pauses.

    A load is told over its whole length, which the table's rows hold.
    """
    if record.summary is not None and not record.closed_loop:
        yield Result(name="whole run", planned=Figure(record.summary["due"]), samples=Figure(record.summary["sent"]))
    if load_figures(record) is not None:
        return
    data = report.data
    service = data["service"]
    pacer = record.plan.pacer
    busy = isinstance(pacer, ClosedPacer) and pacer.think_time is None and record.plan.target.kind != "null"
    yield Result(
        name="measured window",
        samples=Figure(_answered_in_window(record)),
        duration_s=Figure(record.measured_s),
        throughput_per_s=_exact(data["throughput_ops_per_s"]),
        threads=Figure(record.plan.connections) if busy else None,
        mean_ns=None if service is None else _resolved(service["mean_ns"]),
        max_ns=None if service is None else _resolved(service["max_ns"]),
    )
    if service is not None:
        yield Result(
            name="service time",
            samples=_exact(service["count"]),
            mean_ns=None if service["never_completed"] else _resolved(service["mean_ns"]),
            max_ns=_resolved(service["max_ns"]),
            percentiles_ns=_percentiles(service),
        )


def _documents(record: RunRecord) -> Iterator[Result]:
    """Documents that a load says it inserted, against the server's own count."""
    load = load_figures(record)
    if load is None or record.opcounters is None or load.inserts is None:
        return
    if isinstance(record.plan.target, SqlTarget):
        return  # it counts rows, attempts and brimline's manifest included: the check that counts agree weighs these
    counted = record.opcounters["after"].get("insert", 0) - record.opcounters["before"].get("insert", 0)
    yield Result(name="load", documents=Figure(load.documents_inserted), counted={"documents": Figure(counted)})


def _answered_in_window(record: RunRecord) -> int:
    return answered_count(done_in_window(main_load(record)))


def _due(record: RunRecord, label: str) -> list[OperationRow]:
    rows = [row for row in record.operations if row["phase"] == "measure"]
    return rows if label == TOTAL_LABEL else [row for row in rows if shown(row["operation"], record.plan) == label]


def _judged_latency(report: Report, record: RunRecord) -> Iterator[Repeated]:
    """The percentile that an objective is about, at the top or among the first facts, against histograms."""
    verdict = report.verdict
    told = [(verdict.caption, verdict.figure), *((fact.label, fact.value) for fact in verdict.facts)]
    for label, text in told:
        named, printed = _PERCENTILE.fullmatch(label), printed_quantity(text)
        if named is None or printed is None:
            continue
        clock = cast("Clock", named["clock"].lower())
        kind = (named["kind"] or "").lower()
        parts = all_loads(record) if kind else [main_load(record)]
        of_kind = [item for part in parts for item in due_buckets(part, clock).items()]
        due = [each for name, each in of_kind if kind in ("", shown(name, record.plan).lower(), name.lower())]
        if due:
            raw = quantile_of(merge_buckets(due), parse_quantile(named["quantile"]))
            yield Repeated(name=label, values=[printed, Figure(raw)], exact=True, unit="ns")


def _headline(report: Report, record: RunRecord) -> Iterator[Repeated]:
    """The rate, which everybody reads, against the rows."""
    fact = next((each.value for each in report.verdict.facts if each.label == "Throughput"), None)
    printed = printed_figure(report.verdict.figure) if fact is None else printed_quantity(fact)
    if printed is None or not record.measured_s:
        return
    load = load_figures(record)
    raw = _answered_in_window(record) / record.measured_s if load is None else load.documents_per_s
    yield Repeated(
        name="headline", values=[significant(printed.value, digits=HEADLINE_DIGITS), Figure(raw)], exact=True
    )


def _totals(report: Report, record: RunRecord) -> Iterator[Repeated]:
    """Counts of the table against rows."""
    for cells in table_cells(report, OPERATIONS_ID):
        label = cells["Label"].text
        rows = _due(main_load(record) if label == TOTAL_LABEL else record, label)
        failed = sum(row["failed"] for row in rows)
        for column, raw in (("Samples", finished_count(rows)), ("Fail", failed)):
            figure = _counted(cells[column])
            if figure is not None:
                yield Repeated(name=f"{label} {column.lower()}", values=[figure, Figure(raw)], exact=True)
    rate = report.data.get("error_rate")
    rows = _due(record, TOTAL_LABEL)
    ended = finished_count(rows)
    if rate is not None and ended:
        share = sum(row["failed"] for row in rows) / ended
        yield Repeated(name="error rate", values=[Figure(rate), Figure(share)], exact=True, unit="share")


def _times(report: Report, record: RunRecord) -> Iterator[Repeated]:
    """Printed times and those of the JSON against histograms."""
    loads = all_loads(record)
    by_clock = {
        clock: {name: each for part in loads for name, each in due_buckets(part, clock).items()} for clock in CLOCKS
    }
    kinds, of_main = by_clock[report_clock(record)], due_buckets(loads[0], report_clock(record))
    for cells in table_cells(report, OPERATIONS_ID):
        label = cells["Label"].text
        of_label = [each for name, each in kinds.items() if label == shown(name, record.plan)]
        due = list(of_main.values()) if label == TOTAL_LABEL else of_label
        if not due:
            continue
        merged = merge_buckets(due)
        completed = without_never(merged)
        pairs = [
            ("Average", Figure(_mean(completed))),
            ("Min", Figure(completed[0][0])),
            ("Max", Figure(completed[-1][0])),
        ]
        pairs += [(column, Figure(quantile_of(merged, q))) for column, q in _PERCENTILE_COLUMNS.items()]
        for column, raw in pairs:
            figure = _milliseconds(cells[column])
            if figure is not None:
                yield Repeated(name=f"{label} {column.lower()}", values=[figure, raw], exact=True, unit="ns")
    for name, document in report.data["operations"].items():
        for clock, due_of in by_clock.items():
            if clock in document and name in due_of:
                yield from _json_times(f"{name} {clock}", document[clock], due_of[name])


def _json_times(name: str, document: Mapping[str, Any], due: Buckets) -> Iterator[Repeated]:
    for key, quantile in _JSON_QUANTILES.items():
        if document[key] is not None:
            values = [_exact(document[key]), Figure(quantile_of(due, quantile))]
            yield Repeated(name=f"{name} {key.removesuffix('_ns')}", values=values, exact=True, unit="ns")
    values = [_resolved(document["mean_ns"]), Figure(_mean(without_never(due)))]
    yield Repeated(name=f"{name} mean", values=values, exact=True, unit="ns")


def _mean(buckets: Buckets) -> float:
    return sum(value * count for value, count in buckets) / sum(count for _, count in buckets)


def _milliseconds(cell: Cell) -> Figure | None:
    return printed_figure(cell.text, factor=NS_PER_MS)


def _counted(cell: Cell) -> Figure | None:
    """A count is printed whole."""
    figure = printed_figure(cell.text)
    return None if figure is None else Figure(figure.value)


def _exact(value: float) -> Figure:
    return Figure(float(value))


def _resolved(value: float) -> Figure:
    """A time out of a histogram."""
    return Figure(float(value), abs(value) * HISTOGRAM_RESOLUTION)
