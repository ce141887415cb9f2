"""What a comparison takes from results of other tools and from imports of data."""

from dataclasses import replace
from pathlib import Path

import pytest

from brimline.analysis.compared_imports import compared_import, compared_imported
from brimline.analysis.comparison import compare_runs
from brimline.analysis.judged_change import ChangeVerdict
from brimline.compat.results import import_files
from tests.unit.compat.results.jtl import uniform, write
from tests.unit.report.import_samples import an_import


def test_a_run_of_jmeter_has_the_percentiles_of_its_samples(tmp_path: Path) -> None:
    run = compared_imported(import_files([write(tmp_path / "a.jtl", uniform(2000))]))
    assert run.kind == "imported closed loop" and run.settings["tool", "name"] == "JMeter"
    assert run.figures.keys() >= {"throughput", "p50", "p95", "errors"}
    assert run.ends == {} and run.distribution
    assert run.problems == ()


def test_one_run_of_another_tool_is_one_unit(tmp_path: Path) -> None:
    """However many samples it has: two such runs show no spread, two a side do."""
    runs = [compared_imported(import_files([write(tmp_path / f"{name}.jtl", uniform(2000))])) for name in "abcd"]
    one = compare_runs(runs[:1], runs[1:2])
    assert one.verdict is ChangeVerdict.NO_CLAIM and one.reason.startswith("One run of either side")
    faster = [replace(run, figures={**run.figures, "p50": run.figures["p50"] * (0.5 + n / 50)})
              for n, run in enumerate(runs[2:])]  # fmt: skip
    two = compare_runs(runs[:2], faster)
    assert {each.metric.key: each.verdict for each in two.changes}["p50"] is ChangeVerdict.IMPROVED


def test_more_threads_of_another_tool_are_another_load(tmp_path: Path) -> None:
    a = compared_imported(import_files([write(tmp_path / "a.jtl", uniform(2000))]))
    b = replace(a, name="b", settings={**a.settings, ("tool", "threads"): 99})
    comparison = compare_runs([a], [b])
    assert comparison.loads is not None and "threads" in comparison.loads.text
    assert {each.metric.key: each.verdict.value for each in comparison.changes}["p50"] == "not judged"


def test_an_import_of_data_has_documents_per_second_and_what_they_cost() -> None:
    record = an_import()
    found = compared_import(record)
    inserted = record.state.counts["inserted"]
    assert found.kind == "import" and found.figures["throughput"] == pytest.approx(
        inserted * 1e9 / record.state.duration_ns
    )
    assert found.figures["client_cpu"] == pytest.approx(record.state.client_cpu_ns / inserted)
    comparison = compare_runs([found], [replace(found, name="b")])
    assert comparison.verdict is ChangeVerdict.NO_CLAIM and comparison.noun == "import"
