"""Owns what a server's `explain` says: the stages of the plan, and how many keys and documents it went through.

Read are the answers of 4.4 to 8.x to `explain` with `executionStats`: classic plans; those of the slot-based engine,
whose readable plan is in `queryPlan`; aggregates, whole or behind a `$cursor`; what mongos puts together of its shards.
Source: <https://www.mongodb.com/docs/manual/reference/explain-results/>.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brimline.spec.expected_plan import ExpectedStage, key_pattern_text, normal_key_pattern

_CHILDREN = ("inputStage", "inputStages", "outerStage", "innerStage", "thenStage", "elseStage", "shards", "queryPlan")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStage:
    """One stage. `keys` is the index's key pattern and `index` its name, "" for a stage without an index."""

    name: str
    keys: str = ""
    index: str = ""

    @property
    def text(self) -> str:
        """`IXSCAN {time: 1}`."""
        return " ".join(part for part in (self.name, self.keys or self.index) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """The plan that won, from the last stage to the first, and its counters; None where the server doesn't say.

    `execution_ms` is the server's own time in whole ms.
    """

    stages: tuple[PlanStage, ...]
    keys_examined: int | None
    documents_examined: int | None
    returned: int | None
    execution_ms: int | None

    @property
    def summary(self) -> str:
        """`SORT ← FETCH ← IXSCAN {time: 1}`; stages that shards have in common are named once."""
        return " ← ".join(dict.fromkeys(stage.text for stage in self.stages)) or "unknown"

    @property
    def entries(self) -> int | None:
        """What was gone through: keys of an index, or documents of a collection, whichever is more."""
        known = [count for count in (self.keys_examined, self.documents_examined) if count is not None]
        return max(known, default=None)


def explained(answer: Mapping[str, Any]) -> Explained:
    """Reads an answer to `explain`; what is not there is None, and a plan in no known form has no stages."""
    shards = answer.get("shards")
    if isinstance(shards, Mapping):
        return _of_shards(list(shards.values()), answer)
    pipeline = answer.get("stages")
    if isinstance(pipeline, Sequence) and pipeline and isinstance(pipeline[0], Mapping):
        return _of_pipeline(pipeline)
    return _of_query(answer)


def broken_expectations(plan: Explained, expected: Sequence[ExpectedStage]) -> list[ExpectedStage]:
    """Those of the expected stages that are not there, or are and should not be."""
    return [stage for stage in expected if any(_fits(found, stage) for found in plan.stages) is stage.absent]


def _fits(found: PlanStage, wanted: ExpectedStage) -> bool:
    if found.name != wanted.stage:
        return False
    return not wanted.index or wanted.index in (found.keys, found.index)


def _of_query(answer: Mapping[str, Any]) -> Explained:
    statistics = _mapping(answer, "executionStats")
    return Explained(
        stages=tuple(_stages(_mapping(_mapping(answer, "queryPlanner"), "winningPlan"))),
        keys_examined=_count(statistics, "totalKeysExamined"),
        documents_examined=_count(statistics, "totalDocsExamined"),
        returned=_count(statistics, "nReturned"),
        execution_ms=_count(statistics, "executionTimeMillis"),
    )


def _of_pipeline(pipeline: Sequence[Mapping[str, Any]]) -> Explained:
    """`stages`: the first holds what was asked of the collection, the last what came out."""
    cursor = _of_query(_mapping(pipeline[0], "$cursor") or _mapping(pipeline[0], "$geoNearCursor"))
    later = [PlanStage(name=_stage_name(stage)) for stage in pipeline[1:]]
    last = _count(pipeline[-1], "nReturned")
    return Explained(
        stages=(*reversed(later), *cursor.stages),
        keys_examined=cursor.keys_examined,
        documents_examined=cursor.documents_examined,
        returned=last if last is not None else (cursor.returned if len(pipeline) == 1 else None),
        execution_ms=cursor.execution_ms,
    )


def _of_shards(parts: Sequence[Any], answer: Mapping[str, Any]) -> Explained:
    """An aggregate through mongos: what the shards did adds up, what the merging part returned is not told."""
    each = [explained(part) for part in parts if isinstance(part, Mapping)]
    merging = _mapping(answer, "splitPipeline").get("mergerPart")
    merged = [PlanStage(name=_stage_name(stage)) for stage in merging or () if isinstance(stage, Mapping)]
    return Explained(
        stages=(*reversed(merged), *(stage for part in each for stage in part.stages)),
        keys_examined=_sum([part.keys_examined for part in each]),
        documents_examined=_sum([part.documents_examined for part in each]),
        returned=None if merged else _sum([part.returned for part in each]),
        execution_ms=max((part.execution_ms for part in each if part.execution_ms is not None), default=None),
    )


def _stages(node: Mapping[str, Any]) -> Iterator[PlanStage]:
    """A plan's stages, each before those that feed it."""
    name = node.get("stage")
    if isinstance(name, str):
        yield PlanStage(name=name, keys=_key_pattern(node.get("keyPattern")), index=str(node.get("indexName", "")))
    elif "winningPlan" in node:  # a shard of a find
        yield from _stages(_mapping(node, "winningPlan"))
    for child in _CHILDREN:
        inner = node.get(child)
        for each in inner if isinstance(inner, Sequence) else (inner,):
            if isinstance(each, Mapping):
                yield from _stages(each)


def _key_pattern(value: Any) -> str:
    if isinstance(value, Mapping):
        return key_pattern_text(value)
    return normal_key_pattern(value) if isinstance(value, str) and value else ""


def _stage_name(stage: Mapping[str, Any]) -> str:
    return next((name for name in stage if name.startswith("$")), "unknown")


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, Mapping) else {}


def _count(value: Mapping[str, Any], key: str) -> int | None:
    count = value.get(key)
    return int(count) if isinstance(count, int | float) and not isinstance(count, bool) else None


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) and known else None
