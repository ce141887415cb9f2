"""What the schema of a workload takes the reader takes, and what it refuses the reader refuses."""

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from brimline.spec import Spec, load_spec, spec_schema
from brimline.spec.base import Part
from brimline.spec.document import parse_document
from brimline.spec.own.schema import step_properties
from brimline.study.schema import study_schema
from brimline.study.spec import StudySpec, shipped_studies

ROOT = Path(__file__).parents[3]
FILES = [
    path
    for path in (*sorted((ROOT / "workloads").glob("*.yaml")), *sorted((ROOT / "examples").rglob("*.yaml")))
    if re.search("^(operations|scans):", path.read_text(), re.MULTILINE)
]
BY_KEY = """
name: shop
description: words
seed: 7
data:
  records: 1M
  insert_start: 5
  fields: 4
  field_length: {kind: uniform, min: 10, max: 1kB}
  field_name_prefix: f
  key_prefix: k
  insert_order: ordered
  zero_padding: 12
  values: random
  database: shop
  collection: orders
  batch_size: 100
operations: {read: 90%, update: 5%, insert: 5%}
keys: {kind: hotspot, data_fraction: 0.2, operation_fraction: 80%}
scan_length: 10
read_all_fields: true
upsert: false
insert_batch_size: 1
transaction: {reads: 2, updates: 1}
load: {kind: stages, stages: [{rate: 100/s, for: 10s}, {from: 100, to: 20k/min, for: 5s}], arrivals: poisson}
connections: 64
max_pool_size: 32
threads: 2
warmup: 1s
interval: 500ms
operation_timeout: 20s
operation_log: true
slo: {response_p99: 10ms, response_p99.9: 20ms, error_rate: 0.1%, read: {response_mean: 2ms}}
target: {client: wire, write_concern: {w: majority, journal: true, timeout_ms: 100}}
"""
BY_NAME = """
database: shop
collections:
  orders:
    records: 100k
    fields:
      number: {kind: sequence, start: 1, step: 2}
      tags: {kind: array, length: 3, of: uuid}
    indexes: [{city: 1, number: -1}, {keys: {number: 1}, unique: true}]
    options: {validationLevel: moderate}
    shard_key: {number: hashed}
  audit: existing
tables: {orders: {child: [tags]}}
isolation: serializable
protocol: sql
values: {city: {one_of: [Beijing, Wuhan]}}
operations:
  look: {share: 3, sql: "SELECT * FROM orders WHERE city = $city"}
  count: {share: 1, steps: [{sql: "SELECT 1"}]}
  tick: {load: {kind: constant, rate: 1/s}, connections: 1, sql: "SELECT 2"}
load: {kind: ramp, from: 0, to: 100/s, over: 10s}
duration: 20s
slo: {look: {response_p95: 5ms}}
"""
OF_FIELDS = """
data:
  records: 10
  fields:
    city: {kind: choice, of: {Beijing: 3, Wuhan: 1}}
    code: {kind: text, parts: [a-, {kind: int, max: 9}]}
    made: {kind: clock, start: "2024-01-01", every: 10ms}
    word: {kind: string, length: 4, alphabet: hex}
    name: {kind: fake, what: name, language: zh}
operations: {read: 1}
"""
OF_A_SERVICE = """
protocol: http
http:
  headers: {accept: application/json, x-token: {env: TOKEN}}
  keep_alive: false
  connect: on_demand
  follow_redirects: 3
  cookies: false
  basic: {username: u, password: {env: WORD}}
operations: {look: {get: {path: /}, expect: {status: 200}, think_time: 10ms}}
load: {kind: tlr, threads: 5, loops: 10, ramp_up: 1s}
"""
OF_QUERIES = """
data: {records: 10k}
scans:
  scenarios:
    - {name: errors, filter: {level: ERROR}, sort: {time: 1}, limit: 5%, hint: {time: 1}, documents: 10}
    - {name: widths, range: {field: time, widths: [10, 100, 1k]}}
    - {name: whole, filter: all}
    - {name: count, pipeline: [{$count: n}]}
  indexes: [{time: 1}, {keys: {level: 1}, name: by_level}]
  answer_within: 10s
  precision: 5%
  repetitions: 20
"""
WHOLE = {
    "by key": BY_KEY,
    "by name": BY_NAME,
    "of fields": OF_FIELDS,
    "of a service": OF_A_SERVICE,
    "of queries": OF_QUERIES,
}
FREE = {
    "values",
    "headers",
    "filter",
    "sort",
    "hint",
    "pipeline",
    "plan",
    "projection",
    "expect",
    *step_properties(),
} - {"steps"}
"""Below these keys are the words of MongoDB, HTTP and SQL, and expressions, which the reader alone understands."""
OF_SEVERAL_KEYS = re.compile(
    "add up to|[Mm]ix(es)? percentages|offers anything|belongs to a workload|is about|is no value|has no field|"
    "above max|"
    "none of the collections|is no operation of|has no share|has no form|load of its own|all be counts|64-bit"
)
"""What is wrong only beside another key, each of which could be so; and Extended JSON."""
START = ROOT / "python" / "brimline" / "study" / "start.yaml"
OF_PROSE = re.compile("refers to an experiment that is not there|is typed, and figures of results|two experiments are")
CHANGES = (None, True, -1, 10**19, "", "x", "10s", [1], {}, {"kind": "x"})


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    Draft202012Validator.check_schema(spec_schema())
    return Draft202012Validator(spec_schema())


def slips(value: Any) -> Iterator[Any]:
    """The value with something else at one place of it, an unknown key there, or without it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        if name in FREE:
            continue
        unknown = [{**inner, "nonsens": 1}] if isinstance(inner, dict) else []
        for other in (*CHANGES, *unknown, *slips(inner)):
            made = value.copy()
            made[name] = other
            yield made
        made = value.copy()
        del made[name]
        yield made


def refusal(values: dict[str, Any], model: type[Part] = Spec) -> str | None:
    try:
        model.model_validate(deepcopy(values), context={"rows_in": Path()})
    except ValidationError as error:
        return str(error)
    return None


@pytest.mark.parametrize("path", FILES, ids=[each.name for each in FILES])
def test_the_schema_takes_what_is_shipped(path: Path, schema: Draft202012Validator) -> None:
    assert load_spec(path, with_rows=False)
    assert not list(schema.iter_errors(parse_document(path.read_text(), path.name).values))


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_they_agree_on_every_slip_in_a_workload(text: str, schema: Draft202012Validator) -> None:
    values = parse_document(text, "it").values
    assert refusal(values) is None
    assert schema.is_valid(values)
    odd = []
    for slip in slips(values):
        said, takes = refusal(slip), schema.is_valid(slip)
        if (said is None) is not takes and not (said and OF_SEVERAL_KEYS.search(said)):
            odd.append((said, slip))
    assert not odd


@pytest.fixture(scope="module")
def of_studies() -> Draft202012Validator:
    Draft202012Validator.check_schema(study_schema())
    return Draft202012Validator(study_schema())


@pytest.mark.parametrize("path", shipped_studies().values(), ids=shipped_studies())
def test_the_schema_takes_what_studies_are_shipped(path: Path, of_studies: Draft202012Validator) -> None:
    assert not list(of_studies.iter_errors(parse_document(path.read_text(), path.name).values))


def test_they_agree_on_every_slip_in_a_study(of_studies: Draft202012Validator) -> None:
    values = parse_document(START.read_text(), START.name).values
    assert of_studies.is_valid(values)
    odd = []
    for slip in slips(values):
        said, takes = refusal(slip, StudySpec), of_studies.is_valid(slip)
        if (said is None) is not takes and not (said and OF_PROSE.search(said)):
            odd.append((said, slip))
    assert not odd


def test_each_key_says_what_it_means() -> None:
    schema = spec_schema()
    assert schema["properties"]["duration"]["description"].startswith("Length of the measured window")
    undescribed = [
        f"{name}.{key}"
        for name, each in schema["$defs"].items()
        for key, said in each.get("properties", {}).items()
        if not {"description", "const"} & said.keys()
    ]
    assert not undescribed
