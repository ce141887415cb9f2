"""A search with a limit on the mean, against a queue whose mean response time is known in closed form."""

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.verdict import Verdict, judge_objective
from brimline.experiments.capacity.conclusion import ConclusionKind
from brimline.experiments.settings import quick
from tests.support.simulation import search, simulate

FULL_OPS_PER_S = 2000.0
LIMIT_NS = 2_000_000
SERVER = {"service": {"kind": "exponential", "mean_ns": round(1e9 / FULL_OPS_PER_S)}, "servers": 1}
"""One server with exponential service times; the search offers at equal distances: D/M/1."""
SLO = Slo(latencies=(LatencyObjective(quantile=None, limit_ns=LIMIT_NS),))


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def rate_of_mean(mean_s: float) -> float:
    """The rate at which the mean response time of D/M/1 is this: 1 / (mu (1 - s)), with s = exp(-mu (1 - s) / rate).

    Gross and Harris, "Fundamentals of queueing theory", 5.1.4.
    """
    left = 1 / (FULL_OPS_PER_S * mean_s)
    return -FULL_OPS_PER_S * left / math.log(1 - left)


def rate_that_windows_bear(window_s: float, hold: float) -> float:
    """The rate at which a share `hold` of such windows has a mean within the limit, by Lindley's recursion."""
    rng, windows = np.random.default_rng(5), 120
    low, high = 0.7 * FULL_OPS_PER_S, rate_of_mean(LIMIT_NS / 1e9)
    while high - low > 0.002 * FULL_OPS_PER_S:
        rate = (low + high) / 2
        count = round(window_s * rate)
        service_s = rng.exponential(1 / FULL_OPS_PER_S, size=(windows, count))
        waits_s, responses_s = np.zeros(windows), np.zeros(windows)
        for place in range(count):
            responses_s += waits_s + service_s[:, place]
            waits_s = np.maximum(waits_s + service_s[:, place] - 1 / rate, 0.0)
        held = float(np.mean(responses_s / count <= LIMIT_NS / 1e9))
        low, high = (rate, high) if held >= hold else (low, rate)
    return low


def run_at(rate: float, tmp_path: Path, *, duration: str) -> Observation:
    """One run at a rate, with as many connections as it takes."""
    load = {"kind": "constant", "rate": rate}
    record = simulate(SERVER, tmp_path / "run", load=load, connections=200, warmup="1s", duration=duration)
    return observe(record, objectives=SLO.latencies)


def test_the_mean_of_a_run_is_the_queues_with_its_interval(tmp_path: Path) -> None:
    rate = rate_of_mean(0.0015)
    seen = run_at(rate, tmp_path, duration="40s").quantile((None, "response", None))
    assert seen is not None and seen.low_ns is not None and seen.high_ns is not None
    assert seen.low_ns <= 1_500_000 <= seen.high_ns
    assert (seen.high_ns - seen.low_ns) / seen.value_ns < 0.25


@pytest.mark.parametrize(("share", "verdict"), [(0.8, Verdict.PASS), (1.05, Verdict.FAIL)])
def test_a_run_is_judged_by_its_mean(share: float, verdict: Verdict, tmp_path: Path) -> None:
    rate = share * rate_of_mean(LIMIT_NS / 1e9)
    judgement = judge_objective(run_at(rate, tmp_path, duration="20s"), SLO)
    assert judgement.verdict is verdict
    assert any("response mean" in each.evidence for each in judgement.objectives)


@pytest.mark.slow("a whole search, and the queue that it is held against")
def test_the_search_finds_the_rate_whose_windows_hold_the_mean(tmp_path: Path) -> None:
    settings = replace(quick(SLO), calibrate_s=0.2)
    found = search(SERVER, tmp_path / "search", seed=3, settings=settings).conclusion
    assert found.kind is ConclusionKind.SUSTAINED and found.sustained is not None, found.headline
    truth = rate_that_windows_bear(settings.window_s, settings.hold)
    assert found.sustained.low <= truth <= found.sustained.high
    assert found.sustained.value == pytest.approx(truth, rel=0.08)
    assert found.sustained.value < rate_of_mean(LIMIT_NS / 1e9)  # where only half of the windows hold it
