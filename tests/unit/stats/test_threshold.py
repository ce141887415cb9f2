import numpy as np
import pytest

from brimline.stats.threshold import Answer, Outcome, ThresholdPosterior

PASS, FAIL, BORDERLINE = Outcome.PASS, Outcome.FAIL, Outcome.BORDERLINE


def posterior(*answers: tuple[float, Outcome], low: float = 100, high: float = 10_000) -> ThresholdPosterior:
    return ThresholdPosterior([Answer(rate, outcome) for rate, outcome in answers], low=low, high=high)


def test_without_answers_every_log_rate_is_as_likely() -> None:
    assert posterior().quantile(0.5) == pytest.approx(1000, rel=0.002)
    assert posterior().quantile(0.25) == pytest.approx(316, rel=0.005)


def test_lies_between_pass_and_fail() -> None:
    low, high = posterior((900, PASS), (1000, FAIL), low=800, high=1100).interval(0.5)
    assert 900 <= low < high <= 1000


def test_a_contradicted_probe_loses() -> None:
    """One unlucky failure at 700 against two passes at 900: the threshold is above 900."""
    contradicted = posterior((700, FAIL), (900, PASS), (900, PASS), (1000, FAIL))
    assert 890 < contradicted.quantile(0.5) < 1010


def test_a_borderline_probe_is_near_the_threshold() -> None:
    low, high = posterior((900, PASS), (1000, BORDERLINE), (1100, FAIL), low=800, high=1200).interval(0.6)
    assert 940 < low < 1000 < high < 1060


def test_bisection_by_medians_closes_in_on_a_hard_limit() -> None:
    answers: list[tuple[float, Outcome]] = []
    for _ in range(14):
        rate = posterior(*answers).quantile(0.5)
        answers.append((rate, PASS if rate <= 3210 else FAIL))
    assert posterior(*answers).quantile(0.5) == pytest.approx(3210, rel=0.01)


def test_bisection_survives_wrong_answers() -> None:
    """Every tenth answer is wrong; plain bisection would never come back."""
    close = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        answers: list[tuple[float, Outcome]] = []
        for _ in range(25):
            rate = posterior(*answers).quantile(0.5)
            right = rng.random() > 0.1
            answers.append((rate, PASS if (rate <= 3210) == right else FAIL))
        close += abs(posterior(*answers).quantile(0.5) / 3210 - 1) < 0.02
    assert close >= 7


def test_bootstrap_needs_both_sides() -> None:
    low, high = posterior((900, PASS), (950, PASS), (1000, FAIL), (1050, FAIL)).bootstrap_interval(seed=1)
    assert low <= 960 and high >= 990
    narrow = posterior(*[(970, PASS)] * 10, *[(980, FAIL)] * 10).bootstrap_interval(seed=1)
    assert narrow[1] - narrow[0] < high - low


def test_bad_range() -> None:
    with pytest.raises(ValueError, match="no rates"):
        ThresholdPosterior([], low=10, high=10)
