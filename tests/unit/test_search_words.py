"""What a Python call can say about a search, and what becomes of it."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import brimline
from brimline.errors import UsageError
from brimline.experiments.axis import On
from brimline.experiments.capacity.frontier import FrontierSettings
from brimline.experiments.settings import CapacitySettings


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The settings of each search that was asked for; nothing is measured."""
    asked: list[Any] = []
    verb = import_module("brimline.api.capacity")
    monkeypatch.setattr(verb, "search_loaded", lambda _loaded, settings, _options: asked.append(settings))
    return asked


def test_capacity_takes_every_word_of_the_command_line(searched: list[Any]) -> None:
    brimline.capacity("ycsb-b", preset="quick", on="threads", loops=4, ramp_up_s=2.0, budget_s=600.0)
    (settings,) = searched
    assert isinstance(settings, CapacitySettings)
    assert (settings.on, settings.loops, settings.ramp_up_s, settings.budget_s) == (On.THREADS, 4, 2.0, 600.0)
    assert settings.budget_elapses


def test_connections_of_the_probes_can_be_said(searched: list[Any]) -> None:
    brimline.capacity("ycsb-b", preset="quick", connections=300)
    brimline.frontier("ycsb-b", limits_ns=[5_000_000, 10_000_000], connections=7)
    capacity, frontier = searched
    assert (capacity.connections_min, capacity.connections_max) == (300, 300)
    assert (frontier.search.connections_min, frontier.search.connections_max) == (7, 7)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"connections": 0}, "connections must be 1 to 50000, not 0"),
        ({"connections": 10**9}, "connections must be 1 to 50000"),
        ({"connections": 8, "on": "connections"}, "a search on connections finds its own"),
    ],
)
def test_connections_that_can_not_be_are_told(words: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        brimline.capacity("ycsb-b", **words)
    assert caught.value.hint


def test_threads_without_loops_are_told() -> None:
    with pytest.raises(UsageError, match="loops: must be in 1 to"):
        brimline.capacity("ycsb-b", on="threads", loops=0, ramp_up_s=2.0)


def test_a_frontier_takes_the_same_words(searched: list[Any]) -> None:
    brimline.frontier("ycsb-b", limits_ns=[5_000_000, 10_000_000], on="connections", budget_s=3600.0)
    (settings,) = searched
    assert isinstance(settings, FrontierSettings)
    assert (settings.search.on, settings.search.budget_s) == (On.CONNECTIONS, 3600.0)
    assert settings.limits_ns == (10_000_000, 5_000_000)


def test_what_can_not_be_searched_is_named() -> None:
    with pytest.raises(UsageError, match='"pools" can\'t be searched'):
        brimline.capacity("ycsb-b", on="pools")


@pytest.mark.parametrize(
    ("words", "said"),
    [({"loops": 10**20, "ramp_up_s": 2.0}, "loops: "), ({"loops": 4, "ramp_up_s": 1e12}, "ramp_up: ")],
)
def test_l_and_r_have_bounds_that_are_told_before_anything_starts(words: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        brimline.capacity("ycsb-b", on="threads", **words)


@pytest.mark.parametrize("limit_ns", [0, 10**15])
def test_limits_of_a_frontier_have_bounds_that_are_told_before_anything_starts(limit_ns: int) -> None:
    with pytest.raises(UsageError, match="must be in 1ns to 1h"):
        brimline.frontier("ycsb-b", limits_ns=[limit_ns, 10_000_000])


def test_nothing_to_go_on_with(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no experiment to go on with"):
        brimline.resume_search(tmp_path)


def test_what_the_package_offers_is_there() -> None:
    assert all(getattr(brimline, name) is not None for name in brimline.__all__)


def test_windows_hold_enough_to_show_a_limit_on_failures_that_was_asked_for(searched: list[Any]) -> None:
    for overrides in ({}, {"slo.error_rate": "0.1%"}, {"slo.update.error_rate": "1%"}, {"slo.error_rate": "0%"}):
        brimline.capacity("ycsb-a", preset="quick", overrides=overrides)
    assert [each.operations_min for each in searched] == [400, 3688, 736, 400]
