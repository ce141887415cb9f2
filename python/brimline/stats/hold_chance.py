"""Owns the chance that a window meets its objective, as a falling function of the logarithm of the load.

What a window shows is a chance and no fact. Its chance is a psychometric function with loads as stimuli (QUEST+, Watson
2017; the psi method, Kontsevich and Tyler 1999). At the load x a window meets its objective with the probability
(1 − lapse) · Φ(ln(x_h / x) / spread + Φ⁻¹(hold)). A share `hold` of the undisturbed windows meets it at x_h, the
**sustained load**. `spread` says how much the load differs that single windows bear. `lapse` is the share of windows
that something disturbs whatever the load. Neither is known, so that the posterior is on a grid of all three.

A window that was offered more than the server could do tells more: what it answered is what that window could do. It
lies above the load that windows bear by an `excess` that is not known either. Runs of a reference load tell how much
the machine moves, and so how small the spread can be at least.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SPREADS = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.4)
_SPREAD_WEIGHTS = (0.05, 0.08, 0.15, 0.18, 0.18, 0.15, 0.12, 0.09)
LAPSES = (0.0, 0.04, 0.1, 0.2)
_LAPSE_WEIGHTS = (0.4, 0.25, 0.2, 0.15)
EXCESSES = ((0.0, 1.0), (-0.02, 1.0), (0.02, 1.0), (0.05, 1.0), (0.05, 0.5), (0.1, 0.5), (0.2, 0.5), (0.4, 0.5))
"""What a full server answers above the load that its windows bear, relative, and how much of the spread that shows."""
_EXCESS_WEIGHTS = (0.3, 0.1, 0.15, 0.1, 0.1, 0.1, 0.1, 0.05)
ANSWERED_NOISE = 0.01
"""How exactly the throughput of one window is known, relative."""
OUTLIER, OUTLIER_RANGE = 0.02, 2.0
"""Share of full windows whose throughput says nothing, beside the disturbed ones; in what range of ln(load) it lies."""
BORDERLINE_WIDTH, BORDERLINE_LAPSE = 0.02, 0.05
"""How near the load that a window bears is to the one at which its figure lies at the limit; how often it is not."""
FALSE_MET = 0.01
"""Chance that a window far above what is borne meets the objective all the same."""
PRIOR_NEAR, PRIOR_SIGMA, PRIOR_RANGE = 0.7, 0.2, 5.0
"""Before any window, this share of the belief lies near the likely load, as near as this; the rest lies anywhere."""
COARSE_STEP, FINE_POINTS, NEGLIGIBLE = 0.01, 161, 1e-5
"""Grid of ln(load): coarse over all that may be, then fine where more than a negligible share is left."""
_CHANCE_MIN = 1e-4


@dataclass(frozen=True, slots=True)
class Window:
    """What one window showed at a load.

    `met`: chance that the objective held in it, which a figure near its limit leaves open. `weight`: what it shows, as
    a share of a steady window. `answered`: what a window answered that was offered more than the server could do; None
    of every other window.
    """

    load: float
    met: float
    weight: float = 1.0
    answered: float | None = None


class HoldPosterior:
    """What `windows` say about the highest load in [low, high] that a share `hold` of them meets.

    `likely`: the load about which it lies before any window was seen. `references`: throughput of runs of one and the
    same load at different times.
    """

    def __init__(
        self,
        windows: Sequence[Window],
        *,
        low: float,
        high: float,
        likely: float,
        hold: float,
        references: Sequence[float] = (),
    ) -> None:
        if not 0 < low < high:
            raise ValueError(f"no loads between {low} and {high}")
        if not 0 < hold < 1:
            raise ValueError(f"a share that holds lies between 0 and 1, not at {hold}")
        # Not above: scipy takes 15 MB, which a run has no use for before its load is over.
        from scipy.special import ndtri

        self._windows, self._z = tuple(windows), float(ndtri(hold))
        self._log_likely = math.log(min(max(likely, low), high))
        self._log_references = np.log([each for each in references if each > 0])
        count = max(2, math.ceil(math.log(high / low) / COARSE_STEP) + 1)
        coarse = np.linspace(math.log(low), math.log(high), count)
        share = self._weights(coarse).sum(axis=(1, 2, 3))
        cumulated = np.cumsum(share) / share.sum()
        first = max(0, int(np.searchsorted(cumulated, NEGLIGIBLE)) - 2)
        last = min(count - 1, int(np.searchsorted(cumulated, 1 - NEGLIGIBLE)) + 2)
        self._log_loads = np.linspace(coarse[first], coarse[last], max(FINE_POINTS, last - first + 1))
        found = self._weights(self._log_loads).sum(axis=3)
        self._weight = found / found.sum()

    def quantile(self, probability: float) -> float:
        """The load that the sustained one lies below with this probability."""
        cumulated = np.cumsum(self._weight.sum(axis=(1, 2)))
        middles = (cumulated + np.concatenate([[0.0], cumulated[:-1]])) / 2
        return float(math.exp(np.interp(probability, middles, self._log_loads)))

    def interval(self, confidence: float) -> tuple[float, float]:
        """The central interval that holds the sustained load with this probability."""
        return self.quantile((1 - confidence) / 2), self.quantile((1 + confidence) / 2)

    @property
    def spread(self) -> float:
        """How much the load differs that single windows bear, relative: the mean over the posterior."""
        return float(self._weight.sum(axis=(0, 2)) @ np.array(SPREADS))

    @property
    def lapse(self) -> float:
        """Share of windows that are disturbed whatever the load: the mean over the posterior."""
        return float(self._weight.sum(axis=(0, 1)) @ np.array(LAPSES))

    def information(self, loads: Sequence[float]) -> NDArray[np.float64]:
        """What a window at each of `loads` is expected to teach about the sustained load, in nats."""
        met = self._met(np.log(loads), self._log_loads)
        held = np.einsum("wxsl,xsl->wx", met, self._weight)
        before = self._weight.sum(axis=(1, 2))
        missed = np.maximum(before[None, :] - held, 0.0)
        after = _entropy(held) * held.sum(axis=-1) + _entropy(missed) * missed.sum(axis=-1)
        return np.asarray(_entropy(before) - after, dtype=np.float64)

    def _above(self, log: NDArray[np.float64] | float, log_loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far above a load, whose logarithm is `log`, half of the windows bear [window, load, spread].

        Half of them bear more than the sustained load, which a share `hold` does.
        """
        middle = log_loads[:, None] + self._z * np.array(SPREADS)
        return np.asarray(middle - np.asarray(log)[..., None, None], dtype=np.float64)

    def _weights(self, log_loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """The posterior, not normalised [load, spread, lapse, excess]."""
        distance = (log_loads - self._log_likely) / PRIOR_SIGMA
        near = np.exp(-0.5 * distance**2) / (PRIOR_SIGMA * math.sqrt(2 * math.pi))
        place = np.log(PRIOR_NEAR * near + (1 - PRIOR_NEAR) / PRIOR_RANGE)
        told = place[:, None, None] + np.log(_SPREAD_WEIGHTS)[:, None] + np.log(_LAPSE_WEIGHTS)
        told = told + self._told_by_outcomes(log_loads)
        full = told[..., None] + np.log(_EXCESS_WEIGHTS) + self._told_by_throughput(log_loads)
        return np.asarray(np.exp(full - full.max()), dtype=np.float64)

    def _told_by_outcomes(self, log_loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log likelihood of the windows that met their objective or missed it [load, spread, lapse]."""
        seen = [each for each in self._windows if each.answered is None]
        log = np.log([each.load for each in seen])
        shown, weight = (np.reshape(each, (-1, 1, 1, 1)) for each in ([w.met for w in seen], [w.weight for w in seen]))
        borderline, met = 1 - np.abs(2 * shown - 1), self._met(log, log_loads)
        decided = shown * met + (1 - shown) * (1 - met)
        told = weight * np.log(borderline * self._just_borne(log, log_loads) + (1 - borderline) * decided)
        return np.asarray(told.sum(axis=0), dtype=np.float64)

    def _just_borne(self, log: NDArray[np.float64], log_loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely it is that a window just bears its load, as one does whose figure lies at its limit.

        Relative to where that is most likely [window, load, spread, 1].
        """
        distance = self._above(log, log_loads) / np.hypot(SPREADS, BORDERLINE_WIDTH)
        return np.asarray(np.maximum(np.exp(-0.5 * distance**2), BORDERLINE_LAPSE)[..., None], dtype=np.float64)

    def _told_by_throughput(self, log_loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log likelihood of what full windows and reference runs answered [load, spread, lapse, excess]."""
        excess, shows = np.array(EXCESSES).T
        width = np.hypot(np.outer(SPREADS, shows), ANSWERED_NOISE)[:, None, :]  # [spread, 1, excess]
        odd = (np.array(LAPSES) + OUTLIER)[:, None]  # [lapse, 1]

        def density(distance: NDArray[np.float64]) -> NDArray[np.float64]:
            normal = np.exp(-0.5 * (distance / width) ** 2) / (width * math.sqrt(2 * math.pi))
            return np.asarray(np.log((1 - odd) * normal + odd / OUTLIER_RANGE), dtype=np.float64)

        told = np.zeros((len(log_loads), len(SPREADS), len(LAPSES), len(EXCESSES)))
        for each in self._windows:
            if each.answered is not None:
                told += each.weight * density(self._above(math.log(each.answered), log_loads)[..., None, None] + excess)
        count = len(self._log_references)
        for each in self._log_references - np.median(self._log_references) if count > 1 else ():
            told += (1 - 1 / count) * density(np.full((1, 1, 1), each))  # one of them went into their median
        return told

    def _met(self, log: NDArray[np.float64], log_loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chance that a window meets its objective [window, load, spread, lapse]."""
        from scipy.special import ndtr  # not above, as in __init__

        borne = ndtr(self._above(log, log_loads) / SPREADS)[..., None]
        met = FALSE_MET + (1 - np.array(LAPSES) - FALSE_MET) * borne
        return np.asarray(np.clip(met, _CHANCE_MIN, 1 - _CHANCE_MIN), dtype=np.float64)


def _entropy(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy of each row of weights, in nats, once they sum up to 1."""
    shares = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-300)
    return np.asarray(-(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=-1), dtype=np.float64)
