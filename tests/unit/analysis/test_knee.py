from dataclasses import replace

import numpy as np
import pytest

from brimline.analysis.knee import Band, Level, find_knee, recommended_band
from brimline.experiments.trial import Probe
from brimline.stats.estimate import Estimate
from tests.unit.experiments.observations import MS, closed_trial


def level(
    connections: int, rates: list[float], *, p99_ms: float = 1.0, usable: bool = True, half: float = 0.0
) -> Level:
    probe = Probe(
        stage="sweep",
        label="x",
        target="server",
        connections=connections,
        rate_ops_per_s=None,
        warmup_s=0,
        duration_s=10,
    )
    runs = []
    for rate in rates:
        spread = Estimate(value=rate, low=rate - half, high=rate + half, unit="ops/s") if half else None
        runs.append(replace(closed_trial(probe, rate).observation, throughput=spread))
    return Level(
        connections=connections,
        runs=runs,
        throughput_ops_per_s=float(np.mean(rates)),
        service_p99_ns=round(p99_ms * MS),
        usable=usable,
    )


def test_a_clear_knee_lies_between_two_levels() -> None:
    knee = find_knee([level(n, [min(1000.0 * n, 8000.0)]) for n in (1, 2, 4, 8, 16, 32)], seed=1)
    assert knee is not None
    # 4 is below and 8 is on the plateau: anything from 5 on may be the smallest.
    assert (knee.connections, knee.low, knee.high) == (8, 5, 8)
    # One run per level: how much runs differ is assumed and not measured, so that nothing is 95 % sure.
    assert knee.interval_text == "5–8 assuming that runs differ by 1 %"


def test_a_level_at_the_edge_of_the_plateau_widens_the_interval() -> None:
    knee = find_knee([level(n, [rate]) for n, rate in ((4, 4000), (8, 7620), (16, 8000), (32, 8000))], seed=1)
    assert knee is not None
    assert (knee.connections, knee.low, knee.high) == (8, 5, 16)


def test_repeats_tell_more_than_one_run() -> None:
    quiet = [level(4, [4000.0] * 3), level(8, [7620.0, 7621.0, 7622.0]), level(16, [7990.0, 8000.0, 8010.0])]
    knee = find_knee(quiet, seed=1)
    assert knee is not None and (knee.low, knee.high) == (5, 8)
    assert knee.interval_text == "95 % CI 5–8"


def test_one_level_without_repeats_makes_the_interval_an_assumption() -> None:
    knee = find_knee([level(4, [4000.0] * 2), level(8, [8000.0] * 3), level(16, [8000.0] * 3)], seed=1)
    assert knee is not None and knee.assumed_drift == 0.01
    assert "CI" not in knee.interval_text


def test_a_noisy_run_widens_the_interval() -> None:
    noisy = [level(4, [4000.0]), level(8, [7900.0], half=1500.0), level(16, [8000.0], half=1500.0)]
    knee = find_knee(noisy, seed=1)
    assert knee is not None and (knee.low, knee.high) == (5, 16)


def test_what_shows_nothing_of_the_target_has_no_say() -> None:
    levels = [level(8, [8000.0], usable=False), level(16, [8000.0])]
    knee = find_knee(levels, seed=1)
    assert knee is not None and knee.connections == 16
    assert find_knee(levels[:1], seed=1) is None


@pytest.mark.parametrize(
    ("rest", "band"),
    [
        ([(16, 8100, 2.0), (32, 8100, 4.0)], (8, 8)),  # p99 doubles, throughput stays
        ([(16, 8300, 2.0), (32, 8350, 4.0)], (8, 16)),  # 4 % more are worth it
        ([(16, 8010, 1.1), (32, 8020, 1.2), (64, 8000, 2.4)], (8, 32)),  # p99 stays as well
    ],
)
def test_recommended_band(rest: list[tuple[int, float, float]], band: tuple[int, int]) -> None:
    levels = [level(4, [4000.0]), level(8, [8000.0]), *(level(n, [x], p99_ms=p99) for n, x, p99 in rest)]
    knee = find_knee(levels, seed=1)
    assert knee is not None
    assert recommended_band(levels, knee) == Band(low=band[0], high=band[1])


def test_band_in_words() -> None:
    assert Band(low=8, high=16).text == "8 to 16 connections"
    assert Band(low=8, high=8).text == "8 connections"
