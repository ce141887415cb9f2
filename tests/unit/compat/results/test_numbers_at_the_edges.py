"""Numbers at the edges, in every place where a foreign file has one: a run, or one error that names the line."""

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from brimline.analysis.imported import imported_findings
from brimline.compat.imported.view import imported_report
from brimline.compat.results import import_files
from brimline.errors import BrimlineError
from brimline.record.imported_files import read_imported, write_imported
from tests.support.old_histograms import encoded
from tests.unit.compat.results.jtl import START_MS

EDGES = (
    "", " ", "0", "-0", "-1", "-5", "+5", "1_0", "0x10", "1e3", "1e308", "1e309", "-1e308", "NaN", "-nan", "Infinity",
    "-Infinity", "inf", "∞", "１２", "٣", "1,5", "1.5", ".5", "5.", "2147483648", "4294967296",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551616", "9" * 30, "9" * 400,
    "1" + "0" * 5000, "null", "true",
)  # fmt: skip
HISTOGRAM = encoded({250: 10}, version="V2", compressed=True)
JTL = (
    "timeStamp,elapsed,label,success,bytes,sentBytes,allThreads,SampleCount,ErrorCount\n"
    f"{START_MS},12,a,true,100,20,5,1,0\n{{0}},{{1}},a,true,{{2}},{{3}},{{4}},{{5}},{{6}}\n"
)
XML = (
    f'<testResults><sample t="1" ts="{START_MS}" lb="a" s="true"/>\n'
    '<sample ts="{0}" t="{1}" lb="a" s="true" by="{2}" sby="{3}" na="{4}" sc="{5}" ec="{6}"/></testResults>\n'
)
SAMPLE = (str(START_MS), "12", "100", "20", "5", "1", "0")
SUMMARY = (
    "Command line: -threads {0} -target {1} -t\n[OVERALL], RunTime(ms), {2}\n[OVERALL], Throughput(ops/sec), {3}\n"
    "[READ], Operations, {4}\n[READ], AverageLatency(us), {5}\n"
    "[READ], MinLatency(us), {6}\n[READ], MaxLatency(us), {7}\n"
    "[READ], 95thPercentileLatency(us), {8}\n[READ], {9}thPercentileLatency(ms), {10}\n[READ], Return=OK, {11}\n"
    "[READ], {12}, {13}\n[CLEANUP], Operations, 1\n"
)
SUMMARY_GOOD = ("4", "100", "4000", "200.0", "10", "500.5", "100", "900", "800", "99", "1", "10", "500", "10")
JSON = (
    '[ {{\n  "metric" : "OVERALL",\n  "measurement" : "RunTime(ms)",\n  "value" : {0}\n}}, {{\n  "metric" : "READ",\n'
    '  "measurement" : "Operations",\n  "value" : {1}\n}}, {{\n  "metric" : "READ",\n'
    '  "measurement" : "AverageLatency(us)",\n  "value" : {2}\n}} ]\n'
)
RAW = "[OVERALL], RunTime(ms), 5\nREAD latency raw data: op, timestamp(ms), latency(us)\nREAD,{0},{1}\nREAD,{0},{1}\n"
STATUS = (
    "2026-11-26 00:00:00:000 0 sec: 0 operations; est completion in 0 seconds \n"
    "2026-11-26 00:00:09:000 {0} sec: {1} operations; 1 current ops/sec; [READ: Count={2}, Max=1, Min=1, 90=1] \n"
)
LOG = "#[Logging for: READ]\n#[StartTime: {0} (s)]\n#[BaseTime: {1} (s)]\n{2},{3},{4}," + HISTOGRAM + "\n"
GO = (
    '"threadcount"="{0}"\nREAD - Takes(s): {1}, Count: {2}, OPS: 1, Avg(us): {3}, Min(us): {4}, Max(us): {5}, '
    "99th(us): {6}\nRun finished, takes {7}\n"
)
FORMS = {
    "jtl": (JTL, SAMPLE), "xml": (XML, SAMPLE), "summary": (SUMMARY, SUMMARY_GOOD),
    "json": (JSON, ("4000", "10", "500.5")), "raw": (RAW, (str(START_MS), "500")),
    "status": (STATUS, ("9", "100", "50")),
    "log": (LOG, ("1700000000.000", "1700000000.000", "0.5", "1.0", "3.0")),
    "go": (GO, ("4", "10.0", "100", "5", "1", "9", "8", "10.0s")),
}  # fmt: skip


def cases(form: str) -> Iterator[tuple[int | None, str, str]]:
    """Every number of a form at every edge, the others as they should be; then all of them at once."""
    text, good = FORMS[form]
    for place, edge in itertools.product(range(len(good)), EDGES):
        yield place, edge, text.format(*good[:place], edge, *good[place + 1 :])
    for edge in EDGES:
        yield None, edge, text.format(*[edge] * len(good))


def told(path: Path, content: str) -> BrimlineError | None:
    """The error that a file ends with; None where it is a run, whose every figure is then looked at."""
    path.write_text(content, encoding="utf-8")
    try:
        run = import_files([path])
    except BrimlineError as error:
        return error
    assert run.duration_ns > 0
    imported_findings(run)
    report = imported_report(run)
    for number in numbers(report.data):
        assert math.isfinite(number) and number >= 0, content
    return None


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, int | float):
        yield value


@pytest.mark.parametrize("form", FORMS)
def test_every_number_at_every_edge(form: str, tmp_path: Path) -> None:
    path = tmp_path / ("READ.hdr" if form == "log" else "run.txt")
    text, good = FORMS[form]
    assert told(path, text.format(*good)) is None, "what the others are varied from"
    read_imported(write_imported(import_files([path]), tmp_path / "runs").directory)
    for _place, edge, content in cases(form):
        error = told(path, content)
        if error is not None:
            assert error.message.startswith(f"{path.name}:"), (error.message, edge)
            assert error.exit_code == 2


@pytest.mark.parametrize(
    ("form", "place", "line"),
    [("jtl", 1, 3), ("xml", 1, 2), ("summary", 5, 5), ("summary", 7, 7), ("summary", 8, 8), ("json", 2, 1),
     ("raw", 1, 3), ("go", 3, 2)],
)  # fmt: skip
@pytest.mark.parametrize("edge", ["Infinity", "-Infinity", "NaN", "1e308", "-5", "9" * 400])
def test_a_time_that_cannot_be_is_told_with_its_line(
    form: str, place: int, line: int, edge: str, tmp_path: Path
) -> None:
    text, good = FORMS[form]
    error = told(tmp_path / "run.txt", text.format(*good[:place], edge, *good[place + 1 :]))
    assert error is not None and f"run.txt:{line}: " in error.message, error
