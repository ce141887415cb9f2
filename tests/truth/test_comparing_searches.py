"""Searches of servers whose capacities are known, compared as their users compare them: from their records."""

import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from brimline.api.comparison import compare
from brimline.api.search_settings import settings_for
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.runner import run_trials
from brimline.record import ExperimentWriter
from tests.support.simulation import context, read_only, target

MS = 1_000_000


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def search(directory: Path, *, service_ns: int, seed: int) -> Path:
    """A quick search of a server with one place."""
    spec = read_only(seed=seed, **{"slo.response_p99": "80ms"})
    settings = replace(settings_for(spec, "quick"), calibrate_s=0.2)
    script = {"service": {"kind": "fixed", "ns": service_ns}, "servers": 1, "seed": seed}
    directory.parent.mkdir(exist_ok=True)
    with ExperimentWriter(
        directory, kind="capacity", name="known", settings={**asdict(settings), "seed": seed}, spec_text="",
        environment={}, plan_hash="0059a198",
    ) as writer:  # fmt: skip
        experiment = Capacity(settings, seed)
        run_trials(experiment, spec=spec, target=target(script), writer=writer, context=context(), slo=settings.slo)
        writer.seal(ended_by="completed")
    return directory


@pytest.mark.slow("two whole searches on the virtual clock")
def test_the_ratio_of_two_capacities_with_its_interval_and_a_gate(tmp_path: Path) -> None:
    """A server that takes half as long for each operation bears twice the rate."""
    a = search(tmp_path / "day1" / "20261101t000000z-capacity-known-1", service_ns=8 * MS, seed=1)
    b = search(tmp_path / "day2" / "20261102t000000z-capacity-known-2", service_ns=4 * MS, seed=2)
    found = compare([a.parent], [b.parent], gate={"": 0.1})
    (main, *_) = found.comparison.changes
    assert main.metric.key == "sustained" and main.change is not None
    assert main.change.low < 1.0 < main.change.high and main.change.low > 0
    assert found.comparison.verdict == "improved" and found.error is None
    assert [case.verdict for case in found.cases] == ["pass"]
    assert found.report.subtitle == "B against A, 1 and 1 searches, capacity"
    worse = compare([b], [a], gate={"sustained": 0.1})
    assert worse.error is not None and worse.error.exit_code == 3
