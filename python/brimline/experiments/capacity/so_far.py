"""Owns what a search tells those who look on: its estimate until now, its probes, the time that is left."""

import math
from collections.abc import Mapping
from dataclasses import replace

from brimline.execution import Outcome, SoFar
from brimline.experiments.capacity.estimate import Found, find
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.cost import capacity_time

_OUTCOMES: Mapping[TrialOutcome, Outcome] = {TrialOutcome.PASS: "met", TrialOutcome.FAIL: "missed"}


def search_so_far(state: SearchState) -> SoFar:
    """The estimate once a load is known that was too much and one that wasn't, before that what is known of either."""
    probes = [(each.load, _OUTCOMES.get(each.outcome, "unsettled")) for each in state.judged]
    found = find(state) if state.judged else Found()
    sustained = found.sustained
    figure = None if sustained is None else sustained.value
    low, high = (found.at_least, found.at_most) if sustained is None else (sustained.low, sustained.high)
    time = capacity_time(replace(state.settings, budget_s=None))
    budget_s = math.inf if state.settings.budget_s is None else max(state.settings.budget_s - state.spent_s, 0.0)
    # As fast as data were put back here, not as fast as is usual. No budget counts it.
    put_back_s = max(time.probe_count - state.probe_count, 0) * state.put_back_each_s
    return SoFar(
        unit=state.settings.axis.unit,
        figure=figure,
        low=low,
        high=high,
        probes=probes,
        left_s=min(max(time.typical_s - state.probes_s, 0.0), budget_s) + put_back_s,
        left_max_s=min(max(time.max_s - state.probes_s, 0.0), budget_s) + put_back_s,
    )
