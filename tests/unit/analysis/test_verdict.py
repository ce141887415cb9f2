import pytest

from brimline.analysis.objective import LatencyObjective, Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.verdict import Verdict, judge, judge_objective
from tests.support.objectives import p99_within

from .records import MS, interval_row, operation_row, run_record, summary

SLO = p99_within(10 * MS)


def with_p99(p99_ns: int, count: int = 100_000) -> Observation:
    tail = count // 50
    response = [(MS, count - tail), (p99_ns, tail)]
    return observe(run_record(latencies={"service": [(MS, count)], "response": response, "lag": [(1000, count)]}))


@pytest.mark.parametrize(
    ("p99_ms", "verdict"),
    [
        (2.0, Verdict.PASS),
        (9.5, Verdict.PASS),
        (9.6, Verdict.INCONCLUSIVE),
        (10.4, Verdict.INCONCLUSIVE),
        (10.5, Verdict.FAIL),
        (80.0, Verdict.FAIL),
    ],
)
def test_hysteresis(p99_ms: float, verdict: Verdict) -> None:
    assert judge(with_p99(int(p99_ms * MS)), SLO).verdict is verdict


def test_too_few_operations_are_no_pass() -> None:
    few = judge(with_p99(2 * MS, count=300), SLO)
    assert few.verdict is Verdict.INCONCLUSIVE and "too few" in few.reasons[0]
    assert judge(with_p99(2 * MS, count=400), SLO).verdict is Verdict.PASS


def test_a_thin_tail_is_shown_with_its_interval_and_not_by_its_lower_end_alone() -> None:
    missed = judge(with_p99(80 * MS, count=400), SLO)
    assert missed.verdict is Verdict.FAIL
    assert missed.reasons[0] == (
        "response p99 ≥ 1.00 ms (95 % CI 1.00 ms – 80.0 ms, estimate 80.0 ms), target 10.0 ms; "
        "its interval begins within the target, and its estimate decides"
    )


@pytest.mark.parametrize(
    ("failed", "verdict"),
    [(0, Verdict.PASS), (3, Verdict.PASS), (4, Verdict.INCONCLUSIVE), (16, Verdict.INCONCLUSIVE), (19, Verdict.FAIL)],
)
def test_error_rate(failed: int, verdict: Verdict) -> None:
    """Of 10 000 operations 0.1 % may fail: 10, give or take the 95 % interval of Clopper and Pearson."""
    rows = [operation_row(1, ok=1000 - failed, failed=failed), *(operation_row(second) for second in range(2, 11))]
    assert judge(observe(run_record(operations=rows)), SLO).verdict is verdict


@pytest.mark.parametrize(
    ("done", "verdict"),
    [
        (996, Verdict.PASS),
        (993, Verdict.PASS),
        (991, Verdict.INCONCLUSIVE),
        (990, Verdict.INCONCLUSIVE),
        (989, Verdict.FAIL),
    ],
)
def test_completed_share(done: int, verdict: Verdict) -> None:
    """Of 10 000 due a hundred may be slower than the limit, 80 to be sure, and what never completed is among them."""
    rows = [operation_row(second, sent=1000, ok=done) for second in range(1, 11)]
    latencies = {clock: [(2 * MS, 10 * done)] for clock in ("service", "response", "lag")}
    assert judge(observe(run_record(operations=rows, latencies=latencies)), SLO).verdict is verdict


def test_a_percentile_of_those_that_completed_is_no_pass_where_its_tail_is_missing() -> None:
    limit = LatencyObjective(limit_ns=10 * MS, quantile=0.999)
    rows = [operation_row(second, sent=100_000, ok=99_900) for second in range(1, 11)]
    latencies = {clock: [(MS, 999_000)] for clock in ("service", "response", "lag")}
    record = run_record(rate=100_000.0, operations=rows, latencies=latencies)
    judgement = judge_objective(observe(record, objectives=[limit]), Slo(latencies=(limit,)))
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert judgement.reasons == (
        "response p99.9 ≥ 1.00 ms, target 10.0 ms, without an upper end: 0.1 % of the operations never completed",
    )
    assert judge_objective(observe(record, objectives=[limit]), SLO).verdict is Verdict.PASS  # a p99 stands


def test_a_percentile_among_those_that_never_completed_fails_only_by_its_lower_end() -> None:
    limit = LatencyObjective(limit_ns=10 * MS, quantile=0.99)
    rows = [operation_row(second, ok=1_000 if second < 10 else 700) for second in range(1, 11)]
    for completed_ms, verdict, told in (
        (1, Verdict.INCONCLUSIVE, "≥ 1.00 ms, target 10.0 ms: it lies among the 3 % of the operations that never"),
        (20, Verdict.FAIL, "response p99 ≥ 20.0 ms, target 10.0 ms"),
    ):
        latencies = {clock: [(completed_ms * MS, 9_700)] for clock in ("service", "response", "lag")}
        observation = observe(run_record(operations=rows, latencies=latencies), objectives=[limit])
        judged = next(each for each in judge_objective(observation, SLO).objectives if each.text.startswith("response"))
        assert judged.verdict is verdict
        assert told in judged.evidence


@pytest.mark.parametrize(("growth", "verdict"), [(0, Verdict.PASS), (1, Verdict.PASS), (5, Verdict.FAIL)])
def test_a_growing_backlog_fails_before_latency_does(growth: int, verdict: Verdict) -> None:
    rows = [interval_row(second, backlog=growth * second) for second in range(1, 11)]
    assert judge(observe(run_record(intervals=rows)), SLO).verdict is verdict


def test_the_edges_of_a_window_are_no_shortfall() -> None:
    rows = [operation_row(second, sent=5, ok=5 if second < 10 else 3) for second in range(1, 11)]
    assert judge(observe(run_record(rate=5.0, operations=rows)), SLO).verdict is not Verdict.FAIL
    rows[0] = operation_row(1, sent=5, ok=3)
    assert judge(observe(run_record(rate=5.0, operations=rows)), SLO).verdict is Verdict.FAIL


def test_invalid_outranks_the_objective() -> None:
    lost = judge(observe(run_record(summary=summary(due=99_999))), SLO)
    assert lost.verdict is Verdict.INVALID and "operations got lost" in lost.reasons[0]


def test_a_closed_loop_has_no_response_time_to_judge() -> None:
    assert judge(observe(run_record(rate=None)), SLO).verdict is Verdict.INCONCLUSIVE


def test_exit_codes() -> None:
    assert [verdict.exit_code for verdict in Verdict] == [0, 3, 4, 4]
