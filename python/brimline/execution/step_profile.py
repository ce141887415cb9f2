"""Owns what the server's profiler says of the steps of a run: a share of the commands, where the person allows it.

Source: MongoDB's manual, "Database Profiler": level, threshold and share are set by the command `profile`; the last two
are those of the whole server, and of its log of slow commands as well. What was set is set again afterwards.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import pymongo
from pymongo.errors import OperationFailure

from brimline.dataset.access import DataDatabase, target_errors
from brimline.errors import TargetError, UsageError
from brimline.execution.database import ANSWERS_WITHIN_S, database_named
from brimline.execution.step_commands import step_commands
from brimline.execution.step_examples import AS_SENT
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork
from brimline.servers import Deployment
from brimline.servers.refusal import NOT_ALLOWED_CODES

Warn = Callable[[str], None]
ENTRIES_MAX: Final = 100_000
"""The newest that are read; the collection is capped at 1 MB anyhow unless somebody made it larger."""
_EVERY_COMMAND_MS: Final = -1
_LEAVE_OUT: Final = "leave --profiler out"
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


class Profiled:
    """What was recorded of each step, for who asks while the profiler is on. By itself nothing was."""

    def told(self) -> dict[str, Any]:
        """What `record.plans` has of it. Raises nothing of the target's."""
        return {"profile": []}


@dataclass(frozen=True, slots=True)
class _Recorded(Profiled):
    plan: Plan
    databases: Sequence[DataDatabase]
    began: datetime
    warn: Warn

    def told(self) -> dict[str, Any]:
        try:
            found = [_entries(each, self.began) for each in self.databases]
        except TargetError as error:
            self.warn(error.message)
            return {"profile": []}
        steps = by_step(self.plan, [entry for entries, _ in found for entry in entries])
        begins_s = max((begins_s for _, begins_s in found if begins_s is not None), default=None)
        return {"profile": steps, "profile_begins_s": begins_s}


def no_mongodb() -> UsageError:
    """What `--profiler` beside a target of another protocol is."""
    return UsageError("--profiler is about MongoDB's profiler, and the target is no MongoDB", hint=_LEAVE_OUT)


def require_profiler(deployment: Deployment) -> None:
    """Raises UsageError where `--profiler` is about a server without one, or about several."""
    if deployment.protocol != "mongodb":
        raise no_mongodb()
    if deployment.kind == "mongos" or deployment.shards:
        what = "a mongos has no profiler" if deployment.kind == "mongos" else "each of several shards has one"
        raise UsageError(f"--profiler asks the one server that all commands go to: {what}", hint=_LEAVE_OUT)


@contextmanager
def profiling(plan: Plan, deployment: Deployment, share: float, warn: Warn) -> Iterator[Profiled]:
    """Has the profiler record `share` of all commands while the block lasts; `warn` is told where it may stay on.

    Nothing where the plan has no operations of its author's own. A profiler that is on already is left as it is.
    Raises UsageError where there is none, TargetError where it may not be set or the server doesn't answer.
    """
    if not isinstance(plan.work, OperationsWork):
        yield Profiled()
        return
    require_profiler(deployment)
    names = list(dict.fromkeys(step.database for operation in plan.work.operations for step in operation.steps))
    with ExitStack() as stack:
        databases = [stack.enter_context(database_named(name, deployment)) for name in names]
        switch = _Switch(warn)
        stack.callback(switch.off)
        yield _Recorded(plan, databases, switch.on(databases, share), warn)


@dataclass(slots=True)
class _Switch:
    """Switches profilers on, and those that it switched off again."""

    warn: Warn
    _before: list[tuple[DataDatabase, Mapping[str, Any], str]] = field(default_factory=list)
    """With what sets each back, as a command and as a person types it."""

    def on(self, databases: Sequence[DataDatabase], share: float) -> datetime:
        """The server's time before. Raises TargetError."""
        try:
            with target_errors("turning the profiler on"):
                began: datetime = databases[0].command("hello")["localTime"]
                # Threshold and share are the server's: they are read before the first is set.
                found = [(each, each.command({"profile": -1})) for each in databases]
                for database, before in found:
                    if before["was"] == 0:
                        self._set(database, before, share)
                return began
        except TargetError as error:
            cause = error.__cause__
            if isinstance(cause, OperationFailure) and cause.code in NOT_ALLOWED_CODES:
                hint = f"the profiler needs the role dbAdmin; grant it, or {_LEAVE_OUT}"
                raise TargetError(error.message, hint=hint) from cause
            raise

    def _set(self, database: DataDatabase, before: Mapping[str, Any], share: float) -> None:
        back = {"profile": 0, "slowms": before["slowms"], "sampleRate": before["sampleRate"]}
        host, port = database.client.address or ("", 0)
        by_hand = f"db.getSiblingDB({json.dumps(database.name)}).runCommand({json.dumps(back)}) at {host}:{port}"
        # Nobody knows whether it is on where no answer comes.
        self._before.append((database, back, by_hand))
        try:
            database.command({"profile": 1, "slowms": _EVERY_COMMAND_MS, "sampleRate": share})
        except OperationFailure:
            self._before.pop()
            raise

    def off(self) -> None:
        """Sets back what was set. All together takes `ANSWERS_WITHIN_S`: the server may have gone away."""
        with pymongo.timeout(ANSWERS_WITHIN_S):
            for database, back, by_hand in self._before:
                try:
                    with target_errors(f"turning the profiler of {database.name} off"):
                        database.command(dict(back))
                except TargetError as error:
                    self.warn(f"{error.message}; it may still record, until somebody sends {by_hand}")


def _entries(database: DataDatabase, began: datetime) -> tuple[list[Mapping[str, Any]], float | None]:
    """Those that are left since then, and how long after it the oldest was written."""
    with target_errors("reading what the profiler recorded"):
        recorded = database.get_collection("system.profile", codec_options=AS_SENT)
        entries: list[Mapping[str, Any]] = list(
            recorded.find({"ts": {"$gte": began}}, sort=[("$natural", -1)], limit=ENTRIES_MAX)
        )
        return entries, (entries[-1]["ts"] - began).total_seconds() if entries else None


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
