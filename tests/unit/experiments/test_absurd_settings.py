"""Numbers that nobody means are refused before anything is made of them."""

import pytest

from brimline.experiments.paired.ab import ABSettings
from brimline.experiments.settings import SweepSettings


@pytest.mark.parametrize("changes", [{"repeats": 10**11}, {"connections_max": 10**9}, {"repeats": 0}])
def test_a_sweep_has_bounds(changes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="a sweep"):
        SweepSettings(**changes)


@pytest.mark.parametrize("pairs", [0, 10**10])
def test_a_comparison_has_bounds(pairs: int) -> None:
    with pytest.raises(ValueError, match="a comparison"):
        ABSettings(pairs=pairs)
