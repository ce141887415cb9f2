"""Owns the objective: the limits that a server has to hold, on quantiles and means of latency, on failures."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

from brimline.units import duration_label, format_percentage
from brimline.wording import joined, message

ObjectiveClock: TypeAlias = Literal["response", "service"]
Statistic: TypeAlias = float | None
"""A quantile of times as a fraction, or None: their mean."""
LatencyKey: TypeAlias = tuple[str | None, ObjectiveClock, Statistic]
"""Operation kind (None: all together), clock and quantile, or None for the mean: which figure of a run is meant."""

P99 = 0.99
TAIL_OPERATIONS_P99 = 0.01
"""Share of the operations above a p99: what the presets' windows are made for."""
COMPLETED_SHARE_MIN = 0.99
"""Share of what was offered below which a rate was not reached."""

MEAN_NAME = "mean"
_QUANTILE_NAME = re.compile(r"p(\d{1,2}(?:\.\d{1,4})?)")


def parse_quantile(name: str) -> float:
    """The quantile called `p99` or `p99.9`, as a fraction. Raises ValueError; from p50 up to p99.9999."""
    match = _QUANTILE_NAME.fullmatch(name)
    if match is None:
        raise ValueError(f'"{name}" names no percentile; write p50, p95, p99 or p99.9')
    percent = float(match.group(1))
    if percent < 50:
        raise ValueError(f"{name} is below the median; write p50 or a higher percentile")
    return round(percent / 100, 8)


def parse_statistic(name: str) -> Statistic:
    """The quantile called `p99`, or None for `mean`. Raises ValueError."""
    return None if name == MEAN_NAME else parse_quantile(name)


def quantile_name(quantile: Statistic) -> str:
    """`p99` for 0.99, `p99.9` for 0.999, `mean` for the mean."""
    return MEAN_NAME if quantile is None else f"p{quantile * 100:.10g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyObjective:
    """At most `limit_ns` at this quantile, None: on the mean; of one operation kind, or of all together (None)."""

    limit_ns: int = 10_000_000
    quantile: Statistic = 0.99
    operation: str | None = None
    clock: ObjectiveClock = "response"

    def __post_init__(self) -> None:
        if self.quantile is not None and not 0.5 <= self.quantile < 1:
            raise ValueError(f"an objective is on a quantile from 0.5 to below 1, not on {self.quantile:g}")
        if self.limit_ns <= 0:
            raise ValueError("a latency objective needs a limit above 0")

    @property
    def key(self) -> LatencyKey:
        """Which figure of a run it is about."""
        return (self.operation, self.clock, self.quantile)

    @property
    def interval_quantile(self) -> Statistic:
        """The quantile by which single intervals are known for this limit: its own up to p99, or the mean (None).

        An interval holds too few operations for a rarer one, and of one kind perhaps none: then p99 of them all.
        """
        if self.operation is not None:
            return P99
        return None if self.quantile is None else min(self.quantile, P99)

    @property
    def name(self) -> str:
        """`response p99`, or `read response p95`."""
        figure = message("{clock} {quantile}", clock=self.clock, quantile=quantile_name(self.quantile))
        return figure if self.operation is None else message("{kind} {figure}", kind=self.operation, figure=figure)

    @property
    def short_name(self) -> str:
        """`p99`, or `read p95`: where the clock is said beside it."""
        name = quantile_name(self.quantile)
        return name if self.operation is None else message("{kind} {figure}", kind=self.operation, figure=name)

    @property
    def text(self) -> str:
        """`response p99 ≤ 10 ms`."""
        return message("{name} ≤ {limit}", name=self.name, limit=duration_label(self.limit_ns))

    @property
    def short_text(self) -> str:
        """`p99 ≤ 10 ms`."""
        return message("{name} ≤ {limit}", name=self.short_name, limit=duration_label(self.limit_ns))


def interval_quantiles(limits: Sequence[LatencyObjective]) -> tuple[Statistic, ...]:
    """The quantiles by which intervals have to be known for `limits`, the mean first; p99 where nothing is promised."""
    return tuple(sorted({each.interval_quantile for each in limits} or {P99}, key=lambda each: each or 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorObjective:
    """At most this share of operations fails; of one operation kind, or of all together (None).

    `asked`: whether somebody asked for it. The limit that holds beside others doesn't, so that a short look that nobody
    meant to prove it with is not left open by it.
    """

    share_max: float = 0.001
    operation: str | None = None
    asked: bool = False

    @property
    def text(self) -> str:
        """`errors ≤ 0.1 %`."""
        of_kind = message("{kind} {figure}", kind=self.operation, figure="errors")
        name = "errors" if self.operation is None else of_kind
        return message("{name} ≤ {limit}", name=name, limit=format_percentage(self.share_max))


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """What counts as sustained: every one of these limits holds."""

    latencies: tuple[LatencyObjective, ...] = (LatencyObjective(),)
    errors: tuple[ErrorObjective, ...] = (ErrorObjective(),)
    completed_share_min: float = COMPLETED_SHARE_MIN

    def __post_init__(self) -> None:
        if not self.latencies:
            raise ValueError("an objective needs a limit on latency")

    @property
    def leading(self) -> LatencyObjective:
        """The limit that charts show: the highest quantile of all operations, else of the first kind; means last."""
        return max(self.latencies, key=lambda each: (each.operation is None, each.quantile or 0.0))

    @property
    def error_rate_max(self) -> float | None:
        """Limit on the share of failures of all operations together."""
        return next((each.share_max for each in self.errors if each.operation is None), None)

    @property
    def latency_text(self) -> str:
        """`response p99 ≤ 10 ms, read response p95 ≤ 3 ms`."""
        return joined(", ", [each.text for each in self.latencies])

    @property
    def short_text(self) -> str:
        """`p99 ≤ 10 ms, errors ≤ 0.1 %`."""
        return joined(", ", [*(each.short_text for each in self.latencies), *(each.text for each in self.errors)])

    def operations(self) -> Iterator[str]:
        """The operation kinds that have a limit of their own."""
        kinds = [*(each.operation for each in self.latencies), *(each.operation for each in self.errors)]
        yield from dict.fromkeys(kind for kind in kinds if kind is not None)

    def on_service_time(self) -> Self:
        """The same limits on service time: in a closed loop there is no response time."""
        return replace(self, latencies=tuple(replace(each, clock="service") for each in self.latencies))

    def with_leading_limit(self, limit_ns: int) -> Self:
        """The same objective with another limit on its leading quantile."""
        leading = self.leading
        return replace(
            self,
            latencies=tuple(replace(each, limit_ns=limit_ns) if each is leading else each for each in self.latencies),
        )
