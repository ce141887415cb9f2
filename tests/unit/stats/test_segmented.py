"""Segmented regression against data whose break is known: its place within the interval, and no break where none is."""

from collections.abc import Callable

import numpy as np
import pytest

from brimline.stats.segmented import ALPHA, VOLUMES_MIN, Course, Direction, Segmented, find_break
from tests.support.repetitions import repetitions

VOLUMES = [40.0 * step for step in range(1, 15)]
BREAK_AT = 250.0
RISES: dict[Course, Callable[[float], float]] = {
    Course.LINEAR: lambda relative: relative - 1,
    Course.LOGARITHMIC: np.log,
    Course.SATURATING: lambda relative: 1 - 1 / relative,
}


def course(volume: float, kind: Course | None, *, rise: float = 0.6) -> float:
    """40 at first, slowly growing as the volume does; beyond the break it rises in one of the three ways."""
    beyond = 0.0 if kind is None else RISES[kind](max(volume / BREAK_AT, 1.0))
    return 40.0 * (volume / VOLUMES[0]) ** 0.05 * (1 + rise * beyond)


def noisy(kind: Course | None, rng: np.random.Generator, *, noise: float = 0.02, heavy: bool = False) -> list[float]:
    draws = rng.standard_t(3, len(VOLUMES)) / 1.7 if heavy else rng.normal(size=len(VOLUMES))
    return [course(volume, kind) * float(np.exp(noise * draw)) for volume, draw in zip(VOLUMES, draws, strict=True)]


def looked_at(values: list[float], seed: int = 0) -> Segmented:
    return find_break(VOLUMES, values, unit="records", seed=seed)


@pytest.mark.parametrize("count", [10, *repetitions(100)])
@pytest.mark.parametrize("kind", list(Course))
def test_a_break_is_found_where_it_is_and_its_interval_holds_it(kind: Course, count: int) -> None:
    rng = np.random.default_rng(1)
    found = [looked_at(noisy(kind, rng), seed).found for seed in range(count)]
    places = [each.position for each in found if each is not None]
    assert len(places) >= 0.97 * count
    assert np.mean([each.low <= BREAK_AT <= each.high for each in places]) >= 0.85
    assert np.mean([abs(each.value / BREAK_AT - 1) <= 0.15 for each in places]) >= 0.85


@pytest.mark.parametrize("count", [25, *repetitions(300)])
@pytest.mark.parametrize("heavy", [False, True], ids=["normal noise", "heavy tails"])
def test_there_is_no_break_where_there_is_none(heavy: bool, count: int) -> None:
    rng = np.random.default_rng(2)
    chances = np.array([looked_at(noisy(None, rng, noise=0.04, heavy=heavy), seed).p_value for seed in range(count)])
    # Each bound is four standard errors of a share above what it must be on average.
    for alpha in (ALPHA, 0.05):
        assert np.mean(chances <= alpha) <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / count)


def test_without_noise_the_place_is_exact_to_the_grid() -> None:
    found = looked_at([course(volume, Course.SATURATING) for volume in VOLUMES]).found
    assert found is not None
    assert found.position.value == pytest.approx(BREAK_AT, rel=0.03)


def test_a_course_that_never_changes_has_none() -> None:
    result = looked_at([course(volume, None) for volume in VOLUMES])
    assert result.found is None
    assert result.fitted == pytest.approx([course(volume, None) for volume in VOLUMES])


def test_a_fall_is_no_rise() -> None:
    falling = [1e6 / course(volume, Course.LINEAR) for volume in VOLUMES]
    assert looked_at(falling).found is None
    found = find_break(VOLUMES, falling, unit="records", direction=Direction.FALL).found
    assert found is not None
    assert found.ratio < 1 / 1.1
    assert found.position.value == pytest.approx(BREAK_AT, rel=0.15)


def test_a_change_too_small_to_matter_is_no_break() -> None:
    rng = np.random.default_rng(3)
    slight = [course(volume, Course.LINEAR, rise=0.05) * float(np.exp(0.001 * rng.normal())) for volume in VOLUMES]
    result = looked_at(slight)
    assert result.p_value <= ALPHA
    assert result.found is None
    assert find_break(VOLUMES, slight, unit="records", ratio_min=1.01).found is not None


def test_a_jump_by_three_orders_of_magnitude_is_found_between_its_neighbours() -> None:
    """The field's own series, with more volumes: 0.03 ms to 30 M records, 1.8 ms at 40 M, 23 ms at 100 M."""
    millions = [5, 10, 15, 20, 25, 30, 40, 60, 80, 100, 200, 300]
    times_ms = [0.03, 0.031, 0.03, 0.029, 0.03, 0.03, 1.8, 9.0, 17.0, 23.0, 30.0, 34.0]
    found = find_break(millions, times_ms, unit="M records").found
    assert found is not None
    assert 30 <= found.position.value <= 40


def test_too_few_volumes_say_so() -> None:
    few = VOLUMES[: VOLUMES_MIN - 1]
    assert find_break(few, [1.0] * len(few), unit="records").too_few


def test_values_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        find_break(VOLUMES, [0.0] * len(VOLUMES), unit="records")
