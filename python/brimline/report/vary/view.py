"""A factor sweep as a report: what each level changes, the best connections, every combination, its server."""

from collections.abc import Iterator, Sequence

from brimline.analysis.change_text import change_text, interval_text
from brimline.analysis.judged_change import ChangeVerdict
from brimline.analysis.unlike_loads import unlike_loads_text
from brimline.experiments.trial import Probe, Trial
from brimline.experiments.vary.conclusion import VaryConclusion, difference_name
from brimline.experiments.vary.factor_kinds import CONNECTIONS, NETWORK, SERVER, TOPOLOGY, WORKLOAD
from brimline.experiments.vary.order import THROUGHPUT, RunOutcome, VaryEnd, VaryLoad, VarySettings, VaryTrial
from brimline.record.experiment import ExperimentRecord
from brimline.record.model import Environment
from brimline.report import blocks
from brimline.report.comparison.figures import VERDICT_TONES
from brimline.report.frame import experiment_report
from brimline.report.grid import Grid
from brimline.report.lint_section import linted
from brimline.report.search.probe_findings import worst_findings
from brimline.report.showing import figures_section
from brimline.report.vary.as_json import vary_document
from brimline.report.vary.breakpoints import moved_section
from brimline.report.vary.charts import factor_charts
from brimline.report.vary.claims import vary_claims
from brimline.report.vary.clients import client_blocks
from brimline.report.vary.databases import database_blocks, durability_remark, remarked
from brimline.report.vary.grid import combinations_grid
from brimline.report.vary.heat import heat_map
from brimline.report.vary.tables import (
    combinations_table,
    curves_table,
    differences_table,
    loads_table,
    matrix_table,
    plans_blocks,
    servers_table,
)
from brimline.report.view import Badge, Block, Fact, Report, Section, Table, Text, Tone, Verdict
from brimline.servers.lab.names import is_client_routed
from brimline.units import NS_PER_S, format_count, format_duration, format_percentage
from brimline.wording import Verbatim, capitalised, joined, message

_ENDS = {
    VaryEnd.PRECISE: "each combination is known as well as was asked for",
    VaryEnd.IMPOSSIBLE: "no combination could be measured",
    VaryEnd.BLOCKS_MAX: "the most repeats",
    VaryEnd.BUDGET: "the time budget",
    VaryEnd.BROKEN_OFF: "the target was lost",
    VaryEnd.INCOMPLETE: "it was not finished",
}
_CHECKS_INTRO = (
    "Each check with its worst result over all runs. A run that failed one was made once more; where it failed again, "
    "its combination has no value from that block."
)

_DEFINITIONS = (
    Fact(label="Combination", value="one level of each factor. A block runs every combination once."),
    Fact(
        label="Block",
        value="one run of each combination, in an order drawn from the seed; every second block is the mirror "
        "image of the one before, so that even drift meets all combinations alike.",
    ),
    Fact(
        label="Mean",
        value="the arithmetic mean over the runs of a combination; the unit is the run, never the operation.",
    ),
    Fact(
        label="Change",
        value="a ratio of geometric means less 1. Better or worse is said only where it is shown; equivalent, "
        "where the change is surely smaller than the margin.",
    ),
    Fact(
        label="Adjusted p",
        value="by Holm over all differences of one factor that stand in one table: over all combinations, at each of "
        "them, of what clients take, or of loading.",
    ),
    Fact(
        label="Precise",
        value="half the interval of what the design is about is no more of its mean than was asked for: of throughput, "
        "or at a given rate of the highest percentile that is known. Until then blocks are added, up to the most "
        "repeats or the budget.",
    ),
)


def vary_report(
    experiment: ExperimentRecord,
    trials: Sequence[VaryTrial],
    loads: Sequence[VaryLoad],
    conclusion: VaryConclusion,
    settings: VarySettings,
    *,
    environment: Environment,
) -> Report:
    """The report of a factor sweep. `environment` is that of its first run."""
    counted = any(trial.counts for trial in trials)
    remark, grid = durability_remark(settings, trials), combinations_grid(conclusion, settings)
    sections = [
        moved_section(trials, settings),
        Section(
            id="level-differences",
            title="What each level changes",
            short="Differences",
            intro="Each level against the first of its factor. Intervals are those of the ratio of two figures."
            if settings.is_nested
            else "Each level against the first of its factor. Intervals are Welch's over blocks.",
            blocks=[*_loads_differ(conclusion, trials), *_present(_everywhere(conclusion))] if counted else [],
        ),
        Section(
            id="best-connections",
            title="How many connections are best",
            short="Connections",
            blocks=[
                *_charts(conclusion, settings, grid, connections=True),
                *_present(curves_table(conclusion, settings)),
            ]
            if counted and not settings.is_nested
            else [],
        ),
        Section(id="levels", title="By level" if settings.is_nested else "Throughput and latency by level",
                short="Levels", blocks=_charts(conclusion, settings, grid, connections=False)),
        Section(id="combinations", title="Every combination", short="Combinations",
                blocks=[*_heat(conclusion, settings), combinations_table(conclusion, settings),
                        *_present(matrix_table(conclusion, settings)),
                        *_present(_within(conclusion))] if trials else []),
        Section(id="clients", title="What each client takes", short="Clients",
                blocks=client_blocks(settings, trials, conclusion, grid) if counted else []),
        figures_section(grid),
        Section(id="databases", title="What the databases promise and take", short="Databases",
                blocks=database_blocks(settings, trials)),
        Section(id="plans", title="Plans that differ", short="Plans", blocks=plans_blocks(trials, settings)),
        Section(id="loading", title="Loading", short="Loading", blocks=_loads(conclusion)),
        Section(
            id="servers",
            title="Which runs shared a server",
            short="Servers",
            intro=_servers_intro(settings),
            blocks=[servers_table(trials, settings)] if trials else [],
        ),
        blocks.checks(worst_findings(_as_probes(trials), are_runs=True), intro=_CHECKS_INTRO)
        if trials and not settings.is_nested else _nothing(),
    ]  # fmt: skip
    report = experiment_report(
        experiment,
        kind="vary",
        kind_title=_kind_title(settings),
        name=_name(experiment, settings),
        subtitle=_subtitle(settings, environment),
        verdict=_verdict(conclusion, settings, trials),
        sections=[remarked(section, remark) for section in sections],
        data=vary_document(experiment, trials, loads, conclusion, settings, [grid]),
        grids=[grid],
        definitions=(*_DEFINITIONS, *_definitions_of(settings)),
        environment=_shared(environment) if settings.apart else environment,
    )
    return linted(report, vary_claims(report))


def _kind_title(settings: VarySettings) -> str:
    return message("Design over {verb}", verb=settings.measure) if settings.is_nested else "Factor sweep"


def _name(experiment: ExperimentRecord, settings: VarySettings) -> str:
    """All workloads where they are what is varied: the experiment itself is named after the first."""
    workloads = [factor.levels for factor in settings.factors if factor.name == WORKLOAD]
    return ", ".join(workloads[0]) if workloads else experiment.name


def _subtitle(settings: VarySettings, environment: Environment) -> str:
    named = any(factor.name == TOPOLOGY for factor in settings.factors)
    factors = [
        message("{factor}: {levels}", factor=each.name, levels=joined(", ", map(Verbatim, each.levels)))
        for each in settings.factors
    ]
    load = [] if settings.measure else ["closed loop"]
    return blocks.subtitle([*load, *factors], {} if named else environment)


def _definitions_of(settings: VarySettings) -> list[Fact]:
    """What the levels of some factors mean."""
    levels = {factor.name: factor.levels for factor in settings.factors}
    facts = []
    if any(is_client_routed(level) for level in levels.get(TOPOLOGY, ())):
        facts.append(
            Fact(
                label="client-routed",
                value="independent servers, or replica sets, among which the client shares out the records; no "
                "router, no balancing, no query over several: an upper bound, and no sharded cluster.",
            )
        )
    if NETWORK in levels:
        facts.append(
            Fact(
                label="Network",
                value="delay, rate and loss of a forwarder between client and servers, each way, so that a round trip "
                "takes twice the delay; 0ms is the forwarder alone, local no forwarder. What a loss costs is modelled.",
            )
        )
    return facts


def _how_many(trials: Sequence[VaryTrial], counting: int) -> Iterator[str]:
    yield message("{count} of {all} count", count=counting, all=len(trials))
    if again := len(trials) - len({(trial.probe.levels, trial.probe.block) for trial in trials}):
        yield message("{count} made once more", count=format_count(again))


def _verdict(conclusion: VaryConclusion, settings: VarySettings, trials: Sequence[VaryTrial]) -> Verdict:
    counting = sum(trial.counts for trial in trials)
    known = sum(cell.run_count > 0 for cell in conclusion.cells)
    precise = sum(cell.precise for cell in conclusion.cells)
    facts = [
        Fact(label="Ended by", value=_ENDS[conclusion.ended_by]),
        Fact(label="Combinations", value=format_count(len(conclusion.cells))),
        Fact(
            label="Measured" if settings.is_nested else "Runs",
            value=joined("; ", list(_how_many(trials, counting))),
        ),
        Fact(label="Blocks", value=format_count(conclusion.blocks)),
        Fact(label="Time", value=format_duration(sum(trial.took_s or 0.0 for trial in trials) * NS_PER_S)),
    ]
    badges = []
    if known < len(conclusion.cells):
        badges.append(Badge(text="combinations without a figure" if settings.is_nested else
                            "combinations without a run that counts", tone="fail"))  # fmt: skip
    if failed := sum(trial.outcome is RunOutcome.FAILED for trial in trials):
        badges.append(Badge(text=message("{count} failed", count=format_count(failed)), tone="fail"))
    if missed := sum(bool(trial.missed) for trial in trials):
        words = message("objective missed in {count} of {all}", count=format_count(missed), all=len(trials))
        badges.append(Badge(text=words, tone="fail"))
    if precise < known:
        precision = format_percentage(settings.precision)
        badges.append(Badge(text=message("not all known within {precision}", precision=precision), tone="warn"))
    compared = conclusion.main_differences
    if len(compared) != 1 or compared[0].change is None or not compared[0].everywhere:
        shown = len(conclusion.claims)
        caption = _caption(conclusion) if compared else _kind_title(settings)
        tone: Tone = "fail" if not counting else "warn" if badges else "pass"
        return Verdict(tone=tone, caption=caption, figure=str(shown) if compared and counting else "",
                       unit=message("of {count}", count=len(compared)) if compared and counting else "", interval="",
                       sentence=message("{text}.", text=capitalised(conclusion.text)), badges=badges,
                       facts=facts)  # fmt: skip
    only = compared[0]
    return Verdict(
        tone="warn" if badges else "pass",
        caption=joined(": ", [conclusion.main.label, difference_name(only)]),
        figure=change_text(only.change),
        unit="",
        interval=message("95 % CI {interval}", interval=interval_text(only.change)),
        sentence=message("{text}.", text=capitalised(conclusion.text)),
        badges=[Badge(text=only.verdict.value, tone=VERDICT_TONES[only.verdict]), *badges],
        facts=facts,
    )


def _caption(conclusion: VaryConclusion) -> str:
    if conclusion.main.key == THROUGHPUT:
        return "Differences of throughput that are shown"
    return message("Differences that are shown: {metric}", metric=conclusion.main.label)


def _everywhere(conclusion: VaryConclusion) -> Table | None:
    return differences_table(
        conclusion.everywhere,
        caption="At: what is never averaged over; all else is the geometric mean over the combinations of the other "
        "factors, the arithmetic one where a value is not above 0.",
    )


def _within(conclusion: VaryConclusion) -> Table | None:
    return differences_table(conclusion.within, caption="The same at each combination of the other factors.")


def _charts(conclusion: VaryConclusion, settings: VarySettings, grid: Grid, *, connections: bool) -> list[Block]:
    return [
        chart
        for factor in settings.factors
        if (factor.name == CONNECTIONS and not settings.is_nested) is connections
        for chart in factor_charts(conclusion, settings, factor, grid)
    ]


def _loads_differ(conclusion: VaryConclusion, trials: Sequence[VaryTrial]) -> list[Block]:
    """What levels of a load change is told apart from what follows from it."""
    open_ones = [each for each in conclusion.everywhere if each.verdict is ChangeVerdict.NOT_JUDGED]
    factors = dict.fromkeys(each.factor for each in open_ones)
    closed = any(trial.kind == "closed loop" for trial in trials)
    return [Text(text=unlike_loads_text(joined(", ", factors), closed=closed), tone="warn")] if factors else []


def _heat(conclusion: VaryConclusion, settings: VarySettings) -> list[Block]:
    chart = heat_map(conclusion, settings) if settings.is_nested else None
    return [] if chart is None else [chart]


def _loads(conclusion: VaryConclusion) -> list[Block]:
    compared = differences_table(
        conclusion.load_differences, caption="Documents per second while loading, each level against the first."
    )
    return [*_present(loads_table(conclusion)), *_present(compared)]


def _servers_intro(settings: VarySettings) -> str:
    if not settings.apart:
        return "All runs share one server, unless the sweep was interrupted and went on."
    if SERVER in settings.apart:
        return "Each level has the server that it names; what is there already is kept, and loaded where it is missing."
    return message(
        "Each combination of {factors} has a fresh server in every block, loaded anew.",
        factors=joined(", ", settings.apart),
    )


def _shared(environment: Environment) -> Environment:
    """What is the same for all runs, where each has one of several servers."""
    return {name: value for name, value in environment.items() if name not in ("server", "uri")}


def _as_probes(trials: Sequence[VaryTrial]) -> list[Trial]:
    """The runs as the table of checks knows them."""
    return [
        Trial(
            probe=Probe(
                stage="sweep",
                label=trial.probe.label,
                target="server",
                connections=trial.observation.connections,
                rate_ops_per_s=None,
                warmup_s=0.0,
                duration_s=trial.observation.measured_s,
            ),
            observation=trial.observation,
        )
        for trial in trials
        if trial.observation is not None
    ]


def _present(*found: Table | None) -> list[Block]:
    return [each for each in found if each is not None]


def _nothing() -> Section:
    return Section(id="validity", title="", short="", blocks=[])
