"""Searches on connections, on T of T-L-R, for several limits, and amid noise: on a virtual clock."""

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.api.search_settings import SearchWords, frontier_settings, settings_for
from brimline.experiments.axis import On
from brimline.experiments.capacity.frontier import Frontier
from brimline.experiments.runner import run_trials
from brimline.experiments.settings import CapacitySettings, Grade
from brimline.record import ExperimentWriter
from tests.support.repetitions import repetitions
from tests.support.simulation import context, read_only, search, target

S, MS = 1_000_000_000, 1_000_000
GATE_OPS_PER_S = 700.0
SERVICE_OPS_PER_S = 4000


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def gate(**more: Any) -> dict[str, Any]:
    return {
        "service": {"kind": "lognormal", "mean_ns": 500_000, "sigma": 0.5},
        "capacity_ops_per_s": GATE_OPS_PER_S,
        **more,
    }


def quick_settings(words: SearchWords, **overrides: object) -> CapacitySettings:
    return replace(settings_for(read_only(**overrides), "quick", words), calibrate_s=0.2)


def test_the_threads_of_tlr(tmp_path: Path) -> None:
    """Threads whose 4 loops are offered over 10 s fill a gate of 700/s when there are 1 750 of them."""
    settings = quick_settings(SearchWords(on=On.THREADS, loops=4, ramp_up_s=10.0))
    conclusion = search(gate(), tmp_path / "search", seed=1, settings=settings).conclusion
    assert conclusion.sustained is not None, conclusion.headline
    assert conclusion.sustained.value == pytest.approx(GATE_OPS_PER_S * 10 / 4, rel=0.03)
    assert conclusion.sustained.low <= 1750 <= conclusion.sustained.high
    assert "L = 4, R = 10 s: T·L/R = 69" in conclusion.headline and "service p99" in conclusion.headline


def test_the_connections_of_a_closed_loop(tmp_path: Path) -> None:
    """N connections on a gate of 700/s wait N / 700 s: 28 of them for 40 ms."""
    settings = quick_settings(SearchWords(on=On.CONNECTIONS), **{"slo.response_p99": "40ms"})
    conclusion = search(gate(), tmp_path / "search", seed=1, settings=settings).conclusion
    assert conclusion.sustained is not None, conclusion.headline
    assert conclusion.sustained.unit == "connections"
    assert 25 <= conclusion.sustained.value <= 29
    assert "most 2" in conclusion.headline and "at service p99 ≤ 40 ms" in conclusion.headline


def exponential_capacity(target_s: float) -> float:
    """Rate at which the p99 reaches the target: response time is exponential with rate μ (1 − σ), where σ solves
    σ = exp(−μ (1 − σ) / λ).
    """
    sigma = 1 - math.log(100) / target_s / SERVICE_OPS_PER_S
    return -SERVICE_OPS_PER_S * (1 - sigma) / math.log(sigma)


@pytest.mark.long
def test_a_frontier_in_one_search(tmp_path: Path) -> None:
    """One exponential server and even arrivals, the D/M/1 queue: the tighter the limit, the lower the rate.

    `test_a_frontier` of `test_reports_of_searches.py` and `test_budget_and_frontier.py` are the quick twins.
    """
    script = {"service": {"kind": "exponential", "mean_ns": 1 * S // SERVICE_OPS_PER_S}, "servers": 1}
    spec = read_only()
    settings = frontier_settings(spec, "quick", [3 * MS, 10 * MS, 5 * MS])
    settings = replace(settings, search=replace(settings.search, calibrate_s=0.2))
    experiment = Frontier(settings, 1)
    with ExperimentWriter(
        tmp_path / "search", kind="frontier", name="simulated", settings={}, spec_text="", environment={}
    ) as writer:
        trials = run_trials(experiment, spec=spec, target=target(script), writer=writer, context=context())
    found = experiment.conclude(trials)
    assert [point.settings.slo.leading.limit_ns // MS for point in found.points] == [10, 5, 3]
    assert found.worst.exit_code == 0, found.worst.headline
    values = [point.figure or 0.0 for point in found.points]
    assert values == sorted(values, reverse=True)
    for point in found.points:
        # A look, and a soft limit: what holds three times in a row is rather low.
        truth = exponential_capacity(point.settings.slo.leading.limit_ns / S)
        assert -0.06 <= (point.figure or 0.0) / truth - 1 <= 0.02
    # The sweep ran once, and later limits began with what was known.
    assert len({trial.probe.connections for trial in trials if trial.probe.stage == "sweep"}) == sum(
        trial.probe.stage == "sweep" for trial in trials
    )


NOISE: Mapping[str, Mapping[str, Any]] = {
    # Half a second of nothing each 7 s: some windows of 4 s hold one, others don't.
    "stalls that hit some windows": {"stalls": [{"at_ns": 3 * S, "length_ns": S // 2, "every_ns": 7 * S}]},
    "replies that fail by chance": {
        "faults": [{"when": {"share": 0.0011}, "kind": {"error": {"code": 112, "name": "WriteConflict"}}}]
    },
}


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("seed", [1, *repetitions(2, 3)])
def test_noise_is_never_a_narrow_figure(name: str, seed: int, tmp_path: Path) -> None:
    settings = quick_settings(SearchWords())
    conclusion = search(gate(**NOISE[name]), tmp_path / "search", seed=seed, settings=settings).conclusion
    assert conclusion.grade is not Grade.VERIFIED, conclusion.headline
    if conclusion.sustained is not None:
        assert conclusion.sustained.relative_width > 0.1 and conclusion.not_narrower
