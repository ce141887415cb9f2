"""A capacity search or a sweep as a report.

What it concluded and the probes that show it, in words and tables.
"""

from collections.abc import Sequence

from brimline.analysis.bottleneck import BottleneckKind
from brimline.analysis.objective import Slo
from brimline.analysis.observation import observe
from brimline.analysis.steady import counted
from brimline.analysis.step_truth import step_truths
from brimline.analysis.unwatched import unwatched
from brimline.experiments.axis import On
from brimline.experiments.capacity.conclusion import (
    NO_FIGURE,
    RAN_OUT,
    WITHOUT_SERVER,
    CapacityConclusion,
    ConclusionKind,
)
from brimline.experiments.capacity.headline import not_quotable_text, sustained_parts
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.settings import HOLD, Grade
from brimline.experiments.sweep import CEILING_TEXT, SweepConclusion, SweepEnd, lacked_text
from brimline.experiments.trial import Trial, null_ceiling
from brimline.plan.pacing import connections_text
from brimline.record.experiment import ExperimentRecord
from brimline.record.model import RunRecord
from brimline.report import blocks
from brimline.report.frame import experiment_report
from brimline.report.limit import limit_blocks
from brimline.report.lint_section import linted
from brimline.report.own_claims import probe_claims
from brimline.report.run import run_sections, step_sections
from brimline.report.run.step_sections import with_remarks
from brimline.report.search.as_json import capacity_document, sweep_document
from brimline.report.search.further import SEARCH_DEFINITIONS, further_facts, saturation_parts, windows_fact
from brimline.report.search.grids import levels_grid, loads_grid
from brimline.report.search.plateau_facts import plateau_facts
from brimline.report.search.probe_charts import capacity_curve, sweep_curve
from brimline.report.search.probe_findings import search_findings, worst_findings
from brimline.report.search.probes import ProbeRow, probe_rows, probe_table, search_points, sweep_points
from brimline.report.showing import figures_section
from brimline.report.statistics import operation_statistics
from brimline.report.view import Badge, Block, Fact, Facts, Report, Section, Text, Verdict
from brimline.units import (
    format_number,
    format_rate,
)
from brimline.wording import capitalised, joined, message

_CAPTIONS = {
    On.RATE: "Sustained throughput",
    On.CONNECTIONS: "Most connections within the objective",
    On.THREADS: "Most threads within the objective (T of T-L-R)",
}
_NO_SATURATION = {
    SweepEnd.CLIENT_LIMITED: "No saturation throughput: the generator was the limit",
    SweepEnd.INVALID: "No saturation throughput: the runs are invalid",
    SweepEnd.DISTURBED: "No saturation throughput: other programs were the limit",
}
_ALLOW_CONNECTIONS = (
    "let the server take more connections (its net.maxIncomingConnections, and ulimit -n there and here), then go on "
    "with --resume"
)
_SATURATION_SENTENCE = (
    "What the target does at most when each connection sends again once its answer is taken, whatever the latency."
)
_LOOK_SENTENCE = (
    "The most that was seen when each connection sends again once its answer is taken, whatever the latency. "
    "A look: repeat the levels for an interval."
)


def capacity_report(
    experiment: ExperimentRecord,
    trials: Sequence[Trial],
    conclusion: CapacityConclusion,
    *,
    detail: RunRecord | None = None,
) -> Report:
    """The report of a capacity search.

    `detail` is the run of one probe that is shown more closely, see `detail_trial`.
    """
    settings, slo = conclusion.settings, conclusion.settings.slo
    axis, limit = settings.axis, slo.leading
    rows = probe_rows(
        trials,
        slo,
        axis=axis,
        null_ceiling_ops_per_s=null_ceiling(trials),
        plateau_connections=conclusion.sweep.knee_connections,
    )
    points = search_points(rows, axis=axis, limit=limit)
    grid = loads_grid(trials, axis)
    curves = [
        capacity_curve(points, limit=limit, axis=axis, capacity=conclusion.sustained),
        sweep_chart(rows, conclusion.sweep),
    ]
    sections = [
        Section(
            id="curve",
            title="Load, throughput, latency",
            short="Curve",
            blocks=[c for c in curves if c is not None],
        ),
        Section(
            id="further",
            title="Further figures",
            short="Further",
            intro="Each word leads to what it means.",
            blocks=[Facts(title="", facts=further_facts(conclusion))],
        ),
        Section(
            id="probes",
            title="Every probe",
            short="Probes",
            intro="In the order in which they ran. Nothing is left out.",
            blocks=[probe_table(rows)],
        ),
        figures_section(grid),
        _why(conclusion),
        *detail_sections(detail, slo),
        blocks.checks(
            search_findings(trials, client_limited=conclusion.generator_ended),
            intro=blocks.SEARCH_CHECKS_INTRO,
        ),
    ]
    report = experiment_report(
        experiment,
        kind="capacity",
        kind_title="Capacity",
        subtitle=blocks.subtitle(
            [message("{preset} · objective: {limits}", preset=settings.preset, limits=slo.short_text)],
            experiment.environment,
        ),
        verdict=_capacity_verdict(conclusion),
        sections=sections,
        data=capacity_document(experiment, rows, conclusion, [grid]),
        grids=[grid],
        definitions=SEARCH_DEFINITIONS,
        more=not_watched(detail),
    )
    return linted(with_remarks(report, detail), probe_claims(report))


def sweep_report(
    experiment: ExperimentRecord,
    trials: Sequence[Trial],
    conclusion: SweepConclusion,
    *,
    detail: RunRecord | None = None,
) -> Report:
    """The report of a closed-loop sweep."""
    rows = probe_rows(trials, Slo(), null_ceiling_ops_per_s=None, plateau_connections=conclusion.knee_connections)
    curve, grid = sweep_chart(rows, conclusion), levels_grid(conclusion, trials)
    sections = [
        Section(id="curve", title="Load, throughput, latency", short="Curve", blocks=[curve] if curve else []),
        figures_section(grid),
        Section(id="probes", title="Every probe", short="Probes", blocks=[probe_table(rows)]),
        Section(
            id="bottleneck",
            title="What stopped it",
            short="Limit",
            blocks=[] if conclusion.bottleneck is None else limit_blocks(conclusion.bottleneck),
        ),
        *detail_sections(detail, None),
        blocks.checks(worst_findings(trials), intro=blocks.SWEEP_CHECKS_INTRO),
    ]
    report = experiment_report(
        experiment,
        kind="sweep",
        kind_title="Sweep",
        subtitle=blocks.subtitle(["closed loop, throughput against connections"], experiment.environment),
        verdict=_sweep_verdict(conclusion),
        sections=sections,
        data=sweep_document(experiment, rows, conclusion, [grid]),
        grids=[grid],
        more=not_watched(detail),
    )
    return linted(with_remarks(report, detail), probe_claims(report))


def detail_trial(trials: Sequence[Trial], conclusion: CapacityConclusion | SweepConclusion) -> int | None:
    """Index of the trial worth a closer look; None without one.

    Of a search the last probe that passed at the verified rate, or nearest below; without a verified rate the highest
    that passed. Of a sweep the busiest run.
    """
    if isinstance(conclusion, CapacityConclusion):
        verified = conclusion.figure
        passed = [
            each
            for each in conclusion.state.judged
            if each.outcome is TrialOutcome.PASS and (verified is None or each.load <= verified)
        ]
        nearest = max((each.load for each in passed), default=None)
        shown = [each.trial for each in passed if each.load == nearest][-1:]
        return next((index for index, trial in enumerate(trials) if any(trial is each for each in shown)), None)
    measured = [index for index, trial in enumerate(trials) if trial.probe.target == "server"]
    return max(measured, key=lambda index: trials[index].observation.throughput_ops_per_s, default=None)


def _capacity_verdict(conclusion: CapacityConclusion) -> Verdict:
    """The first screen: the figure with its interval, how it is known, what limits it, what to do next."""
    figure, interval, unit = search_figure(conclusion)
    if not figure:
        open_end = conclusion.kind in (ConclusionKind.INCONCLUSIVE, ConclusionKind.INCOMPLETE)
        return Verdict(
            tone="warn" if open_end else "fail",
            caption=capitalised(NO_FIGURE.get(conclusion.kind, "no capacity")),
            figure="",
            unit="",
            interval="",
            sentence=capitalised(conclusion.reason),
            badges=[Badge(text=conclusion.kind.value.replace("_", " "), tone="fail")],
            facts=_limit_facts(conclusion),
            next_step=_what_next(conclusion),
        )
    return Verdict(
        tone="pass" if conclusion.quotable and not conclusion.missed else "warn",
        caption=_CAPTIONS[conclusion.settings.on],
        figure=figure,
        unit=unit,
        interval=interval,
        sentence=_how_known(conclusion),
        badges=_badges(conclusion),
        facts=_limit_facts(conclusion),
        next_step=_what_next(conclusion),
    )


def search_figure(conclusion: CapacityConclusion) -> tuple[str, str, str]:
    """Figure, interval and unit as every report prints them; three times "" where there is none."""
    axis = conclusion.settings.axis
    if conclusion.sustained is not None:
        return *sustained_parts(conclusion.sustained, axis), conclusion.sustained.unit
    if conclusion.at_least is not None:
        return message("≥ {load}", load=axis.number(conclusion.at_least)), "", axis.unit
    if conclusion.at_most is not None and conclusion.kind is not ConclusionKind.SLO_UNREACHABLE:
        return message("≤ {load}", load=axis.number(conclusion.at_most)), "", axis.unit
    return "", "", ""


def _how_known(conclusion: CapacityConclusion) -> str:
    """How the figure is known, why it is not known better, and what it may not be used for."""
    limits = conclusion.settings.slo.latency_text
    if conclusion.sustained is None and conclusion.at_least is None:
        parts = [message("At {limits} it did not hold from here on; nothing lower was tried.", limits=limits)]
    elif conclusion.sustained is None:
        parts = [
            message("At {limits} it held up to here, where the load generator could do no more.", limits=limits)
            if conclusion.generator_ended
            else message("At {limits} it held up to the most that was tried.", limits=limits)
        ]
    elif conclusion.grade is Grade.VERIFIED:
        parts = [
            message(
                "At {limits}, held in {held} of {windows} windows at this {load}.",
                limits=limits,
                held=conclusion.tried.held,
                windows=conclusion.tried.windows,
                load="rate" if conclusion.settings.on is On.RATE else "number",
            )
        ]
    else:
        count = sum(each.probe.stage != "reused" for each in conclusion.state.judged)
        parts = [message("At {limits}, estimated from {count} windows.", limits=limits, count=count)]
    if conclusion.kind is ConclusionKind.INCOMPLETE:
        parts.append(message("The search was not finished: {reason}.", reason=conclusion.reason))
    if conclusion.missed:
        parts.append(message("Not as asked: {reasons}.", reasons=joined("; ", conclusion.missed)))
    if conclusion.not_narrower:
        parts.append(message("Not narrower, because {reason}.", reason=conclusion.not_narrower[0]))
    return joined(" ", parts)


def _badges(conclusion: CapacityConclusion) -> list[Badge]:
    grade = conclusion.grade or Grade.ESTIMATED
    badges = [Badge(text=grade.value, tone="pass" if grade is Grade.VERIFIED else "warn")]
    if not conclusion.quotable:
        badges.append(Badge(text=not_quotable_text(conclusion.settings), tone="warn"))
    return badges


def _limit_facts(conclusion: CapacityConclusion) -> list[Fact]:
    """What is read first beside the figure, without the vocabulary: what limits it, and what could not be tried."""
    limit, settings = conclusion.bottleneck, conclusion.settings
    others = [*lacked_facts([conclusion]), *([] if settings.hold == HOLD else [windows_fact(settings)])]
    if limit is None:
        return others
    text = "nothing that was seen" if limit.kind is BottleneckKind.UNDETERMINED else limit.text
    return [Fact(label="Stopped by", value=text), *others]


def lacked_facts(conclusions: Sequence[CapacityConclusion]) -> list[Fact]:
    """Which probe could not have all of its connections, if one of these searches has such a probe."""
    lacking = next((each.state for each in conclusions if each.state.connections_had is not None), None)
    if lacking is None:
        return []
    lacked = message(
        "{lacked}; no probe after it asked for more than {most}",
        lacked=lacked_text(lacking.trials),
        most=connections_text(lacking.connections_had or 0),
    )
    return [Fact(label="Not tried", value=lacked)]


_WAIT_FOR_QUIET = "wait until the server's host is quiet and nobody else writes to the server, then search again"


def _is_disturbed(conclusion: CapacityConclusion) -> bool:
    """Whether programs or clients that are not brimline's were seen where it counts."""
    limits = (conclusion.bottleneck, conclusion.sweep.bottleneck)
    another_client = any(
        each.another_client for trial in conclusion.state.trials for each in trial.observation.findings
    )
    return another_client or any(each is not None and each.kind is BottleneckKind.HOST for each in limits)


def _what_next(conclusion: CapacityConclusion) -> str:
    """One piece of advice, the most useful first."""
    if conclusion.kind is ConclusionKind.SLO_UNREACHABLE:
        return "look at the service time of one connection, or relax the objective"
    disturbed = _is_disturbed(conclusion)
    if conclusion.kind is ConclusionKind.INVALID and disturbed:
        return _WAIT_FOR_QUIET
    if conclusion.kind in (ConclusionKind.INVALID, ConclusionKind.TARGET_LOST):
        return "see the checks, and measure again"
    if conclusion.kind is ConclusionKind.INCOMPLETE:
        return "go on with this search from its directory"
    if conclusion.reason == WITHOUT_SERVER:
        return "give the address of a server with --uri, or leave out --null: then brimline starts one"
    limit = conclusion.bottleneck
    if limit is not None and limit.kind is BottleneckKind.GENERATOR:
        return "put the generator on another machine, or end other programs here"
    if disturbed:
        return _WAIT_FOR_QUIET
    if conclusion.reason == RAN_OUT:
        return "go on with it and give it more time, with --resume and a longer --budget"
    if conclusion.kind is ConclusionKind.BOUNDED and conclusion.at_most is not None:
        return "go on with it at lower loads: give it more time, with --resume and a longer --budget"
    if conclusion.settings.preset == "quick":
        return "search again without --quick: longer windows see what short ones miss"
    if conclusion.not_narrower:
        return "give it more time, or a quieter machine"
    if limit is not None and limit.kind is BottleneckKind.UNDETERMINED:
        return "see the probes that missed in the report: nothing was seen to be full"
    return "change what stopped it, and search again"


def _sweep_verdict(conclusion: SweepConclusion) -> Verdict:
    facts = []
    facts += plateau_facts(conclusion)
    if conclusion.bottleneck is not None:
        facts.append(Fact(label="Stopped by", value=conclusion.bottleneck.text))
    if conclusion.generator_ceiling_ops_per_s is not None:
        return Verdict(
            tone="",
            caption=capitalised(CEILING_TEXT),
            figure=format_number(conclusion.generator_ceiling_ops_per_s),
            unit="ops/s",
            interval="",
            sentence="The highest level of the sweep. There was no server: the figure says what this machine can "
            "generate at most, and nothing about any target.",
            badges=[Badge(text="no server", tone="warn")],
            facts=facts,
        )
    if conclusion.saturation_ops_per_s is None:
        return Verdict(
            tone="warn",
            caption=_NO_SATURATION.get(conclusion.ended_by, "No plateau"),
            figure="",
            unit="",
            interval="",
            sentence=capitalised(conclusion.text),
            badges=[Badge(text=conclusion.ended_by.value.replace("_", " "), tone="warn")],
            facts=facts,
            next_step=_ALLOW_CONNECTIONS if conclusion.ended_by is SweepEnd.CONNECTIONS_NOT_HAD else "",
        )
    figure, spread = saturation_parts(conclusion)
    proven = conclusion.saturation is not None
    return Verdict(
        tone="pass" if proven else "warn",
        caption="Saturation throughput",
        figure=figure,
        unit="ops/s",
        interval=spread,
        sentence=_SATURATION_SENTENCE if proven else _LOOK_SENTENCE,
        badges=[
            Badge(text="service time only", tone="muted"),
            *([] if proven else [Badge(text="a look, without an interval", tone="warn")]),
        ],
        facts=facts,
    )


def _why(conclusion: CapacityConclusion) -> Section:
    """What was full at the limit, with its evidence."""
    found: list[Block] = []
    limit = conclusion.bottleneck
    if limit is not None:
        found += limit_blocks(limit)
    elif conclusion.sweep.bottleneck is not None:
        found.append(
            Text(text=message("At saturation (closed loop): {limit}.", limit=conclusion.sweep.bottleneck.text))
        )
    ceiling = null_ceiling(conclusion.state.trials)
    if ceiling is not None:
        text = message("Encode-and-record ceiling, without sockets: {ceiling}.", ceiling=format_rate(ceiling))
        found.append(Text(text=text, tone="muted"))
    return Section(id="bottleneck", title="What stopped it", short="Limit", blocks=found)


def detail_sections(detail: RunRecord | None, slo: Slo | None) -> list[Section]:
    """One probe's run more closely; none without one."""
    if detail is None:
        return []
    observation = observe(detail, objectives=slo.latencies if slo else ())
    detail = counted(detail, observation.steady)
    charts = run_sections.charts(detail, limit=slo.leading if slo else None)
    return [
        Section(
            id=charts.id,
            title="One probe, closely",
            short="Over time",
            intro=message("The run {name}.", name=detail.directory.name),
            blocks=charts.blocks,
        ),
        run_sections.operations(detail, operation_statistics(detail, observation)),
        step_sections.steps(step_truths(detail, observation)),
        run_sections.accounting(detail),
        run_sections.errors(detail),
    ]


def not_watched(detail: RunRecord | None) -> list[Facts]:
    """What could not be watched in the probe that is shown more closely, and so in none."""
    return [] if detail is None else [blocks.not_watched(unwatched(detail))]


def sweep_chart(rows: Sequence[ProbeRow], conclusion: SweepConclusion) -> Block | None:
    """Throughput over connections; None without a sweep."""
    return sweep_curve(
        sweep_points(rows),
        knee_connections=conclusion.knee_connections,
        plateau_ops_per_s=conclusion.saturation_ops_per_s,
    )
