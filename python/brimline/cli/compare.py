"""Owns `brimline compare`."""

from typing import Annotated

import typer

from brimline.api.comparison import compare as compare_api
from brimline.api.options import default_runs_directory
from brimline.cli import gating
from brimline.cli import junit as junit_file
from brimline.cli import options as opt
from brimline.errors import UsageError

AGAINST = "vs"


def compare(
    records: Annotated[
        list[str],
        typer.Argument(
            metavar="A... [vs] B...",
            help="Runs of A and of B: two names, or several on either side of the word vs. A name is a record, a "
            "directory of records, or an arm of an A/B comparison (DIRECTORY:A); such a comparison alone: its arms.",
            show_default=False,
        ),
    ],
    margin: gating.Margin = gating.MARGIN_TEXT,
    gate: gating.Gate = None,
    junit: junit_file.Junit = None,
    html: gating.Html = None,
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    as_json: opt.Json = False,
) -> int:
    """Compare runs: what was configured differently, what changed, and how sure that is."""
    limits = gating.limits_of(gate)
    gating.require_gate(junit, gated=bool(limits))
    a, b = _sides(records)
    share = gating.share_of(margin, "--margin")
    result = compare_api(a, b, margin=share, limits=limits, runs_directory=runs_dir or default_runs_directory())
    junit_file.write_cases(result.cases, junit, suite="compare")
    return gating.show_report(result.report, error=result.error, as_json=as_json, html=html, lang=lang)


def _sides(records: list[str]) -> tuple[list[str], list[str]]:
    """The names of A and of B. Raises UsageError where it isn't clear which is which."""
    if records.count(AGAINST) > 1:
        raise UsageError(f"{AGAINST} stands more than once", hint=f"write: brimline compare A1 A2 {AGAINST} B1 B2")
    if AGAINST in records:
        place = records.index(AGAINST)
        a, b = records[:place], records[place + 1 :]
    elif len(records) == 1:
        a, b = [f"{records[0]}:A"], [f"{records[0]}:B"]
    else:
        a, b = records[:1], records[1:]
        if len(records) > 2:
            raise UsageError(
                f"{len(records)} records are given, and it isn't said which belong to A and which to B",
                hint=f"put {AGAINST} between them: brimline compare A1 A2 {AGAINST} B1 B2",
            )
    if not a or not b:
        raise UsageError(f"one side of {AGAINST} is empty", hint=f"write: brimline compare A1 A2 {AGAINST} B1 B2")
    return a, b
