"""What servers answer to explain, from 4.4 to 8.x, one of them or several behind mongos: shapes as they are sent."""

from typing import Any

import pytest

from brimline.analysis.explained import broken_expectations, explained
from brimline.spec.expected_plan import parse_expected_plan

COUNTS = {"nReturned": 100, "executionTimeMillis": 7, "totalKeysExamined": 120, "totalDocsExamined": 110}
INDEX_SCAN = {"stage": "IXSCAN", "keyPattern": {"time": 1}, "indexName": "time_1"}
CLASSIC = {
    "queryPlanner": {"winningPlan": {"stage": "SORT", "inputStage": {"stage": "FETCH", "inputStage": INDEX_SCAN}}},
    "executionStats": {**COUNTS, "executionStages": {"stage": "SORT"}},
}
SLOT_BASED = {
    "explainVersion": "2",
    "queryPlanner": {
        "winningPlan": {
            "queryPlan": {"stage": "FETCH", "planNodeId": 2, "inputStage": {**INDEX_SCAN, "planNodeId": 1}},
            "slotBasedPlan": {"slots": "", "stages": "[2] nlj …"},
        }
    },
    "executionStats": {**COUNTS, "executionStages": {"stage": "nlj", "outerStage": {"stage": "ixseek"}}},
}
PIPELINE = {
    "stages": [
        {"$cursor": CLASSIC, "nReturned": 100},
        {"$group": {"_id": "$level"}, "nReturned": 4},
        {"$sort": {"sortKey": {"n": 1}}, "nReturned": 4},
    ]
}
ALTERNATIVES = {
    "queryPlanner": {
        "winningPlan": {
            "stage": "SUBPLAN",
            "inputStage": {
                "stage": "FETCH",
                "inputStage": {
                    "stage": "OR",
                    "inputStages": [INDEX_SCAN, {"stage": "IXSCAN", "keyPattern": {"_id": 1}, "indexName": "_id_"}],
                },
            },
        }
    },
    "executionStats": COUNTS,
}
EXPRESS = {
    "queryPlanner": {"winningPlan": {"isCached": False, "stage": "EXPRESS_IXSCAN", "keyPattern": "{ _id: 1 }"}},
    "executionStats": {"nReturned": 1, "executionTimeMillis": 0, "totalKeysExamined": 1, "totalDocsExamined": 1},
}
SHARDED_FIND = {
    "queryPlanner": {
        "winningPlan": {
            "stage": "SHARD_MERGE",
            "shards": [
                {"shardName": "a", "winningPlan": {"stage": "FETCH", "inputStage": INDEX_SCAN}},
                {"shardName": "b", "winningPlan": {"stage": "FETCH", "inputStage": INDEX_SCAN}},
            ],
        }
    },
    "executionStats": {**COUNTS, "executionStages": {"stage": "SHARD_MERGE", "shards": []}},
}
SHARDED_AGGREGATE = {
    "mergeType": "mongos",
    "splitPipeline": {"shardsPart": [{"$group": {}}], "mergerPart": [{"$group": {"$doingMerge": True}}]},
    "shards": {"a": PIPELINE, "b": CLASSIC},
}


@pytest.mark.parametrize(
    ("answer", "summary", "counts"),
    [
        (CLASSIC, "SORT ← FETCH ← IXSCAN {time: 1}", (120, 110, 100, 7)),
        (SLOT_BASED, "FETCH ← IXSCAN {time: 1}", (120, 110, 100, 7)),
        (PIPELINE, "$sort ← $group ← SORT ← FETCH ← IXSCAN {time: 1}", (120, 110, 4, 7)),
        (ALTERNATIVES, "SUBPLAN ← FETCH ← OR ← IXSCAN {time: 1} ← IXSCAN {_id: 1}", (120, 110, 100, 7)),
        (EXPRESS, "EXPRESS_IXSCAN {_id: 1}", (1, 1, 1, 0)),
        (SHARDED_FIND, "SHARD_MERGE ← FETCH ← IXSCAN {time: 1}", (120, 110, 100, 7)),
        # What the merging part returns is not told.
        (SHARDED_AGGREGATE, "$group ← $sort ← SORT ← FETCH ← IXSCAN {time: 1}", (240, 220, None, 7)),
        ({}, "unknown", (None, None, None, None)),
        ({"stages": []}, "unknown", (None, None, None, None)),
    ],
)
def test_shapes(answer: dict[str, Any], summary: str, counts: tuple[int | None, ...]) -> None:
    found = explained(answer)
    assert found.summary == summary
    assert (found.keys_examined, found.documents_examined, found.returned, found.execution_ms) == counts


@pytest.mark.parametrize(
    ("words", "broken"),
    [
        ("IXSCAN {time: 1}", []),
        ("IXSCAN", []),
        ("IXSCAN time_1", []),
        ("no COLLSCAN, FETCH", []),
        ("IXSCAN {time: -1}", ["IXSCAN {time: -1}"]),
        ("COLLSCAN", ["COLLSCAN"]),
        ("IXSCAN {time: 1}, no SORT", ["no SORT"]),
        ("no IXSCAN {level: 1}", []),
    ],
)
def test_expectations(words: str, broken: list[str]) -> None:
    found = broken_expectations(explained(CLASSIC), parse_expected_plan(words))
    assert [stage.text for stage in found] == broken


def test_entries_are_keys_or_documents_whichever_are_more() -> None:
    assert explained(CLASSIC).entries == 120
    assert explained({"executionStats": {"totalDocsExamined": 9, "totalKeysExamined": 0}}).entries == 9
    assert explained({}).entries is None
