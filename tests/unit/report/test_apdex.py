"""Apdex from histograms: against counting one by one, and with failures that are never satisfied."""

from dataclasses import replace

import pytest

from brimline.analysis.observation import observe
from brimline.report.run.apdex import Apdex, ApdexThresholds, apdex_scores, apdex_table, parse_thresholds
from brimline.report.statistics import operation_statistics
from tests.unit.report.report_samples import Reports

MS = 1_000_000


def test_the_score_is_that_of_the_definition() -> None:
    assert Apdex(satisfied=170, tolerating=20, frustrated=10).score == pytest.approx(0.9)
    assert Apdex(satisfied=0, tolerating=0, frustrated=0).score is None


def test_every_operation_is_in_one_of_three_places(reports: Reports) -> None:
    thresholds = ApdexThresholds(toleration_ns=1 * MS, frustration_ns=100 * MS)
    scores = apdex_scores(reports.record, thresholds)
    assert scores is not None
    assert set(scores) == {"read", "update"}
    for row in operation_statistics(reports.record, reports.observation)[1:]:
        score = scores[row.label]
        assert score.satisfied + score.tolerating + score.frustrated == row.samples
        assert score.frustrated >= row.failed
        answered = [
            (value, count - dict(reports.record.breakdown[row.label, "failed_response"].buckets()).get(value, 0))
            for value, count in reports.record.histograms[row.label, "response"].buckets()
        ]
        # A bucket at 1 ms is 512 ns wide and bears its upper end; the one that holds the threshold counts as below it.
        assert score.satisfied == sum(count for value, count in answered if value - 511 <= thresholds.toleration_ns)


def test_failures_are_frustrated_however_fast(reports: Reports) -> None:
    generous = ApdexThresholds(toleration_ns=10_000 * MS, frustration_ns=10_000 * MS)
    scores = apdex_scores(reports.record, generous)
    assert scores is not None
    failed = {row.label: row.failed for row in operation_statistics(reports.record, reports.observation)[1:]}
    assert {operation: score.frustrated for operation, score in scores.items()} == failed


def test_what_was_never_sent_is_frustrated(reports: Reports) -> None:
    """It has no time, so that no histogram holds it."""
    thresholds = ApdexThresholds(toleration_ns=1 * MS, frustration_ns=100 * MS)
    summary = reports.record.summary
    assert summary is not None and summary["overdue"] == 0
    late = replace(reports.record, summary={**summary, "overdue": 40})
    before, after = apdex_scores(reports.record, thresholds), apdex_scores(late, thresholds)
    assert before is not None and after is not None
    assert sum(score.frustrated for score in after.values()) == 40 + sum(score.frustrated for score in before.values())
    for kind, score in after.items():
        assert (score.satisfied, score.tolerating) == (before[kind].satisfied, before[kind].tolerating)


def test_a_record_without_the_times_of_failures_has_no_score(reports: Reports) -> None:
    older = replace(reports.record, breakdown={})
    assert apdex_scores(older, ApdexThresholds()) is None
    assert apdex_table(older, operation_statistics(older, observe(older)), ApdexThresholds()) is None


def test_the_table_has_jmeters_columns(reports: Reports) -> None:
    table = apdex_table(reports.record, operation_statistics(reports.record, reports.observation), ApdexThresholds())
    assert table is not None
    labels = [column.label for column in table.columns]
    assert labels[:3] == ["Apdex", "T (Toleration threshold)", "F (Frustration threshold)"]
    assert labels[-1] == "Label"
    assert [cell.text for cell in table.rows[0]][1:3] == ["500 ms", "1.5 s"]


@pytest.mark.parametrize("text", ["10ms", "40ms,10ms", "0,10ms", "10,20", "a,b", "1ms,2ms,3ms"])
def test_thresholds_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"two times|threshold|unit|duration"):
        parse_thresholds(text)


def test_thresholds_are_read() -> None:
    assert parse_thresholds("10ms, 40ms") == ApdexThresholds(toleration_ns=10 * MS, frustration_ns=40 * MS)
