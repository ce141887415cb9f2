"""What a report says of warm-up that was found, and of a run that had no steady state."""

from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.observation import observe
from brimline.analysis.verdict import judge
from brimline.report import Report, run_report
from brimline.report.view import Chart
from tests.support.objectives import p99_within
from tests.unit.report.report_samples import SECOND_NS, script, simulated_plan, write_run

MS = 1_000_000


def report(directory: Path, *slowdowns: tuple[int, int, float]) -> Report:
    """The report of 40 s after a planned warm-up of 2 s, in which the server works slowly: from s, for s, so slowly."""
    stalls = [
        {"at_ns": begin * SECOND_NS, "length_ns": length * SECOND_NS, "slowdown": times}
        for begin, length, times in slowdowns
    ]
    record = write_run(
        directory,
        simulated_plan(
            rate_ops_per_s=500.0,
            duration_s=40.0,
            interval_ns=SECOND_NS // 2,
            script=script(service={"kind": "exponential", "mean_ns": MS}, servers=1, stalls=stalls),
        ),
    )
    observation, slo = observe(record), p99_within(50 * MS)
    return run_report(record, observation, slo=slo, judgement=judge(observation, slo))


def chart(made: Report) -> Chart:
    return next(
        block
        for section in made.sections
        for block in section.blocks
        if isinstance(block, Chart) and block.id == "over-time"
    )


def hatched(made: Report) -> set[tuple[Any, Any]]:
    """Start and end of each hatched band."""
    return {(trace["x"][0], trace["x"][1]) for trace in chart(made).figure["data"] if trace.get("fill") == "toself"}


def test_the_found_warmup_is_told_hatched_and_not_counted(tmp_path: Path) -> None:
    made = report(tmp_path / "run", (0, 12, 1.8))
    state = made.data["steady_state"]
    end_s = state["warmup_found_end_ns"] / 1e9
    assert state["result"] == "steady" and 12 <= end_s <= 16
    assert (0.0, end_s) in hatched(made)
    assert "warm-up, planned until 2.00 s and found to last until" in chart(made).caption
    fact = next(fact for fact in made.verdict.facts if fact.label == "Warm-up found")
    assert fact.note == "beyond the planned 2.00 s; not counted"
    assert made.data["measured_s"] == pytest.approx(42 - end_s)
    assert made.data["counts"]["sent"] == pytest.approx(500 * (42 - end_s), rel=0.01)
    assert made.data["operations"]["read"]["response"]["count"] + made.data["operations"]["update"]["response"][
        "count"
    ] == pytest.approx(500 * (42 - end_s), rel=0.01)


def test_the_planned_warmup_alone_is_told_as_ever(tmp_path: Path) -> None:
    made = report(tmp_path / "run")
    assert made.data["steady_state"]["warmup_found_end_ns"] is None
    assert (0.0, 2.0) in hatched(made)
    assert "Hatched: warm-up, and drain" in chart(made).caption
    assert not [fact for fact in made.verdict.facts if fact.label == "Warm-up found"]


def test_a_run_without_a_steady_state_says_so_first(tmp_path: Path) -> None:
    made = report(tmp_path / "run", (26, 20, 1.8))
    assert made.verdict.tone == "warn"
    assert "no steady state" in {badge.text for badge in made.verdict.badges}
    assert made.data["verdict"]["value"] == "inconclusive"
    assert made.data["verdict"]["reasons"][0].startswith("no steady state: ")
    check = next(check for check in made.data["checks"] if check["name"] == "steady_state")
    assert check["result"] == "warn"
