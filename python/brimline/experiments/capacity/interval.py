"""Owns how far a verified load could be elsewhere: its interval from everything the probes showed."""

from collections.abc import Sequence

from brimline.experiments.capacity.outcome import contradicted_range
from brimline.experiments.capacity.search_state import SearchState
from brimline.experiments.knee import REPEATS_MIN
from brimline.experiments.trial import Trial, of_stage
from brimline.stats.batch_means import mean_interval
from brimline.stats.estimate import Estimate


def sustained_estimate(trials: Sequence[Trial], state: SearchState, seed: int) -> Estimate:
    """The verified rate, with the interval of the threshold over resampled probes.

    Passing several times in a row is more than passing half the time, so that the verified rate is rather low:
    the interval reaches up to the threshold that fits all probes. It is never narrower than the grid: it reaches
    at least from the level below the verified rate to the level above, and over all rates at which probes
    contradicted each other. Nor is it narrower than the interval of the throughput that the same server showed
    when it was saturated: where that varies from run to run, so does the sustained rate.
    """
    verification = state.verification()
    level = verification.verified_level() or 0
    below, value, above = (verification.load(each) for each in (level + 1, level, level - 1))
    posterior = state.posterior("bracket", "bisect", "verify", "reused")
    low, high = posterior.bootstrap_interval(seed=seed)
    contradicted = contradicted_range(state.deciding) or (value, value)
    spread = _saturated_spread(trials, state)
    nearest = state.settings.axis.nearest if state.settings.axis.whole else float
    return Estimate(
        value=value,
        low=nearest(min(low, below, contradicted[0], value * (1 - spread))),
        high=nearest(max(high, posterior.quantile(0.5), above, contradicted[1], value * (1 + spread))),
        unit=state.settings.axis.unit,
    )


def _saturated_spread(trials: Sequence[Trial], state: SearchState) -> float:
    """Half the interval of the throughput of saturated runs, as a share of it; 0 with fewer than 3 alike.

    Two kinds of runs are saturated: the closed-loop ones at the knee, and the open-loop ones that could not complete
    what was offered. They are not thrown together, nor with closed-loop runs of other connections: what these change is
    the server's nature and no noise.
    """
    swept = [
        trial.observation.throughput_ops_per_s
        for trial in of_stage(trials, "sweep")
        if trial.probe.connections == state.sweep.knee_connections
    ]
    overloaded = [
        each.trial.observation.throughput_ops_per_s
        for each in state.judged
        if (share := each.trial.observation.completed_share) is not None
        and share < state.settings.slo.completed_share_min
    ]
    return max(_spread(swept), _spread(overloaded))


def _spread(rates: Sequence[float]) -> float:
    if len(rates) < REPEATS_MIN:
        return 0.0
    mean = mean_interval(rates, unit="ops/s", independent=True)
    if mean.value <= 0:
        return 1.0  # runs that answered nothing bound nothing
    return min((mean.high - mean.value) / mean.value, 1.0)
