"""A report in other formats: Markdown, CSV and JTL say the same as the page, and what isn't known is empty."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from brimline.analysis.observation import observe
from brimline.analysis.verdict import Slo
from brimline.api.export import FILE_NAMES, FORMATS, exported, formats_of
from brimline.api.results import RunResult, SweepResult
from brimline.api.run_result import run_result
from brimline.api.scan import scan_result
from brimline.compat.jmeter.jtl import COLUMNS, jtl_lines
from brimline.compat.results import import_files
from brimline.errors import UsageError
from brimline.record import read_record
from brimline.report import Report, in_language
from brimline.report.csv_export import PROBE_COLUMNS, RUN_COLUMNS, SCAN_COLUMNS, probes_csv, statistics_csv
from brimline.report.markdown import render_markdown
from brimline.report.result_schema import result_schema
from brimline.report.statistics import operation_statistics
from tests.support.command_line import CommandLine
from tests.unit.report.every_kind import KINDS
from tests.unit.report.report_samples import SPEC, Reports, script, simulated_plan, write_run
from tests.unit.report.scan_samples import make_scan


@pytest.fixture(scope="module")
def result(reports: Reports) -> RunResult:
    return run_result(reports.record, Slo())


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _jtl(result: RunResult, **options: Any) -> list[dict[str, str]]:
    return _rows("".join(jtl_lines(result.record, **options)))


# --- words


@pytest.mark.parametrize("kind", KINDS)
def test_no_report_has_values_as_python_writes_them(every_kind: Mapping[str, Report], kind: str) -> None:
    text = render_markdown(every_kind[kind])
    assert not re.findall(r".{20}(?:\{'|': |\bNone[,\]}]|\bTrue[,\]}]|\bFalse[,\]}]|\('\w).{20}", text)


# --- JSON


def test_the_schema_takes_the_document_of_every_kind(every_kind: Mapping[str, Report]) -> None:
    schema = Draft202012Validator(result_schema())
    assert not {kind: odd for kind, each in every_kind.items() if (odd := list(schema.iter_errors(each.data)))}


# --- Markdown


def test_markdown_has_the_verdict_and_every_table(reports: Reports) -> None:
    text = render_markdown(reports.run)
    assert text.startswith("# Run: order-service\n")
    assert f"**{reports.run.verdict.caption}: {reports.run.verdict.figure}**" in text
    for heading in (
        "## Operations",
        "## Errors",
        "## Can the figures be believed?",
        "## Where it ran",
        "## Do it again",
    ):
        assert f"\n{heading}\n" in text
    assert f"```\n{SPEC.rstrip()}\n```" in text
    assert "*The charts are in the HTML report.*" in text


def test_markdown_tables_are_rectangular(reports: Reports) -> None:
    widths = [
        [line.replace("\\|", "").count("|") for line in block.splitlines()]
        for block in render_markdown(reports.capacity).split("\n\n")
        if block.startswith("| ")
    ]
    assert len(widths) >= 4
    assert all(len(set(lines)) == 1 for lines in widths)


def test_markdown_cant_be_broken_by_what_a_server_says(reports: Reports) -> None:
    text = render_markdown(reports.run)
    evil = render_markdown(_with_evil_name(reports))
    assert "# Run: a \\| b\\<script\\> \\*c\\* \\`d\\`\n" in evil
    assert len(evil.splitlines()) == len(text.splitlines())


def _with_evil_name(reports: Reports) -> Any:
    return replace(reports.run, name="a | b<script>\n*c* `d`")


def test_markdown_speaks_chinese(reports: Reports) -> None:
    text = render_markdown(in_language(reports.run, "zh"))
    assert "# 单次运行：order-service" in text
    assert "*图表见 HTML 报告。*" in text


# --- CSV


def test_statistics_are_those_of_the_page(reports: Reports) -> None:
    rows = _rows(statistics_csv(reports.record, reports.observation))
    statistics = operation_statistics(reports.record, reports.observation)
    assert tuple(rows[0]) == RUN_COLUMNS
    assert [row["operation"] for row in rows] == ["Total", "read", "update"]
    assert {(row["unit"], row["documents"], row["documents_per_s"]) for row in rows} == {("operation", "", "")}
    for row, expected in zip(rows, statistics, strict=True):
        assert int(row["samples"]) == expected.samples
        assert int(row["failed"]) == expected.failed
        assert expected.latency is not None
        assert float(row["average_ms"]) == pytest.approx(expected.latency.mean_ns / 1e6, abs=1e-5)
        assert float(row["p99_ms"]) == pytest.approx(expected.latency.p99.value_ns / 1e6)
        assert float(row["p99_low_ms"]) <= float(row["p99_ms"]) <= float(row["p99_high_ms"])
        assert float(row["received_kb_per_s"]) == pytest.approx(expected.received_bytes_per_s / 1024, abs=1e-3)
        assert float(row["sent_kb_per_s"]) == pytest.approx(expected.sent_bytes_per_s / 1024, abs=1e-3)


def test_the_columns_of_before_are_still_the_first() -> None:
    """A spreadsheet that was made for them goes on working."""
    assert RUN_COLUMNS[:4] == ("operation", "clock", "samples", "misses")
    assert RUN_COLUMNS[17:] == (
        "sent_kb_per_s", "planned_whole_run", "overdue_whole_run", "unit", "documents", "documents_per_s",
        "not_begun_whole_run", "step",
    )  # fmt: skip


def test_a_run_that_measured_nothing_is_still_of_operations(reports: Reports) -> None:
    empty = replace(reports.record, operations=[], histograms={})
    (total,) = _rows(statistics_csv(empty, observe(empty)))
    assert (total["samples"], total["unit"], total["documents"]) == ("0", "operation", "")


def test_what_an_unsealed_run_planned_is_empty(tmp_path: Path) -> None:
    run_plan = simulated_plan(rate_ops_per_s=200.0, warmup_s=0.0, duration_s=2.0)
    record = write_run(tmp_path / "run", run_plan, sealed=False)
    total = _rows(statistics_csv(record, observe(record)))[0]
    assert (total["planned_whole_run"], total["overdue_whole_run"], total["unit"]) == ("", "", "operation")


def test_a_percentile_that_too_few_operations_reach_is_empty(tmp_path: Path) -> None:
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=50.0, warmup_s=0.0, duration_s=2.0))
    total = _rows(statistics_csv(record, observe(record)))[0]
    assert total["p99_ms"] == ""
    assert total["median_ms"] != ""


def test_probes_have_a_row_each(reports: Reports) -> None:
    rows = _rows(probes_csv(reports.capacity.data))
    assert tuple(rows[0]) == PROBE_COLUMNS
    assert len(rows) == len(reports.trials)
    assert rows[0]["server_cpu_percent"] == ""  # the null target
    assert {row["clock"] for row in rows if row["stage"] == "sweep"} == {"service"}


def test_a_spreadsheet_runs_no_formula_of_ours() -> None:
    probe = {
        "number": 1, "stage": "=cmd()", "result": None, "connections": 1, "rate_ops_per_s": None,
        "throughput_ops_per_s": 1.0, "closed_loop": True, "service": None, "response": None, "error_rate": 0.0,
        "server_cpu_share": None, "target": "server", "reasons": ["@x"],
    }  # fmt: skip
    row = _rows(probes_csv({"probes": [probe]}))[0]
    assert (row["stage"], row["reasons"], row["result"], row["p99_ms"]) == ("'=cmd()", "'@x", "", "")


def test_a_scan_has_a_row_for_each_query(tmp_path: Path) -> None:
    result = scan_result(make_scan(tmp_path / "scan"))
    rows = _rows("".join(exported(result, "csv")))
    assert tuple(rows[0]) == SCAN_COLUMNS
    assert [(row["scenario"], row["width"]) for row in rows[2:]] == [("A", "1000000"), ("B", ""), ("C", "")]
    largest, broken, refused = rows[2:]
    assert float(largest["steady_ms"]) == pytest.approx(1002)
    assert float(largest["steady_low_ms"]) <= 1002 <= float(largest["steady_high_ms"])
    assert float(largest["first_touch_ms"]) == pytest.approx(5010)
    assert float(largest["examined_mb_per_s"]) == pytest.approx(500 / 1.002, abs=1e-3)
    assert (largest["documents_examined"], largest["client_limited"], largest["problems"]) == ("1000000", "no", "")
    assert "which is not IXSCAN {level: 1}" in broken["problems"]
    assert (refused["steady_ms"], refused["problems"]) == ("", "unknown operator: $foo")
    assert formats_of(result) == ("html", "md", "csv", "json")


# --- JTL


def test_jtl_has_a_row_for_every_measured_operation(result: RunResult) -> None:
    rows = _jtl(result)
    assert tuple(rows[0]) == COLUMNS
    measured = [row for row in result.record.operations if row["phase"] == "measure"]
    assert len(rows) == sum(row["ok"] + row["miss"] + row["failed"] for row in measured)
    outcomes = Counter((row["label"], row["success"]) for row in rows)
    for operation in ("read", "update"):
        failed = sum(row["failed"] for row in measured if row["operation"] == operation)
        assert outcomes[operation, "false"] == failed


def test_jtl_times_give_the_same_percentiles(result: RunResult) -> None:
    elapsed = sorted(int(row["elapsed"]) for row in _jtl(result))
    response = result.observation.response
    assert response is not None
    assert elapsed[int(len(elapsed) * 0.99)] == pytest.approx(response.p99_ns / 1e6, rel=0.01)
    assert sum(elapsed) / len(elapsed) == pytest.approx(response.mean_ns / 1e6, rel=0.05)


def test_jtl_times_of_day_lie_in_the_measured_window(result: RunResult) -> None:
    summary = result.record.summary
    assert summary is not None
    stamps = [int(row["timeStamp"]) - summary["started_unix_ns"] // 1_000_000 for row in _jtl(result)]
    assert min(stamps) == 5_000  # after the warm-up
    assert max(stamps) < 25_500
    assert stamps[0] == min(stamps)


def test_jtl_of_a_killed_run_has_the_same_times_of_day(tmp_path: Path) -> None:
    plan = simulated_plan(rate_ops_per_s=500.0, warmup_s=0.5, duration_s=2.0)
    sealed, killed = (
        _rows("".join(jtl_lines(write_run(tmp_path / name, plan, sealed=name == "sealed"))))
        for name in ("sealed", "killed")
    )
    assert len(killed) == len(sealed) > 900
    apart = {int(one["timeStamp"]) - int(other["timeStamp"]) for one, other in zip(sealed, killed, strict=True)}
    assert len(apart) == 1, "one clock"


def test_jtl_of_a_run_that_measured_nothing_is_its_header(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    write_run(directory, simulated_plan(rate_ops_per_s=500.0), sealed=False)
    for name in ("operations.csv", "intervals.csv"):
        header, *_ = (directory / name).read_text().splitlines(keepends=True)
        (directory / name).write_text(header)
    (directory / "latency.hlog").write_text("")
    assert len(list(jtl_lines(read_record(directory)))) == 1


def test_jtl_of_a_long_run_counts_in_jmeters_columns(result: RunResult) -> None:
    single, summed = _jtl(result), _jtl(result, rows_max=1_000)
    assert tuple(summed[0]) == (*COLUMNS, "SampleCount", "ErrorCount")
    assert len(summed) < len(single) / 100
    assert sum(int(row["SampleCount"]) for row in summed) == len(single)
    assert sum(int(row["ErrorCount"]) for row in summed) == sum(row["success"] == "false" for row in single)


def test_jtl_of_a_long_run_is_read_back_with_the_same_mean_and_the_same_bytes(
    result: RunResult, tmp_path: Path
) -> None:
    path = tmp_path / "long.jtl"
    path.write_text("".join(jtl_lines(result.record, rows_max=1_000)))
    measured = [row for row in result.record.operations if row["phase"] == "measure"]
    for series in import_files([path]).series:
        histogram = result.record.histograms[series.operation, "response"]
        assert series.times_from == "groups" and series.samples == histogram.count()
        assert series.mean_ns == pytest.approx(histogram.mean(), rel=0.01)
        sent = sum(row["bytes_out"] for row in measured if row["operation"] == series.operation)
        assert series.bytes_out == pytest.approx(sent, rel=0.001)


def test_jtl_holds_no_formula_of_a_server(tmp_path: Path) -> None:
    """An HTTP service that fails with "=HYPERLINK(…)" is quoted, in a file that people open in a spreadsheet."""
    faults = [{"when": {"share": 0.5}, "kind": {"error": {"code": 50, "name": "=HYPERLINK"}}}]
    plan = simulated_plan(rate_ops_per_s=100.0, warmup_s=0.0, duration_s=1.0, script=script(faults=faults))
    record = write_run(tmp_path / "run", plan)
    assert record.summary is not None
    errors = [{**row, "label": "=A1", "example": "=cmd\u2028@x"} for row in record.summary["errors"]]
    told = replace(record, summary={**record.summary, "errors": cast(Any, errors)})
    failed = [each for each in _rows("".join(jtl_lines(told))) if each["success"] == "false"]
    assert {(each["responseMessage"], each["failureMessage"]) for each in failed} == {("'=A1", "'=cmd\ufffd@x")}


def test_jtl_names_an_only_kind_of_failure(tmp_path: Path) -> None:
    faults = [{"when": {"share": 0.05}, "kind": {"error": {"code": 50, "name": "MaxTimeMSExpired"}}}]
    plan = simulated_plan(rate_ops_per_s=500.0, warmup_s=0.0, duration_s=2.0, script=script(faults=faults))
    rows = _rows("".join(jtl_lines(write_run(tmp_path / "run", plan))))
    failed = [row for row in rows if row["success"] == "false"]
    assert {(row["responseCode"], row["responseMessage"]) for row in failed} == {("50", "MaxTimeMSExpired")}
    assert {row["failureMessage"] for row in failed} == {"scripted error"}


def test_jtl_is_refused_for_an_experiment(reports: Reports, tmp_path: Path) -> None:
    sweep = SweepResult.__new__(SweepResult)
    object.__setattr__(sweep, "report", reports.sweep)
    object.__setattr__(sweep, "directory", tmp_path)
    with pytest.raises(UsageError, match="only a single run"):
        list(exported(sweep, "jtl"))
    assert formats_of(sweep) == ("html", "md", "csv", "json")


def test_csv_is_refused_where_there_are_no_figures(reports: Reports, tmp_path: Path) -> None:
    comparison = SweepResult.__new__(SweepResult)
    object.__setattr__(comparison, "report", replace(reports.sweep, kind="trend", data={}, grids=()))
    object.__setattr__(comparison, "directory", tmp_path)
    with pytest.raises(UsageError, match="a report of kind trend has no figures"):
        list(exported(comparison, "csv"))
    assert formats_of(comparison) == ("html", "md", "json")


# --- the verb


def test_the_verb_writes_every_format_beside_the_record(brimline_cli: CommandLine) -> None:
    run = brimline_cli.directory / "run"
    write_run(run, simulated_plan(rate_ops_per_s=200.0, warmup_s=0.0, duration_s=2.0))
    outcome = brimline_cli.run("report", run, "--format", "all", "--apdex", "1ms,2ms")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.split() == [str(run / FILE_NAMES[each]) for each in FORMATS]
    assert "2 ms" in (run / "report.md").read_text()
    assert read_record(run).files_changed == ()


def test_a_report_in_another_language_says_that_it_takes_the_place_of_one(brimline_cli: CommandLine) -> None:
    run = brimline_cli.directory / "run"
    write_run(run, simulated_plan(rate_ops_per_s=200.0, warmup_s=0.0, duration_s=2.0))
    said = [brimline_cli.run("report", run, *words).stderr for words in ((), (), ("--lang", "zh"), ("--lang", "zh"))]
    assert [("was in English until now" in each) for each in said] == [False, False, True, False]
    assert "was in Chinese" in brimline_cli.run("report", run, "--format", "all").stderr


def test_all_formats_go_to_a_directory_that_is_made(brimline_cli: CommandLine) -> None:
    run, made = brimline_cli.directory / "run", brimline_cli.directory / "a" / "b"
    write_run(run, simulated_plan(rate_ops_per_s=200.0, warmup_s=0.0, duration_s=2.0))
    assert brimline_cli.run("report", run, "--format", "all", "-o", made).exit_code == 0
    assert {each.name for each in made.iterdir()} == {FILE_NAMES[each] for each in FORMATS}


def test_the_verb_writes_where_it_is_told(brimline_cli: CommandLine) -> None:
    run, told = brimline_cli.directory / "run", brimline_cli.directory / "x.md"
    write_run(run, simulated_plan(rate_ops_per_s=200.0, warmup_s=0.0, duration_s=2.0))
    report = ("report", run, "--format")
    assert brimline_cli.run(*report, "csv", "-o", "-").stdout.startswith("operation,clock,samples")
    assert brimline_cli.run(*report, "md", "-o", told, "--lang", "zh").exit_code == 0
    assert told.read_text(encoding="utf-8").startswith("# 单次运行")
    brimline_cli.run(*report, "all", "-o", "-").check_error(2, "standard output")
    brimline_cli.run("report", run, "--apdex", "10ms").check_error(2, "--apdex")


def test_markdown_is_written_by_its_whole_name_as_well(brimline_cli: CommandLine, reports: Reports) -> None:
    directory = str(reports.record.directory)
    short, whole = (brimline_cli.run("report", directory, "--format", each, "-o", "-") for each in ("md", "markdown"))
    assert whole.exit_code == 0, whole.stderr
    assert whole.stdout == short.stdout != ""
