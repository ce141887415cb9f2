"""Owns whether the server itself had settled: fill of its cache, the dirty part of it, checkpoints that passed.

Columns of a monitor row that are read here, all optional: `at_ns` (the run's clock), `cache_bytes_used`,
`cache_bytes_dirty`, `cache_bytes_max`, `checkpoints` (a counter). What the server doesn't show is not judged.
"""

from collections.abc import Sequence

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.server_window import ServerWindow
from brimline.record.model import ServerRow
from brimline.stats.stationarity import VALUE_COUNT_MIN, slope_change
from brimline.units import format_percentage
from brimline.wording import message

CACHE_GROWTH_MIN = 0.05
"""Share of the cache by which fill or dirty pages must grow over a window to count."""
CACHE_FULL_SHARE = 0.80
"""Share of the cache from which WiredTiger evicts (`eviction_target`): a cache this full has stopped filling."""
CHECKPOINTS_MIN = 2
"""Checkpoints that must have passed since the run began to have seen what they do, and what comes after them."""
ALPHA = 0.01


def server_checks(rows: Sequence[ServerRow], *, start_ns: int, end_ns: int) -> list[Finding]:
    """Cache fill, dirty share and checkpoints as far as the monitor saw them; empty without rows.

    A trend is looked for between `start_ns` and `end_ns`, checkpoints from the start of the run on. Where a followed
    set got another primary in between, the cache is the last one's.
    """
    window = ServerWindow.of(rows, start_ns=start_ns, end_ns=end_ns).latest_stay()
    whole_run = ServerWindow.of(rows, start_ns=0, end_ns=end_ns)
    found = [_cache_fill(window), _dirty_share(window), _checkpoints(whole_run)]
    return [finding for finding in found if finding is not None]


def _cache_fill(window: ServerWindow) -> Finding | None:
    shares = window.shares("cache_bytes_used", "cache_bytes_max")
    if len(shares) < VALUE_COUNT_MIN:
        return None
    growing = _grows(shares) and shares[-1] < CACHE_FULL_SHARE
    if not growing:
        evidence = message("cache {share} full", share=format_percentage(shares[-1]))
        return Finding("cache_fill", Standing.PASS, evidence)
    evidence = message(
        "the cache still fills, from {first} to {last}",
        first=format_percentage(shares[0]),
        last=format_percentage(shares[-1]),
    )
    return Finding("cache_fill", Standing.WARN, evidence)


def _dirty_share(window: ServerWindow) -> Finding | None:
    shares = window.shares("cache_bytes_dirty", "cache_bytes_max")
    if len(shares) < VALUE_COUNT_MIN:
        return None
    if not _grows(shares):
        evidence = message("up to {share} of it dirty", share=format_percentage(max(shares)))
        return Finding("cache_dirty", Standing.PASS, evidence)
    evidence = message(
        "the dirty part of the cache still grows, from {first} to {last}",
        first=format_percentage(shares[0]),
        last=format_percentage(shares[-1]),
    )
    return Finding("cache_dirty", Standing.WARN, evidence)


def _checkpoints(window: ServerWindow) -> Finding | None:
    grown = window.growth("checkpoints")
    if grown is None:
        return None
    passed = int(grown)
    if passed >= CHECKPOINTS_MIN:
        return Finding("checkpoints", Standing.PASS, message("{count} checkpoints passed", count=passed))
    evidence = message(
        "{count} checkpoint passed, {needed} show what they do"
        if passed == 1
        else "{count} checkpoints passed, {needed} show what they do",
        count=passed,
        needed=CHECKPOINTS_MIN,
    )
    return Finding("checkpoints", Standing.UNKNOWN, evidence)


def _grows(shares: Sequence[float]) -> bool:
    slope = slope_change(shares)
    return slope.p_value < ALPHA and slope.amount >= CACHE_GROWTH_MIN
