"""Raw measurements, held against what YCSB itself wrote: every operation a line, and the figures computed of them."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from brimline.compat.ycsb import StatusLines, measurement_rows, render, write_raw
from brimline.compat.ycsb.export import render as export
from brimline.compat.ycsb.measurements import Clocks, Times, named_measurements
from brimline.compat.ycsb.raw import raw_summary
from brimline.record.operation_log import csv_text
from brimline.spec.ycsb_front import Phase
from tests.support.ycsb_golden import GOLDEN, form, raw_form, recorded
from tests.support.ycsb_runs import BROKEN, STEADY, Run

RECORDED = ["a-load.raw", "a-run.raw", "c-run.raw", "e-run.raw", "f-run.raw"]


def outputs(run: Run) -> tuple[str, dict[str, Mapping[int, int]]]:
    """Everything on standard output, and the latencies in µs."""
    said: list[str] = []
    raw = write_raw(run.record, run.output, say=said.append)
    assert raw.error is None
    return "".join(said) + render(measurement_rows(run.record, run.output, raw), run.output.exporter), raw.values_us


@pytest.mark.parametrize("case", [*RECORDED, "a-run.raw-nosummary", "a-run.hdr-raw-combined"])
def test_text_and_file_have_the_recorded_form(case: str, tmp_path: Path) -> None:
    phase: Phase = "load" if "-load" in case else "run"
    kind = "hdrhistogram+raw" if "combined" in case else "raw"
    file = tmp_path / "raw.txt"
    asked = [f"measurementtype={kind}", f"measurement.raw.output_file={file}"]
    if case.endswith("nosummary"):
        asked.append("measurement.raw.no_summary=true")
    run = Run(tmp_path, *asked, workload=case[0], phase=phase, script=STEADY)
    text, _ = outputs(run)
    golden = recorded(f"{case}.stdout").replace(f"{case}.data.txt", str(file))
    # Nothing was said while the operations went on, so the words about the file differ in nothing.
    assert form(text) == form(golden)
    assert text.count("Raw data measurement") == golden.count("Raw data measurement")
    ours, theirs = file.read_text(), (GOLDEN / f"{case}.data.txt").read_text()
    assert raw_form(ours) == raw_form(theirs)
    if phase == "load" or case.startswith("c"):
        assert len(ours.splitlines()) == len(theirs.splitlines())


def test_rows_on_standard_output_have_the_recorded_form(tmp_path: Path) -> None:
    text, _ = outputs(Run(tmp_path, "measurementtype=raw", script=STEADY))
    golden = recorded("a-run.raw-stdout.stdout")
    assert raw_form(text) == raw_form(golden)


@pytest.mark.parametrize("case", [*RECORDED, "e-run.insert-failures-raw"])
def test_figures_of_recorded_latencies_are_those_that_ycsb_printed(case: str, tmp_path: Path) -> None:
    run = Run(tmp_path, "measurementtype=raw", "operationcount=1", script=STEADY)
    latencies: dict[str, Counter[int]] = {}
    for line in (GOLDEN / f"{case}.data.txt").read_text().splitlines():
        if "latency raw data" in line:
            latencies[line.partition(" ")[0]] = Counter()
        else:
            name, _, value = line.split(",")
            latencies[name][int(value)] += 1
    lines = recorded(f"{case}.stdout").splitlines()
    assert len(latencies) >= 2
    for name, values in latencies.items():
        printed = [line for line in lines if line.startswith(f"[{name}]") and "Return=" not in line]
        assert export(list(raw_summary(name, values, run.output)), "text").splitlines() == printed


@pytest.mark.parametrize("workload", ["a", "e", "f"])
@pytest.mark.parametrize("asked", ["", "reportlatencyforeacherror=true", "measurement.interval=both target=400"])
def test_each_latency_of_the_histograms_is_there_once(workload: str, asked: str, tmp_path: Path) -> None:
    """Failures and the parts of a read-modify-write included: the histograms count on their own."""
    run = Run(tmp_path, "measurementtype=raw", *asked.split(), workload=workload, script=BROKEN)
    _, values_us = outputs(run)
    assert run.record.summary is not None
    close_ns = run.record.summary.get("close_ns")
    measured = dict(
        named_measurements(
            Times.of_record(run.record), run.output, clocks=Clocks.of(run.record.plan), close_ns=close_ns
        )
    )
    assert list(values_us) == list(measured)
    assert any(name.endswith(("-FAILED", "-ERROR")) for name in measured)
    for name, values in values_us.items():
        assert sum(values.values()) == measured[name].count, name
        total = sum(value * count for value, count in values.items())
        assert total == pytest.approx(measured[name].sum_us, rel=0.001, abs=measured[name].count), name


@pytest.mark.parametrize("kind", ["raw", "hdrhistogram+raw"])
def test_a_status_line_has_number_and_mean(kind: str, tmp_path: Path) -> None:
    """In YCSB's words: its source has them, no recording does."""
    run = Run(tmp_path, f"measurementtype={kind}", "status=true", "status.interval=1", workload="c", script=STEADY)
    lines = StatusLines(run.output, operation_count=1000, clocks=Clocks("service", "service"))
    (line, *_) = [line for samples in run.samples for line in lines.add(samples)]
    prefix = "" if kind == "raw" else "Raw"
    assert line.endswith(f"{prefix}READ count: 500, average latency(us): 2000.00 ")
    assert ("[HdrREAD: Count=500, " in line) is (kind != "raw")
    assert "READ count:" not in lines.last(close_ns=None), "nothing new, nothing said"


def test_a_timestamp_is_the_wall_clock_when_the_call_was_over(tmp_path: Path) -> None:
    """On the virtual clock of one connection a call is over every 2 ms."""
    run = Run(tmp_path, "measurementtype=raw", workload="f", script=STEADY)
    text, _ = outputs(run)
    assert run.record.summary is not None
    started_ms = run.record.summary["started_unix_ns"] // 1_000_000
    rows = {name: [int(at) for at in re.findall(rf"^{name},(\d+),", text, re.M)] for name in ("READ", "UPDATE")}
    assert rows["READ"] == sorted(rows["READ"]) and rows["UPDATE"] == sorted(rows["UPDATE"])
    assert rows["READ"][0] - started_ms in (2, 3)
    ends = sorted(rows["READ"] + rows["UPDATE"])
    assert ends[-1] - ends[0] == pytest.approx(2 * (len(ends) - 1), rel=0.01)


def test_a_file_is_appended_to(tmp_path: Path) -> None:
    file = tmp_path / "raw.txt"
    file.write_text("before\n")
    outputs(Run(tmp_path, "measurementtype=raw", f"measurement.raw.output_file={file}", script=STEADY))
    assert file.read_text().startswith("before\nREAD latency raw data: ")


def test_a_full_disk_is_said_and_the_figures_are_there(tmp_path: Path) -> None:
    run = Run(tmp_path, "measurementtype=raw", "measurement.raw.output_file=/dev/full", script=STEADY)
    raw = write_raw(run.record, run.output, say=lambda _: None)
    assert raw.error is not None and "no space left" in raw.error.message
    assert sum(raw.values_us["READ"].values()) + sum(raw.values_us["UPDATE"].values()) == 1000


def test_the_log_is_there_as_csv(tmp_path: Path) -> None:
    run = Run(tmp_path, "measurementtype=raw", workload="f", script=STEADY)
    first, *rows = "".join(csv_text(run.record.directory)).splitlines()
    assert first == "operation,phase,ending,documents,due_ns,sent_ns,first_done_ns,second_sent_ns,done_ns"
    assert len(rows) == 1000
    kinds = Counter(row.split(",")[0] for row in rows)
    assert set(kinds) == {"read", "read_modify_write"}
    for row in rows:
        operation, phase, ending, documents, due, sent, first_done, second_sent, done = row.split(",")
        assert (phase, ending, documents, due) == ("measure", "ok", "2" if "_" in operation else "1", "")
        assert (first_done != "") == (second_sent != "") == (operation == "read_modify_write")
        assert int(sent) < int(done)
