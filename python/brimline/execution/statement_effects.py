"""Owns what the statements of a person's own operations do to tables, told from the plan alone.

A table is meant by a statement that names it. An insert under keys that follow those that were loaded can be taken away
again; whatever else writes makes the table another one, but for YCSB's updates, after which it is as good as before.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from brimline.errors import UsageError
from brimline.execution.effects import Effect, holds_expression
from brimline.execution.wanted import WantedData
from brimline.plan import Plan
from brimline.plan.operations import OperationPlan, OperationsWork, Step
from brimline.plan.requests import StatementRequest

_NEW = ("new_key", "new_record")
_CONTROL = frozenset({"begin", "commit", "rollback", "set", "use"})


def effects_on(plan: Plan, wanted: WantedData) -> frozenset[Effect]:
    """What the steps of `plan` do to a table and its children."""
    if wanted.table is None or not isinstance(plan.work, OperationsWork):
        return frozenset()
    names = [wanted.table.name, *(child.name for child in wanted.table.children)]
    return effects_on_tables(plan.work, names, is_ycsb=wanted.definition is None)


def effects_on_tables(work: OperationsWork, names: Sequence[str], *, is_ycsb: bool = False) -> frozenset[Effect]:
    """What the statements of `work` do to the tables of these names. `is_ycsb`: they are YCSB's own."""
    found = {
        _effect(step, work, is_ycsb=is_ycsb) for _, step in _writing(work) if any(_names(step, name) for name in names)
    }
    return frozenset(each for each in found if each is not None)


def require_statements_allowed(plan: Plan, ours: Sequence[str]) -> None:
    """Raises UsageError where a statement writes, and to none of our tables alone."""
    for operation, step in writing_steps(plan):
        if step.command in ("insert", "update", "delete", "replace") and _is_about(step, ours, plan.target.kind):
            continue
        raise UsageError(
            f"operations.{operation.name}: the step {step.name} writes to a table that brimline did not load",
            hint="give --allow-writes if it may be changed; nothing was sent",
        )


def statement_texts(step: Step) -> tuple[str, ...]:
    """The texts of a step that is a statement; none of others."""
    request = step.request
    if not isinstance(request, StatementRequest):
        return ()
    return (request.text,) if request.text is not None else request.texts or ()


def writing_steps(plan: Plan) -> Iterator[tuple[OperationPlan, Step]]:
    """Each step that may write, with its operation."""
    if isinstance(plan.work, OperationsWork):
        yield from _writing(plan.work)


def _writing(work: OperationsWork) -> Iterator[tuple[OperationPlan, Step]]:
    for operation in work.operations:
        for step in operation.steps:
            if step.access == "write" and step.command not in _CONTROL:
                yield operation, step


def _effect(step: Step, work: OperationsWork, *, is_ycsb: bool) -> Effect | None:
    if step.command == "insert" and holds_expression(step, work, _is_new):
        return Effect.KEYS
    return None if is_ycsb else Effect.CHANGE


def _is_new(part: dict[str, Any]) -> bool:
    return part.get("kind") in _NEW


def _names(step: Step, table: str) -> bool:
    word = re.compile(rf"(?<![\w$]){re.escape(table)}(?![\w$])", re.IGNORECASE)
    return any(word.search(text) for text in statement_texts(step))


_NAME = r"(?:(?P<mark>[`\"])(?P<quoted>[\w$]+)(?P=mark)|(?P<bare>[\w$]+))(?![\w$])"
_TARGETS = tuple(
    re.compile(rf"\s*{text}", re.IGNORECASE)
    for text in (
        rf"(?:insert(?:\s+ignore)?|replace)\s+into\s+{_NAME}(?!\s*\.)",
        # What stands behind the table is said as well, as several tables may stand there.
        rf"update\s+{_NAME}(?:\s+(?:as\s+)?[\w$]+)?\s+set\b",
        rf"delete\s+from\s+{_NAME}(?:\s+(?:as\s+)?[\w$]+)?\s*(?:$|\b(?:where|order|limit|returning|using)\b)",
    )
)
_INNER_WRITE = re.compile(r"\(\s*(?:with|insert|update|delete|merge)\s", re.IGNORECASE)


def _is_about(step: Step, ours: Sequence[str], kind: str) -> bool:
    """Whether what the statement writes to is surely one of `ours`, and nothing else is."""
    for text in statement_texts(step):
        found = next(filter(None, (target.match(text) for target in _TARGETS)), None)
        if found is None or _INNER_WRITE.search(text) or "/*!" in text or "/*M!" in text:
            return False
        # PostgreSQL writes small what isn't quoted; MySQL's servers tell large letters from small ones, quoted or not.
        name = found["quoted"] or (found["bare"].lower() if kind == "postgres" else found["bare"])
        if name not in ours:
            return False
    return True
