from typing import Any

import pytest
from bson import ObjectId

from brimline.init.collection_entry import reference_value
from brimline.init.live_collection import LiveCollection
from brimline.init.references import Reference, find_references, names_speak_of
from brimline.init.yaml_text import plain
from tests.unit.init.live import live

KEYS = [ObjectId() for _ in range(40)]
CUSTOMERS = live("customers", [{"_id": key} for key in KEYS])


def _found(*collections: LiveCollection) -> list[Reference]:
    keys = {each.name: set(each.id_shape.distinct) for each in collections}
    return find_references(
        collections, lambda name, asked: sum(key in keys[name] for key in asked) / max(len(set(asked)), 1)
    )


def test_values_that_are_keys_of_another_collection_are_references() -> None:
    orders = live(
        "orders", [{"_id": number, "buyer": {"who": KEYS[number % 40]}, "other": ObjectId()} for number in range(100)]
    )
    [found] = _found(CUSTOMERS, orders)
    assert (found.collection, found.path, found.target, found.found) == ("orders", "buyer.who", "customers", 1.0)
    assert plain(reference_value(found)) == {"key_of": "customers", "keys": {"kind": "uniform"}}


@pytest.mark.parametrize(("name", "is_one"), [("product_id", True), ("quantity", False)])
def test_numbers_need_a_name_that_speaks_of_the_collection(name: str, is_one: bool) -> None:
    products = live("products", [{"_id": number} for number in range(100)])
    orders = live("orders", [{"_id": f"order{number}", name: number % 5 + 1} for number in range(100)])
    assert bool(_found(products, orders)) is is_one


def test_values_that_are_mostly_no_keys_are_no_references() -> None:
    orders = live("orders", [{"_id": 1, "customer": KEYS[0]}, {"_id": 2, "customer": ObjectId()}])
    assert _found(CUSTOMERS, orders) == []


@pytest.mark.parametrize(
    ("path", "collection", "speaks"),
    [
        ("customer", "customers", True),
        ("customer_id", "customers", True),
        ("a.customerId", "Customers", True),
        ("category", "categories", True),
        ("box", "boxes", True),
        ("id", "customers", False),
        ("quantity", "customers", False),
    ],
)
def test_names(path: str, collection: str, speaks: bool) -> None:
    assert names_speak_of(path, collection) is speaks


def test_array_items_refer_too() -> None:
    orders: list[dict[str, Any]] = [{"_id": number, "friends": KEYS[:3]} for number in range(10)]
    assert [each.path for each in _found(CUSTOMERS, live("people", orders))] == ["friends"]
