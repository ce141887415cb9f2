"""Capacity of a server that slows down for 6 s in each 60 s, as a checkpoint makes it: on a virtual clock, with the
answer known. During the slow-down it does 1 / 1.56 of its work, so that this is what it sustains; who looks for 10 s at
a time sees the full rate.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.objective import Slo
from brimline.analysis.observation import observe
from brimline.analysis.verdict import Verdict, judge
from brimline.experiments.capacity.conclusion import ConclusionKind
from brimline.experiments.settings import standard
from tests.support.simulation import search, simulate

S = 1_000_000_000
FULL_OPS_PER_S = 700.0
SLOWDOWN = 1.56
SUSTAINED_OPS_PER_S = FULL_OPS_PER_S / SLOWDOWN
TOLERANCE = 0.03


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def slowing_server() -> dict[str, Any]:
    return {
        "service": {"kind": "lognormal", "mean_ns": 500_000, "sigma": 0.5},
        "capacity_ops_per_s": FULL_OPS_PER_S,
        "stalls": [{"at_ns": 30 * S, "length_ns": 6 * S, "every_ns": 60 * S, "slowdown": SLOWDOWN}],
    }


def test_the_standard_search_finds_what_the_server_sustains(tmp_path: Path) -> None:
    found = search(slowing_server(), tmp_path / "search", seed=3, settings=replace(standard(), calibrate_s=0.2))
    conclusion = found.conclusion
    assert conclusion.kind is ConclusionKind.SUSTAINED, conclusion.headline
    assert conclusion.sustained is not None
    assert conclusion.sustained.value == pytest.approx(SUSTAINED_OPS_PER_S, rel=TOLERANCE)
    assert conclusion.sustained.low <= SUSTAINED_OPS_PER_S <= conclusion.sustained.high
    assert conclusion.quotable
    assert conclusion.sweep.saturation_ops_per_s == pytest.approx(FULL_OPS_PER_S, rel=TOLERANCE)


def test_single_probes_of_ten_seconds_err_by_half(tmp_path: Path) -> None:
    low, high = 0.5 * SUSTAINED_OPS_PER_S, 2.0 * SUSTAINED_OPS_PER_S
    for step in range(8):
        rate = round((low + high) / 2, 1)
        record = simulate(
            slowing_server(), tmp_path / str(step), load={"kind": "constant", "rate": rate}, warmup="0s", duration="10s"
        )
        passed = judge(observe(record), Slo()).verdict is Verdict.PASS
        low, high = (rate, high) if passed else (low, rate)
    assert low / SUSTAINED_OPS_PER_S - 1 == pytest.approx(SLOWDOWN - 1, abs=0.04)
