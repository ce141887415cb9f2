"""A run that met its objective in spite of a late generator says what is made of it."""

from dataclasses import replace
from pathlib import Path

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.observation import observe
from brimline.analysis.verdict import judge
from brimline.report import Report, in_language, run_report
from tests.support.objectives import p99_within
from tests.unit.report.report_samples import simulated_plan, write_run


def report(directory: Path, *further: Finding) -> Report:
    record = write_run(directory, simulated_plan(rate_ops_per_s=2_000.0, warmup_s=0.5, duration_s=8.0))
    seen = observe(record)
    observation, slo = replace(seen, findings=(*seen.findings, *further)), p99_within(1_000_000_000)
    return run_report(record, observation, slo=slo, judgement=judge(observation, slo))


def test_a_pass_in_spite_of_a_late_generator_is_left_out_of_comparisons(tmp_path: Path) -> None:
    made = report(tmp_path / "run", Finding("generator_lag", Standing.FAIL, "the generator sent late"))
    assert "met in spite of a late generator" in made.verdict.sentence
    assert "Comparisons and trends leave this run out" in made.verdict.sentence
    assert "比较和趋势不采用这次运行" in in_language(made, "zh").verdict.sentence


def test_a_pass_on_time_is_just_met(tmp_path: Path) -> None:
    assert report(tmp_path / "run").verdict.sentence == "The objective is met."
