"""What the report says is what the record and the conclusion say."""

import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from brimline.analysis.bottleneck import BottleneckKind
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.observation import observe
from brimline.analysis.quantile_text import quantile_text
from brimline.analysis.verdict import judge
from brimline.experiments.capacity.conclusion import WITHOUT_SERVER, CapacityConclusion, ConclusionKind
from brimline.experiments.capacity.frontier import FrontierConclusion
from brimline.experiments.capacity.outcome import Judged, TrialOutcome
from brimline.experiments.settings import Grade, quick
from brimline.experiments.trial import SEARCH_STAGES, Probe, Trial
from brimline.record import ExperimentRecord
from brimline.report import (
    capacity_report,
    detail_trial,
    print_report,
    render_html,
    render_json,
    run_report,
    sweep_report,
)
from brimline.report.language import in_language
from brimline.report.markdown import render_markdown
from brimline.report.search.frontier_view import frontier_table, frontier_verdict
from brimline.report.search.probe_findings import search_findings, worst_findings
from brimline.report.search.probes import probe_rows, search_points
from brimline.report.series import time_series
from brimline.report.statistics import operation_statistics
from brimline.report.view import Chart, Fact, Facts, Report, Section, Table, Text
from brimline.stats.quantile_interval import NEVER_NS, QuantileInterval
from brimline.units import format_duration
from tests.support.objectives import p99_within
from tests.unit.report.report_samples import Reports, script, simulated_plan, sweep, write_run

PROBE = Probe(
    stage="sweep", label="p", target="server", connections=1, rate_ops_per_s=None, warmup_s=0.0, duration_s=1.0
)


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
    total, read, update = operation_statistics(reports.record, reports.observation)
    assert total.failed == read.failed + update.failed > 0
    # Answered, as at the top of the report; what failed is beside it.
    assert total.throughput_ops_per_s == pytest.approx(reports.observation.throughput_ops_per_s)
    assert total.throughput_ops_per_s + total.failed_ops_per_s == pytest.approx(6000)
    assert table[0]["Throughput"] == f"{6000 - total.failed / 20:,.2f}".replace(",", " ")
    assert table[0]["Error %"] == f"{total.failed / 1200:.2f}"
    assert total.latency is reports.observation.response is not None


def test_a_check_that_few_runs_have_is_counted_among_all_of_them(directory: Path) -> None:
    """It said "in 1 of 1 runs" beside "in all 6 runs"."""
    seen = observe(write_run(directory, simulated_plan(rate_ops_per_s=1000.0)))
    bare = replace(seen, findings=(Finding("samples", Standing.PASS, "enough"),))
    one = replace(bare, findings=(*bare.findings, Finding("outages", Standing.WARN, "nothing was answered")))
    trials = [Trial(probe=PROBE, observation=each) for each in (bare, bare, one)]
    found = {each.name: each.evidence for each in worst_findings(trials, are_runs=True)}
    assert found == {"samples": "in all 3 runs", "outages": "in 1 of 3 runs; run 3: nothing was answered"}
    alone = {each.name: each.evidence for each in worst_findings(trials[2:], are_runs=True)}
    assert alone == {"samples": "in the only run", "outages": "nothing was answered"}


def test_statistics_of_a_fixed_service_time_are_that_time(directory: Path) -> None:
    run_plan = simulated_plan(
        rate_ops_per_s=1000.0, script=script(service={"kind": "fixed", "ns": 1_000_000}, servers=None)
    )
    record = write_run(directory, run_plan)
    total = operation_statistics(record, observe(record))[0]
    assert total.samples == 10_000 and total.latency is not None
    assert total.latency.p50_ns == pytest.approx(1_000_000, rel=0.001)
    assert total.latency.mean_ns == pytest.approx(1_000_000, rel=0.001)


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
    assert float(verdict.figure.replace(" ", "")) == conclusion.figure
    assert conclusion.grade is not None
    quoted = f"sustained {verdict.figure} {verdict.unit} ({conclusion.grade}, {verdict.interval}) at"
    assert quoted in conclusion.headline
    assert str(conclusion.sustained).endswith(f"({verdict.interval})")
    held = f"held in {conclusion.tried.held} of {conclusion.tried.windows} windows at this rate."
    assert held in verdict.sentence
    assert [badge.text for badge in verdict.badges] == ["verified", "quick look, not quotable"]
    assert further(reports.capacity)["Knee"].value == f"{conclusion.sweep.knee_connections} connections"
    (limit,) = verdict.facts
    assert limit.label == "Stopped by" and limit.value.startswith("server CPU 9")
    assert further(reports.capacity)["Objective"].value == "response p99 ≤ 10 ms"


def further(report: Report) -> dict[str, Fact]:
    (block,) = next(each for each in report.sections if each.id == "further").blocks
    assert isinstance(block, Facts)
    return {fact.label: fact for fact in block.facts}


def test_the_first_screen_of_a_search_needs_no_vocabulary(reports: Reports) -> None:
    report = reports.capacity
    assert {fact.label for fact in report.verdict.facts} <= {"Stopped by"}
    assert [each.id for each in report.sections][:2] == ["curve", "further"]
    shown = [each.short for each in report.sections if each.blocks]
    assert len(set(shown)) == len(shown), "the ways down the page differ"
    html = render_html(report)
    assert report.verdict.next_step and report.verdict.next_step in html
    leading = re.findall(r'<a href="#(means-\d+)">([^<]+)</a>', html)
    assert {label for _, label in leading} == set(further(report)), "each has its definition a click away"
    assert all(re.search(rf'<dt id="{anchor}">\s*{label}\b', html) for anchor, label in leading)


def test_a_search_without_a_server_says_how_to_give_it_one(reports: Reports, tmp_path: Path) -> None:
    without = replace(
        reports.conclusion, kind=ConclusionKind.CLIENT_LIMITED, reason=WITHOUT_SERVER, sustained=None, at_least=None
    )
    report = capacity_report(empty_experiment(tmp_path), [], without)
    assert report.verdict.next_step.startswith("give the address of a server with --uri")
    assert "--uri" not in reports.capacity.verdict.next_step


def test_a_search_whose_limit_was_not_seen_points_at_its_probes(reports: Reports, tmp_path: Path) -> None:
    """Whoever is told to change what stopped it has to know what that is."""
    assert reports.conclusion.bottleneck is not None and reports.conclusion.sustained is not None
    settings = replace(reports.conclusion.settings, preset="standard", width_wanted=2.0)
    found = replace(reports.conclusion, state=replace(reports.conclusion.state, settings=settings))
    assert capacity_report(empty_experiment(tmp_path), [], found).verdict.next_step.startswith("change what stopped it")
    unseen = replace(found, bottleneck=replace(reports.conclusion.bottleneck, kind=BottleneckKind.UNDETERMINED))
    verdict = capacity_report(empty_experiment(tmp_path), [], unseen).verdict
    assert verdict.next_step.startswith("see the probes that missed")
    assert {each.label: each.value for each in verdict.facts}["Stopped by"] == "nothing that was seen"


def test_a_chart_says_why_its_medians_may_cross_the_objective_elsewhere(reports: Reports, tmp_path: Path) -> None:
    def caption(conclusion: CapacityConclusion) -> str:
        report = capacity_report(empty_experiment(tmp_path), reports.trials, conclusion)
        return next(block.caption for block in report.sections[0].blocks if isinstance(block, Chart))

    assert "may cross the objective elsewhere" in caption(reports.conclusion)
    assert "elsewhere" not in caption(replace(reports.conclusion, sustained=None)), "there is no capacity to be crossed"


def with_judged(conclusion: CapacityConclusion, judged: Sequence[Judged]) -> CapacityConclusion:
    """The same with other windows."""
    return replace(conclusion, state=replace(conclusion.state, judged=tuple(judged)))


def test_a_candidate_that_failed_is_named_with_its_rate(reports: Reports, tmp_path: Path) -> None:
    judged = next(each for each in reports.conclusion.state.judged if each.probe.stage == "verify")
    failed = replace(judged, outcome=TrialOutcome.FAIL, load=1234.0)
    conclusion = with_judged(reports.conclusion, [*reports.conclusion.state.judged, failed])
    report = capacity_report(empty_experiment(tmp_path), reports.trials, conclusion)
    assert further(report)["Candidates that failed"].value == "1 234 ops/s"


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
    assert reports.trials[index].probe.rate_ops_per_s == reports.conclusion.figure
    assert outcome_of(reports, index) is TrialOutcome.PASS


def outcome_of(reports: Reports, index: int) -> TrialOutcome:
    return next(each.outcome for each in reports.conclusion.state.judged if each.trial is reports.trials[index])


def test_detail_is_the_nearest_pass_below_or_nothing(reports: Reports) -> None:
    verified = reports.conclusion.figure
    assert verified is not None
    passing = tuple(replace(each, outcome=TrialOutcome.PASS) for each in reports.conclusion.state.judged)
    chosen = detail_trial(reports.trials, with_judged(reports.conclusion, passing))
    assert chosen is not None and max(each.load for each in passing) > verified
    assert reports.trials[chosen].probe.rate_ops_per_s == verified
    others = tuple(
        replace(each, outcome=TrialOutcome.FAIL) if each.load == verified else each
        for each in reports.conclusion.state.judged
    )
    index = detail_trial(reports.trials, with_judged(reports.conclusion, others))
    assert index is not None
    rate = reports.trials[index].probe.rate_ops_per_s
    assert rate == max(each.load for each in others if each.outcome is TrialOutcome.PASS and each.load < verified)
    failed = tuple(replace(each, outcome=TrialOutcome.FAIL) for each in others)
    assert detail_trial(reports.trials, with_judged(reports.conclusion, failed)) is None


@pytest.mark.parametrize(
    ("passed", "failed", "facts"),
    [
        (9130.0, 9317.0, {"Highest probe that passed": "9 130 ops/s"}),
        (9317.0, 9317.0, {"Single probes": "probes contradict each other at 9 317 ops/s"}),
        (9400.0, 9317.0, {"Single probes": "probes contradict each other between 9 317 ops/s and 9 400 ops/s"}),
    ],
)
def test_contradicting_probes_are_no_bracket(
    reports: Reports, tmp_path: Path, passed: float, failed: float, facts: dict[str, str]
) -> None:
    window = reports.conclusion.state.judged[0]
    ends = ((TrialOutcome.PASS, passed), (TrialOutcome.FAIL, failed))
    conclusion = with_judged(
        reports.conclusion, [replace(window, outcome=outcome, load=load) for outcome, load in ends]
    )
    report = capacity_report(empty_experiment(tmp_path), reports.trials, conclusion)
    shown = {label: fact.value for label, fact in further(report).items()}
    assert facts.items() <= shown.items()
    assert ("Single probes" in shown) != ("Highest probe that passed" in shown)


LATE = Finding("generator_lag", Standing.FAIL, "lag p99 7 ms, service p50 1 ms")


def spoilt(trials: list[Trial], finding: Finding, stage: str) -> list[Trial]:
    """The trials, those of a stage with another result of a check."""
    return [
        replace(trial, observation=replace(trial.observation, findings=(*trial.observation.findings, finding)))
        if trial.probe.stage == stage
        else trial
        for trial in trials
    ]


def test_a_late_generator_is_a_warning_where_probes_passed_in_spite_of_it(reports: Reports) -> None:
    trials = spoilt(reports.trials, LATE, "verify")
    count = sum(trial.probe.stage == "verify" for trial in trials)
    (late,) = [each for each in search_findings(trials, client_limited=False) if "late in" in each.evidence]
    assert late.verdict is Standing.WARN
    assert late.evidence == (
        f"late in {count} probes; where such a probe passed, it counts: lateness only makes response times longer"
    )
    assert not [each for each in search_findings(trials, client_limited=False) if each.verdict is Standing.FAIL]
    assert [each.name for each in search_findings(trials, client_limited=True) if each.verdict is Standing.FAIL]
    intro = section(reports.capacity, "validity").intro
    assert "makes the search invalid" not in intro and "passed in spite of a late generator" in intro


def test_a_full_generator_in_the_sweep_and_counts_that_disagree_stay_failures(reports: Reports) -> None:
    for finding, stage in (
        (replace(LATE, name="generator_cpu"), "sweep"),
        (replace(LATE, name="opcounters"), "verify"),
    ):
        found = search_findings(spoilt(reports.trials, finding, stage), client_limited=False)
        assert [each.name for each in found if each.verdict is Standing.FAIL] == [finding.name]


@pytest.mark.parametrize(
    ("count", "low_ns", "expected"),
    [(10_000, 4_000_000, "5.00 ms"), (9_900, 4_000_000, "≥ 4.00 ms"), (40, None, "—")],
)
def test_a_thin_tail_is_printed_as_its_lower_bound(count: int, low_ns: int | None, expected: str) -> None:
    interval = QuantileInterval(quantile=0.99, value_ns=5_000_000, low_ns=low_ns, high_ns=9_000_000, count=count)
    assert quantile_text(interval) == expected
    assert quantile_text(None) == "—"


def test_the_same_bound_stands_at_the_top_and_in_the_table(directory: Path) -> None:
    record = write_run(directory, simulated_plan(rate_ops_per_s=300.0))
    observation = observe(record)
    report = run_report(record, observation)
    assert observation.response is not None and observation.response.p99.low_ns is not None
    top = {fact.label: fact for fact in report.verdict.facts}["p99 response time"]
    assert top.value == f"≥ {format_duration(observation.response.p99.low_ns)}"
    assert rows(report, "operations")[0]["99th"] == f"≥ {observation.response.p99.low_ns / 1e6:.2f}"
    assert report.data["response"]["p99_enough_samples"] is False


@pytest.mark.parametrize(("count", "expected"), [(1_000_000, True), (999_999, False)])
def test_enough_samples_for_the_highest_quantile(count: int, expected: bool) -> None:
    interval = QuantileInterval(quantile=0.9999, value_ns=2, low_ns=1, high_ns=3, count=count)
    assert interval.enough is expected


def test_the_null_targets_rate_is_named_for_what_it_is(reports: Reports) -> None:
    calibrated = next(row for row in rows(reports.capacity, "probes") if row["Stage"] == "calibrate")
    assert "encode and record, without sockets" in calibrated["Why"]
    texts = [block.text for block in section(reports.capacity, "bottleneck").blocks if isinstance(block, Text)]
    assert any(text.startswith("Encode-and-record ceiling, without sockets: ") for text in texts)


def test_a_sweep_without_a_server_says_so(reports: Reports, tmp_path: Path) -> None:
    experiment, trials, conclusion = sweep(tmp_path / "sweep")
    nulled = replace(
        conclusion,
        saturation_ops_per_s=None,
        knee=None,
        band=None,
        generator_ceiling_ops_per_s=200_000.0,
    )
    verdict = sweep_report(experiment, trials, nulled).verdict
    assert verdict.caption == "Generator's ceiling (encode and record, without sockets)"
    assert verdict.figure == "200 000"
    assert "target does at most" not in verdict.sentence


def test_every_format_of_a_search_names_the_share_of_windows_that_hold(reports: Reports, tmp_path: Path) -> None:
    state = reports.conclusion.state
    asked = replace(reports.conclusion.settings, hold=0.99)
    conclusion = replace(reports.conclusion, state=replace(state, settings=asked))
    report = capacity_report(empty_experiment(tmp_path), reports.trials, conclusion)
    out = io.StringIO()
    print_report(report, Console(file=out, width=200, color_system=None))
    texts = [out.getvalue(), render_markdown(report), render_html(report)]
    assert ["99 %" in text.replace("\u00a0", " ").split("Windows that hold", 1)[1][:100] for text in texts] == [
        True
    ] * 3


def test_search_without_a_number_shows_none(reports: Reports, tmp_path: Path) -> None:
    conclusion = replace(
        reports.conclusion,
        kind=ConclusionKind.CLIENT_LIMITED,
        sustained=None,
        reason="at 9 900 ops/s: busiest engine thread 99 % of a CPU",
    )
    report = capacity_report(empty_experiment(tmp_path), reports.trials, conclusion)

    assert report.verdict.figure == ""
    assert report.verdict.tone == "fail"
    assert report.verdict.caption == "No capacity: the generator was the limit"
    assert report.verdict.sentence == "At 9 900 ops/s: busiest engine thread 99 % of a CPU"
    assert report.data["sustained_ops_per_s"] is None


def test_report_of_no_probes_is_still_a_report(reports: Reports, tmp_path: Path) -> None:
    from brimline.experiments.capacity.search import Capacity

    conclusion = Capacity(quick(), seed=1).conclude([])
    report = capacity_report(empty_experiment(tmp_path), [], conclusion)
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
    missed = p99_within(50_000)
    report = run_report(record, observation, slo=missed, judgement=judge(observation, missed))

    assert report.verdict.tone == "fail"
    assert report.verdict.badges[0].text == "invalid"
    assert report.verdict.figure == ""
    assert report.verdict.sentence.startswith("Busiest engine thread 98 % of a CPU")
    assert "not to be used" in report.verdict.sentence
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
    assert reports.sweep.verdict.interval == "one run per level"
    # Without repeats nothing says how far off the figure may be.
    assert reports.sweep.verdict.tone == "warn"
    assert [badge.text for badge in reports.sweep.verdict.badges][1:] == ["a look, without an interval"]
    assert "repeat the levels for an interval" in reports.sweep.verdict.sentence
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
    whole = document["counts_whole_run"]
    assert whole["sent"] == whole["ok"] + whole["miss"] + whole["failed"] + whole["unfinished"] == 150_000
    measured = document["counts"]
    assert measured["ok"] + measured["miss"] + measured["failed"] == document["response"]["count"] == 120_000
    for outcome in ("sent", "ok", "miss", "failed"):
        assert measured[outcome] == sum(each[outcome] for each in measured["by_operation"].values())
    operations = document["operations"].values()
    answered = sum(each["throughput_ops_per_s"] for each in operations)
    assert answered == pytest.approx(document["throughput_ops_per_s"])
    assert sum(each["failed_ops_per_s"] for each in operations) == pytest.approx(measured["failed"] / 20)
    assert document["response"]["p999_enough_samples"] is True
    assert document["operations"]["read"]["service"]["p9999_enough_samples"] is False
    assert document["operations"]["read"]["service"]["p9999_ns"] > 0
    assert document["verdict"]["value"] == "fail"
    assert document["response"]["p99_ns"] == reports.observation.response.p99_ns  # type: ignore[union-attr]


def test_json_has_the_stable_keys_of_a_search(reports: Reports) -> None:
    document = json.loads(render_json(reports.capacity))

    assert document["sustained_ops_per_s"] == reports.conclusion.sustained.value  # type: ignore[union-attr]
    low, high = document["sustained_interval_ops_per_s"]
    assert low <= document["sustained_ops_per_s"] <= high
    assert document["quotable"] is False
    assert document["grade"] == "verified" and document["hold"] == 0.9
    assert document["window_s"] == 4.0
    assert 3 <= document["verifications"] <= document["verification_windows"]
    assert document["saturation_ops_per_s"] > 0
    assert document["saturation_interval_ops_per_s"] is None
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


def test_a_bound_in_flight_stands_beside_the_connections(tmp_path: Path) -> None:
    said: dict[int | None, str] = {}
    for bound in (None, 8):
        plan = simulated_plan(rate_ops_per_s=None, warmup_s=0, duration_s=1.0, in_flight_max=bound)
        record = write_run(tmp_path / str(bound), plan)
        said[bound] = str(run_report(record, observe(record)).subtitle)
    assert "64 connections, at most 8 in flight" in said[8]
    assert "64 connections" in said[None] and "at most" not in said[None]


@pytest.mark.parametrize("rate", [None, 1000.0])
def test_what_was_in_flight_stands_beside_the_connections_of_a_closed_loop(tmp_path: Path, rate: float | None) -> None:
    """How many connections there were doesn't say it: answers may lie a moment before the generator takes them."""
    plan = simulated_plan(rate_ops_per_s=rate, warmup_s=0, duration_s=1.0)
    record = write_run(tmp_path, plan)
    observation = observe(record)
    report = run_report(record, replace(observation, mean_in_flight=24.14))
    stands = "64 connections, on average 24.1 in flight" in str(report.subtitle)
    assert stands is (rate is None)
    assert ("64 个连接，平均 24.1 个在途" in str(in_language(report, "zh").subtitle)) is stands


def test_a_bound_of_a_frontier_is_no_figure(reports: Reports) -> None:
    """`835 ops/s at p99 ≤ 5 ms` would say that it is no more."""
    at_least = replace(reports.conclusion, kind=ConclusionKind.BOUNDED, grade=Grade.BOUNDED, sustained=None)
    points = [
        replace(
            at_least,
            at_least=load,
            state=replace(at_least.state, settings=replace(quick(), slo=p99_within(limit * 1_000_000))),
        )
        for limit, load in ((20, 1000.0), (5, 835.0))
    ]
    verdict = frontier_verdict(FrontierConclusion(points=tuple(points)))
    assert verdict.figure.startswith("≥ ") and verdict.badges[0].text == "bounded"
    assert verdict.sentence.startswith("≥ 835.0 ops/s (bounded) at response p99 ≤ 5 ms")
    rows = frontier_table(points).rows
    assert [row[1].text for row in rows] == ["bounded", "bounded"] and rows[1][2].text.startswith("≥ 835")


def test_a_probe_whose_p99_is_only_a_bound_has_its_mark_there(reports: Reports) -> None:
    """What never completed has no p99; without a mark a probe that failed would be missing in the curve."""
    trial = next(each for each in reports.trials if each.probe.stage in SEARCH_STAGES)
    response = trial.observation.response
    assert response is not None
    never = replace(response.p99, value_ns=NEVER_NS, low_ns=7_000_000, high_ns=None, never=response.p99.count // 2)
    late = replace(response, quantiles={**response.quantiles, 0.99: never})
    seen = replace(trial, observation=replace(trial.observation, response=late))
    slo, axis = p99_within(10_000_000), quick().axis
    (point,) = search_points(probe_rows([seen], slo, null_ceiling_ops_per_s=None), axis=axis, limit=slo.leading)
    assert (point.p99_ns, point.limited_ns) == (None, 7_000_000)
