"""Owns the figures of a scan as a comparison and a design need them: the time of each query, with its interval."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from brimline.analysis.figure import Figure
from brimline.analysis.scan_figures import ScanTrial
from brimline.experiments.scan.stored import stored_scan_trials
from brimline.record import read_experiment
from brimline.stats.line import Bounds
from brimline.wording import Verbatim, message

TIME = "time"
"""The last part of the keys of the figures that a comparison is about."""


def scan_figures(directory: Path) -> Mapping[str, Figure]:
    """The figures of each query, by key; none of one that was refused. Raises RecordError."""
    trials = stored_scan_trials(read_experiment(directory))
    return {figure.key: figure for trial in trials for figure in _of(trial)}


def _of(trial: ScanTrial) -> Iterator[Figure]:
    if trial.time_ns is not None and trial.ended:
        yield _figure(trial, TIME, "ns", message("{query}, time", query=Verbatim(trial.scenario)), trial.time_ns,
                      higher_is_better=False)  # fmt: skip
    rate = trial.entries_per_s
    if rate is not None and trial.ended:
        yield _figure(trial, "entries", "entries/s", message("{query}, entries", query=Verbatim(trial.scenario)), rate,
                      higher_is_better=True)  # fmt: skip


def _figure(trial: ScanTrial, name: str, unit: str, label: str, seen: Bounds, *, higher_is_better: bool) -> Figure:
    return Figure(
        key=f"{trial.scenario}.{name}",
        value=seen.value,
        unit=unit,
        label=label,
        higher_is_better=higher_is_better,
        low=seen.low,
        high=seen.high,
    )
