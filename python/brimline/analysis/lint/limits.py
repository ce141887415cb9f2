"""Owns limits: whether two loads differ by more than noise, and whether more than one run says so."""

import itertools
from collections.abc import Iterator

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint.claims import Claims, Limit
from brimline.analysis.lint.figure import number_text
from brimline.units import format_percentage
from brimline.wording import message

NOISE_SHARE = 0.01
"""Difference between two loads that no single run can tell apart; used where no repeats say more."""


def limit_findings(claims: Claims) -> Iterator[Finding]:
    """Every limit, and every result and comparison that rests on one run."""
    for limit in claims.limits:
        yield _resolution(limit)
        yield from _series(limit)
        yield from _runs(limit.name, limit.runs)
    for result in claims.results:
        yield from _runs(result.name, result.runs)


def _resolution(limit: Limit) -> Finding:
    """The step between the load that held and the one that didn't, against the spread of repeats."""
    step = abs(limit.bad.value - limit.good.value) / max(limit.good.value, 1e-300)
    shown = message(
        "{subject}: {good} held, {bad} did not: a step of {step}",
        subject=limit.name,
        good=number_text(limit.good.value),
        bad=number_text(limit.bad.value),
        step=format_percentage(step),
    )
    noise = _spread(limit)
    if noise is not None:
        evidence = message("{shown}; repeats differ by {noise}", shown=shown, noise=format_percentage(noise))
    else:
        evidence = message("{shown}; it was not repeated", shown=shown)
    known = NOISE_SHARE if noise is None else noise
    if step >= known:
        return Finding("limit_resolution", Standing.PASS, evidence)
    evidence = message("{evidence}: noise, not a threshold; the limit is a band", evidence=evidence)
    return Finding("limit_resolution", Standing.WARN, evidence)


def _spread(limit: Limit) -> float | None:
    values = [each.value for each in limit.repeats]
    return (max(values) - min(values)) / min(values) if len(values) > 1 and min(values) > 0 else None


def _series(limit: Limit) -> Iterator[Finding]:
    """Beyond a threshold time grows with load; where it falls again, chance decided."""
    for (low, slower), (high, faster) in itertools.pairwise(limit.series):
        if high.value > low.value and faster.value + faster.tolerance < slower.value - slower.tolerance:
            evidence = message(
                "{subject}: {high} was faster than {low}; times past the limit don't grow with load, chance decides",
                subject=limit.name,
                high=number_text(high.value),
                low=number_text(low.value),
            )
            yield Finding("limit_series", Standing.WARN, evidence)
            return
    if len(limit.series) > 1:
        yield Finding("limit_series", Standing.PASS, message("{subject}: times grow with load", subject=limit.name))


def _runs(name: str, runs: int | None) -> Iterator[Finding]:
    if runs is None:
        return
    shown = message("{subject}: {runs} runs", subject=name, runs=number_text(runs))
    if runs > 1:
        yield Finding("runs", Standing.PASS, shown)
    else:
        evidence = message("{subject}: one run; how far the next would differ isn't known", subject=name)
        yield Finding("runs", Standing.WARN, evidence)
