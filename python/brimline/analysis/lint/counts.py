"""Owns counts: planned against sent, claimed against counted by the server, a whole against its parts."""

from collections.abc import Iterator

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint.claims import Claims, Result
from brimline.analysis.lint.figure import Figure, factor_remark, number_text
from brimline.units import format_percentage
from brimline.wording import message

SHORTFALL_MAX = 0.001
"""Share of planned operations that may be missing."""
COUNTED_GAP_MAX = 0.001
"""Gap between what was sent and what the server counted from which one of them is wrong."""


def count_findings(claims: Claims) -> Iterator[Finding]:
    """Counts of every result."""
    for result in claims.results:
        yield from _planned(result)
        yield from (_counted(result, name, counted) for name, counted in result.counted.items())
        if result.parts:
            yield from _parts(result, claims)


def _planned(result: Result) -> Iterator[Finding]:
    planned = result.planned
    if planned is None and result.threads is not None and result.loops is not None:
        planned = result.threads * result.loops
    if planned is None or result.samples is None or planned.value <= 0:
        return
    missing = planned.value - result.samples.value
    shown = message(
        "{subject}: planned {planned}, sent {sent}",
        subject=result.name,
        planned=number_text(planned.value),
        sent=number_text(result.samples.value),
    )
    allowed = planned.tolerance + result.samples.tolerance
    if missing < -allowed:
        evidence = message("{shown}: more than planned", shown=shown)
        yield Finding("planned", Standing.FAIL, evidence)
    elif missing - allowed > SHORTFALL_MAX * planned.value:
        evidence = message(
            "{shown}: {share} never went out{remark}",
            shown=shown,
            share=format_percentage(missing / planned.value),
            remark=factor_remark(result.samples.value, planned.value),
        )
        yield Finding("planned", Standing.WARN, evidence)
    else:
        yield Finding("planned", Standing.PASS, shown)


def _counted(result: Result, name: str, counted: Figure) -> Finding:
    claimed = {"samples": result.samples, "documents": result.documents}.get(name)
    if claimed is None:
        evidence = message("{subject}: {name} were counted but not claimed", subject=result.name, name=name)
        return Finding("counted", Standing.UNKNOWN, evidence)
    shown = message(
        "{subject}: {claimed} {name} claimed, {counted} counted by the server",
        subject=result.name,
        claimed=number_text(claimed.value),
        name=name,
        counted=number_text(counted.value),
    )
    gap = abs(claimed.value - counted.value) - claimed.tolerance - counted.tolerance
    if gap <= 0:
        return Finding("counted", Standing.PASS, shown)
    wrong = gap > COUNTED_GAP_MAX * max(claimed.value, counted.value)
    return Finding("counted", Standing.FAIL if wrong else Standing.WARN, shown)


def _parts(result: Result, claims: Claims) -> Iterator[Finding]:
    parts = [each for each in claims.results if each.name in result.parts]
    for label, of in (("samples", "samples"), ("errors", "error_count"), ("documents", "documents")):
        whole, of_parts = getattr(result, of), [getattr(each, of) for each in parts]
        if whole is None or None in of_parts or len(parts) < len(result.parts):
            continue
        total = sum((each.value for each in of_parts), 0.0)
        allowed = whole.tolerance + sum(each.tolerance for each in of_parts)
        standing = Standing.PASS if abs(whole.value - total) <= allowed else Standing.FAIL
        evidence = message(
            "{subject}: {whole} {label}, its parts have {total}",
            subject=result.name,
            whole=number_text(whole.value),
            label=label,
            total=number_text(total),
        )
        yield Finding("parts", standing, evidence)
