"""results.json: what is written is what is read; another form is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.peers.results import Absence, Results
from tests.unit.peers.samples import results, run


def written(file: Path) -> Results:
    made = results(
        run("brimline", "c", engine_cpu_ns=9_000_000),
        run("ycsb", "c", p50_ns=None),
        absent=[Absence(client="go-ycsb", reason="not here", hint="put it on PATH")],
        commands={"ycsb": {"find": "find by _id"}},
        command_lines={"ycsb, c": "java"},
    )
    made.write(file)
    return made


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    made = written(file)
    assert Results.read(file) == made
    assert list(tmp_path.iterdir()) == [file]


def test_the_form_is_fixed(tmp_path: Path) -> None:
    written(tmp_path / "results.json")
    values = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert set(values) == {
        *("format_version", "machine", "settings", "server_version", "runs", "absent", "commands", "command_lines"),
        "complete",
    }
    assert values["format_version"] == 1
    assert set(values["runs"][0]) == {
        *("client", "cell", "round", "number", "operations", "failed", "counted", "window_ns", "client_cpu_ns"),
        *("engine_cpu_ns", "server_cpu_ns", "others_share", "p50_ns", "p99_ns", "peak_memory_bytes", "start_ns"),
        *("cpu_before_window_ns", "versions", "rested", "operations_by", "read_ns"),
    }


def test_what_was_written_before_a_field_was_recorded_is_read(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    written(file)
    values = json.loads(file.read_text(encoding="utf-8"))
    for each in values["runs"]:
        del each["rested"], each["operations_by"], each["read_ns"]
    file.write_text(json.dumps(values), encoding="utf-8")
    assert [each.operations_by for each in Results.read(file).runs] == [None, None]


def test_the_warm_up_of_what_compiles_is_read_by_its_former_name_as_well(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    made = written(file)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"warmup_compiling_s"', '"warmup_jvm_s"'), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text
    assert Results.read(file) == made


def test_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    written(file)
    file.write_text(file.read_text(encoding="utf-8").replace('"format_version": 1', '"format_version": 2'))
    with pytest.raises(ValueError, match="format_version is 2"):
        Results.read(file)


def test_a_failure_is_noted_once_and_told_apart_when_its_run_was_made_again() -> None:
    made = results()
    first, second = (Absence(client="ycsb", cell=cell, reason="ended early") for cell in ("c", "a"))
    for absence in (first, second, second):
        made.note_absent(absence)
    made.note_made_again([first])
    assert made.absent == [replace(first, made_again=True), second]


def test_runs_with_which_the_server_does_not_agree_are_in_no_figure() -> None:
    good, doubtful = run("ycsb", "c", round=1), run("ycsb", "c", round=2, counted={"query": 1100})
    made = results(good, doubtful)
    assert made.of("ycsb", "c") == [good]
    assert made.doubtful == [doubtful]


@pytest.mark.parametrize(("counted", "agrees"), [(1000, True), (950, True), (1051, False), (0, False)])
def test_the_server_counts_what_the_client_says_within_a_twentieth(counted: int, agrees: bool) -> None:
    assert run("ycsb", "a", counted={"query": counted // 2, "update": counted - counted // 2}).server_agrees is agrees


def test_a_client_whose_window_is_not_that_of_the_readings_agrees_by_rate() -> None:
    cut_itself = run("ycsb", "c", window_ns=1_100_000_000, operations=1100, counted={"query": 1000})
    assert not cut_itself.server_agrees
    assert replace(cut_itself, read_ns=1_000_000_000).server_agrees
    assert not replace(cut_itself, read_ns=1_200_000_000).server_agrees


def test_cpu_time_is_shared_out_over_what_was_executed_between_its_readings() -> None:
    cut_itself = run("ycsb", "c", window_ns=1_100_000_000, operations=1100, counted={"query": 1000})
    read = replace(cut_itself, read_ns=1_000_000_000)
    assert (read.ops_per_s, read.client_us, read.server_us) == (1000, 10, 50)
    assert cut_itself.client_us == pytest.approx(10 / 1.1), "results from before keep their figures"
