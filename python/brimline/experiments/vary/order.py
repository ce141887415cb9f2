"""Owns the factor sweep: which combination of levels runs next, and when all are known well enough.

Blocks in which every combination runs once, in an order drawn from the seed; each odd block is followed by its mirror
image, so that what grows evenly over time meets all combinations alike (Montgomery, "Design and Analysis of
Experiments", ch. 4 and 5). The unit is the run: a block gives each combination one value, and blocks are added until
the interval of each combination's mean is narrow enough. Combinations that need a server of their own are kept
together within a block, and each block starts theirs anew: a split plot, whose whole plots are servers.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from brimline.analysis.compared_run import LoadKind
from brimline.analysis.comparison import MARGIN
from brimline.analysis.figure import Figure
from brimline.analysis.metrics import kind_of_all
from brimline.analysis.observation import Observation
from brimline.experiments.measure import BLOCKS_DEFAULT, BLOCKS_MAX_DEFAULT
from brimline.experiments.settings import REPEATS_MAX
from brimline.experiments.vary.factors import Factor
from brimline.servers.database import Durability
from brimline.stats.batch_means import mean_interval

VARY_KIND = "vary"
"""What its record says it is."""
RUN = "run"
"""The measure that is a run with the load of its workload."""
COMBINATIONS_MAX = 1_000
ATTEMPTS_MAX = 2
"""A run that proves nothing is made once more."""
SPOILT_MAX = 2
"""Blocks without a value after which the end is not held up for a combination."""
PRECISION_DEFAULT = 0.05
THROUGHPUT = "throughput"
COMPARED_KEYS = (THROUGHPUT, "p95", "p99")

Levels = tuple[str, ...]
"""One combination: a level of each factor, in the order of the factors."""


class VaryEnd(StrEnum):
    """Why no further block was begun."""

    PRECISE = "precise"
    IMPOSSIBLE = "impossible"
    BLOCKS_MAX = "blocks_max"
    BUDGET = "budget"
    BROKEN_OFF = "broken_off"
    INCOMPLETE = "incomplete"


class RunOutcome(StrEnum):
    """Whether a run says something of its combination.

    `client_limited`: the generator was the limit. `failed`: it ended with an error, or without a figure.
    """

    COUNTS = "counts"
    CLIENT_LIMITED = "client_limited"
    INVALID = "invalid"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class VarySettings:
    """What is crossed, and how well it is to be known.

    `precision`: half the interval of a combination's main figure (`main_key`), as a share of its mean. `apart`: factors
    of which each combination of levels has servers of its own, started and loaded anew in every block. `loads`: factors
    whose levels are loaded differently. `listed`: the combinations where they are not crossed.

    `measure`: the verb that is measured at each combination, with what was `said` to it; "" is a run in a closed loop
    over the connections, for `warmup_s` and `duration_s`, "run" one with the load of its workload. `cell_s`: about how
    long one of these other measures takes on average, 0 where only the first tells, and `cell_most_s` at most.
    """

    factors: tuple[Factor, ...]
    measure: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)
    listed: tuple[Levels, ...] = ()
    cell_s: float | None = None
    cell_most_s: float | None = None
    apart: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()
    precision: float = PRECISION_DEFAULT
    blocks: int = BLOCKS_DEFAULT
    blocks_max: int = BLOCKS_MAX_DEFAULT
    warmup_s: float = 2.0
    duration_s: float = 10.0
    budget_s: float | None = None
    margin: float = MARGIN

    def __post_init__(self) -> None:
        if not self.factors:
            raise ValueError("there is no factor to vary")
        if len(self.combinations) > COMBINATIONS_MAX:
            raise ValueError(f"the factors make {len(self.combinations)} combinations, more than {COMBINATIONS_MAX}")
        if not 0 < self.precision < 1:
            raise ValueError("the precision is a share between 0 and 1")
        if not 1 <= self.blocks <= self.blocks_max <= REPEATS_MAX:
            raise ValueError(f"there are 1 to {REPEATS_MAX} repeats, and no fewer at most than at least")
        if self.duration_s <= 0 or self.warmup_s < 0:
            raise ValueError("a run needs some time")
        if self.budget_s is not None and self.budget_s < self.block_s:
            raise ValueError("the budget is shorter than one run of each combination")

    @property
    def combinations(self) -> tuple[Levels, ...]:
        """Every combination of levels, in the order given, the last factor changing fastest."""
        return self.listed or tuple(itertools.product(*(factor.levels for factor in self.factors)))

    @property
    def run_s(self) -> float:
        """Time of one run, without what is around it."""
        return self.warmup_s + self.duration_s if self.cell_s is None else self.cell_s

    @property
    def run_most_s(self) -> float:
        """The most that one run takes; infinite where nothing bounds it."""
        return self.run_s if self.cell_most_s is None else self.cell_most_s

    @property
    def attempts_max(self) -> int:
        """How often a combination is tried in a block: other measures than a run repeat what proves nothing."""
        return 1 if self.is_nested else ATTEMPTS_MAX

    @property
    def is_nested(self) -> bool:
        """Whether each combination has the record of another measure, and not that of a run."""
        return self.measure not in ("", RUN)

    @property
    def block_s(self) -> float:
        """Time of one block, without loading."""
        return self.run_s * len(self.combinations)

    @property
    def groups(self) -> dict[Levels, tuple[Levels, ...]]:
        """Combinations by the levels that decide their server; one group without such factors."""
        found: dict[Levels, tuple[Levels, ...]] = {}
        for levels in self.combinations:
            key = self.server_levels(levels)
            found[key] = (*found.get(key, ()), levels)
        return found

    def server_levels(self, levels: Levels) -> Levels:
        """The part of a combination that decides which server it needs."""
        return self._part(levels, self.apart)

    def load_levels(self, levels: Levels) -> Levels:
        """The part of a combination that decides what is loaded, and into what."""
        return self._part(levels, self.loads)

    def loading_combination(self, levels: Levels) -> Levels:
        """The combination as which the data of `levels` is loaded: the same, with the most connections."""

        def parted(each: Levels) -> tuple[Levels, list[int]]:
            """What is the same for all that are loaded as one, and numbers of which every load takes the largest."""
            both = list(zip(self.factors, each, strict=True))
            fixed = tuple(level for factor, level in both if not factor.kind.largest_loads)
            return fixed, [int(level) for factor, level in both if factor.kind.largest_loads]

        alike = [each for each in self.combinations if parted(each)[0] == parted(levels)[0]]
        return max(alike, key=lambda each: parted(each)[1])

    def is_narrow(self, counting: Sequence["VaryTrial"], key: str) -> bool:
        """Whether the trials of one combination, all of which count, say the figure `key` as well as was asked for."""
        if not all(key in trial.figures for trial in counting):
            return False
        if len(counting) == 1 and counting[0].measured:
            main = counting[0].measured[key]
            known = main.low is not None and main.high is not None and main.value > 0
            return known and (main.high - main.low) / 2 <= self.precision * main.value  # type: ignore[operator]
        return narrow([trial.figures[key] for trial in counting], self.precision)

    def named(self, levels: Levels) -> dict[str, str]:
        """The levels by the names of their factors."""
        return {factor.name: level for factor, level in zip(self.factors, levels, strict=True)}

    def _part(self, levels: Levels, names: Sequence[str]) -> Levels:
        return tuple(level for factor, level in zip(self.factors, levels, strict=True) if factor.name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class VaryProbe:
    """One run that is asked for: a combination in a block, counted from 1, for the first or second time."""

    block: int
    levels: Levels
    attempt: int = 1

    @property
    def label(self) -> str:
        """For a directory's name."""
        again = "" if self.attempt == 1 else f"-again-{self.attempt}"
        return f"{self.block}-{'-'.join(self.levels)}{again}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaryTrial:
    """A run that was made. `figures` by metric key, empty where it proves nothing, for `reasons`.

    The `reasons` of one that counts are why lag of the generator spoils single figures, which are absent, or why no
    more than a bound is known.

    `measured`: of another measure than a run, the figures with what is known of them. `name`: of its directory.
    `missed`: which of the objectives that were stated it misses, "" where none; its figures count all the same.
    `kind`: what the figures of a run are figures of.

    `server` tells which runs had the same server, counted from 1. `took_s`: by the wall clock, starting and loading
    the server included. `plans`: how the server executed each step of an author's own operations, by the step's name.
    `durability`: when its server acknowledged writes. `size_bytes`: what the data took on disk in the end. `drivers`:
    what drivers in processes of their own said of themselves.
    """

    probe: VaryProbe
    ended_by: str = "completed"
    outcome: RunOutcome = RunOutcome.COUNTS
    figures: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    server: int = 1
    server_version: str = ""
    took_s: float | None = None
    observation: Observation | None = None
    plans: Mapping[str, str] = field(default_factory=dict)
    engine: str = ""
    durability: Durability = field(default_factory=lambda: Durability(on_disk=None, words=""))
    size_bytes: int | None = None
    measured: Mapping[str, Figure] = field(default_factory=dict)
    name: str = ""
    missed: str = ""
    kind: LoadKind = "closed loop"
    drivers: Sequence[Mapping[str, Any]] = ()

    @property
    def counts(self) -> bool:
        """Whether its figures are figures of its combination."""
        return self.ended_by == "completed" and self.outcome is RunOutcome.COUNTS


@dataclass(frozen=True, slots=True, kw_only=True)
class VaryLoad:
    """A load that was made before runs: `levels` of the factors that decide what is loaded, on which server and block.

    `loaded_with`: by name, how it was loaded, as the combination has it that asked for the data first.
    `fewer_connections`: over how few it went on, of how many it was to have; None where it had all.
    """

    block: int
    levels: Levels
    server: int
    figures: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    loaded_with: Mapping[str, str] = field(default_factory=dict)
    took_s: float | None = None
    fewer_connections: tuple[int, int] | None = None


class Vary:
    """Asks for blocks of runs; pure: the next follows from those made."""

    def __init__(self, settings: VarySettings, seed: int) -> None:
        self._settings = settings
        self._seed = seed

    def next_probe(self, trials: Sequence[VaryTrial]) -> VaryProbe | None:
        """The next run; None when all is known well enough, nothing more may be spent, or a run was cut short."""
        if any(trial.ended_by != "completed" for trial in trials):
            return None
        last = max((trial.probe.block for trial in trials), default=0)
        # Each block, not the last alone: a run that failed is dropped on resume, wherever it stood.
        for block in range(1, last + 1):
            left = self._left_of(block, trials)
            if left is not None:
                return left
        if self._reason_to_end(last, trials) is not None:
            return None
        return self._left_of(last + 1, trials)

    def order(self, block: int) -> tuple[Levels, ...]:
        """The combinations in the order of a block; those that share a server stand together."""
        rng = np.random.default_rng([self._seed, (block + 1) // 2])
        groups = list(self._settings.groups.values())
        order = [
            groups[int(place)][int(inner)]
            for place in rng.permutation(len(groups))
            for inner in rng.permutation(len(groups[int(place)]))
        ]
        return tuple(order if block % 2 else reversed(order))

    def ended_by(self, trials: Sequence[VaryTrial]) -> VaryEnd:
        """Why the sweep is where it is."""
        cut = next((trial for trial in trials if trial.ended_by != "completed"), None)
        if cut is not None:
            return VaryEnd.BROKEN_OFF if cut.ended_by == "target_lost" else VaryEnd.INCOMPLETE
        if self.next_probe(trials) is not None or not trials:
            return VaryEnd.INCOMPLETE
        return self._reason_to_end(max(trial.probe.block for trial in trials), trials) or VaryEnd.INCOMPLETE

    def _left_of(self, block: int, trials: Sequence[VaryTrial]) -> VaryProbe | None:
        for levels in self.order(block):
            of_it = [trial for trial in trials if trial.probe.levels == levels]
            attempts = [trial for trial in of_it if trial.probe.block == block]
            if not attempts and _is_impossible([trial for trial in of_it if trial.probe.block < block]):
                continue
            if not attempts:
                return VaryProbe(block=block, levels=levels)
            if not attempts[-1].counts and len(attempts) < self._settings.attempts_max:
                return VaryProbe(block=block, levels=levels, attempt=len(attempts) + 1)
        return None

    def _reason_to_end(self, blocks: int, trials: Sequence[VaryTrial]) -> VaryEnd | None:
        """Why no block is begun after so many whole ones."""
        enough = blocks >= self._settings.blocks or self._left_of(blocks + 1, trials) is None
        if enough and all(self._settled(each, trials) for each in self._settings.combinations):
            return VaryEnd.PRECISE if any(trial.counts for trial in trials) else VaryEnd.IMPOSSIBLE
        if blocks >= self._settings.blocks_max:
            return VaryEnd.BLOCKS_MAX
        return VaryEnd.BUDGET if blocks and not self._affordable(blocks, trials) else None

    def _settled(self, levels: Levels, trials: Sequence[VaryTrial]) -> bool:
        """Whether a combination is known well enough, or would not be however often it ran."""
        of_it = [trial for trial in trials if trial.probe.levels == levels]
        if _is_impossible(of_it):
            return True
        main = main_key(trials)
        counting = {trial.probe.block for trial in of_it if trial.counts and main in trial.figures}
        if len({trial.probe.block for trial in of_it} - counting) >= SPOILT_MAX:
            return True
        return self._settings.is_narrow([trial for trial in of_it if trial.counts], main)

    def _affordable(self, blocks: int, trials: Sequence[VaryTrial]) -> bool:
        budget_s = self._settings.budget_s
        if budget_s is None:
            return True
        spent_s = sum(max(trial.took_s or 0.0, self._settings.run_s) for trial in trials)
        return spent_s + spent_s / blocks <= budget_s


def main_key(trials: Sequence[VaryTrial]) -> str:
    """The figure that a design is about: it decides when a combination is known, and heads the report.

    Of another measure than a run it is its first; of runs at a given rate, from which the throughput follows, the
    highest percentile that is known.
    """
    for key in (key for trial in trials for key in trial.measured):
        return key
    if kind_of_all(trial.kind for trial in trials) != "open loop":
        return THROUGHPUT
    known = {key for trial in trials if trial.counts for key in trial.figures}
    return next((key for key in reversed(COMPARED_KEYS) if key in known), THROUGHPUT)


def _is_impossible(trials: Sequence[VaryTrial]) -> bool:
    """Whether a combination never began, each time for the same reason: tried again, it would not."""
    never = all(trial.outcome is RunOutcome.FAILED for trial in trials)
    return never and len(trials) >= ATTEMPTS_MAX and len({trial.reasons for trial in trials}) == 1


def narrow(values: Sequence[float], precision: float) -> bool:
    """Whether the mean of independent values is known within `precision`, a share of it."""
    if len(values) < 2:
        return False
    mean = mean_interval(values, unit="ops/s", independent=True)
    return mean.value > 0 and (mean.high - mean.value) / mean.value <= precision
