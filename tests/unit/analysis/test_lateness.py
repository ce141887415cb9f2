"""Lag of the generator is held against what it changes: the stated figure, the verdict, a comparison."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from brimline.analysis.bottleneck import generator_limits
from brimline.analysis.compared_run import ComparedRun, compared_run
from brimline.analysis.comparison import Comparison, compare_runs
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.gate import GateVerdict, gate
from brimline.analysis.judged_change import ChangeVerdict
from brimline.analysis.objective import ErrorObjective, LatencyObjective, Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.run_trend import gate_trends, run_series
from brimline.analysis.verdict import Verdict, judge
from brimline.experiments.vary.order import RunOutcome, VaryProbe
from brimline.experiments.vary.runner import read_vary_trial
from brimline.record.model import RunRecord
from brimline.stats.delay_bound import least_without
from brimline.stats.quantile_interval import Ranked, rank_of

from .records import MS, Buckets, FixedHistogram, interval_row, operation_row, run_record

US = 1_000
COUNT = 20_000


def late(
    *, service: Buckets | None = None, response: Buckets | None = None, lag: Buckets | None = None, **changes: Any
) -> RunRecord:
    """2 000/s on a host of two cores: lag p99 210 µs beside a service median of 127 µs and a response p99 of 400 µs."""
    latencies = {
        "service": service or [(127 * US, 19_000), (180 * US, 1_000)],
        "response": response or [(150 * US, 19_000), (400 * US, 1_000)],
        "lag": lag or [(20 * US, 19_000), (210 * US, 1_000)],
    }
    return run_record(latencies=latencies, **changes)


def slo(limit_ns: int, *, quantile: float = 0.99, clock: Any = "response") -> Slo:
    return Slo(latencies=(LatencyObjective(limit_ns=limit_ns, quantile=quantile, clock=clock),))


def seen(record: RunRecord, promised: Slo) -> Observation:
    return observe(record, objectives=promised.latencies)


def lag_of(observation: Observation) -> Finding:
    return next(each for each in observation.findings if each.name == "generator_lag")


def test_an_objective_far_above_the_lag_is_met_and_the_run_valid() -> None:
    promised = slo(20 * MS)
    observation = seen(late(), promised)
    assert observation.valid and judge(observation, promised).verdict is Verdict.PASS
    found = lag_of(observation)
    assert found.verdict is Standing.WARN
    assert "lag p99 210 µs, at most 52.5 % of the response p99 of 400 µs" in found.evidence
    assert found.evidence.endswith("response times are within the objective in spite of it")


def test_lag_that_is_a_small_part_of_the_p99_is_nothing_whatever_the_service_median() -> None:
    slow_tail = late(
        service=[(127 * US, 19_000), (19 * MS, 1_000)], response=[(150 * US, 19_000), (19 * MS + 210 * US, 1_000)]
    )
    found = lag_of(observe(slow_tail))
    assert found.verdict is Standing.PASS
    assert found.evidence == "lag p99 210 µs, at most 1.09 % of the response p99 of 19.2 ms"


@pytest.mark.parametrize(
    ("limit_ns", "quantile", "verdict"),
    [
        (MS, 0.99, Verdict.PASS),
        (300 * US, 0.99, Verdict.INVALID),  # 400 µs with the lag, perhaps 190 µs without it
        (185 * US, 0.99, Verdict.FAIL),  # the 190 µs that are left are above it too
        (170 * US, 0.5, Verdict.PASS),
        (135 * US, 0.5, Verdict.INVALID),
        (100 * US, 0.5, Verdict.FAIL),
    ],
)
def test_a_miss_is_the_generators_where_the_limit_may_be_met_without_the_lag(
    limit_ns: int, quantile: float, verdict: Verdict
) -> None:
    promised = slo(limit_ns, quantile=quantile)
    judgement = judge(seen(late(), promised), promised)
    assert judgement.verdict is verdict
    if verdict is Verdict.INVALID:
        assert any("without the lag of the generator it may be" in each for each in judgement.reasons)


def test_a_little_lag_decides_where_the_limit_lies_within_it() -> None:
    """30 % of the p99 is a warning for the run, and enough to make 21 ms of 15 ms."""
    late_a_little = late(
        service=[(MS, 19_000), (15 * MS, 1_000)],
        response=[(MS, 19_000), (21 * MS + 500 * US, 1_000)],
        lag=[(20 * US, 19_000), (6 * MS + 500 * US, 1_000)],
    )
    promised = slo(20 * MS)
    observation = seen(late_a_little, promised)
    assert lag_of(observation).verdict is Standing.WARN
    judgement = judge(observation, promised)
    assert judgement.verdict is Verdict.INVALID
    assert judgement.reasons == (
        "response p99 21.5 ms, target 20.0 ms: without the lag of the generator it may be 15.0 ms",
    )
    assert judge(seen(late_a_little, slo(14 * MS)), slo(14 * MS)).verdict is Verdict.FAIL


def test_lag_excuses_neither_errors_nor_service_times() -> None:
    failing = late(operations=[operation_row(second, ok=900, failed=100) for second in range(1, 11)])
    promised = replace(slo(20 * MS), errors=(ErrorObjective(),))
    judgement = judge(seen(failing, promised), promised)
    assert judgement.verdict is Verdict.FAIL and "10 % of the operations failed" in judgement.reasons[0]
    of_service = slo(150 * US, clock="service")
    assert judge(seen(late(), of_service), of_service).verdict is Verdict.FAIL


def test_without_an_objective_lag_that_is_most_of_the_p99_leaves_nothing() -> None:
    assert lag_of(observe(late())).verdict is Standing.FAIL
    assert not observe(late()).valid


def test_the_null_target_is_its_own_ceiling() -> None:
    promised = slo(300 * US)
    assert judge(seen(late(target="null"), promised), promised).verdict is Verdict.FAIL


def test_a_search_takes_the_generator_for_the_limit_as_before() -> None:
    assert generator_limits(seen(late(), slo(20 * MS))) == (
        "the generator sent late: lag p99 210 µs, at most 52.5 % of the response p99 of 400 µs",
    )


def test_a_closed_loop_has_no_lag_to_be_held_against_it() -> None:
    observation = observe(run_record(rate=None))
    assert observation.lateness is None and compared_run(run_record(rate=None)).lag_shares == {}


def of_runs(records: Sequence[RunRecord], prefix: str) -> list[ComparedRun]:
    return [
        replace(compared_run(each), name=f"{prefix}{place}", started_ns=place) for place, each in enumerate(records)
    ]


def with_throughput(ok: int, **changes: Any) -> RunRecord:
    return late(operations=[operation_row(second, ok=ok) for second in range(1, 11)], **changes)


def compared() -> Comparison:
    return compare_runs(
        of_runs([with_throughput(1_000 - place) for place in range(5)], "a"),
        of_runs([with_throughput(1_000 - place) for place in range(5)], "b"),
    )


def test_a_comparison_leaves_out_the_figures_that_lag_spoils_and_no_more() -> None:
    run = compared_run(late())
    assert run.problems == ()
    assert {"throughput", "p50", "errors"} <= run.figures.keys() and "p99" not in run.figures
    found = compared()
    assert found.left_out == () and len(found.a) == 5
    assert {each.metric.key for each in found.changes} >= {"throughput", "p50"}
    assert "p99" not in {each.metric.key for each in found.changes}
    assert {0.5, 0.9} <= {each.quantile for each in found.shift}
    assert 0.99 not in {each.quantile for each in found.shift}
    assert found.verdict is ChangeVerdict.EQUIVALENT
    assert any(
        each.startswith("a0 (A): the generator sent late") and each.endswith("may be most: Response p99 (52.5 %)")
        for each in found.warnings
    )


def test_a_gate_on_what_lag_spoils_is_inconclusive_and_says_why() -> None:
    throughput, p99 = gate(compared(), {"throughput": 0.05, "p99": 0.05})
    assert throughput.verdict is GateVerdict.PASS
    assert p99.verdict is GateVerdict.INCONCLUSIVE
    assert "Response p99 (52.5 %)" in p99.text and "lower rate" in p99.advice


def test_runs_that_have_a_figure_pass_for_none_that_lag_spoils() -> None:
    clean = [late(lag=[(US, COUNT)]) for _ in range(5)]
    (p99,) = gate(compare_runs(of_runs(clean, "a"), of_runs([*clean, late()], "b")), {"p99": 0.05})
    assert p99.verdict is GateVerdict.INCONCLUSIVE and "b5: the generator sent late" in p99.text


def test_lag_that_is_a_part_of_a_compared_figure_is_told() -> None:
    part = of_runs([late(response=[(150 * US, 19_000), (700 * US, 1_000)]) for _ in range(5)], "b")
    assert "p99" in part[0].figures
    warnings = compare_runs(of_runs([late(lag=[(US, COUNT)]) for _ in range(5)], "a"), part).warnings
    assert any("may be up to 30 % of a figure that is compared (Response p99 of b0)" in each for each in warnings)


def test_a_trend_whose_newest_run_is_spoilt_says_so() -> None:
    good = [late(lag=[(US, COUNT)]) for _ in range(12)]
    series = run_series(of_runs([*good, late()], "run"), keys=("throughput", "p99"))
    cases = {case.name.split()[-1]: case for case in gate_trends(series, limit=0.05, newest=1)}
    assert cases["throughput"].verdict is GateVerdict.PASS
    assert cases["p99"].verdict is GateVerdict.INCONCLUSIVE and "Response p99 (52.5 %)" in cases["p99"].text


def test_a_factor_sweep_keeps_the_run_and_says_what_it_leaves_out() -> None:
    trial = read_vary_trial(VaryProbe(block=1, levels=("a",)), late(), server=1)
    assert trial.outcome is RunOutcome.COUNTS
    assert {"throughput", "p50"} <= trial.figures.keys() and "p99" not in trial.figures
    assert len(trial.reasons) == 1 and "Response p99 (52.5 %)" in trial.reasons[0]


def test_lag_says_nothing_of_an_objective_on_a_kind_that_was_sent_in_time() -> None:
    """Updates were late and reads were not: a limit on reads that is missed is the server's."""
    record = late()
    reads = {("read", clock): FixedHistogram([(ns, COUNT)]) for clock, ns in (("service", MS), ("response", MS))}
    updates = {("update", clock): each for (_, clock), each in record.histograms.items()}
    on_time = {("read", "lag"): FixedHistogram([(US, COUNT)])}
    promised = Slo(latencies=(LatencyObjective(limit_ns=MS // 2, operation="read"),))
    mixed = replace(record, histograms={**reads, **updates, **on_time})
    assert judge(seen(mixed, promised), promised).verdict is Verdict.FAIL
    of_updates = Slo(latencies=(LatencyObjective(limit_ns=300 * US, operation="update"),))
    assert judge(seen(mixed, of_updates), of_updates).verdict is Verdict.INVALID


def test_a_generator_without_cpu_still_spoils_the_run() -> None:
    full = [interval_row(second, busiest_thread_cpu_ns=950_000_000) for second in range(1, 11)]
    assert compared_run(late(intervals=full)).problems == ("busiest engine thread 95 % of a CPU",)


def test_waits_for_a_connection_are_not_the_generators_lag() -> None:
    waits = {("read", "held_back_lag"): FixedHistogram([(210 * US, 1_000)])}
    rows = [operation_row(second, held_back=50) for second in range(1, 11)]
    observation = observe(late(operations=rows, breakdown=waits))
    assert lag_of(observation).verdict is Standing.PASS and observation.lag_effect(None, 0.99) is None
    assert "p99" in compared_run(late(operations=rows, breakdown=waits)).figures


@pytest.mark.parametrize("seed", range(20))
def test_a_quantile_without_the_delay_is_never_below_its_bound(seed: int) -> None:
    """Whatever the two have to do with each other: drawn together, against each other, or apart."""
    rng = np.random.default_rng(seed)
    own = np.sort(rng.lognormal(10, 1, 2_000).astype(np.int64))
    delay = np.sort(rng.lognormal(rng.uniform(7, 12), 1.5, 2_000).astype(np.int64))
    delay = {0: delay, 1: delay[::-1], 2: rng.permutation(delay)}[seed % 3]
    total, delays = (Ranked([(int(each), 1) for each in np.sort(values)]) for values in (own + delay, delay))
    for quantile in (0.5, 0.9, 0.95, 0.99, 0.999):
        rank = rank_of(2_000, quantile)
        assert least_without(total, delays, rank) <= own[rank - 1]


def test_a_delay_that_is_always_the_same_is_taken_off_whole() -> None:
    total, delay = Ranked([(300, 90), (700, 10)]), Ranked([(200, 100)])
    assert [least_without(total, delay, rank) for rank in (50, 95, 100)] == [100, 500, 500]


def test_the_least_of_two_may_have_had_the_longer_delay() -> None:
    """Not more of the delays are left out than there are totals up to it."""
    assert least_without(Ranked([(5, 1), (6, 1)]), Ranked([(1, 1), (4, 1)]), 1) == 1
