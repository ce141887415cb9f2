"""Owns mean and percentiles: their order, whether they can be of one distribution, and of how many samples."""

import itertools
import math
from collections.abc import Iterator, Sequence

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint.claims import Claims, Result
from brimline.analysis.lint.figure import Figure, number_text
from brimline.units import format_duration
from brimline.wording import Message, message

TAIL_COUNT_NEEDED = 10
"""Samples that must lie above a percentile; fewer make it chance."""
_AVERAGE_SPREAD_MIN = 20
"""How many roundings apart percentiles of parts must be before meeting their average is more than chance."""


def distribution_findings(claims: Claims) -> Iterator[Finding]:
    """Everything about the times of every result."""
    for result in claims.results:
        yield from _order(result)
        yield from _mean(result)
        yield from _sample_size(result)
        yield from _window(result)
        yield from _means_only(result)
        if result.parts:
            yield from _of_parts(result, [each for each in claims.results if each.name in result.parts])


def quantile_name(quantile: float) -> str:
    """0.99 is "p99", 0.999 is "p99.9"."""
    return f"p{quantile * 100:.6g}"


def _steps(result: Result) -> list[tuple[str, float, Figure]]:
    """Minimum, percentiles and maximum as (name, quantile, time), ascending by quantile."""
    steps = [(quantile_name(quantile), quantile, time) for quantile, time in sorted(result.percentiles_ns.items())]
    if result.min_ns is not None:
        steps.insert(0, ("min", 0.0, result.min_ns))
    if result.max_ns is not None:
        steps.append(("max", 1.0, result.max_ns))
    return steps


def _order(result: Result) -> Iterator[Finding]:
    steps = _steps(result)
    if len(steps) < 2:
        return
    for (low_name, _, low), (high_name, _, high) in itertools.pairwise(steps):
        if low.value - low.tolerance > high.value + high.tolerance:
            evidence = message(
                "{subject}: {low_name} {low} is above {high_name} {high}",
                subject=result.name,
                low_name=low_name,
                low=format_duration(low.value),
                high_name=high_name,
                high=format_duration(high.value),
            )
            yield Finding("percentile_order", Standing.FAIL, evidence)
            return
    names = " ≤ ".join(name for name, _, _ in steps)
    yield Finding("percentile_order", Standing.PASS, message("{subject}: {names}", subject=result.name, names=names))


def _mean(result: Result) -> Iterator[Finding]:
    """The mean lies between what it would be with every time at the lower, or the upper, end of its step."""
    steps = _steps(result)
    if result.mean_ns is None or not steps or _window_is_partial(result):
        return
    least = most = 0.0
    below = (0.0, Figure(0.0))
    for _, quantile, time in steps:
        share = quantile - below[0]
        least += share * (below[1].value - below[1].tolerance)
        most += share * (time.value + time.tolerance)
        below = (quantile, time)
    least += (1 - below[0]) * (below[1].value - below[1].tolerance)
    most = most if below[0] == 1.0 else math.inf
    mean = result.mean_ns
    shown = message("{subject}: mean {mean}", subject=result.name, mean=format_duration(mean.value))
    # A percentile of few samples is a step off, and a step is worth its own share.
    slack = 1e-3 * max(least, mean.value)
    if mean.value + mean.tolerance < least - slack:
        evidence = message("{shown} is too small: its percentiles need {least} at least", shown=shown,
                           least=format_duration(least))  # fmt: skip
        yield Finding("mean", Standing.FAIL, evidence)
    elif mean.value - mean.tolerance > most + slack:
        evidence = message("{shown} is too large: its percentiles allow {most} at most", shown=shown,
                           most=format_duration(most))  # fmt: skip
        yield Finding("mean", Standing.FAIL, evidence)
    else:
        yield Finding("mean", Standing.PASS, message("{shown} fits its percentiles", shown=shown))


def _sample_size(result: Result) -> Iterator[Finding]:
    """At least ten samples above each percentile, of those that it was computed from."""
    samples = result.percentile_samples or result.samples
    if samples is None or not result.percentiles_ns:
        return
    highest = max(result.percentiles_ns)
    tail = round(samples.value * (1 - highest), 6)
    shown = message(
        "{subject}: {tail} of {samples} samples lie above {name}",
        subject=result.name,
        tail=number_text(math.floor(tail)),
        samples=number_text(samples.value),
        name=quantile_name(highest),
    )
    if tail >= TAIL_COUNT_NEEDED:
        yield Finding("sample_size", Standing.PASS, shown)
        return
    needed = math.ceil(round(TAIL_COUNT_NEEDED / (1 - highest), 6))
    evidence = message("{shown}; it needs {needed} samples", shown=shown, needed=number_text(needed))
    yield Finding("sample_size", Standing.WARN, evidence)


def _window_is_partial(result: Result) -> bool:
    some, every = result.percentile_samples, result.samples
    return some is not None and every is not None and some.value < every.value - every.tolerance


def _window(result: Result) -> Iterator[Finding]:
    """Percentiles are of the same samples as everything else; JMeter's dashboard takes the last 20 000 per label."""
    if not result.percentiles_ns or result.percentile_samples is None or result.samples is None:
        return
    shown = message(
        "{subject}: percentiles are of {some} of {all} samples",
        subject=result.name,
        some=number_text(result.percentile_samples.value),
        all=number_text(result.samples.value),
    )
    if _window_is_partial(result):
        evidence = message("{shown}; the mean is of all, so the two can't be held against each other", shown=shown)
        yield Finding("percentile_window", Standing.WARN, evidence)
    else:
        yield Finding("percentile_window", Standing.PASS, shown)


def _means_only(result: Result) -> Iterator[Finding]:
    if result.mean_ns is not None and not result.percentiles_ns and result.max_ns is None:
        evidence = message("{subject}: a mean and no percentile says nothing of the slow ones", subject=result.name)
        yield Finding("means_only", Standing.WARN, evidence)


def _of_parts(result: Result, parts: Sequence[Result]) -> Iterator[Finding]:
    """A percentile of a whole lies between the smallest and the largest of its parts', and is no average of them.

    One may meet the average by chance; two don't.
    """
    if len(parts) < len(result.parts):
        return
    averages: list[Message] = []
    for quantile, whole in sorted(result.percentiles_ns.items()):
        of_parts = [each.percentiles_ns[quantile] for each in parts if quantile in each.percentiles_ns]
        if len(of_parts) < max(len(parts), 2):
            continue
        low, high = min(of_parts, key=lambda each: each.value), max(of_parts, key=lambda each: each.value)
        shown = message(
            "{subject}: {name} {whole}, of its parts {low} to {high}",
            subject=result.name,
            name=quantile_name(quantile),
            whole=format_duration(whole.value),
            low=format_duration(low.value),
            high=format_duration(high.value),
        )
        if _is_outside(whole, low, high):
            evidence = message("{shown}: it can't lie outside of them", shown=shown)
            yield Finding("merged_percentile", Standing.FAIL, evidence)
        elif _is_average(whole, of_parts, high.value - low.value):
            averages.append(shown)
        else:
            yield Finding("merged_percentile", Standing.PASS, shown)
    for shown in averages:
        evidence = message("{shown}: it is their average, and an average of percentiles is none", shown=shown)
        yield Finding("merged_percentile", Standing.FAIL if len(averages) > 1 else Standing.WARN, evidence)


def _is_outside(whole: Figure, low: Figure, high: Figure) -> bool:
    return (
        whole.value + whole.tolerance < low.value - low.tolerance
        or whole.value - whole.tolerance > high.value + high.tolerance
    )


def _is_average(whole: Figure, of_parts: Sequence[Figure], spread: float) -> bool:
    """Whether the digits say so: parts that are nearly equal have nearly any average."""
    average = sum(each.value for each in of_parts) / len(of_parts)
    rounding = whole.tolerance + max(each.tolerance for each in of_parts)
    return spread > _AVERAGE_SPREAD_MIN * rounding and abs(whole.value - average) <= max(rounding, 1e-9 * average)
