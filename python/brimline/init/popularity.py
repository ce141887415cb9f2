"""Owns how uneven the popularity of keys is, as far as repeated draws of the same key show it.

Two draws hit the same key with probability Σ p². That is estimated without bias from how often keys repeat, whichever
keys they are, and no rank has to be guessed. Of a zipfian law over N keys it is H(N, 2θ) / H(N, θ)², which rises with
θ, so that θ follows. Its interval comes from the variance of the estimate, a U-statistic of degree 2 (Hoeffding 1948),
under the fitted law.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

DRAWS_MIN = 30
_THETA_MAX = 3.0
_RANKS_MAX = 10_000
"""Ranks that are added up one by one; the rest of a law is an integral."""
_Z = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Popularity:
    """A zipfian law's `theta`, 0 for even, with its 95 % interval. `draws` of `key_count` keys showed it."""

    theta: float
    low: float
    high: float
    draws: int
    key_count: int

    @property
    def is_even(self) -> bool:
        """Whether even popularity explains the draws."""
        return self.low <= 0.0

    @property
    def keys(self) -> dict[str, object]:
        """The law as a spec has it."""
        return {"kind": "uniform"} if self.is_even else {"kind": "zipfian", "theta": round(self.theta, 2)}

    @property
    def words(self) -> str:
        """What is known of it."""
        if self.is_even:
            bound = f"theta at most {self.high:.2f}" if self.high < _THETA_MAX else "a skew can't be excluded"
            return f"{self.draws} draws look even; {bound}"
        return f"theta {self.theta:.2f}, 95 % interval {self.low:.2f} to {self.high:.2f}, from {self.draws} draws"


def popularity(counts: Iterable[int], *, key_count: int) -> Popularity | None:
    """The law behind draws that hit each key so many times, of `key_count` keys; None where too few are known."""
    repeats = np.array([count for count in counts if count > 0], dtype=np.float64)
    draws = int(repeats.sum())
    key_count = max(key_count, len(repeats))
    if draws < DRAWS_MIN or key_count < 2:
        return None
    observed = float((repeats * (repeats - 1)).sum()) / (draws * (draws - 1))
    theta = _theta_of(observed, key_count)
    deviation = _deviation(theta, key_count, draws)
    low, high = (_theta_of(observed + sign * _Z * deviation, key_count) for sign in (-1, 1))
    return Popularity(theta=theta, low=low, high=high, draws=draws, key_count=key_count)


def _theta_of(coincidence: float, key_count: int) -> float:
    """The θ whose draws coincide with this probability, from 0 to `_THETA_MAX`."""
    if coincidence <= 1 / key_count:
        return 0.0
    low, high = 0.0, _THETA_MAX
    for _ in range(40):
        middle = (low + high) / 2
        if _power_sum(middle, key_count, 2) < coincidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _deviation(theta: float, key_count: int, draws: int) -> float:
    """Standard deviation of the estimate of Σ p²."""
    squares, cubes = _power_sum(theta, key_count, 2), _power_sum(theta, key_count, 3)
    single, pair = max(cubes - squares**2, 0.0), max(squares - squares**2, 0.0)
    return math.sqrt((4 * (draws - 2) * single + 2 * pair) / (draws * (draws - 1)))


def _power_sum(theta: float, key_count: int, power: int) -> float:
    """Σ p^power of the zipfian law."""
    return _harmonic(key_count, power * theta) / _harmonic(key_count, theta) ** power


def _harmonic(count: int, exponent: float) -> float:
    """Σ k^-exponent for k from 1 to `count`; beyond `_RANKS_MAX` by the Euler-Maclaurin formula's first terms."""
    head = min(count, _RANKS_MAX)
    total = float((np.arange(1, head + 1, dtype=np.float64) ** -exponent).sum())
    if count > head:
        first, last = head + 0.5, count + 0.5
        if exponent == 1:
            total += math.log(last / first)
        else:
            total += (last ** (1 - exponent) - first ** (1 - exponent)) / (1 - exponent)
    return total
