"""spec -> plan: known answers, and the laws every spec keeps."""

import json

import pytest
from hypothesis import given, settings
from plan_strategies import specs
from pydantic import ValidationError

from brimline import _native
from brimline.plan import (
    NullTarget,
    Plan,
    SimulatedTarget,
    WireTarget,
    load_plan,
    resolve,
    rest_of_load,
    wire_target,
)
from brimline.plan.model import ClosedPacer, LoadWork, WriteConcern, records_to_load
from brimline.spec import Spec, load_spec, shipped_workloads
from brimline.spec.document import dump_document, parse_document
from tests.support.explained_plan import explain

S = 1_000_000_000


def spec_of(**values: object) -> Spec:
    return Spec.model_validate({"data": {"records": 1000}, "operations": {"read": 1}, **values})


def test_workload_a_is_this_plan() -> None:
    plan = resolve(load_spec("ycsb-a").spec, target=WireTarget(address="127.0.0.1:27017", write_concern=None))
    assert json.loads(plan.canonical_json()) == {
        "version": 1,
        "name": "ycsb-a",
        "seed": 1,
        "target": {"kind": "wire", "address": "127.0.0.1:27017", "write_concern": None},
        "namespace": {"database": "ycsb", "collection": "usertable"},
        "data": {
            "record_count": 100_000,
            "insert_start": 0,
            "field_count": 10,
            "field_length": {"kind": "constant", "length": 100},
            "field_name_prefix": "field",
            "key_prefix": "user",
            "insert_order": "hashed",
            "zero_padding": 1,
        },
        "work": {
            "kind": "mix",
            "proportions": {"read": 0.5, "update": 0.5, "insert": 0.0, "scan": 0.0, "read_modify_write": 0.0},
            "keys": {"kind": "zipfian", "theta": 0.99},
            "scan_length": {"kind": "uniform", "min": 1, "max": 100},
            "read_all_fields": True,
            "write_all_fields": False,
        },
        "pacer": {"kind": "closed", "think_time": None},
        "connections": 32,
        "in_flight_max": None,
        "threads": 1,
        "warmup_ns": 2 * S,
        "duration_ns": 10 * S,
        "operation_count": None,
        "interval_ns": S,
        "drain_timeout_ns": 10 * S,
        "operation_timeout_ns": 30 * S,
        "connect_timeout_ns": 10 * S,
    }


def test_canonical_json_is_sorted_and_dense() -> None:
    text = resolve(spec_of(name="订单"), target=NullTarget()).canonical_json()
    assert text.startswith('{"connect_timeout_ns":10000000000,"connections":32,')
    assert '"name":"订单"' in text
    assert ": " not in text


def test_the_hash_knows_the_work_and_not_the_port() -> None:
    spec = load_spec("ycsb-a").spec
    plan = resolve(spec, target=WireTarget(address="h:1", write_concern=None))
    elsewhere = resolve(spec, target=WireTarget(address="h:2", write_concern=None))
    assert len(plan.hash8()) == 8
    assert plan.hash8() == elsewhere.hash8()
    assert plan != elsewhere
    changed = [
        resolve(spec, target=NullTarget()),
        resolve(spec, target=WireTarget(address="h:1", write_concern=WriteConcern(w=1, journal=None))),
        resolve(load_spec("ycsb-a", overrides={"seed": 2}).spec, target=plan.target),
        resolve(load_spec("ycsb-a", overrides={"data.records": 99_999}).spec, target=plan.target),
    ]
    assert len({plan.hash8(), *(other.hash8() for other in changed)}) == 5


@given(specs)
@settings(max_examples=60)
def test_resolve_is_pure_and_the_stored_spec_gives_the_same_plan(spec: Spec) -> None:
    plan = resolve(spec, target=NullTarget())
    stored = Spec.model_validate(parse_document(dump_document(spec.to_document()), "s").values)
    assert stored == spec
    assert resolve(spec, target=NullTarget()) == plan == resolve(stored, target=NullTarget())
    assert Plan.from_json(plan.canonical_json()) == plan
    assert Plan.from_json(plan.canonical_json()).hash8() == plan.hash8()


@given(specs)
@settings(max_examples=60)
def test_the_engine_takes_every_plan_and_understands_the_same(spec: Spec) -> None:
    for plan in (
        resolve(spec, target=wire_target(spec, address="127.0.0.1:27017")),
        load_plan(spec, target=NullTarget()),
    ):
        assert Plan.from_json(_native.validate_plan(plan.canonical_json())) == plan


@given(specs)
@settings(max_examples=60)
def test_every_plan_explains_itself_in_one_line_per_aspect(spec: Spec) -> None:
    for plan in (resolve(spec, target=NullTarget()), load_plan(spec, target=NullTarget())):
        lines = explain(plan)
        known = ("plan", "target", "data", "operations", "keys", "load", "time")
        aspects = [line.partition(":")[0] for line in lines]
        assert aspects == [aspect for aspect in known if aspect in aspects]
        assert all("\n" not in line and "nan" not in line.partition(":")[2] for line in lines[1:])


@given(specs)
@settings(max_examples=60)
def test_loading_covers_every_record_and_fits_messages(spec: Spec) -> None:
    plan = load_plan(spec, target=NullTarget())
    assert isinstance(plan.work, LoadWork)
    assert plan.operation_count is not None
    assert (plan.operation_count - 1) * plan.work.batch_size < spec.data.records
    assert plan.operation_count * plan.work.batch_size >= spec.data.records
    assert plan.work.batch_size * spec.data.document_bytes_max < 48_000_000
    assert plan.connections <= plan.operation_count
    assert plan.threads <= plan.connections
    assert (plan.warmup_ns, plan.duration_ns, plan.pacer, plan.work.ordered) == (
        0,
        None,
        ClosedPacer(),
        False,
    )


@pytest.mark.parametrize(
    ("values", "batch_size"),
    [
        ({"records": 10**6}, 1000),
        ({"records": 10**6, "batch_size": 7}, 7),
        ({"records": 10**6, "fields": 1, "field_length": "10MB"}, 1),
        ({"records": 10**6, "fields": 1, "field_length": "160kB"}, 99),
    ],
)
def test_batch_size(values: dict[str, object], batch_size: int) -> None:
    plan = load_plan(spec_of(data=values, connections=4), target=NullTarget())
    assert isinstance(plan.work, LoadWork)
    assert (plan.work.batch_size, plan.connections) == (batch_size, 4)


@pytest.mark.parametrize(
    ("data", "values", "connections", "in_flight_max"),
    [
        ({}, {}, 32, 8),
        ({}, {"connections": 8}, 8, None),
        ({"batch_size": 2}, {}, 32, 8),
        ({"batch_size": 1}, {}, 32, None),
        ({}, {"in_flight": 20}, 32, 20),
        ({}, {"in_flight": 32}, 32, None),
        ({}, {"in_flight": 2, "threads": 3}, 32, 2),
        ({"batch_size": 1}, {"in_flight": 2}, 32, 2),
        ({"records": 5000}, {"in_flight": 4}, 5, 4),
        ({"records": 4000}, {"in_flight": 4}, 4, None),
    ],
)
def test_a_bound_in_flight_holds_for_the_load_too(
    data: dict[str, object], values: dict[str, object], connections: int, in_flight_max: int | None
) -> None:
    plan = load_plan(spec_of(data={"records": 10**6} | data, **values), target=NullTarget())
    assert (plan.connections, plan.in_flight_max) == (connections, in_flight_max)
    assert plan.threads <= (in_flight_max or connections)
    bound = f", at most {in_flight_max} operations in flight;" if in_flight_max else "thread; each sends"
    assert bound in "\n".join(explain(plan)).replace("threads", "thread")


def test_each_server_of_a_load_has_its_batches_in_flight() -> None:
    target = WireTarget(address="h:1", shards=("h:2", "h:3"), write_concern=None)
    assert load_plan(spec_of(data={"records": 10**6}), target=target).in_flight_max == 24


@pytest.mark.parametrize(
    ("cpu_count", "beside", "elsewhere"), [(None, 8, 8), (1, 2, 4), (2, 3, 6), (8, 9, 18), (64, None, None)]
)
def test_a_load_has_a_batch_for_each_processor_and_one_that_waits_and_twice_as_many_on_a_line(
    cpu_count: int | None, beside: int | None, elsewhere: int | None
) -> None:
    for beside_server, in_flight_max in ((True, beside), (False, elsewhere)):
        target = WireTarget(address="h:1", write_concern=None, cpu_count=cpu_count, beside_server=beside_server)
        plan = load_plan(spec_of(data={"records": 10**6}), target=target)
        assert plan.in_flight_max == in_flight_max
        assert "cpu_count" not in plan.canonical_json()
        assert "beside_server" not in plan.canonical_json()


@pytest.mark.parametrize(
    ("values", "end"),
    [
        ({}, (10 * S, None)),
        ({"duration": "3s"}, (3 * S, None)),
        ({"operation_count": 5}, (None, 5)),
        ({"duration": "3s", "operation_count": 5}, (3 * S, 5)),
    ],
)
def test_ends(values: dict[str, object], end: tuple[int | None, int | None]) -> None:
    plan = resolve(spec_of(**values), target=NullTarget())
    assert (plan.duration_ns, plan.operation_count) == end


def test_interval_is_no_longer_than_the_window() -> None:
    assert resolve(spec_of(duration="50ms"), target=NullTarget()).interval_ns == 50_000_000


def test_every_value_arrives() -> None:
    spec = spec_of(
        name="all",
        seed=9,
        data={
            "records": 7,
            "insert_start": 3,
            "fields": 2,
            "field_length": {"kind": "uniform", "min": 4, "max": 6},
            "field_name_prefix": "f",
            "key_prefix": "k",
            "insert_order": "ordered",
            "zero_padding": 8,
            "database": "d",
            "collection": "c",
        },
        operations={"read": 1, "update": 2, "insert": 3, "scan": 4, "read_modify_write": 5},
        keys={"kind": "zipfian", "theta": 0.5},
        scan_length={"kind": "zipfian", "min": 2, "max": 9},
        read_all_fields=False,
        write_all_fields=True,
        load={"kind": "constant", "rate": "20k/s"},
        in_flight=4,
        connections=5,
        threads=3,
        warmup="1s",
        duration="4s",
        operation_count=99,
        interval="200ms",
        drain_timeout="5s",
        operation_timeout="6s",
        connect_timeout="7s",
    )
    assert json.loads(resolve(spec, target=NullTarget()).canonical_json()) == {
        "version": 1,
        "name": "all",
        "seed": 9,
        "target": {"kind": "null"},
        "namespace": {"database": "d", "collection": "c"},
        "data": {
            "record_count": 7,
            "insert_start": 3,
            "field_count": 2,
            "field_length": {"kind": "uniform", "min": 4, "max": 6},
            "field_name_prefix": "f",
            "key_prefix": "k",
            "insert_order": "ordered",
            "zero_padding": 8,
        },
        "work": {
            "kind": "mix",
            "proportions": {"read": 1, "update": 2, "insert": 3, "scan": 4, "read_modify_write": 5},
            "keys": {"kind": "zipfian", "theta": 0.5},
            "scan_length": {"kind": "zipfian", "min": 2, "max": 9},
            "read_all_fields": False,
            "write_all_fields": True,
        },
        "pacer": {"kind": "constant", "rate_ops_per_s": 20_000},
        "connections": 5,
        "in_flight_max": 4,
        "threads": 3,
        "warmup_ns": S,
        "duration_ns": 4 * S,
        "operation_count": 99,
        "interval_ns": 200_000_000,
        "drain_timeout_ns": 5 * S,
        "operation_timeout_ns": 6 * S,
        "connect_timeout_ns": 7 * S,
    }


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("uniform", {"kind": "uniform"}),
        ("sequential", {"kind": "sequential"}),
        ({"kind": "latest", "theta": 0.7}, {"kind": "latest", "theta": 0.7}),
        (
            {"kind": "hotspot", "data_fraction": 0.1, "operation_fraction": 0.6},
            {"kind": "hotspot", "data_fraction": 0.1, "operation_fraction": 0.6},
        ),
        (
            {"kind": "exponential", "percentile": 90, "fraction": 0.3},
            {"kind": "exponential", "percentile": 90.0, "fraction": 0.3},
        ),
    ],
)
def test_every_law_arrives(keys: object, expected: dict[str, object]) -> None:
    plan = resolve(spec_of(keys=keys), target=NullTarget())
    assert json.loads(plan.canonical_json())["work"]["keys"] == expected


def test_a_histogram_arrives_as_pairs() -> None:
    data = {"records": 1, "field_length": {"kind": "histogram", "weights": {"10": 1, "1kB": 3}}}
    values = json.loads(resolve(spec_of(data=data), target=NullTarget()).canonical_json())
    assert values["data"]["field_length"] == {"kind": "histogram", "weights": [[10, 1.0], [1000, 3.0]]}


@pytest.mark.parametrize(("records", "operation_count"), [(1, 1), (99, 1), (100, 1), (101, 2), (1000, 10)])
def test_loading_takes_as_many_commands_as_needed(records: int, operation_count: int) -> None:
    plan = load_plan(spec_of(data={"records": records, "batch_size": 100}), target=NullTarget())
    assert plan.operation_count == operation_count


def test_write_concern_arrives() -> None:
    spec = spec_of(target={"uri": "mongodb://h/?w=majority&journal=false"})
    assert wire_target(spec, address="h:1").write_concern == WriteConcern(w="majority", journal=False)
    assert wire_target(spec_of(), address="h:1").write_concern is None


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"unknown": 1},
        {"connections": "32"},
        {"seed": -1},
        {"target": {"kind": "none"}},
        {"warmup_ns": 1.5},
    ],
)
def test_a_stored_plan_of_another_shape_is_refused(change: dict[str, object]) -> None:
    values = json.loads(resolve(spec_of(), target=NullTarget()).canonical_json()) | change
    with pytest.raises(ValidationError):
        Plan.from_json(json.dumps(values))


def test_a_simulated_target_keeps_its_script() -> None:
    target = SimulatedTarget(script={"service": {"kind": "fixed", "ns": 200_000}, "servers": 10}, generator_ns=7000)
    plan = resolve(spec_of(), target=target)
    assert Plan.from_json(plan.canonical_json()) == plan
    _native.validate_plan(plan.canonical_json())


def test_explanation_of_a_busy_plan() -> None:
    spec = spec_of(
        name="shop",
        operations={"read": "60%", "scan": "30%", "read_modify_write": "10%"},
        load={"kind": "constant", "rate": "5000/s"},
        operation_count="1M",
        duration="1m",
        warmup=0,
    )
    plan = resolve(spec, target=WireTarget(address="h:1", write_concern=WriteConcern(w="majority", journal=True)))
    assert explain(plan) == [
        f"plan: shop, seed 1, hash {plan.hash8()}",
        "target: h:1, write concern w: majority, journaled",
        "data: 1 000 documents in ycsb.usertable, 10 fields of 100 bytes each, about 1.2 MB in all; keys hashed",
        "operations: 60 % read, 30 % scan, 10 % read-modify-write; a scan asks for 1 to 100 documents; "
        "reads return the whole document; updates replace one field",
        "keys: zipfian with theta 0.99, a few records take most operations",
        "load: constant rate of 5000/s, whatever the target does, over 32 connections on 1 thread",
        "time: no warm-up, then 1m measured or 1 000 000 operations in all, whichever comes first; a sample every 1s",
    ]


def test_every_shipped_workload_becomes_a_plan_the_engine_takes() -> None:
    for name in shipped_workloads():
        _native.validate_plan(resolve(load_spec(name).spec, target=NullTarget()).canonical_json())


def test_the_rest_of_a_load_is_cut_into_batches_range_by_range() -> None:
    whole = load_plan(spec_of(data={"records": 10_000, "batch_size": 100}, connections=8), target=NullTarget())
    rest = rest_of_load(whole, [range(1), range(250, 501), range(9_999, 10_000)])
    assert isinstance(rest.work, LoadWork) and rest.work.ranges is not None
    assert [(each.first, each.count) for each in rest.work.ranges] == [(0, 1), (250, 251), (9_999, 1)]
    assert (rest.operation_count, rest.connections) == (5, 5), "no more connections than batches"
    assert records_to_load(rest.work, rest.data) == 253
    assert rest.data == whole.data, "the documents stay the same functions of their indices"
    assert "the 253 documents still missing" in "\n".join(explain(rest))
    assert type(rest).from_json(rest.canonical_json()) == rest
    assert rest.hash8() != whole.hash8()


def test_the_rest_of_a_load_keeps_its_bound_in_flight_where_it_bounds() -> None:
    whole = load_plan(spec_of(data={"records": 100_000}, in_flight=4), target=NullTarget())
    assert (whole.connections, whole.in_flight_max) == (32, 4)
    bounded = rest_of_load(whole, [range(6_000)])
    few = rest_of_load(whole, [range(1_001), range(5_000, 5_001)])
    assert (bounded.connections, bounded.in_flight_max) == (6, 4)
    assert (few.connections, few.in_flight_max) == (3, None)
