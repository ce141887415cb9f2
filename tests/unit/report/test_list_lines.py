"""`brimline list` where nobody sees a screen: one record a line, and a load is called one."""

import json
from pathlib import Path

import pytest

from brimline.cli.list_ import list_runs

LONG = "a-name-" * 20


def test_a_pipe_has_one_record_a_line_and_loads_are_told_from_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("load", "mix"):
        directory = tmp_path / f"20261122t080000z-{kind}-{LONG}-0059a198"
        directory.mkdir()
        (directory / "record.json").write_text(json.dumps({"format_version": 1, "name": LONG, "ended_by": "completed"}))
        (directory / "plan.json").write_text(json.dumps({"work": {"kind": kind}}))
    list_runs(runs_dir=tmp_path)
    _, *lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    for line, kind in zip(lines, ("load", "run"), strict=True):
        assert LONG in line and line.split()[2] == kind  # behind date and time
