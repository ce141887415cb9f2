"""Owns what follows: conclusions from verdicts alone, how steady the figures are, and what was not shown."""

from collections.abc import Iterator, Sequence

from brimline.report.view import Block, Cell, Column, Fact, Facts, Section, Table
from brimline.study.document.made import Made
from brimline.study.document.results import STABILITY_VERBS, NotShown, Prose, shown_of
from brimline.study.figures import quoted
from brimline.study.scale import AUTO, Scale
from brimline.study.spec import StudySpec, size_said
from brimline.units import UNKNOWN_TEXT, format_count
from brimline.wording import Verbatim, joined, message


def stability(made: Sequence[Made], prose: Prose) -> Section:
    """How each experiment ended, how many runs it has, and what weighs against its figures."""
    rows = []
    for each in made:
        if each.report is None or each.entry.ended is None:
            continue
        checks, contradictions = _lint(each)
        rows.append(
            [
                Cell(text=prose.title(each)),
                Cell(text=format_count(each.runs)),
                Cell(text=format_count(checks)),
                Cell(text=format_count(contradictions), tone="fail" if contradictions else ""),
                Cell(text=_reservations(each) or "no reservation"),
            ]
        )
    blocks: list[Block] = []
    for each in made:
        if each.experiment.verb in STABILITY_VERBS:
            blocks += shown_of(each, prose)
    table = Table(
        columns=[
            Column(label="Experiment", numeric=False, leading=True),
            Column(label="Runs"),
            Column(label="Recomputed"),
            Column(label="Contradictions"),
            Column(label="Reservations", numeric=False),
        ],
        rows=rows,
        title="How steady the figures are",
        caption="Recomputed: claims of its report that were held against its other figures and the raw files.",
    )
    return Section(id="stability", title="Stability", short="Stability", blocks=[*blocks, *([table] if rows else [])])


def _lint(made: Made) -> tuple[int, int]:
    found = [] if made.report is None else made.report.data.get("lint", [])
    return len(found), sum(each.get("result") == "fail" for each in found)


def _reservations(made: Made) -> str:
    """What weighs against an experiment's figures, in a row; "" where nothing does."""
    badges = [] if made.report is None else made.report.verdict.badges
    said = [each.text for tone in ("fail", "warn") for each in badges if each.tone == tone]
    why = made.reasons or ([made.missing] if made.missing else [])
    return joined("; ", [*said, *why]) if said or why else ""


def conclusions(spec: StudySpec, made: Sequence[Made], prose: Prose, not_shown: NotShown, *, scale: Scale) -> Section:
    """One row for each verdict; then advice whose figures are there, and what was not shown."""
    rows = [row for each in made for row in _verdict(each, prose)]
    table = Table(
        columns=[
            Column(label="Experiment", numeric=False, leading=True),
            Column(label="Conclusion", numeric=False),
            Column(label="Figure", numeric=False),
            Column(label="Interval", numeric=False),
            Column(label="What it means", numeric=False),
            Column(label="Caveat", numeric=False),
        ],
        rows=rows,
        title="Conclusions",
        caption="Each follows from the verdict of its experiment, and from nothing else.",
    )
    advice = [text for words in spec.advice if (text := prose.with_figures(words)) is not None]
    blocks: list[Block] = [*([table] if rows else []), *advice]
    return Section(
        id="conclusions",
        title="Conclusions and advice",
        short="Conclusions",
        blocks=[
            *blocks,
            Facts(title="What limits them", facts=_limits(spec, made, scale)),
            *_left_open(made, prose, not_shown),
        ],
    )


def _verdict(made: Made, prose: Prose) -> Iterator[list[Cell]]:
    if made.report is None:
        return
    verdict = made.report.verdict
    yield [
        Cell(text=prose.title(made)),
        Cell(text=verdict.caption, tone=verdict.tone),
        Cell(text=quoted(verdict) or UNKNOWN_TEXT),
        Cell(text=verdict.interval or UNKNOWN_TEXT),
        Cell(text=verdict.sentence),
        Cell(text=_reservations(made) or "no reservation"),
    ]


def _limits(spec: StudySpec, made: Sequence[Made], scale: Scale) -> list[Fact]:
    """What holds of all conclusions."""
    size = (
        "as small as continuous integration takes it: shapes may differ at the full size"
        if scale.is_ci
        else "the full size"
        if scale.fraction >= 1
        else message("{share} of the full size in volumes; times and levels may be fewer by more", share=share)
        if (share := size_said(spec, scale)) != AUTO
        else "less than the full size: times and levels are those that the study has in between"
    )
    facts = [Fact(label="Size", value=size)]
    if any(_is_own(environment) for each in made for environment in each.environments):
        facts.append(
            Fact(label="Machine", value="load generator and servers share one machine, and so its processors and disk")
        )
    return facts


def _is_own(environment: object) -> bool:
    server = environment.get("server") if isinstance(environment, dict) else None
    return isinstance(server, dict) and bool(server.get("started_by_brimline") or server.get("same_host"))


def _left_open(made: Sequence[Made], prose: Prose, not_shown: NotShown) -> Iterator[Facts]:
    """What was not shown, and why."""
    facts = []
    for each in made:
        if (lacks := each.entry.lacks) is not None:
            why = message("{name} is not here: {why}", name=Verbatim(lacks.name), why=lacks.why)
            is_its_own = lacks.name == each.entry.name  # nothing is missing but time
            facts.append(Fact(label=prose.title(each), value=lacks.why if is_its_own else why, note=lacks.how))
        elif each.report is None:
            facts.append(Fact(label=prose.title(each), value=each.missing or "it was not made"))
        for level in each.entry.left_out:
            why = message("without {name}: {why}", name=Verbatim(level.name), why=level.why)
            facts.append(Fact(label=prose.title(each), value=why, note=level.how))
    facts += [Fact(label=what, value=why) for what, why in not_shown.found]
    yield Facts(title="What was not shown", facts=facts or [Fact(label="", value="nothing that was asked for")])
