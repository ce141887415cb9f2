"""A failover as a report: how long nothing was answered, one time axis, what became of operations and of writes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from brimline.analysis.around_fault import FaultFigures
from brimline.analysis.figure import Figure, value_text
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.metrics import Known, Metric
from brimline.experiments.failover.figures import LOST, METRICS, OUTAGE, TWICE, Judged, ledger_pace
from brimline.experiments.failover.order import FailoverSettings, FailoverTrial
from brimline.record.experiment import ExperimentRecord
from brimline.record.model import RunRecord
from brimline.report import blocks
from brimline.report.failover.as_json import failover_document
from brimline.report.failover.axis import happened_table, time_charts
from brimline.report.failover.ledger import ledger_section
from brimline.report.frame import experiment_report
from brimline.report.grid import Grid, GridAxis, GridRow
from brimline.report.view import Badge, Block, Cell, Column, Fact, Report, Section, Table, Tone, Verdict
from brimline.units import UNKNOWN_TEXT, format_count, format_duration, format_percentage
from brimline.wording import Verbatim, capitalised, joined, message

_CHECKS_INTRO = "Each check with its worst result over all runs."
DEFINITIONS = (
    Fact(
        label="Time without an answer",
        value="the longest time between two operations that were answered, of which the second came after the fault "
        "began: what all users together felt.",
    ),
    Fact(
        label="Time until 95 % of the rate",
        value="from the fault to where 95 % of what was answered in a second before it is answered again, and for 2 s "
        "from there on.",
    ),
    Fact(
        label="The ten seconds around",
        value="operations that were due from 5 s before the fault began to 5 s after. One that was never answered, or "
        "never sent, is slower than all that were answered.",
    ),
    Fact(
        label="Never answered", value="of what was sent: operations that failed, and those that nothing came back of."
    ),
    Fact(
        label="Never sent",
        value="operations that were due while every connection waited, and still unsent at the run's end. The server "
        "lost none of them.",
    ),
    Fact(
        label="Sent once more",
        value="commands that the client sent again by itself, as drivers do with retryable reads and writes. What was "
        "answered then is no error: the application sees a longer time and nothing else.",
    ),
    Fact(
        label="Missing",
        value="a write of the ledger that the server acknowledged, and that most members don't have afterwards.",
    ),
    Fact(label="Unknown", value="a write of the ledger without an acknowledgement: it was done, or it was not."),
    Fact(
        label="Ledger",
        value="writes of brimline's own beside the load, by the official driver: each adds its number to a document, "
        "so that one that was lost and one that was done twice can both be told. Its sessions wait for each answer. "
        "Where that takes long, they write fewer than was asked for, and there are fewer to look for.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a report is made of. `record_of` reads the run of a trial; `findings` are the worst of all runs."""

    experiment: ExperimentRecord
    settings: FailoverSettings
    trials: Sequence[FailoverTrial]
    figures: dict[str, Figure]
    judged: Sequence[Judged]
    findings: Sequence[Finding]
    record_of: Callable[[FailoverTrial], RunRecord]


def failover_report(seen: Seen) -> Report:
    """The report of a failover experiment."""
    counting = [trial for trial in seen.trials if trial.figures is not None]
    shown = _longest(counting)
    axis: list[Block] = []
    if shown is not None:
        axis = [*time_charts(shown, seen.record_of(shown))]
        if (happened := happened_table(shown)) is not None:
            axis.append(happened)
    grid = _grid(seen.trials)
    return experiment_report(
        seen.experiment,
        kind="failover",
        kind_title="Failover",
        subtitle=_subtitle(seen),
        verdict=_verdict(seen, counting),
        sections=[
            Section(
                id="time",
                title="The fault on one time axis",
                short="Time",
                intro="Of several runs the one with the longest time without an answer.",
                blocks=axis,
            ),
            Section(id="faults", title="Each fault", short="Faults", blocks=[_faults_table(seen.trials)]),
            Section(
                id="operations",
                title="What became of operations",
                short="Operations",
                blocks=[*_operations_tables(counting)],
            ),
            *ledger_section(seen.trials, asked_per_s=seen.settings.ledger_per_s),
            *([_slo(seen.judged)] if seen.judged else []),
            blocks.checks(seen.findings, intro=_CHECKS_INTRO),
        ],
        data=failover_document(
            seen.experiment, seen.settings, seen.trials, seen.figures, seen.judged, seen.findings
        ),
        grids=[grid],
        definitions=DEFINITIONS,
    )  # fmt: skip


def _subtitle(seen: Seen) -> str:
    fault, count = Verbatim(seen.settings.asked.name), len(seen.trials)
    return message("{fault}, once" if count == 1 else "{fault}, {count} times", fault=fault, count=format_count(count))


def _longest(trials: Sequence[FailoverTrial]) -> FailoverTrial | None:
    return max(trials, key=lambda trial: trial.figures.gap.length_ns if trial.figures else 0, default=None)


def _verdict(seen: Seen, counting: Sequence[FailoverTrial]) -> Verdict:
    outage, longest = seen.figures.get(OUTAGE), _longest(counting)
    lost, twice = (seen.figures[key].value if key in seen.figures else 0.0 for key in (LOST, TWICE))
    if longest is None or longest.figures is None:
        why = next((trial.problem for trial in seen.trials if trial.problem), "")
        return Verdict(tone="warn", caption="Nothing was measured", figure="", unit="", interval="",
                       sentence=capitalised(why) if why else "No run went to its end.")  # fmt: skip
    missed = any(each.held is False for each in seen.judged)
    failed = sum(each.verdict is Standing.FAIL for each in seen.findings)
    tone: Tone = "fail" if missed else "warn" if lost or twice or failed else "pass"
    facts = [
        Fact(label=metric.label, value=_with_interval(seen.figures[metric.key]))
        for metric in METRICS
        if metric.key != OUTAGE and metric.key in seen.figures
    ]
    badges = [Badge(text="objective missed", tone="fail")] if missed else []
    if lost:
        badges.append(Badge(text="1 acknowledged write missing" if round(lost) == 1 else
                            message("{count} acknowledged writes missing", count=format_count(round(lost))),
                            tone="fail"))  # fmt: skip
    if twice:
        badges.append(Badge(text="1 write done twice" if round(twice) == 1 else
                            message("{count} writes done twice", count=format_count(round(twice))),
                            tone="fail"))  # fmt: skip
    if failed:
        badges.append(Badge(text=message("{count} checks, {failed} failed", count=len(seen.findings), failed=failed),
                            tone="warn"))  # fmt: skip
    ended = longest.figures.gap.ended
    return Verdict(
        tone=tone,
        caption="Time without an answer",
        figure=format_duration(longest.figures.gap.length_ns if outage is None else outage.value, digits=4),
        unit="",
        interval=_interval(outage) if ended else "at least: nothing was answered again",
        sentence=_sentence(seen, longest),
        badges=badges,
        facts=facts,
    )


def _sentence(seen: Seen, longest: FailoverTrial) -> str:
    what = longest.facts.what if longest.facts is not None else seen.settings.fault
    said = capitalised(what) if seen.settings.asked.kind else Verbatim(what)
    time = format_duration(longest.figures.gap.length_ns if longest.figures else 0)
    parts: list[str] = [message("{what}: no answer for {time} at most", what=said, time=time)]
    if LOST in seen.figures:
        count = sum(len(trial.settled.acknowledged) for trial in seen.trials if trial.settled is not None)
        missing = format_count(round(seen.figures[LOST].value))
        words = "{missing} of {count} acknowledged writes are missing"
        parts.append(message(words, missing=missing, count=format_count(count)))
        settled = [trial.settled for trial in seen.trials if trial.settled is not None]
        if settled and (pace := ledger_pace(settled, seen.settings.ledger_per_s)):
            parts.append(pace)
    return message("{parts}.", parts=joined("; ", parts))


def _interval(figure: Figure | None) -> str:
    if figure is None or figure.low is None or figure.high is None:
        return ""
    ends = message(
        "{low} to {high}", low=value_text(figure.low, figure.unit), high=value_text(figure.high, figure.unit)
    )
    return message("95 % CI {interval}", interval=ends)


def _with_interval(figure: Figure) -> str:
    value, interval = value_text(figure.value, figure.unit), _interval(figure)
    return message("{value} ({interval})", value=value, interval=interval) if interval else value


def _faults_table(trials: Sequence[FailoverTrial]) -> Table:
    return Table(
        columns=[
            Column(label="Fault", leading=True),
            Column(label="Server", numeric=False),
            Column(label="No answer"),
            Column(label="95 % of the rate after"),
            Column(label="p99 around"),
            Column(label="Due"),
            Column(label="Never answered"),
            Column(label="Never sent"),
            Column(label="Sent once more"),
            Column(label="Whole again after"),
        ],
        rows=[_fault_row(trial) for trial in trials],
    )


def _fault_row(trial: FailoverTrial) -> list[Cell]:
    facts, figures = trial.facts, trial.figures
    head = [Cell(text=format_count(trial.probe.number)), Cell(text=Verbatim(facts.at if facts is not None else ""))]
    if figures is None:
        return [*head, Cell(text=trial.problem, tone="warn"), *(Cell(text=UNKNOWN_TEXT) for _ in range(7))]
    whole = None
    if facts is not None and facts.whole_unix_ns is not None and facts.begun_unix_ns is not None:
        whole = facts.whole_unix_ns - facts.begun_unix_ns
    gap = format_duration(figures.gap.length_ns)
    return [
        *head,
        Cell(text=gap if figures.gap.ended else message("at least {time}", time=gap)),
        Cell(text="not before the end" if figures.back_ns is None else format_duration(figures.back_ns)),
        Cell(text=_p99_text(trial)),
        Cell(text=format_count(figures.due)),
        Cell(text=_of_due(figures.unanswered, figures)),
        Cell(text=_of_due(figures.overdue, figures)),
        Cell(text=format_count(figures.repeated)),
        Cell(text="not seen", tone="warn") if whole is None else Cell(text=format_duration(whole)),
    ]


def _of_due(count: int, figures: FaultFigures) -> str:
    share = count / figures.due if figures.due else 0.0
    return message("{count} ({share})", count=format_count(count), share=format_percentage(share))


def _p99_text(trial: FailoverTrial) -> str:
    figures = trial.figures
    if figures is None or not figures.around:
        return UNKNOWN_TEXT
    return "no answer" if figures.p99_ns is None else format_duration(figures.p99_ns)


def _operations_tables(trials: Sequence[FailoverTrial]) -> list[Table]:
    """How long each kind had no answer, and what errors there were, over all runs."""
    kinds = list(dict.fromkeys(kind for trial in trials if trial.figures for kind in trial.figures.gaps))
    gaps = Table(
        columns=[Column(label="Operation", numeric=False, leading=True), Column(label="No answer, longest")],
        rows=[
            [Cell(text=kind), Cell(text=format_duration(max(_gap_of(trial, kind) for trial in trials)))]
            for kind in kinds
        ],
        caption="Operations that are rare have long times between two answers without any fault.",
    )
    errors: dict[str, int] = {}
    for trial in trials:
        for name, count in (trial.figures.errors if trial.figures else {}).items():
            errors[name] = errors.get(name, 0) + count
    failed = Table(
        columns=[Column(label="Error", numeric=False, leading=True), Column(label="Operations")],
        rows=[
            [Cell(text=Verbatim(name)), Cell(text=format_count(count))]
            for name, count in sorted(errors.items(), key=lambda each: -each[1])
        ],
        caption="By class, code and name, over all runs; what was sent again and then answered is none.",
    )
    return [*([gaps] if kinds else []), *([failed] if errors else [])]


def _gap_of(trial: FailoverTrial, kind: str) -> int:
    return trial.figures.gaps[kind].length_ns if trial.figures and kind in trial.figures.gaps else 0


def _slo(judged: Sequence[Judged]) -> Section:
    tones: dict[bool | None, tuple[str, Tone]] = {
        True: ("held", "pass"),
        False: ("missed", "fail"),
        None: ("not known", "warn"),
    }
    table = Table(
        columns=[
            Column(label="Objective", numeric=False, leading=True),
            Column(label="At most"),
            Column(label="Worst run"),
            Column(label="Result", numeric=False, tag=True),
        ],
        rows=[
            [
                Cell(text=capitalised(each.limit.what)),
                Cell(text=limit_text(each, each.limit.most)),
                Cell(text=UNKNOWN_TEXT if each.worst is None else limit_text(each, each.worst)),
                Cell(text=tones[each.held][0], tone=tones[each.held][1]),
            ]
            for each in judged
        ],
    )
    return Section(id="objectives", title="What had to hold", short="Objectives", blocks=[table])


def limit_text(judged: Judged, value: float) -> str:
    """A value in the limit's unit."""
    return format_duration(value) if judged.limit.is_time else format_count(round(value))


def _grid(trials: Sequence[FailoverTrial]) -> Grid:
    endings = {"ns": "ns"}
    metrics = tuple(
        Metric(key=each.key, label=each.label, unit=each.unit, higher_is_better=False, decides=False,
               document_key="_".join(filter(None, (each.key, endings.get(each.unit, "count")))))
        for each in METRICS
    )  # fmt: skip
    rows = [
        GridRow(
            levels=(str(trial.probe.number),),
            figures={each.key: Known(float(value)) for each in METRICS if (value := each.of(trial)) is not None},
        )
        for trial in trials
    ]
    return Grid(axes=(GridAxis(name="fault", label="Fault", scale="linear", title="number of the fault"),), rows=rows,
                metrics=metrics, id="faults-figures", title="Each fault")  # fmt: skip
