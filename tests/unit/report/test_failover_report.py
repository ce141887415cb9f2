"""The figures of a failover and its report, against a server that stands still for a known time."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from brimline.analysis.around_fault import Gap, fault_figures, longest_gap, time_back
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.ledger import settle
from brimline.api.compared_record import read_compared
from brimline.api.failover import failover_result
from brimline.api.vary import VaryResult, vary_result
from brimline.errors import BrimlineError, GateFailed, InvalidRun, TargetError, UsageError
from brimline.experiments.failover.figures import METRICS, failover_figures, figures_of
from brimline.experiments.failover.order import FailoverProbe, FailoverTrial, Limit, parse_limit
from brimline.experiments.failover.runner import describe_outcome
from brimline.experiments.vary.order import VaryProbe
from brimline.experiments.vary.stored import settings_document
from brimline.record import ExperimentRecord, ExperimentWriter, read_experiment, read_record
from brimline.record.fault import read_fault, write_fault
from brimline.record.ledger import Write, read_ledger
from brimline.report import render_json
from brimline.report.failover.axis import time_charts
from brimline.report.failover.view import Seen, failover_report
from brimline.report.view import Report
from brimline.units import format_count
from tests.unit.experiments.vary_simulator import settings_of
from tests.unit.report.failover_samples import BEGUN_S, END_S, RATE_OPS_PER_S, STALL_S, S, make_failover
from tests.unit.report.report_samples import ENVIRONMENT, SPEC

MS = 1_000_000


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRecord:
    return make_failover(tmp_path_factory.mktemp("failovers") / "failover")


def test_a_server_that_stands_still_two_seconds_is_an_outage_of_two_seconds(experiment: ExperimentRecord) -> None:
    result = failover_result(experiment)
    for trial in result.trials:
        figures = trial.figures
        assert figures is not None
        assert abs(figures.gap.length_ns - STALL_S * S) < 10 * MS
        assert abs(figures.gap.to_ns - (BEGUN_S + STALL_S) * S) < 10 * MS
        assert set(figures.gaps) == {"read", "update"}
        assert figures.rate_before_ops_per_s == pytest.approx(RATE_OPS_PER_S, rel=0.01)
        assert figures.back_ns is not None
        assert STALL_S * S <= figures.back_ns < (STALL_S + 0.3) * S
        # A fifth of what was due around it waited, the first of it two seconds: 99 % waited 1.9 s at most.
        assert figures.p99_ns == pytest.approx(1.9 * S, rel=0.02)
        assert figures.around == 10 * RATE_OPS_PER_S
        assert (figures.unanswered, figures.resolution_ns) == (0, 0)
    assert result.error is None
    assert failover_figures(result.directory)["outage"].value == pytest.approx(STALL_S * S, rel=0.01)


def test_a_drain_of_milliseconds_has_no_rate(experiment: ExperimentRecord) -> None:
    """Two answers within 1 ms would stand as 2 000 operations/s at the end of the axis."""
    record = read_record(experiment.trials[0].directory)
    assert record.intervals[-1]["phase"] == "drain"
    rate, *_ = time_charts(failover_result(experiment).trials[0], record)
    drawn = [at for line in rate.figure["data"] for at in line["x"] or ()]
    assert drawn
    assert max(drawn) < END_S


def test_a_failed_check_stands_beside_the_figure(experiment: ExperimentRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Finding(name="standstills", verdict=Standing.FAIL, evidence="the generator itself did not run")

    def with_it(seen: Seen) -> Report:
        return failover_report(replace(seen, findings=[*seen.findings, failed]))

    before = failover_result(experiment).report.verdict.badges
    monkeypatch.setattr("brimline.api.failover.failover_report", with_it)
    verdict = failover_result(experiment).report.verdict
    assert verdict.tone == "warn"
    (added,) = verdict.badges[len(before) :]
    assert (added.tone, "1 failed" in added.text) == ("warn", True)


def test_every_write_that_is_missing_or_there_twice_is_named(experiment: ExperimentRecord) -> None:
    result = failover_result(experiment)
    document = json.loads(render_json(result.report))
    first, second = (each["ledger"] for each in document["trials"])
    assert (first["missing"], first["twice"], first["unknown"], first["unknown_there"]) == (0, 0, 1, 0)
    assert [(each["session"], each["number"]) for each in second["missing_writes"]] == [(0, 36)]
    assert [(each["session"], each["number"]) for each in second["twice_writes"]] == [(1, 40)]
    assert (second["stale_own"], second["stale_monotonic"]) == (1, 0)
    assert (document["figures"]["lost"]["value"], document["figures"]["twice"]["value"]) == (1, 1)
    assert result.report.verdict.tone == "warn"


@pytest.mark.parametrize(
    ("asked_per_s", "told"),
    [
        (200.0, "; the ledger wrote 10.0 writes/s and was asked for 200 writes/s"),
        (10.0, ""),
        (None, "; the ledger wrote 10.0 writes/s"),
    ],
)
def test_a_ledger_far_below_its_rate_is_told_beside_what_is_missing(
    experiment: ExperimentRecord, asked_per_s: float | None, told: str
) -> None:
    """Ten writes a second: with 200 asked for, "none is missing" is said of a twentieth of what was meant.

    Without a rate that was asked for it is as fast as they are answered, whatever that is, and is said.
    """
    result = failover_result(replace(experiment, settings={**experiment.settings, "ledger_per_s": asked_per_s}))
    words = "1 of 398 acknowledged writes are missing"
    assert str(result.report.verdict.sentence).endswith(words + told + ".")
    assert describe_outcome(result.trials[0], result.settings).endswith(told.replace(";", ","))
    ledger = json.loads(render_json(result.report))["trials"][0]["ledger"]
    assert (ledger["asked_writes_per_s"], round(ledger["reached_writes_per_s"])) == (asked_per_s, 10)


def test_the_pace_of_a_ledger_leaves_the_outage_out() -> None:
    """Ten a second for 2 s, nothing for 5 s, ten a second for 1 s more."""
    writes = [
        Write(session=0, number=number, sent_unix_ns=at * S // 10 - MS, done_unix_ns=at * S // 10,
              answer="acknowledged")
        for number, at in enumerate([*range(20), *range(70, 80)])
    ]  # fmt: skip
    assert settle(writes, []).reached_per_s == pytest.approx(10.3, abs=0.2)
    assert settle(writes[:1], []).reached_per_s == 0 and settle([], []).is_slow(1.0)


def test_what_was_never_sent_is_not_never_answered(tmp_path: Path) -> None:
    """A server that stands still from 7 s on: what its connections hold is unanswered, the rest was never sent."""
    experiment = make_failover(tmp_path / "failover", repeats=1, stall_s=60.0, slo=(Limit(name="unanswered", most=9),))
    result = failover_result(experiment)
    (figures,) = (each.figures for each in result.trials)
    assert figures is not None
    assert figures.unanswered == figures.failed + figures.unfinished == 128 < figures.overdue
    assert figures.without_answer == figures.unanswered + figures.overdue
    told = describe_outcome(result.trials[0], result.settings)
    assert f"{figures.unanswered} never answered, {format_count(figures.overdue)} never sent" in told
    assert {each.label: each.value for each in result.report.verdict.facts}["Never sent"].startswith(
        format_count(figures.overdue)
    )
    assert [each.worst for each in result.judged] == [figures.without_answer], "a user has no answer either way"


def test_a_count_is_never_below_nothing_however_it_varies() -> None:
    seen: list[Any] = [SimpleNamespace(repeated=count) for count in (0, 0, 9)]
    trials = [
        FailoverTrial(probe=FailoverProbe(number=number), ended_by="completed", figures=figures)
        for number, figures in enumerate(seen, start=1)
    ]
    repeated = next(each for each in METRICS if each.key == "repeated")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("brimline.experiments.failover.figures.METRICS", (repeated,))
        found = figures_of(trials)
    assert (found["repeated"].value, found["repeated"].low) == (3.0, 0.0)
    assert found["repeated"].high is not None and found["repeated"].high > 9


@pytest.mark.parametrize(
    ("limits", "error", "told"),
    [
        (["outage=3s", "back=3s", "unanswered=0", "p99=3s"], None, ""),
        (["outage=1500ms"], GateFailed, "time without an answer: 2.00 s, and at most 1.50 s"),
        (["lost=0"], GateFailed, "acknowledged writes missing: 1, and at most 0"),
        (["twice=0"], GateFailed, "writes done twice: 1, and at most 0"),
    ],
)
def test_limits_are_held_in_every_run(
    experiment: ExperimentRecord, limits: list[str], error: type[Exception] | None, told: str
) -> None:
    asked = {**experiment.settings, "slo": [asdict(parse_limit(each)) for each in limits]}
    result = failover_result(replace(experiment, settings=asked))
    if error is None:
        assert result.error is None
    else:
        assert isinstance(result.error, error) and told in str(result.error), result.error
        assert result.exit_code == 3


def test_a_limit_that_is_known_of_no_run_is_not_met(tmp_path: Path) -> None:
    experiment = make_failover(tmp_path / "failover", repeats=1, slo=(Limit(name="lost", most=0),))
    (experiment.trials[0].directory / "ledger.csv").unlink()
    result = failover_result(experiment)
    assert isinstance(result.error, InvalidRun) and result.exit_code == 4


def test_a_fault_that_could_not_be_made_proves_nothing(tmp_path: Path) -> None:
    experiment = make_failover(tmp_path / "failover", repeats=1)
    directory = experiment.trials[0].directory
    facts = read_fault(directory)
    assert facts is not None
    write_fault(directory, replace(facts, trouble="the command ended with 3: no such host"))
    result = failover_result(experiment)
    assert isinstance(result.error, InvalidRun) and "no such host" in str(result.error)
    assert result.report.verdict.figure == ""


def test_servers_that_are_not_whole_after_the_last_fault_are_an_error(experiment: ExperimentRecord) -> None:
    result = failover_result(experiment)
    first, last = result.trials

    def error_of(*trials: FailoverTrial) -> BrimlineError | None:
        return replace(result, trials=trials).error

    assert last.facts is not None
    left = replace(last, facts=replace(last.facts, whole_unix_ns=None))
    error = error_of(first, left)
    assert isinstance(error, TargetError) and "not every server does its part" in str(error)
    assert error_of(left, last) is None, "the next fault had waited for them"
    failed = Finding(name="standstills", verdict=Standing.FAIL, evidence="the generator itself did not run")
    assert replace(result, findings=[failed]).reasons == (failed.evidence,)
    assert replace(result, findings=[failed], trials=(first, left)).reasons == (), "those of another error"
    unsaid = replace(last, facts=replace(last.facts, whole_unix_ns=None, name="command", by_hand=""))
    assert error_of(first, unsaid) is None, "nobody said how to undo it"


@pytest.mark.parametrize("text", ["outage", "outage=soon", "lost=-1", "p50=3s", ""])
def test_a_limit_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--slo"):
        parse_limit(text)


def test_the_longest_gap_is_found_wherever_it_is() -> None:
    done = np.array([1, 2, 3, 9, 10, 11], dtype=np.int64)
    assert longest_gap(done, begun_ns=3, end_ns=12) == Gap(from_ns=3, to_ns=9)
    assert longest_gap(done, begun_ns=4, end_ns=12) == Gap(from_ns=3, to_ns=9), "the last answer was before the fault"
    assert longest_gap(done, begun_ns=10, end_ns=12) == Gap(from_ns=10, to_ns=11), "what was before it is none of it"
    assert longest_gap(done, begun_ns=3, end_ns=99) == Gap(from_ns=11, to_ns=99, ended=False)
    assert longest_gap(np.array([], dtype=np.int64), begun_ns=3, end_ns=9) == Gap(from_ns=3, to_ns=9, ended=False)


def test_the_rate_is_back_where_it_stays() -> None:
    """Ten answers a tenth of a second; none for 2 s from 5 s on, half until 9 s, then all."""
    counts = np.full(200, 10, dtype=np.int64)
    counts[50:70], counts[70:90] = 0, 5
    gap = Gap(from_ns=5 * S, to_ns=7 * S)
    rate, back_ns = time_back(counts, begun_ns=5 * S, from_ns=0, gap=gap, end_ns=20 * S)
    assert rate == 100
    assert back_ns is not None and 3.9 * S <= back_ns <= 4.1 * S
    counts[90:] = 5
    assert time_back(counts, begun_ns=5 * S, from_ns=0, gap=gap, end_ns=20 * S) == (100, None)
    level = np.full(200, 10, dtype=np.int64)
    short = Gap(from_ns=5 * S, to_ns=5 * S + 10 * MS)
    assert time_back(level, begun_ns=5 * S, from_ns=0, gap=short, end_ns=20 * S) == (100, 0)


def test_a_slow_second_before_a_fault_is_no_measure_of_what_comes_after() -> None:
    """A thousand answers a second; a tenth of that in one second before, and in all that comes after."""
    counts = np.full(200, 100, dtype=np.int64)
    counts[20:30], counts[70:] = 10, 10
    gap = Gap(from_ns=7 * S, to_ns=7 * S + 100 * MS)
    assert time_back(counts, begun_ns=7 * S, from_ns=0, gap=gap, end_ns=20 * S)[1] is None
    counts[120:] = 100
    back_ns = time_back(counts, begun_ns=7 * S, from_ns=0, gap=gap, end_ns=20 * S)[1]
    assert back_ns is not None and 4.7 * S <= back_ns <= 5.1 * S


@pytest.mark.parametrize("rate", [20, 100, 1000])
def test_chance_in_arrivals_is_no_loss(rate: int) -> None:
    """Arrivals at random, and an outage of 2 s: the rate is back when answers are."""
    back = []
    for seed in range(20):
        counts = np.random.default_rng(seed).poisson(rate / 10, 400).astype(np.int64)
        counts[120:140] = 0
        gap = Gap(from_ns=12 * S, to_ns=14 * S)
        back.append(time_back(counts, begun_ns=12 * S, from_ns=0, gap=gap, end_ns=40 * S)[1])
    assert all(each is not None and each < 8 * S for each in back), back


def test_nothing_is_due_after_the_end_of_a_run(experiment: ExperimentRecord) -> None:
    """As with a fault 3 s before the end: what never was due is not unanswered."""
    record = read_record(experiment.trials[0].directory)
    facts = read_fault(record.directory)
    assert facts is not None and record.summary is not None
    figures = fault_figures(record, replace(facts, begun_unix_ns=record.summary["started_unix_ns"] + 17 * S))
    assert figures is not None
    assert (figures.around, figures.around_unanswered) == (8 * RATE_OPS_PER_S, 0)
    assert figures.p99_ns is not None


def test_the_file_of_the_ledger_says_the_fate_of_each_write(experiment: ExperimentRecord) -> None:
    entries = read_ledger(experiment.trials[1].directory)
    assert entries is not None
    fates = [entries.fate(each) for each in entries.writes]
    assert {fate: fates.count(fate) for fate in set(fates)} == {"there": 197, "missing": 1, "twice": 1, "unknown": 1}


def test_failovers_are_compared_by_their_figures(experiment: ExperimentRecord, tmp_path: Path) -> None:
    longer = make_failover(tmp_path / "longer", repeats=1, stall_s=4.0)
    a, b = (read_compared(each.directory) for each in (experiment, longer))
    assert not a.problems and not b.problems
    outages = [each.figures["outage"] for each in (a, b)]
    assert outages == [pytest.approx(2.0 * S, rel=0.01), pytest.approx(4.0 * S, rel=0.01)]


def _design_of(directory: Path, slo: tuple[Limit, ...]) -> VaryResult:
    """At the first level two faults, of the second of which a write is missing; at the other level one, and none."""
    words = {"fault": "pause", "slo": [asdict(each) for each in slo]}
    settings = replace(settings_of("retryable-writes=off,on", blocks=1, blocks_max=1), measure="failover", said=words,
                       cell_s=2.0)  # fmt: skip
    with ExperimentWriter(directory, kind="vary", name="order-service", settings=settings_document(settings) |
                          {"seed": 1}, spec_text=SPEC, environment=ENVIRONMENT) as writer:  # fmt: skip
        for level, repeats in (("off", 2), ("on", 1)):
            asked = {**asdict(VaryProbe(block=1, levels=(level,))), "stage": "failover", "server": 1}
            place = writer.begin_trial(asked, stage="failover", label=level)
            make_failover(place, repeats=repeats, slo=slo)
            writer.end_trial(place, took_s=30.0)
        writer.seal(ended_by="completed")
    return vary_result(read_experiment(directory))


def test_an_objective_is_stated_for_each_combination_of_a_design(tmp_path: Path) -> None:
    missed = _design_of(tmp_path / "missed", (Limit(name="lost", most=0),))
    assert isinstance(missed.error, GateFailed) and missed.exit_code == 3
    assert "missed in 1 of 2; the first is retryable-writes off: acknowledged writes missing: 1" in str(missed.error)
    document = json.loads(render_json(missed.report))
    assert [bool(each["missed"]) for each in document["cells"]] == [True, False]
    assert [each["repeated_commands"] for each in document["combinations"]] == [0, 0]
    assert "objective missed in 1 of 2" in [each.text for each in missed.report.verdict.badges]
    held = replace(missed, trials=[each for each in missed.trials if not each.missed])
    assert len(held.trials) == 1 and held.error is None


def test_a_run_that_proves_nothing_gives_a_design_no_figure(tmp_path: Path) -> None:
    experiment = make_failover(tmp_path / "failover", repeats=1)
    assert "outage" in failover_figures(experiment.directory)
    path = experiment.trials[0].directory / "record.json"
    document = json.loads(path.read_text())
    document["summary"]["standstills"] = [{"from_ns": 5 * S, "to_ns": 15 * S, "still_ns": 10 * S}]
    path.write_text(json.dumps(document))
    assert failover_figures(experiment.directory) == {}
