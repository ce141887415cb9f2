"""Owns verification: a candidate counts when it was sustained several times, among probes above and below it.

Levels lie 2 % apart, whole numbers at least 1: level 0 is the candidate, level 1 the one below, level −1 the one
above. A level that fails moves the candidate down; what was measured there before counts. One that is verified moves
up when the level above passed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from brimline.experiments.capacity.outcome import Judged, TrialOutcome
from brimline.experiments.settings import CapacitySettings


@dataclass(frozen=True, slots=True)
class NextVerification:
    """A level to probe. `extended`: the last window there decided nothing, so a longer one is due."""

    level: int
    extended: bool


class Verification:
    """Where verification stands after the usable verify trials of a candidate rate."""

    def __init__(self, judged: Sequence[Judged], candidate: float, settings: CapacitySettings) -> None:
        self._settings = settings
        self._axis = settings.axis
        self._candidate = self._axis.nearest(candidate)
        self._outcomes: dict[int, list[TrialOutcome]] = defaultdict(list)
        levels = range(-settings.steps_up_max - 1, settings.steps_down_max + 2)
        # Where whole numbers run out, several levels are the same load; the one nearest the candidate stands for it.
        by_load = {self.load(level): level for level in sorted(levels, key=abs, reverse=True)}
        for each in judged:
            if each.load in by_load:
                self._outcomes[by_load[each.load]].append(each.outcome)

    def load(self, level: int) -> float:
        """The load of a level."""
        return self._axis.below(self._candidate, level, step=self._settings.step)

    def verified_level(self) -> int | None:
        """The highest rate's level that was sustained as often as required, and no lower one failed."""
        return next((level for level in sorted(self._outcomes) if self._verified(level)), None)

    def passes(self, level: int) -> int:
        """How often a level was sustained."""
        return self._outcomes[level].count(TrialOutcome.PASS)

    def most_passes(self) -> int:
        """How often the level was sustained that came nearest to being verified."""
        return max((self.passes(level) for level in list(self._outcomes) if not self._failed(level)), default=0)

    def next(self) -> NextVerification | None:
        """The next level to probe, or None: verified, or too many steps down."""
        level = 0
        while self._failed(level):
            level += 1
        if self._ended(level):
            return None
        while self._verified(level) and self.passes(level - 1) and not self._failed(level - 1):
            if level <= -self._settings.steps_up_max:
                return None
            level -= 1
        wanted = self._wanted(level)
        if wanted is None:
            return None
        return NextVerification(wanted, extended=self._outcomes[wanted][-1:] == [TrialOutcome.INCONCLUSIVE])

    def exhausted(self) -> bool:
        """Whether every level that may be tried has failed."""
        level = 0
        while self._failed(level) and not self._ended(level):
            level += 1
        return self._ended(level)

    def _ended(self, level: int) -> bool:
        """Whether a level lies below all that may be tried."""
        return level > self._settings.steps_down_max or (level > 0 and self.load(level) == self.load(level - 1))

    def _wanted(self, level: int) -> int | None:
        """The candidate, then below, candidate, above, candidate: neighbours share the same time.

        After a step down the new candidate was tried already and its neighbour above has failed. It comes
        first then, because time may be short.
        """
        tried = len(self._outcomes[level])
        if tried == 0:
            return level
        if level <= 0 and not self._below_settled(level):
            return level + 1
        if tried == 1:
            return level
        if not self._outcomes[level - 1]:
            return level - 1
        if not self._verified(level):
            return level
        return None if self._below_settled(level) else level + 1

    def _below_settled(self, level: int) -> bool:
        """Whether the level below was sustained; a borderline one is tried again."""
        return self.passes(level + 1) > 0 or self.load(level + 1) == self.load(level)

    def _verified(self, level: int) -> bool:
        return self.passes(level) >= self._settings.verifications and not self._failed(level)

    def _failed(self, level: int) -> bool:
        """Whether this level failed, or one below it: what doesn't hold at less doesn't hold here."""
        return any(self._failed_itself(each) for each in list(self._outcomes) if each >= level)

    def _failed_itself(self, level: int) -> bool:
        return TrialOutcome.FAIL in self._outcomes[level] or self._borderline(level) >= 2

    def _borderline(self, level: int) -> int:
        return self._outcomes[level].count(TrialOutcome.INCONCLUSIVE)
