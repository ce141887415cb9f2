"""A comparison and a trend with known answers, for tests of their reports."""

from dataclasses import replace

import numpy as np

from brimline.analysis.comparison import Comparison, compare_runs
from brimline.analysis.gate import gate
from brimline.analysis.run_trend import RunSeries, gate_trends, run_series
from brimline.report import Report
from brimline.report.comparison_view import comparison_report
from brimline.report.trend_view import trend_report
from tests.support.run_sets import MS, abba, plan, run_sets, simulated_run

WOBBLE = (0.0, 0.004, -0.005, 0.002, -0.001)


def regressed() -> Comparison:
    """B has twice the connections and a fifth less throughput."""
    a, b = run_sets(np.random.default_rng(1), order=abba(5), slower=0.2)
    return compare_runs(a, [replace(run, plan=plan(connections=16)) for run in b])


def report_of(comparison: Comparison) -> Report:
    """With a gate that allows 5 %."""
    return comparison_report(comparison, gate(comparison.changes, {"throughput": 0.05, "p99": 0.05}))


def dropped() -> tuple[RunSeries, ...]:
    """Twenty nights; from the thirteenth on a tenth of the throughput is gone, and p99 is as it was."""
    runs = [
        simulated_run(
            f"202611{index + 1:02}t034851z-ycsb-c-0059a198",
            figures={"throughput": (1000.0 if index < 12 else 900.0) * (1 + WOBBLE[index % 5]), "p99": 5.0 * MS},
            started_ns=index,
        )
        for index in range(20)
    ]
    return run_series(runs, keys=("throughput", "p99"))


def trend_of(series: tuple[RunSeries, ...]) -> Report:
    """With a gate that allows 5 %."""
    return trend_report(series, floor=0.03, cases=gate_trends(series, limit=0.05, newest=10))
