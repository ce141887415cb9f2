"""Owns Little's law, X·R = N: whether throughput and time fit the number of threads, and what that says of limits."""

from collections.abc import Iterator

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lint.claims import Claims, Result
from brimline.analysis.lint.figure import number_text
from brimline.units import NS_PER_S
from brimline.wording import message

ABOVE_MAX = 0.05
"""Share by which X·R may exceed the number of threads: rates and means are of slightly different windows."""
BELOW_MAX = 0.10
"""Share of the threads that may be missing from X·R before threads count as idle."""
GAIN_MIN = 0.05
"""Gain of throughput from which more threads did give more."""


def concurrency_findings(claims: Claims) -> Iterator[Finding]:
    """The law for each result that has all three figures, and whether its limit is one."""
    for result in claims.results:
        in_flight = _in_flight(result)
        if in_flight is not None:
            yield _law(result, in_flight)
        if result.is_limit and result.threads is not None:
            yield _limit(result, in_flight, claims)


def _in_flight(result: Result) -> float | None:
    """Mean number of operations under way, X·R; the law: J. D. C. Little, Operations Research 9 (1961), 383."""
    if result.throughput_per_s is None or result.mean_ns is None or result.threads is None:
        return None
    return result.throughput_per_s.value * result.mean_ns.value / NS_PER_S


def _law(result: Result, in_flight: float) -> Finding:
    threads = result.threads.value if result.threads is not None else 0.0
    rounding = sum(
        each.tolerance / each.value for each in (result.throughput_per_s, result.mean_ns) if each and each.value
    )
    shown = message(
        "{subject}: throughput × mean time is {in_flight}, threads {threads}",
        subject=result.name,
        in_flight=number_text(round(in_flight, 1)),
        threads=number_text(threads),
    )
    if in_flight > threads * (1 + ABOVE_MAX + rounding + _edge(result)):
        evidence = message("{shown}: more were under way than there are threads", shown=shown)
        return Finding("littles_law", Standing.FAIL, evidence)
    if in_flight < threads * (1 - BELOW_MAX - rounding):
        evidence = message(
            "{shown}: threads were idle, so they paused, started late, ended early, or waited in the generator",
            shown=shown,
        )
        return Finding("littles_law", Standing.WARN, evidence)
    return Finding("littles_law", Standing.PASS, shown)


def _edge(result: Result) -> float:
    """Share by which X·R may be above the threads at both ends of the window, by the longest time in it.

    What ended in it began earlier. And what lay ready in a driver's process was handed over within it, and began after.
    """
    if result.max_ns is None or result.samples is None or result.throughput_per_s is None or not result.samples.value:
        return 0.0
    return 2 * result.max_ns.value * result.throughput_per_s.value / NS_PER_S / result.samples.value


def _limit(result: Result, in_flight: float | None, claims: Claims) -> Finding:
    """A limit needs a level with more threads and no more throughput."""
    name = "limit"
    threads = result.threads.value if result.threads is not None else 0.0
    throughput = result.throughput_per_s.value if result.throughput_per_s is not None else None
    higher = [
        each
        for each in claims.results
        if each.threads is not None and each.threads.value > threads and each.throughput_per_s is not None
        and each.work == result.work
    ]  # fmt: skip
    if throughput is not None and any(_gains_nothing(each, throughput) for each in higher):
        text = message("{subject}: more threads gave no more throughput", subject=result.name)
        return Finding(name, Standing.PASS, text)
    if higher:
        text = message("{subject}: more threads gave more throughput; it is no limit", subject=result.name)
        return Finding(name, Standing.FAIL, text)
    if in_flight is not None and in_flight >= threads * (1 - BELOW_MAX):
        text = message(
            "{subject}: all {threads} threads were busy all the time and no other number was tried; "
            "the number of threads bound the load, no limit was found",
            subject=result.name,
            threads=number_text(threads),
        )
        return Finding(name, Standing.WARN, text)
    text = message("{subject}: no result with more threads shows that it is a limit", subject=result.name)
    return Finding(name, Standing.WARN, text)


def _gains_nothing(result: Result, throughput: float) -> bool:
    return result.throughput_per_s is not None and result.throughput_per_s.value <= throughput * (1 + GAIN_MIN)
