"""What could not be watched, as a record says it: named in the report, and a check where a privilege is missing."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from brimline.analysis.finding import Standing
from brimline.analysis.observation import observe
from brimline.analysis.unwatched import unwatched, watching_findings
from brimline.monitor.absence import NO_SET, NOT_ALLOWED, NOT_IN_ANSWER
from brimline.report import in_language, render_html, run_report
from brimline.report.markdown import render_markdown
from tests.unit.analysis.records import run_record
from tests.unit.report.language.test_no_english_sentence import sentences
from tests.unit.report.report_samples import simulated_plan, write_run

REFUSED = NOT_ALLOWED.format(command="serverStatus")
DOZENS = tuple(f"metric_{number}" for number in range(60))


def facts(**metrics_by_reason: tuple[str, ...]) -> dict[str, Any]:
    reasons = {"refused": REFUSED, "no_set": NO_SET, "not_in_answer": NOT_IN_ANSWER}
    absent = [{"metrics": list(each), "reason": reasons[name]} for name, each in metrics_by_reason.items()]
    return {"monitor": {"absent": absent}}


def test_a_missing_privilege_is_an_unknown_check_that_names_the_role() -> None:
    record = run_record(server_facts=facts(refused=("insert", "query"), no_set=("members_primary",)))
    (finding,) = watching_findings(record)
    assert (finding.name, finding.verdict) == ("watched", Standing.UNKNOWN)
    assert finding.evidence == f"{REFUSED}; 2 figures of the server are absent"
    assert finding in observe(record).findings


def test_what_a_server_does_not_have_is_no_check() -> None:
    record = run_record(server_facts=facts(not_in_answer=("read_queue_time_us",), no_set=("members_primary",)))
    assert watching_findings(record) == []
    assert [each.metrics for each in unwatched(record)] == [("read_queue_time_us",), ("members_primary",)]


def test_a_record_that_says_nothing_of_it_has_none() -> None:
    assert unwatched(run_record()) == () and watching_findings(run_record()) == []


def test_the_report_names_the_metrics_and_the_reason_in_either_language(tmp_path: Path) -> None:
    recorded = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=500.0, duration_s=2.0))
    record = replace(recorded, server_facts=facts(refused=DOZENS, no_set=("members_primary",)))
    report = run_report(record, observe(record))
    page = render_html(report)
    assert "Not watched" in page and REFUSED in page and NO_SET in page and "members_primary" in page
    assert "metric_7 and 52 more, see server.json" in page
    chinese = in_language(report, "zh")
    assert "clusterMonitor" in render_html(chinese)
    assert sentences(render_html(chinese)) == [] and sentences(render_markdown(chinese)) == []
