"""How long sockets were left alone between looks for replies stands in a run's report and its JSON."""

from dataclasses import replace
from pathlib import Path

import pytest

from brimline.analysis.observation import observe
from brimline.report import Report, run_report
from brimline.report.view import Facts
from tests.unit.report.report_samples import simulated_plan, write_run

TITLE = "Rests between looks for replies"
LOOKS = {"rests": 1_000, "rested_ns": 200_000_000, "unstamped": 0}


def report_of(directory: Path, *, looks: dict[str, int] | None, rate_ops_per_s: float | None) -> Report:
    record = write_run(directory, simulated_plan(rate_ops_per_s=rate_ops_per_s, warmup_s=0))
    assert record.summary is not None
    told = {} if looks is None else {"looks": looks}
    record = replace(record, summary=record.summary | {"elapsed_ns": 400_000_000, "threads": 1} | told)  # type: ignore[arg-type]
    return run_report(record, observe(record))


def facts_of(report: Report) -> list[tuple[str, str, str]]:
    blocks = [block for section in report.sections for block in section.blocks]
    facts = next((block.facts for block in blocks if isinstance(block, Facts) and block.title == TITLE), [])
    return [(str(fact.label), str(fact.value), str(fact.note)) for fact in facts]


@pytest.mark.parametrize(
    ("rate_ops_per_s", "until"), [(None, "after the look"), (1_000.0, "the next operation was due")]
)
def test_rests_are_told_with_their_length_and_share(tmp_path: Path, rate_ops_per_s: float | None, until: str) -> None:
    report = report_of(tmp_path / "run", looks=LOOKS, rate_ops_per_s=rate_ops_per_s)
    (rest, share) = facts_of(report)
    assert rest[:2] == ("Mean rest", "200 µs")
    assert until in rest[2]
    assert share[:2] == ("Share of the time", "50 %")
    assert report.data["looks"] == LOOKS


@pytest.mark.parametrize("looks", [None, {"rests": 0, "rested_ns": 0, "unstamped": 4}])
def test_nothing_is_said_where_there_were_none(tmp_path: Path, looks: dict[str, int] | None) -> None:
    assert facts_of(report_of(tmp_path / "run", looks=looks, rate_ops_per_s=None)) == []
