from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from bson import ObjectId

from brimline.init.live_collection import LiveCollection
from brimline.init.observed import Observed
from brimline.init.operations import OPERATIONS_MAX, Operations, key_laws, seen_operations
from brimline.init.references import Reference
from brimline.init.step_writer import StepWriter
from brimline.init.workload_text import Source, workload_text
from brimline.init.yaml_text import plain
from tests.unit.init.live import live
from tests.unit.init.observing import AT_S, aggregate, find, grouped, update

KEYS = [ObjectId() for _ in range(100)]
ORDERS = live(
    "orders",
    [
        {
            "_id": KEYS[number],
            "customer": f"customer{number:05}",
            "sku": f"sku-{number:04}",
            "at": datetime(2024, 1, 1) + timedelta(hours=number),
            "total": number * 1.25,
            "status": ["OPEN", "DONE"][number % 2],
            "items": [{"sku": "s", "n": 2}],
        }
        for number in range(100)
    ],
)
CUSTOMERS = live("customers", [{"_id": f"customer{number:05}"} for number in range(100)])
REFERENCE = Reference(collection="orders", path="customer", target="customers", found=1.0, popularity=None)


def _seen(
    commands: Sequence[Observed], *, loaded: bool = True, only_slow: bool = False
) -> tuple[Operations, StepWriter]:
    collections: list[LiveCollection] = [ORDERS, CUSTOMERS]
    writer = Source(database="shop", live=collections, references=[REFERENCE], loaded=loaded).writer()
    groups, observations = grouped(commands, only_slow=only_slow)
    observations.first_s, observations.last_s = AT_S, AT_S + 100
    writer.values.laws.update(key_laws(groups, writer))
    return seen_operations(groups, observations, writer), writer


def _step(command: Observed, *more: Observed, loaded: bool = True) -> dict[str, Any]:
    operations, _ = _seen([command, *more], loaded=loaded)
    [operation] = operations.operations.values()
    return {name: value for name, value in plain(operation).items() if name != "share"}


def test_keys_and_references_are_keys_of_what_is_loaded_and_rows_of_what_exists() -> None:
    command = find({"_id": KEYS[0], "customer": "customer00001"}, limit=5)
    made = {"collection": "orders", "limit": 5}
    assert _step(command) == {"find": made | {"filter": {"_id": "$key_of_orders", "customer": "$key_of_customers"}}}
    there = {"_id": "$known_orders._id", "customer": "$known_orders.customer"}
    assert _step(command, loaded=False) == {"find": made | {"filter": there}}


def test_other_fields_are_those_of_one_row_and_a_second_use_is_of_another() -> None:
    made = _step(find({"sku": "sku-0001", "$or": [{"status": "OPEN"}, {"status": "DONE"}]}))
    assert made["find"]["filter"] == {
        "sku": "$known_orders.sku",
        "$or": [{"status": "$known_orders.status"}, {"status": "$known_orders_2.status"}],
    }


def test_a_span_begins_at_a_row_and_is_as_long_as_the_median() -> None:
    made = _step(
        find({"at": {"$gte": datetime(2024, 1, 1), "$lt": datetime(2024, 1, 8)}, "total": {"$gt": 5.0, "$lte": 25.0}})
    )
    assert made["find"]["filter"] == {
        "at": {"$gte": "$known_orders.at", "$lt": {"$value": {"date_add": {"date": "$known_orders.at", "by": "7d"}}}},
        "total": {"$gt": "$known_orders.total", "$lte": {"$value": {"add": ["$known_orders.total", 20]}}},
    }


def test_bounds_that_are_no_distance_apart_have_no_span() -> None:
    made = _step(find({"total": {"$gte": float("nan"), "$lt": 25.0}, "at": {"$lt": float("inf"), "$gte": 1.0}}))
    assert made["find"]["filter"]["total"] == {"$gte": "$known_orders.total", "$lt": "$known_orders.total"}


def test_a_date_so_long_ago_moves_with_the_clock() -> None:
    commands = [
        find({"at": {"$gte": datetime.fromtimestamp(AT_S + second - 3 * 86_400, UTC)}}, at_s=AT_S + second)
        for second in range(20)
    ]
    assert _step(*commands)["find"]["filter"] == {
        "at": {"$gte": {"$value": {"date_add": {"date": "$now", "by": "-3d"}}}}
    }
    constant = [find({"at": {"$gte": datetime(2023, 11, 10)}}, at_s=AT_S + second) for second in range(20)]
    assert _step(*constant)["find"]["filter"] == {"at": {"$gte": "$known_orders.at"}}


def test_lists_are_as_long_as_the_median() -> None:
    made = _step(find({"_id": {"$in": KEYS[:20]}, "sku": {"$in": ["a", "b"]}, "status": {"$in": ["x"] * 9}}))["find"][
        "filter"
    ]
    keys = {"key_of": "orders", "keys": {"kind": "uniform"}}
    assert made["_id"] == {"$in": {"$value": {"kind": "array", "length": 20, "of": keys}}}
    assert made["sku"] == {"$in": ["$known_orders.sku", "$known_orders_2.sku"]}
    assert made["status"]["$in"]["$value"]["length"] == 9


def test_new_values_are_made_by_the_field_and_now_is_now() -> None:
    made = _step(
        update(
            {"_id": KEYS[0]},
            {
                "$set": {"total": 3.5, "at": datetime.fromtimestamp(AT_S, UTC)},
                "$inc": {"n": -1},
                "$push": {"items": {"sku": "x", "n": 1}},
            },
        )
    )
    changed = made["update"]["update"]
    assert changed["$set"] == {
        "total": {"$value": {"kind": "double", "min": 0.0, "max": 200.0, "decimals": 2}},
        "at": "$now",
    }
    assert changed["$inc"] == {"n": -1}
    assert changed["$push"]["items"]["$value"]["kind"] == "document"


def test_inserts_take_the_next_record_or_a_document_as_another_is() -> None:
    command = Observed(
        database="shop", collection="orders", kind="insert", body={"insert": "orders"}, documents=25, at_s=AT_S
    )
    assert _step(command) == {"insert": {"collection": "orders", "document": "$new_orders", "count": 25}}
    document = _step(command, loaded=False)["insert"]["document"]
    assert document == {name: f"$other_orders.{name}" for name in ("customer", "sku", "at", "total", "status", "items")}


def test_regular_expressions_are_of_a_value_that_exists() -> None:
    made = _step(find({"sku": {"$regex": "^sku-00"}}))["find"]["filter"]
    part = {"substring": {"of": "$known_orders.sku", "start": 0, "length": 6}}
    assert made == {"sku": {"$regex": {"$value": {"concat": ["^", part]}}}}


def test_paths_and_variables_of_a_pipeline_have_a_dollar_more() -> None:
    made = _step(
        aggregate({"$match": {"status": "OPEN"}}, {"$group": {"_id": "$customer", "all": {"$push": "$$ROOT"}}})
    )
    assert made["aggregate"]["pipeline"] == [
        {"$match": {"status": "$known_orders.status"}},
        {"$group": {"_id": "$$customer", "all": {"$push": "$$$ROOT"}}},
    ]


def test_shares_rates_and_names() -> None:
    operations, _ = _seen([find({"sku": "a"})] * 3000 + [find({"status": "a"})] * 999 + [find({"read": 1})])
    shares = [plain(each)["share"] for each in operations.operations.values()]
    assert list(operations.operations) == ["find_orders_by_sku", "find_orders_by_status", "find_orders_by_read"]
    assert sum(float(share.removesuffix("%")) for share in shares) == 100.0
    assert operations.rate_ops_per_s == 40.0


def test_of_slow_operations_the_rate_is_not_offered_and_that_is_said() -> None:
    operations, _ = _seen([find({"sku": "a"})] * 100, only_slow=True)
    assert operations.rate_ops_per_s is None
    assert "slow operations only" in " ".join(operations.notes)


def test_what_is_beyond_the_operations_of_a_workload_is_listed() -> None:
    operations, _ = _seen([find({f"field{number}": 1}) for number in range(OPERATIONS_MAX + 5)])
    assert len(operations.operations) == OPERATIONS_MAX
    assert operations.not_taken == ["5 rarer shapes beyond 64 operations: 5 times"]


def test_the_popularity_of_keys_comes_from_those_that_were_asked_for() -> None:
    weights = np.arange(1, 101, dtype=np.float64) ** -1.0
    drawn = np.random.default_rng(3).choice(100, 2000, p=weights / weights.sum())
    _, writer = _seen([find({"_id": KEYS[number]}) for number in drawn])
    law = writer.values.laws["orders"]
    assert law.low <= 1.0 <= law.high
    definition = writer.values.definitions()["key_of_orders"]
    assert definition.value["keys"]["kind"] == "zipfian"
    assert "95 % interval" in definition.beside


def test_a_workload_that_would_be_too_long_keeps_the_frequent_operations() -> None:
    wide = {f"field{number:03}_{'x' * 400}": 1 for number in range(20)}
    commands = [
        replace(find({**wide, f"only{number}": 1}), times=OPERATIONS_MAX - number) for number in range(OPERATIONS_MAX)
    ]
    operations, writer = _seen(commands)
    text = workload_text(Source(database="shop", live=[ORDERS]), operations, writer.values)
    assert len(text.encode()) <= 256 * 1024
    assert "find_orders_by_field000" in text
    assert 1 < text.count("share:") < OPERATIONS_MAX


def test_a_value_within_an_array_is_that_of_an_item() -> None:
    tagged = live("orders", [{"_id": 1, "tags": ["a", "b"], "lines": [{"sku": "x"}], "deep": [[1]], "plain": {"a": 1}}])
    for path, column, found in [
        ("tags", "tags", "tags.0"),
        ("lines.sku", "lines", "lines.0.sku"),
        ("lines.1.sku", "lines", "lines.1.sku"),
        ("deep", "deep", "deep.0.0"),
        ("plain.a", "plain.a", "plain.a"),
        ("missing.a", "missing.a", "missing.a"),
        ("1", "1", "1"),
    ]:
        assert tagged.route(path) == (column, found)
    made = _step(find({"items.sku": "s"}))
    assert made["find"]["filter"] == {"items.sku": "$known_orders.items.0.sku"}


def test_fields_that_few_documents_have_are_of_rows_of_their_own() -> None:
    mixed = live(
        "orders", [{"_id": number, "all": 1, **({"few": 1} if number < 2 else {"many": 1})} for number in range(20)]
    )
    writer = Source(database="shop", live=[mixed], loaded=False).writer()
    groups, observations = grouped([find({"all": 1}), find({"few": 1, "all": 1}), find({"many": 1})])
    operations = seen_operations(groups, observations, writer)
    filters = [plain(each)["find"]["filter"] for each in operations.operations.values()]
    assert filters == [
        {"all": "$known_orders.all"},
        {"few": "$known_orders_all_few.few", "all": "$known_orders_all_few.all"},
        {"many": "$known_orders.many"},
    ]
