"""Owns what can be said of a run that another tool made: what is known, what isn't, and what its times are."""

from collections.abc import Iterator

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.never_succeeded import in_vain
from brimline.record.imported import ImportedRun, Series
from brimline.units import (
    NS_PER_MS,
    duration_label,
    format_count,
    format_duration,
    format_percentage,
    format_rate,
)
from brimline.wording import Verbatim, joined, message

COARSE_STEPS_MAX = 10
"""A mean of fewer steps of the clock may be wrong by more than a tenth."""


def imported_findings(run: ImportedRun) -> tuple[Finding, ...]:
    """Every check that an imported run allows, and the ones that it doesn't."""
    return (
        Finding("opcounters", Standing.UNKNOWN, "the server's opcounters were not read"),
        _generator(run),
        _clock(run),
        *_offered(run),
        _times(run),
        *_coarse(run),
        _errors(run),
        *_misses(run),
    )


def in_vain_of(run: ImportedRun) -> list[str]:
    """A sentence for each kind of operation of which none succeeded; there is no figure for it.

    One sample that failed shows nothing about its kind: once is not never. It counts where it is all of the run.
    """
    return [
        in_vain(series.operation, series.failed, [row for row in run.errors if row["operation"] == series.operation])
        for series in _failed_whole(run)
        if series.failed > 1 or series.failed == run.operation_count
    ]


def _failed_whole(run: ImportedRun) -> Iterator[Series]:
    """Kinds of operations of which all failed."""
    for series in run.series:
        if series.counted and series.failed and series.failed == series.samples and not series.misses:
            yield series


def _generator(run: ImportedRun) -> Finding:
    text = message("{tool} doesn't tell how busy its own machine was, nor when operations were due", tool=run.tool)
    return Finding("generator_cpu", Standing.UNKNOWN, text)


def _clock(run: ImportedRun) -> Finding:
    """Coordinated omission: what was not sent while the server stalled has no time at all."""
    if run.closed_loop:
        text = "service time of a closed loop: while the server stalls nothing is sent, so that few operations show it"
        return Finding("clock", Standing.WARN, text)
    return Finding("clock", Standing.PASS, "response time from the intended start")


def _offered(run: ImportedRun) -> Iterator[Finding]:
    """Whether a target rate was reached."""
    target, reached = run.printed.target_ops_per_s, throughput_per_s(run)
    if not target or reached is None:
        return
    shown = message("target {target}, reached {reached}", target=format_rate(target), reached=format_rate(reached))
    yield Finding("sent", Standing.PASS if reached >= 0.99 * target else Standing.WARN, shown)


def _times(run: ImportedRun) -> Finding:
    forms = {each.times_from for each in run.shown if each.counted}
    if "groups" in forms:
        text = "some labels came as groups of samples: of these there is a mean and no percentile"
        return Finding("samples", Standing.WARN, text)
    if "summary" in forms:
        text = message(
            "only {tool}'s own summary is there: percentiles as it printed them, and none of all operations together",
            tool=run.tool,
        )
        return Finding("samples", Standing.WARN, text)
    timed = sum(each.timed for each in run.shown if each.counted)
    return Finding(
        "samples", Standing.PASS, message("percentiles are of all {count} samples", count=format_count(timed))
    )


def _coarse(run: ImportedRun) -> Iterator[Finding]:
    """Times in whole milliseconds say little of a mean of a few of them."""
    step_ns = run.value_unit_ns
    if step_ns < NS_PER_MS:
        return
    means = [each.mean_ns for each in run.shown if each.counted and each.timed and each.mean_ns is not None]
    lowest_ns = min(means, default=None)
    if lowest_ns is None or lowest_ns >= COARSE_STEPS_MAX * step_ns:
        return
    text = message(
        "{tool} wrote times in steps of {step}: the lowest mean, {mean}, is uncertain by up to one step",
        tool=run.tool,
        step=duration_label(step_ns),
        mean=format_duration(lowest_ns),
    )
    yield Finding("resolution", Standing.WARN, text)


def _errors(run: ImportedRun) -> Finding:
    if not run.failed_count:
        return Finding("errors", Standing.PASS, "no operation failed")
    if found := in_vain_of(run):
        return Finding("errors", Standing.FAIL, joined("; ", found))
    share = error_share(run)
    most = max(run.errors, key=lambda row: row["count"], default=None)
    evidence = message("{share} of the operations failed", share=format_percentage(share))
    if most is not None:
        what = most["label"] or most["code"] or most["example"]
        evidence = joined("; ", [evidence, message("most often {what}", what=what)])
    for series in _failed_whole(run):
        only = message("the only operation {kind} failed", kind=Verbatim(series.operation))
        evidence = joined("; ", [evidence, only])
    return Finding("errors", Standing.FAIL if share >= 1 else Standing.WARN, evidence)


def _misses(run: ImportedRun) -> Iterator[Finding]:
    missed = sum(each.misses for each in run.shown if each.counted)
    if missed:
        share = missed / max(run.operation_count, 1)
        text = message(
            "{share} of the operations found no document; do keys and loaded data belong together?",
            share=format_percentage(share),
        )
        yield Finding("misses", Standing.WARN if share <= 0.1 else Standing.FAIL, text)


def throughput_per_s(run: ImportedRun) -> float | None:
    """Operations per second that did not fail; None where the run has no length, or an unknown one."""
    is_known = run.duration_ns and run.knows_length
    return (run.operation_count - run.failed_count) * 1e9 / run.duration_ns if is_known else None


def error_share(run: ImportedRun) -> float:
    """Share of the operations that failed."""
    return run.failed_count / run.operation_count if run.operation_count else 0.0
