"""Each check on either side of its edge."""

from typing import Any

import pytest

from brimline.analysis.finding import Standing
from brimline.analysis.lint import Claims, Figure, Repeated, Result, lint
from brimline.analysis.lint.figure import compare, factor_remark

MS = 1_000_000


def result(name: str = "r", **figures: Any) -> Result:
    given = {key: Figure(value) if isinstance(value, int | float) and key not in ("runs", "is_limit") else value
             for key, value in figures.items()}  # fmt: skip
    return Result(name=name, **given)


def percentiles(**times_ms: float) -> dict[float, Figure]:
    return {float(name[1:].replace("_", ".")) / 100: Figure(time * MS) for name, time in times_ms.items()}


def standing(claims: Claims, name: str) -> str:
    found = [each.verdict.value for each in lint(claims) if each.name == name]
    return found[0] if found else "absent"


@pytest.mark.parametrize(
    ("claimed", "recomputed", "expected"),
    [
        (Figure(100.4, 0.5), Figure(100.0), "pass"),  # rounding
        (Figure(102.0, 0.5), Figure(100.0), "warn"),
        (Figure(103.0, 0.5), Figure(100.0), "fail"),
        (Figure(0.07, 0.005), Figure(0.0745), "pass"),
        (Figure(0.0), Figure(0.0), "pass"),
        (Figure(1.0), Figure(0.0), "fail"),
    ],
)
def test_gap_beyond_rounding(claimed: Figure, recomputed: Figure, expected: str) -> None:
    assert compare(claimed, recomputed).standing.value == expected


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(10, "ten times too large"), (0.1, "ten times too small"), (1000, "one unit is taken"), (8, "bits"), (7, "")],
)
def test_a_lost_digit_or_a_wrong_unit_is_named(ratio: float, words: str) -> None:
    remark = factor_remark(ratio * 123.0, 123.0)
    assert words in remark and bool(words) == bool(remark)


@pytest.mark.parametrize(
    ("mean_ms", "expected"), [(1.0, "pass"), (0.91, "pass"), (0.89, "warn"), (1.04, "pass"), (1.06, "fail")]
)
def test_littles_law(mean_ms: float, expected: str) -> None:
    """1 000 threads at 10^6 per second leave exactly 1 ms for each operation."""
    claims = Claims(results=[result(throughput_per_s=1e6, mean_ns=mean_ms * MS, threads=1000)])
    assert standing(claims, "littles_law") == expected


@pytest.mark.parametrize(("max_s", "expected"), [(0.3, "fail"), (3.0, "pass")])
def test_littles_law_in_a_window_that_an_outage_reaches_into(max_s: float, expected: str) -> None:
    """128 threads that waited 1.5 s before a window of 2.5 s and 2 s within it, and worked then, have X·R above 128."""
    figures = result(throughput_per_s=1780, mean_ns=100 * MS, threads=128, samples=4450, max_ns=max_s * 1000 * MS)
    assert standing(Claims(results=[figures]), "littles_law") == expected


def test_littles_law_where_operations_lay_ready_in_a_drivers_process() -> None:
    """4 threads that take 100 ms begin 5 each within 410 ms, and one more that was handed over: 24, and X·R is 5.9."""
    figures = result(throughput_per_s=24 / 0.41, mean_ns=100 * MS, threads=4, samples=24, max_ns=100 * MS)
    assert standing(Claims(results=[figures]), "littles_law") == "pass"
    without = result(throughput_per_s=44, mean_ns=105 * MS, threads=4, samples=44, max_ns=20 * MS)
    assert standing(Claims(results=[without]), "littles_law") == "fail"


def test_a_limit_needs_a_level_with_more_threads_and_no_more_throughput() -> None:
    level = result("8", throughput_per_s=1000.0, mean_ns=8.0 * MS, threads=8, is_limit=True)
    assert standing(Claims(results=[level]), "limit") == "warn"
    same = result("16", throughput_per_s=1020.0, threads=16)
    assert standing(Claims(results=[level, same]), "limit") == "pass"
    more = result("16", throughput_per_s=1500.0, threads=16)
    assert standing(Claims(results=[level, more]), "limit") == "fail"


@pytest.mark.parametrize(("sent", "expected"), [(1000, "pass"), (999, "pass"), (998, "warn"), (1001, "fail")])
def test_planned_against_sent(sent: int, expected: str) -> None:
    assert standing(Claims(results=[result(threads=10, loops=100, samples=sent)]), "planned") == expected


@pytest.mark.parametrize(("tolerance", "expected"), [(50.0, "pass"), (48.0, "warn")])
def test_what_was_sent_may_have_been_rounded(tolerance: float, expected: str) -> None:
    """50 are missing of 1 000, of which one may be."""
    sent = Figure(950.0, tolerance)
    assert standing(Claims(results=[result(threads=10, loops=100, samples=sent)]), "planned") == expected


@pytest.mark.parametrize(("counted", "expected"), [(10_000, "pass"), (10_005, "warn"), (10_100, "fail")])
@pytest.mark.parametrize("name", ["samples", "documents"])
def test_counts_against_the_server(counted: int, expected: str, name: str) -> None:
    claimed = result(counted={name: Figure(counted)}, **{name: 10_000})
    assert standing(Claims(results=[claimed]), "counted") == expected


def test_counts_that_nothing_was_claimed_of_are_unknown() -> None:
    assert standing(Claims(results=[result(counted={"documents": Figure(1)})]), "counted") == "unknown"


def test_percentiles_ascend() -> None:
    times = percentiles(p50=1, p90=2, p95=3, p99=4, p99_9=5)
    good = result(percentiles_ns=times, min_ns=0.5 * MS, max_ns=6.0 * MS)
    assert standing(Claims(results=[good]), "percentile_order") == "pass"
    for name in (0.5, 0.9, 0.95, 0.99, 0.999):
        bad = result(percentiles_ns={**times, name: Figure(7.0 * MS)}, max_ns=6.0 * MS)
        assert standing(Claims(results=[bad]), "percentile_order") == "fail", name
    below_min = result(percentiles_ns=times, min_ns=1.5 * MS)
    assert standing(Claims(results=[below_min]), "percentile_order") == "fail"


@pytest.mark.parametrize(
    ("mean_ms", "expected"),
    # min 1, p50 2, p90 10, max 100: at least 0.5·1 + 0.4·2 + 0.1·10, at most 0.5·2 + 0.4·10 + 0.1·100.
    [(2.29, "fail"), (2.31, "pass"), (14.9, "pass"), (15.1, "fail")],
)
def test_mean_fits_its_percentiles(mean_ms: float, expected: str) -> None:
    times = percentiles(p50=2, p90=10)
    claimed = result(mean_ns=mean_ms * MS, min_ns=1.0 * MS, max_ns=100.0 * MS, percentiles_ns=times)
    assert standing(Claims(results=[claimed]), "mean") == expected


@pytest.mark.parametrize(("mean_ms", "expected"), [(1.79, "fail"), (1.81, "pass"), (1e6, "pass")])
def test_mean_without_extremes_has_a_lower_end_only(mean_ms: float, expected: str) -> None:
    """p50 2 and p90 10: at least 0.4·2 + 0.1·10; the slowest tenth may take any time."""
    claimed = result(mean_ns=mean_ms * MS, percentiles_ns=percentiles(p50=2, p90=10))
    assert standing(Claims(results=[claimed]), "mean") == expected


def test_mean_of_all_is_not_held_against_percentiles_of_some() -> None:
    claimed = result(mean_ns=1.0 * MS, samples=100_000, percentile_samples=20_000, percentiles_ns=percentiles(p50=314))
    assert standing(Claims(results=[claimed]), "mean") == "absent"
    assert standing(Claims(results=[claimed]), "percentile_window") == "warn"


@pytest.mark.parametrize(("samples", "expected"), [(999, "warn"), (1000, "pass"), (1001, "pass")])
def test_ten_samples_above_a_percentile(samples: int, expected: str) -> None:
    claimed = result(samples=samples, percentiles_ns=percentiles(p50=1, p99=2))
    assert standing(Claims(results=[claimed]), "sample_size") == expected


def test_percentile_of_a_whole_is_no_average_of_its_parts() -> None:
    parts = [result("a", percentiles_ns=percentiles(p99=10)), result("b", percentiles_ns=percentiles(p99=30))]
    for p99_ms, expected in ((20, "warn"), (22, "pass"), (9, "fail"), (31, "fail")):
        whole = result("all", percentiles_ns=percentiles(p99=p99_ms), parts=("a", "b"))
        assert standing(Claims(results=[*parts, whole]), "merged_percentile") == expected, p99_ms


def test_two_percentiles_do_not_meet_the_average_by_chance() -> None:
    parts = [result("a", percentiles_ns=percentiles(p50=1, p99=10)),
             result("b", percentiles_ns=percentiles(p50=3, p99=30))]  # fmt: skip
    whole = result("all", percentiles_ns=percentiles(p50=2, p99=20), parts=("a", "b"))
    assert standing(Claims(results=[*parts, whole]), "merged_percentile") == "fail"


def test_parts_that_are_nearly_equal_have_nearly_any_average() -> None:
    """3.81 between 3.79 and 3.83, with two decimals: what a sound report shows."""

    def p95(time_ms: float) -> dict[float, Figure]:
        return {0.95: Figure(time_ms * MS, 0.005 * MS)}

    parts = [result("a", percentiles_ns=p95(3.79)), result("b", percentiles_ns=p95(3.83))]
    whole = result("all", percentiles_ns=p95(3.81), parts=("a", "b"))
    assert standing(Claims(results=[*parts, whole]), "merged_percentile") == "pass"


def test_a_whole_has_as_many_samples_as_its_parts() -> None:
    parts = [result("a", samples=10), result("b", samples=20)]
    for samples, expected in ((30, "pass"), (31, "fail")):
        claims = Claims(results=[*parts, result("all", samples=samples, parts=("a", "b"))])
        assert standing(claims, "parts") == expected


def test_one_figure_in_two_places() -> None:
    same = Repeated(name="p99", values=[Figure(10.0, 0.05), Figure(10.04)], exact=True)
    other = Repeated(name="p99", values=[Figure(10.0, 0.05), Figure(11.0)], exact=True)
    assert standing(Claims(repeated=[same]), "restated") == "pass"
    assert standing(Claims(repeated=[other]), "restated") == "fail"


def test_contradictions_come_first_and_nothing_comes_of_nothing() -> None:
    assert lint(Claims(results=[result()])) == ()
    claims = Claims(results=[result("good", samples=100, duration_s=1, throughput_per_s=100, runs=1),
                             result("bad", samples=100, duration_s=1, throughput_per_s=200)])  # fmt: skip
    assert [each.verdict for each in lint(claims)] == [Standing.FAIL, Standing.WARN, Standing.PASS]
