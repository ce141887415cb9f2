"""Owns the question whether an SQL server counted the same statements as brimline. Pure.

Statements by kind where the server counts them; the rows that were written, whatever wrote them; and of PostgreSQL the
transactions that ended, each statement outside of one being one as well. Below what was acknowledged no count may lie.
Above it lies what nobody answered, attempts that failed, and what the server does by itself.
"""

from collections.abc import Iterator, Mapping, Sequence

from brimline.monitor.agreement import COUNTS_FELL, Agreement, CounterCheck, agreement_of
from brimline.monitor.own_work import step_label
from brimline.monitor.sql.counters import SqlCounters
from brimline.plan.model import LoadWork, OperationsWork, Plan
from brimline.record.model import CommandTotals, Summary
from brimline.wording import Verbatim, message

_NOT_COUNTED = "the server counts no statements by kind"
_NO_EXTENSION = "only the extension pg_stat_statements counts them"
_ATTEMPTS = "attempts that failed or were rolled back"
_UNCHANGED = "the server doesn't count updates that change nothing"
_ITS_OWN = "the server's own"
_WRITES = ("insert", "update", "delete", "replace")
_CLOCK_GRAIN_MS = 1000


def check_sql_agreement(plan: Plan, summary: Summary, *, before: SqlCounters, after: SqlCounters) -> Agreement:
    """Compares the server's counts around a run with the run's own."""
    if after.uptime_ms + _CLOCK_GRAIN_MS < before.uptime_ms:
        return Agreement(verdict="unknown", evidence="the server was started again during the run")
    if after.fell_behind(before):
        return COUNTS_FELL
    if isinstance(plan.work, LoadWork):
        return agreement_of([_rows(_loaded(summary), before, after, is_certain=not _uncertain(summary))])
    sent = _sent(summary)
    steps = _steps(plan)
    # PostgreSQL counts a statement when it has ended well, MySQL when it begins: not where a parameter doesn't fit.
    of_postgres = after.engine == "postgres"
    failed = sum(row["count"] for row in summary["errors"] if of_postgres or row["outcome"] == "server_error")
    checks = [_of_kind(kind, totals, failed, before, after, steps.get(kind, ())) for kind, totals in sent.items()]
    written = summary.get("document_counts", {}).get("modified", 0)
    if any(kind in _WRITES for kind in sent):
        is_certain = not any(totals["uncertain"] for totals in sent.values())
        checks.append(_rows(written, before, after, is_certain=is_certain, has_updates="update" in sent))
    checks += _transactions(plan, summary, before, after)
    return agreement_of(checks)


def _sent(summary: Summary) -> Mapping[str, CommandTotals]:
    names = summary.get("command_names", {})
    return {kind: totals for kind, totals in names.items() if totals["answered"] or totals["uncertain"]}


def _of_kind(
    kind: str, totals: CommandTotals, failed: int, before: SqlCounters, after: SqlCounters, steps: Sequence[str]
) -> CounterCheck:
    counted = after.since(before, kind)
    is_counted = counted is not None and (kind in (after.statements or {}) or after.engine == "postgres")
    return CounterCheck(
        kind=message("{command} statements", command=Verbatim(kind)),
        acknowledged=max(0, totals["answered"] - failed),
        uncertain=totals["uncertain"] + min(failed, totals["answered"]),
        counted=counted or 0,
        steps=steps,
        unknown="" if is_counted else _NO_EXTENSION if after.engine == "postgres" else _NOT_COUNTED,
    )


def _rows(
    written: int, before: SqlCounters, after: SqlCounters, *, is_certain: bool, has_updates: bool = False
) -> CounterCheck:
    """MySQL's replies tell rows that an update found, its counter those that it changed."""
    known = before.rows_written is not None and after.rows_written is not None
    counted = (after.rows_written or 0) - (before.rows_written or 0)
    may_be_less = after.engine == "mysql" and has_updates and counted < written
    return CounterCheck(
        kind="rows written",
        acknowledged=written,
        uncertain=0,
        counted=counted,
        others=_ATTEMPTS if after.counts_attempts or not is_certain else "",
        others_max=None if after.counts_attempts or not is_certain else 0,
        unknown=_UNCHANGED if may_be_less else "" if known else "the server counts no rows",
    )


def _transactions(plan: Plan, summary: Summary, before: SqlCounters, after: SqlCounters) -> Iterator[CounterCheck]:
    if before.transactions is None or after.transactions is None or not isinstance(plan.work, OperationsWork):
        return
    ended = 0
    for operation in plan.work.operations:
        for step in operation.steps:
            if step.transaction not in (None, "commit"):
                continue
            if len(operation.steps) == 1:
                totals = summary["operations"].get(operation.name)
            else:
                totals = summary.get("steps", {}).get(operation.name, {}).get(step.name)  # type: ignore[assignment]
            ended += 0 if totals is None else totals["ok"] + totals["miss"]
    yield CounterCheck(
        kind="transactions",
        acknowledged=ended,
        uncertain=0,
        counted=after.transactions - before.transactions,
        others=_ITS_OWN,
        others_max=None,
    )


def _loaded(summary: Summary) -> int:
    totals = summary.get("inserts")
    return 0 if totals is None else totals["inserted"]


def _uncertain(summary: Summary) -> bool:
    totals = summary.get("inserts")
    return totals is None or totals["unknown"] > 0


def _steps(plan: Plan) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if isinstance(plan.work, OperationsWork):
        for operation in plan.work.operations:
            for step in operation.steps:
                found.setdefault(step.command, []).append(step_label(operation, step))
    return found
