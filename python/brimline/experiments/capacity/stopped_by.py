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
    axis, sweep = state.settings.axis, state.sweep
    if sweep.ended_by is SweepEnd.INVALID or not state.judged:
        return sweep.bottleneck
    by_load = sorted(state.judged, key=lambda each: each.load)
    failed = [each for each in by_load if each.outcome is TrialOutcome.FAIL and not found.generator_ended]
    failed = failed or [each for each in by_load if each.outcome is TrialOutcome.CLIENT_LIMITED]
    if not failed:
        return None
    # What failed below the figure was a disturbance, and far above it other things get full.
    held, ceiling = 0.0 if found.sustained is None else found.sustained.value, null_ceiling(state.trials)
    full = [
        (
            each.load,
            bottleneck(
                each.trial.observation,
                null_ceiling_ops_per_s=ceiling,
                plateau_connections=sweep.knee_connections,
            ),
        )
        for each in [each for each in failed if each.load >= held] or failed
    ]
    load, limit = full[0]
    beyond = [each for each in full if each[1].kind is not BottleneckKind.UNDETERMINED][:1]
    known = bool(beyond) and beyond[0][0] <= SAME_OPERATING_POINT * load
    if known:
        load, limit = beyond[0]
    remarks = [message("seen in the probe at {load}", load=axis.text(load, digits=4))]
    if not known:
        for further, what in beyond:
            remarks.append(message("at {load}: {limit}", load=axis.text(further, digits=4), limit=what.text))
        if sweep.bottleneck is not None:
            remarks.append(message("at saturation (closed loop): {limit}", limit=sweep.bottleneck.text))
    return replace(limit, remarks=tuple(remarks))
