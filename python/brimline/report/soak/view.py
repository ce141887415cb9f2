"""Owns a soak as a report: what drifts, what changed, what runs full, what stalls, and what that is worth."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from brimline.analysis.change_text import p_text
from brimline.analysis.compared_run import load_kind, record_figures
from brimline.analysis.drift import ALPHA, Drift
from brimline.analysis.figure import value_text
from brimline.analysis.metrics import all_metrics, operations_of
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation
from brimline.analysis.soak import SoakFindings
from brimline.analysis.verdict import Judgement, why_nothing
from brimline.analysis.verdict import Verdict as Judged
from brimline.experiments.soak.order import RATE_SHARE, SoakTrial, rate_of
from brimline.record.experiment import ExperimentRecord
from brimline.report import blocks
from brimline.report.frame import experiment_report
from brimline.report.grid import Grid, GridRow
from brimline.report.run import objective_sections, run_sections
from brimline.report.run.first_screen import judged_facts, silence_facts
from brimline.report.soak.as_json import soak_document
from brimline.report.soak.charts import soak_charts
from brimline.report.soak.words import (
    change_text,
    drift_text,
    figure_text,
    full_text,
    full_times,
    pace_text,
    periodic_text,
    share_texts,
    signed,
    time_text,
    told_time_text,
    with_text,
)
from brimline.report.view import Badge, Block, Cell, Column, Fact, Facts, Report, Section, Table, Text, Tone, Verdict
from brimline.units import NS_PER_S, UNKNOWN_TEXT, format_count, format_duration, format_percentage, format_rate
from brimline.wording import capitalised, joined, message

DEFINITIONS = (
    Fact(label="Drift", value="how a figure changes in an hour, or in all the time of a shorter soak, by a line "
         "through means of stretches of time; of memory, disk and the like by what came and went. Found are those "
         "that chance would not make, all figures together, in more than 1 of 100 soaks."),
    Fact(label="New level", value="a figure that stayed at one level changed to another, which explains it better than "
         "a line does."),
    Fact(label="Stall", value="a time in which the slowest operation took at least twice as long as in most, and far "
         "longer than it varies by, or in which nothing was answered."),
    Fact(label="Comes with", value="seen at most of these stalls and seldom else, by the server's own figures. It is a "
         "sign of a cause and no proof."),
    Fact(label="Used up", value="what is left at the end, by how it went in the second half of the time."),
)  # fmt: skip


def soak_report(
    experiment: ExperimentRecord,
    trials: Sequence[SoakTrial],
    found: SoakFindings,
    observation: Observation,
    *,
    slo: Slo | None,
    judgement: Judgement | None,
) -> Report:
    """The report of a soak in which something was measured."""
    record = found.observed.record
    grids = [
        Grid(axes=(), rows=[GridRow(levels=(), figures=record_figures(record, observation))],
             metrics=all_metrics(load_kind(record), operations_of(observation, record.plan.operation_names)))
    ]  # fmt: skip
    sections = [
        Section(id="drift", title="What became of it", short="Drift", blocks=[_drifts(found)]),
        Section(id="soak", title="Over the whole time", short="Time", blocks=soak_charts(found)),
        Section(id="changes", title="New levels", short="Levels", blocks=_changes(found)),
        Section(id="stalls", title="Stalls", short="Stalls", blocks=list(_stalls(found))),
        objective_sections.objectives(judgement),
        Section(id="parts", title="Parts", short="Parts", blocks=list(_parts(trials, found))),
        run_sections.charts(record, limit=slo.leading if slo else None),
        run_sections.errors(record),
        blocks.checks(observation.findings, intro=blocks.RUN_CHECKS_INTRO),
    ]
    return experiment_report(
        experiment,
        kind="soak",
        kind_title="Soak",
        subtitle=message("{length} at {rate}", length=time_text(sum(part.measured_s for _, part in found.parts)),
                         rate=_rate_text(observation)),
        verdict=_verdict(experiment, found, observation, slo, judgement),
        sections=sections,
        data=soak_document(experiment, trials, found, observation, slo=slo, judgement=judgement, grids=grids),
        grids=grids,
        definitions=(*DEFINITIONS, *blocks.DEFINITIONS),
        environment=record.environment,
        more=[blocks.sizes(record.server_facts)],
    )  # fmt: skip


def _rate_text(observation: Observation) -> str:
    offered = observation.offered_ops_per_s
    return format_rate(observation.throughput_ops_per_s if offered is None else offered)


def _verdict(
    experiment: ExperimentRecord,
    found: SoakFindings,
    observation: Observation,
    slo: Slo | None,
    judgement: Judgement | None,
) -> Verdict:
    """What a missed objective is about is the figure, else the rate that was kept up."""
    drifting = [each for each in found.drifts if each.found]
    worse = [each for each in drifting if each.is_worse]
    changed = [(each, change) for each in found.drifts for change in each.changes]
    periodic = found.stalls.periodic
    badges = []
    if not observation.valid:
        badges.append(Badge(text="proves nothing", tone="fail"))
    if judgement is not None and judgement.verdict is Judged.FAIL:
        badges.append(Badge(text="objective missed", tone="fail"))
    if worse:
        badges.append(Badge(text="drifts", tone="warn"))
    if changed:
        badges.append(Badge(text="new level", tone="warn"))
    if periodic:
        badges.append(Badge(text="stalls periodically", tone="warn"))
    if experiment.ended_by != "completed":
        badges.append(Badge(text="unfinished", tone="warn"))
    tone: Tone = next((each.tone for each in badges), "pass")
    said = [*(drift_text(each, found.told_s) for each in worse),
            *(change_text(each.series.label, change) for each, change in changed),
            *map(periodic_text, periodic)]  # fmt: skip
    throughput = observation.throughput
    length = time_text(found.span_s)
    sentence = joined("; ", said) if said else message("Nothing drifts, changes its level or stalls periodically "
                                                       "in {length}.", length=length)  # fmt: skip
    if not observation.valid:
        why = capitalised(joined("; ", why_nothing(observation, None)))
        sentence = message("{reasons}.", reasons=why) if not said else message(
            "{reasons}. Seen, and not to be used: {rate}.", reasons=why, rate=joined("; ", said))  # fmt: skip
    facts = [*(silence_facts(observation, slo) if observation.valid else []), *_facts(found, drifting)]
    rate = Verdict(
        tone=tone,
        caption="Throughput over the soak" if observation.valid else "No figure: the soak proves nothing",
        figure="" if not observation.valid or throughput is None else throughput.value_text,
        unit="ops/s" if observation.valid and throughput is not None else "",
        interval="" if not observation.valid or throughput is None else throughput.interval_text,
        sentence=sentence,
        badges=badges,
        facts=facts,
    )
    judged = judged_facts(judgement.shown) if judgement is not None and judgement.verdict is Judged.FAIL else []
    if not judged or not observation.valid:
        return rate
    headline, *others = judged
    of_rate = message("{count} {unit}", count=rate.figure, unit=rate.unit)
    kept = [Fact(label=rate.caption, value=of_rate, note=rate.interval)] if rate.figure else []
    return replace(rate, caption=headline.label, figure=headline.value, unit="", interval=headline.note,
                   facts=[*others, *facts, *kept])  # fmt: skip


def _facts(found: SoakFindings, drifting: Sequence[Drift]) -> Iterator[Fact]:
    latency = next((each for key in ("response_mean", "service_mean") for each in found.drifts
                    if each.series.key == key), None)  # fmt: skip
    if latency is not None:
        yield Fact(label=latency.series.label, value=pace_text(latency, found.told_s),
                   note="" if latency.found else _not_found(latency, len(found.drifts)))  # fmt: skip
    for each in drifting:
        if each.full is not None:
            yield Fact(label=each.series.label, value=full_text(each), tone="warn")
    stalls = found.stalls
    if stalls.every:
        slowest = max(stalls.every, key=lambda each: each.slowest_ns)
        yield Fact(
            label="Stalls",
            value=message("{count}, the slowest operation {time}, at {at}", count=format_count(len(stalls.every)),
                          time=format_duration(slowest.slowest_ns), at=time_text(slowest.at_s)),
            note=message("most intervals: {usual}", usual=format_duration(stalls.usual_ns)),
        )  # fmt: skip


def _not_found(drift: Drift, figures: int) -> str:
    """Why a change is no drift, also where the interval of this one figure, looked at alone, leaves out zero."""
    if drift.low <= 0 <= drift.high:
        return "no drift that chance would not make"
    if drift.adjusted_p <= ALPHA:
        return "no drift: too small a change over the whole time"
    return message("no drift: of {count} figures chance makes one change as much, p = {p}",
                   count=format_count(figures), p=p_text(drift.adjusted_p))  # fmt: skip


def _drifts(found: SoakFindings) -> Table:
    """A row for each figure, all of them for the same time."""
    rows, told_s = [], found.told_s
    for each in found.drifts:
        unit = each.series.unit
        shares = share_texts(each, told_s)
        result = Cell(text="drifts", tone="warn" if each.is_worse else "") if each.found else Cell(text="no drift")
        if each.changes and not each.found:
            result = Cell(text="new level", tone="warn")
        rows.append([
            Cell(text=figure_text(each, told_s)),
            Cell(text=value_text(each.begin, unit)),
            Cell(text=value_text(each.end, unit)),
            Cell(text=shares[0] if shares else UNKNOWN_TEXT),
            Cell(text=message("{low} to {high}", low=shares[1], high=shares[2]) if shares else UNKNOWN_TEXT),
            Cell(text=UNKNOWN_TEXT if each.full is None else message(
                "in {time} ({earliest} to {latest})", **full_times(each.full))),
            result,
        ])  # fmt: skip
    return Table(
        columns=[
            Column(label="Figure", numeric=False, leading=True),
            Column(label="At first"),
            Column(label="At last"),
            Column(label=told_time_text(told_s)),
            Column(label="95 % interval"),
            Column(label="Used up", optional=True),
            Column(label="Result", numeric=False, tag=True),
        ],
        rows=rows,
        caption="The change is a share of the first value. Values of a line where it drifts, else of its levels.",
    )


def _changes(found: SoakFindings) -> list[Block]:
    rows = [
        [
            Cell(text=each.series.label),
            Cell(text=time_text(change.at_s)),
            Cell(text=message("{low} to {high}", low=time_text(change.from_s), high=time_text(change.to_s))),
            Cell(text=value_text(change.before, each.series.unit)),
            Cell(text=value_text(change.after, each.series.unit)),
            Cell(text=message("{change} ({low} to {high})", change=signed(change.change), low=signed(change.low),
                              high=signed(change.high))),
        ]
        for each in found.drifts
        for change in each.changes
    ]  # fmt: skip
    if not rows:
        return []
    columns = [
        Column(label="Figure", numeric=False, leading=True),
        Column(label="When"),
        Column(label="Between"),
        Column(label="Before"),
        Column(label="After"),
        Column(label="Change and 95 % interval"),
    ]
    return [Table(columns=columns, rows=rows)]


def _stalls(found: SoakFindings) -> Iterator[Block]:
    stalls = found.stalls
    if not stalls.every:
        return
    if stalls.periodic:
        yield Table(
            columns=[
                Column(label="Every", leading=True),
                Column(label="95 % interval"),
                Column(label="Came"),
                Column(label="Slowest operation"),
                Column(label="First at"),
                Column(label="Comes with", numeric=False),
            ],
            rows=[
                [
                    Cell(text=format_duration(each.period_s * NS_PER_S, digits=4)),
                    Cell(text=message("{low} to {high}", low=format_duration(each.low_s * NS_PER_S, digits=4),
                                      high=format_duration(each.high_s * NS_PER_S, digits=4))),
                    Cell(text=message("{count} of {expected}", count=format_count(each.count),
                                      expected=format_count(each.expected))),
                    Cell(text=format_duration(each.slowest_ns)),
                    Cell(text=time_text(each.first_s)),
                    Cell(text=with_text(each.comes_with) or "nothing that the server shows"),
                ]
                for each in stalls.periodic
            ],
            caption="The slowest operation is that of the middle stall.",
        )  # fmt: skip
    if stalls.others:
        text = message("{count} come at no regular time", count=format_count(len(stalls.others)))
        if stalls.others_with:
            text = message("{text}; they come with {causes}", text=text, causes=with_text(stalls.others_with))
        yield Text(text=text)
    total_s = sum(each.length_s for each in stalls.every)
    share = format_percentage(total_s / found.observed.measured_s, digits=2)
    yield Text(text=message("Intervals with a stall are {share} of the time of the longest part.", share=share))


def _parts(trials: Sequence[SoakTrial], found: SoakFindings) -> Iterator[Block]:
    rate = rate_of(trials)
    if rate is not None:
        level = trials[0]
        told = message(
            "The rate is {rate}: {share} of the {throughput} that a closed loop was answered in {length}.",
            rate=format_rate(rate), share=format_percentage(RATE_SHARE),
            throughput=format_rate(level.throughput_ops_per_s), length=time_text(level.measured_s),
        )  # fmt: skip
        yield Text(text=told)
    yield Table(
        columns=[
            Column(label="Part", leading=True),
            Column(label="Asked for"),
            Column(label="Measured"),
            Column(label="Throughput"),
            Column(label="Ended", numeric=False),
        ],
        rows=[
            [
                Cell(text=format_count(each.probe.number)),
                Cell(text=time_text(each.probe.duration_s)),
                Cell(text=time_text(each.measured_s)),
                Cell(text=format_rate(each.throughput_ops_per_s)),
                Cell(text=each.ended_by.replace("_", " ")),
            ]
            for each in trials
            if each.probe.stage == "part"
        ],
    )
    if found.left_out:
        yield Text(
            text="Parts on a server that was started anew in between can't be put together: the longest stretch on "
            "one server is shown."
        )
    blocks_of = sum(row["phase"] == "measure" for row in found.observed.record.intervals)
    intervals = len(found.observed.fine.starts_s)
    if intervals > blocks_of:
        yield Facts(title="", facts=[Fact(
            label="Blocks of time",
            value=message("{blocks} blocks of {intervals} intervals", blocks=format_count(blocks_of),
                          intervals=format_count(intervals)),
            note="figures over time are of blocks; stalls are looked for in every interval")])  # fmt: skip
