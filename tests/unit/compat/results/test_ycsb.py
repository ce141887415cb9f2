"""YCSB's logs: every recorded run, its figures recomputed against those that YCSB printed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from brimline.compat.results import import_files
from brimline.errors import UsageError
from brimline.record.imported import ImportedRun, Series
from brimline.record.scaled import ScaledHistogram
from tests.support.ycsb_golden import GOLDEN, runs_with_measurements

US = 1_000
RUNS = runs_with_measurements()


def files_of(name: str) -> list[Path]:
    endings = (".stdout", ".stderr", ".data.txt")
    return [
        *(path for ending in endings if (path := GOLDEN / f"{name}{ending}").exists()),
        *sorted(GOLDEN.glob(f"{name}.*.hdr")),
    ]


def imported(name: str) -> ImportedRun:
    return import_files(files_of(name))


def series_of(run: ImportedRun, operation: str) -> Series:
    return next(each for each in run.shown if each.operation == operation)


SUMMARY = """[OVERALL], RunTime(ms), 10000
[OVERALL], Throughput(ops/sec), 100.0
[TOTAL_GCS_PS_Scavenge], Count, 1
[TOTAL_GC_TIME_%], Time(%), 0.08
[READ], Operations, 1000
[READ], AverageLatency(us), 100.5
[READ], MinLatency(us), 90
2023-11-14 22:13:31:000 11 sec: 1000 operations; 0 current ops/sec;
[READ], MaxLatency(us), 300
[READ], Return=OK, 1000
"""


@pytest.mark.parametrize("text", [SUMMARY, "\ufeff" + SUMMARY, SUMMARY.replace("\n", "\r\n")])
def test_a_summary_is_read_whatever_stands_around_its_lines(text: str, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(text.encode())
    (read,) = import_files([path]).series
    assert (read.operation, read.samples, read.failed, read.mean_ns) == ("READ", 1000, 0, 100_500)


def test_failures_of_which_nothing_else_is_told_are_failures(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(SUMMARY + "[INSERT-FAILED], Operations, 5\n[INSERT-FAILED], AverageLatency(us), 100\n")
    counts = {each.operation: (each.samples, each.failed) for each in import_files([path]).series}
    assert counts == {"READ": (1000, 0), "INSERT": (5, 5)}


@pytest.mark.parametrize("name", RUNS)
def test_operations_over_run_time_are_the_printed_throughput(name: str) -> None:
    """What failed is counted by YCSB in a run and not in a load; a read-modify-write is one operation."""
    run = imported(name)
    count = run.operation_count - (run.failed_count if name.startswith("a-load") else 0)
    assert run.printed.throughput_per_s == pytest.approx(count * 1e9 / run.duration_ns, rel=1e-12)
    assert run.tool == "YCSB" and run.value_unit_ns == US


@pytest.mark.parametrize("name", ["a-run.hdr-fileoutput", "a-run.hdr-verbose"])
def test_histograms_give_exactly_the_printed_figures(name: str) -> None:
    run = imported(name)
    for operation in ("READ", "UPDATE"):
        series, histogram = series_of(run, operation), run.histograms[operation, "service"]
        assert series.times_from == "histogram" and histogram.count() == series.samples
        assert series.printed_percentiles_ns.keys() >= {0.5, 0.95, 0.99}
        for quantile, printed_ns in series.printed_percentiles_ns.items():
            assert histogram.quantile(quantile) == printed_ns, (operation, quantile)
    text = (GOLDEN / f"{name}.stdout").read_text()
    for operation in ("READ", "UPDATE"):
        printed_us = float(text.split(f"[{operation}], AverageLatency(us), ")[1].split("\n")[0])
        # A verbose summary has the ends of buckets, where the mean needs their middles.
        assert (series_of(run, operation).mean_ns or 0) / US == pytest.approx(printed_us, rel=1e-3)
        if name == "a-run.hdr-fileoutput":
            assert (series_of(run, operation).mean_ns or 0) / US == pytest.approx(printed_us, rel=1e-12)


@pytest.mark.parametrize("name", ["a-run.raw", "f-run.raw", "a-run.raw-stdout"])
def test_single_times_give_the_printed_figures(name: str) -> None:
    """YCSB's raw percentiles are of the sorted times at a rank rounded to one side or the other."""
    run = imported(name)
    for series in run.shown:
        histogram = run.histograms[series.operation, "service"]
        assert histogram.count() == series.samples == series.timed
        count = histogram.count()
        for quantile, printed_ns in series.printed_percentiles_ns.items():
            near = [histogram.quantile(min(max(quantile + step / count, 0.0), 1.0)) for step in (-1, 0, 1)]
            bucket = ScaledHistogram(US)
            bucket.record(printed_ns)
            assert min(near) <= bucket.max() <= max(near), (series.operation, quantile)
    assert sum(each.samples for each in run.rows if each.operation != "READ-MODIFY-WRITE") >= 1000


@pytest.mark.parametrize("name", ["a-run.default", "a-run.histogram", "a-run.timeseries", "a-run.jsonarray-exporter"])
def test_a_summary_alone_has_printed_figures_and_no_others(name: str) -> None:
    run = imported(name)
    assert run.times == [] and run.rows == []
    assert all(each.times_from == "summary" for each in run.shown)
    series = series_of(run, "READ")
    assert (series.mean_ns or 0) > 0 and (series.min_ns or 0) > 0 and (series.max_ns or 0) >= (series.min_ns or 0)
    assert bool(series.printed_percentiles_ns) == (name != "a-run.timeseries")


def test_both_json_forms_say_the_same_as_text() -> None:
    for name in ("a-run.json-exporter", "a-run.jsonarray-exporter"):
        run = imported(name)
        assert run.operation_count == 1000 and {each.operation for each in run.shown} == {"READ", "UPDATE"}
        assert series_of(run, "READ").printed_percentiles_ns.keys() == {0.5, 0.95, 0.99}


def test_of_two_forms_of_one_measurement_the_finer_one_is_taken() -> None:
    run = imported("a-run.hdr-histogram-combined")
    assert {each.operation for each in run.shown} == {"READ", "UPDATE"}
    assert series_of(run, "READ").printed_percentiles_ns.keys() == {0.5, 0.95, 0.99}


def test_steps_of_a_millisecond_are_said() -> None:
    assert any("steps of 1 ms" in note for note in imported("a-run.histogram-verbose").notes)
    assert imported("a-run.histogram-verbose").times == []


def test_intended_times_are_response_times() -> None:
    both = imported("a-run.both-target")
    assert not both.closed_loop and {each.clock for each in both.series} == {"service", "response"}
    assert {each.clock for each in both.shown} == {"response"}
    assert both.operation_count == 1000


def test_what_only_the_command_line_says(tmp_path: Path) -> None:
    command = tmp_path / "c.stderr"
    command.write_text("Command line: -t -P w -p measurement.interval=intended -target 500 -threads 8\n")
    run = import_files([GOLDEN / "a-run.intended-target.stdout", command])
    assert not run.closed_loop and (run.printed.threads, run.printed.target_ops_per_s) == (8, 500.0)
    assert run.printed.phase == "run"
    assert imported("a-run.intended-target").closed_loop, "without it nothing says that start was the intended one"


def test_misses_and_failures() -> None:
    missed = series_of(imported("c-run.missing-table"), "READ")
    assert (missed.samples, missed.misses, missed.failed, missed.timed) == (1000, 1000, 0, 0)
    stopped = imported("a-run.server-stopped")
    assert (series_of(stopped, "READ").failed, stopped.failed_count) == (17, 26)
    assert {(each["operation"], each["label"], each["count"]) for each in stopped.errors} == {
        ("READ", "ERROR", 17),
        ("UPDATE", "ERROR", 9),
    }
    inserts = series_of(imported("e-run.insert-failures-raw"), "INSERT")
    assert (inserts.samples, inserts.failed, inserts.timed) == (55, 55, 0)
    rows = imported("e-run.insert-failures-raw").rows
    assert sum(each.failed for each in rows) == 55 and sum(each.samples for each in rows) == 1000


def test_status_lines_are_throughput_over_time() -> None:
    run = imported("a-run.status")
    assert [each.samples for each in run.rows][:3] == [3, 234, 435]
    assert sum(each.samples for each in run.rows) <= 4000
    assert {each.operation for each in run.rows} == {""}


def test_a_run_that_was_cut_off_has_its_status_lines(tmp_path: Path) -> None:
    lines = (GOLDEN / "a-run.status-label.stderr").read_text().splitlines()
    path = tmp_path / "run.stderr"
    path.write_text("\n".join(line for line in lines if " 3 sec: " not in line)[:-200])
    run = import_files([path])
    assert run.rows and run.operation_count > 0 and run.times == []
    assert {each.operation: each.mean_ns for each in run.series} == {"READ": None, "UPDATE": None}
    assert any("only status lines" in note for note in run.notes)


def test_the_jvm_is_no_operation() -> None:
    assert {each.operation for each in imported("a-run.trackjvm").series} == {"READ", "UPDATE"}


def test_output_of_the_exporter_file_is_read_alone() -> None:
    run = import_files([GOLDEN / "a-run.exportfile.txt"])
    assert run.operation_count == 1000 and run.name == "a-run.exportfile"


def _jq(text: str, **layout: Any) -> str:
    return json.dumps(json.loads(text), **layout) + "\n"


def _lines(text: str) -> str:
    return "".join(json.dumps(each, sort_keys=True) + "\n" for each in json.loads(text))


LAYOUTS: Mapping[str, Callable[[str], str]] = {
    "indented otherwise": lambda text: _jq(text, indent=4),
    "minified": lambda text: _jq(text, separators=(",", ":")),
    "on one line": _jq,
    "sorted names": lambda text: _jq(text, indent="\t", sort_keys=True),
    "an object on a line": _lines,
    "lines ended by CR LF": lambda text: _jq(text, indent=2).replace("\n", "\r\n"),
    "without a line break at the end": lambda text: _jq(text).rstrip(),
    "longer than a line may be": lambda text: _jq(text, separators=(",", ": " + " " * 200_000)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("before", ["", "\ufeff", "mongo client connection created with mongodb://h/ycsb\n"])
def test_the_json_of_any_layout_is_the_same(layout: str, before: str, tmp_path: Path) -> None:
    text = (GOLDEN / "a-run.jsonarray-exporter.stdout").read_text()
    expected = import_files([GOLDEN / "a-run.jsonarray-exporter.stdout"])
    path = tmp_path / "run.json"
    path.write_text(before + LAYOUTS[layout](text.partition("\n")[2]), newline="")
    run = import_files([path])
    assert run.series == expected.series and run.duration_ns == expected.duration_ns


GOOD = (GOLDEN / "a-run.default.stdout").read_text()
HDR = (GOLDEN / "a-run.hdr-fileoutput.READ.hdr").read_text()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("not a number", GOOD.replace("[READ], Operations, 504", "[READ], Operations, many"), ":13: Operations can't"),
        ("half a sample", GOOD.replace("[READ], Operations, 504", "[READ], Operations, 5.5"), ":13: Operations can't"),
        ("cut short", GOOD[: GOOD.index("AverageLatency")] + "\n", "the line is cut short"),
        ("cut within a figure", GOOD[: GOOD.index("AverageLatency") + 18], "its figure may be cut short"),
        ("no end", GOOD.replace("[OVERALL], RunTime(ms), 3012\n", ""), "it has no [OVERALL], RunTime(ms)"),
        ("two runs", GOOD + GOOD, "a second run begins here"),
        ("no result", "mongo client connection created\nhello\n", "nothing in it is a result of YCSB"),
        ("no measurement", (GOLDEN / "a-run.bad-db.stdout").read_text(),
         "it holds no measurement"),
        ("an unknown measurement", (GOLDEN / "a-run.bad-measurementtype.stdout").read_text(), "is a result of YCSB"),
        ("ended by a scan", (GOLDEN / "e-run.insertorder-ordered-mixed.stdout").read_text(), "is a result of YCSB"),
        ("damaged JSON", '[ {\n  "metric" : "OVERALL"\n}, {\n', "the JSON that begins here is damaged"),
        ("deep JSON", "[ {\n" + '{"a":' * 100_000, "the JSON that begins here is damaged"),
        ("raw row", "READ latency raw data: op, timestamp(ms), latency(us)\nREAD,1,x\n", "'READ,1,x' is no operation"),
        ("log without name", HDR[HDR.index("#[Histogram") :], "it has no line #[Logging for"),
        ("damaged log", HDR[:-40], ":5: '0.001,1.678"),
        ("log without interval", HDR[: HDR.index("0.001,")], "the log holds no interval"),
        ("log cut short", HDR[: HDR.index("HISTF")], "is no interval of a histogram log"),
    ],
)  # fmt: skip
def test_damage_is_one_error(name: str, content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text(content)
    with pytest.raises(UsageError) as error:
        import_files([path])
    assert words in error.value.message and error.value.message.startswith("run.txt:")


def test_files_of_two_tools_are_not_one_run(tmp_path: Path) -> None:
    jtl = tmp_path / "r.jtl"
    jtl.write_text("timeStamp,elapsed,label,success\n1,1,a,true\n")
    with pytest.raises(UsageError, match=r"r\.jtl is of JMeter and a-run\.default\.stdout of YCSB"):
        import_files([jtl, GOLDEN / "a-run.default.stdout"])


def test_a_second_log_of_an_operation(tmp_path: Path) -> None:
    copy = tmp_path / "READ.hdr"
    copy.write_text(HDR + "\n")
    with pytest.raises(UsageError, match="a second log of READ"):
        import_files([GOLDEN / "a-run.hdr-fileoutput.READ.hdr", copy])
