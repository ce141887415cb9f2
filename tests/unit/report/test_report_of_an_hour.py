"""The report of a long run stays small and keeps its peaks; `make bench-report` measures how fast it is made.

The clock is virtual, the record real.
"""

import re
from pathlib import Path

import pytest

from brimline.analysis.observation import observe
from brimline.record import RunRecord, read_record
from brimline.report import run_report, write_html
from brimline.report.series import time_series
from tests.unit.report.report_samples import SECOND_NS, script, simulated_plan, write_run

HOUR_S = 3_600
STALL_AT_S = 1_234
SIZE_BYTES_MAX = 1_500_000


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An hour at 200 ops/s, a sample each second; the server stands still once for 0.9 s."""
    path = tmp_path_factory.mktemp("hour") / "run"
    stalls = [{"at_ns": STALL_AT_S * SECOND_NS + SECOND_NS // 2, "length_ns": 9 * SECOND_NS // 10}]
    plan = simulated_plan(
        rate_ops_per_s=200.0, warmup_s=0.0, duration_s=HOUR_S, interval_ns=SECOND_NS, script=script(stalls=stalls)
    )
    write_run(path, plan)
    return path


@pytest.fixture(scope="module")
def record(directory: Path) -> RunRecord:
    return read_record(directory)


def test_it_is_small(record: RunRecord, tmp_path: Path) -> None:
    write_html(run_report(record, observe(record)), tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size <= SIZE_BYTES_MAX


def test_a_stall_of_one_second_is_still_seen_in_it(record: RunRecord) -> None:
    buckets = time_series(record)
    assert len(buckets) <= 601
    at_stall = next(each for each in buckets if each.start_s <= STALL_AT_S + 1 < each.end_s)
    assert at_stall.interval_count >= 6
    assert at_stall.answered_ops_per_s == pytest.approx(200, rel=0.1)
    assert at_stall.lowest_ops_per_s < 120 or at_stall.start_s == STALL_AT_S + 1
    assert at_stall.highest_ops_per_s > 280
    assert at_stall.highest_p99_ns is not None
    assert at_stall.highest_p99_ns > 0.8e9
    others = [each for each in buckets if abs(each.middle_s - STALL_AT_S) > 10]
    assert all((each.highest_p99_ns or 0) < 0.1e9 for each in others)


def test_charts_have_no_more_points_than_a_screen(record: RunRecord) -> None:
    report = run_report(record, observe(record))
    charts = {chart.id: chart for section in report.sections if section.id == "charts" for chart in section.blocks}
    for chart in charts.values():
        assert max(len(trace["x"]) for trace in chart.figure["data"]) <= 601, chart.id
    names = {trace["name"] for trace in charts["over-time"].figure["data"]}
    assert {"lowest", "highest", "highest p99"} <= names
    assert re.search(r"up to \d sampling intervals", charts["over-time"].caption)
