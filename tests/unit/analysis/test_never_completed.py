"""What was due and has no time counts as slower than all that has one, on every clock that it is missing on."""

import pytest

from brimline.analysis.finding import Standing
from brimline.analysis.latency import latency
from brimline.analysis.never_completed import due_buckets, never_completed
from brimline.analysis.observation import observe
from brimline.stats.quantile_interval import NEVER_NS

from .records import MS, S, operation_row, run_record, summary

CLOCKS = ("service", "response", "lag")


def test_what_was_never_sent_and_what_was_never_answered() -> None:
    """Of 12 000 due 10 000 were sent, three quarters of them reads, and 9 000 answered."""
    rows = [operation_row(1, sent=7_500, ok=6_700), operation_row(2, operation="update", sent=2_500, ok=2_300)]
    record = run_record(operations=rows, summary=summary(due=12_000, overdue=2_000))
    assert never_completed(record, "response") == {"read": 800 + 1_500, "update": 200 + 500}
    assert never_completed(record, "service") == {"read": 800, "update": 200}
    assert never_completed(record, "lag") == {"read": 1_500, "update": 500}


def test_a_closed_loop_is_due_when_it_is_sent() -> None:
    """T-L-R that ended early says how many loops it had not performed, which nobody waited for."""
    record = run_record(rate=None, operations=[operation_row(1, ok=990)], summary=summary(due=12_000, overdue=2_000))
    assert never_completed(record, "service") == {"read": 10}


@pytest.mark.parametrize(("ok", "missing"), [(1000, {}), (997, {}), (996, {"read": 4})])
def test_the_edges_of_a_window_are_nothing_missing(ok: int, missing: dict[str, int]) -> None:
    assert never_completed(run_record(operations=[operation_row(1, ok=ok)]), "response") == missing


def test_shares_of_what_was_never_sent_add_up() -> None:
    rows = [operation_row(1, operation=kind, sent=333, ok=333) for kind in ("read", "scan", "update")]
    record = run_record(operations=rows, summary=summary(overdue=100))
    assert sorted(never_completed(record, "response").values()) == [33, 33, 34]


def test_percentiles_are_of_all_that_was_due() -> None:
    """Of 10 000 due 2 000 never completed: the median is the 5 000th of 8 000 answers.

    The p99 isn't known: those 2 000 were sent by 2 s, and the run ended at 11 s.
    """
    answers = [(MS, 4_000), (2 * MS, 4_000)]
    record = run_record(operations=[operation_row(1, sent=10_000, ok=8_000)], latencies=dict.fromkeys(CLOCKS, answers))
    seen = latency(record, "response")
    assert seen is not None
    assert (seen.count, seen.missing) == (8_000, 2_000)
    assert (seen.p50_ns, seen.p95_ns, seen.p99_ns, seen.p999_ns) == (2 * MS, None, None, None)
    assert (seen.mean_ns, seen.max_ns, seen.completed_p99_ns) == (1.5 * MS, 2 * MS, 2 * MS)
    assert (seen.p99.value_ns, seen.p99.low_ns, seen.p99.high_ns, seen.p99.enough) == (NEVER_NS, 9 * S, None, False)
    assert due_buckets(record, "response")["read"][-1] == (NEVER_NS, 2_000)


def test_the_check_of_samples_says_why_there_is_no_figure() -> None:
    record = run_record(operations=[operation_row(1, sent=10_000, ok=8_000)])
    (check,) = (each for each in observe(record).findings if each.name == "samples")
    assert check.verdict is Standing.WARN
    assert check.evidence.startswith("16.7 % of the operations never completed")  # of 10 000 times and 2 000 without


def test_where_all_completed_nothing_is_added() -> None:
    seen = latency(run_record(), "response")
    assert seen is not None
    assert (seen.missing, seen.p99_ns, seen.p99.never_share) == (0, MS, 0.0)
