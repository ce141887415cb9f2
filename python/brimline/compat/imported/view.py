"""A run that another tool made, as a report: the same table, charts and checks, as far as its files go."""

from collections.abc import Sequence
from typing import Any

from brimline.analysis.finding import Finding
from brimline.analysis.imported import error_share, imported_findings, throughput_per_s
from brimline.analysis.quantile_text import quantile_text
from brimline.compat.imported.charts import chart_list
from brimline.compat.imported.claims import imported_claims
from brimline.compat.imported.grid import imported_grid
from brimline.compat.imported.table import ImportedStatistics, imported_statistics, statistics_section
from brimline.record.imported import ImportedRun
from brimline.report import blocks
from brimline.report.document import FORMAT_VERSION
from brimline.report.frame import framed
from brimline.report.lint_section import findings_document, linted
from brimline.report.view import Badge, Cell, Column, Fact, Facts, Report, Section, Table, Text, Verdict
from brimline.stats.quantile_interval import QuantileInterval
from brimline.units import (
    UNKNOWN_TEXT,
    format_bytes,
    format_count,
    format_duration,
    format_number,
    format_percentage,
)
from brimline.wording import capitalised, joined, message

CHECKS_INTRO = "What the files of another tool allow to check; a run of brimline's own tells more."


def imported_report(run: ImportedRun) -> Report:
    """The report of an imported run, its lint included."""
    histograms = run.histograms
    statistics = imported_statistics(run, histograms)
    findings = imported_findings(run)
    sections = [
        Section(id="charts", title="How it went", short="Charts", blocks=chart_list(run, histograms)),
        statistics_section(run, statistics),
        _errors(run),
        blocks.checks(findings, intro=CHECKS_INTRO),
        _sources(run),
        blocks.definitions(),
    ]
    report = framed(
        run,
        kind="imported",
        kind_title=message("Imported from {tool}", tool=run.tool),
        name=run.name,
        subtitle=_subtitle(run),
        verdict=_verdict(run, statistics[0]),
        sections=sections,
        data=imported_document(run, statistics, findings),
        grids=[imported_grid(statistics, closed_loop=run.closed_loop)],
    )
    return linted(report, imported_claims(run, statistics, histograms))


def _subtitle(run: ImportedRun) -> str:
    parts: list[str] = [format_duration(run.duration_ns)] if run.knows_length else []
    if run.started_unix_ns is not None:
        parts.insert(0, blocks.instant_text(run.started_unix_ns))
    if run.printed.threads is not None:
        threads = run.printed.threads
        parts.append(message("{count} thread" if threads == 1 else "{count} threads", count=format_count(threads)))
    return joined(" · ", parts)


def _verdict(run: ImportedRun, total: ImportedStatistics) -> Verdict:
    clock = "service" if run.closed_loop else "response"
    p99 = total.percentiles.get(0.99)
    facts = [
        Fact(label="Operations", value=format_count(run.operation_count)),
        Fact(label="Errors", value=format_percentage(error_share(run)), tone="fail" if run.failed_count else ""),
    ]
    if isinstance(p99, QuantileInterval):
        facts.insert(0, Fact(label=f"p99 {clock} time", value=quantile_text(p99), note="over every sample of the run"))
    if total.mean_ns is not None:
        facts.append(Fact(label=f"Mean {clock} time", value=format_duration(total.mean_ns)))
    rate = throughput_per_s(run)
    return Verdict(
        tone="",
        caption="Throughput",
        figure=format_number(rate, digits=4) if rate is not None else UNKNOWN_TEXT,
        unit="ops/s",
        interval="",
        sentence=message(
            "Measured by {tool}, without an objective to judge it by. Its figures can't be checked against the server "
            "as those of a run of brimline's own.",
            tool=run.tool,
        ),
        badges=[Badge(text="imported", tone="muted")],
        facts=facts,
    )


def _errors(run: ImportedRun) -> Section:
    if not run.errors:
        text = "No operation failed." if not run.failed_count else "Operations failed; the files don't say how."
        return Section(id="errors", title="Errors", short="Errors", blocks=[Text(text=text)])
    failed, all_count = max(sum(row["count"] for row in run.errors), 1), max(run.operation_count, 1)
    table = Table(
        columns=[
            Column(label="Error", numeric=False, leading=True),
            Column(label="Operation", numeric=False),
            Column(label="Count"),
            Column(label="% of errors"),
            Column(label="% of all"),
            Column(label="First example", numeric=False),
        ],
        rows=[
            [
                Cell(text=row["label"] or (str(row["code"]) if row["code"] else row["outcome"])),
                Cell(text=row["operation"]),
                Cell(text=format_count(row["count"])),
                Cell(text=format_percentage(row["count"] / failed)),
                Cell(text=format_percentage(row["count"] / all_count)),
                Cell(text=row["example"], tone="muted"),
            ]
            for row in run.errors
        ],
    )
    return Section(id="errors", title="Errors", short="Errors", blocks=[table])


def _sources(run: ImportedRun) -> Section:
    facts = [
        Fact(
            label=each.name,
            value=format_bytes(each.size_bytes),
            note=message("{format}, SHA-256 {sum}", format=each.format, sum=each.sha256),
        )
        for each in run.sources
    ]
    notes = [Text(text=message("{sentence}.", sentence=capitalised(note))) for note in run.notes]
    return Section(
        id="sources",
        title="Where the figures are from",
        short="Sources",
        blocks=[Facts(title="Files", facts=facts), *notes],
    )


def imported_document(
    run: ImportedRun,
    statistics: Sequence[ImportedStatistics],
    findings: Sequence[Finding],
) -> dict[str, Any]:
    """Everything that the report says, for machines; what isn't known is null."""
    clock = "service" if run.closed_loop else "response"
    return {
        "format_version": FORMAT_VERSION,
        "kind": "imported",
        "origin": "imported",
        "tool": run.tool,
        "name": run.name,
        "record": str(run.directory),
        "brimline_version": run.brimline_version,
        "sources": [
            {"name": each.name, "format": each.format, "size_bytes": each.size_bytes, "sha256": each.sha256}
            for each in run.sources
        ],
        "verdict": {"value": None, "reasons": []},
        "started_unix_ns": run.started_unix_ns,
        "measured_s": run.duration_ns / 1e9 if run.knows_length else None,
        "closed_loop": run.closed_loop,
        "clock": clock,
        "threads": run.printed.threads,
        "target_ops_per_s": run.printed.target_ops_per_s,
        "throughput_ops_per_s": throughput_per_s(run),
        "throughput_as_printed_ops_per_s": run.printed.throughput_per_s,
        "error_rate": error_share(run),
        "operations": {row.label: _statistics_document(row) for row in statistics},
        "errors": list(run.errors),
        "opcounters": None,
        "lag": None,
        "checks": findings_document(findings),
        "notes": list(run.notes),
    }


def _statistics_document(row: ImportedStatistics) -> dict[str, Any]:
    quantiles: dict[str, Any] = {}
    for quantile, value in sorted(row.percentiles.items()):
        name = f"p{quantile * 100:g}"
        if isinstance(value, QuantileInterval):
            quantiles |= {f"{name}_ns": value.value_ns, f"{name}_enough_samples": value.enough}
        else:
            quantiles |= {f"{name}_ns": value, f"{name}_as_printed": True}
    return {
        "samples": row.samples,
        "failed": row.failed,
        "error_rate": row.error_share,
        "throughput_ops_per_s": row.throughput_per_s,
        "received_bytes_per_s": row.received_bytes_per_s,
        "sent_bytes_per_s": row.sent_bytes_per_s,
        "mean_ns": row.mean_ns,
        "min_ns": row.min_ns,
        **quantiles,
        "max_ns": row.max_ns,
    }
