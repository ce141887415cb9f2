"""Owns the gate of a comparison: which metrics may become how much worse, and whether they did."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from brimline.analysis.change_text import change_text, deciding_interval_text, p_text
from brimline.analysis.changes import LeftOut, MetricChange
from brimline.analysis.compared_run import METRIC_KEYS, ComparedRun
from brimline.analysis.comparison import UNANSWERED, Comparison, why_absent
from brimline.analysis.judged_change import ALPHA
from brimline.analysis.spoilt import SPOILT_ADVICE, is_spoilt, spoilt_text
from brimline.analysis.unlike_loads import UnlikeLoads
from brimline.errors import UsageError
from brimline.stats.change import EQUIVALENCE_CONFIDENCE, Change
from brimline.units import format_count, format_percentage, parse_percentage
from brimline.wording import Verbatim, joined, message

GATED_BY_DEFAULT = ("throughput", "p99")
"""What a limit without a name is for. Errors have a limit of their own, in points: a share of almost nothing."""

LOWER_RATE = "offer a rate that every run can send"
"""What helps where operations never went out: more such runs would not."""
MORE_RUNS = "more runs a side narrow the interval"
"""What helps where nothing is wrong with the runs."""
LONGER = "longer runs, with more operations in each, give it a figure"
LONGER_ANSWERED = "longer runs, at a load that is answered, give it a figure"
MORE_SEARCHES = "longer ones, or more of them a side, narrow the interval"
"""The same of searches."""


class GateVerdict(StrEnum):
    """`fail`: surely worse, and by more than allowed; `pass`: surely not; `inconclusive`: neither is shown."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCase:
    """One gated metric, or what keeps all of them from passing, and what came of it.

    `kind`: what kept it from being told, where that is no figure: the type of an error, by its exit code.
    `advice`: what would help where it is inconclusive. `change`, `adjusted_p` and `limit` are what was decided by, None
    where nothing was compared: its inner interval against the limit for a pass, p and value for a fail.
    """

    name: str
    verdict: GateVerdict
    text: str
    kind: str = ""
    advice: str = MORE_RUNS
    change: Change | None = None
    adjusted_p: float | None = None
    limit: float | None = None


def parse_limits(texts: Iterable[str], *, known: Collection[str] | None = METRIC_KEYS) -> dict[str, float]:
    """Limits by metric key from "5%" (key "": what decides, of runs throughput and p99) and "p95=10%".

    `known`: the metrics that there are; None where that depends on what is compared. Raises ValueError with a text for
    users.
    """
    limits: dict[str, float] = {}
    for text in texts:
        name, separator, share = text.rpartition("=")
        if separator and known is not None and name.strip() not in known:
            raise ValueError(f'"{name.strip()}" is no metric; there are {", ".join(known)}')
        limits[name.strip() if separator else ""] = parse_percentage(share)
    return limits


def gate(comparison: Comparison, limits: Mapping[str, float]) -> tuple[GateCase, ...]:
    """Each limit against its metric. A metric that the runs don't have is inconclusive, never passed over.

    Where a server broke in a run that is left out, the others can't pass for it. Where a run didn't send what was
    planned, its figures lack what would have been slowest, and what they show against a limit is not of the load that
    was asked for. Raises UsageError for a metric that such records don't have.
    """
    if not limits:
        return ()
    by_key = {each.metric.key: each for each in comparison.changes}
    limits = _by_key(comparison, limits)
    more = MORE_SEARCHES if comparison.noun in ("search", "experiment") else MORE_RUNS
    return (
        *(
            _follows_case(by_key[key], limit, comparison.loads)
            if comparison.loads is not None and key in by_key and not comparison.loads.judges(by_key[key].metric)
            else _case(key, by_key.get(key), limit, _spoilt(comparison, key), more, _longer(comparison, key))
            for key, limit in limits.items()
        ),
        *(_broken_case(each) for each in comparison.left_out if each.broken),
        *(
            _unsent_case(run, side)
            for side, runs in (("A", comparison.a), ("B", comparison.b))
            for run in runs
            if run.unsent
        ),
    )


def _broken_case(run: LeftOut) -> GateCase:
    return GateCase(
        name=run.name,
        verdict=GateVerdict.INCONCLUSIVE,
        text=message("{name} ({side}) is left out: {reason}", name=run.name, side=run.side, reason=run.reason),
    )


def _by_key(comparison: Comparison, limits: Mapping[str, float]) -> dict[str, float]:
    """The limits with the one for what decides spelt out; what is named itself goes before it. Raises UsageError."""
    own = {metric.key: metric for run in comparison.runs for metric in run.metrics}
    if unknown := [key for key in limits if key and key not in own]:
        raise UsageError(f'--gate: "{unknown[0]}" is no metric of these; there are {", ".join(own)}',
                         hint="write it like --gate 5%, for what decides")  # fmt: skip
    of_runs = set(GATED_BY_DEFAULT) <= own.keys()
    deciding = (
        GATED_BY_DEFAULT if of_runs else [each.key for each in own.values() if each.decides and not each.absolute]
    )
    unnamed = dict.fromkeys(deciding, limits[""]) if "" in limits else {}
    return unnamed | {key: limit for key, limit in limits.items() if key}


def _follows_case(found: MetricChange, limit: float, loads: UnlikeLoads) -> GateCase:
    text = message("{metric} follows from the load. {loads}", metric=found.metric.label, loads=loads.text)
    return GateCase(
        name=found.metric.key,
        limit=limit,
        verdict=GateVerdict.INCONCLUSIVE,
        text=text,
        change=found.change,
        advice="compare both under one load, such as --rate 5k",
    )


def _unsent_case(run: ComparedRun, side: str) -> GateCase:
    text = message("{name} ({side}) {sent}", name=Verbatim(run.name), side=side, sent=sent_text(run))
    return GateCase(name=run.name, verdict=GateVerdict.INCONCLUSIVE, text=text, advice=LOWER_RATE)


def sent_text(run: ComparedRun) -> str:
    """How much of its plan a run sent that left some unsent, and what that means for its figures."""
    return message(
        "sent {sent} of the {planned} planned: its figures are of less than was asked for",
        sent=format_count(run.totals.sent if run.totals else 0),
        planned=format_count(run.totals.planned if run.totals else 0),
    )


def overall(cases: Sequence[GateCase]) -> GateVerdict:
    """The worst of all cases."""
    verdicts = {case.verdict for case in cases}
    return next((each for each in (GateVerdict.FAIL, GateVerdict.INCONCLUSIVE) if each in verdicts), GateVerdict.PASS)


def _spoilt(comparison: Comparison, key: str) -> str:
    """Why a metric is left out of a run, of the first that lacks it; "" where lag spoils it in none."""
    run = next((run for run in (*comparison.a, *comparison.b) if is_spoilt(run, key)), None)
    return "" if run is None else message("{name}: {evidence}", name=Verbatim(run.name), evidence=spoilt_text(run))


def _longer(comparison: Comparison, key: str) -> str:
    """What gives runs the figure that they lack: a lower load as well, where it lies among what was not answered."""
    lacking = (
        why_absent(metric, run) for run in comparison.runs for metric in run.metrics
        if metric.key == key and key not in run.figures
    )  # fmt: skip
    return LONGER_ANSWERED if UNANSWERED in lacking else LONGER


def _case(key: str, found: MetricChange | None, limit: float, spoilt: str, more: str, longer: str) -> GateCase:
    """`spoilt`: why a run has no such figure, if lag of the generator is why.

    `more`: what narrows an interval; `longer`: what gives a figure where there is none.
    """
    allowed = format_percentage(limit)
    if spoilt and (found is None or found.change is None):
        return GateCase(name=key, limit=limit, verdict=GateVerdict.INCONCLUSIVE, text=spoilt, advice=SPOILT_ADVICE)
    if found is None:
        return GateCase(
            name=key,
            limit=limit,
            verdict=GateVerdict.INCONCLUSIVE,
            text=message("{metric} was not measured, at most {allowed} worse is allowed", metric=key, allowed=allowed),
            advice=longer,
        )
    worse = found.worsening
    if worse is None or found.change is None or found.adjusted_p is None:
        return GateCase(
            name=key,
            limit=limit,
            verdict=GateVerdict.INCONCLUSIVE,
            text=message("no claim about {metric}: at least 2 runs a side must have it", metric=found.metric.label),
            advice=more,
        )
    text = message(
        "{metric} {change}, {confidence:g} % interval {interval}, p {p}; at most {allowed} worse is allowed",
        metric=found.metric.label,
        change=change_text(found.change),
        confidence=100 * EQUIVALENCE_CONFIDENCE,
        interval=deciding_interval_text(found.change),
        p=p_text(found.adjusted_p),
        allowed=allowed,
    )
    if not found.of_every_run:
        text = message("{text}; not every run has this figure", text=text)
    if spoilt:
        text = joined("; ", [text, spoilt])
    return GateCase(
        name=key,
        verdict=_verdict(worse.value, worse.inner_high, found, limit),
        text=text,
        advice=SPOILT_ADVICE if spoilt else more,
        change=found.change,
        adjusted_p=found.adjusted_p,
        limit=limit,
    )


def _verdict(value: float, surely_at_most: float, found: MetricChange, limit: float) -> GateVerdict:
    """One-sided at 5 % for a pass, Holm's p for a fail; a change within what A differs by from itself is no failure."""
    established = found.adjusted_p is not None and found.adjusted_p < ALPHA and value > (found.floor or 0.0)
    if established and value > limit:
        return GateVerdict.FAIL
    return GateVerdict.PASS if surely_at_most <= limit and found.of_every_run else GateVerdict.INCONCLUSIVE
