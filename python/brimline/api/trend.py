"""Owns the verb `trend`: many records of the same plan, and where they changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.analysis.compared_run import METRIC_KEYS, ComparedRun
from brimline.analysis.gate import GateCase
from brimline.analysis.run_trend import TREND_METRICS, RunSeries, gate_trends, run_series
from brimline.api.compared import named, read_all, without_loads
from brimline.api.gating import gate_error
from brimline.api.options import default_runs_directory, typed
from brimline.api.results import Reported
from brimline.errors import BrimlineError, UsageError
from brimline.report import Report
from brimline.report.comparison.trend_view import trend_report
from brimline.stats.change_points import MAGNITUDE_FLOOR

NEWEST_DEFAULT = 10
"""Runs in which a gate looks for a change, unless said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TrendResult(Reported):
    """Trends of all series. `cases` are those of the gate, empty without one."""

    report: Report
    series: tuple[RunSeries, ...]
    cases: tuple[GateCase, ...] = ()

    @property
    def error(self) -> BrimlineError | None:
        """The gate's answer where it isn't a pass; None without a gate."""
        return gate_error(self.cases)


@typed
def trend(
    records: Sequence[str | Path] = (),
    *,
    metrics: Sequence[str] = TREND_METRICS,
    floor: float = MAGNITUDE_FLOOR,
    gate: float | None = None,
    newest: int = NEWEST_DEFAULT,
    runs_dir: str | Path | None = None,
) -> TrendResult:
    """Looks for changes of level in `records`, by name and plan; without any in all of `runs_dir`.

    `gate`: the share by which a metric may become worse among the `newest` runs. Raises UsageError and RecordError.
    """
    where = default_runs_directory() if runs_dir is None else Path(runs_dir)
    found = [each for name in (records or [where]) for each in without_loads(named(name, runs_dir=where))]
    runs = read_all({each.directory.resolve(): each for each in found}.values())
    _check_metrics(metrics, runs)
    series = run_series(runs, keys=metrics, floor=floor)
    cases = () if gate is None else gate_trends(series, limit=gate, newest=newest)
    return TrendResult(report=trend_report(series, floor=floor, cases=cases), series=series, cases=cases)


def _check_metrics(metrics: Sequence[str], runs: Sequence[ComparedRun]) -> None:
    """Raises UsageError for a metric that has no trend, or that no record has."""
    own = dict.fromkeys(metric.key for run in runs for metric in run.metrics if not metric.absolute)
    known = dict.fromkeys((*(key for key in METRIC_KEYS if key != "errors"), *own))
    if unknown := [key for key in metrics if key not in known]:
        raise UsageError(f'"{unknown[0]}" is no metric that has a trend', hint=f"there are {', '.join(known)}")
