"""Owns what the server counts of operations that are commands of their author's: by command, and by document.

As counted by 4.4.2, 5.0.4 and 6.0.5, standalone and in sets:

- `metrics.commands.<name>.total` counts each command once, whatever it carries and however it ends, but for those that
  a member refuses because it is no primary.
- `metrics.document` counts documents inserted, matched by updates (an upsert that inserts is neither), deleted and
  returned by finds, aggregations and `getMore`. A `findAndModify` counts as updated or deleted, and returns none. What
  expires (TTL), falls out of a capped collection or is replicated to a secondary is not counted; what other members
  read of the oplog is.
- An insert into a time series updates buckets, which count as updates.
- `$out` inserts, and `$merge` updates, or inserts where it is told what to do with what matches: both count as the
  same of clients do, but as no command. What they pass on counts as returned.
- `$where` and `$function` look for stored functions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from brimline.plan.known import mentions, written_by_pipeline
from brimline.plan.model import OperationsWork, Plan
from brimline.plan.operations import OperationPlan, Step
from brimline.record.model import CommandTotals, OperationRow, ShardCounts, StepRow, Summary
from brimline.wording import Verbatim, joined, message

FURTHER_COMMANDS = ("getMore", "commitTransaction", "abortTransaction")
"""What the generator sends besides the steps' own commands."""
OTHERS_WRITES = ("insert", "update", "delete", "findAndModify")
"""Asked about whether a step sends them or not: no server sends them to itself as other clients do."""
_NONE_SENT: CommandTotals = {"answered": 0, "uncertain": 0}
_STORED_FUNCTIONS = ("$where", "$function", "$accumulator")
_COUNTS_RETURNED = frozenset({"find", "aggregate", "insert", "update", "delete", *FURTHER_COMMANDS})
"""Commands of which every document that a reply brings is counted as returned, or none is brought."""
_RETURNING = ("find", "aggregate")
_NOT_COUNTED_CODES = frozenset({59, 10058, 10107, 13435, 13436})
"""CommandNotFound, and that a member is no primary: the command is refused before it is counted."""
_STEPS_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCounts:
    """What replies to steps said, and which steps are behind each counter.

    `commands` by name and `documents` as in the summary, commands with which other clients would write included.
    `refused`: how many commands at most were refused before they were counted. `by_command`, `by_counter`: names of
    steps by command and by opcounter. `writes_within`: the opcounters of what aggregations write. `reads_within`:
    stored functions are looked for. `fills_buckets`: documents are inserted into a time series. `found_and_modified`:
    so many documents at most. `uncounted`: the steps whose replies bring documents that the server counts otherwise;
    `returned`: how many the others brought, None where that isn't known.
    """

    commands: Mapping[str, CommandTotals]
    documents: Mapping[str, int]
    refused: int = 0
    by_command: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_counter: Mapping[str, Sequence[str]] = field(default_factory=dict)
    writes_within: frozenset[str] = frozenset()
    fills_buckets: bool = False
    reads_within: bool = False
    found_and_modified: int = 0
    uncounted: Sequence[str] = ()
    returned: int | None = None

    @property
    def is_certain(self) -> bool:
        """Whether every command was answered."""
        return not any(each["uncertain"] for each in self.commands.values())


def command_names(plan: Plan) -> tuple[str, ...]:
    """The commands that a run of `plan` sends, or another client that writes; none of other work."""
    if not isinstance(plan.work, OperationsWork):
        return ()
    return tuple(dict.fromkeys([*(step.command for _, step in _steps(plan.work)), *FURTHER_COMMANDS, *OTHERS_WRITES]))


Brought: TypeAlias = Mapping[tuple[str, str], int]
"""Documents that replies brought, by operation and step; the step of an operation of one step is ""."""


def brought_by_rows(rows: Iterable[OperationRow], step_rows: Iterable[StepRow]) -> Brought:
    """As the rows of a whole run tell it."""
    brought = Counter[tuple[str, str]]()
    for step_row in step_rows:
        brought[step_row["operation"], step_row["step"]] += step_row["documents"]
    for row in rows:
        brought[row["operation"], ""] += row["documents"]
    return brought


def of_shard(plan: Plan, summary: Summary, shard: ShardCounts) -> tuple[Summary, Brought]:
    """The summary of a run with the counts of one shard in place of all, and what its replies brought.

    What was refused is told of all shards together, and may all have been at this one.
    """
    said = shard.get("step_documents", {})
    steps = list(_steps(plan.work)) if isinstance(plan.work, OperationsWork) else []
    brought = {
        (operation.name, _row_name(operation, step)): said.get(operation.name, {}).get(step.name, 0)
        for operation, step in steps
    }
    return cast("Summary", {**summary, **shard}), brought


def own_counts(plan: Plan, summary: Summary, brought: Brought | None = None) -> OwnCounts | None:
    """What the summary of a run says of its steps; None of other work, and where it says nothing.

    `brought` tells which steps brought the documents that were returned.
    """
    commands = summary.get("command_names")
    if not isinstance(plan.work, OperationsWork) or not commands:
        return None
    steps = list(_steps(plan.work))
    by_command: dict[str, list[str]] = {}
    by_counter: dict[str, list[str]] = {}
    for operation, step in steps:
        name = step_label(operation, step)
        by_command.setdefault(step.command, []).append(name)
        by_counter.setdefault(step.counter, []).append(name)
        if step.cursor:
            by_command.setdefault("getMore", []).append(name)
            by_counter.setdefault("getmore", []).append(name)
    uncounted = [(operation, step) for operation, step in steps if _brings_uncounted(step, plan.work)]
    counted = [
        (brought or {}).get((operation.name, _row_name(operation, step)), 0)
        for operation, step in steps
        if step.command in _RETURNING and not _brings_uncounted(step, plan.work)
    ]
    refused = _refused(summary)
    named = {name.lower() for name in commands}
    unsent = {name: _NONE_SENT for name in OTHERS_WRITES if name.lower() not in named}
    found = [totals for name, totals in commands.items() if name.lower() == "findandmodify"]
    return OwnCounts(
        commands={**commands, **unsent},
        documents=summary.get("document_counts", {}),
        refused=refused,
        by_command=by_command,
        by_counter=by_counter,
        writes_within=frozenset(counter for _, step in steps for counter in _written_within(step, plan.work)),
        fills_buckets=_fills_buckets(plan.work),
        reads_within=any(mentions(step, plan.work, _STORED_FUNCTIONS) for _, step in steps),
        found_and_modified=sum(each["answered"] + each["uncertain"] for each in found) + (refused if found else 0),
        uncounted=[step_label(operation, step) for operation, step in uncounted],
        returned=sum(counted) if brought else None,
    )


def _brings_uncounted(step: Step, work: OperationsWork) -> bool:
    """Whether replies bring documents that the server doesn't count as returned, or it counts others."""
    return step.command not in _COUNTS_RETURNED or bool(written_by_pipeline(step, work))


def _written_within(step: Step, work: OperationsWork) -> Iterator[str]:
    """The opcounters that the command's pipeline raises; both of one that isn't known."""
    written = written_by_pipeline(step, work)
    is_open = any(collection is None for _, collection in written)
    merges = mentions(step, work, ("$merge",))
    inserts = mentions(step, work, ("$out",)) or (merges and mentions(step, work, ("whenMatched",)))
    if written and (is_open or inserts):
        yield "insert"
    if written and (is_open or merges):
        yield "update"


def _fills_buckets(work: OperationsWork) -> bool:
    series = {(each.database, each.collection) for each in work.collections if each.time_series}
    return any(step.command == "insert" and (step.database, step.collection) in series for _, step in _steps(work))


def _refused(summary: Summary) -> int:
    """How many commands at most were refused uncounted; one that was sent once more may have been, the first time."""
    failed = sum(row["count"] for row in summary["errors"] if row["code"] in _NOT_COUNTED_CODES)
    return failed + sum(totals.get("retried", 0) for totals in summary["operations"].values())


def step_label(operation: OperationPlan, step: Step) -> str:
    """What a step is called among those of all operations: of an operation of one step that operation."""
    return operation.name if len(operation.steps) == 1 else f"{operation.name}: {step.name}"


def _row_name(operation: OperationPlan, step: Step) -> str:
    """What a step's rows are found under: an operation of one step has rows of its own alone."""
    return "" if len(operation.steps) == 1 else step.name


def steps_text(names: Sequence[str]) -> str:
    """Some of the steps, in a row."""
    shown = joined(", ", map(Verbatim, names[:_STEPS_NAMED]))
    left = len(names) - _STEPS_NAMED
    return shown if left <= 0 else message("{named} and {more} more", named=shown, more=left)


def _steps(work: OperationsWork) -> Iterator[tuple[OperationPlan, Step]]:
    return ((operation, step) for operation in work.operations for step in operation.steps)
