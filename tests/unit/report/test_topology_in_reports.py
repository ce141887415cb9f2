"""Servers without a router are named under the title of every kind of report, and never called a cluster."""

from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.observation import observe
from brimline.experiments.vary.conclusion import conclude_vary
from brimline.report import Report, blocks, in_language, run_report
from brimline.report.vary.view import vary_report
from tests.unit.experiments.vary_simulator import settings_of
from tests.unit.report import report_samples
from tests.unit.report.report_samples import ENVIRONMENT, ended_experiment, simulated_plan, write_run

ROUTED: dict[str, Any] = {
    **ENVIRONMENT,
    "server": {"kind": "client-routed shards", "lab": {"topology": "client-routed shards", "servers": 4}},
}
NAMED = "client-routed shards of a lab, servers: 4"


def _varied(*factors: str) -> Report:
    settings = settings_of(*factors, blocks=2, blocks_max=2)
    conclusion = conclude_vary(settings, [], [], seed=1)
    experiment = ended_experiment("vary", "runs/20261122t080000z-vary-ycsb-a-0059a198")
    return vary_report(experiment, [], [], conclusion, settings, environment=ROUTED)  # type: ignore[arg-type]


def test_a_run_names_servers_without_a_router(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_samples, "ENVIRONMENT", ROUTED)
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=200.0, warmup_s=0.1, duration_s=0.5))
    report = run_report(record, observe(record))
    assert report.subtitle.endswith(f" · {NAMED}")
    assert in_language(report, "zh").subtitle.endswith("客户端路由分片，服务器 4 台")


def test_a_sweep_names_them_unless_the_topology_is_what_it_varies() -> None:
    assert _varied("connections=1,4").subtitle.endswith(f" · {NAMED}")
    assert NAMED not in _varied("topology=standalone,client-routed-2", "connections=1,4").subtitle


def test_other_servers_are_described_further_down_alone() -> None:
    member = {"server": {"kind": "replica-set member", "lab": {"topology": "replica set", "servers": 3}}}
    assert blocks.subtitle(["closed loop"], member) == blocks.subtitle(["closed loop"], {}) == "closed loop"


def test_what_a_run_has_none_of_leaves_no_mark() -> None:
    assert blocks.subtitle(["closed loop", "16 connections", ""], {}) == "closed loop · 16 connections"
