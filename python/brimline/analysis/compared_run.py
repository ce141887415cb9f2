"""Owns one run as a comparison needs it: its figures by metric, its distribution, and whether it may count.

A figure is what one run says, however many operations it had; comparisons and trends are made of such figures. What is
compared otherwise, such as a search, has the same shape, and its figures carry intervals of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from brimline.analysis.configured import Settings, run_settings
from brimline.analysis.finding import Standing
from brimline.analysis.latency import Latency
from brimline.analysis.lateness import LAG_CHECK, LAG_SHARE_SPOILS, LAG_SHARE_TOLD
from brimline.analysis.loads import main_load
from brimline.analysis.metrics import (
    METRIC_KEYS,
    METRIC_QUANTILES,
    SERVER_CPU,
    Known,
    LoadKind,
    Metric,
    clock_of,
    metrics,
    operations_of,
    run_figures,
)
from brimline.analysis.never_completed import due_buckets
from brimline.analysis.observation import Observation, observe
from brimline.analysis.unsent import not_begun
from brimline.record.layout import TARGET_LOST
from brimline.record.model import Environment, RunRecord, Summary
from brimline.stats.quantile_interval import Buckets, merge_buckets
from brimline.stats.quantile_shift import QUANTILES
from brimline.stats.ratio import Interval

__all__ = [
    "METRIC_KEYS",
    "METRIC_QUANTILES",
    "SERVER_CPU",
    "ComparedRun",
    "LoadKind",
    "Metric",
    "Totals",
    "clock_of",
    "compared_run",
    "lag_shares",
    "load_kind",
    "metrics",
    "record_figures",
]


Noun = Literal["run", "search", "experiment", "import", "record"]
PLURALS: Mapping[Noun, str] = {
    "run": "runs",
    "search": "searches",
    "experiment": "experiments",
    "import": "imports",
    "record": "records",
}
"""What several are; "record" is any of the others."""
KIND_TEXTS: Mapping[str, str] = {
    "closed loop": "a closed loop",
    "pooled closed loop": "a closed loop over a shared pool",
    "open loop": "an open loop",
    "load": "a load",
    "null target": "without a server",
}
"""Of records that are runs, what an error calls one."""


def noun_of(kind: str) -> Noun:
    """What a record of this kind is."""
    if kind in KIND_TEXTS or kind.startswith("imported"):
        return "run"
    if kind == "import":
        return "import"
    return "search" if kind in ("capacity", "frontier") else "experiment"


def counted_noun(count: int, noun: Noun) -> str:
    """`run` of one, `runs` of several."""
    return noun if count == 1 else PLURALS[noun]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a run planned, warm-up included, and what of it went out: due = sent + overdue. Of a load: commands."""

    due: int
    sent: int
    overdue: int
    not_begun: int = 0

    @property
    def planned(self) -> int:
        """What was due, and what a closed loop that was asked for a number had not come to."""
        return self.due + self.not_begun


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """One run, or another record that has figures. `figures` by metric key; what isn't known is absent.

    `kind`: what its figures are figures of; only records of one kind are compared. `title` is the workload's name,
    `plan_hash` and `settings` tell records apart that are no repeats of each other. `metrics` are those that records
    of the kind have. `ends`: of figures that carry a 95 % interval of their own, its ends, None where one isn't known;
    the unit of a comparison is the run, so that a run has none. `problems`: why it proves nothing, if so.
    `broken`: the server was lost, or answered nothing as it should; such a run says something of its side, unlike one
    that was measured badly. `ended_by` is that of its record. `unsent`: what was planned and never went out, in words,
    "" where all did; the run counts, but its figures are of less than was asked for. `crowded`: what other programs
    took of the server's host, in words, "" where they did not fill it. `started_ns` is the wall clock's
    time at its start; it and `totals` are None in a record that was never sealed. The `distribution` is of all that was
    due.
    `bounds`: by quantile of the `distribution`, what the run's own report gives as a bound (≥) because too few
    operations lie above it; None where not even that is known.
    `lag_shares`: by quantile of an open loop's response time, how much of it lag of the generator may be; a figure of
    which it may be most is absent from `figures`.
    """

    name: str
    directory: Path
    title: str
    plan_hash: str
    settings: Settings
    environment: Environment
    kind: str
    metrics: tuple[Metric, ...]
    started_ns: int | None
    figures: Mapping[str, float]
    ends: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    distribution: Buckets
    problems: tuple[str, ...]
    bounds: Mapping[float, int | None] = field(default_factory=dict)
    broken: bool = False
    ended_by: str = "completed"
    totals: Totals | None = None
    unsent: str = ""
    crowded: str = ""
    lag_shares: Mapping[float, float] = field(default_factory=dict)
    operations: tuple[str, ...] = ()

    def spoilt(self, quantile: float) -> bool:
        """Whether lag of the generator may be most of the response time at `quantile`."""
        return self.lag_shares.get(quantile, 0.0) >= LAG_SHARE_SPOILS

    def interval(self, key: str) -> Interval:
        """A figure that is known, with its interval as far as it has one of its own."""
        return (self.figures[key], *self.ends.get(key, (None, None)))

    def with_problem(self, problem: str) -> "ComparedRun":
        """The same run, which proves nothing for one more reason."""
        return replace(self, problems=(*self.problems, problem))


def compared_run(
    record: RunRecord, *, not_asked: frozenset[str] = frozenset(), observation: Observation | None = None
) -> ComparedRun:
    """What a comparison takes from `record`. `not_asked`: names of checks that can't hold here.

    `observation` is that of the record, where it was made already.
    """
    observation = observe(record) if observation is None else observation
    kind = load_kind(record)
    clock = clock_of(kind)
    distribution = merge_buckets(list(due_buckets(main_load(record), clock).values()))
    latency = observation.response if clock == "response" else observation.service
    shares = lag_shares(observation) if clock == "response" else {}
    summary = record.summary
    return ComparedRun(
        name=record.directory.name,
        directory=record.directory,
        title=record.plan.name,
        plan_hash=record.plan.hash8(),
        settings=run_settings(record.plan, record.environment),
        environment=record.environment,
        kind=kind,
        metrics=metrics(kind),
        started_ns=summary.get("started_unix_ns") if summary else None,
        figures={key: each.value for key, each in record_figures(record, observation).items()},
        distribution=distribution,
        bounds=_bounds(latency),
        problems=_problems(observation, not_asked),
        broken=_broken(observation),
        ended_by=observation.ended_by,
        totals=None if summary is None else _totals(summary, not_begun(record)),
        unsent=observation.unsent,
        crowded=observation.crowded,
        lag_shares=shares,
        operations=operations_of(observation),
    )


def load_kind(record: RunRecord) -> LoadKind:
    """What the figures of a run are figures of."""
    if record.plan.target.kind == "null":
        return "null target"
    if record.plan.work.kind == "load":
        return "load"
    if record.follows_target:
        return "pooled closed loop" if record.plan.is_pooled else "closed loop"
    return "open loop"


def _totals(summary: Summary, left: int) -> Totals:
    return Totals(due=summary["due"], sent=summary["sent"], overdue=summary["overdue"], not_begun=left)


def _problems(observation: Observation, not_asked: frozenset[str]) -> tuple[str, ...]:
    """Why a run may not count: it was cut short, or a check failed. Lag spoils single figures, and not the run."""
    not_asked |= {LAG_CHECK}
    found = [
        each.evidence for each in observation.findings if each.verdict is Standing.FAIL and each.name not in not_asked
    ]
    if observation.ended_by != "completed" and not found:
        found = [each.evidence for each in observation.findings if each.name == "ended"]
    return tuple(found)


def _broken(observation: Observation) -> bool:
    """Whether it was the server, for all that is known, that kept a run from being one."""
    failed = {each.name for each in observation.findings if each.verdict is Standing.FAIL}
    return observation.ended_by == TARGET_LOST or not failed.isdisjoint(("errors", "samples"))


def lag_shares(observation: Observation) -> dict[float, float]:
    """By quantile of the response time, how much of it lag may be, where that is enough to be told."""
    effects = {
        quantile: observation.lag_effect(None, quantile) for quantile in (*QUANTILES, *METRIC_QUANTILES.values())
    }
    known = {quantile: each.share for quantile, each in effects.items() if each is not None}
    return {quantile: share for quantile, share in known.items() if share >= LAG_SHARE_TOLD}


def record_figures(record: RunRecord, observation: Observation) -> dict[str, Known]:
    """By metric key; a load's throughput is that of its documents."""
    kind = load_kind(record)
    known = run_figures(observation, kind)
    if kind != "load":
        return known
    documents = _documents_per_s(record)
    del known["throughput"]
    return known if documents is None else {"throughput": Known(documents), **known}


def _bounds(latency: Latency | None) -> dict[float, int | None]:
    """By quantile, the bound that the run's report prints where it prints no figure; empty without operations."""
    if latency is None:
        return {}
    intervals = [latency.quantiles[each] for each in QUANTILES]
    return {quantile: each.low_ns for quantile, each in zip(QUANTILES, intervals, strict=True) if not each.is_figure}


def _documents_per_s(record: RunRecord) -> float | None:
    """Documents acknowledged per second; commands with batches of other sizes are no measure of each other."""
    documents = sum(row["documents"] for row in record.operations)
    elapsed_ns = record.intervals[-1]["end_ns"] if record.intervals else 0
    return documents * 1e9 / elapsed_ns if elapsed_ns else None
