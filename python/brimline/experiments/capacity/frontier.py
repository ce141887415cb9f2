"""Owns the SLO frontier: the capacity for each of several limits on the same percentile, in one search.

The limits are searched one after the other, the loosest first. Calibration and sweep are shared, and each search begins
with all that the ones before it have measured, judged by its own limit. What comes after a search has no influence on
it, so that every prefix of trials leads to the same next probe.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from brimline.execution import SoFar
from brimline.experiments.capacity.conclusion import CapacityConclusion, ConclusionKind
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.cost import time_needed
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.trial import SEARCH_STAGES, Probe, Trial, broken_off
from brimline.units import NS_PER_S, duration_text

LIMITS_MIN, LIMITS_MAX = 2, 12
LIMIT_NS_MAX = 3600 * NS_PER_S
"""As in the objective of a workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierSettings:
    """A search for each of `limits_ns` on the leading percentile of `search.slo`; the rest of the objective holds too.

    Limits are sorted, the loosest first.
    """

    search: CapacitySettings
    limits_ns: tuple[int, ...]

    def __post_init__(self) -> None:
        if not LIMITS_MIN <= len(set(self.limits_ns)) <= LIMITS_MAX:
            raise ValueError(f"a frontier needs {LIMITS_MIN} to {LIMITS_MAX} different limits")
        if not all(0 < each <= LIMIT_NS_MAX for each in self.limits_ns):
            raise ValueError("a limit of a frontier must be in 1ns to 1h")
        object.__setattr__(self, "limits_ns", tuple(sorted(set(self.limits_ns), reverse=True)))

    @property
    def connections_needed(self) -> int | None:
        """As of each of its searches."""
        return self.search.connections_needed

    def within(self, connections: int) -> Self:
        """The same with at most so many connections."""
        return replace(self, search=self.search.within(connections))

    def of_limit(self, limit_ns: int) -> CapacitySettings:
        """The settings of one limit's search. A budget is divided, so that the last limit gets its share."""
        search = self.search
        budget_s = search.budget_s
        if budget_s is not None:
            shared_s = min(time_needed(search) / 4, budget_s)
            done = self.limits_ns.index(limit_ns) + 1
            budget_s = shared_s + (budget_s - shared_s) * done / len(self.limits_ns)
        slo = search.slo.with_leading_limit(limit_ns)
        return replace(search, slo=slo, goal=duration_text(limit_ns), budget_s=budget_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierConclusion:
    """The points of a frontier: what the search of each limit found, the loosest first."""

    points: tuple[CapacityConclusion, ...]

    @property
    def worst(self) -> CapacityConclusion:
        """The conclusion that decides how the whole ended.

        An objective that can't be met is an answer, unless none can. What broke off outranks what is not proven.
        """
        ranks = {ConclusionKind.TARGET_LOST: 0, ConclusionKind.INCOMPLETE: 1}
        return min(
            self.points, key=lambda each: ranks.get(each.kind, 2 if each.missed or each.kind.exit_code == 4 else 3)
        )


class Frontier:
    """Asks for probes until each limit's capacity is found, or it is clear that it can't be."""

    def __init__(self, settings: FrontierSettings, seed: int) -> None:
        self._settings = [settings.of_limit(each) for each in settings.limits_ns]
        self._searches = [Capacity(each, seed) for each in self._settings]

    def next_probe(self, trials: Sequence[Trial]) -> Probe | None:
        """The next probe, or None when every search is over."""
        probes = (each.next_probe(self._seen_by(index, trials)) for index, each in enumerate(self._searches))
        return None if broken_off(trials) else next((each for each in probes if each is not None), None)

    def so_far(self, trials: Sequence[Trial]) -> SoFar:
        """Of the search that is at work, else the last; how long all take yet isn't known."""
        at_work = (i for i, each in enumerate(self._searches) if each.next_probe(self._seen_by(i, trials)) is not None)
        index = next(at_work, len(self._searches) - 1)
        return replace(self._searches[index].so_far(self._seen_by(index, trials)), left_s=None, left_max_s=None)

    def conclude(self, trials: Sequence[Trial]) -> FrontierConclusion:
        """What the trials so far show; also of a search that was broken off."""
        found = (each.conclude(self._seen_by(index, trials)) for index, each in enumerate(self._searches))
        return FrontierConclusion(points=tuple(found))

    def _seen_by(self, index: int, trials: Sequence[Trial]) -> list[Trial]:
        """The trials that one search knows: what is shared, what was asked before it, and its own."""
        own = self._settings[index].goal
        earlier = {each.goal for each in self._settings[:index]}
        seen = []
        for trial in trials:
            if trial.probe.goal in ("", own):
                seen.append(trial)
            elif trial.probe.goal in earlier:
                stage = "reused" if trial.probe.stage in SEARCH_STAGES else trial.probe.stage
                seen.append(replace(trial, probe=replace(trial.probe, stage=stage)))
        return seen
