"""Owns what a late generator changes: how much of each stated response time its lag can be.

Response time is what the operation would have taken, and how much later than due the generator sent it. Which lag
belongs to which response is not recorded, so that a figure without the lag is known from two sides only: it is no
larger than the figure, no smaller than service time at the same quantile, nor than what `stats.delay_bound` says.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from brimline.analysis.cpu_use import ServerCpu, server_fills_shared_host
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.latency import Latency
from brimline.analysis.objective import Statistic
from brimline.analysis.quantile_text import p99_text
from brimline.analysis.unsent import HELD_BACK_SHARE_MAX
from brimline.record.model import RunRecord
from brimline.stats.delay_bound import least_without
from brimline.stats.proportion import share_interval
from brimline.stats.quantile_interval import Buckets, Ranked, merge_buckets, rank_of
from brimline.units import format_count, format_duration, format_percentage
from brimline.wording import message

LAG_CHECK = "generator_lag"
"""Name of the finding."""
LAG_SHARE_TOLD = 0.10
"""Part of a figure from which lag is told beside it: more than runs differ by from each other."""
LAG_SHARE_SPOILS = 0.50
"""Part from which a figure is more the generator's than the server's."""
LAG_SHARE_RESOLVED = 0.001
"""Part below which histograms don't tell."""
OWN_LATE_SHARE_MAX = 0.01
"""Share of operations sent late, of so few that a p99 has no upper bound, that chance may be the reason for; and above
which the generator limits a probe of a search."""
OWN_LATE_PART_OF_HELD_BACK_MAX = 0.25
"""The same as a part of those that waited for a connection: near a server's limit both go together."""
LAG_PART_OF_RESPONSE_MAX = 0.25
"""Part of the response p99 by which operations have to be late for the generator to limit a probe of a search."""


@dataclass(frozen=True, slots=True)
class LagEffect:
    """A response time, and what it would be at least had the generator sent on time; both in ns."""

    response_ns: int
    without_ns: int

    @property
    def share(self) -> float:
        """How much of the figure the lag is at most."""
        return (self.response_ns - self.without_ns) / self.response_ns if self.response_ns else 0.0

    @property
    def spoils(self) -> bool:
        """Whether the figure may be more the generator's than the server's."""
        return self.share >= LAG_SHARE_SPOILS


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """How late the generator itself was in an open loop against a server, waits for connections left out.

    `effects` by operation kind (None: all) and quantile (None: the mean). `late_count`: operations later than a tenth
    of the response p99. `excuse`: why the lag doesn't count against the generator; "" where it does. `limits`: whether
    a search takes the generator for what limited it.
    """

    effects: Mapping[tuple[str | None, Statistic], LagEffect]
    late_count: int
    excuse: Literal["", "waited", "host"]
    limits: bool

    def effect(self, operation: str | None, quantile: Statistic) -> LagEffect | None:
        """What counts against the generator at this figure; None without such lag."""
        return None if self.excuse else self.effects.get((operation, quantile))


def lateness(
    record: RunRecord,
    responses: Mapping[str | None, Latency],
    *,
    service: Latency | None,
    lag: Latency | None,
    held_back_share: float | None,
    server: ServerCpu,
) -> Lateness | None:
    """What the lags of `record` make of its `responses`, which are by kind; None where there is nothing to hold."""
    whole = responses.get(None)
    own = {kind: _own_lags(record, kind) for kind in responses if kind is not None}
    lags = merge_buckets(list(own.values()))
    if record.closed_loop or record.plan.target.kind == "null" or not lags:
        return None
    if whole is None or service is None or lag is None:
        return None
    count = sum(each for _, each in lags)
    late_count = _later(lags, LAG_SHARE_TOLD * whole.completed_p99_ns)
    waited = held_back_share or 0.0
    let_pass = OWN_LATE_PART_OF_HELD_BACK_MAX * waited
    excuse: Literal["", "waited", "host"] = "host" if server_fills_shared_host(server) else ""
    if waited > HELD_BACK_SHARE_MAX and late_count <= let_pass * count:
        excuse = "waited"
    median_late = 0 if service.p50_ns is None else _later(lags, service.p50_ns)
    decisive = _later(lags, LAG_PART_OF_RESPONSE_MAX * whole.completed_p99_ns)
    return Lateness(
        effects={
            (kind, quantile): each
            for kind, known in responses.items()
            for quantile, each in _effects(record, kind, known, lags if kind is None else own[kind]).items()
        },
        late_count=late_count,
        excuse=excuse,
        limits=(
            excuse != "host"
            and median_late > max(OWN_LATE_SHARE_MAX, let_pass) * count
            and decisive > OWN_LATE_SHARE_MAX * count
            and not _by_chance(median_late, count, lag)
        ),
    )


def lag_finding(late: Lateness, *, lag: Latency, response: Latency, waited: float, in_time: bool) -> Finding:
    """What the lag makes of the response p99, the figure that every run states.

    `waited`: share of the operations that waited for a connection. `in_time`: the limits that an objective sets on
    response times are met in spite of the lag, which only makes them longer.
    """
    effect = late.effects[None, 0.99]
    evidence = lag_text(lag, response, effect)
    if late.excuse == "waited":
        waiting = message("{share} of the operations waited for a free connection", share=format_percentage(waited))
        return Finding(LAG_CHECK, Standing.PASS, waiting)
    if effect.share < LAG_SHARE_TOLD:
        return Finding(LAG_CHECK, Standing.PASS, evidence)
    if _by_chance(late.late_count, lag.count, lag):
        evidence = message(
            "{late} of {count} operations were sent late, too few to tell: {evidence}, largest lag {largest}",
            late=format_count(late.late_count),
            count=format_count(lag.count),
            evidence=evidence,
            largest=format_duration(lag.max_ns),
        )
        return Finding(LAG_CHECK, Standing.WARN, evidence)
    evidence = message("the generator sent late: {evidence}", evidence=evidence)
    if late.excuse == "host":
        evidence = message("{evidence}; the server filled the host that both share", evidence=evidence)
        return Finding(LAG_CHECK, Standing.WARN, evidence)
    if in_time and effect.spoils:
        evidence = message("{evidence}; response times are within the objective in spite of it", evidence=evidence)
        return Finding(LAG_CHECK, Standing.WARN, evidence)
    return Finding(LAG_CHECK, Standing.FAIL if effect.spoils else Standing.WARN, evidence)


def lag_text(lag: Latency, response: Latency, effect: LagEffect) -> str:
    """`lag p99 210 µs, at most 1 % of the response p99 of 20.0 ms`."""
    return message(
        "{lag}, at most {share} of the response p99 of {response}",
        lag=_lag_p99_text(lag),
        share=format_percentage(max(effect.share, LAG_SHARE_RESOLVED)),
        response=p99_text(response) if response.p99.printed_ns is not None else format_duration(effect.response_ns),
    )


def _lag_p99_text(lag: Latency) -> str:
    """The p99 as any other, a figure or a bound; the largest where there are too few operations for either."""
    if lag.p99.low_ns is None and not lag.missing:
        return message("lag at most {largest}", largest=format_duration(lag.max_ns))
    return message("lag p99 {lag}", lag=p99_text(lag))


def _by_chance(late_count: int, count: int, of: Latency) -> bool:
    """Whether chance can be why so many of so few operations were late: those whose p99 has no upper bound."""
    is_thin = of.p99.high_ns is None and not of.p99.is_open
    return is_thin and share_interval(late_count, count)[0] <= OWN_LATE_SHARE_MAX


def _effects(record: RunRecord, kind: str | None, known: Latency, lags: Buckets) -> dict[Statistic, LagEffect]:
    """By quantile of all that was due, and of the mean; where it lies among what never completed, of what did."""
    response, service = (_completed(record, kind, clock) for clock in ("response", "service"))
    delay = Ranked(lags)
    if not response.count or not service.count or not delay.count:
        return {}
    lag_ns = sum(value * count for value, count in lags) / delay.count
    mean_ns = round(known.mean_ns)
    found: dict[Statistic, LagEffect] = {None: LagEffect(mean_ns, max(0, round(known.mean_ns - lag_ns)))}
    for quantile in known.quantiles:
        rank = rank_of(response.count + known.missing, quantile)
        rank = rank if rank <= response.count else rank_of(response.count, quantile)
        total_ns = response.value_at(rank)
        served_ns = service.value_at(min(rank, service.count))
        found[quantile] = LagEffect(total_ns, min(total_ns, max(served_ns, least_without(response, delay, rank))))
    return found


def _completed(record: RunRecord, kind: str | None, clock: str) -> Ranked:
    found = [each for (of, its), each in record.histograms.items() if its == clock and kind in (None, of)]
    return Ranked(merge_buckets([each.buckets() for each in found]))


def _own_lags(record: RunRecord, kind: str) -> Buckets:
    """The lags of one kind, 0 for what waited for a connection.

    Records of before the lag of those was kept say only how many they were: then they are the latest.
    """
    lags = record.histograms.get((kind, "lag"))
    if lags is None:
        return []
    left = Counter(dict(lags.buckets()))
    waits = record.breakdown.get((kind, "held_back_lag"))
    if waits is not None:
        waited = dict(waits.buckets())
    else:
        measured = (row for row in record.operations if row["phase"] == "measure" and row["operation"] == kind)
        held = sum(row["held_back"] for row in measured)
        waited = {}
        for lag_ns in sorted(left, reverse=True):
            waited[lag_ns] = min(held, left[lag_ns])
            held -= waited[lag_ns]
    own = {lag_ns: max(0, count - waited.get(lag_ns, 0)) for lag_ns, count in left.items()}
    own[0] = own.get(0, 0) + sum(left.values()) - sum(own.values())
    return sorted((lag_ns, count) for lag_ns, count in own.items() if count)


def _later(lags: Buckets, than_ns: float) -> int:
    return sum(count for lag_ns, count in lags if lag_ns > than_ns)
