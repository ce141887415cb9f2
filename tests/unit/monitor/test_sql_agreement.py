"""Whether an SQL server counted the statements and rows that brimline sent: what agrees, and what can't be known."""

from dataclasses import replace
from typing import Any

import pytest

from brimline.monitor.sql.agreement import check_sql_agreement
from brimline.monitor.sql.counters import SqlCounters
from brimline.plan import Plan
from brimline.record.model import Summary
from tests.support.sql_work import statement_plan, statement_summary

MARIADB = SqlCounters(
    engine="mysql",
    uptime_ms=1_000_000,
    statements={"select": 5, "insert": 0, "update": 7},
    rows_written=100,
    transactions=None,
    counts_attempts=True,
)
POSTGRES = replace(MARIADB, engine="postgres", statements=None, transactions=50)
PLAN = statement_plan({"read": ("select", "SELECT 1 FROM t"), "change": ("update", "UPDATE t SET a = 1")})


@pytest.mark.parametrize(
    "grown",
    [{"statements": {"select": 4, "insert": 0, "update": 11}}, {"rows_written": 99}, {"statements": {"select": -3}}],
)
def test_counts_that_fall_are_no_counts(grown: dict[str, Any]) -> None:
    assert check(MARIADB, **grown) == ("unknown", "the server's counts fell during the run, which counts can't")


def check(before: SqlCounters, *, plan: Plan = PLAN, summary: Summary | None = None, **grown: Any) -> tuple[str, str]:
    if summary is None:
        summary = statement_summary(answered={"select": 10, "update": 4}, modified=4, ok={"read": 10, "change": 4})
    after = replace(before, **{"uptime_ms": 1_060_000, **grown})
    found = check_sql_agreement(plan, summary, before=before, after=after)
    return found.verdict, found.evidence


@pytest.mark.parametrize(("uptime_ms", "verdict"), [(1_000_400, "pass"), (999_000, "pass"), (998_999, "unknown")])
def test_a_server_that_has_run_for_less_than_before_was_started_again(uptime_ms: int, verdict: str) -> None:
    """It says whole seconds, so that a run of less than one may end at an earlier one."""
    grown = {"statements": {"select": 15, "insert": 0, "update": 11}, "rows_written": 104}
    found, evidence = check(MARIADB, uptime_ms=uptime_ms, **grown)
    assert found == verdict
    assert (evidence == "the server was started again during the run") is (verdict == "unknown")


def test_statements_and_rows_agree() -> None:
    verdict, evidence = check(MARIADB, statements={"select": 15, "insert": 0, "update": 11}, rows_written=104)

    assert verdict == "pass"
    counts = "select statements 10, update statements 4, rows written 4"
    assert evidence == f"the server counted the same operations: {counts}"


@pytest.mark.parametrize(("outcome", "verdict"), [("server_error", "pass"), ("unexpected", "fail")])
def test_mysql_may_not_count_what_failed_before_it_began(outcome: str, verdict: str) -> None:
    summary = statement_summary(answered={"select": 10, "update": 4}, modified=4, ok={"read": 8, "change": 4})
    refused = {"operation": "read", "outcome": outcome, "code": 3988, "label": "HY000", "count": 2, "example": ""}
    summary = {**summary, "errors": [refused]}  # type: ignore[list-item, typeddict-item]
    assert check(MARIADB, summary=summary, statements={"select": 13, "update": 11}, rows_written=104)[0] == verdict


@pytest.mark.parametrize(
    ("statements", "rows", "words"),
    [
        ({"select": 14, "update": 11}, 104, "select statements: the server counted 9, 1 fewer"),
        ({"select": 95, "update": 11}, 104, "another client was at work (in read)"),
    ],
)
def test_a_count_that_differs_is_told(statements: dict[str, int], rows: int, words: str) -> None:
    verdict, evidence = check(MARIADB, statements=statements, rows_written=rows)

    assert verdict == "fail"
    assert words in evidence


def test_updates_that_change_nothing_are_found_by_the_reply_and_counted_by_nobody() -> None:
    verdict, evidence = check(MARIADB, statements={"select": 15, "update": 11}, rows_written=103)

    assert verdict == "pass"
    assert "rows written unknown: the server doesn't count updates that change nothing" in evidence


def test_rows_that_are_missing_are_told() -> None:
    plan = statement_plan({"place": ("insert", "INSERT INTO t VALUES (1)")})
    summary = statement_summary(answered={"insert": 4}, modified=4, ok={"place": 4})
    counts = {"statements": {"select": 5, "insert": 4, "update": 7}}

    assert check(MARIADB, plan=plan, summary=summary, rows_written=104, **counts)[0] == "pass"
    verdict, evidence = check(MARIADB, plan=plan, summary=summary, rows_written=103, **counts)
    assert verdict == "fail"
    assert "rows written: the server counted 3, 1 fewer" in evidence


def test_attempts_that_failed_raise_the_rows_and_nothing_is_wrong() -> None:
    assert check(MARIADB, statements={"select": 15, "update": 11}, rows_written=190)[0] == "pass"


def test_of_postgresql_rows_and_transactions_are_known_and_kinds_are_not() -> None:
    verdict, evidence = check(POSTGRES, rows_written=104, transactions=64)

    assert verdict == "pass"
    assert "rows written 4" in evidence
    assert "transactions 14" in evidence
    assert "select statements unknown (in read): only the extension pg_stat_statements counts them" in evidence


def test_too_few_transactions_are_told() -> None:
    verdict, evidence = check(POSTGRES, rows_written=104, transactions=63)

    assert verdict == "fail"
    assert "transactions: the server counted 13, 1 fewer" in evidence


def test_the_extension_of_postgresql_counts_what_ended_well() -> None:
    before = replace(POSTGRES, statements={})
    summary = statement_summary(
        answered={"select": 10, "update": 4}, modified=3, ok={"read": 10, "change": 3}, failed={"change": 1}
    )

    verdict, evidence = check(
        before, summary=summary, statements={"select": 10, "update": 3}, rows_written=103, transactions=70
    )

    assert (verdict, "update statements 3," in evidence) == ("pass", True)


def test_of_a_load_the_rows_are_counted() -> None:
    plan = statement_plan({}, load=True)
    summary = statement_summary(answered={}, inserted=1000)

    assert check(MARIADB, plan=plan, summary=summary, rows_written=1100)[0] == "pass"
    assert check(MARIADB, plan=plan, summary=summary, rows_written=1099)[0] == "fail"


def test_a_server_that_was_started_again_proves_nothing() -> None:
    assert check(MARIADB, uptime_ms=3_000) == ("unknown", "the server was started again during the run")
