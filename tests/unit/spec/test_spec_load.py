"""Specs that are accepted: defaults, short forms, overrides, what is stored, the shipped workloads."""

from pathlib import Path

import pytest

from brimline.spec import LoadedSpec, Spec, load_spec, shipped_workloads, spec_schema
from brimline.spec.keys import HotspotKeys, LatestKeys, ZipfianKeys
from brimline.spec.lengths import ConstantLength, HistogramLength, UniformLength
from brimline.spec.load_models import ConstantLoad
from brimline.spec.target import WriteConcernSpec

S = 1_000_000_000
BASE = "data: {records: 1000}\noperations: {read: 1}\n"


def load(directory: Path, text: str, **overrides: object) -> LoadedSpec:
    path = directory / "my-load.yaml"
    path.write_bytes(text.encode())
    return load_spec(path, overrides={path.replace("__", "."): value for path, value in overrides.items()})


def test_defaults(tmp_path: Path) -> None:
    spec = load(tmp_path, BASE).spec
    assert spec.name == "my-load"
    assert (spec.seed, spec.connections, spec.threads) == (1, 32, 1)
    assert (spec.effective_warmup_ns, spec.effective_duration_ns, spec.operation_count) == (2 * S, 10 * S, None)
    assert spec.keys == ZipfianKeys(theta=0.99)
    assert (spec.data.fields, spec.data.field_length) == (10, ConstantLength(length=100))
    assert (spec.data.database, spec.data.collection) == ("ycsb", "usertable")
    assert spec.target.uri is None
    assert spec.slo.model_dump(exclude_none=True) == {}


def test_every_notation(tmp_path: Path) -> None:
    text = """
name: on
seed: 0xC0FFEE
data:
  records: 1M
  insert_start: 1_000
  field_length: {kind: histogram, weights: {10: 1, 1kB: 3}}
operations: {read: 95%, update: 5%}
keys: hotspot
scan_length: 50
load: {kind: constant, rate: 20k/s}
warmup: 0
duration: 1m30s
slo: {response_p99: 10ms, error_rate: 0.1%}
target: {uri: "mongodb://h/?journal=true&w=majority"}
"""
    spec = load(tmp_path, text).spec
    assert (spec.name, spec.seed) == ("on", 0xC0FFEE)
    assert (spec.data.records, spec.data.insert_start) == (1_000_000, 1000)
    assert spec.data.field_length == HistogramLength.model_validate({"weights": {10: 1, 1000: 3}})
    assert spec.operations.shares["read"] == 0.95
    assert spec.keys == HotspotKeys(data_fraction=0.2, operation_fraction=0.8)
    assert spec.scan_length == ConstantLength(length=50)
    assert spec.load == ConstantLoad(rate=20_000.0)
    assert (spec.warmup_ns, spec.duration_ns) == (0, 90 * S)
    assert (spec.slo.response_p99_ns, spec.slo.error_share) == (10_000_000, 0.001)
    assert spec.target.effective_write_concern == WriteConcernSpec(w="majority", journal=True)
    spec = load(tmp_path, text.replace("journal=true&w", "journal=true;w")).spec
    assert spec.target.effective_write_concern == WriteConcernSpec(w="majority", journal=True)


def test_a_range_of_lengths_may_hold_one(tmp_path: Path) -> None:
    text = f"{BASE}scan_length: {{kind: uniform, min: 5, max: 5}}\n"
    assert load(tmp_path, text).spec.scan_length == UniformLength(min=5, max=5)


def test_write_concern_may_be_short(tmp_path: Path) -> None:
    spec = load(tmp_path, BASE + "target: {write_concern: majority}").spec
    assert spec.target.effective_write_concern == WriteConcernSpec(w="majority")


def test_text_is_stored_byte_for_byte(tmp_path: Path) -> None:
    text = "\ufeff# mine \r\n" + BASE.replace("\n", "\r\n") + "name: own # by hand\r\ndescription: 订单  "
    assert load(tmp_path, text).text == text


@pytest.mark.parametrize(
    ("marked", "added"),
    [
        (f"\ufeff# mine \r\n\r\n@{BASE}# end", "name: my-load\n"),
        (f"\ufeff@{BASE}", "name: my-load\n"),
        (f"---\n@{BASE}...\n", "name: my-load\n"),
        ("  @data: {records: 9}\n  operations: {read: 1}", "name: my-load\n  "),
        ("# 负载\n{@data: {records: 9}, operations: {read: 1}}", '"name": "my-load", '),
        ('{@\n "data": {"records": 9},\n "operations": {"read": 1}}', '"name": "my-load", '),
        ("@? data\n: {records: 9}\noperations: {read: 1}", "name: my-load\n"),
        ("@'data': {records: 9}\noperations: {read: 1}", "name: my-load\n"),
    ],
)
def test_text_without_a_name_is_stored_with_that_of_its_file(tmp_path: Path, marked: str, added: str) -> None:
    """All else stays as it is. `marked` has an @ where the name belongs."""
    loaded = load(tmp_path, marked.replace("@", ""))
    assert loaded.text == marked.replace("@", added)
    again = tmp_path / "spec.yaml"
    again.write_bytes(loaded.text.encode())
    assert load_spec(again).spec == loaded.spec


@pytest.mark.parametrize("name", ["1", "no", "null", "0x1F", "2024-01-01", "_", "订单"])
def test_a_file_may_be_called_what_would_be_no_text(tmp_path: Path, name: str) -> None:
    file, again = tmp_path / f"{name}.yaml", tmp_path / "spec.yaml"
    for text in (BASE, "{data: {records: 9}, operations: {read: 1}}"):
        file.write_text(text)
        again.write_text(load_spec(file).text)
        assert load_spec(again).spec.name == name


def test_stored_text_has_no_password_and_says_so_when_read_again(tmp_path: Path) -> None:
    text = BASE + "target: {uri: 'mongodb://user:secret@host:1/'}\n"
    loaded = load(tmp_path, text)
    assert loaded.spec.target.uri is not None
    assert loaded.spec.target.uri.get_secret_value() == "mongodb://user:secret@host:1/"
    assert loaded.text == f"name: my-load\n{BASE}target: {{uri: 'mongodb://***@host:1/'}}\n"
    overridden = load(tmp_path, text, seed=2)
    assert "secret" not in overridden.text + repr(overridden.spec) + str(overridden.spec.to_document())


def test_overrides_replace_and_are_stored(tmp_path: Path) -> None:
    loaded = load(tmp_path, BASE + "keys: zipfian\n", data__records="1M", keys__theta=0.5, connections=None)
    assert loaded.spec.data.records == 1_000_000
    assert loaded.spec.keys == ZipfianKeys(theta=0.5)
    assert loaded.spec.connections == 32
    again = tmp_path / "again.yaml"
    again.write_text(loaded.text)
    assert load_spec(again).spec == loaded.spec


def test_an_end_given_by_override_replaces_the_other_end(tmp_path: Path) -> None:
    both = "duration: 10s\noperation_count: 500\n"
    spec = load(tmp_path, BASE + both).spec
    assert (spec.duration_ns, spec.operation_count) == (10 * S, 500)
    spec = load(tmp_path, BASE + both, duration="5s").spec
    assert (spec.duration_ns, spec.operation_count) == (5 * S, None)
    spec = load(tmp_path, BASE + both, operation_count="1k").spec
    assert (spec.effective_duration_ns, spec.operation_count) == (None, 1000)


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("ycsb-a", {"read": 0.5, "update": 0.5}),
        ("ycsb-b", {"read": 0.95, "update": 0.05}),
        ("ycsb-c", {"read": 1.0}),
        ("ycsb-d", {"read": 0.95, "insert": 0.05}),
        ("ycsb-e", {"scan": 0.95, "insert": 0.05}),
        ("ycsb-f", {"read": 0.5, "read_modify_write": 0.5}),
    ],
)
def test_shipped_workloads_are_ycsbs(name: str, shares: dict[str, float]) -> None:
    spec = load_spec(name).spec
    assert spec.name == name
    assert {operation: share for operation, share in spec.operations.shares.items() if share} == shares
    assert spec.keys == (LatestKeys(theta=0.99) if name == "ycsb-d" else ZipfianKeys(theta=0.99))
    assert spec.scan_length == UniformLength(min=1, max=100)
    assert (spec.data.fields, spec.data.field_length, spec.data.insert_order) == (
        10,
        ConstantLength(length=100),
        "hashed",
    )


def test_every_shipped_workload_is_accepted() -> None:
    templates = ["bulk-rows", "log-search", "order-service", "s2-scans"]
    assert shipped_workloads() == [*templates, *(f"ycsb-{letter}" for letter in "abcdef")]
    for name in shipped_workloads():
        assert load_spec(name).spec.description


def test_the_schema_knows_every_key() -> None:
    schema = spec_schema()
    assert schema["additionalProperties"] is False
    names = {field.alias or name for name, field in Spec.model_fields.items()}
    assert set(schema["properties"]) == names
    assert schema["properties"]["duration"]["anyOf"][0]["type"] == "string"
    assert schema["$defs"]["DataSpec"]["properties"]["records"]["type"] == ["integer", "string"]
