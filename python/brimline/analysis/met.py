"""Owns the chance that a run met its objective, where the verdict only knows yes, no and too close to tell."""

import math

from brimline.analysis.objective import ErrorObjective, LatencyObjective, Slo
from brimline.analysis.observation import Observation
from brimline.analysis.verdict import shortfall
from brimline.stats.estimate import NORMAL_HALF_WIDTH
from brimline.stats.quantile_interval import QuantileInterval

NOISE_MIN = 0.02
"""A quantile or mean of one window is known no better than this, relative: the next window's differs by as much."""
NOISE_THIN = 0.5
"""How well a quantile is known that too few operations lie beyond, relative."""


def met_chance(observation: Observation, slo: Slo) -> float:
    """The chance, from 0 to 1, that every limit of `slo` held in the run: the smallest of its limits' chances."""
    if shortfall(observation, slo):
        return 0.0
    chances = [_latency_met(observation, each) for each in slo.latencies]
    chances += [_errors_met(observation, each) for each in slo.errors]
    return min(chances)


def _latency_met(observation: Observation, limit: LatencyObjective) -> float:
    seen = observation.quantile(limit.key)
    if seen is None or seen.value_ns <= 0:
        return 0.5
    if seen.known_ns is None:
        # A quantile among what never completed is missed; of a mean it is only known how much it is at least.
        open_mean = limit.quantile is None and (seen.low_ns or 0) <= limit.limit_ns
        return 0.5 if open_mean else 0.0
    distance = math.log(limit.limit_ns / seen.value_ns) / _noise(seen)
    return 0.5 * (1 + math.erf(distance / math.sqrt(2)))


def _noise(seen: QuantileInterval) -> float:
    """Standard deviation of the logarithm of a quantile."""
    if seen.low_ns is None or seen.high_ns is None or seen.low_ns <= 0:
        return NOISE_THIN
    return max(NOISE_MIN, math.log(seen.high_ns / seen.low_ns) / (2 * NORMAL_HALF_WIDTH))


def _errors_met(observation: Observation, limit: ErrorObjective) -> float:
    """By the posterior of the share of failures after a flat prior; where none failed, what nobody asked for holds."""
    failed, finished = observation.failures.get(limit.operation, (0, 0))
    if not finished:
        return 1.0 if limit.operation is None else 0.5
    if not failed and not (limit.asked and limit.share_max):
        return 1.0
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import betainc

    return float(betainc(failed + 1, finished - failed + 1, limit.share_max)) if limit.share_max else 0.0
