"""Simulated scans with a known cost per entry: rates, agreement and the rule come out as they were put in."""

import math
from dataclasses import replace

import pytest

from brimline.analysis.explained import Explained, PlanStage
from brimline.analysis.finding import Standing
from brimline.analysis.scan_figures import Execution, ScanTrial, agreement, client_share
from brimline.analysis.scan_rule import RangeFit, Validity, range_fits
from brimline.spec.expected_plan import parse_expected_plan

S = 1_000_000_000
WOBBLE = (0.99, 1.01, 1.0)


def execution(documents: int, elapsed_ns: float, *, steady: bool = True) -> Execution:
    return Execution(
        touch="steady" if steady else "first",
        documents=documents,
        bytes=documents * 1_000,
        batches=2,
        first_reply_ns=1,
        elapsed_ns=round(elapsed_ns),
        client_cpu_ns=round(elapsed_ns / 10),
        keys_examined=documents,
        documents_examined=documents,
    )


def trial(entries: int, time_ns: float, *, name: str = "by time", width: int | None = None) -> ScanTrial:
    """A query that went through `entries` in about `time_ns`, and in twice that at first touch."""
    return ScanTrial(
        scenario=name,
        width=entries if width is None else width,
        executions=[
            execution(entries, 2 * time_ns, steady=False),
            *(execution(entries, time_ns * each) for each in WOBBLE),
        ],
        plan=Explained(
            stages=(PlanStage(name="FETCH"), PlanStage(name="IXSCAN", keys="{time: 1}", index="time_1")),
            keys_examined=entries,
            documents_examined=entries,
            returned=entries,
            execution_ms=round(time_ns / 1e6),
        ),
        document_bytes=1_000.0,
        private=True,
    )


def fit(times_s: dict[int, float], *, within_s: float) -> RangeFit:
    (found,) = range_fits([trial(n, t * S) for n, t in times_s.items()], answer_within_ns=round(within_s * S))
    return found


def test_rates_are_a_count_over_the_time_of_the_same_execution() -> None:
    """The slip in S2: 942 326 documents a second, written as ten times that. Here both have one origin."""
    found = trial(233_000_000, 247.26 * S)
    for rate in (found.entries_per_s, found.documents_per_s):
        assert rate is not None and rate.low is not None and rate.high is not None
        assert rate.value == pytest.approx(942_328, rel=1e-3)
        assert rate.low < rate.value < rate.high
    assert found.bytes_per_s is not None and found.documents_per_s is not None
    assert found.bytes_per_s.value == pytest.approx(found.documents_per_s.value * 1_000)
    assert found.first_to_steady == pytest.approx(2)


def test_a_known_slope_gives_back_the_rule() -> None:
    """2 ms to begin with and 1 µs per entry: in 10 s there is time for 9 998 000."""
    times = {n: 0.002 + n * 1e-6 for n in (10_000, 100_000, 1_000_000, 20_000_000)}
    found = fit(times, within_s=10)
    assert found.linear
    assert found.rule.validity is Validity.MEASURED
    assert found.rule.entries.value == pytest.approx(9_998_000, rel=0.01)
    assert found.rule.entries.low is not None and found.rule.entries.high is not None
    assert found.rule.entries.low < 9_998_000 < found.rule.entries.high
    assert "measured from 10 000 to 20 000 000 entries" in found.rule_text


def test_beyond_what_was_measured_is_said_so() -> None:
    found = fit({n: 0.002 + n * 1e-6 for n in (10_000, 100_000, 1_000_000)}, within_s=10)
    assert found.rule.validity is Validity.EXTRAPOLATED
    assert found.rule.entries.value == pytest.approx(9_998_000, rel=0.02)
    assert "beyond what was measured: 10 000 to 1 000 000 entries" in found.rule_text


def test_entries_per_second_that_fall_are_no_line_and_the_rule_stays_among_what_was_measured() -> None:
    """S2's ranges: 850 k/s at 3 M entries, 380 k/s at 50 M."""
    times = {3_000_000: 3 / 0.85, 10_000_000: 10 / 0.65, 50_000_000: 50 / 0.38}
    found = fit(times, within_s=10)
    assert not found.linear
    assert "not linear" in found.linearity_text and "longer" in found.linearity_text
    assert found.rule.validity is Validity.MEASURED
    assert 3_000_000 < found.rule.entries.value < 10_000_000
    beyond = fit(times, within_s=1000)
    assert beyond.rule.validity is Validity.BOUND and beyond.rule.above
    assert beyond.rule.entries.value == 50_000_000
    assert "is not known" in beyond.rule_text
    below = fit(times, within_s=1)
    assert below.rule.validity is Validity.BOUND and not below.rule.above
    assert "3 000 000 entries" in below.rule_text


def test_a_cost_per_entry_that_grows_all_along_is_no_line_though_the_largest_range_meets_it() -> None:
    """113 k entries/s at 1 000, 62 k at 100 000: a line through them would begin below 0."""
    times = {1_000: 0.0088, 3_000: 0.0286, 10_000: 0.140, 30_000: 0.485, 100_000: 1.60}
    found = fit(times, within_s=10)
    assert found.line.intercept < 0
    assert not found.linear
    assert "entries/s fall from 114 000 to 62 500 as ranges grow" in found.linearity_text
    assert found.rule.validity is Validity.BOUND and found.rule.above


def test_what_is_too_far_or_too_restless_is_not_extrapolated() -> None:
    times = {n: 0.002 + n * 1e-6 for n in (10_000, 100_000, 1_000_000)}
    far = fit(times, within_s=30)
    assert far.rule.validity is Validity.BOUND and far.rule.above
    assert "because it is more than 20 times what was measured" in far.rule_text
    restless = [
        replace(
            each, executions=[execution(each.width or 0, each.executions[1].elapsed_ns * f) for f in (0.5, 1.0, 1.9)]
        )
        for each in (trial(n, time_s * S) for n, time_s in times.items())
    ]
    (found,) = range_fits(restless, answer_within_ns=10 * S)
    assert found.linear and not found.known_linear
    assert found.rule.validity is Validity.BOUND and "executions differ too much" in found.rule_text
    for within_s in (0.5, 1.1):  # between the mean times, though the line may be left and right of them
        (inside,) = range_fits(restless, answer_within_ns=round(within_s * S))
        assert inside.rule.validity is Validity.MEASURED
        assert inside.rule.entries.value <= 1_000_000


@pytest.mark.parametrize(("factor", "said"), [(1.5, "longer"), (0.6, "shorter")])
def test_a_largest_range_off_the_line_of_the_others_is_told(factor: float, said: str) -> None:
    times = {n: 0.2 + n * 1e-6 for n in (10_000, 100_000, 300_000)}
    found = fit({**times, 1_000_000: factor * 1.2}, within_s=0.4)
    assert not found.linear
    assert said in found.linearity_text and "largest range" in found.linearity_text
    assert found.rule.validity is Validity.MEASURED
    # Between the neighbours, 0.3 s at 100 000 and 0.5 s at 300 000, not along the bent line.
    assert found.rule.entries.value == pytest.approx(
        100_000 * 3 ** (math.log(0.4 / 0.3) / math.log(0.5 / 0.3)), rel=0.01
    )


def test_less_time_than_a_query_takes_without_any_entry_allows_none() -> None:
    found = fit({n: 1 + n * 1e-6 for n in (10_000, 100_000, 1_000_000)}, within_s=0.5)
    assert found.rule.validity is Validity.BOUND and not found.rule.above


def test_two_widths_make_no_rule_and_neither_does_a_query_without_a_range() -> None:
    assert range_fits([trial(10, S), trial(20, 2 * S)], answer_within_ns=S) == []
    alone = replace(trial(10, S), width=None)
    assert range_fits([alone, alone, alone], answer_within_ns=S) == []


def test_counts_that_agree_and_one_that_does_not() -> None:
    good = trial(1_000, S)
    assert agreement([good]).verdict is Standing.PASS
    assert agreement([]).verdict is Standing.UNKNOWN
    lost = replace(good, executions=[*good.executions, execution(999, S)])
    assert agreement([lost]).verdict is Standing.FAIL
    assert "documents drained 999, by explain 1 000" in agreement([lost]).evidence
    # On a server that others use as well, its own counters hold their queries too.
    shared = replace(good, private=False, executions=[replace(each, keys_examined=7) for each in good.executions])
    assert agreement([shared]).verdict is Standing.PASS
    assert agreement([replace(shared, private=True)]).verdict is Standing.FAIL


def test_a_client_that_is_busy_is_told() -> None:
    good = trial(1_000, S)
    assert client_share([good]).verdict is Standing.PASS
    busy = replace(good, executions=[replace(each, client_cpu_ns=each.elapsed_ns) for each in good.executions])
    assert client_share([busy]).verdict is Standing.WARN
    assert client_share([]).verdict is Standing.UNKNOWN


def test_expectations_that_are_not_met_are_named() -> None:
    good = replace(trial(1_000, S), expected_plan=parse_expected_plan("IXSCAN {time: 1}"), expected_documents=1_000)
    assert good.broken == []
    bad = replace(good, expected_plan=parse_expected_plan("COLLSCAN, no FETCH"), expected_documents=1_001)
    assert [str(each) for each in bad.broken] == [
        "the plan is FETCH ← IXSCAN {time: 1}, which is not COLLSCAN",
        "the plan is FETCH ← IXSCAN {time: 1}, which is not no FETCH",
        "1 000 documents came, not 1 001",
    ]


def test_the_share_that_the_cache_read() -> None:
    read = replace(execution(1, S), cache_pages_read=25, cache_pages_requested=100)
    assert read.cache_read_share == 0.25
    assert execution(1, S).cache_read_share is None
    assert replace(read, cache_pages_requested=0).cache_read_share is None
