"""A run that met its objective in spite of a late generator says what is made of it."""

from dataclasses import replace
from pathlib import Path

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.lateness import LagEffect, Lateness
from brimline.analysis.observation import observe
from brimline.analysis.verdict import judge
from brimline.report import Report, in_language, run_report
from tests.support.objectives import p99_within
from tests.unit.report.report_samples import simulated_plan, write_run


def report(directory: Path, *further: Finding, late: Lateness | None = None) -> Report:
    record = write_run(directory, simulated_plan(rate_ops_per_s=2_000.0, warmup_s=0.5, duration_s=8.0))
    seen = observe(record)
    observation = replace(seen, findings=(*seen.findings, *further), lateness=late)
    slo = p99_within(1_000_000_000)
    return run_report(record, observation, slo=slo, judgement=judge(observation, slo))


def test_a_pass_in_spite_of_a_full_generator_is_left_out_of_comparisons(tmp_path: Path) -> None:
    made = report(tmp_path / "run", Finding("generator_cpu", Standing.FAIL, "busiest engine thread 95 % of a CPU"))
    assert "met in spite of a late generator" in made.verdict.sentence
    assert "Comparisons and trends leave this run out" in made.verdict.sentence
    assert "比较和趋势不采用这次运行" in in_language(made, "zh").verdict.sentence


def test_a_pass_in_spite_of_lag_says_which_figures_are_left_out(tmp_path: Path) -> None:
    effects = {(None, 0.5): LagEffect(150, 127), (None, 0.99): LagEffect(400, 190)}
    made = report(tmp_path / "run", late=Lateness(effects=effects, late_count=100, excuse="", limits=True))
    assert made.verdict.sentence == (
        "The objective is met. The generator was late, which only makes response times longer: its lag may be 52.5 % "
        "of the response p99, so that comparisons and trends leave out Response p99."
    )
    assert "负载发生器" in in_language(made, "zh").verdict.sentence


def test_a_pass_on_time_is_just_met(tmp_path: Path) -> None:
    assert report(tmp_path / "run").verdict.sentence == "The objective is met."
