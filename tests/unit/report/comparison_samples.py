"""A comparison and a trend with known answers, for tests of their reports."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from brimline.analysis.background import Coverage
from brimline.analysis.comparison import Comparison, compare_runs
from brimline.analysis.gate import gate
from brimline.analysis.run_trend import RunSeries, gate_trends, run_series
from brimline.experiments.paired.interference import InterferenceSettings
from brimline.record import ExperimentRecord
from brimline.report import Report
from brimline.report.comparison.interference_view import interference_report
from brimline.report.comparison.trend_view import trend_report
from brimline.report.comparison.view import comparison_report
from brimline.wording import message
from tests.support.run_sets import MS, abba, run_sets, simulated_run

WOBBLE = (0.0, 0.004, -0.005, 0.002, -0.001)


def regressed() -> Comparison:
    """B has twice the threads of the engine and a fifth less throughput."""
    a, b = run_sets(np.random.default_rng(1), order=abba(5), slower=0.2)
    threads = ("plan", "threads")
    return compare_runs(a, [replace(run, settings={**run.settings, threads: 2}) for run in b])


def more_in_flight() -> Comparison:
    """B has four times the connections, a fifth more throughput, and the latency that follows from both."""
    a, b = run_sets(np.random.default_rng(1), order=abba(5), slower=-0.2)
    slow = {"p50": 3.3, "p95": 3.3, "p99": 3.3, "p99.9": 3.3}
    more = ("plan", "connections")
    return compare_runs(
        a,
        [
            replace(
                run,
                settings={**run.settings, more: 4 * run.settings[more]},
                figures={key: value * slow.get(key, 1.0) for key, value in run.figures.items()},
            )
            for run in b
        ],
    )


def interfered(kind: str = "import", *, ended: bool = True, timed: bool = True, beside: float = 50.0) -> Report:
    """Beside B's runs an import: a fifth less throughput, one pair of which it ended early; or backups of 2 s.

    `ended`: a backup came to its end. `timed`: else at a rate of 50/s, of which B
    answered `beside`, of too few operations for any time.
    """
    a, b = run_sets(np.random.default_rng(1), order=abba(5), slower=0.2)
    if not timed:
        met = {"kind": "open loop", "distribution": ()}
        a, b = (
            [replace(run, **met, figures={"throughput": rate, "errors": 0.0}) for run in side]
            for rate, side in ((50.0, a), (beside, b))
        )
    early = message("the background ended early: {reason}", reason="it came to its end by itself")
    comparison = compare_runs(a, [b[0].with_problem(early), *b[1:]])
    at_work = Coverage(
        kind="import", unit="documents", busy_share=1.0, units=900_000, units_per_s=90_000.0, problem=None
    )
    if kind != "import":
        at_work = replace(at_work, kind=kind, unit="dumps", units=2, units_per_s=0.2, each_s=(1.9, 2.1),
                          each_bytes=(50_000_000, 50_000_000))  # fmt: skip
    if not ended:
        at_work = replace(at_work, units=0, units_per_s=0.0, each_s=(), each_bytes=())
    coverages = {run.name: (at_work,) for run in b}
    coverages[b[0].name] = (replace(at_work, busy_share=0.5, units=None, units_per_s=None, problem=b[0].name),)
    experiment = ExperimentRecord(
        directory=Path("runs/20261122t080000z-interfere-ycsb-c-0059a198"),
        kind="interfere",
        name="ycsb-c",
        settings={},
        spec_text="",
        environment={},
        ended_by="completed",
        message="",
        brimline_version="0.1.0",
        trials=(),
    )
    server = {"A": {"Cache filled": 0.2}, "B": {"Cache filled": 0.8, "CPUs used by the server": 1.5}}
    settings = InterferenceSettings(background=kind)
    return interference_report(comparison, coverages, experiment=experiment, settings=settings, server=server)


def report_of(comparison: Comparison) -> Report:
    """With a gate that allows 5 %."""
    return comparison_report(comparison, gate(comparison, {"throughput": 0.05, "p99": 0.05}))


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
