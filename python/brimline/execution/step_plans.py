"""Owns what the server says of how it executes each step: asked before a run and after it, never during it.

Source: MongoDB's manual on explain's results. Their form differs between versions, engines and deployments, so that
stages are looked for wherever they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from pymongo.errors import OperationFailure

from brimline.dataset.access import DataDatabase, target_errors
from brimline.errors import TargetError, UsageError
from brimline.execution.database import database_named
from brimline.execution.step_commands import EXPLAINABLE, StepCommand, explain, step_commands
from brimline.plan import Plan
from brimline.record.plans import NO_PLAN
from brimline.servers import Deployment
from brimline.servers.answers import Unkeepable, plain

_LIMIT_MS = 10_000
"""A read that takes longer is not executed to see what it takes."""
_COMMAND_LENGTH_MAX = 16 * 1024
_NOT_ABOUT_PLANS = frozenset({"command", "serverInfo", "serverParameters", "rejectedPlans"})
_SOURCES = (
    "winningPlan",
    "inputStage",
    "inputStages",
    "outerStage",
    "innerStage",
    "thenStage",
    "elseStage",
    "queryPlan",
    "shards",
)
_SORTS = ("SORT", "sort", "$sort")
_MADE = ("GROUP", "group", "$group", "UNWIND", "unwind", "$unwind", "$bucketAuto")
"""Stages that pass on others than what is stored, which no index has in order."""


def look_at_plans(plan: Plan, deployment: Deployment | None) -> list[dict[str, Any]]:
    """A `record.plans.StepPlan` for each step; what the server doesn't say is None. None without a server."""
    if deployment is None:
        return []
    found = []
    with ExitStack() as stack, suppress(TargetError, UsageError):
        databases: dict[str, DataDatabase] = {}
        for each in step_commands(plan):
            if each.step.transaction == "commit":
                continue
            name = each.step.database
            if name not in databases:
                databases[name] = stack.enter_context(database_named(name, deployment))
            found.append(_look(databases[name], each, may_execute=not deployment.shards))
    return found


def _look(database: DataDatabase, asked: StepCommand, *, may_execute: bool) -> dict[str, Any]:
    """`may_execute`: the server that is asked has all documents, and not only those of a shard."""
    told: dict[str, Any] = dict(NO_PLAN)
    if asked.name in EXPLAINABLE:
        # With null in place of what replies bring it would find what no step of the run finds.
        is_executed = may_execute and asked.is_read and not asked.has_saved
        for verbosity in ("executionStats", "queryPlanner") if is_executed else ("queryPlanner",):
            with target_errors("asking how the steps are executed"):
                try:
                    answer = explain(database, asked.statements[0], verbosity=verbosity, limit_ms=_LIMIT_MS)
                except OperationFailure:
                    continue  # it takes too long, or it can't be asked
            told = read_explain(answer)
            break
    return {
        "operation": asked.operation,
        "step": asked.step.name,
        "command": _kept(asked.command),
        "has_null": asked.has_saved,
        **told,
    }


def _kept(command: Mapping[str, Any]) -> Any:
    try:
        return plain(command, length_max=_COMMAND_LENGTH_MAX)
    except Unkeepable as error:
        return f"{next(iter(command), '')}: {error}"


def read_explain(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What explain's result says, of all shards together."""
    plans = [list(_stages(planner.get("winningPlan"))) for planner in _found(answer, "queryPlanner")]
    stages = [stage for plan in plans for stage in plan]
    pipeline = [next(iter(stage), "") for stage in _pipelines(answer)]
    names = list(dict.fromkeys([str(stage["stage"]) for stage in stages] + [n for n in pipeline if n != "$cursor"]))
    sorts = any(name in _SORTS for name in names)
    runs = list(_found(answer, "executionStats"))
    return {
        "plan_summary": ", ".join(dict.fromkeys(filter(None, map(_summary, stages)))) or None,
        "index_names": list(dict.fromkeys(str(stage["indexName"]) for stage in stages if "indexName" in stage)),
        "stage_names": names,
        "keys_examined": _total(runs, "totalKeysExamined"),
        "docs_examined": _total(runs, "totalDocsExamined"),
        "n_returned": _returned(answer, runs),
        "in_memory_sort": sorts if stages or pipeline else None,
        "index_could_sort": _index_could_sort(plans, pipeline) if sorts else None,
        "sort_used_disk": _sort_used_disk(answer) if sorts else None,
        "collection_scan": any(name == "COLLSCAN" for name in names) if stages or pipeline else None,
    }


def _index_could_sort(plans: Sequence[Sequence[Mapping[str, Any]]], pipeline: Sequence[str]) -> bool:
    """Whether any sort is of what is stored. Of a plan its stages stand from the outermost on."""
    by_plan = [[str(stage["stage"]) for stage in reversed(plan)] for plan in plans]
    is_made = any(name in _MADE for names in by_plan for name in names)
    return any(map(_sorts_what_is_stored, by_plan)) or (not is_made and _sorts_what_is_stored(pipeline))


def _sorts_what_is_stored(names: Sequence[str]) -> bool:
    """Whether a sort comes before the first stage that makes others, in the order in which documents pass them.

    The pipelines of several shards follow one another.
    """
    made = False
    for name in names:
        made = (made and name != "$cursor") or name in _MADE
        if name in _SORTS and not made:
            return True
    return False


def _sort_used_disk(answer: Any) -> bool | None:
    """Whether a sort that was executed went to disk; None where none was."""
    if isinstance(answer, list):
        told = [_sort_used_disk(each) for each in answer]
    elif isinstance(answer, Mapping):
        told = [_sort_used_disk(each) for name, each in answer.items() if name not in _NOT_ABOUT_PLANS]
        if (answer.get("stage") in _SORTS or "$sort" in answer) and isinstance(answer.get("usedDisk"), bool):
            told.append(answer["usedDisk"])
    else:
        return None
    known = [each for each in told if each is not None]
    return any(known) if known else None


def _stages(plan: Any) -> Iterator[Mapping[str, Any]]:
    """The stages of a winning plan, from the outermost on."""
    for each in plan if isinstance(plan, list) else [plan]:
        if not isinstance(each, Mapping):
            continue
        if isinstance(each.get("stage"), str):
            yield each
        for source in _SOURCES:
            if source in each:
                yield from _stages(each[source])


def _pipelines(answer: Any) -> Iterator[Mapping[str, Any]]:
    """The stages of an aggregation that its source doesn't do."""
    if isinstance(answer, Mapping):
        yield from _listed(answer.get("stages"))
        shards = answer.get("shards")
        if isinstance(shards, Mapping):
            for each in shards.values():
                yield from _pipelines(each)


def _found(answer: Any, wanted: str) -> Iterator[Mapping[str, Any]]:
    """All that has this name, wherever it is, but for what is inside of such."""
    if isinstance(answer, Mapping):
        for name, value in answer.items():
            if name == wanted and isinstance(value, Mapping):
                yield value
            elif name not in _NOT_ABOUT_PLANS:
                yield from _found(value, wanted)
    elif isinstance(answer, list):
        for each in answer:
            yield from _found(each, wanted)


def _returned(answer: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> int | None:
    """Documents that the last stage of a pipeline passed on, else those of the query."""
    last = list(_pipelines(answer))[-1:]
    if last and isinstance(last[0].get("nReturned"), int):
        return int(last[0]["nReturned"])
    return _total(runs, "nReturned")


def _total(runs: Sequence[Mapping[str, Any]], name: str) -> int | None:
    found = [int(each[name]) for each in runs if isinstance(each.get(name), int)]
    return sum(found) if found else None


def _summary(stage: Mapping[str, Any]) -> str:
    """A stage that reads, as the server's log has it: `IXSCAN { customer: 1 }`."""
    name, keys = str(stage["stage"]), stage.get("keyPattern")
    if isinstance(keys, Mapping):
        return f"{name} {{ {', '.join(f'{field}: {_order(order)}' for field, order in keys.items())} }}"
    return name if name in ("COLLSCAN", "IDHACK", "EOF", "CLUSTERED_IXSCAN", "COUNT", "TEXT_MATCH") else ""


def _order(order: Any) -> str:
    return f'"{order}"' if isinstance(order, str) else str(int(order) if isinstance(order, float) else order)


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
