"""YCSB's outputs composed from records, held against what YCSB itself printed: the same lines but for the numbers."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from brimline import _native
from brimline.compat.ycsb import StatusLines, measurement_rows, write_hdr_files
from brimline.compat.ycsb.java import double_text
from brimline.compat.ycsb.measurements import Clocks, logged_calls, mean_us
from brimline.compat.ycsb.text import at_percentile
from brimline.record import RunRecord, hlog
from brimline.spec.ycsb_front import FAILED_STATUSES, Phase
from tests.support.ycsb_golden import GOLDEN, form, json_form, json_layout, recorded, status_form
from tests.support.ycsb_runs import BROKEN, MS, STEADY, Run


@pytest.mark.parametrize(
    ("case", "properties"),
    [
        ("a-run.default", ""),
        ("a-run.hdr", "hdrhistogram.percentiles=50,95,99,99.9"),
        ("a-run.histogram", "measurementtype=histogram"),
        ("a-run.hdr-verbose", "hdrhistogram.percentiles=50,95,99,99.9 measurement.histogram.verbose=true"),
        ("a-run.histogram-verbose", "measurementtype=histogram measurement.histogram.verbose=true"),
        ("a-run.hdr-histogram-combined", "measurementtype=hdrhistogram+histogram"),
        ("a-run.both-target", "measurement.interval=both hdrhistogram.percentiles=50,95,99,99.9 target=500"),
        ("a-run.intended-target", "measurement.interval=intended target=500"),
        ("a-run.timeseries", "measurementtype=timeseries timeseries.granularity=50"),
        ("a-run.status", "status=true status.interval=1 operationcount=4000 target=1000"),
        ("a-run.status-label", "status=true status.interval=1 operationcount=2000 target=1000 label=mylabel"),
        ("a-run.status-threads", "status=true status.interval=1 operationcount=4000 threadcount=8 target=1000"),
        ("a-run.maxexecutiontime", "operationcount=1000000 maxexecutiontime=3 target=500"),
        ("a-run.basicdb", ""),
        ("c-run.default", ""),
        ("c-run.hdr", "hdrhistogram.percentiles=50,95,99,99.9"),
        ("c-run.histogram", "measurementtype=histogram"),
        ("c-run.timeseries", "measurementtype=timeseries"),
        ("c-run.status-10s-default", "status=true operationcount=12000 target=1000"),
        ("c-run.both-target-threads", "measurement.interval=both target=1000 threadcount=4 operationcount=4000"),
        ("e-run.default", ""),
        ("e-run.hdr", "hdrhistogram.percentiles=50,95,99,99.9"),
        ("e-run.histogram", "measurementtype=histogram"),
        ("e-run.timeseries", "measurementtype=timeseries"),
        ("f-run.default", ""),
        ("f-run.hdr", "hdrhistogram.percentiles=50,95,99,99.9"),
        ("f-run.histogram", "measurementtype=histogram"),
        ("f-run.timeseries", "measurementtype=timeseries"),
        ("f-run.both-target", "measurement.interval=both target=500"),
        ("a-load.default", ""),
        ("a-load.hdr", "hdrhistogram.percentiles=50,95,99,99.9"),
        ("a-load.histogram", "measurementtype=histogram histogram.buckets=20"),
        ("a-load.timeseries", "measurementtype=timeseries timeseries.granularity=100"),
        ("c-load.default", ""),
        ("e-load.default", ""),
        ("f-load.default", ""),
    ],
)
def test_text_has_the_recorded_form(case: str, properties: str, tmp_path: Path) -> None:
    phase: Phase = "load" if "-load" in case else "run"
    run = Run(tmp_path, *properties.split(), workload=case[0], phase=phase, script=STEADY)
    assert form(run.text()) == form(recorded(f"{case}.stdout"))


def test_an_export_file_has_the_recorded_form(tmp_path: Path) -> None:
    assert form(Run(tmp_path, script=STEADY).text()) == form(recorded("a-run.exportfile.txt"))


def test_a_jvm_that_watches_itself_says_more(tmp_path: Path) -> None:
    of_the_jvm = re.compile(r"\[(MAX_|MIN_|THREAD_COUNT|SYS_LOAD_AVG|GCS|USED_MEM_MB)")
    golden = [line for line in form(recorded("a-run.trackjvm.stdout")) if not of_the_jvm.match(line)]
    assert form(Run(tmp_path, script=STEADY).text()) == golden


def test_text_and_status_line_without_a_success_have_the_recorded_form(tmp_path: Path) -> None:
    """All five operations of the recorded run were updates, and no server answered."""
    asked = ["status=true", "operationcount=5", "readproportion=0", "updateproportion=1"]
    fault = {"when": {"share": 1.0}, "kind": {"error": {"code": 11600, "name": "Interrupted"}}}
    run = Run(tmp_path, *asked, script={**STEADY, "faults": [fault]})
    assert form(run.text()) == form(recorded("a-run.no-server.stdout"))
    golden = [line for line in recorded("a-run.no-server.stderr").splitlines() if " sec: " in line]
    lines = _status_lines(run, operation_count=5)
    assert [status_form(line) for line in (lines[0], lines[-1])] == [status_form(line) for line in golden]


@pytest.mark.parametrize(
    ("case", "name", "properties"),
    [
        ("json-exporter", "JSON", ""),
        ("jsonarray-exporter", "JSONArray", ""),
        ("jsonarray-exporter-timeseries", "JSONArray", "measurementtype=timeseries timeseries.granularity=100"),
    ],
)
def test_json_has_the_recorded_form(case: str, name: str, properties: str, tmp_path: Path) -> None:
    exporter = f"exporter=site.ycsb.measurements.exporter.{name}MeasurementsExporter"
    text = Run(tmp_path, exporter, *properties.split(), script=STEADY).text()
    golden = (GOLDEN / f"a-run.{case}.stdout").read_text()
    assert json_form(text) == json_form(golden)
    assert json_layout(text) == json_layout(golden)
    assert text[-3:] == golden[-3:], "no line feed at the end"


def test_every_figure_is_that_of_the_script(tmp_path: Path) -> None:
    """On the virtual clock each command takes 2 ms, so that every figure is known."""
    run = Run(tmp_path, script=STEADY)
    values = run.values()
    reads, updates = (values[name, "Operations"] for name in ("READ", "UPDATE"))
    assert reads + updates == 1000 == values["READ", "Return=OK"] + values["UPDATE", "Return=OK"]
    for name in ("READ", "UPDATE"):
        for measurement in ("AverageLatency(us)", "MinLatency(us)", "MaxLatency(us)", "99thPercentileLatency(us)"):
            assert values[name, measurement] == pytest.approx(2000, rel=0.003), measurement
    runtime_ms = values["OVERALL", "RunTime(ms)"]
    assert 2000 <= runtime_ms <= 2010
    assert values["OVERALL", "Throughput(ops/sec)"] == 1000.0 * 1000 / runtime_ms


def test_a_read_modify_write_counts_as_its_two_calls_too(tmp_path: Path) -> None:
    values = Run(tmp_path, workload="f", script=STEADY).values()
    both = values["READ-MODIFY-WRITE", "Operations"]
    assert 0 < both == values["UPDATE", "Operations"] == values["UPDATE", "Return=OK"]
    assert values["READ", "Operations"] == values["READ", "Return=OK"] == 1000
    assert values["READ-MODIFY-WRITE", "AverageLatency(us)"] == pytest.approx(4000, rel=0.003)
    assert values["UPDATE", "AverageLatency(us)"] == pytest.approx(2000, rel=0.003)
    assert ("READ-MODIFY-WRITE", "Return=OK") not in values


def test_what_failed_is_apart_and_its_status_is_counted(tmp_path: Path) -> None:
    run = Run(tmp_path, workload="f", script=BROKEN)
    values = run.values()
    assert run.record.summary is not None
    failed = values["READ", "Return=ERROR"] + values["UPDATE", "Return=ERROR"]
    assert failed == run.record.summary["failed"] > 0
    for name in ("READ", "UPDATE"):
        assert values[name, "Return=OK"] == values[name, "Operations"]
        assert values[name, "Return=ERROR"] == values[f"{name}-FAILED", "Operations"]
    assert values["READ", "Return=OK"] + values["READ", "Return=ERROR"] == 1000
    each = Run(tmp_path / "each", "reportlatencyforeacherror=true", workload="f", script=BROKEN).values()
    assert each["READ-ERROR", "Operations"] == values["READ-FAILED", "Operations"]
    assert ("READ-FAILED", "Operations") not in each
    some = Run(tmp_path / "some", "latencytrackederrors=NOT_FOUND", workload="f", script=BROKEN).values()
    assert ("READ-FAILED", "Operations") in some


def test_the_statuses_that_can_be_tracked_are_those_of_calls_that_fail() -> None:
    kinds = ("read", "update", "insert", "scan", "read_modify_write", "load")
    returned = {status for kind in kinds for _, status, *_ in logged_calls(kind)}
    assert returned - {None, "OK"} == set(FAILED_STATUSES)


@pytest.mark.parametrize(
    ("pool", "expected_ms", "each_us"), [("mongodb.maxconnections=2", 1000, 8000), ("", 250, 2000)]
)
def test_threads_wait_for_a_pool_that_is_smaller(pool: str, expected_ms: int, each_us: int, tmp_path: Path) -> None:
    """1000 operations of 2 ms, two at once or eight; the wait for one of two is part of YCSB's own times."""
    values = Run(tmp_path, "threadcount=8", *pool.split(), script=STEADY).values()
    assert values["OVERALL", "RunTime(ms)"] == pytest.approx(expected_ms, rel=0.02)
    assert values["READ", "AverageLatency(us)"] == pytest.approx(each_us, rel=0.02)


def test_a_batch_counts_its_documents_as_batched(tmp_path: Path) -> None:
    values = Run(tmp_path, "batchsize=100", phase="load", script=STEADY).values()
    assert values["INSERT", "Operations"] == values["INSERT", "Return=OK"] == 10
    assert values["INSERT", "Return=BATCHED_OK"] == 990
    runtime_ms = values["OVERALL", "RunTime(ms)"]
    assert values["OVERALL", "Throughput(ops/sec)"] == 1000.0 * 1000 / runtime_ms


def test_a_backlog_shows_in_the_intended_times_only(tmp_path: Path) -> None:
    """1000 operations are due within 1 s, and the server needs 2 s for them: the last ones come 1 s late."""
    values = Run(tmp_path, "measurement.interval=both", "target=1000", script=STEADY).values()
    assert values["READ", "MaxLatency(us)"] == pytest.approx(2000, rel=0.003)
    assert values["Intended-READ", "MaxLatency(us)"] == pytest.approx(1_000_000, rel=0.02)
    assert values["Intended-READ", "50thPercentileLatency(us)"] == pytest.approx(500_000, rel=0.1)
    assert values["Intended-READ", "Operations"] == values["READ", "Operations"]


def test_verbose_lists_every_bucket(tmp_path: Path) -> None:
    run = Run(tmp_path, "measurement.histogram.verbose=true", script=STEADY)
    listed = [line for line in run.text().splitlines() if line.startswith(("[READ], 2", "[READ], 1"))]
    assert listed and all(line.endswith(".0") for line in listed)
    counted = sum(float(line.rpartition(", ")[2]) for line in listed)
    assert counted == run.values()["READ", "Operations"]
    buckets = Run(
        tmp_path / "b", "measurementtype=histogram", "measurement.histogram.verbose=true", "histogram.buckets=2",
        script=STEADY,
    )  # fmt: skip
    values = buckets.values()
    assert (values["READ", "0"], values["READ", "1"]) == (0, 0)
    assert values["READ", ">2"] == values["READ", "Operations"]
    assert ("READ", "95thPercentileLatency(us)") not in values, "beyond the buckets there is none"


def test_a_time_series_has_the_means_of_its_stretches(tmp_path: Path) -> None:
    run = Run(tmp_path, "measurementtype=timeseries", "timeseries.granularity=500", script=STEADY)
    values = run.values()
    offsets = [int(measurement) for metric, measurement in values if metric == "READ" and measurement.isdigit()]
    assert offsets == [0, 500, 1000, 1500]
    assert all(values["READ", str(offset)] == pytest.approx(2000, rel=0.003) for offset in offsets)


@pytest.mark.parametrize(
    "case", ["a-run.status", "a-run.status-label", "a-run.status-threads", "c-run.status-10s-default"]
)
def test_status_lines_have_the_recorded_form(case: str, tmp_path: Path) -> None:
    golden = [line for line in recorded(f"{case}.stderr").splitlines() if " sec: " in line]
    label = "mylabel" if case.endswith("label") else ""
    workload = case[0]
    asked = [
        "status=true",
        "status.interval=1",
        "target=1000",
        "operationcount=4000",
        *([f"label={label}"] * bool(label)),
        *(["threadcount=8"] * case.endswith("threads")),
    ]
    run = Run(tmp_path, *asked, workload=workload, script={"service": {"kind": "fixed", "ns": MS // 2}})
    lines = _status_lines(run)
    assert len(lines) == 5
    assert status_form(lines[0]) == status_form(golden[0])
    under_way = [
        line
        for line in golden
        if " est completion" in line and "current" in line and line.count("[") == len("ab") - (workload == "c")
    ]
    assert under_way
    for line in lines[1:4]:
        assert status_form(line).replace("seconds", "second") == status_form(under_way[-1]).replace("seconds", "second")
    assert status_form(lines[-1]) == status_form(golden[-1])


def test_status_lines_of_a_run_that_time_ends_have_the_recorded_form(tmp_path: Path) -> None:
    golden = [line for line in recorded("a-run.maxexecutiontime.stderr").splitlines() if " sec: " in line]
    asked = ["status=true", "status.interval=1", "target=500", "operationcount=10000000", "maxexecutiontime=3"]
    run = Run(tmp_path, *asked, script={"service": {"kind": "fixed", "ns": MS // 2}})
    lines = _status_lines(run, operation_count=10_000_000)
    assert [" 0 sec: " in lines[0], " 3 sec: 1500 operations" in lines[-1]] == [True, True]
    assert status_form(lines[0]) == status_form(golden[0])
    assert {status_form(line) for line in lines[1:-1]} == {status_form(golden[2])}
    assert status_form(lines[-1]) == status_form(golden[-1])


def test_status_lines_say_what_came_since_the_line_before(tmp_path: Path) -> None:
    run = Run(
        tmp_path, "status=true", "status.interval=1", "target=1000", "operationcount=4000", workload="c", script=STEADY
    )
    lines = _status_lines(run)
    assert lines[0] == "2026-01-02 03:04:05:006 0 sec: 0 operations; est completion in 0 second "
    # A server with one place and 2 ms a command does 500 a second.
    assert lines[1].startswith(
        "2026-01-02 03:04:06:006 1 sec: 500 operations; 500 current ops/sec; est completion in 7 second "
    )
    assert lines[2].startswith(
        "2026-01-02 03:04:07:006 2 sec: 1000 operations; 500 current ops/sec; est completion in 6 second "
    )
    assert "[READ: Count=500, Max=2000, Min=2000, Avg=2000, 50=2000," in lines[2]
    counts = [int(line.partition("Count=")[2].partition(",")[0]) for line in lines[1:]]
    assert sum(counts) == 4000
    assert lines[-1].startswith(
        "2026-01-02 03:04:14:006 8 sec: 4000 operations; 0 current ops/sec; [READ: Count=0, Max=0, "
    )


def _status_lines(run: Run, *, operation_count: int = 4000) -> list[str]:
    times = iter(datetime(2026, 1, 2, 3, 4, 5, 6000) + timedelta(seconds=second) for second in range(100))
    lines = StatusLines(
        run.output,
        operation_count=operation_count,
        clocks=Clocks.of(run.record.plan),
        now=lambda: next(times),
    )
    said = [lines.first()]
    for samples in run.samples:
        said += lines.add(samples)
    assert run.record.summary is not None
    return [*said, lines.last(close_ns=run.record.summary.get("close_ns"))]


def test_hdr_files_have_the_recorded_form_and_hold_what_the_text_says(tmp_path: Path) -> None:
    run = Run(tmp_path, "hdrhistogram.fileoutput=true", f"hdrhistogram.output.path={tmp_path}/files-", script=STEADY)
    paths = write_hdr_files(run.record, run.output)
    assert sorted(path.name for path in paths) == ["files-CLEANUP.hdr", "files-READ.hdr", "files-UPDATE.hdr"]
    values = run.values()
    for name in ("READ", "UPDATE", "CLEANUP"):
        ours = (tmp_path / f"files-{name}.hdr").read_text()
        golden = (GOLDEN / f"a-run.hdr-fileoutput.{name}.hdr").read_text()
        assert [_masked(line) for line in ours.splitlines()] == [_masked(line) for line in golden.splitlines()]
        histogram = _decoded(ours)
        assert histogram.count() == values[name, "Operations"]
        assert (histogram.min(), histogram.max()) == (values[name, "MinLatency(us)"], values[name, "MaxLatency(us)"])


def test_the_recorded_hdr_files_are_read_by_the_same_decoder() -> None:
    counts = {
        name: _decoded((GOLDEN / f"a-run.hdr-fileoutput.{name}.hdr").read_text())
        for name in ("READ", "UPDATE", "CLEANUP")
    }
    assert counts["READ"].count() + counts["UPDATE"].count() == 1000
    assert counts["CLEANUP"].count() == 1


@pytest.mark.parametrize("name", ["READ", "UPDATE", "CLEANUP"])
def test_figures_of_a_recorded_histogram_are_those_that_ycsb_printed(name: str) -> None:
    histogram = _decoded((GOLDEN / f"a-run.hdr-fileoutput.{name}.hdr").read_text())
    ours = {
        "Operations": str(histogram.count()),
        "AverageLatency(us)": double_text(mean_us(histogram)),
        "MinLatency(us)": str(histogram.min()),
        "MaxLatency(us)": str(histogram.max()),
        **{f"{percent}thPercentileLatency(us)": str(at_percentile(histogram, percent)) for percent in (50, 95, 99)},
    }
    text = recorded("a-run.hdr-fileoutput.stdout")
    theirs = dict(line.split(", ")[1:] for line in text.splitlines() if line.startswith(f"[{name}], "))
    theirs.pop("Return=OK", None)
    assert ours == theirs


def test_hdr_files_have_a_row_for_each_status_interval(tmp_path: Path) -> None:
    asked = [
        "hdrhistogram.fileoutput=true",
        f"hdrhistogram.output.path={tmp_path}/",
        "status=true",
        "status.interval=1",
    ]
    run = Run(tmp_path, *asked, "operationcount=2000", "measurement.interval=both", "target=800", script=STEADY)
    names = {path.name for path in write_hdr_files(run.record, run.output)}
    assert {"READ.hdr", "Intended-READ.hdr", "CLEANUP.hdr"} <= names
    rows = [line for line in (tmp_path / "READ.hdr").read_text().splitlines() if not line.startswith(("#", '"'))]
    assert [row.split(",")[:2] for row in rows[:3]] == [["0.000", "1.000"], ["1.000", "1.000"], ["2.000", "1.000"]]
    counts = [_native.Histogram.decode(row.split(",")[3]).count() for row in rows]
    assert sum(counts) == run.values()["READ", "Operations"]


def test_a_run_that_was_cut_short_still_has_a_text(tmp_path: Path) -> None:
    run = Run(tmp_path, script=STEADY)
    killed: RunRecord = replace(run.record, summary=None)
    rows = measurement_rows(killed, run.output)
    assert rows[0][:2] == ("OVERALL", "RunTime(ms)") and rows[0][2] >= 1999
    assert "CLEANUP" not in {metric for metric, _, _ in rows}


def _masked(line: str) -> str:
    if line.startswith("#[StartTime: "):
        return (
            "StartTime "
            + " ".join(word for word in line.split() if word.isalpha() or word.endswith(")")).rpartition(") ")[0]
        )
    if line.startswith(("#", '"')):
        return line
    parts = line.split(",")
    assert len(parts) == 4 and parts[3].startswith("HISTFAAA")
    return ",".join(str(len(part.partition(".")[2])) for part in parts[:3])


def _decoded(text: str) -> _native.Histogram:
    merged = _native.Histogram()
    for entry in hlog.parse(f"Tag=a.b,{line}" for line in text.splitlines() if not line.startswith(("#", '"'))):
        merged.merge(_native.Histogram.decode(entry.text))
    return merged
