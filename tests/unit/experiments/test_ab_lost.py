"""An A/B comparison in which the target went away says so, whatever the runs before show."""

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
    sides = [[simulated_run(f"{arm}{number}", started_ns=number) for number in range(3)] for arm in "ab"]
    lost = compared_run(run_record(rate=None, ended_by="target_lost", message="connection refused"))
    last = simulated_run("b3", started_ns=9, problems=lost.problems, broken=lost.broken)
    comparison = compare_runs(sides[0], [*sides[1], last])
    unused: Any = SimpleNamespace()
    result = ABResult(report=unused, directory=Path("ab"), experiment=unused, comparison=comparison)
    assert isinstance(result.error, TargetError) and result.exit_code == 5
    assert "connection refused" in result.error.message
