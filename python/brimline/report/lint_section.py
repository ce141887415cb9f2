"""Owns the lint of brimline's own reports: every derived figure of a finished one is recomputed and shown with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint import Claims, contradictions, lint
from brimline.report.view import Badge, Cell, Column, Report, Section, Table, Tone
from brimline.wording import message

SECTION_ID = "lint"
STANDING_TONES: Mapping[Standing, Tone] = {
    Standing.PASS: "pass",
    Standing.WARN: "warn",
    Standing.FAIL: "fail",
    Standing.UNKNOWN: "muted",
}
_WORST_FIRST = (Standing.FAIL, Standing.WARN, Standing.UNKNOWN, Standing.PASS)
_NAMES = {
    "throughput": "Throughput = samples / duration",
    "time_per_operation": "Time per operation",
    "error_share": "Error % = errors / samples",
    "documents_per_s": "Documents per second",
    "volume": "Volume = documents × size",
    "bytes_per_s": "Bytes per second",
    "littles_law": "Throughput × mean time = threads",
    "limit": "Limits are limits",
    "planned": "Planned against sent",
    "counted": "Counts against the server's",
    "parts": "Parts make the whole",
    "percentile_order": "Percentiles ascend",
    "mean": "Mean fits its percentiles",
    "sample_size": "Samples above a percentile",
    "percentile_window": "Percentiles of all samples",
    "means_only": "More than a mean",
    "merged_percentile": "No average of percentiles",
    "ratio": "Ratios",
    "words": "Words for a change",
    "restated": "The same figure in every place",
    "repeats": "Repeats agree",
    "limit_resolution": "Limits against noise",
    "limit_series": "Times grow past a limit",
    "runs": "More than one run",
    "label": "Words name what was measured",
}


def linted(report: Report, claims: Claims) -> Report:
    """`report` with what its lint found; every report that quotes derived figures passes through here."""
    return _linted(report, lint(claims))


def check_name(name: str) -> str:
    """What a check is called in a table."""
    return _NAMES.get(name, name.replace("_", " ").capitalize())


def findings_document(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings for machines."""
    return [{"name": each.name, "result": each.verdict.value, "evidence": each.evidence} for each in findings]


def lint_section(findings: Sequence[Finding]) -> Section:
    """One line per check, its worst finding shown; empty without any finding."""
    return Section(
        id=SECTION_ID,
        title="Do the figures fit each other?",
        short="Lint",
        intro="Every derived figure of this report, recomputed from what else it says and from the raw files.",
        blocks=[
            Table(
                columns=[
                    Column(label="Check", numeric=False, leading=True),
                    Column(label="Result", numeric=False, tag=True),
                    Column(label="Evidence", numeric=False),
                ],
                rows=[_row(name, list(group)) for name, group in _by_check(findings)],
            )
        ]
        if findings
        else [],
    )


def _linted(report: Report, findings: Sequence[Finding]) -> Report:
    section = lint_section(findings)
    sections = [*report.sections]
    if section.blocks:
        place = next((index for index, each in enumerate(sections) if each.id == "validity"), len(sections) - 1)
        sections.insert(place + 1, section)
    verdict = report.verdict
    # The server counts what other clients send as well: the check that counts agree says so, and no figure is at odds.
    if contradictions([each for each in findings if each.name != "counted"]):
        badge = Badge(text="figures of this report contradict each other", tone="fail")
        verdict = replace(verdict, badges=[*verdict.badges, badge])
    return replace(report, sections=sections, verdict=verdict, data={**report.data, **lint_document(findings)})


def lint_document(findings: Iterable[Finding]) -> dict[str, Any]:
    """What the document of every report has beside its own keys."""
    return {"lint": findings_document(findings)}


def _by_check(findings: Sequence[Finding]) -> Iterable[tuple[str, Iterable[Finding]]]:
    """Checks in the order of their worst finding; within one, the worst first."""
    ordered = sorted(findings, key=lambda each: (each.name, _WORST_FIRST.index(each.verdict)))
    groups = [(name, list(group)) for name, group in groupby(ordered, key=lambda each: each.name)]
    return sorted(groups, key=lambda group: _WORST_FIRST.index(group[1][0].verdict))


def _row(name: str, findings: Sequence[Finding]) -> list[Cell]:
    worst = findings[0]
    same = [each for each in findings if each.verdict is worst.verdict]
    if worst.verdict is Standing.PASS and len(findings) > 1:
        evidence: str = message("all {count} hold", count=len(findings))
    elif len(same) > 1:
        evidence = message("{evidence}; and {more} more", evidence=worst.evidence, more=len(same) - 1)
    else:
        evidence = worst.evidence
    tone = STANDING_TONES[worst.verdict]
    return [Cell(text=check_name(name)), Cell(text=worst.verdict.value, tone=tone), Cell(text=evidence)]
