"""Owns what a study takes in time and room on disk, said before it starts, and the scale at which it fits."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from brimline.api.planning import Cost
from brimline.doctor.disk import free_below
from brimline.errors import BrimlineError, UsageError
from brimline.study.commands import Command, command_of, file_words
from brimline.study.needs import Lacking, lacking
from brimline.study.order_service import ORDERS, place_workloads
from brimline.study.scale import Scale, valued
from brimline.study.spec import ExperimentSpec, LoadedStudy
from brimline.units import format_bytes, parse_count

BUDGET_S = 3600.0
DISK_SHARE = 0.5
_SPENT_SHARE = 0.6
"""Of the budget that an estimate may fill: a machine is slower than an estimate more often than quicker."""
_LOAD_BYTES_PER_S = 20e6
_IMPORT_BYTES_PER_S = 10e6
_START_S = 1.5
"""A server that starts, and what is written beside a record."""
_SAMPLE_ROWS = 20
_SCHEMES = {"order-service": "http", "mariadb": "mysql", "postgres": "postgresql"}
"""Of the addresses of labs, by the option that asks for the kind of server."""
_FRACTION_MIN, _HALVINGS = 1e-6, 9


class Verbs(Protocol):
    """What a study has the command line do. `cost` and `perform` raise BrimlineError."""

    def knows(self, verb: str) -> bool:
        """Whether there is such a verb. Raises UsageError for one that measures nothing."""

    def cost(self, words: Sequence[str]) -> Cost:
        """What a command would take; it begins nothing."""

    def perform(self, words: Sequence[str]) -> None:
        """Does what the words say; a result that is no good is an error, and its record is there all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One experiment at a scale: its words, and what it takes. `lacks`: why it is left out, if it is."""

    experiment: ExperimentSpec
    command: Command
    seconds: float = 0.0
    disk_bytes: int = 0
    lacks: Lacking | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """A study at a scale."""

    scale: Scale
    experiments: Sequence[Planned]
    over_budget_s: float | None = None
    """The budget that even the least of it does not fit, in seconds; None where it fits, or nothing was asked."""

    @property
    def seconds(self) -> float:
        """About how long all of it takes."""
        return math.fsum(each.seconds for each in self.experiments)

    @property
    def disk_bytes(self) -> int:
        """The most that lies on the disk at once."""
        return max(each.disk_bytes for each in self.experiments)


def plan_study(
    study: LoadedStudy,
    scale: Scale | None,
    verbs: Verbs,
    *,
    scratch: Path,
    places: Sequence[Path] = (),
    budget_s: float = BUDGET_S,
) -> StudyPlan:
    """A study at a scale, None: the largest that fits the budget and half of the free disk at `places`, if any.

    `scratch`: a directory for some rows of its files, by which imports are looked at. Every experiment is looked at as
    its verb does before it begins. Raises BrimlineError for what can't be, with the experiment's name, and UsageError
    where nothing fits the disk.
    """
    at = _Planner(study, verbs, _samples(study, verbs, scratch))
    if scale is not None:
        return at(scale)
    room, place = min(((DISK_SHARE * free_below(each), each) for each in places), default=(math.inf, scratch))

    def fits(plan: StudyPlan) -> bool:
        return plan.seconds <= budget_s * _SPENT_SHARE and plan.disk_bytes <= room

    plan = _largest(at, fits)
    if plan.disk_bytes > room:
        raise UsageError(
            f"the least of the study takes up to {format_bytes(plan.disk_bytes, digits=2)}, and half of what is free "
            f"below {place} is {format_bytes(room, digits=2)}",
            hint="free some, set XDG_CACHE_HOME and --runs-dir to a larger disk, or begin all the same with a --scale",
        )
    return plan if fits(plan) else replace(plan, over_budget_s=budget_s)


def _largest(at: Callable[[Scale], StudyPlan], fits: Callable[[StudyPlan], bool]) -> StudyPlan:
    """The study at the largest fraction that fits, by halving the range of its logarithm; the least where none does."""
    if fits(full := at(Scale(1.0))):
        return full
    low, high, best = math.log(_FRACTION_MIN), 0.0, at(Scale(_FRACTION_MIN))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        plan = at(Scale(float(f"{math.exp(middle):.2g}")))
        if fits(plan):
            low, best = middle, plan
        else:
            high = middle
    return best


def _samples(study: LoadedStudy, verbs: Verbs, scratch: Path) -> dict[str, Path]:
    found = {}
    for name, file in study.spec.files.items():
        path = scratch / f"{name}.{file.format}"
        few = file.model_copy(update={"rows": _SAMPLE_ROWS})
        verbs.perform((*file_words(study, few, Scale(1.0), path), "--force"))
        found[name] = path
    for name, words in study.spec.servers.items():
        if ORDERS in words and lacking(["order-service"]) is None:
            found[name] = scratch / name
            found[name].mkdir()
            place_workloads(found[name])
    return found


@contextmanager
def _named(experiment: ExperimentSpec) -> Iterator[None]:
    """What is refused in the `with` block is refused with the experiment's name."""
    try:
        yield
    except BrimlineError as error:
        error.message = f"{experiment.name}: {error.message}"
        raise


class _Planner:
    """Plans the study at any scale; what was asked of a verb once is not asked again."""

    def __init__(self, study: LoadedStudy, verbs: Verbs, samples: Mapping[str, Path]) -> None:
        self._study, self._verbs, self._samples = study, verbs, samples
        self._lacking = {each.name: lacking(each.needs) for each in study.spec.experiments}
        self._costs: dict[tuple[str, ...], Cost] = {}

    def __call__(self, scale: Scale) -> StudyPlan:
        return StudyPlan(scale=scale, experiments=[self._planned(each, scale) for each in self._study.spec.experiments])

    def _planned(self, experiment: ExperimentSpec, scale: Scale) -> Planned:
        command = command_of(self._study, experiment, scale, {})
        lacks = self._lacking[experiment.name] or command.lacks
        if scale.is_ci and not experiment.at_ci:
            lacks = Lacking(experiment.name, "it is not made at this scale", "--scale auto")
        if lacks is None and not self._known(experiment):
            lacks = Lacking(experiment.verb, "this version of brimline has no such verb", "a later version")
        if lacks is not None:
            return Planned(experiment=experiment, command=command, lacks=lacks)
        words = (*command_of(self._study, experiment, scale, self._samples).words, *self._somewhere(experiment))
        cost = self._cost(experiment, words)
        rows_bytes = self._rows_bytes(experiment, scale)
        data_bytes = cost.data_bytes if rows_bytes is None else rows_bytes
        seconds = cost.seconds
        if math.isnan(seconds):
            seconds = cost.times * max(_START_S, data_bytes / _IMPORT_BYTES_PER_S)
        seconds += cost.loads * data_bytes / _LOAD_BYTES_PER_S + _START_S * (1 + cost.times)
        return Planned(
            experiment=experiment,
            command=command,
            seconds=seconds,
            disk_bytes=data_bytes + (rows_bytes or 0),
        )

    def _somewhere(self, experiment: ExperimentSpec) -> list[str]:
        """A server of the kind that it will have: nobody asks it anything yet."""
        if experiment.server is None:
            return []
        words = self._study.spec.servers[experiment.server]
        scheme = next((scheme for option, scheme in _SCHEMES.items() if words.get(option)), "mongodb")
        return ["--uri", f"{scheme}://127.0.0.1:9/study"]

    def _known(self, experiment: ExperimentSpec) -> bool:
        with _named(experiment):
            return self._verbs.knows(experiment.verb)

    def _cost(self, experiment: ExperimentSpec, words: tuple[str, ...]) -> Cost:
        if words not in self._costs:
            with _named(experiment):
                self._costs[words] = self._verbs.cost(words)
        return self._costs[words]

    def _rows_bytes(self, experiment: ExperimentSpec, scale: Scale) -> int | None:
        """Bytes of the file of rows that an experiment imports at this scale; None where it imports none."""
        said = f"{experiment.workload} {experiment.options}"
        for name, file in self._study.spec.files.items():
            if f"{{{name}}}" in said:
                rows = parse_count(str(valued(file.rows, scale)))
                return round(self._samples[name].stat().st_size / _SAMPLE_ROWS * rows)
        return None
