"""What a search's report shows below its curve, for those who know the vocabulary, and what each word means."""

from brimline.experiments.axis import Axis
from brimline.experiments.capacity.conclusion import CapacityConclusion
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.settings import CapacitySettings
from brimline.experiments.sweep import SweepConclusion, SweepEnd, runs_text
from brimline.report.blocks import DEFINITIONS
from brimline.report.search.plateau_facts import plateau_facts
from brimline.report.view import Fact
from brimline.units import NS_PER_S, UNKNOWN_TEXT, format_duration, format_number, format_percentage
from brimline.wording import joined, message

SEARCH_DEFINITIONS = (
    *DEFINITIONS,
    Fact(
        label="Most connections, most threads",
        value="the same in a closed loop: the largest number at which the objective holds in so many windows.",
    ),
    Fact(label="Objective", value="what a window has to meet, beside that all of what is offered completes in time."),
    Fact(
        label="Windows that hold",
        value="the share of windows that have to meet the objective at the figure, and how long one is; where "
        "operations are slow a window is longer.",
    ),
    Fact(label="Not quotable", value="why the figure may guide and not be published; a figure without this may be."),
    Fact(
        label="Grade",
        value="verified: the objective held in repeated windows at the figure itself; estimated: the figure comes from "
        "all windows together; bounded: only one side of it is known.",
    ),
    Fact(label="Not narrower", value="what makes the interval as wide as it is, the largest reason first."),
    Fact(
        label="Machine",
        value="throughput of one and the same load, repeated through the search: how much the machine itself moved.",
    ),
    Fact(
        label="Recommended",
        value="numbers of connections from the knee to where p99 rises and throughput doesn't.",
    ),
    Fact(label="Saturation", value="the highest throughput of a closed loop, whatever the latency."),
    Fact(
        label="Single probes",
        value="whether one window holds the objective is partly chance; the figure comes from all of them.",
    ),
    Fact(
        label="Highest probe that passed",
        value="of single windows. Whether one holds the objective is partly chance; the figure comes from all of them.",
    ),
    Fact(
        label="Candidates that failed",
        value="loads that were to be verified, and where a window missed the objective.",
    ),
    Fact(label="Not settled", value="what the search would have measured next, had there been time."),
    Fact(label="Probe time", value="the time in which load was sent, warm-ups included."),
)
"""What the words of a search's report mean, and the labels of its further figures."""


def further_facts(conclusion: CapacityConclusion) -> list[Fact]:
    """What needs the vocabulary; each label is explained among the definitions."""
    slo = conclusion.settings.slo
    errors = joined(", ", [each.text for each in slo.errors])
    facts = [Fact(label="Objective", value=slo.latency_text, note=errors), windows_fact(conclusion.settings)]
    if conclusion.reasons_not_quotable:
        facts.append(Fact(label="Not quotable", value=joined("; ", conclusion.reasons_not_quotable)))
    if len(conclusion.not_narrower) > 1:
        facts.append(Fact(label="Not narrower", value=joined("; ", conclusion.not_narrower)))
    if conclusion.state.movement is not None:
        facts.append(Fact(label="Machine", value=conclusion.state.movement.text))
    facts += plateau_facts(conclusion.sweep)
    if conclusion.sweep.saturation_ops_per_s is not None:
        figure, spread = saturation_parts(conclusion.sweep)
        facts.append(
            Fact(label="Saturation", value=_with_unit(figure), note=message("closed loop; {spread}", spread=spread))
        )
    elif conclusion.sweep.ended_by in (SweepEnd.DISTURBED, SweepEnd.EXCEEDED):
        facts.append(Fact(label="Saturation", value="unknown", note=conclusion.sweep.reason))
    facts += _probes_fact(conclusion.state)
    failed = {
        each.load
        for each in conclusion.state.judged
        if each.probe.stage == "verify" and each.outcome is TrialOutcome.FAIL
    }
    if failed:
        loads = [conclusion.settings.axis.text(each, digits=4) for each in sorted(failed)]
        facts.append(Fact(label="Candidates that failed", value=joined(", ", loads)))
    if conclusion.unsettled:
        facts.append(Fact(label="Not settled", value=joined("; ", conclusion.unsettled)))
    facts.append(Fact(label="Probe time", value=format_duration(conclusion.state.spent_s * 1e9)))
    return facts


def windows_fact(settings: CapacitySettings) -> Fact:
    """What a search itself asked of its windows."""
    share, time = (
        format_percentage(settings.hold),
        format_duration(settings.usual_s * NS_PER_S),
    )
    return Fact(label="Windows that hold", value=message("at least {share}", share=share),
                note=message("of {time} each", time=time))  # fmt: skip


def turning_points(state: SearchState) -> tuple[float | None, float | None]:
    """The highest load of a single window that passed, and the lowest of one that failed."""
    passed = [each.load for each in state.judged if each.outcome is TrialOutcome.PASS]
    failed = [each.load for each in state.judged if each.outcome is TrialOutcome.FAIL]
    return max(passed, default=None), min(failed, default=None)


def _probes_fact(state: SearchState) -> list[Fact]:
    """Where single probes turned from passing to failing, if they did so at one place."""
    (passed, failed), axis = turning_points(state), state.settings.axis
    if passed is None and failed is None:
        return []
    if passed is not None and failed is not None and failed <= passed:
        low, high = axis.text(failed, digits=4), axis.text(passed, digits=4)
        where = (
            message("probes contradict each other at {rate}", rate=high)
            if low == high
            else message("probes contradict each other between {low} and {high}", low=low, high=high)
        )
        return [Fact(label="Single probes", value=where)]
    note = message("lowest that failed: {rate}", rate=_load(failed, axis))
    return [Fact(label="Highest probe that passed", value=_load(passed, axis), note=note)]


def _with_unit(figure: str) -> str:
    return message("{figure} {unit}", figure=figure, unit="ops/s")


def saturation_parts(sweep: SweepConclusion) -> tuple[str, str]:
    """`15 300` and `95 % CI 14 900–15 700`, or how few runs there were for an interval."""
    if sweep.saturation is None:
        return format_number(sweep.saturation_ops_per_s or 0.0), runs_text(sweep.levels)
    return sweep.saturation.value_text, sweep.saturation.interval_text


def _load(value: float | None, axis: Axis) -> str:
    return UNKNOWN_TEXT if value is None else axis.text(value)
