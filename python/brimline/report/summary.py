"""Owns what a terminal shows of a report after a measurement: the answer, why, how sure, a chart, what to do next.

It is a selection of the report's own parts, so that no figure here can differ from one there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from brimline.analysis.host_use import QUIET_CHECK
from brimline.report.blocks import CHECK_FAULTS, WAIT_FOR_QUIET, WAIT_FOR_QUIET_AND_LONGER
from brimline.report.limit import WHY
from brimline.report.view import Cell, Chart, Fact, Facts, Report, Section, Table, Text, Tone
from brimline.wording import joined, message

_OF_THE_LIMIT = ("Stopped by", WHY)
"""Facts of a verdict that name what limited the load."""
_BETWEEN_SENTENCES, _BETWEEN_CLAUSES = re.compile(r"(?<=\.)\s+(?=[A-Z\d])"), re.compile(r"[;:]\s+")
_OUTCOMES = ("the objective is missed", "the run can't tell", "the run proves nothing")
"""What the words of an error begin with, in the words of a verdict."""
_EVIDENCE_CHARACTERS_MAX = 140
"""Length up to which checks that failed or warned are told with what was seen; further ones by name."""
_LIMITS = frozenset({"run", "sweep", "capacity", "frontier"})
"""Kinds of report whose section on the limit says why the answer is what it is."""


def summarised(report: Report, *, has_hint: bool = False, said: str = "") -> Report:
    """The parts of `report` that a terminal shows: why and how sure before the other facts, one chart, the next step.

    With `has_hint` an error that follows says what to do next. `said` is what it says of the answer.
    """
    why, sure = _why(report), _how_sure(report)
    others = [fact for fact in report.verdict.facts if not (why and fact.label in _OF_THE_LIMIT)]
    sentence = _not_said(report.verdict.sentence, said) if said else report.verdict.sentence
    then = "" if has_hint else next_step(report)
    charts = [block for section in report.sections for block in section.blocks if isinstance(block, Chart)]
    ends = [Facts(title="", facts=[Fact(label="next", value=then)])] if then else []
    return replace(
        report,
        verdict=replace(report.verdict, sentence=sentence, facts=[*why, *sure, *others]),
        sections=[
            Section(
                id="summary",
                title="",
                short="",
                blocks=[*(chart for chart in charts if chart.sketch is not None), *ends],
            )
        ],
    )


def _not_said(text: str, said: str) -> str:
    """The sentences of `text` of which an error with the words `said` leaves anything out."""
    said = said.lower()
    sentences = _BETWEEN_SENTENCES.split(text)
    clauses = {each: _BETWEEN_CLAUSES.split(each.rstrip(".").lower()) for each in sentences}
    return " ".join(each for each in sentences if not all(one in said or one in _OUTCOMES for one in clauses[each]))


def _why(report: Report) -> list[Fact]:
    """What limited the load, where something did."""
    section = _section(report, "bottleneck")
    text = next((block for block in section.blocks if isinstance(block, Text)), None) if section else None
    if report.kind not in _LIMITS or text is None or text.tone == "muted":
        return []
    return [Fact(label=WHY, value=text.text)]


def _how_sure(report: Report) -> list[Fact]:
    """The checks that failed or warned, and what a comparison says before it is believed."""
    warnings = [block.text for block in _blocks(report, "warnings") if isinstance(block, Text)]
    rows = [row for block in _blocks(report, "validity") if isinstance(block, Table) for row in block.rows]
    told = [row for tone in ("fail", "warn") for row in rows if row[1].tone == tone]
    if not rows and not warnings:
        return []
    if not told and not warnings:
        return [Fact(label="How sure", value=message("none of {count} checks failed or warned", count=len(rows)))]
    named = joined("; ", _told(told, said=report.verdict.sentence, length=sum(map(len, warnings))))
    tone: Tone = "fail" if any(row[1].tone == "fail" for row in told) else "warn"
    return [Fact(label="How sure", value=joined(" ", [*warnings, *([named] if named else [])]), tone=tone)]


def _told(rows: Sequence[Sequence[Cell]], *, said: str, length: int) -> Iterator[str]:
    """Each check with what was seen, as long as there is room, and where the verdict doesn't say it already.

    The others are named, each by its fault. How they ended stands before all.
    """
    with_evidence: dict[Tone | None, list[str]] = {"fail": [], "warn": []}
    named: dict[Tone | None, list[str]] = {"fail": [], "warn": []}
    for check, result, evidence in rows:
        told = message("{check}: {evidence}", check=check.text, evidence=evidence.text)
        length += len(told)
        if evidence.text.lower() in said.lower() or length > _EVIDENCE_CHARACTERS_MAX:
            named[result.tone].append(check.text)
        else:
            with_evidence[result.tone].append(told)
    endings: Mapping[Tone, str] = {"fail": "failed: {checks}", "warn": "warned: {checks}"}
    for tone, ended in endings.items():
        parts = [*with_evidence[tone], *([joined(", ", named[tone])] if named[tone] else [])]
        if parts:
            yield message(ended, checks=joined("; ", parts))


def _blocks(report: Report, section_id: str) -> Sequence[object]:
    section = _section(report, section_id)
    return () if section is None else section.blocks


def _section(report: Report, section_id: str) -> Section | None:
    return next((section for section in report.sections if section.id == section_id), None)


_AGAIN = "mend what the failed checks name, and repeat it"
_NEXT: Mapping[tuple[str, Tone | None], str] = {
    ("run", "pass"): "find how far it goes with brimline capacity",
    ("run", "fail"): "find the highest rate that meets the objective: brimline capacity",
    ("run", "warn"): "repeat it for longer: --duration",
    ("run", ""): "give it an objective (--rate 2000/s --p99 20ms), or use brimline capacity",
    ("sweep", "warn"): "repeat the levels for an interval: --repeats 3",
    ("sweep", None): "find the highest rate within an objective with brimline capacity",
    ("frontier", None): "search one of the limits closely with brimline capacity",
    ("comparison", "warn"): "repeat it with more runs of each side",
    ("comparison", None): "see what else changed in the report",
    ("growth", None): "see in the report what else began there, or go further with --to",
    ("soak", None): "see every figure over the whole time in the report",
    ("scan", None): "see the plan of each query in the report",
    ("vary", None): "see every combination in the report",
    ("import", "pass"): "measure on it with brimline run or brimline capacity",
    ("import", None): "see in the report what became of the records",
}
"""What to do next, by kind of report and tone of its verdict; None: any other tone."""
_AFTER_LOAD = "brimline run or capacity with the same --records and --seed"


def next_step(report: Report) -> str:
    """What to do after such a result."""
    verdict = report.verdict
    if verdict.next_step:
        return verdict.next_step
    if report.kind == "run" and verdict.tone == "fail" and not verdict.figure:
        return _AGAIN
    if report.kind == "run" and verdict.unit == "documents/s":
        return _AFTER_LOAD
    if _is_crowded(report):
        undecided = report.kind == "run" and verdict.tone == "warn"
        return WAIT_FOR_QUIET_AND_LONGER if undecided else WAIT_FOR_QUIET
    return _NEXT.get((report.kind, verdict.tone)) or _NEXT.get((report.kind, None), "see all tables with brimline show")


def _is_crowded(report: Report) -> bool:
    """Whether other programs filled the server's host in what the report is of."""
    fault = CHECK_FAULTS[QUIET_CHECK]
    rows = (row for block in _blocks(report, "validity") if isinstance(block, Table) for row in block.rows)
    return any(row[0].text == fault for row in rows)
