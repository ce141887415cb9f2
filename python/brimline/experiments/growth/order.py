"""Owns the growth experiment: which step is loaded and which queries are asked next, and when it is enough.

A collection grows by equal steps. After each the same queries are asked of it, reads of one document by a primary key
drawn uniformly from all that is there. With several index sets it grows once with each, one after the other.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from brimline.analysis.growth.figures import LoadFigures, QueryFigures
from brimline.analysis.growth.speed import import_course
from brimline.plan.pacing import connections_text
from brimline.record.layout import WORKER_LOST
from brimline.spec.readers import CONNECTION_COUNT_MAX
from brimline.units import format_count, format_duration, format_percentage, format_rate
from brimline.wording import message

REFERENCE_STEPS = 3
"""Steps whose median is what later ones are compared with by the stop rules."""
QUERY_BATCH_MIN = 100
TRIALS_MAX = 10_000
"""Steps and batches; more would be asked of nobody's patience, and each is a directory."""


class IndexSet(StrEnum):
    """What is indexed besides `_id`: nothing, the first field, or the first and the second field together."""

    PRIMARY = "primary"
    SINGLE = "single"
    COMPOUND = "compound"


class Protocol(StrEnum):
    """What is in memory before queries are measured.

    `hot`: nothing is dropped, and the same queries are asked without measuring until the cache reads no less than
    before. `warm`: the server is started again, so that its cache is empty; the operating system keeps its copies of
    the files. `cold`: started again, and these copies are dropped too.
    """

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


class GrowthEnd(StrEnum):
    """Why it did not go on."""

    TARGET = "target"
    QUERY_TIME = "query_time"
    IMPORT_RATE = "import_rate"
    DISK = "disk"
    BUDGET = "budget"
    BROKEN_OFF = "broken_off"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthSettings:
    """How far, in which steps, and what is asked after each. Counts are of records; None: no such rule.

    A batch is so many `queries` over one number of connections; all batches of a step are asked `repeats` times.
    """

    to_records: int
    step_records: int
    connections: tuple[int, ...] = (1, 8, 16, 32)
    queries: tuple[int, ...] = (10_000,)
    repeats: int = 3
    indexes: tuple[IndexSet, ...] = (IndexSet.PRIMARY,)
    protocol: Protocol = Protocol.HOT
    query_time_factor_max: float | None = None  # of the first steps' time per query
    import_rate_factor_max: float | None = None  # by which the first steps' rate may fall
    disk_share_max: float | None = 0.9  # of the file system
    budget_s: float | None = None

    def __post_init__(self) -> None:
        if self.step_records < 1 or self.to_records < self.step_records:
            raise ValueError("growth needs a step of at least 1 record that is no larger than the target")
        if not self.connections or min(self.connections) < 1:
            raise ValueError("queries need at least 1 connection")
        if max(self.connections) > CONNECTION_COUNT_MAX:
            raise ValueError(f"queries have at most {CONNECTION_COUNT_MAX} connections")
        if not self.queries or min(self.queries) < QUERY_BATCH_MIN:
            raise ValueError(f"a batch of queries has at least {QUERY_BATCH_MIN} of them")
        if self.repeats < 1 or not self.indexes or len(set(self.indexes)) < len(self.indexes):
            raise ValueError("growth needs at least 1 repeat, and index sets that differ")
        for factor in (self.query_time_factor_max, self.import_rate_factor_max):
            if factor is not None and not (1 < factor < math.inf):
                raise ValueError("a stop rule's factor is a number greater than 1")
        if self.disk_share_max is not None and not 0 < self.disk_share_max <= 1:
            raise ValueError("the share of the file system at which growth stops is above 0% and at most 100%")
        if self.budget_s is not None and self.budget_s <= 0:
            raise ValueError("a budget of no time measures nothing")
        if (trials := self._steps * len(self.indexes) * (1 + self.batches_per_step)) > TRIALS_MAX:
            raise ValueError(f"steps and batches of queries are at most {TRIALS_MAX} together, and these are {trials}")

    @property
    def volumes(self) -> tuple[int, ...]:
        """Records after each step, ascending; the last step may be shorter."""
        whole = range(self.step_records, self.to_records + 1, self.step_records)
        return (*whole,) if whole[-1] == self.to_records else (*whole, self.to_records)

    @property
    def _steps(self) -> int:
        return -(-self.to_records // self.step_records)

    @property
    def batches_per_step(self) -> int:
        """Batches of queries after one step."""
        return len(self.connections) * len(self.queries) * self.repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthTask:
    """A step to load, from `there` to `records`, or a batch of queries to ask at `records`."""

    stage: str  # "load" | "query"
    indexes: IndexSet
    records: int
    there: int = 0
    connections: int = 0
    queries: int = 0
    repeat: int = 0
    protocol: Protocol = Protocol.HOT

    @property
    def label(self) -> str:
        """For a directory's name."""
        if self.stage == "load":
            return f"{self.indexes}-{self.records}"
        return f"{self.indexes}-{self.records}-{self.connections}c-{self.queries}q"


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthTrial:
    """A task with what it showed. `took_s`: by the wall clock, all effects included; None where it isn't known."""

    task: GrowthTask
    ended_by: str
    load: LoadFigures | None = None
    query: QueryFigures | None = None
    took_s: float | None = None


class Growth:
    """A pure state machine: what comes next follows from the trials alone."""

    def __init__(self, settings: GrowthSettings) -> None:
        self._settings = settings

    def next_probe(self, trials: Sequence[GrowthTrial]) -> GrowthTask | None:
        """The next step or batch, or None when there is nothing more to do."""
        if any(trial.ended_by != "completed" for trial in trials) or self._over_budget(trials):
            return None
        for indexes in self._settings.indexes:
            of_set = [trial for trial in trials if trial.task.indexes is indexes]
            tasks = self._tasks(indexes)
            for position, task in enumerate(tasks):
                if position < len(of_set):
                    continue
                if task.stage == "load" and self.stopped_by(of_set) is not None:
                    break
                return task
        return None

    def ended_by(self, trials: Sequence[GrowthTrial]) -> GrowthEnd:
        """Why the experiment is where it is; of several index sets the last one's reason."""
        if any(trial.ended_by not in ("completed", "interrupt", WORKER_LOST) for trial in trials):
            return GrowthEnd.BROKEN_OFF
        if self._over_budget(trials):
            return GrowthEnd.BUDGET
        if any(trial.ended_by != "completed" for trial in trials) or self.next_probe(trials) is not None:
            return GrowthEnd.INCOMPLETE
        last = self._settings.indexes[-1]
        rule = self.stopped_by([trial for trial in trials if trial.task.indexes is last])
        return GrowthEnd.TARGET if rule is None or self._reached_target(trials, last) else rule[0]

    def stopped_by(self, trials: Sequence[GrowthTrial]) -> tuple[GrowthEnd, str] | None:
        """The rule that forbids a further step of one index set, with what was seen; None while all allow it."""
        found = (self._import_rule(trials), self._query_rule(trials), self._disk_rule(trials))
        return next((each for each in found if each is not None), None)

    def _reached_target(self, trials: Sequence[GrowthTrial], indexes: IndexSet) -> bool:
        return any(
            trial.task.indexes is indexes and trial.task.records == self._settings.to_records for trial in trials
        )

    def _tasks(self, indexes: IndexSet) -> list[GrowthTask]:
        tasks: list[GrowthTask] = []
        there = 0
        for records in self._settings.volumes:
            tasks.append(GrowthTask(stage="load", indexes=indexes, records=records, there=there))
            tasks += self._batches(indexes, records)
            there = records
        return tasks

    def _batches(self, indexes: IndexSet, records: int) -> Iterator[GrowthTask]:
        """Repeats outermost, so that a disturbance doesn't meet all batches of one kind."""
        for repeat in range(self._settings.repeats):
            for queries in self._settings.queries:
                for connections in self._settings.connections:
                    yield GrowthTask(
                        stage="query",
                        indexes=indexes,
                        records=records,
                        connections=connections,
                        queries=queries,
                        repeat=repeat,
                        protocol=self._settings.protocol,
                    )

    def _over_budget(self, trials: Sequence[GrowthTrial]) -> bool:
        budget_s = self._settings.budget_s
        return budget_s is not None and sum(trial.took_s or 0.0 for trial in trials) >= budget_s

    def _import_rule(self, trials: Sequence[GrowthTrial]) -> tuple[GrowthEnd, str] | None:
        factor_max = self._settings.import_rate_factor_max
        steps = [(trial.task.records, trial.load) for trial in trials if trial.load is not None]
        rates = [rate for _, rate in import_course(steps)]
        if factor_max is None or len(rates) <= REFERENCE_STEPS:
            return None
        factor = median(rates[:REFERENCE_STEPS]) / rates[-1]
        if factor < factor_max:
            return None
        return GrowthEnd.IMPORT_RATE, message(
            "the import rate fell to 1/{factor:.3g} of the first steps'", factor=factor
        )

    def _query_rule(self, trials: Sequence[GrowthTrial]) -> tuple[GrowthEnd, str] | None:
        factor_max = self._settings.query_time_factor_max
        times = _median_times(trials)
        if factor_max is None or len(times) <= REFERENCE_STEPS:
            return None
        factor = times[-1] / median(times[:REFERENCE_STEPS])
        if factor < factor_max:
            return None
        return GrowthEnd.QUERY_TIME, message("a query takes {factor:.3g} times as long as at first", factor=factor)

    def _disk_rule(self, trials: Sequence[GrowthTrial]) -> tuple[GrowthEnd, str] | None:
        share_max = self._settings.disk_share_max
        shares = [trial.load.disk_share for trial in trials if trial.load is not None]
        if share_max is None or not shares or shares[-1] is None or shares[-1] < share_max:
            return None
        return GrowthEnd.DISK, message("{share} of the file system is in use", share=format_percentage(shares[-1]))


def _median_times(trials: Sequence[GrowthTrial]) -> list[float]:
    """Time per query of each volume, the median of its batches."""
    times: dict[int, list[float]] = {}
    for trial in trials:
        if trial.query is not None:
            times.setdefault(trial.task.records, []).append(trial.query.time_ns)
    return [median(times[records]) for records in sorted(times)]


def with_budget(settings: GrowthSettings, budget_s: float) -> GrowthSettings:
    """The settings with another time budget."""
    return replace(settings, budget_s=budget_s)


def index_fields(indexes: IndexSet, names: Sequence[str]) -> list[dict[str, int]]:
    """The indexes of a set, as fields with their order: of the documents' first fields, whose `names` are given."""
    match indexes:
        case IndexSet.PRIMARY:
            return []
        case IndexSet.SINGLE:
            return [{names[0]: 1}]
        case IndexSet.COMPOUND:
            return [{names[0]: 1, names[1]: 1}]


def describe_task(task: GrowthTask) -> str:
    """One line: what is done."""
    records = format_count(task.records)
    if task.stage == "load":
        return message("load: {there} to {records} records", there=format_count(task.there), records=records)
    return message(
        "query: {queries} at {records} records over {connections}",
        queries=format_count(task.queries),
        records=records,
        connections=connections_text(task.connections),
    )


def describe_outcome(trial: GrowthTrial) -> str:
    """One line: what came of it."""
    if trial.load is not None:
        return format_rate(trial.load.documents_per_s, unit="documents/s")
    if trial.query is not None:
        return message("{time} per query", time=format_duration(trial.query.time_ns))
    return trial.ended_by
