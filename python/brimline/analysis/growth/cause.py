"""Owns what coincides with a breakpoint: which of the server's signals began where the course changed.

A signal begins between the last volume at which it was below its threshold and the first from which on it mostly lies
above. It coincides when that stretch touches the breakpoint's interval, a step wider on either side. That is no proof,
but what was there from the first volume on, or never came, is ruled out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from brimline.analysis.bottleneck.cache import EVICTIONS_NEAR
from brimline.analysis.bottleneck.disk import BUSY_SHARE_NEAR
from brimline.analysis.growth.figures import Signals
from brimline.stats.estimate import Estimate
from brimline.units import format_count, format_number, format_percentage
from brimline.wording import message

MISSES_PER_OPERATION = 0.02
"""Pages read into the cache per query or document: one operation in fifty finds a page missing."""
CHECKPOINT_SHARE = 0.5
"""Share of the looks at which a checkpoint ran."""
CACHE_USABLE_SHARE = 0.8
"""WiredTiger's `eviction_target`: from there on it makes room, so that a cache of 1 GB holds 0.8 GB at rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A signal that began at the breakpoint. `from_records` to `to_records`: between which volumes."""

    name: str
    from_records: int
    to_records: int
    text: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    threshold: float
    of: Callable[[Signals], float | None]
    words: Callable[[float], str]


def coincident_causes(
    position: Estimate,
    signals: Sequence[tuple[int, Signals]],
    *,
    index_bytes: Sequence[tuple[int, int | None]],
    importing: bool,
) -> tuple[Cause, ...]:
    """The signals that began at the break, the cache first; none where nothing coincides. Volumes ascend."""
    cache_bytes = next((each.cache_bytes_max for _, each in signals if each.cache_bytes_max), None)
    series: list[tuple[str, float, list[tuple[int, float | None]], Callable[[float], str]]] = [
        (candidate.name, candidate.threshold, [(at, candidate.of(each)) for at, each in signals], candidate.words)
        for candidate in _candidates(importing=importing)
    ]
    if cache_bytes:
        shares = [(at, None if size is None else size / cache_bytes) for at, size in index_bytes]
        series.append(("indexes past the cache", CACHE_USABLE_SHARE, shares, _index_words))
    found = []
    for name, threshold, points, words in series:
        began = onset([(at, value) for at, value in points if value is not None], threshold)
        if began is not None and _touches(position, began, [at for at, _ in signals]):
            found.append(Cause(name=name, from_records=began[0], to_records=began[1], text=_text(began, words)))
    return tuple(found)


def onset(points: Sequence[tuple[int, float]], threshold: float) -> tuple[int, int, float] | None:
    """Between which two volumes a signal began, and what it came to; None: it was there at once, or never came."""
    for index in range(1, len(points)):
        rest = [value for _, value in points[index:]]
        if points[index - 1][1] < threshold <= min(points[index][1], median(rest)):
            return points[index - 1][0], points[index][0], rest[-1]
    return None


def _touches(position: Estimate, began: tuple[int, int, float], volumes: Sequence[int]) -> bool:
    step = max((after - before for before, after in pairwise(volumes)), default=0)
    return began[0] <= position.high + step and began[1] >= position.low - step


def _candidates(*, importing: bool) -> tuple[_Candidate, ...]:
    past = "indexes' working set past the cache" if importing else "collection past the cache"
    each = "document" if importing else "query"
    return (
        _Candidate(
            past,
            MISSES_PER_OPERATION,
            lambda signals: signals.cache_pages_read,
            lambda value: message(
                "{name}: {count} pages read into it per {each}", name=past, count=format_number(value), each=each
            ),
        ),
        _Candidate(
            "eviction by clients' threads",
            EVICTIONS_NEAR,
            lambda signals: signals.evictions_by_application,
            lambda value: message(
                "clients' threads evict: {count} pages per {each}", count=format_number(value), each=each
            ),
        ),
        _Candidate(
            "checkpoints",
            CHECKPOINT_SHARE,
            lambda signals: signals.checkpoint_share,
            lambda value: message("a checkpoint runs {share} of the time", share=format_percentage(value)),
        ),
        _Candidate(
            "disk",
            BUSY_SHARE_NEAR,
            lambda signals: signals.disk_busy_share,
            lambda value: message("the disk is busy {share} of the time", share=format_percentage(value)),
        ),
    )


def _index_words(value: float) -> str:
    return message("indexes past the cache: {share} of its size", share=format_percentage(value))


def _text(began: tuple[int, int, float], words: Callable[[float], str]) -> str:
    return message(
        "{what} at the last volume, begun between {low} and {high} records",
        what=words(began[2]),
        low=format_count(began[0]),
        high=format_count(began[1]),
    )
