"""Owns finding the rate at which probes turn from passing to failing, when single probes may mislead.

The threshold θ gets a posterior on a grid of log rates. A probe at rate r passes with probability
λ + (1 − 2λ) · logistic((ln θ − ln r) / s): a soft step of relative width s, and a lapse λ for the probe that
a passing disturbance decided. Probing the posterior's median is probabilistic bisection (Horstein 1963;
Waeber, Frazier and Henderson 2013): it closes in as fast as bisection does, and comes back where a probe
contradicts the others. s isn't known and is averaged over `SCALES`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from brimline.stats.estimate import CONFIDENCE

LAPSE = 0.04
"""Probability that a probe far from the threshold shows the wrong outcome."""
SCALES = (0.003, 0.01, 0.02)
"""Relative widths of the step, from a hard limit to a short window over a noisy queue."""
BORDERLINE_WIDTH = 0.03
"""Relative distance from the threshold at which a probe is typically borderline."""
GRID_STEP = 0.001
"""Relative distance of the rates that are told apart."""
RESAMPLE_COUNT = 400


class Outcome(StrEnum):
    """What one probe says about the threshold."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    BORDERLINE = "borderline"


@dataclass(frozen=True, slots=True)
class Answer:
    """A probe's outcome at a rate. `lapse`: probability that it shows the wrong outcome far from the threshold."""

    rate: float
    outcome: Outcome
    lapse: float = LAPSE


class ThresholdPosterior:
    """What `answers` say about a threshold in [low, high], where each log rate is as likely as another."""

    def __init__(self, answers: Sequence[Answer], *, low: float, high: float) -> None:
        if not 0 < low < high:
            raise ValueError(f"no rates between {low} and {high}")
        point_count = math.ceil(math.log(high / low) / GRID_STEP) + 1
        self._log_rates: NDArray[np.float64] = np.linspace(math.log(low), math.log(high), point_count)
        # log_likelihood[answer, scale, rate]
        self._log_likelihood = np.array([_log_likelihood(answer, self._log_rates) for answer in answers]).reshape(
            len(answers), len(SCALES), point_count
        )

    def quantile(self, probability: float) -> float:
        """The rate that the threshold lies below with this probability."""
        return self._quantile(self._log_likelihood.sum(axis=0), probability)

    def interval(self, confidence: float) -> tuple[float, float]:
        """The central interval that holds the threshold with this probability."""
        return self.quantile((1 - confidence) / 2), self.quantile((1 + confidence) / 2)

    def bootstrap_interval(self, *, seed: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Interval of the posterior's median over resampled probes.

        Bayesian bootstrap (Rubin 1981): probes get random weights of mean 1 instead of being drawn, because a
        resample that has lost its only failing probe has no threshold at all.
        """
        if not len(self._log_likelihood):
            return self.interval(confidence)
        rng = np.random.default_rng(seed)
        probe_count = len(self._log_likelihood)
        weights = rng.dirichlet(np.ones(probe_count), size=RESAMPLE_COUNT) * probe_count
        medians = [self._quantile(np.tensordot(weight, self._log_likelihood, axes=1), 0.5) for weight in weights]
        tail = (1 - confidence) / 2
        low, high = np.quantile(medians, [tail, 1 - tail])
        return float(low), float(high)

    def _quantile(self, log_likelihood: NDArray[np.float64], probability: float) -> float:
        # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
        from scipy.special import logsumexp

        log_density = logsumexp(log_likelihood, axis=0)
        density = np.exp(log_density - log_density.max())
        cumulated = np.cumsum(density)
        return float(math.exp(np.interp(probability * cumulated[-1], cumulated, self._log_rates)))


def _log_likelihood(answer: Answer, log_rates: NDArray[np.float64]) -> NDArray[np.float64]:
    # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
    from scipy.special import expit

    distance = log_rates - math.log(answer.rate)
    if answer.outcome is Outcome.BORDERLINE:
        near = np.exp(-0.5 * (distance / BORDERLINE_WIDTH) ** 2)
        return np.tile(np.log(answer.lapse + (1 - answer.lapse) * near), (len(SCALES), 1))
    sign = 1 if answer.outcome is Outcome.PASS else -1
    steps = [expit(sign * distance / scale) for scale in SCALES]
    return np.log(answer.lapse + (1 - 2 * answer.lapse) * np.array(steps))
