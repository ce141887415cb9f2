"""What `list`, `show` and `report` say of a record that is still being written, and what they leave alone."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from brimline.cli.app import main
from brimline.record.directory_lock import lock_directory
from tests.unit.report.report_samples import simulated_plan, sweep, write_run


@contextmanager
def being_written(directory: Path) -> Iterator[None]:
    """As while its writer is alive."""
    lock = lock_directory(directory)
    try:
        yield
    finally:
        os.close(lock)


@pytest.fixture
def unsealed_run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    write_run(directory, simulated_plan(rate_ops_per_s=2000.0), sealed=False)
    return directory


@pytest.fixture
def unsealed_sweep(tmp_path: Path) -> Path:
    directory = tmp_path / "sweep"
    sweep(directory)
    state = json.loads((directory / "experiment.json").read_text())
    (directory / "experiment.json").write_text(json.dumps({**state, "ended_by": None}))
    return directory


def brimline(*words: str | Path, capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    streams = capsys.readouterr()
    return ended.value.code, streams.out, streams.err


def shown(record: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> str:
    code, out, err = brimline("show", record, *words, capsys=capsys)
    assert code == 0, err
    return out


def test_the_list_calls_it_running(unsealed_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--runs-dir", unsealed_run.parent)
    with being_written(unsealed_run):
        _, table, _ = brimline("list", *at, capsys=capsys)
        _, document, _ = brimline("list", "--json", *at, capsys=capsys)
    assert "running" in table and "killed" not in table
    assert [each["ended_by"] for each in json.loads(document)["records"]] == ["running"]
    assert "killed" in brimline("list", *at, capsys=capsys)[1]


def test_the_list_tells_the_outcome(unsealed_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--runs-dir", unsealed_run.parent)
    _, before, _ = brimline("list", "--json", *at, capsys=capsys)
    assert brimline("report", unsealed_run, capsys=capsys)[0] == 0
    _, table, _ = brimline("list", *at, capsys=capsys)
    _, after, _ = brimline("list", "--json", *at, capsys=capsys)
    assert "Outcome" in table and "invalid" in table
    assert [each["outcome"] for text in (before, after) for each in json.loads(text)["records"]] == [None, "invalid"]


def test_a_run_is_shown_as_far_as_it_got(unsealed_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with being_written(unsealed_run):
        text = shown(unsealed_run, capsys=capsys)
        data = json.loads(shown(unsealed_run, "--json", capsys=capsys))
        chinese = shown(unsealed_run, "--lang", "zh", capsys=capsys)
    assert "still under way" in text and "killed" not in text and "ended early" not in text and "stopped" not in text
    assert (data["ended_by"], data["message"]) == ("running", "")
    assert data["verdict"] == {"value": "invalid", "reasons": ["the run is still under way"]}
    assert "仍在进行" in chinese and "被强制终止" not in chinese and "under way" not in chinese
    assert "ended early: killed" in shown(unsealed_run, capsys=capsys)


def test_a_sweep_is_shown_as_far_as_it_got(unsealed_sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with being_written(unsealed_sweep):
        text = shown(unsealed_sweep, capsys=capsys)
        data = json.loads(shown(unsealed_sweep, "--json", capsys=capsys))
    assert "still under way" in text and "killed" not in text and data["ended_by"] == "running"
    assert "still under way" not in shown(unsealed_sweep, capsys=capsys)


@pytest.mark.parametrize("words", [(), ("--json",), ("--format", "md"), ("--format", "all")])
def test_nothing_is_written_beside_it(
    unsealed_run: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in unsealed_run.iterdir()}
    with being_written(unsealed_run):
        code, out, err = brimline("report", unsealed_run, *words, capsys=capsys)
    assert out == "" if "--json" not in words else json.loads(out)["exit_code"] == 2
    assert code == 2 and "still being written" in err and f"brimline show {unsealed_run}" in err
    assert {path.name: path.read_bytes() for path in unsealed_run.iterdir()} == before


def test_nor_when_its_directory_is_named_as_the_place(
    unsealed_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(unsealed_run)
    before = {path.name for path in unsealed_run.iterdir()}
    places = (unsealed_run, unsealed_run.name, "link", unsealed_run / "mine.html")
    with being_written(unsealed_run):
        for place in places:
            code, _, err = brimline("report", unsealed_run, "--format", "md", "-o", place, capsys=capsys)
            assert code == 2 and "still being written" in err, place
    assert {path.name for path in unsealed_run.iterdir()} == before


def test_nor_is_the_report_of_another_record(
    unsealed_run: Path, unsealed_sweep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = next((unsealed_sweep / "trials").iterdir())
    before = {path.name for path in unsealed_sweep.rglob("*")}
    with being_written(unsealed_sweep):
        for place in (unsealed_sweep, unsealed_sweep / "report.html", trial, trial / "report.html"):
            code, _, err = brimline("report", unsealed_run, "--format", "html", "-o", place, capsys=capsys)
            assert code == 2 and f"{unsealed_sweep} is still being written" in err, place
    assert {path.name for path in unsealed_sweep.rglob("*")} == before


def test_its_report_is_written_elsewhere(
    unsealed_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with being_written(unsealed_run):
        code, _, err = brimline("report", unsealed_run, "-o", tmp_path / "so-far.html", capsys=capsys)
    assert code == 0, err
    assert "still under way" in (tmp_path / "so-far.html").read_text(encoding="utf-8")
    assert brimline("report", unsealed_run, capsys=capsys)[0] == 0
