"""Searches on T and for several limits as their records tell them: read back, concluded anew, and put into reports."""

import itertools
import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.api.reopen import open_result
from brimline.api.results import CapacityResult, FrontierResult, Result
from brimline.api.search_settings import SearchWords, frontier_settings, settings_for
from brimline.experiments import conductor
from brimline.experiments.axis import On
from brimline.experiments.capacity.frontier import Frontier, FrontierSettings
from brimline.experiments.capacity.search import Capacity
from brimline.experiments.runner import Experiment, run_trials
from brimline.experiments.settings import CapacitySettings
from brimline.record import ExperimentWriter
from brimline.report import render_html
from brimline.report.view import Facts, Table
from tests.support.simulation import context, read_only, target

S, MS = 1_000_000_000, 1_000_000
SERVER = {"service": {"kind": "lognormal", "mean_ns": S // 1000, "sigma": 0.5}, "servers": 1, "seed": 3}


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def measured(
    directory: Path, kind: str, experiment: Experiment, settings: CapacitySettings | FrontierSettings
) -> Result:
    slo = settings.search.slo if isinstance(settings, FrontierSettings) else settings.slo
    with ExperimentWriter(
        directory, kind=kind, name="known", settings={**asdict(settings), "seed": 1}, spec_text="", environment={}
    ) as writer:
        run_trials(experiment, spec=read_only(), target=target(SERVER), writer=writer, context=context(), slo=slo)
        writer.seal(ended_by="completed")
    return open_result(directory, runs_dir=directory.parent)


def check_lint(result: Result) -> None:
    """The report recomputes its headline, and finds nothing that contradicts it."""
    said = document(result)["lint"]
    assert [each["evidence"] for each in said if each["result"] in ("fail", "warn")] == []
    assert [each["result"] for each in said if each["name"] == "restated" and "headline" in each["evidence"]] == [
        "pass"
    ]


def document(result: Result) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(result.report.data, allow_nan=False))
    return read


def test_a_search_on_threads(tmp_path: Path) -> None:
    words = SearchWords(on=On.THREADS, loops=2, ramp_up_s=5.0)
    spec = read_only(slo={"response_p95": "8ms", "read": {"response_p97.5": "30ms"}})
    settings = replace(settings_for(spec, "quick", words), calibrate_s=0.2)
    result = measured(tmp_path / "x", "capacity", Capacity(settings, 1), settings)
    assert isinstance(result, CapacityResult)
    assert result.settings == settings, "settings read back as they were"
    said = document(result)
    assert (said["on"], said["limit_unit"], said["loops"], said["ramp_up_s"]) == ("threads", "threads", 2, 5.0)
    assert said["sustained_ops_per_s"] is None and said["limit"] == result.conclusion.figure
    assert [each["text"] for each in said["objective"]["objectives"]] == [
        "service p95 ≤ 8 ms",
        "read service p97.5 ≤ 30 ms",
        "errors ≤ 0.1 %",
    ]
    assert said["objective"]["response_p99_ns"] is None
    knee, recommended = said["knee_interval_connections"], said["recommended_connections"]
    assert knee[0] <= said["knee_connections"] <= knee[1]
    assert recommended[0] == said["knee_connections"] <= recommended[1]
    html = render_html(result.report)
    assert "Most threads within the objective" in html and "threads (T of T-L-R)" in html
    assert "service p95" in html and "p99 ≤" not in html
    (block,) = next(each for each in result.report.sections if each.id == "further").blocks
    assert isinstance(block, Facts)
    facts = {fact.label: fact for fact in block.facts}
    assert "assuming that runs differ by 1 %" in facts["Knee"].note and facts["Recommended"].value == "1 connection"
    assert result.error is None, result.conclusion.headline
    check_lint(result)


def test_a_search_on_connections(tmp_path: Path) -> None:
    settings = settings_for(read_only(slo={"response_p99": "40ms"}), "quick", SearchWords(on=On.CONNECTIONS))
    settings = replace(settings, calibrate_s=0.2)
    result = measured(tmp_path / "x", "capacity", Capacity(settings, 1), settings)
    assert result.error is None
    said = document(result)
    assert result.report.verdict.figure == str(round(said["limit"])) and said["limit_unit"] == "connections"
    check_lint(result)


def test_a_frontier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a machine that takes seconds for each probe: the clock of a simulated search is its own."""
    looks_s = itertools.count(0.0, 5.0)
    monkeypatch.setattr(conductor, "time", SimpleNamespace(monotonic=lambda: next(looks_s)))
    settings = frontier_settings(read_only(), "quick", [20 * MS, 6 * MS])
    settings = replace(settings, search=replace(settings.search, calibrate_s=0.2))
    result = measured(tmp_path / "x", "frontier", Frontier(settings, 1), settings)
    assert isinstance(result, FrontierResult)
    assert result.settings == settings
    said = document(result)
    assert [point["limit_ns"] for point in said["points"]] == [20 * MS, 6 * MS]
    limits = [point["limit"] for point in said["points"]]
    assert limits[0] > limits[1] > 400
    assert all(point["limit_interval"][0] <= point["limit"] <= point["limit_interval"][1] for point in said["points"])
    html = render_html(result.report)
    assert "What a tighter objective costs" in html and "response p99 ≤ 6 ms" in html
    assert result.error is None and result.exit_code == 0
    check_lint(result)
    # Each limit's verified level is in the table of levels, with every window that was measured at it.
    (levels,) = [
        block
        for section in result.report.sections
        for block in section.blocks
        if isinstance(block, Table) and "Candidate" in [column.label for column in block.columns]
    ]
    texts = [[cell.text for cell in row] for row in levels.rows]
    verified = [row for row in texts if row[1] == "verified"]
    assert [row[0] for row in verified] == ["response p99 ≤ 20 ms", "response p99 ≤ 6 ms"]
    assert [float(row[2].replace(" ", "")) for row in verified] == limits
    assert [int(row[4]) for row in verified] == [point["verifications"] for point in said["points"]]
    # Each probe is judged by the limit that asked for it.
    goals = {probe["goal"] for probe in said["probes"] if probe["stage"] in ("search", "verify")}
    assert goals == {"20ms", "6ms"}
