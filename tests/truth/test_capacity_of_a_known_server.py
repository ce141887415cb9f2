"""The search against servers whose capacity is known because it was set, on a virtual clock: the whole way through
engine, record and analysis, and only the waiting left out.
"""

import heapq
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brimline.analysis.bottleneck import BottleneckKind
from brimline.experiments.capacity.conclusion import ConclusionKind
from brimline.experiments.settings import CapacitySettings, quick, standard
from tests.support.simulation import Search, search

SEEDS = range(1, 11)
FEW_SEEDS = range(1, 3)
"""Of the quick twin."""
TOLERANCE = 0.03
SIGMA = 0.3
LIMIT_S = 0.010
"""The objective on p99 of the presets."""
OPERATIONS = 50_000
"""Of the queue from which the known answer is taken."""


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    # Durability is the record's own tests' matter, and a third of the time of a search without a server.
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def _virtual(settings: CapacitySettings) -> CapacitySettings:
    """The preset as it is, but for a calibration of a tenth: how quick the generator is was set."""
    return replace(settings, calibrate_s=0.2)


def _gate(capacity_ops_per_s: float) -> dict[str, Any]:
    """Lets one operation through each 1 / c seconds; service behind it takes time and is never full."""
    service = {"kind": "lognormal", "mean_ns": 500_000, "sigma": 0.5}
    return {"service": service, "capacity_ops_per_s": capacity_ops_per_s}


def _servers(capacity_ops_per_s: float) -> dict[str, Any]:
    """Four servers with one queue, full at 4 / (mean service time). Service times vary little, so that the queue is
    short below that rate and the objective is met up to 1 to 4 % under it.
    """
    service = {"kind": "lognormal", "mean_ns": round(4e9 / capacity_ops_per_s), "sigma": SIGMA}
    return {"service": service, "servers": 4}


def _sustained_by_a_gate(capacity_ops_per_s: float) -> float:
    """Below the gate's rate nothing waits, above it everything does."""
    return capacity_ops_per_s


def _sustained_by_servers(capacity_ops_per_s: float) -> float:
    """The rate at which the p99 of four servers reaches the objective, by bisection over one long simulated queue.

    In order of arrival to the server that is free first; service times are scaled to their mean, which is the capacity.
    """
    drawn = np.random.default_rng(1).lognormal(sigma=SIGMA, size=OPERATIONS)
    service_s = (drawn * 4 / capacity_ops_per_s / drawn.mean()).tolist()
    low, high = 0.85 * capacity_ops_per_s, capacity_ops_per_s
    while high - low > 0.001 * capacity_ops_per_s:
        rate = (low + high) / 2
        low, high = (rate, high) if _p99_s(rate, service_s) <= LIMIT_S else (low, rate)
    return low


def _p99_s(rate_ops_per_s: float, service_s: list[float]) -> float:
    free_s = [0.0] * 4
    response_s = []
    for index, length_s in enumerate(service_s):
        due_s = index / rate_ops_per_s
        done_s = max(due_s, free_s[0]) + length_s
        heapq.heapreplace(free_s, done_s)
        response_s.append(done_s - due_s)
    return float(np.quantile(response_s[OPERATIONS // 10 :], 0.99))


# Another capacity for each seed: an answer that doesn't follow the server can't be right ten times by chance.
CAPACITIES = {seed: 900.0 + 210 * seed for seed in SEEDS}


@pytest.mark.slow("several searches through engine and record")
@pytest.mark.parametrize("seeds", [FEW_SEEDS, pytest.param(SEEDS, marks=pytest.mark.long)], ids=["few", "many"])
@pytest.mark.parametrize(
    ("server", "sustained"), [(_gate, _sustained_by_a_gate), (_servers, _sustained_by_servers)], ids=["gate", "servers"]
)
def test_the_capacity_is_found(server: Any, sustained: Any, seeds: Sequence[int], tmp_path: Path) -> None:
    answers = {}
    for seed in seeds:
        full = CAPACITIES[seed]
        found = search(server(full), tmp_path / str(seed), seed=seed, settings=_virtual(quick()))
        assert found.conclusion.sweep.saturation_ops_per_s == pytest.approx(full, rel=TOLERANCE)
        answers[seed] = _relative(found, sustained(full))
    right = [seed for seed, (error, _) in answers.items() if abs(error) <= TOLERANCE]
    right_min = max(len(seeds) - 1, 1)
    assert len(right) >= right_min, answers
    covered = [seed for seed, (_, holds) in answers.items() if holds]
    assert len(covered) >= right_min, f"the interval holds the truth in {len(covered)} of {len(seeds)} seeds"


def _relative(found: Search, truth: float) -> tuple[float, bool]:
    """How far off the answer is, and whether its interval holds the truth."""
    conclusion = found.conclusion
    assert conclusion.kind is ConclusionKind.SUSTAINED, conclusion.headline
    assert conclusion.sustained is not None
    assert not conclusion.quotable
    sustained = conclusion.sustained
    return sustained.value / truth - 1, sustained.low <= truth <= sustained.high


def test_the_capacity_is_found_by_the_standard_preset(tmp_path: Path) -> None:
    found = search(_gate(700), tmp_path / "search", seed=7, settings=_virtual(standard()))
    error, holds = _relative_quotable(found, 700)
    assert abs(error) <= TOLERANCE
    assert holds


def _relative_quotable(found: Search, truth: float) -> tuple[float, bool]:
    conclusion = found.conclusion
    assert conclusion.kind is ConclusionKind.SUSTAINED, conclusion.headline
    assert conclusion.sustained is not None
    assert conclusion.quotable, conclusion.reasons_not_quotable
    sustained = conclusion.sustained
    return sustained.value / truth - 1, sustained.low <= truth <= sustained.high


def test_a_search_that_the_generator_limits_gives_a_lower_bound(tmp_path: Path) -> None:
    """A generator that needs 0.1 ms an operation is full at 10 000/s; the server would take any rate."""
    script = {"service": {"kind": "fixed", "ns": 200_000}}
    found = search(script, tmp_path / "search", seed=1, settings=_virtual(quick()), generator_ns=100_000)
    conclusion = found.conclusion
    assert conclusion.kind is ConclusionKind.BOUNDED, conclusion.headline
    assert conclusion.exit_code == 0 and conclusion.sustained is None
    assert conclusion.at_least == pytest.approx(10_000, rel=0.02)
    assert conclusion.sweep.saturation_ops_per_s is None
    assert conclusion.bottleneck is not None
    assert conclusion.bottleneck.kind is BottleneckKind.GENERATOR


def test_an_objective_that_can_not_be_met_gives_no_number(tmp_path: Path) -> None:
    script = {"service": {"kind": "fixed", "ns": 30_000_000}}
    found = search(script, tmp_path / "search", seed=1, settings=_virtual(quick()))
    assert found.conclusion.kind is ConclusionKind.SLO_UNREACHABLE
    assert found.conclusion.exit_code == 3
    assert found.conclusion.sustained is None
