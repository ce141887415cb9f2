"""Owns the figures of a failover over its trials, as a comparison and a design need them, and what must hold."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brimline.analysis.figure import Figure
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.ledger import Settled
from brimline.analysis.observation import observe
from brimline.experiments.failover.order import FailoverTrial, Limit
from brimline.experiments.failover.stored import stored_failover_trials
from brimline.record import RunRecord, read_experiment, read_record
from brimline.stats.batch_means import mean_interval
from brimline.units import format_rate
from brimline.wording import message

_REPEATS_MIN = 3
"""Trials from which their spread gives an interval."""
LOST, TWICE, OUTAGE, BACK, P99, UNANSWERED = "lost", "twice", "outage", "back", "p99", "unanswered"
UNSENT, REPEATED = "unsent", "repeated"
# The ledger's commands are counted at the server as well, and a server that was started again counts from 0.
_PROVING = frozenset({"conservation", "unaltered", "operation_log", "standstills"})
"""Checks without which no figure holds; others fail because of the fault."""
_NOT_ASKED = frozenset({"opcounters", "outages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverMetric:
    """A figure that each trial has; `of` reads it, None where one doesn't have it. `total`: added up, not a mean."""

    key: str
    label: str
    unit: str
    of: Callable[[FailoverTrial], float | None]
    total: bool = False


def _outage(trial: FailoverTrial) -> float | None:
    return None if trial.figures is None or not trial.figures.gap.ended else trial.figures.gap.length_ns


def _back(trial: FailoverTrial) -> float | None:
    return None if trial.figures is None else trial.figures.back_ns


def _p99(trial: FailoverTrial) -> float | None:
    return None if trial.figures is None else trial.figures.p99_ns


def _unanswered(trial: FailoverTrial) -> float | None:
    return None if trial.figures is None else trial.figures.unanswered


def _unsent(trial: FailoverTrial) -> float | None:
    return None if trial.figures is None else trial.figures.overdue


def _without_answer(trial: FailoverTrial) -> float | None:
    return None if trial.figures is None else trial.figures.without_answer


def _repeated(trial: FailoverTrial) -> float | None:
    return None if trial.figures is None else trial.figures.repeated


def _lost(trial: FailoverTrial) -> float | None:
    return None if trial.settled is None or trial.problem else len(trial.settled.missing)


def _twice(trial: FailoverTrial) -> float | None:
    return None if trial.settled is None or trial.problem else len(trial.settled.twice)


METRICS = (
    FailoverMetric(key=OUTAGE, label="Time without an answer", unit="ns", of=_outage),
    FailoverMetric(key=BACK, label="Time until 95 % of the rate", unit="ns", of=_back),
    FailoverMetric(key=P99, label="Response p99 in the ten seconds around", unit="ns", of=_p99),
    FailoverMetric(key=UNANSWERED, label="Never answered", unit="operations", of=_unanswered),
    FailoverMetric(key=UNSENT, label="Never sent", unit="operations", of=_unsent),
    FailoverMetric(key=REPEATED, label="Sent once more", unit="commands", of=_repeated),
    FailoverMetric(key=LOST, label="Acknowledged writes missing", unit="writes", of=_lost, total=True),
    FailoverMetric(key=TWICE, label="Writes done twice", unit="writes", of=_twice, total=True),
)


def failover_figures(directory: Path) -> Mapping[str, Figure]:
    """The figures of a record, by key; none where it proves nothing. Raises RecordError."""
    experiment = read_experiment(directory)
    findings = worst_findings(read_record(entry.directory) for entry in experiment.trials)
    if failed_proof(findings) is not None:
        return {}
    return figures_of(stored_failover_trials(experiment))


def worst_findings(records: Iterable[RunRecord]) -> list[Finding]:
    """The worst of each check over the runs of all trials, in the order of the first."""
    order = (Standing.FAIL, Standing.WARN, Standing.UNKNOWN, Standing.PASS)
    worst: dict[str, Finding] = {}
    for record in records:
        for each in observe(record).findings if record.summary is not None else ():
            known = worst.setdefault(each.name, each)
            if order.index(each.verdict) < order.index(known.verdict):
                worst[each.name] = each
    return [each for name, each in worst.items() if name not in _NOT_ASKED]


def failed_proof(findings: Iterable[Finding]) -> Finding | None:
    """The check for which no figure holds; None where all do."""
    return next((each for each in findings if each.verdict is Standing.FAIL and each.name in _PROVING), None)


def figures_of(trials: Sequence[FailoverTrial]) -> Mapping[str, Figure]:
    """Means over the trials, with the interval that these give where there are enough; counts of writes in all.

    A mean where every trial has the figure; one whose outage did not end has none.
    """
    counting = [trial for trial in trials if not trial.problem]
    found: dict[str, Figure] = {}
    for metric in METRICS:
        values = [value for trial in counting if (value := metric.of(trial)) is not None]
        if not values or len(values) < len(counting):
            continue
        low = high = None
        if len(values) >= _REPEATS_MIN and not metric.total:
            spread = mean_interval(values, unit=metric.unit, independent=True)
            low, high = max(spread.low, 0.0), spread.high
        value = sum(values) if metric.total else sum(values) / len(values)
        found[metric.key] = Figure(
            key=metric.key,
            value=value,
            unit=metric.unit,
            label=metric.label,
            low=low,
            high=high,
            higher_is_better=False,
        )
    return found


def ledger_pace(settled: Iterable[Settled], asked_per_s: float | None) -> str:
    """How fast ledgers wrote, by the slowest; "" where that is about what was asked for."""
    slowest = min(settled, key=lambda each: each.reached_per_s)
    reached = format_rate(slowest.reached_per_s, unit="writes/s")
    if asked_per_s is None:
        return message("the ledger wrote {reached}", reached=reached)
    if not slowest.is_slow(asked_per_s):
        return ""
    return message("the ledger wrote {reached} and was asked for {asked}",
                   reached=reached, asked=format_rate(asked_per_s, unit="writes/s"))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A limit and the worst trial. `worst` None: it isn't known of every trial. `held` None likewise."""

    limit: Limit
    worst: float | None
    held: bool | None


def judge(limits: Sequence[Limit], trials: Sequence[FailoverTrial]) -> list[Judged]:
    """Whether each limit held in every trial; one whose outage or way back did not end has missed it."""
    # A limit of `unanswered` is about users, for whom what could not be sent has no answer either.
    of = {metric.key: metric.of for metric in METRICS} | {UNANSWERED: _without_answer}
    counting = [trial for trial in trials if not trial.problem]
    judged = []
    for limit in limits:
        values = [of[limit.name](trial) for trial in counting]
        known = [value for value in values if value is not None]
        endless = limit.name in (OUTAGE, BACK, P99) and any(_is_endless(limit.name, trial) for trial in counting)
        worst = max(known, default=None)
        held: bool | None = None
        if endless or (worst is not None and worst > limit.most):
            held = False
        elif known and len(known) == len(values):
            held = True
        judged.append(Judged(limit=limit, worst=None if endless else worst, held=held))
    return judged


def _is_endless(name: str, trial: FailoverTrial) -> bool:
    """Whether it has no figure because it is beyond all that was seen, rather than unknown."""
    figures = trial.figures
    if figures is None:
        return False
    if name == OUTAGE:
        return not figures.gap.ended
    if name == BACK:
        return figures.back_ns is None
    return figures.p99_ns is None and figures.around > 0
