"""What the report says is what the record and the conclusion say."""

import json
from pathlib import Path

import pytest

from brimline.analysis.observation import observe
from brimline.analysis.verdict import Slo, judge
from brimline.experiments.conclusion import ConclusionKind
from brimline.experiments.settings import quick
from brimline.record import ExperimentRecord
from brimline.report import capacity_report, detail_trial, render_json, run_report
from brimline.report.series import time_series
from brimline.report.statistics import operation_statistics
from brimline.report.view import Report, Section, Table
from tests.unit.report.report_samples import Reports, script, simulated_plan, sweep, write_run


def section(report: Report, section_id: str) -> Section:
    return next(each for each in report.sections if each.id == section_id)


def rows(report: Report, section_id: str) -> list[dict[str, str]]:
    table = next(block for block in section(report, section_id).blocks if isinstance(block, Table))
    labels = [column.label for column in table.columns]
    return [dict(zip(labels, (cell.text for cell in row), strict=True)) for row in table.rows]


def test_operations_table_has_jmeter_columns_and_the_measured_counts(reports: Reports) -> None:
    table = rows(reports.run, "operations")

    assert list(table[0]) == [
        *("Label", "Samples", "Fail", "Error %", "Average", "Min", "Max", "Median", "90th", "95th", "99th"),
        *("Throughput", "Received", "Sent"),
    ]
    assert [row["Label"] for row in table] == ["Total", "read", "update"]
    assert table[0]["Samples"] == "120 000"  # 6000/s for 20 s
    assert table[0]["Throughput"] == "6 000.00"
    total, read, update = operation_statistics(reports.record)
    assert total.failed == read.failed + update.failed > 0
    assert table[0]["Error %"] == f"{total.failed / 1200:.2f}"
    assert total.p99_ns == reports.observation.response.p99_ns  # type: ignore[union-attr]


def test_statistics_of_a_fixed_service_time_are_that_time(directory: Path) -> None:
    run_plan = simulated_plan(
        rate_ops_per_s=1000.0, script=script(service={"kind": "fixed", "ns": 1_000_000}, servers=None)
    )
    record = write_run(directory, run_plan)
    total = operation_statistics(record)[0]
    assert total.samples == 10_000
    assert total.p50_ns == pytest.approx(1_000_000, rel=0.001)
    assert total.mean_ns == pytest.approx(1_000_000, rel=0.001)


def test_planned_sent_and_outcomes_add_up(reports: Reports) -> None:
    table = {row["Operations"]: int(row["Count"].replace(" ", "")) for row in rows(reports.run, "accounting")}

    assert table["Planned"] == 150_000
    assert table["Planned"] == table["Sent"] + table["Overdue"]
    assert table["Sent"] == sum(table[each] for each in ("Answered", "Found nothing", "Failed", "Unfinished"))
    assert table["Found nothing"] > 0


def test_errors_are_listed_by_kind_with_an_example(reports: Reports) -> None:
    table = rows(reports.run, "errors")

    assert {(row["Error"], row["Code"]) for row in table} == {
        ("WriteConflict", "112"),
        ("MaxTimeMSExpired", "50"),
    }
    counts = [int(row["Count"].replace(" ", "")) for row in table]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == reports.record.summary["failed"]  # type: ignore[index]
    assert all(row["First example"] for row in table)


def test_capacity_verdict_quotes_the_conclusion(reports: Reports) -> None:
    conclusion, verdict = reports.conclusion, reports.capacity.verdict
    assert conclusion.sustained is not None
    assert f"{verdict.figure} {verdict.unit} ({verdict.interval})" == str(conclusion.sustained)
    assert str(conclusion.sustained) in conclusion.headline
    assert [badge.text for badge in verdict.badges] == ["quick look, not quotable"]
    facts = {fact.label: fact.value for fact in verdict.facts}
    assert facts["Knee"] == f"{conclusion.knee_connections} connections"
    assert facts["Stopped by"].startswith("server CPU 9")
    assert facts["Objective"] == "p99 ≤ 10 ms"


def test_every_probe_is_in_the_table_in_order_with_its_result(reports: Reports) -> None:
    table = rows(reports.capacity, "probes")

    assert [row["Probe"] for row in table] == [str(number) for number in range(1, len(reports.trials) + 1)]
    assert [row["Stage"] for row in table] == [trial.probe.stage for trial in reports.trials]
    results = {row["Result"] for row in table}
    assert {"measured", "pass", "fail"} <= results
    assert all(row["Why"] for row in table if row["Result"] == "fail")


def test_detail_is_a_verification_that_held(reports: Reports) -> None:
    index = detail_trial(reports.trials, reports.conclusion)
    assert index is not None
    probe = reports.trials[index].probe
    assert probe.stage == "verify"
    assert probe.rate_ops_per_s <= reports.conclusion.sustained.value  # type: ignore[operator,union-attr]


def test_search_without_a_number_shows_none(reports: Reports, tmp_path: Path) -> None:
    from dataclasses import replace

    conclusion = replace(
        reports.conclusion,
        kind=ConclusionKind.CLIENT_LIMITED,
        sustained=None,
        reason="at 9 900 ops/s: busiest engine thread 99 % of a CPU",
    )
    report = capacity_report(empty_experiment(tmp_path), reports.trials, conclusion, quick())

    assert report.verdict.figure == ""
    assert report.verdict.tone == "fail"
    assert report.verdict.caption == "No capacity: the generator was the limit"
    assert report.verdict.sentence == "At 9 900 ops/s: busiest engine thread 99 % of a CPU"
    assert report.data["sustained_ops_per_s"] is None


def test_report_of_no_probes_is_still_a_report(reports: Reports, tmp_path: Path) -> None:
    from brimline.experiments.capacity import Capacity

    conclusion = Capacity(quick(), seed=1).conclude([])
    report = capacity_report(empty_experiment(tmp_path), [], conclusion, quick())
    assert report.verdict.figure == ""
    assert "Every probe" in {each.title for each in report.sections}


def empty_experiment(directory: Path) -> ExperimentRecord:
    return ExperimentRecord(
        directory=directory,
        kind="capacity",
        name="x",
        settings={},
        spec_text="",
        environment={},
        ended_by="completed",
        message="",
        brimline_version="0.1.0",
        trials=[],
    )


def test_invalid_run_says_so_before_anything_else(directory: Path) -> None:
    record = write_run(directory, simulated_plan(rate_ops_per_s=2000.0), cpu_ns_per_op=490_000)
    observation = observe(record, null_ceiling_ops_per_s=2100.0)
    report = run_report(record, observation, slo=Slo(), judgement=judge(observation, Slo()))

    assert report.verdict.tone == "fail"
    assert report.verdict.badges[0].text == "invalid"
    assert report.verdict.sentence.startswith("The run proves nothing: busiest engine thread 98 % of a CPU")
    assert report.data["verdict"]["value"] == "invalid"


def test_run_that_was_killed_is_reported_as_far_as_it_got(directory: Path) -> None:
    record = write_run(directory, simulated_plan(rate_ops_per_s=2000.0), sealed=False)
    report = run_report(record, observe(record))

    assert "ended early: killed" in {badge.text for badge in report.verdict.badges}
    assert rows(report, "operations")[0]["Samples"] == "20 000"
    assert "not sealed" in section(report, "accounting").blocks[0].text  # type: ignore[union-attr]


def test_closed_loop_speaks_of_service_time_only(tmp_path: Path) -> None:
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=None, connections=2, duration_s=2.0))
    report = run_report(record, observe(record))
    labels = {fact.label for fact in report.verdict.facts}

    assert "p99 service time" in labels
    assert not any("response" in label for label in labels)
    assert report.data["response"] is None


def test_sweep_report_shows_plateau_and_knee(reports: Reports) -> None:
    assert reports.sweep.verdict.caption == "Saturation throughput"
    assert {fact.label: fact.value for fact in reports.sweep.verdict.facts}["Knee"] == "4 connections"


def test_json_has_the_stable_keys_of_a_run(reports: Reports) -> None:
    document = json.loads(render_json(reports.run))

    assert {
        *(
            "format_version",
            "kind",
            "name",
            "record",
            "verdict",
            "throughput_ops_per_s",
            "client_cpu_ns_per_op",
        ),
        *(
            "response",
            "service",
            "lag",
            "counts",
            "operations",
            "errors",
            "opcounters",
            "checks",
            "objective",
        ),
    } <= document.keys()
    counts = document["counts"]
    assert counts["sent"] == counts["ok"] + counts["miss"] + counts["failed"] + counts["unfinished"] == 150_000
    assert document["operations"]["read"]["service"]["p9999_ns"] > 0
    assert document["verdict"]["value"] == "fail"
    assert document["response"]["p99_ns"] == reports.observation.response.p99_ns  # type: ignore[union-attr]


def test_json_has_the_stable_keys_of_a_search(reports: Reports) -> None:
    document = json.loads(render_json(reports.capacity))

    assert document["sustained_ops_per_s"] == reports.conclusion.sustained.value  # type: ignore[union-attr]
    low, high = document["sustained_interval_ops_per_s"]
    assert low <= document["sustained_ops_per_s"] <= high
    assert document["quotable"] is False
    assert len(document["probes"]) == len(reports.trials)
    assert document["bottleneck"]["kind"] == "server_cpu"


def test_long_runs_are_thinned_by_merging_not_by_dropping(reports: Reports) -> None:
    whole = time_series(reports.record)
    thinned = time_series(reports.record, bucket_count_max=10)

    def answered(buckets: list) -> float:  # type: ignore[type-arg]
        return sum(each.answered_ops_per_s * (each.end_s - each.start_s) for each in buckets)

    assert len(thinned) <= 13  # at most one more per phase
    assert answered(thinned) == pytest.approx(answered(whole))
    assert max(each.quantiles_ns[2] or 0 for each in thinned) <= max(each.quantiles_ns[2] or 0 for each in whole)
    # No bucket lies in two phases.
    assert {each.phase for each in thinned} == {"warmup", "measure", "drain"}


def test_sweep_sample_is_reproducible(tmp_path: Path) -> None:
    first, second = (sweep(tmp_path / name)[2].text for name in ("a", "b"))
    assert first == second
