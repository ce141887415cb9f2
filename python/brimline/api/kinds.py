"""Owns what kinds of experiments have in common: each is conducted, gone on with and opened again in one way.

As measures, a design crosses them with its factors.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

from brimline.api.options import Options
from brimline.api.planning import Cost, is_planning, spec_bytes, tell
from brimline.api.put_back_cost import put_back_of
from brimline.api.results import Result
from brimline.api.resume import as_begun, resumption
from brimline.api.run import interruption
from brimline.api.workplace import Workplace, workplace
from brimline.errors import InvalidRun, TargetError, UsageError
from brimline.experiments.cost import TimeEstimate
from brimline.experiments.measure import Measure
from brimline.experiments.vary.order import RUN
from brimline.record import ExperimentRecord, read_experiment
from brimline.record.damage import damage_told
from brimline.spec import LoadedSpec, Spec
from brimline.units import counted

Settings = TypeVar("Settings")
_Settings = TypeVar("_Settings", contravariant=True)
ResultT = TypeVar("ResultT", bound=Result)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verb:
    """Where a verb's experiments are described: constants of a module of the api.

    `kinds`: each `Kind`, by what its records say they are. `is_measure`: it has a `MEASURE`.
    """

    module: str
    kinds: Mapping[str, str]
    is_measure: bool = True


_VERBS = {
    "ab": _Verb(module="ab", kinds={"ab": "AB"}, is_measure=False),
    "capacity": _Verb(module="capacity", kinds={"capacity": "CAPACITY_KIND", "frontier": "FRONTIER_KIND"}),
    "failover": _Verb(module="failover", kinds={"failover": "FAILOVER"}),
    "grow": _Verb(module="grow", kinds={"growth": "GROWTH"}),
    "import": _Verb(module="measured_import", kinds={}),
    "interfere": _Verb(module="interfere", kinds={"interfere": "INTERFERENCE"}),
    "load": _Verb(module="measured_load", kinds={}),
    "scan": _Verb(module="scan", kinds={"scan": "SCAN"}),
    "soak": _Verb(module="soak", kinds={"soak": "SOAK"}),
    "sweep": _Verb(module="sweep", kinds={"sweep": "SWEEP_KIND"}),
}
"""Each is imported when it is asked for."""


class MadeIn(Protocol[_Settings]):
    """Conducts an experiment in a place that is up."""

    def __call__(
        self, place: Workplace, settings: _Settings, /, *, directory: Path | None = None, resume: bool = False
    ) -> Path:
        """Writes the record into `directory`, None: a new one, or goes on with the one there; returns its directory.

        Raises BrimlineError; what was measured is kept.
        """


def _anything(_loaded: LoadedSpec, _settings: object, _options: Options) -> None:
    """Nothing is wrong that could be seen beforehand."""


def _as_given(_loaded: LoadedSpec, _settings: object, options: Options) -> Options:
    """It takes whatever server the options say."""
    return options


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[Settings, ResultT]):
    """A kind of experiment, by what its records say they are and by the verb that conducts it.

    `check` raises UsageError for what can't be, before anything is started. `stored` reads the settings of a record,
    and `result` what its trials show, now or years later; both raise RecordError, `result` InvalidRun and TargetError
    as well, where there is nothing to show. `estimate` is said before it begins; None where that is known later.
    `with_budget`: the one thing that may change when it is gone on with; None where nothing may. `surroundings`: the
    options with what it needs of servers that brimline starts for it. `left`: what is to be known before one is gone on
    with, whether its servers answer or not.
    """

    kind: str
    verb: str
    made_in: MadeIn[Settings]
    stored: Callable[[ExperimentRecord], Settings]
    result: Callable[[ExperimentRecord], ResultT]
    estimate: Callable[[Spec, Settings], TimeEstimate] | None
    check: Callable[[LoadedSpec, Settings, Options], None] = _anything
    surroundings: Callable[[LoadedSpec, Settings, Options], Options] = _as_given
    with_budget: Callable[[Settings, float], Settings] | None = None
    left: Callable[[Path], Iterable[str]] = lambda _directory: ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureInPlace:
    """A measure with its effects.

    `made_in` is called as that of a `Kind`, always with a directory to write into. `settings` makes its settings from a
    workload and from what was said to it, as JSON has it; raises UsageError.
    `estimate`: how long it takes with these, without server starts and loading; NaN where only the first tells.
    `data_bytes`: what it brings to a server at most.
    `words`: what of that a factor can say. `on_data`: it is measured on data that is loaded before. `fits` raises
    UsageError for settings that don't go with the server that the options ask for, before any is started. `missed`:
    which of the objectives that were stated a record misses, as a clause; "" where none. Raises RecordError.
    """

    measure: Measure
    made_in: Callable[..., Path]
    settings: Callable[[Spec, Mapping[str, Any]], Any]
    estimate: Callable[[Spec, Any], TimeEstimate]
    data_bytes: Callable[[Spec, Any], int] = lambda spec, _settings: spec_bytes(spec)
    words: frozenset[str] = field(default_factory=frozenset)
    on_data: bool = True
    fits: Callable[[Any, Options], None] = lambda _settings, _options: None
    missed: Callable[[Path], str] = lambda _directory: ""


def kind_named(kind: str) -> Kind[Any, Any] | None:
    """The kind of a record; None for one that isn't known."""
    verb = next((each for each in _VERBS.values() if kind in each.kinds), None)
    return None if verb is None else cast("Kind[Any, Any]", _constant(verb, verb.kinds[kind]))


def measure_named(name: str) -> MeasureInPlace | None:
    """The measure of this verb; None for a run. Raises UsageError for one that isn't there."""
    if name in ("", RUN):
        return None
    measures = {verb: each for verb, each in _VERBS.items() if each.is_measure}
    if name not in measures:
        raise UsageError(f"there is no measure {name}", hint=f"there are {', '.join(measures)}")
    return cast(MeasureInPlace, _constant(measures[name], "MEASURE"))


def _constant(verb: _Verb, name: str) -> Any:
    return getattr(import_module(f"brimline.api.{verb.module}"), name)


def conduct(
    kind: Kind[Settings, ResultT],
    loaded: LoadedSpec,
    settings: Settings,
    options: Options,
    *,
    resume: Path | None = None,
) -> ResultT:
    """Brings a target up, conducts an experiment on it and reports it. Raises BrimlineError; its trials are kept.

    Its estimate is said first, unless part of it is spent. `resume`: the directory of one to go on with.
    """
    kind.check(loaded, settings, options)
    options = kind.surroundings(loaded, settings, options)
    if is_planning():
        tell(_cost(kind, loaded.spec, settings))
    if resume is None and kind.estimate is not None:
        options.progress.note(put_back_of(loaded.spec).within(kind.estimate(loaded.spec, settings)).text)
    with workplace(loaded, options, resume=resume) as place:
        directory = kind.made_in(place, settings, directory=resume, resume=resume is not None)
        interrupted = interruption(place.stop, directory, resumed_by=kind.verb)
    try:
        found = kind.result(read_experiment(directory))
    except (InvalidRun, TargetError):
        if interrupted is not None:
            raise interrupted from None
        raise
    result = replace(found, interrupted=interrupted)
    result.write(options.language)
    return result


def _cost(kind: Kind[Settings, ResultT], spec: Spec, settings: Settings) -> Cost:
    made = _constant(_VERBS[kind.verb], "MEASURE") if _VERBS[kind.verb].is_measure else None
    if kind.estimate is not None:
        seconds = put_back_of(spec).within(kind.estimate(spec, settings)).typical_s
    else:
        seconds = math.nan if made is None else made.estimate(spec, settings).typical_s
    return Cost(
        seconds=seconds,
        data_bytes=spec_bytes(spec) if made is None else made.data_bytes(spec, settings),
        loads=1 if made is None or made.on_data else 0,
    )


def go_on(directory: Path, options: Options, *kinds: Kind[Any, Any], budget_s: float | None = None) -> Any:
    """Goes on with the experiment of one of these kinds in `directory`; its finished trials count.

    `budget_s` replaces the one it was begun with. Raises BrimlineError where there is nothing to go on with.
    """
    found = resumption(directory, kinds=tuple(each.kind for each in kinds))
    kind = next(each for each in kinds if each.kind == found.experiment.kind)
    options = as_begun(found, options)
    finished = sum(trial.took_s is not None for trial in found.experiment.trials)
    options.progress.note(f"going on with {directory}, in which {counted(finished, 'probe')} ended")
    with damage_told(directory):
        settings = kind.stored(found.experiment)
        for each in kind.left(directory):
            options.progress.warning(each)
    if budget_s is not None and kind.with_budget is not None:
        settings = kind.with_budget(settings, budget_s)
    return conduct(kind, found.loaded, settings, options, resume=directory)
