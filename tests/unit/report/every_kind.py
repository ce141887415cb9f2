"""Owns one report of every kind that brimline makes, for tests that hold for all of them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from brimline.analysis.comparison import compare_runs, noise_floor
from brimline.analysis.gate import gate
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.observation import observe
from brimline.api.failover import failover_result
from brimline.api.run_result import run_result
from brimline.api.scan import scan_result
from brimline.api.soak import soak_result
from brimline.compat.imported.view import imported_report
from brimline.compat.results import import_files
from brimline.experiments.paired.ab import AB_KIND
from brimline.record import ExperimentWriter, read_experiment
from brimline.report import Report, run_report
from brimline.report.comparison.view import comparison_report
from brimline.report.data_import.view import import_report
from tests.support.made_once import made_once
from tests.support.own_run import write_own_run
from tests.support.run_sets import run_sets
from tests.unit.compat.results.jtl import uniform, write
from tests.unit.experiments.growth_simulator import GrowingServer
from tests.unit.report.comparison_samples import dropped, interfered, regressed, report_of, trend_of
from tests.unit.report.failover_samples import make_failover
from tests.unit.report.import_samples import an_import
from tests.unit.report.report_samples import ENVIRONMENT, SPEC, Reports, frontier, write_run
from tests.unit.report.scan_samples import make_scan
from tests.unit.report.soak_samples import make_soak
from tests.unit.report.test_growth_report import CACHE_RECORDS
from tests.unit.report.test_growth_report import report_of as grown
from tests.unit.report.test_load_report import THREE_REFUSED, _plan
from tests.unit.report.vary_samples import measured, varied

KINDS = (
    *("run", "own", "load", "sweep", "capacity", "frontier", "ab", "comparison", "trend", "imported"),
    *("import", "growth", "interference", "scan", "vary", "design", "failover", "soak"),
)
CLAIMING = tuple(kind for kind in KINDS if kind not in ("import", "growth", "failover", "soak"))
"""Those that recompute what they claim."""
FRONTIER_LIMITS_MS = (5, 3)


def every_kind_once(directories: pytest.TempPathFactory, reports: Callable[[], Reports]) -> dict[str, Report]:
    """The reports of all kinds, made once for all workers of a run; `reports` makes those that it takes from there."""
    return made_once(directories, "every-kind", lambda: reports_of_every_kind(directories.mktemp("kinds"), reports()))


def reports_of_every_kind(directory: Path, reports: Reports) -> dict[str, Report]:
    """By kind; what isn't among `reports` is made below `directory`."""
    load = write_run(directory / "load", _plan(faults=THREE_REFUSED))
    return {
        "run": reports.run,
        "own": own_report(directory / "own"),
        "load": run_report(load, observe(load)),
        "sweep": reports.sweep,
        "capacity": reports.capacity,
        "frontier": frontier(directory / "frontier", FRONTIER_LIMITS_MS),
        "ab": ab_report(directory / "ab"),
        "comparison": report_of(regressed()),
        "trend": trend_of(dropped()),
        "vary": varied(),
        "design": measured(),
        "imported": imported_report(import_files([write(directory / "r.jtl", uniform(2000))])),
        "import": import_report(an_import()),
        "growth": grown(GrowingServer(cache_records=CACHE_RECORDS, import_break_records=250_000.0)),
        "interference": interfered(),
        "failover": failover_result(make_failover(directory / "failover")).report,
        "soak": soak_result(make_soak(directory / "soak")).report,
        "scan": scan_result(make_scan(directory / "scan")).report,
    }


def own_report(directory: Path) -> Report:
    """Of a run of operations that are their author's own."""
    record = write_own_run(directory)
    slo = Slo(latencies=(LatencyObjective(limit_ns=50_000_000), LatencyObjective(operation="latest_orders")))
    return run_result(record, slo).report


def ab_report(directory: Path) -> Report:
    """A and B in turns, and A against itself; they are equal."""
    with ExperimentWriter(
        directory, kind=AB_KIND, name="order-service", settings={}, spec_text=SPEC, environment=ENVIRONMENT
    ) as writer:
        writer.seal(ended_by="completed")
    rng = np.random.default_rng(1)
    a, b = run_sets(rng, order="ABBAABBAAB")
    again, _ = run_sets(rng, order="AAAAAB")
    comparison = compare_runs(a, b, floors=noise_floor(a, again))
    cases = gate(comparison, {"throughput": 0.05})
    return comparison_report(comparison, cases, experiment=read_experiment(directory))
