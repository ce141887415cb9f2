"""Templates: what may be said about fields, what it becomes, and what is refused where."""

from pathlib import Path
from typing import Any

import bson
import pytest

from brimline import _native
from brimline.errors import SpecError
from brimline.plan import NullTarget, collection_plan, load_plan, load_plans, resolve
from brimline.plan.rows import sample_row_bytes
from brimline.spec import Spec, load_spec, shipped_workloads
from brimline.spec.document import dump_document, parse_document
from brimline.spec.generators import ChoiceValue
from tests.support.explained_plan import explain


def spec(directory: Path, fields: str, more: str = "") -> Spec:
    path = directory / "spec.yaml"
    path.write_text(f"data: {{records: 10, fields: {fields}{more}}}\noperations: {{read: 1}}\n", "utf-8")
    return load_spec(path).spec


def test_short_forms_are_the_long_ones(tmp_path: Path) -> None:
    short = spec(tmp_path, "{a: int, b: {kind: text, parts: [x-, {kind: long}]}, c: {kind: string, length: 3}}")
    long = spec(
        tmp_path,
        "{a: {kind: int, min: 0, max: 2147483647}, "
        "b: {kind: text, parts: [{kind: constant, value: x-}, {kind: long, min: 0, max: 9223372036854775807}]}, "
        "c: {kind: string, length: {kind: constant, length: 3}, alphabet: alphanumeric}}",
    )
    assert short == long


@pytest.mark.parametrize("name", ["bulk-rows", "log-search", "order-service"])
def test_a_template_is_written_back_as_it_reads(name: str, tmp_path: Path) -> None:
    shipped = load_spec(name).spec
    path = tmp_path / "back.yaml"
    path.write_text(dump_document(shipped.to_document()), "utf-8")
    assert load_spec(path).spec == shipped


@pytest.mark.parametrize("name", shipped_workloads())
def test_no_document_is_larger_than_the_spec_says(name: str) -> None:
    data = load_spec(name).spec.data
    plan = load_plan(load_spec(name).spec, target=NullTarget())
    largest = max(map(len, _native.generate_documents(plan.canonical_json(), 0, 500)))
    assert largest <= data.document_bytes_max < 3 * largest


def test_shipped_templates_have_the_sizes_that_their_descriptions_say() -> None:
    rows = load_plan(load_spec("bulk-rows").spec, target=NullTarget())
    assert sample_row_bytes(rows.data, seed=1, form={"kind": "csv", "header": "none"}) == pytest.approx(280, rel=0.03)
    logs = load_plan(load_spec("log-search").spec, target=NullTarget())
    assert sample_row_bytes(logs.data, seed=1, form={"kind": "bson"}) == pytest.approx(600, rel=0.05)


def test_a_document_has_what_its_template_says() -> None:
    plan = load_plan(load_spec("order-service").spec, target=NullTarget())
    first, second = map(bson.decode, _native.generate_documents(plan.canonical_json(), 0, 2))
    assert (first["number"], second["number"]) == ("ORD-1000000", "ORD-1000001")
    assert (second["created"] - first["created"]).total_seconds() == 0.25
    assert first["customer"]["email"].endswith("@example.com") and len(first["address"]["postcode"]) == 6
    assert first["status"] in {"paid", "shipped", "delivered", "returned"}
    assert all(set(item) == {"sku", "quantity", "price"} and 1 <= item["quantity"] <= 9 for item in first["items"])


RICH = """
collections:
  customers:
    records: 50
    key_prefix: c
    fields:
      name: {kind: fake, what: name, language: zh}
      city: {kind: fake, what: city}
      at: {kind: point, min: [113.5, 29.9], max: [115.1, 31.4]}
      number: uuid
      id: object_id
  orders:
    records: 10
    fields:
      customer: {key_of: customers, keys: {kind: zipfian, theta: 0.9}}
      others: {kind: array, length: 3, of: {kind: document, fields: {c: {kind: key_of, of: customers, keys: uniform}}}}
      text: {kind: text, parts: [for-, {key_of: customers}, /, {kind: fake, what: word}]}
operations:
  find: {share: 1, find: {collection: orders, filter: {customer: $customer}}}
values: {customer: {key_of: customers}, other: {kind: key_of, of: customers, keys: hotspot}}
"""


def rich(directory: Path, text: str = RICH) -> Spec:
    path = directory / "rich.yaml"
    path.write_text(text, "utf-8")
    return load_spec(path).spec


def test_fields_have_keys_of_other_collections_and_texts_of_people(tmp_path: Path) -> None:
    shop = rich(tmp_path)
    customers, orders = load_plans(shop, target=NullTarget())
    keys = {bson.decode(each)["_id"] for each in _native.generate_documents(customers.canonical_json(), 0, 50)}
    order = bson.decode(_native.generate_documents(orders.canonical_json(), 0, 1)[0])
    assert order["customer"] in keys
    assert all(item["c"] in keys for item in order["others"])
    assert order["text"].removeprefix("for-").partition("/")[0] in keys
    customer = bson.decode(_native.generate_documents(customers.canonical_json(), 0, 1)[0])
    assert all(ord(character) > 0x3000 for character in customer["name"])
    assert customer["city"].isascii()
    assert customer["at"]["type"] == "Point"
    longitude, latitude = customer["at"]["coordinates"]
    assert 113.5 <= longitude <= 115.1
    assert 29.9 <= latitude <= 31.4
    assert customer["number"].as_uuid().version == 4
    assert isinstance(customer["id"], bson.ObjectId)


def test_documents_of_people_are_no_larger_than_the_spec_says(tmp_path: Path) -> None:
    shop = rich(tmp_path)
    for plan, shape in zip(load_plans(shop, target=NullTarget()), shop.shapes.values(), strict=True):
        largest = max(map(len, _native.generate_documents(plan.canonical_json(), 0, 500)))
        assert largest <= shape.document_bytes_max


def test_the_workload_resolves_the_same_collections_as_the_load(tmp_path: Path) -> None:
    shop = rich(tmp_path)
    _, orders = load_plans(shop, target=NullTarget())
    plan = resolve(shop, target=NullTarget())
    assert collection_plan(plan, 1).data == orders.data
    assert '"keys":{"kind":"zipfian","theta":0.9},"kind":"key_of","record_count":50' in orders.canonical_json()


def test_rich_templates_are_written_back_as_they_read(tmp_path: Path) -> None:
    shop = rich(tmp_path)
    assert rich(tmp_path, dump_document(shop.to_document())).shapes == shop.shapes


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        (
            "key_of: customers, keys: {kind: z",
            "key_of: custmers, keys: {kind: z",
            'customer.key_of: "custmers" is',
            "did",
        ),
        ("{kind: zipfian, theta: 0.9}", "latest", "orders.fields.customer: latest is about records", "write {kind"),
        ("0.9}", "0.9}, x: 1", "orders.fields.customer.x: unknown key", "known keys"),
        ("0.9}", "99}", "orders.fields.customer.keys.theta: must be in 0 to 10, but is 99", None),
        ("of: customers, keys: uniform", "of: nobody", 'others.of.fields.c.of: "nobody" is none', "known: customers"),
        ("of: customers, keys: hotspot", "of: nobody", 'values.other.of: "nobody" is none', "known: customers"),
        ("[113.5, 29.9]", "[29.9, 113.5]", "at.min: must be a longitude of -180 to 180", "the longitude stands first"),
        ("[113.5, 29.9]", "[120, 29.9]", "customers.fields.at: min is the south-western corner", "exchange"),
        (
            "[113.5, 29.9]",
            "wuhan",
            'at.min: must be longitude and latitude, not "wuhan"',
            "write it like [114.3, 30.6]",
        ),
        ("what: city", "what: citty", 'city.what: "citty" is no known value', 'did you mean "city"'),
        ("language: zh", "language: de", 'name.language: "de" is no known value', "en, zh"),
    ],
)
def test_what_can_t_be_of_people_is_refused_where_it_stands(
    old: str, new: str, message: str, hint: str | None, tmp_path: Path
) -> None:
    assert RICH.count(old) == 1 or old == "0.9}"
    with pytest.raises(SpecError) as caught:
        rich(tmp_path, RICH.replace(old, new))
    assert message in caught.value.message
    assert caught.value.line == 1 + RICH[: RICH.index(old)].count("\n")
    assert hint is None or hint in (caught.value.hint or "")


def test_plans_of_ycsbs_fields_say_nothing_of_templates() -> None:
    """So that such a plan is the same text, and has the same hash, as before there were templates."""
    assert "template" not in resolve(load_spec("ycsb-a").spec, target=NullTarget()).canonical_json()
    assert "template" in resolve(load_spec("bulk-rows").spec, target=NullTarget()).canonical_json()


def test_a_plan_names_its_fields_in_prose(tmp_path: Path) -> None:
    plan = resolve(spec(tmp_path, "{a: int, b: int}"), target=NullTarget())
    assert "10 documents in ycsb.usertable, 2 fields (a, b), about 520 B in all; keys hashed" in explain(plan)[2]


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        ("{a: {kind: intt}}", 'data.fields.a: "intt" is no known kind', 'did you mean "int"'),
        ("{a: {kind: int, mn: 3}}", "data.fields.a.mn: unknown key", 'did you mean "min"'),
        ("{a: {kind: int, min: 3, max: 1}}", "data.fields.a: min is above max", None),
        ("{a: {kind: int, max: 3G}}", "data.fields.a.max: must be in -2147483648 to 2147483647", None),
        ("{a.b: int}", 'data.fields: "a.b" can\'t name a field', "no '.'"),
        ("{a: {kind: document, fields: {b: {kind: nope}}}}", 'data.fields.a.fields.b: "nope" is no known', "kinds: "),
        ("{a: {kind: text, parts: [x, {kind: date}]}}", 'data.fields.a.parts[1]: "date" is no known kind', "kinds: "),
        ("{a: {kind: date, from: x, to: y}}", 'data.fields.a.from: must be a date, but is "x"', "write it like"),
        ("{a: {kind: clock, start: '2024-01-01'}}", "data.fields.a.every: is missing", "add every"),
        ("{_id: int}", "data.fields can't have _id", None),
        ("{a: {min: 3}}", "data.fields.a: needs a kind", "kinds: int"),
        ("{}", "data.fields: must have 1 to 10000 fields, but has 0", None),
        ("{a: {kind: choice, of: {x: 0}}}", "data.fields.a.of: needs a weight above 0", None),
        ("{a: {kind: string, alphabet: ''}}", "data.fields.a.alphabet: must have 1 to 1024 characters", None),
        ("{a: {kind: string, length: 20MB}}", "data.fields.a.length: must be in 0 to 16777216", None),
        (
            "{a: {kind: array, length: 1000, of: {kind: string, length: 20kB}}}",
            "documents reach 20011052 bytes, more than MongoDB's 16777216",
            "make fields fewer or shorter",
        ),
        ("{a: {key_of: users}}", "data.fields.a has keys of users, but data is the only collection", "as collections"),
        ("{a: int}, field_length: 9", "data.field_length has no effect", "leave field_length out"),
    ],
)
def test_what_can_t_be_is_refused_where_it_stands(fields: str, message: str, hint: str | None, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        spec(tmp_path, fields)
    assert message in caught.value.message
    assert caught.value.line == 1
    assert hint is None or hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("weights", "values"),
    [
        ("{true: 8, false: 2}", [True, False]),
        ("{200: 8, 2.5: 1, null: 1, 0x10: 1}", [200, 2.5, None, 16]),
        ('{"true": 8, "200": 1, paid: 1, on: 2}', ["true", "200", "paid", "on"]),
    ],
)
def test_what_has_a_weight_has_the_type_that_it_has_in_a_list(weights: str, values: list[Any]) -> None:
    """Booleans became texts without a word, and an update that set booleans gave the field both types."""
    text = f"a: {{kind: choice, of: {weights}}}"
    read = parse_document(text, "x").values
    choice = ChoiceValue.model_validate(read["a"])
    assert [(type(value), value) for value, _ in choice.of] == [(type(value), value) for value in values]
    for again in (read, {"a": choice.model_dump()}):
        assert ChoiceValue.model_validate(parse_document(dump_document(again), "y").values["a"]) == choice


def test_two_values_that_are_one_have_no_two_weights() -> None:
    read = parse_document("a: {kind: choice, of: {1: 8, true: 2}}", "x").values
    with pytest.raises(ValueError, match=r"weighs 1 and 1\.0, or true and 1"):
        ChoiceValue.model_validate(read["a"])
