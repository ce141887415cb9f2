"""The report of an imported run: JMeter's table with the whole run's percentiles, and nothing that isn't known."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline._native import Histogram
from brimline.analysis.finding import Standing
from brimline.analysis.imported import imported_findings
from brimline.analysis.lint import contradictions, lint
from brimline.compat.imported.claims import imported_claims
from brimline.compat.imported.table import imported_statistics
from brimline.compat.imported.view import imported_report
from brimline.compat.results import import_files
from brimline.report import Report, render_html, render_json
from brimline.report.view import Chart, Table
from tests.support.ycsb_golden import GOLDEN, runs_with_measurements
from tests.unit.compat.results.jtl import START_MS, Sample, uniform, write, write_lines

MS = 1_000_000


def jmeter_report(tmp_path: Path, samples: list[Sample]) -> Report:
    return imported_report(import_files([write(tmp_path / "r.jtl", samples)]))


def cells(report: Report, row: int) -> dict[str, str]:
    table = next(each for each in report.sections if each.id == "operations").blocks[0]
    assert isinstance(table, Table)
    found: dict[str, str] = {}
    for column, cell in zip(table.columns, table.rows[row], strict=True):
        found[f"{column.label} {column.group}" if column.label in found else column.label] = cell.text
    return found


def charts(report: Report) -> list[str]:
    return [block.id for each in report.sections for block in each.blocks if isinstance(block, Chart)]


def results(report: Report, key: str) -> dict[str, str]:
    return {each["name"]: each["result"] for each in report.data[key]}


def test_the_table_has_exact_figures(tmp_path: Path) -> None:
    """10 000 samples of 1 ms to 1 000 ms, ten of each."""
    samples = [each._replace(start_ms=each.start_ms + turn) for turn in range(10) for each in uniform(1000)]
    report = jmeter_report(tmp_path, samples)
    row = cells(report, 0)
    assert (row["Label"], row["Samples"], row["Fail"], row["Error %"]) == ("Total", "10 000", "0", "0.00")
    assert (row["Average"], row["Min"], row["Max"], row["Median"]) == ("500.50", "1.00", "1 000.00", "500.00")
    assert (row["90th"], row["95th"], row["99th"]) == ("900.00", "950.00", "990.00")
    seconds = (10_000 + 1000 + 9 - 10) / 1000
    assert row["Throughput"] == f"{10_000 / seconds:.2f}"
    assert row["Received"] == f"{10_000 * 1000 / 1024 / seconds:,.2f}".replace(",", " ")
    assert charts(report) == ["over-time", "active-threads", "percentiles"]
    assert results(report, "checks")["samples"] == "pass"
    assert {each["result"] for each in report.data["lint"]} == {"pass"}
    render_html(report)


def test_rows_of_several_samples_have_counts_and_no_rate(tmp_path: Path) -> None:
    """8 000 samples that began within a second are no 8 000 a second: they may have taken an hour."""
    (tmp_path / "r.jtl").write_text(
        "timeStamp,elapsed,label,success,SampleCount,bytes\n"
        + "".join(f"{1_700_000_000_000 + 500 * each},900000,a,true,4000,70\n" for each in range(3))
    )
    report = imported_report(import_files([tmp_path / "r.jtl"]))
    total = cells(report, 0)
    assert (total["Samples"], total["Average"]) == ("12 000", "225.00")
    assert [total[each] for each in ("Median", "99th", "Throughput", "Received")] == ["—"] * 4
    assert (report.data["measured_s"], report.data["throughput_ops_per_s"]) == (None, None)
    assert charts(report) == [] and any("rate of the run" in note for note in report.data["notes"])
    assert "fail" not in {each["result"] for each in report.data["lint"]}
    render_html(report)


def test_what_is_not_known_is_absent() -> None:
    report = imported_report(import_files([GOLDEN / "a-run.default.stdout"]))
    assert report.data["opcounters"] is None and report.data["lag"] is None and report.data["threads"] is None
    checks = results(report, "checks")
    assert (checks["opcounters"], checks["generator_cpu"], checks["clock"]) == ("unknown", "unknown", "warn")
    assert checks["samples"] == "warn"
    total, read = cells(report, 0), cells(report, 1)
    assert [total[each] for each in ("Median", "90th", "95th", "99th", "Received", "Sent")] == ["—"] * 6
    assert (read["Label"], read["95th"], read["99th"], read["90th"]) == ("READ", "4.65", "8.92", "—")
    assert charts(report) == []
    assert "p99_ns" not in report.data["operations"]["Total"]
    assert report.data["operations"]["READ"]["p99_as_printed"] is True


def test_a_read_modify_write_is_one_operation() -> None:
    report = imported_report(import_files([GOLDEN / "f-run.default.stdout"]))
    total = cells(report, 0)
    assert (total["Samples"], total["Throughput"], total["Average"]) == ("1 000", "146.48", "—")
    assert report.data["throughput_as_printed_ops_per_s"] == pytest.approx(report.data["throughput_ops_per_s"])


@pytest.mark.parametrize("name", runs_with_measurements())
def test_nothing_that_ycsb_printed_contradicts_itself(name: str) -> None:
    files = [path for end in (".stdout", ".data.txt") if (path := GOLDEN / f"{name}{end}").exists()]
    report = imported_report(import_files([*files, *GOLDEN.glob(f"{name}.*.hdr")]))
    failed = [each for each in report.data["lint"] if each["result"] == "fail"]
    assert failed == []
    assert any(each["name"] == "throughput" for each in report.data["lint"])
    assert render_json(report)


def test_a_printed_figure_that_is_wrong_is_found(tmp_path: Path) -> None:
    text = (GOLDEN / "a-run.hdr-verbose.stdout").read_text()
    for good, bad, name in (
        ("Throughput(ops/sec), 320.92", "Throughput(ops/sec), 3209.2", "throughput"),
        ("[READ], 99thPercentileLatency(us), 6131", "[READ], 99thPercentileLatency(us), 9131", "restated"),
    ):
        path = tmp_path / f"{name}.txt"
        assert good in text
        path.write_text(text.replace(good, bad))
        report = imported_report(import_files([path]))
        assert [each["name"] for each in report.data["lint"] if each["result"] == "fail"] == [name]
        assert any("contradict" in badge.text for badge in report.verdict.badges)


def test_every_figure_of_a_row_is_held_against_the_others() -> None:
    run = import_files([GOLDEN / "a-run.raw.stdout", GOLDEN / "a-run.raw.data.txt"])
    histograms = run.histograms
    rows = imported_statistics(run, histograms)
    assert contradictions(lint(imported_claims(run, rows, histograms))) == ()
    changes: list[dict[str, Any]] = [
        {"throughput_per_s": 1.0}, {"mean_ns": 1e12}, {"min_ns": 10**12}, {"max_ns": 1}, {"failed": 5000},
        {"percentiles": {0.5: 10 * MS, 0.99: 5 * MS}},
    ]  # fmt: skip
    for change in changes:
        wrong = copy.copy(rows)
        wrong[1] = replace(rows[1], **change)
        found = contradictions(lint(imported_claims(run, wrong, histograms)))
        assert found, change


def test_groups_have_a_mean_and_no_percentile(tmp_path: Path) -> None:
    lines = ["timeStamp,elapsed,label,success,SampleCount,ErrorCount", f"{START_MS},600,a,true,3,1"]
    report = imported_report(import_files([write_lines(tmp_path / "r.jtl", lines)]))
    row = cells(report, 1)
    assert (row["Average"], row["Min"], row["Median"], row["99th"]) == ("200.00", "—", "—", "—")
    assert (row["Samples"], row["Fail"]) == ("3", "1")
    assert results(report, "checks")["samples"] == "warn"


def test_failures_are_told(tmp_path: Path) -> None:
    failed = [Sample(START_MS + each, 5, success=False, message="boom") for each in range(10)]
    run = import_files([write(tmp_path / "r.jtl", [*uniform(90), *failed])])
    finding = next(each for each in imported_findings(run) if each.name == "errors")
    assert (finding.verdict, finding.evidence) == (
        Standing.WARN,
        "10 % of the operations failed; most often 500",
    )
    all_failed = import_files([write(tmp_path / "f.jtl", failed)])
    assert next(each for each in imported_findings(all_failed) if each.name == "errors").verdict is Standing.FAIL
    table = next(each for each in imported_report(run).sections if each.id == "errors").blocks[0]
    assert isinstance(table, Table)
    assert [cell.text for cell in table.rows[0]] == ["500", "GET order", "10", "100 %", "10 %", "boom"]


def test_over_time_is_counted_once_and_nothing_lost(tmp_path: Path) -> None:
    """100 operations a second for 20 s; the chart's points are that rate."""
    samples = [Sample(START_MS + 10 * each, 5) for each in range(2000)]
    report = jmeter_report(tmp_path, samples)
    chart = next(block for each in report.sections for block in each.blocks if isinstance(block, Chart))
    rates = chart.figure["data"][0]["y"]
    assert len(rates) >= 19 and all(rate == pytest.approx(100, rel=0.02) for rate in rates)
    p50 = next(each for each in chart.figure["data"] if each["name"] == "p50")
    assert set(p50["y"]) == {5 * MS}


def test_operations_that_take_turns_are_all_over_time(tmp_path: Path) -> None:
    """One label in the first 10 s, another in the next 10 s, with 5 s of nothing between them."""
    first = [Sample(START_MS + 20 * each, 5, "first") for each in range(500)]
    second = [Sample(START_MS + 15_000 + 20 * each, 9, "second") for each in range(500)]
    report = jmeter_report(tmp_path, [*first, *second])
    chart = next(block for each in report.sections for block in each.blocks if isinstance(block, Chart))
    throughput, p50 = chart.figure["data"][0], next(each for each in chart.figure["data"] if each["name"] == "p50")
    rates = dict(zip(throughput["x"], throughput["y"], strict=True))
    assert set(p50["y"]) == {5 * MS, 9 * MS}
    assert min(rates.values()) < 20, "the gap is part of the interval before it"
    assert sum(rate > 45 for rate in rates.values()) >= 17


def test_logs_in_intervals_are_over_time(tmp_path: Path) -> None:
    """Two operations whose logs are cut a few milliseconds apart: 100 calls of 400 µs, then 200 of 800 µs …."""
    for operation, off_s in (("READ", 0.001), ("UPDATE", 0.004)):
        lines = [f"#[Logging for: {operation}]", "#[Histogram log format version 1.3]"]
        for second in range(4):
            histogram = Histogram()
            histogram.record((second + 1) * 400, 100 * (second + 1))
            lines.append(f"{second + off_s:.3f},1.000,{second + 1}.0,{histogram.encode()}")
        write_lines(tmp_path / f"{operation}.hdr", lines)
    run = import_files([tmp_path / "READ.hdr", tmp_path / "UPDATE.hdr"])
    assert run.operation_count == 2000
    report = imported_report(run)
    chart = next(block for each in report.sections for block in each.blocks if isinstance(block, Chart))
    series = {each["name"]: each["y"] for each in chart.figure["data"]}
    assert [round(rate / 200) for rate in series["answered"]] == [1, 2, 3, 4]
    assert series["p99"] == [400_000, 800_000, 1_200_000, 1_600_000]


def test_one_histogram_of_all_is_not_put_into_one_interval() -> None:
    files = [GOLDEN / "a-run.status.stdout", GOLDEN / "a-run.status.stderr"]
    run = import_files([*files, GOLDEN / "a-run.hdr-fileoutput.READ.hdr"])
    chart = next(block for each in imported_report(run).sections for block in each.blocks if isinstance(block, Chart))
    assert [each["name"] for each in chart.figure["data"]] == ["answered"] and run.times


@pytest.mark.parametrize(("time_ms", "coarse"), [(3, True), (9, True), (10, False), (250, False)])
def test_a_mean_of_few_whole_milliseconds_is_warned_of(tmp_path: Path, time_ms: int, coarse: bool) -> None:
    samples = [each._replace(elapsed_ms=time_ms) for each in uniform(50)]
    checks = {each["name"]: each for each in jmeter_report(tmp_path, samples).data["checks"]}
    assert ("resolution" in checks) == coarse
    if coarse:
        assert checks["resolution"]["result"] == "warn" and "steps of 1 ms" in checks["resolution"]["evidence"]
