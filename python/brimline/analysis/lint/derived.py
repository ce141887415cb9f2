"""Owns figures of a result that follow from others by one multiplication or division."""

from collections.abc import Callable, Iterator

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint.claims import Result
from brimline.analysis.lint.figure import Comparison, Figure, compare, number_text, product, quotient
from brimline.units import NS_PER_S, format_bytes, format_duration, format_percentage
from brimline.wording import message


def derived_findings(result: Result) -> Iterator[Finding]:
    """Every derived figure of `result` that can be recomputed."""
    for check in (_throughput, _time_per_operation, _error_share, _documents_per_s, _volume, _bytes_per_s):
        finding = check(result)
        if finding is not None:
            yield finding


def _throughput(result: Result) -> Finding | None:
    recomputed = quotient(result.samples, result.duration_s)
    return _finding("throughput", result, result.throughput_per_s, recomputed, _per_s, "samples / duration")


def _time_per_operation(result: Result) -> Finding | None:
    duration_ns = None if result.duration_s is None else result.duration_s.times(NS_PER_S)
    recomputed = quotient(duration_ns, result.samples)
    return _finding(
        "time_per_operation", result, result.time_per_operation_ns, recomputed, format_duration, "duration / samples"
    )


def _error_share(result: Result) -> Finding | None:
    """A share that doesn't fit names the number of samples that it would fit."""
    count, share = result.error_count, result.error_share
    recomputed = quotient(count, result.samples)
    finding = _finding("error_share", result, share, recomputed, format_percentage, "errors / samples")
    if finding is None or finding.verdict is not Standing.FAIL or count is None or share is None or not share.value:
        return finding
    implied = message(
        "{evidence}; {share} of errors would mean {samples} samples",
        evidence=finding.evidence,
        share=format_percentage(share.value),
        samples=number_text(round(count.value / share.value)),
    )
    return Finding(finding.name, finding.verdict, implied)


def _documents_per_s(result: Result) -> Finding | None:
    recomputed = quotient(result.documents, result.duration_s)
    return _finding("documents_per_s", result, result.documents_per_s, recomputed, _per_s, "documents / duration")


def _volume(result: Result) -> Finding | None:
    recomputed = product(result.documents, result.document_bytes)
    return _finding("volume", result, result.volume_bytes, recomputed, format_bytes, "documents × size")


def _bytes_per_s(result: Result) -> Finding | None:
    """A warning at most: data may be compressed, or padded, where the bytes were counted."""
    volume, how = product(result.documents, result.document_bytes), "documents × size / duration"
    if volume is None:
        volume, how = result.volume_bytes, "volume / duration"
    recomputed = quotient(volume, result.duration_s)
    finding = _finding("bytes_per_s", result, result.bytes_per_s, recomputed, _bytes_rate, how)
    if finding is None or finding.verdict is not Standing.FAIL:
        return finding
    evidence = message("{evidence}; bytes on disk or on the network must be called so", evidence=finding.evidence)
    return Finding(finding.name, Standing.WARN, evidence)


def _finding(
    name: str,
    result: Result,
    claimed: Figure | None,
    recomputed: Figure | None,
    form: Callable[[float], str],
    how: str,
) -> Finding | None:
    """None where the report doesn't say enough to hold one against the other."""
    if claimed is None or recomputed is None:
        return None
    return stated(name, result.name, compare(claimed, recomputed), form(claimed.value), form(recomputed.value), how)


def stated(name: str, subject: str, comparison: Comparison, claimed: str, recomputed: str, how: str) -> Finding:
    """A comparison in words."""
    if comparison.standing is Standing.PASS:
        evidence = message("{subject}: {claimed} is {how}", subject=subject, claimed=claimed, how=how)
    else:
        evidence = message(
            "{subject}: says {claimed}, but {how} is {recomputed}{remark}",
            subject=subject,
            claimed=claimed,
            how=how,
            recomputed=recomputed,
            remark=comparison.remark,
        )
    return Finding(name, comparison.standing, evidence)


def _per_s(value: float) -> str:
    return f"{number_text(value)}/s"


def _bytes_rate(value: float) -> str:
    return f"{format_bytes(value)}/s"
