from dataclasses import replace

import pytest

from brimline.analysis.objective import ErrorObjective, LatencyObjective, Slo, parse_quantile, quantile_name
from brimline.analysis.observation import Observation, observe
from brimline.analysis.verdict import Judgement, Verdict, judge

from .records import MS, Buckets, FixedHistogram, operation_row, run_record

READS: Buckets = [(1 * MS, 90_000), (4 * MS, 9_000), (20 * MS, 1_000)]  # p90 1 ms, p95 4 ms, p99 4 ms, p99.9 20 ms
UPDATES: Buckets = [(2 * MS, 9_000), (30 * MS, 1_000)]  # p90 2 ms, p95 30 ms


def seen(slo: Slo) -> tuple[Observation, Judgement]:
    histograms = {
        (kind, clock): FixedHistogram(buckets if clock != "lag" else [(1000, 10_000)])
        for kind, buckets in (("read", READS), ("update", UPDATES))
        for clock in ("service", "response", "lag")
    }
    rows = [
        operation_row(second, operation=kind, failed=failed, ok=1000 - failed)
        for second in range(1, 11)
        for kind, failed in (("read", 0), ("update", 3))
    ]
    observation = observe(run_record(histograms=histograms, operations=rows), objectives=slo.latencies)
    return observation, judge(observation, slo)


def limit(quantile: float, limit_ms: float, operation: str | None = None) -> LatencyObjective:
    return LatencyObjective(quantile=quantile, limit_ns=round(limit_ms * MS), operation=operation)


LOOSE = (ErrorObjective(share_max=0.01),)


@pytest.mark.parametrize(
    ("objective", "verdict"),
    [
        (limit(0.5, 1.2), Verdict.PASS),
        (limit(0.95, 5, "read"), Verdict.PASS),
        (limit(0.95, 5, "update"), Verdict.FAIL),
        (limit(0.9, 5, "update"), Verdict.PASS),
        (limit(0.999, 5, "read"), Verdict.FAIL),
        (limit(0.999, 25, "read"), Verdict.PASS),
        (limit(0.95, 4.1, "read"), Verdict.INCONCLUSIVE),  # within 5 % of the limit
        (limit(0.99, 5, "scan"), Verdict.INCONCLUSIVE),  # none was sent
    ],
)
def test_any_percentile_of_any_operation(objective: LatencyObjective, verdict: Verdict) -> None:
    assert seen(Slo(latencies=(objective,), errors=LOOSE))[1].verdict is verdict


def test_every_limit_is_judged_and_the_worst_decides() -> None:
    slo = Slo(latencies=(limit(0.5, 1.2), limit(0.95, 5, "update")), errors=LOOSE)
    judgement = seen(slo)[1]
    assert judgement.verdict is Verdict.FAIL
    assert judgement.reasons == ("update response p95 30.0 ms, target 5.00 ms",)
    assert [(each.text, each.verdict) for each in judgement.objectives] == [
        ("errors ≤ 1 %", Verdict.PASS),
        ("response p50 ≤ 1.2 ms", Verdict.PASS),
        ("update response p95 ≤ 5 ms", Verdict.FAIL),
    ]
    assert judgement.objectives[1].evidence == "response p50 1.00 ms, target 1.20 ms"


@pytest.mark.parametrize(
    ("operation", "share_max", "verdict"),
    [
        (None, 0.003, Verdict.PASS),  # 0.15 % of all
        (None, 0.002, Verdict.INCONCLUSIVE),
        (None, 0.001, Verdict.FAIL),
        ("update", 0.002, Verdict.FAIL),  # 0.3 % of the updates
        ("update", 0.006, Verdict.PASS),
        ("read", 0.0, Verdict.PASS),
    ],
)
def test_error_rates_by_operation(operation: str | None, share_max: float, verdict: Verdict) -> None:
    errors = (ErrorObjective(operation=operation, share_max=share_max),)
    assert seen(Slo(latencies=(limit(0.5, 5),), errors=errors))[1].verdict is verdict


@pytest.mark.parametrize(
    ("finished", "share_max", "asked", "verdict", "evidence"),
    [
        (60, 0.001, True, Verdict.INCONCLUSIVE, "so few can't rule out 5.96 % (95 %), 3 688 could"),
        (60, 0.001, False, Verdict.PASS, "so few can't rule out 5.96 % (95 %), 3 688 could"),
        (3_687, 0.001, True, Verdict.INCONCLUSIVE, "so few can't rule out"),
        (3_688, 0.001, True, Verdict.PASS, "none of 3 688 operations failed, 0.1 % are allowed"),
        (60, 0.0, True, Verdict.PASS, "none of 60 operations failed, 0 % are allowed"),
    ],
)
def test_none_of_a_few_that_failed_proves_little(
    finished: int, share_max: float, asked: bool, verdict: Verdict, evidence: str
) -> None:
    slo = Slo(latencies=(limit(0.5, 5),), errors=(ErrorObjective(share_max=share_max, asked=asked),))
    observation = replace(seen(slo)[0], failures={None: (0, finished)}, error_rate=0.0)
    result = judge(observation, slo).objectives[0]
    assert result.verdict is verdict
    assert evidence in result.evidence


def test_what_is_too_rare_is_no_pass() -> None:
    slo = Slo(latencies=(limit(0.9999, 50, "update"),), errors=LOOSE)
    assert seen(slo)[1].reasons == ("10 000 update operations are too few for a p99.99",)


def test_service_time_is_named_so() -> None:
    slo = Slo(latencies=(limit(0.95, 5, "read"),)).on_service_time()
    assert slo.latency_text == "read service p95 ≤ 5 ms"
    observation, judgement = seen(slo)
    assert judgement.objectives[1].evidence == "read service p95 4.00 ms, target 5.00 ms"
    assert observation.quantile(("read", "service", 0.95)) is not None


def test_charts_show_the_highest_quantile_of_all_operations() -> None:
    slo = Slo(latencies=(limit(0.5, 1), limit(0.95, 3), limit(0.999, 9, "read")))
    assert slo.leading.short_text == "p95 ≤ 3 ms"
    assert [each.limit_ns // MS for each in slo.with_leading_limit(7 * MS).latencies] == [1, 7, 9]


@pytest.mark.parametrize(("name", "quantile"), [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)])
def test_names_of_quantiles(name: str, quantile: float) -> None:
    assert parse_quantile(name) == quantile and quantile_name(quantile) == name


@pytest.mark.parametrize("name", ["p10", "99", "p100", "p99.", "median", "p99.99999"])
def test_no_names_of_quantiles(name: str) -> None:
    with pytest.raises(ValueError, match="p50"):
        parse_quantile(name)
