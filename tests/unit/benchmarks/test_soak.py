"""The check of brimline's own memory: what makes it fail, and what a soak says of itself."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks import soak


def drift(mb_per_hour: float, *, drifts: bool) -> dict[str, Any]:
    return {
        "figure": "generator_memory",
        "first": 90e6,
        "last": 91e6,
        "drifts": drifts,
        "per_hour": mb_per_hour * 1e6,
        "per_hour_interval": [mb_per_hour * 1e6 - 1e5, mb_per_hour * 1e6 + 1e5],
    }


def test_memory_that_rises_and_a_large_record_are_faults() -> None:
    assert soak.faults(drift(0.9, drifts=True), 19.9) == []
    assert soak.faults(drift(36.0, drifts=False), 19.9) == [], "chance makes as much"
    assert soak.faults(drift(36.0, drifts=True), 1.0) == ["memory rises by 36.0 MB per hour"]
    assert soak.faults(drift(-36.0, drifts=True), 1.0) == []
    assert soak.faults(drift(0.0, drifts=False), 20.0) == ["the record takes 20.0 MB, 20 or more"]


@pytest.mark.parametrize(("rises", "code"), [(0.1, None), (5.0, 3)])
def test_it_prints_what_the_soak_says_of_its_own_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rises: float, code: int | None
) -> None:
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        (Path(command[command.index("--runs-dir") + 1]) / "rows.csv").write_bytes(bytes(2_000_000))
        return subprocess.CompletedProcess(command, 0, json.dumps({"drifts": [drift(rises, drifts=True)]}), "")

    monkeypatch.setattr(subprocess, "run", run)
    try:
        soak.main(minutes=3, rate=100)
    except SystemExit as ended:
        assert ended.code == code
    said = capsys.readouterr().out
    assert f"{rises:+.2f} MB per hour" in said and "2.00 MB without report.html" in said


def test_a_soak_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failed = subprocess.CompletedProcess([], 2, "", "error: no such workload")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(SystemExit, match="no such workload"):
        soak.soaked(tmp_path, minutes=3, rate=100)
