"""Owns the way from a spec and a verb's words to the settings of a capacity search."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from pydantic import ValidationError

from brimline.analysis.objective import TAIL_OPERATIONS_P99, Slo
from brimline.api.workload import check_no_think_time, objective
from brimline.errors import UsageError
from brimline.experiments.axis import On
from brimline.experiments.capacity.frontier import FrontierSettings
from brimline.experiments.cost import capacity_time, time_needed
from brimline.experiments.settings import CapacitySettings, Grade, quick, standard
from brimline.spec import Spec
from brimline.spec.load_models import TlrLoad
from brimline.spec.readers import CONNECTION_COUNT_MAX
from brimline.spec.validation import first_in_words
from brimline.stats.proportion import events_needed
from brimline.units import NS_PER_S, duration_text, format_duration

Preset = Literal["quick", "standard"]

SPARE_PROBES = 4
"""Probes that a quick search on threads may take beyond the usual."""
WINDOWS_MAX = 200
"""Windows of a search that is bounded by its time."""
FURTHER_LIMIT_SHARE = 0.6
"""What a further limit of a frontier costs, as a share of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWords:
    """What is said about a search besides its workload.

    `loops` and `ramp_up_s` are L and R of T-L-R. `connections`: of the probes at a rate; None: found by the sweep.
    `hold`: the share of windows that meets the objective at the sustained load. `width_max` of the interval, as a share
    of the figure, and `require`, the grade: where they are missed the search ends with exit code 4.
    """

    on: On = On.RATE
    loops: int | None = None
    ramp_up_s: float | None = None
    budget_s: float | None = None
    connections: int | None = None
    hold: float | None = None
    width_max: float | None = None
    require: Grade | None = None

    @classmethod
    def of(cls, *, on: On | str, require: Grade | str | None = None, **words: Any) -> Self:
        """The words of a Python call. Raises UsageError for something that can't be searched or required."""
        for what, known, text in ((on, On, "searched"), (require, Grade, "required")):
            if what is not None and what not in list(known):
                raise UsageError(f'"{what}" can\'t be {text}', hint=f"what can be is {', '.join(known)}")
        return cls(on=On(on), require=None if require is None else Grade(require), **words)


NOTHING_SAID = SearchWords()


def settings_for(spec: Spec, preset: Preset, words: SearchWords = NOTHING_SAID) -> CapacitySettings:
    """The preset with the objective of `spec`, which is on service time unless the search is on rates.

    L and R of a search on threads come from `words`, or from the spec's own T-L-R. Raises UsageError.
    """
    on = words.on
    slo = objective(spec) or Slo()
    chosen = quick(slo) if preset == "quick" else standard(slo)
    if on is not On.RATE:
        chosen = replace(chosen, slo=slo.on_service_time(), load_max=CONNECTION_COUNT_MAX)
    if on is On.CONNECTIONS:
        check_no_think_time(spec)
        chosen = replace(chosen, on=on)
    if on is On.THREADS:
        chosen = _on_threads(chosen, spec, words.loops, words.ramp_up_s)
    elif words.loops is not None or words.ramp_up_s is not None:
        raise UsageError("loops and a ramp-up belong to a search on threads", hint="add --on threads")
    if words.connections is not None:
        chosen = _on_so_many(chosen, words.connections)
    chosen = _asked_of_the_figure(chosen, words)
    chosen = replace(chosen, operations_min=_operations_needed(chosen, _shares(spec)))
    return chosen if words.budget_s is None else _within(chosen, words.budget_s)


def _asked_of_the_figure(settings: CapacitySettings, words: SearchWords) -> CapacitySettings:
    """With the share of windows that hold, and with what the figure has to reach. Raises UsageError."""
    hold = settings.hold if words.hold is None else words.hold
    try:
        return replace(settings, hold=hold, width_max=words.width_max, grade_required=words.require)
    except ValueError as error:
        raise UsageError(str(error), hint="write them like --hold 90% --max-width 5%") from None


def frontier_settings(
    spec: Spec, preset: Preset, limits_ns: Sequence[int], words: SearchWords = NOTHING_SAID
) -> FrontierSettings:
    """The settings of an SLO frontier. Raises UsageError.

    A budget given in `words` is for all limits together, a preset's own for each of them.
    """
    search = settings_for(spec, preset, words)
    if search.budget_s is not None and words.budget_s is None:
        search = replace(search, budget_s=search.budget_s * (1 + FURTHER_LIMIT_SHARE * (len(set(limits_ns)) - 1)))
    try:
        return FrontierSettings(search=search, limits_ns=tuple(limits_ns))
    except ValueError as error:
        raise UsageError(str(error), hint="write them like --frontier 5ms,10ms,20ms") from None


def with_budget(settings: CapacitySettings, budget_s: float) -> CapacitySettings:
    """The settings of a search that is gone on with, within another time."""
    return replace(settings, budget_s=budget_s, budget_elapses=True)


def _on_so_many(settings: CapacitySettings, connections: int) -> CapacitySettings:
    """Every probe at a rate has these connections, whatever the sweep finds. Raises UsageError."""
    if settings.on is not On.RATE:
        raise UsageError(
            f"a search on {settings.on} finds its own connections", hint="leave --connections out, or search a rate"
        )
    if not 1 <= connections <= CONNECTION_COUNT_MAX:
        raise UsageError(
            f"connections must be 1 to {CONNECTION_COUNT_MAX}, not {connections}", hint="write them like 128"
        )
    return replace(settings, connections_min=connections, connections_max=connections)


def _on_threads(settings: CapacitySettings, spec: Spec, loops: int | None, ramp_up_s: float | None) -> CapacitySettings:
    load = spec.load if isinstance(spec.load, TlrLoad) else None
    loops = loops if loops is not None else load.loops if load else None
    ramp_up_s = ramp_up_s or (load.ramp_up_ns / NS_PER_S if load else None)
    if loops is None or ramp_up_s is None:
        raise UsageError(
            "a search on threads needs L and R, the loops of each thread and the time over which they start",
            hint="add --loops 4 --ramp-up 10s, or give the workload a load of kind tlr",
        )
    _check_tlr(loops, ramp_up_s)
    chosen = replace(settings, on=On.THREADS, loops=loops, ramp_up_s=ramp_up_s)
    if chosen.budget_s is None:
        return chosen
    # A preset's own budget is made for its windows, and here each takes R.
    usual_s = capacity_time(replace(chosen, budget_s=None)).typical_s
    return replace(chosen, budget_s=usual_s + SPARE_PROBES * ramp_up_s, budget_elapses=False)


def _check_tlr(loops: int, ramp_up_s: float) -> None:
    """L and R have the bounds that a workload's own have. Raises UsageError."""
    try:
        ramp_up = duration_text(round(ramp_up_s * NS_PER_S))
        TlrLoad.model_validate({"threads": 1, "loops": loops, "ramp_up": ramp_up})
    except ValidationError as error:
        raise UsageError(first_in_words(error.errors()), hint="write them like --loops 4 --ramp-up 10s") from None


def _within(settings: CapacitySettings, budget_s: float) -> CapacitySettings:
    windows_max = max(settings.windows_max, WINDOWS_MAX)  # here the time is the bound
    chosen = replace(settings, budget_s=budget_s, budget_elapses=True, windows_max=windows_max)
    needed_s = time_needed(chosen)
    if budget_s < needed_s:
        needed, budget = (format_duration(each * NS_PER_S) for each in (needed_s, budget_s))
        others = "give it more time" if settings.preset == "quick" else "give it more time, or take --quick"
        raise UsageError(f"{budget} can't lead to a figure: a {settings.preset} search needs {needed}", hint=others)
    return chosen


def _shares(spec: Spec) -> Mapping[str, float]:
    total = sum(spec.operations.shares.values())
    if total == 0:
        raise UsageError(
            "each operation has a load of its own, so that there is no load to search",
            hint="give the operations whose rate is sought a share in place of load",
        )
    return {kind: share / total for kind, share in spec.operations.shares.items()}


def _operations_needed(settings: CapacitySettings, shares: Mapping[str, float]) -> int:
    """Operations of a window: as many above the rarest limited quantile as the preset has above a p99.

    Enough also to show a limit on failures that somebody asked for, where none fails.
    """
    rarest = min(
        (1 - (each.quantile or 0.0)) * (1.0 if each.operation is None else shares[each.operation])
        for each in settings.slo.latencies
    )
    for_latency = round(settings.operations_min * max(1.0, TAIL_OPERATIONS_P99 / rarest))
    for_errors = (
        events_needed(each.share_max) / (1.0 if each.operation is None else shares[each.operation])
        for each in settings.slo.errors
        if each.asked and 0 < each.share_max < 1
    )
    return math.ceil(max(for_latency, *for_errors, 0))
