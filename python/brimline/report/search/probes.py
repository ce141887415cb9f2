"""The probes of an experiment as rows, chart points and a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from brimline.analysis.bottleneck import NAMES, Bottleneck, at_its_limit, bottleneck
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.quantile_text import median_text, p99_text
from brimline.experiments.axis import Axis, On
from brimline.experiments.capacity.outcome import judge_trial
from brimline.experiments.sweep import CEILING_TEXT
from brimline.experiments.trial import SEARCH_STAGES, Trial
from brimline.plan.pacing import connections_text
from brimline.report.search.probe_charts import ProbePoint
from brimline.report.view import Cell, Column, Table, Tone
from brimline.units import UNKNOWN_TEXT, format_count, format_number, format_percentage
from brimline.wording import joined, message

_RATE = Axis(On.RATE)
NOT_HAD = "could_not_be_had"
"""Outcome of a probe that could not have all of its connections."""
_TONES: Mapping[str, Tone] = {
    "pass": "pass",
    "fail": "fail",
    "inconclusive": "warn",
    "client_limited": "warn",
    "invalid": "fail",
    NOT_HAD: "warn",
    "": "muted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRow:
    """A trial, its place in the search, and how it was judged.

    A closed-loop probe isn't judged, its outcome is "". `limit` is what was full, where something must have been.
    """

    number: int
    trial: Trial
    outcome: str
    reasons: tuple[str, ...]
    limit: Bottleneck | None = None


def probe_rows(
    trials: Sequence[Trial],
    slo: Slo,
    *,
    null_ceiling_ops_per_s: float | None,
    axis: Axis = _RATE,
    plateau_connections: int | None = None,
) -> list[ProbeRow]:
    """Every trial in order, judged as the search judged it.

    `plateau_connections`: as many connections as a sweep has shown to be enough, so that they limit none of the probes.
    """
    rows = []
    for number, trial in enumerate(trials, start=1):
        outcome = ""
        reasons: tuple[str, ...] = ()
        if trial.failed:
            outcome, reasons = NOT_HAD, (trial.failed,)
        elif trial.probe.stage in SEARCH_STAGES:
            judged = judge_trial(trial, slo, axis=axis, null_ceiling_ops_per_s=null_ceiling_ops_per_s)
            outcome, reasons = judged.outcome.value, judged.reasons
        elif not trial.observation.valid:
            outcome = "invalid"
            reasons = tuple(f.evidence for f in trial.observation.findings if f.verdict.value == "fail")
        limit = _limit(trial, outcome, null_ceiling_ops_per_s, plateau_connections)
        rows.append(ProbeRow(number=number, trial=trial, outcome=outcome, reasons=reasons, limit=limit))
    return rows


def _limit(
    trial: Trial, outcome: str, null_ceiling_ops_per_s: float | None, plateau_connections: int | None
) -> Bottleneck | None:
    """What was full in a probe of the server that got less than it asked for, or missed its objective."""
    observation = trial.observation
    if (
        trial.probe.target == "null"
        or trial.failed
        or not (at_its_limit(observation) or outcome in ("fail", "client_limited"))
    ):
        return None
    return bottleneck(
        observation, null_ceiling_ops_per_s=null_ceiling_ops_per_s, plateau_connections=plateau_connections
    )


def sweep_points(rows: Sequence[ProbeRow]) -> list[ProbePoint]:
    """The probes of the sweep as chart points, by connections."""
    swept = [row for row in _had(rows) if row.trial.probe.target == "server" and row.trial.probe.stage == "sweep"]
    return [_point(row, load=float(row.trial.probe.connections)) for row in swept]


def search_points(rows: Sequence[ProbeRow], *, axis: Axis, limit: LatencyObjective) -> list[ProbePoint]:
    """The probes that were held to the objective as chart points, by load; marks are at the limited quantile."""
    searched = [row for row in _had(rows) if row.trial.probe.stage in SEARCH_STAGES]
    return [_point(row, load=axis.load_of(row.trial.probe), limit=limit) for row in searched]


def _had(rows: Sequence[ProbeRow]) -> list[ProbeRow]:
    return [row for row in rows if row.outcome != NOT_HAD]


def probe_table(rows: Sequence[ProbeRow]) -> Table:
    """One row per probe."""
    return Table(
        columns=[
            Column(label="Probe", leading=True),
            Column(label="Stage", numeric=False, leading=True),
            Column(label="Result", numeric=False, tag=True),
            Column(label="Connections", optional=True),
            Column(label="Offered", unit="ops/s"),
            Column(label="Answered", unit="ops/s"),
            Column(label="p50", optional=True),
            Column(label="p99"),
            Column(label="Errors"),
            Column(label="Server CPU"),
            Column(label="Full", numeric=False, optional=True),
            Column(label="Why", numeric=False),
        ],
        rows=[_cells(row) for row in rows],
        caption="p50 and p99 are response times at an offered rate, service times in a closed loop. "
        "≥: too few operations lie above the p99 for a figure; the lower end of its 95 % interval.",
    )


def _cells(row: ProbeRow) -> list[Cell]:
    probe, observation = row.trial.probe, row.trial.observation
    latency = observation.service if observation.closed_loop else observation.response
    if observation.target == "null":
        latency = None  # it answers while it is asked
    server = observation.server.server_share if probe.target == "server" else None
    had = row.outcome != NOT_HAD
    return [
        Cell(text=str(row.number)),
        Cell(text=probe.stage),
        Cell(text=row.outcome.replace("_", " ") or "measured", tone=_TONES[row.outcome]),
        Cell(text=format_count(probe.connections)),
        _offered(probe.rate_ops_per_s),
        Cell(text=format_number(observation.throughput_ops_per_s, digits=4) if had else UNKNOWN_TEXT),
        Cell(text=median_text(latency)),
        Cell(text=p99_text(latency)),
        Cell(text=format_percentage(observation.error_rate) if had else UNKNOWN_TEXT),
        Cell(text=UNKNOWN_TEXT if server is None else format_percentage(server)),
        Cell(text="" if row.limit is None else NAMES[row.limit.kind]),
        Cell(text=_why(row), tone="muted"),
    ]


def _why(row: ProbeRow) -> str:
    without_server = (CEILING_TEXT,) if row.trial.probe.target == "null" else ()
    return joined("; ", (*without_server, *row.reasons))


def _offered(rate_ops_per_s: float | None) -> Cell:
    if rate_ops_per_s is None:
        return Cell(text="closed loop", tone="muted")
    return Cell(text=format_number(rate_ops_per_s, digits=4))


def _point(row: ProbeRow, *, load: float, limit: LatencyObjective | None = None) -> ProbePoint:
    probe, observation = row.trial.probe, row.trial.observation
    latency = observation.service if observation.closed_loop else observation.response
    judged = None if limit is None else observation.quantile(limit.key)
    return ProbePoint(
        load=load,
        throughput_ops_per_s=observation.throughput_ops_per_s,
        p50_ns=None if latency is None else latency.p50_ns,
        p95_ns=None if latency is None else latency.p95_ns,
        p99_ns=None if latency is None else latency.p99_ns,
        p99_text=p99_text(latency),
        limited_ns=None if judged is None else judged.low_ns if judged.known_ns is None else judged.known_ns,
        verdict=row.outcome,
        label=message(
            "Probe {number}, {stage}, {connections}",
            number=row.number,
            stage=probe.stage,
            connections=connections_text(probe.connections),
        ),
    )
