"""Numbers at the edges in specs, properties and options: a spec, or one error about it."""

import itertools
import json
import math
from pathlib import Path
from typing import get_args

import pytest
import yaml

from brimline.errors import BrimlineError
from brimline.plan import NullTarget, resolve
from brimline.spec import generators, load_spec

EDGES = (
    ".inf", "-.inf", ".nan", "1e308", "-1e308", "1e309", "-5", "-0", "0", "1", "0.5", "1e3", "1_0", "0x10", "0o7", "２",
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "9" * 30, "9" * 400, "1" + "0" * 5000, "null",
    "true", "''", "1e308s", "-1s", "1e400%", "nan%", "inf/s", "1e308/s", "9e99MB", "[1]", "{a: 1}",
)  # fmt: skip
PATHS = (
    "data.records", "data.fields", "data.field_length", "data.insert_start", "data.batch_size", "data.zero_padding",
    "operations.read", "keys.theta", "load.rate", "connections", "in_flight", "warmup", "duration", "interval", "seed",
    "operation_count", "slo.response_p99", "slo.error_rate", "scan_length.max", "insert_batch_size",
)  # fmt: skip
PROPERTIES = (
    "recordcount", "insertstart", "insertcount", "operationcount", "maxexecutiontime", "threadcount", "target",
    "fieldcount", "fieldlength", "minfieldlength", "readproportion", "insertproportion", "hotspotdatafraction",
    "exponential.frac", "exponential.percentile", "maxscanlength", "zeropadding", "mongodb.maxconnections", "batchsize",
    "core_workload_insertion_retry_limit", "core_workload_insertion_retry_interval",
)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_every_number_of_a_spec_at_every_edge(path: str) -> None:
    for edge in EDGES:
        try:
            value = yaml.safe_load(edge)
        except ValueError:
            value = edge
        for given in (value, edge):
            try:
                overrides = {"load.kind": "constant", "load.rate": 5, path: given}
                resolve(load_spec("ycsb-a", overrides=overrides).spec, target=NullTarget())
            except BrimlineError as error:
                _require_words(error, f"{path}: {given}")


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_number_of_a_property_at_every_edge(name: str) -> None:
    core = ["workload=site.ycsb.workloads.CoreWorkload", "recordcount=1000"]
    for edge, law in itertools.product(EDGES, ("hotspot", "exponential")):
        try:
            words = [*core, f"requestdistribution={law}", f"{name}={edge}"]
            resolve(load_spec(properties=words).spec, target=NullTarget())
        except BrimlineError as error:
            _require_words(error, f"{name}={edge}")


GENERATORS = {model.model_fields["kind"].default: model for model in get_args(get_args(generators.Value)[0])}
NEEDED = {"from": "2024-01-01", "to": "2024-02-01", "start": "2024-01-01", "every": "1s", "value": 1, "of": ["a"],
          "parts": ["a"], "what": "name", "fields": {"a": {"kind": "int"}}, "length": 3}  # fmt: skip
OTHER_KINDS = (
    None,
    True,
    1.5,
    math.inf,
    math.nan,
    -1,
    "x",
    "",
    [],
    {},
    10**30,
    1e308,
    [1],
    {"a": 1},
    ["a", {"b": []}],
    "inf",
)


@pytest.mark.parametrize("kind", GENERATORS)
def test_every_key_of_a_generator_of_every_kind(kind: str, tmp_path: Path) -> None:
    fields = {field.alias or name: field for name, field in GENERATORS[kind].model_fields.items() if name != "kind"}
    values = {name: NEEDED[name] for name, field in fields.items() if field.is_required()}
    if kind in ("key_of", "array"):
        values["of"] = "c" if kind == "key_of" else {"kind": "int"}
    for name, edge in itertools.product(fields, OTHER_KINDS):
        given = {"a": {"kind": kind, **values, name: edge}}
        spec = {"operations": {"read": 1}, "data": {"records": 1, "fields": given}}
        path = tmp_path / "s.json"
        path.write_text(json.dumps(spec))
        try:
            load_spec(path)
        except BrimlineError as error:
            _require_words(error, f"{kind}.{name}: {edge}")


def _require_words(error: BrimlineError, what: str) -> None:
    """A message of brimline's own, and what to do that is of the key."""
    assert error.message
    assert "nput should" not in error.message, what
    assert error.hint, f"{what}: {error.message}"
    assert not error.hint.startswith("docs/reference"), f"{what}: {error.message}"
