"""The sentence and the figure above a factor sweep are read off the rows of its tables."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from brimline.analysis.judged_change import CLAIMS
from brimline.experiments.vary.conclusion import NAMED_MAX, VaryConclusion, conclude_vary
from brimline.experiments.vary.order import VaryLoad
from tests.unit.experiments.vary_simulator import Machine, settings_of

SETTINGS = settings_of("write-concern=1,majority", "connections=8,32", blocks=3, blocks_max=3, margin=0.03)


def concluded(law: Callable[[Mapping[str, str]], float], *, noise: float = 0.002) -> VaryConclusion:
    return conclude_vary(SETTINGS, Machine(SETTINGS, law, seed=3, noise=noise).all(), (), seed=1)


def test_a_difference_at_one_combination_alone_is_in_the_headline() -> None:
    """Half more at 8 connections and as much less at 32: over both, nothing; it said that no difference is shown."""
    found = concluded(lambda at: 1000.0 * {"8": 1.5, "32": 1 / 1.5}[at["connections"]] ** (at["write-concern"] == "1"))
    assert not [each for each in found.everywhere if each.factor == "write-concern" and each.verdict in CLAIMS]
    assert "throughput is lower with write-concern majority against 1, connections 8" in found.text
    assert "throughput is higher with write-concern majority against 1, connections 32" in found.text
    assert len(found.claims) == len([each for each in found.main_differences if each.verdict in CLAIMS]) == 3


def test_what_is_shown_everywhere_is_not_told_again_of_each_combination() -> None:
    found = concluded(lambda at: 1000.0 if at["write-concern"] == "1" else 600.0)
    assert [each.at for each in found.within if each.metric.key == "throughput" and each.verdict in CLAIMS] == [
        {"connections": "8"}, {"connections": "32"},
    ]  # fmt: skip
    assert str(found.text).count("throughput is lower with write-concern majority against 1") == 1
    assert "Service p99 is longer with write-concern majority" in found.text


def test_a_loading_that_differs_is_in_the_headline() -> None:
    settings = settings_of("indexes=none,single", blocks=3, blocks_max=3, apart=("indexes",), loads=("indexes",))
    trials = Machine(settings, lambda _: 1000.0, seed=3, noise=0.002).all()
    loads = [
        VaryLoad(block=block, levels=(level,), server=block, figures={"throughput": rate + block})
        for block in (1, 2, 3)
        for level, rate in (("none", 40_000.0), ("single", 25_000.0))
    ]
    found = conclude_vary(settings, trials, loads, seed=1)
    assert "loading is slower with indexes single against none" in found.text
    assert [each.level for each in found.claims] == ["single"]


@pytest.mark.parametrize("noise", [0.0005, 0.3])
def test_without_any_the_headline_says_so_and_so_do_all_rows(noise: float) -> None:
    found = concluded(lambda _: 1000.0, noise=noise)
    assert not found.claims
    equal = "every difference of throughput is surely too small to matter"
    assert found.text == (equal if noise < 0.01 else "no difference of throughput is shown")


@pytest.mark.parametrize("seed", range(12))
def test_the_headline_speaks_of_a_difference_exactly_where_a_row_shows_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    speeds = {levels: 1000.0 * float(rng.choice([1.0, 1.0, 1.3])) for levels in SETTINGS.combinations}
    noise = float(rng.choice([0.001, 0.02, 0.2]))
    found = concluded(lambda at: speeds[at["write-concern"], at["connections"]], noise=noise)
    rows = [*found.everywhere, *found.within, *found.load_differences]
    shown = [each for each in rows if each.metric.key == "throughput" and each.verdict in CLAIMS]
    denied = any(words in found.text for words in ("no difference of throughput", "surely too small"))
    assert denied is not bool(shown) and len(found.claims) == len(shown)
    assert any(f"throughput is {way} with" in found.text for way in ("higher", "lower")) is bool(shown)


def test_many_differences_are_counted_and_not_all_named() -> None:
    settings = settings_of("cache-gb=1,2,3,4", "connections=8,32", blocks=3, blocks_max=3, margin=0.03)
    law = Machine(settings, lambda at: 1000.0 * int(at["cache-gb"]) * int(at["connections"]), seed=3, noise=0.002)
    found = conclude_vary(settings, law.all(), (), seed=1)
    assert str(found.text).count("; ") == NAMED_MAX and "more differences are in the tables" in found.text
