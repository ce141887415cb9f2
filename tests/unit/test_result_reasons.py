"""The reasons of a result are those of its error: what is told first has none of another's."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.api.results import RunResult
from brimline.api.run_result import run_result
from brimline.api.soak import SoakResult
from brimline.errors import GateFailed, Interrupted, InvalidRun, TargetError
from brimline.report.summary import next_step
from tests.unit.report.report_samples import simulated_plan, write_run

MISSED = Slo(latencies=(LatencyObjective(limit_ns=1),))
FAILED = Finding(name="conservation", verdict=Standing.FAIL, evidence="operations got lost")


@pytest.fixture(scope="module")
def missed(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """A run whose objective can't be met."""
    plan = simulated_plan(rate_ops_per_s=500.0, warmup_s=0.0, duration_s=4.0)
    return run_result(write_run(tmp_path_factory.mktemp("missed") / "run", plan), MISSED)


def soak_of(run: RunResult, **changes: Any) -> SoakResult:
    nothing = cast(Any, None)
    soaked = SoakResult(
        report=run.report,
        directory=Path("soak"),
        experiment=nothing,
        findings=nothing,
        observation=run.observation,
        judgement=run.judgement,
    )
    return replace(soaked, **changes)


def test_a_missed_objective_and_a_run_that_proves_nothing_have_theirs(missed: RunResult) -> None:
    assert missed.judgement is not None
    for result in (missed, soak_of(missed)):
        assert isinstance(result.error, GateFailed)
        assert result.reasons == missed.judgement.reasons != ()
        assert result.error.hint == f"{next_step(result.report)}; the report says more: {result.html}"
    invalid = replace(missed.observation, findings=(*missed.observation.findings, FAILED))
    for result in (replace(missed, observation=invalid, judgement=None), soak_of(missed, observation=invalid)):
        assert isinstance(result.error, InvalidRun)
        assert result.reasons == (FAILED.evidence,)


def test_a_target_that_went_away_and_an_interrupt_have_none(missed: RunResult) -> None:
    gone = replace(missed.record, ended_by="target_lost", message="it went")
    lost = soak_of(missed, observation=replace(missed.observation, ended_by="target_lost", message="it went"))
    for result in (replace(missed, record=gone), lost):
        assert isinstance(result.error, TargetError)
        assert result.reasons == ()
    for result in (replace(missed, interrupted=Interrupted()), soak_of(missed, interrupted=Interrupted())):
        assert isinstance(result.error, Interrupted)
        assert result.reasons == ()
