"""Owns what a comparison says of one figure: the values of both sides, the change, and its verdict."""

from dataclasses import dataclass
from typing import Literal

from brimline.analysis.compared_run import Metric
from brimline.analysis.judged_change import ChangeVerdict
from brimline.stats.change import Change

Bound = Literal["", "≥", "≤"]
"""Of a value that is no figure: the end that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric: a typical run of A and of B, and what changed.

    `a` and `b` are geometric means over runs, means where the metric is absolute. `change` is None, and the verdict
    "no claim", where a side has fewer than two runs with this figure. `floor` is what runs of A differ by among
    themselves (see `noise_floor`): no change within it is called one, nor is it equivalence, which asks for `margin`
    however noisy the machine is. `of_every_run`: no run lacks the figure; in a closed loop those that lack a percentile
    are the slow ones.
    """

    metric: Metric
    a: float
    b: float
    a_runs: tuple[float, ...]
    b_runs: tuple[float, ...]
    change: Change | None
    adjusted_p: float | None
    verdict: ChangeVerdict
    margin: float
    floor: float | None
    of_every_run: bool = True
    a_bound: Bound = ""
    b_bound: Bound = ""

    @property
    def worsening(self) -> Change | None:
        """The change with its sign turned so that more is worse."""
        return self.change.reversed if self.change is not None and self.metric.higher_is_better else self.change


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A metric that decides, of which a side has no figure, and why, by side."""

    metric: Metric
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileChange:
    """One quantile of the whole distribution, with what is said of its shift; see `QuantileShift`.

    A quantile that is a metric of every run has the metric's change, p and verdict: it is the same figure.
    """

    quantile: float
    a_ns: int
    b_ns: int
    change: Change | None
    adjusted_p: float | None
    verdict: ChangeVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A run that has no part in the comparison, and why. `broken` and `ended_by`: see `ComparedRun`."""

    side: str
    name: str
    reason: str
    broken: bool = False
    ended_by: str = "completed"
