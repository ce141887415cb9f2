"""What a run's report says in one look: the figure its verdict is about, what decided, and what happened."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.analysis.bottleneck import BottleneckKind, bottleneck
from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.observation import observe
from brimline.analysis.silence import longest_silence
from brimline.analysis.verdict import Judgement, Verdict, judge
from brimline.api.run_result import run_result
from brimline.plan.model import ReplicaSet, WireTarget
from brimline.record import RunRecord
from brimline.record.model import Outage
from brimline.report import Report, in_language, render_html, render_json, run_report
from brimline.report.markdown import render_markdown
from brimline.report.summary import next_step
from tests.unit.record.samples import SECOND_NS
from tests.unit.report.report_samples import script, simulated_plan, write_run

MS = 1_000_000
SLO = Slo(latencies=(LatencyObjective(limit_ns=10 * MS),))


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    """1 000/s for 6 s after 1 s of warm-up; the p99 of 6 000 is a bound."""
    return write_run(
        tmp_path_factory.mktemp("steady") / "run", simulated_plan(rate_ops_per_s=1000.0, warmup_s=1.0, duration_s=6.0)
    )


def told(record: RunRecord, slo: Slo | None = SLO) -> Report:
    return run_result(record, slo).report


def with_outage(record: RunRecord, *, to_ns: int | None, members: bool, ended_by: str = "completed") -> RunRecord:
    outage = Outage(
        from_ns=3 * SECOND_NS, to_ns=to_ns, failed=2, retried=30, primary="b:2" if members and to_ns else None
    )
    assert record.summary is not None
    followed = ReplicaSet(name="rs", members=("a:1", "b:2"), selection_timeout_ns=SECOND_NS) if members else None
    target = WireTarget(address="a:1", write_concern=None, replica_set=followed)
    plan = record.plan.model_copy(update={"target": target})
    return replace(record, plan=plan, ended_by=ended_by, summary={**record.summary, "outages": [outage]})


def test_a_lost_primary_is_read_first(steady: RunRecord) -> None:
    record = with_outage(steady, to_ns=5 * SECOND_NS, members=True)
    report = told(record)
    what = "no primary from 3.00 s to 5.00 s, then b:2"
    verdict = report.verdict
    assert (verdict.caption, verdict.figure, verdict.interval) == ("Longest without an answer", "2.00 s", what)
    assert [fact.label for fact in verdict.facts][:3] == ["Response p99", "Why", "Throughput"]
    assert next_step(report).startswith("find out what took the server away"), "capacity finds no rate that bears it"
    limit = bottleneck(observe(record))
    assert (limit.kind, limit.text) == (BottleneckKind.OUTAGE, f"an outage of 2.00 s: {what}")
    assert json.loads(render_json(report))["longest_without_answer"] == {
        "from_ns": 3 * SECOND_NS,
        "length_ns": 2 * SECOND_NS,
        "ended": True,
        "cause": "primary",
        "primary_afterwards": "b:2",
        "text": f"nothing was answered for 2.00 s: {what}",
    }
    assert "最长无应答时间" in render_markdown(in_language(report, "zh"))
    assert "没有主节点" in in_language(report, "zh").verdict.interval


@pytest.mark.parametrize(
    ("length_ns", "slo", "is_told"), [(9 * MS, SLO, False), (11 * MS, SLO, True), (9 * MS, None, True)]
)
def test_it_is_told_when_the_objective_does_not_allow_it(
    steady: RunRecord, length_ns: int, slo: Slo | None, is_told: bool
) -> None:
    """Without an objective every outage is."""
    report = told(with_outage(steady, to_ns=3 * SECOND_NS + length_ns, members=False), slo)
    assert (report.verdict.caption == "Longest without an answer") is is_told


def test_a_server_that_stood_still_with_its_connections_up(tmp_path: Path) -> None:
    stalls = [{"at_ns": 2 * SECOND_NS, "length_ns": 3 * SECOND_NS}]
    run_plan = simulated_plan(rate_ops_per_s=500.0, warmup_s=0.0, duration_s=8.0, script=script(stalls=stalls))
    record = write_run(tmp_path / "run", run_plan)
    for slo in (SLO, None):
        fact = told(record, slo).verdict.facts[0]
        assert fact.label == "Longest without an answer"
        assert fact.note.startswith("connections were up, but nothing came from 2.")
    quick = write_run(tmp_path / "quick", simulated_plan(rate_ops_per_s=500.0, warmup_s=0.0, duration_s=2.0))
    assert observe(quick).silence is None


def test_that_nothing_was_found_is_an_answer(steady: RunRecord) -> None:
    rows = [row | {"ok": row["ok"] // 2, "miss": row["ok"] // 2} for row in steady.operations]
    begun = {row["start_ns"] for row in rows if row["ok"]}
    waiting = [row | {"in_flight": 1} for row in steady.intervals if row["start_ns"] in begun]
    assert longest_silence(replace(steady, operations=rows, intervals=waiting)) is None


def test_a_run_whose_server_was_lost_says_what_held_until_then(steady: RunRecord) -> None:
    record = with_outage(steady, to_ns=None, members=False, ended_by="target_lost")
    for limit_ms, words in (
        (10, "the objective was met for 2.00 s: 1 000 ops/s, response p99 ≥ "),
        (0.01, "missed in the 2.00 s"),
    ):
        report = told(record, Slo(latencies=(LatencyObjective(limit_ns=round(limit_ms * MS)),)))
        assert words in report.verdict.sentence
        document = json.loads(render_json(report))["held_until_lost"]
        assert (document["until_ns"], document["measured_s"]) == (3 * SECOND_NS, 2.0)
        assert document["verdict"] == ("pass" if limit_ms == 10 else "fail")
        assert document["response"]["never_completed"] == 0
    assert "Until the server was lost at 3.00 s, for 2.00 s: 1 000 ops/s" in told(record, None).verdict.sentence
    assert json.loads(render_json(told(steady)))["held_until_lost"] is None


def test_the_figure_is_what_the_verdict_is_about(steady: RunRecord) -> None:
    verdict = told(steady).verdict
    seen = observe(steady).response
    assert seen is not None and not seen.p99.enough and seen.p99.high_ns is not None
    assert (verdict.caption, verdict.unit) == ("Response p99", "")
    assert verdict.figure.startswith("≥ ") and verdict.interval.endswith(", target 10.0 ms")
    assert verdict.interval.startswith("95 % CI ")
    assert next(fact for fact in verdict.facts if fact.label == "Throughput").value == "1 000 ops/s"
    assert "The objective is met: the upper end of its interval, " in verdict.sentence
    missed = told(steady, Slo(latencies=(LatencyObjective(limit_ns=MS // 10),))).verdict
    assert (missed.caption, missed.tone) == ("Response p99", "fail")
    assert told(steady, None).verdict.caption == "Throughput"


def test_a_bound_that_passed_by_its_estimate_says_that_its_upper_end_is_beyond(steady: RunRecord) -> None:
    seen = observe(steady).response
    assert seen is not None and seen.p99.high_ns is not None
    between_ns = round(seen.p99.value_ns / 0.94)
    wide = replace(seen, quantiles={**seen.quantiles, 0.99: replace(seen.p99, high_ns=2 * between_ns)})
    slo = Slo(latencies=(LatencyObjective(limit_ns=between_ns),))
    observation = replace(observe(steady, objectives=slo.latencies), response=wide)
    report = run_report(steady, observation, slo=slo, judgement=judge(observation, slo))
    assert "The objective is met: its estimate, " in report.verdict.sentence
    assert report.verdict.sentence.endswith(" is not.")


def test_a_figure_that_misses_inside_a_wide_interval_says_that_it_decides(steady: RunRecord) -> None:
    """A killed primary: p99 10.7 s, 95 % CI 26.2 ms – 10.9 s, target 200 ms, and no word why that is a sure miss."""
    seen = observe(steady).response
    assert seen is not None
    limit_ns = round(seen.p99.value_ns / 1.5)
    slo = Slo(latencies=(LatencyObjective(limit_ns=limit_ns),))
    for low_ns, is_said in ((limit_ns // 2, True), (limit_ns + 1, False)):
        known = replace(seen.p99, low_ns=low_ns, high_ns=2 * seen.p99.value_ns)
        wide = replace(seen, quantiles={**seen.quantiles, 0.99: known})
        observation = replace(observe(steady, objectives=slo.latencies), response=wide)
        report = run_report(steady, observation, slo=slo, judgement=judge(observation, slo))
        assert report.verdict.tone == "fail"
        assert ("; its interval begins within the target, and its estimate " in report.verdict.sentence) is is_said
        told_as = next(each for each in json.loads(render_json(report))["objectives"] if "p99" in each["text"])
        assert ("its estimate decides" in told_as["decided_by"]) is is_said


def test_an_interrupted_run_says_for_how_long_it_held(steady: RunRecord) -> None:
    cut = replace(steady, ended_by="interrupt", intervals=[*steady.intervals[:12]])
    plan = cut.plan.model_copy(update={"duration_ns": 60 * SECOND_NS})
    sentence = told(replace(cut, plan=plan)).verdict.sentence
    assert "The objective is met for the 2.00 s that were measured of 60.0 s planned: " in sentence


def test_an_error_limit_that_was_missed_is_the_figure(tmp_path: Path) -> None:
    faults = [{"when": {"share": 0.05}, "kind": {"error": {"code": 50, "name": "MaxTimeMSExpired"}}}]
    run_plan = simulated_plan(rate_ops_per_s=1000.0, warmup_s=0.0, duration_s=3.0, script=script(faults=faults))
    record = write_run(tmp_path / "run", run_plan)
    verdict = told(record).verdict
    assert (
        verdict.caption == "Errors" and verdict.figure.endswith(" %") and verdict.interval.endswith("0.1 % are allowed")
    )


def test_no_figure_where_the_verdict_is_on_none() -> None:
    assert Judgement(Verdict.PASS).shown is None


def test_a_page_shows_it(steady: RunRecord) -> None:
    page = render_html(told(with_outage(steady, to_ns=5 * SECOND_NS, members=True)))
    assert "Longest without an answer" in page.split("<nav")[0]


def test_a_closed_loop_with_an_objective_is_not_told_to_have_one(tmp_path: Path) -> None:
    record = write_run(tmp_path / "run", simulated_plan(rate_ops_per_s=None, warmup_s=0.0, duration_s=1.0))
    assert told(record).verdict.next_step.startswith("offer it a rate")
    assert told(record, None).verdict.next_step == ""


def test_a_soak_that_missed_its_objective_shows_what_missed_it(every_kind: Mapping[str, Report]) -> None:
    """Its throughput was the figure beside "objective missed", and nothing said which limit was."""
    verdict = every_kind["soak"].verdict
    assert (verdict.caption, verdict.figure) == ("Response p99", "20.5 ms") and "target 10.0 ms" in verdict.interval
    (rate,) = [fact for fact in verdict.facts if fact.label == "Throughput over the soak"]
    assert (rate.value, rate.note) == ("50.000 ops/s", "95 % CI 49.995–50.005")
