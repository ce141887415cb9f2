"""What shards and members had and did, from readings on both sides of a run, and whether they make up the whole."""

from typing import Any

import pytest

from brimline.analysis.distribution import distribution, distribution_finding
from brimline.analysis.finding import Standing
from brimline.report.distribution import distribution_document, distribution_section


def _reading(shard: str, address: str, *, inserts: int, cpu_ns: int, uptime_ms: int = 1_000, **more: Any) -> Any:
    operations = {"insert": inserts, "query": 5}
    return {
        "shard": shard,
        "address": address,
        "role": "standalone",
        "operations": operations,
        "cpu_ns": cpu_ns,
        "uptime_ms": uptime_ms,
        **more,
    }


def _facts(*, second_documents: int | None = 30, second_uptime_ms: int = 2_000) -> dict[str, Any]:
    return {
        "before": {
            "parts": [
                _reading("shard 1", "a:1", inserts=100, cpu_ns=1_000),
                _reading("shard 2", "b:1", inserts=200, cpu_ns=2_000),
            ]
        },
        "after": {
            "parts": [
                _reading("shard 1", "a:1", inserts=170, cpu_ns=8_000, uptime_ms=2_000, documents=70, data_bytes=700),
                _reading(
                    "shard 2",
                    "b:1",
                    inserts=230,
                    cpu_ns=5_000,
                    uptime_ms=second_uptime_ms,
                    documents=second_documents,
                    data_bytes=300,
                ),
            ]
        },
    }


def test_work_is_the_difference_of_two_readings() -> None:
    first, second = distribution(_facts())
    assert (first.documents, first.operation_count, first.cpu_ns) == (70, 70, 7_000)
    assert (second.documents, second.operation_count, second.cpu_ns) == (30, 30, 3_000)


def test_of_a_server_that_was_started_again_the_work_is_not_known() -> None:
    _, second = distribution(_facts(second_uptime_ms=10))
    assert (second.documents, second.operation_count, second.cpu_ns) == (30, None, None)


@pytest.mark.parametrize(
    ("documents", "second", "standing", "evidence"),
    [
        (100, 30, Standing.PASS, "70 + 30 documents on the shards are 100, 100 were counted"),
        (100, 29, Standing.FAIL, "70 + 29 documents on the shards are 99, 100 were counted"),
        (100, None, Standing.UNKNOWN, "not every shard says how many documents it has"),
    ],
)
def test_the_shards_make_up_the_whole(documents: int, second: int | None, standing: Standing, evidence: str) -> None:
    (finding,) = distribution_finding(distribution(_facts(second_documents=second)), documents=documents)
    assert (finding.verdict, finding.evidence) == (standing, evidence)


def test_members_of_one_set_hold_the_same_and_are_not_added_up() -> None:
    members = [
        _reading("", "a:1", inserts=9, cpu_ns=1, documents=9) | {"role": "primary"},
        _reading("", "b:1", inserts=0, cpu_ns=1, documents=8) | {"role": "secondary"},
    ]
    (only,) = distribution({"after": {"parts": members}})
    assert only.documents == 9
    assert distribution_finding([only], documents=9) == []


def test_a_router_speaks_for_shards_that_do_not_answer() -> None:
    parts = [
        {"shard": name, "address": f"{name}:{port}", "role": "", "documents": count}
        for name, count in (("east", 1), ("west", 2))
        for port in (1, 2)
    ]
    (finding,) = distribution_finding(distribution({"after": {"parts": parts}}), documents=3)
    assert finding.verdict is Standing.PASS


def test_the_table_has_a_row_for_each_server() -> None:
    (table,) = distribution_section(_facts()).blocks
    rows = [[cell.text for cell in row] for row in table.rows]  # type: ignore[union-attr]
    assert rows[0][:5] == ["shard 1", "a:1", "standalone", "70", "70 %"]
    assert rows[1][8:] == ["30", "30 %", "3.00 µs", "100 ns"]
    document = distribution_document(_facts())
    assert document is not None
    assert [each["operations"] for each in document] == [{"insert": 70, "query": 0}, {"insert": 30, "query": 0}]


def test_a_single_server_has_no_table() -> None:
    assert distribution_section({"after": {"collStats": {"count": 1}}}).blocks == []
    assert distribution_document({}) is None
