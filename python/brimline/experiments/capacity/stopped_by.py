"""Owns what stopped a search: what was full where probes turned to failing."""

from dataclasses import replace

from brimline.analysis.bottleneck import Bottleneck, BottleneckKind, bottleneck
from brimline.experiments.capacity.estimate import Found
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.sweep import SweepEnd
from brimline.experiments.trial import null_ceiling
from brimline.wording import message

SAME_OPERATING_POINT = 1.05
"""Failed probes up to this multiple of the lowest failed load may say what was full there."""


def stopped_by(state: SearchState, found: Found) -> Bottleneck | None:
    """What was full at the lowest rates that failed; undetermined where that tells nothing, None where none failed.

    A probe that the generator limited decides only where the generator ended the search, or where none failed on the
    server's account.
    The closed-loop sweep ran at another operating point: what was full there is evidence and no answer. It answers only
    where the search ended at it.
    """
    axis = state.settings.axis
    if state.sweep.ended_by is SweepEnd.INVALID or not state.judged:
        return state.sweep.bottleneck
    failed = [each for each in state.judged if each.outcome is TrialOutcome.FAIL]
    limited = [each for each in state.judged if each.outcome is TrialOutcome.CLIENT_LIMITED]
    if found.generator_ended:
        failed = []
    seen = [
        (
            each,
            bottleneck(
                each.trial.observation,
                null_ceiling_ops_per_s=null_ceiling(state.trials),
                plateau_connections=state.sweep.knee_connections,
            ),
        )
        for each in sorted(failed or limited, key=lambda each: each.load)
    ]
    if not seen:
        return None
    # What failed below the figure was a disturbance, and far above it other things get full.
    held = 0.0 if found.sustained is None else found.sustained.value
    above = [each for each in seen if each[0].load >= held] or seen
    near = [each for each in above if each[0].load <= SAME_OPERATING_POINT * above[0][0].load]
    known = [each for each in near if each[1].kind is not BottleneckKind.UNDETERMINED]
    probe, limit = (known or near)[0]
    remarks = [message("seen in the probe at {load}", load=axis.text(probe.load, digits=4))]
    if not known:
        beyond = [each for each in above if each[1].kind is not BottleneckKind.UNDETERMINED]
        remarks += [
            message("at {load}: {limit}", load=axis.text(other.load, digits=4), limit=what.text)
            for other, what in beyond[:1]
        ]
    if not known and state.sweep.bottleneck is not None:
        remarks.append(message("at saturation (closed loop): {limit}", limit=state.sweep.bottleneck.text))
    return replace(limit, remarks=tuple(remarks))
