"""The section that shows an objective: each of its limits with the figure it was judged by."""

from collections.abc import Mapping

from brimline.analysis.verdict import Judgement, Verdict
from brimline.report.view import Cell, Column, Section, Table, Tone

_TONES: Mapping[Verdict, Tone] = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.INCONCLUSIVE: "warn",
    Verdict.INVALID: "fail",
}


def objectives(judgement: Judgement | None) -> Section:
    """Every limit with its verdict and evidence; empty without an objective."""
    results = () if judgement is None else judgement.objectives
    table = Table(
        columns=[
            Column(label="Limits", numeric=False, leading=True),
            Column(label="Result", numeric=False, tag=True),
            Column(label="Evidence", numeric=False),
        ],
        rows=[
            [
                Cell(text=each.text),
                Cell(text=each.verdict.value, tone=_TONES[each.verdict]),
                Cell(text=each.evidence),
            ]
            for each in results
        ],
        caption="All limits have to hold.",
    )
    return Section(id="objective", title="The objective", short="Objective", blocks=[table] if results else [])
