"""Owns what the server's profiler says of the steps of a run: a share of the commands, where the person allows it.

Source: MongoDB's manual, "Database Profiler": level, threshold and share are set by the command `profile`; the last two
are those of the whole server, and of its log of slow commands as well. What was set is set again afterwards.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from brimline.dataset.access import DataDatabase, target_errors
from brimline.errors import BrimlineError, UsageError
from brimline.execution.database import database_named
from brimline.execution.step_commands import step_commands
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork
from brimline.servers import Deployment

ENTRIES_MAX: Final = 100_000
"""The newest that are read; the collection is capped at 1 MB anyhow unless somebody made it larger."""
_EVERY_COMMAND_MS: Final = -1
_ABOUT_SENDING: Final = frozenset(
    {
        "lsid",
        "txnNumber",
        "autocommit",
        "startTransaction",
        "readConcern",
        "writeConcern",
        "comment",
        "cursor",
        "batchSize",
    }
)
_OF_STATEMENTS: Final = {"update": ("update", "updates"), "remove": ("delete", "deletes")}
_LISTED: Final = dict(_OF_STATEMENTS.values())
_ADDED_WHERE_FALSE: Final = ("multi", "upsert")
"""What the server adds to a statement of an update that doesn't say it."""
_SUMS: Final = {
    "time_ms": "millis",
    "cpu_ns": "cpuNanos",
    "keys_examined": "keysExamined",
    "docs_examined": "docsExamined",
    "n_returned": "nreturned",
}


@dataclass
class Profiled:
    """What was recorded of each step, once the block is over."""

    steps: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def profiling(plan: Plan, deployment: Deployment, share: float) -> Iterator[Profiled]:
    """Has the profiler record `share` of all commands while the block lasts. Raises UsageError where it may not be set.

    Nothing where the plan has no operations of its author's own. A profiler that is on already is left as it is.
    """
    profiled = Profiled()
    if not isinstance(plan.work, OperationsWork):
        yield profiled
        return
    names = list(dict.fromkeys(step.database for operation in plan.work.operations for step in operation.steps))
    with ExitStack() as stack:
        databases = [stack.enter_context(database_named(name, deployment)) for name in names]
        began = _now(databases[0])
        for database in databases:
            stack.enter_context(_on(database, share))
        yield profiled
        with suppress(BrimlineError):
            entries = [entry for database in databases for entry in _entries(database, began)]
            profiled.steps = by_step(plan, entries)


def _now(database: DataDatabase) -> datetime:
    with target_errors("asking for the server's time"):
        found: datetime = database.command("hello")["localTime"]
    return found


@contextmanager
def _on(database: DataDatabase, share: float) -> Iterator[None]:
    try:
        with target_errors(f"turning the profiler of {database.name} on"):
            before = database.command({"profile": -1})
            if before["was"] == 0:
                database.command({"profile": 1, "slowms": _EVERY_COMMAND_MS, "sampleRate": share})
    except BrimlineError as error:
        raise UsageError(
            f"{error.message}", hint="the profiler needs the role dbAdmin; leave --profiler out"
        ) from error
    try:
        yield
    finally:
        if before["was"] == 0:
            with suppress(BrimlineError), target_errors(f"turning the profiler of {database.name} off"):
                database.command({"profile": 0, "slowms": before["slowms"], "sampleRate": before["sampleRate"]})


def _entries(database: DataDatabase, began: datetime) -> list[Mapping[str, Any]]:
    with target_errors("reading what the profiler recorded"):
        return list(
            database["system.profile"].find({"ts": {"$gte": began}}, sort=[("$natural", -1)], limit=ENTRIES_MAX)
        )


def by_step(plan: Plan, entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What was recorded of each step. A command is that of a step whose example has the same form but for its values.

    Steps of one form are told together, under the name of the first. What no step has sent is nobody's.
    """
    names: dict[str, tuple[str, str]] = {}
    for each in step_commands(plan):
        for statement in each.statements:
            names.setdefault(
                _form(statement, f"{each.step.database}.{each.step.collection}"), (each.operation, each.step.name)
            )
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entry in entries:
        if (step := names.get(_form_of(entry))) is not None:
            found.setdefault(step, []).append(entry)
    return [
        {
            "operation": operation,
            "step": step,
            "commands": len(of_step),
            **{name: _sum(of_step, key) for name, key in _SUMS.items()},
        }
        for (operation, step), of_step in found.items()
    ]


def _sum(entries: Sequence[Mapping[str, Any]], key: str) -> int | None:
    values = [entry[key] for entry in entries if isinstance(entry.get(key), int)]
    return sum(values) if values else None


def _form_of(entry: Mapping[str, Any]) -> str:
    """The form of the command that an entry is about; of further replies of a cursor that of what opened it."""
    command = entry.get("originatingCommand") or entry.get("command")
    operation, namespace = str(entry.get("op")), str(entry.get("ns"))
    if operation in _OF_STATEMENTS:
        name, listed = _OF_STATEMENTS[operation]
        command = {name: "", listed: [command]}
    return _form(command if isinstance(command, Mapping) else {}, namespace)


def _form(command: Mapping[str, Any], namespace: str) -> str:
    """What tells commands apart: which keys there are, whatever their values, and not what is about the sending."""
    name = next(iter(command), "")
    said: dict[str, Any] = {}
    if name in _LISTED:  # an entry is about one statement, and has nothing of the command around it
        statements = command.get(_LISTED[name])
        said = {_LISTED[name]: [_statement(each) for each in statements] if isinstance(statements, list) else "?"}
    elif name != "insert":  # an entry has none of its documents
        said = {key: _without_values(value) for key, value in command.items() if not _is_about_sending(key)}
    return json.dumps([name, namespace, {**said, name: ""}], sort_keys=True)


def _is_about_sending(key: str) -> bool:
    return key in _ABOUT_SENDING or key.startswith("$")


def _statement(told: Any) -> Any:
    if not isinstance(told, Mapping):
        return "?"
    return {
        # The server tells an index that is named by its name in a way of its own.
        key: "?" if key == "hint" else _without_values(value)
        for key, value in told.items()
        if not (key in _ADDED_WHERE_FALSE and value is False)
    }


def _without_values(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_values(each) for key, each in value.items()}
    if isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        return [_without_values(each) for each in value]
    return "?"


__all__ = ["ENTRIES_MAX", "Profiled", "by_step", "profiling"]
