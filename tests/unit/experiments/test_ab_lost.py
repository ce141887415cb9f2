"""An A/B comparison in which the target went away says so, whatever the runs before show."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from brimline.analysis.compared_run import compared_run
from brimline.analysis.comparison import compare_runs
from brimline.api.ab import ABResult
from brimline.errors import TargetError
from tests.support.run_sets import simulated_run
from tests.unit.analysis.records import run_record


def test_a_lost_target_outranks_a_gate_that_passed() -> None:
    """It is known by how the run's record ended, whatever words the reason is told in."""
    sides = [[simulated_run(f"{arm}{number}", started_ns=number) for number in range(3)] for arm in "ab"]
    lost = compared_run(run_record(rate=None, ended_by="target_lost", message="connection refused"))
    last = replace(sides[1][0], name="lost", problems=("connection refused",), ended_by=lost.ended_by)
    comparison = compare_runs(sides[0], [*sides[1], last])
    unused: Any = SimpleNamespace()
    result = ABResult(report=unused, directory=Path("ab"), experiment=unused, comparison=comparison)
    assert isinstance(result.error, TargetError) and result.exit_code == 5
    assert "connection refused" in result.error.message
