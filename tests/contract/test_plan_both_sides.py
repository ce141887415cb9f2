"""The plan's two definitions, Python's and the engine's, say the same."""

import json
from pathlib import Path
from typing import Any

import bson
import pytest

from brimline import _native
from brimline.operations import KINDS, PARTS, Kind, kinds_of_a_mix
from brimline.plan import (
    NullTarget,
    Plan,
    RunnerTarget,
    SimulatedTarget,
    TargetPlan,
    WireTarget,
    load_plan,
    resolve,
    rest_of_load,
    sql_target,
    wire_target,
)
from brimline.plan.model import ClosedPacer, Reads, ReplicaSet, WriteConcern
from brimline.plan.operations import OperationsWork
from brimline.spec import load_spec, shipped_workloads

TARGETS: dict[str, TargetPlan] = {
    "wire": WireTarget(address="[::1]:27017", write_concern=None),
    "wire with a write concern": WireTarget(
        address="db.example.org:27017", write_concern=WriteConcern(w="majority", journal=True)
    ),
    "wire with routers, reads and concerns": WireTarget(
        address="a.example.org:1",
        routers=("b.example.org:2",),
        reads=Reads(
            addresses=("c.example.org:3",), mode="secondary", tag_sets=({"dc": "east"}, {}), max_staleness_s=120
        ),
        read_concern="majority",
        write_concern=WriteConcern(w=2, journal=None, timeout_ms=5000),
    ),
    "wire with a replica set that is followed": WireTarget(
        address="a.example.org:1",
        write_concern=None,
        replica_set=ReplicaSet(name="rs", members=("a.example.org:1", "b.example.org:1"), selection_timeout_ns=10**9),
        retry_reads=True,
        retry_writes=True,
    ),
    "runner": RunnerTarget(
        client="java-sync",
        addresses=("a.example.org:1", "b.example.org:1"),
        replica_set="rs",
        read_concern="majority",
        write_concern=WriteConcern(w="majority", journal=True),
        retry_writes=True,
        max_pool_size=32,
        options={"waitQueueTimeoutMS": "100"},
    ),
    "null": NullTarget(),
    "null that waits as beside a server": NullTarget(beside_server=True),
}


def _engine_s_view(plan: Plan) -> Any:
    return json.loads(_native.validate_plan(plan.canonical_json()))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("workload", shipped_workloads())
def test_the_engine_understands_what_was_meant(workload: str, target: str) -> None:
    spec = load_spec(workload).spec
    for plan in (resolve(spec, target=TARGETS[target]), load_plan(spec, target=TARGETS[target])):
        assert _engine_s_view(plan) == json.loads(plan.canonical_json())
        assert Plan.from_json(plan.canonical_json()) == plan


@pytest.mark.parametrize("interval", ["0s", "1500ms"])
def test_retries_of_a_load_reach_the_engine(interval: str) -> None:
    asked = {"data.batch_size": 1, "insert_retries": {"limit": 2, "interval": interval}}
    plan = load_plan(load_spec("ycsb-c", overrides=asked).spec, target=TARGETS["wire"])
    assert _engine_s_view(plan) == json.loads(plan.canonical_json())
    assert plan.hash8() != load_plan(load_spec("ycsb-c").spec, target=TARGETS["wire"]).hash8()


def test_a_closed_loop_that_follows_replies_reaches_the_engine_and_others_keep_their_hash() -> None:
    plan = resolve(load_spec("ycsb-c", overrides={"load": "unlimited"}).spec, target=TARGETS["wire"])
    assert '"pacer":{"kind":"closed","think_time":null}' in plan.canonical_json()
    following = plan.model_copy(update={"pacer": ClosedPacer(follows_replies=True)})
    assert _engine_s_view(following) == json.loads(following.canonical_json()) != json.loads(plan.canonical_json())
    assert Plan.from_json(following.canonical_json()) == following


SHARDS = WireTarget(address="a:1", shards=("b:2", "c:3"), write_concern=None)


def test_client_routed_shards_reach_the_engine_and_scans_over_them_do_not() -> None:
    spec = load_spec("ycsb-d").spec
    for plan in (resolve(spec, target=SHARDS), load_plan(spec, target=SHARDS)):
        assert _engine_s_view(plan) == json.loads(plan.canonical_json())
    with pytest.raises(_native.PlanError, match="client-routed shard"):
        _native.validate_plan(resolve(load_spec("ycsb-e").spec, target=SHARDS).canonical_json())


OWN = """
collections: {{orders: {{records: 100, fields: {{a: {{kind: int, max: 9}}}}}}}}
values: {{one: {{key_of: orders}}, two: {{key_of: orders}}, fresh: {{new_key_of: orders}}, n: {{kind: int, max: 9}}}}
operations: {{it: {{steps: [{{think_time: 1ms}}, {{{step}}}]}}}}
"""


def _own_plan(step: str, directory: Path, *, target: TargetPlan = SHARDS) -> tuple[Plan, OperationsWork]:
    (directory / "own.yaml").write_text(OWN.format(step=step))
    plan = resolve(load_spec(directory / "own.yaml").spec, target=target)
    assert isinstance(plan.work, OperationsWork)
    return plan, plan.work


BULK = """bulk_write: {collection: orders, ordered: false, requests: [
  {insert: {document: {_id: $fresh, a: $n}}}, {update: {filter: {_id: $one}, update: {$inc: {a: 1}}}},
  {replace: {filter: {_id: $two}, replacement: {a: 1}}}, {delete: {filter: {_id: $one}}}]}"""


def test_requests_of_a_bulk_write_go_to_client_routed_shards_one_by_one(tmp_path: Path) -> None:
    plan, work = _own_plan(BULK, tmp_path)
    steps = work.operations[0].steps
    assert [step.name.removeprefix("bulk_write orders ") for step in steps] == ["1", "2.1", "2.2", "3"]
    assert [step.think_time is None for step in steps] == [False, True, True, True]
    (commands,) = ([bson.decode(each) for each in of] for of in _native.example_commands(plan.canonical_json()))
    sent = [(next(iter(each)), each["ordered"], len(next(v for v in each.values() if isinstance(v, list))))
            for each in commands]  # fmt: skip
    assert sent == [(name, False, 1) for name in ("insert", "update", "update", "delete")]
    assert [list(each["updates"][0]["u"]) for each in commands[1:3]] == [["$inc"], ["a"]]
    _, of_one_server = _own_plan(BULK, tmp_path, target=TARGETS["wire"])
    assert [step.statements for step in of_one_server.operations[0].steps] == [1, 2, 1]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (BULK.replace("filter: {_id: $two}", "filter: {a: $n}"), "`bulk_write orders 2.2` .* doesn't ask for _id"),
        ("insert: {collection: orders, documents: [{a: $n}, {a: 1}]}", "no key of orders, such as {new_key_of"),
        ("insert: {collection: orders, document: {_id: $fresh}, count: 3}", "it has 3 statements"),
        ("insert: {collection: orders, documents: [{_id: $fresh}, {_id: $fresh}]}, expect: {inserted: 2}",
         "it has 2 statements"),
        ("command: {find: orders, filter: {_id: $one}}", "its find is written as a command"),
        ("command: {ping: 1}", "ping is about no single document"),
    ],
)  # fmt: skip
def test_steps_whose_shard_is_not_known_are_refused_with_the_reason(step: str, reason: str, tmp_path: Path) -> None:
    plan, _ = _own_plan(step, tmp_path)
    with pytest.raises(_native.PlanError, match=reason):
        _native.example_commands(plan.canonical_json())


def test_the_number_of_shards_and_not_their_addresses_is_part_of_what_is_done() -> None:
    spec = load_spec("ycsb-d").spec
    two, elsewhere, three = (
        resolve(spec, target=WireTarget(address="a:1", shards=shards, write_concern=None)).hash8()
        for shards in (("b:2",), ("c:3",), ("b:2", "c:3"))
    )
    assert two == elsewhere != three
    assert two != resolve(spec, target=TARGETS["wire"]).hash8()


def test_a_load_gives_each_shard_its_records_in_batches_of_their_own() -> None:
    spec = load_spec("ycsb-d", overrides={"data.records": 10, "data.batch_size": 2}).spec
    plan = load_plan(spec, target=SHARDS)
    keys = [key.encode() + b"\0" for key in _native.generate_keys(plan.canonical_json(), 0, 10)]
    messages = [message for row in _native.preview(plan.canonical_json(), 100) for message in row["messages"]]
    numbers = [
        sorted(
            (number for number, key in enumerate(keys) if key in message), key=lambda each: message.index(keys[each])
        )
        for message in messages
    ]
    assert numbers == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    assert plan.operation_count == len(numbers)
    rest = rest_of_load(plan, [range(2, 5), range(7, 10)])
    assert rest.operation_count == len(_native.preview(rest.canonical_json(), 100)) == 6


VARIATIONS: dict[str, dict[str, object]] = {
    "all operations": {
        "operations": {"read": 1, "update": 1, "insert": 1, "scan": 1, "read_modify_write": 1},
        "scan_length": {"kind": "zipfian", "min": 1, "max": 50},
    },
    "uniform keys": {"keys": "uniform"},
    "hotspot keys": {"keys": {"kind": "hotspot", "data_fraction": 0.1, "operation_fraction": 0.9}},
    "exponential keys": {"keys": {"kind": "exponential", "percentile": 95, "fraction": 0.5}},
    "sequential keys": {"keys": "sequential"},
    "latest keys": {"keys": {"kind": "latest", "theta": 0.5}},
    "constant rate": {"load": {"kind": "constant", "rate": "1234.5/s"}},
    "think time": {"load": {"kind": "closed", "think_time": "5ms", "think_time_law": "exponential"}},
    "poisson arrivals": {"load": {"kind": "poisson", "rate": "1k/s"}},
    "a ramp": {"load": {"kind": "ramp", "to": "1k/s", "over": "10s"}},
    "stages": {"load": {"kind": "stages", "stages": [{"rate": 5, "for": "1s"}, {"to": 9, "for": "2s"}]}},
    "steps": {"load": {"kind": "steps", "from": 10, "to": 50, "step": 20, "every": "1s", "arrivals": "poisson"}},
    "threads, loops, ramp-up": {"load": {"kind": "tlr", "threads": 8, "loops": 100, "ramp_up": "3s"}},
    "a bound in flight": {"in_flight": 4},
    "a log of operations": {"operation_log": True},
    "a number of operations": {"operation_count": 10, "threads": 4},
    "the largest seed": {"seed": 2**64 - 1},
    "lengths by weight": {"data.field_length": {"kind": "histogram", "weights": {10: 1.0, 100: 0.5}}},
    "fields by name": {
        "data": {
            "records": 10,
            "fields": {
                "a": {"kind": "choice", "of": {"x": 2, "y": 1}},
                "b": {"kind": "choice", "of": [1, 2.5, True, None, "z"]},
                "c": {"kind": "document", "fields": {"d": {"kind": "double", "max": 3}, "e": "int"}},
                "f": {"kind": "array", "length": {"kind": "uniform", "max": 3}, "of": {"kind": "string", "length": 4}},
                "g": {"kind": "text", "parts": ["n-", {"kind": "sequence"}]},
                "h": {"kind": "date", "from": "2024-01-01", "to": "2024-01-02T03:04:05.006Z"},
                "i": {"kind": "clock", "start": "1969-12-31", "every": "1us"},
                "j": {"kind": "binary", "length": {"kind": "zipfian", "max": 9}},
                "k": {"kind": "boolean", "true_share": "30%"},
                "l": {"kind": "constant", "value": None},
            },
        }
    },
    "inserts that replace": {"operations": {"read": 1, "insert": 1}, "upsert": True},
    "inserts of several documents": {"operations": {"read": 1, "insert": 1}, "insert_batch_size": 100},
    "reads verified": {"data": {"records": 10, "values": "derived"}, "verify_reads": True},
    "every field by name": {"name_read_fields": True},
    "one field of each": {"read_all_fields": False, "write_all_fields": True},
}


@pytest.mark.parametrize("variation", VARIATIONS)
def test_every_choice_of_a_spec_reaches_the_engine(variation: str) -> None:
    spec = load_spec("ycsb-a", overrides=VARIATIONS[variation]).spec
    plan = resolve(spec, target=wire_target(spec, address="127.0.0.1:27017"))
    assert _engine_s_view(plan) == json.loads(plan.canonical_json())
    assert plan != resolve(load_spec("ycsb-a").spec, target=plan.target), "the choice makes a difference"


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_both_tables_of_kinds_say_the_same(kind: Kind, tmp_path: Path) -> None:
    """Names, when a plan says their shares, and parts whose times are recorded apart."""
    log = tmp_path / "operations.log"
    log.touch()
    for part in ("whole", "per_document", *PARTS):
        asked = [(kind.name, part, "ok", "service")]
        if part in PARTS and part not in kind.parts:
            with pytest.raises(ValueError, match=part):
                _native.OperationTimes(log, asked, "")
        else:
            _native.OperationTimes(log, asked, "")
    values = json.loads(resolve(load_spec("ycsb-c").spec, target=NullTarget()).canonical_json())
    for share in (0.0, 0.5):
        values["work"]["proportions"][kind.name] = share
        values["work"]["transaction"] = {"reads": 1, "updates": 1}
        if kind not in kinds_of_a_mix():
            with pytest.raises(_native.PlanError, match=kind.name):
                _native.validate_plan(json.dumps(values))
            continue
        plan = Plan.from_json(json.dumps(values))
        if any(plan.work.proportions.values()):  # type: ignore[union-attr]
            assert _engine_s_view(plan) == json.loads(plan.canonical_json())


def test_the_engine_refuses_what_it_does_not_know() -> None:
    values = json.loads(resolve(load_spec("ycsb-c").spec, target=NullTarget()).canonical_json())
    for path in ([], ["target"], ["data"], ["work"], ["work", "proportions"], ["pacer"], ["data", "field_length"]):
        changed = json.loads(json.dumps(values))
        place = changed
        for key in path:
            place = place[key]
        place["unheard_of"] = 1
        with pytest.raises(_native.PlanError, match="unheard_of"):
            _native.validate_plan(json.dumps(changed))
        with pytest.raises(ValueError, match="unheard_of"):
            Plan.from_json(json.dumps(changed))


def test_a_script_comes_back_whole_from_the_engine() -> None:
    """The engine fills in a script's defaults, so here what was said is part of what comes back."""
    script = {"service": {"kind": "lognormal", "mean_ns": 1000, "sigma": 0.5}, "capacity_ops_per_s": 100.0}
    plan = resolve(load_spec("ycsb-c").spec, target=SimulatedTarget(script=script, generator_ns=777))
    seen = _engine_s_view(plan)
    assert seen["target"]["generator_ns"] == 777
    assert script.items() <= seen["target"]["script"].items()


def test_keys_and_documents_belong_together() -> None:
    plan = resolve(load_spec("ycsb-a", overrides={"data.insert_start": 3}).spec, target=NullTarget()).canonical_json()
    keys = _native.generate_keys(plan, 3, 50)
    documents = _native.generate_documents(plan, 3, 50)
    assert len(set(keys)) == 50
    # BSON: 4 bytes of length, then the string element _id: type 2, name, length, text.
    assert [document[13 : 13 + len(key)].decode() for key, document in zip(keys, documents, strict=True)] == keys
    assert all(int.from_bytes(document[:4], "little") == len(document) for document in documents)
    assert documents == _native.generate_documents(plan, 3, 50)


def test_every_read_says_what_it_prefers_and_no_write_does() -> None:
    spec = load_spec("ycsb-a", overrides={"operations": {"read": 1, "update": 1, "scan": 1}}).spec
    plan = resolve(spec, target=TARGETS["wire with routers, reads and concerns"])
    commands = [
        bson.decode(message[21:]) for row in _native.preview(plan.canonical_json(), 50) for message in row["messages"]
    ]
    reads = [command for command in commands if "find" in command]
    writes = [command for command in commands if "update" in command]
    assert reads and writes
    for command in reads:
        assert command["$readPreference"] == {
            "mode": "secondary",
            "tags": [{"dc": "east"}, {}],
            "maxStalenessSeconds": 120,
        }
        assert command["readConcern"] == {"level": "majority"}
        assert "writeConcern" not in command
    for command in writes:
        assert command["writeConcern"] == {"w": 2, "wtimeout": 5000}
        assert not {"$readPreference", "readConcern"} & command.keys()


def test_where_servers_are_is_no_part_of_what_is_measured() -> None:
    spec = load_spec("ycsb-a").spec
    target = TARGETS["wire with routers, reads and concerns"]
    assert isinstance(target, WireTarget)
    assert target.reads is not None
    elsewhere = target.model_copy(
        update={"address": "h:1", "routers": ("g:1",), "reads": target.reads.model_copy(update={"addresses": ("f:1",)})}
    )
    other = target.model_copy(update={"reads": target.reads.model_copy(update={"mode": "nearest"})})
    hashes = [resolve(spec, target=each).hash8() for each in (target, elsewhere, other)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_where_members_are_is_no_part_of_what_is_measured_but_sending_twice_is() -> None:
    spec = load_spec("ycsb-a").spec
    target = TARGETS["wire with a replica set that is followed"]
    assert isinstance(target, WireTarget)
    assert target.replica_set is not None
    # A set that brimline starts has another name each time.
    moved = target.replica_set.model_copy(update={"name": "lab-0123abcd", "members": ("h:1", "g:1")})
    elsewhere = target.model_copy(update={"address": "h:1", "replica_set": moved})
    once = target.model_copy(update={"retry_writes": False})
    hashes = [resolve(spec, target=each).hash8() for each in (target, elsewhere, once)]
    assert hashes[0] == hashes[1] != hashes[2]
    runner = TARGETS["runner"].model_copy(update={"replica_set": "lab-89abcdef"})
    others = (runner.model_copy(update={"replica_set": name}) for name in ("lab-0123abcd", None))
    hashes = [resolve(spec, target=each).hash8() for each in (runner, *others)]
    assert hashes[0] == hashes[1] != hashes[2], "a driver is told the name alone"


def test_writes_that_may_be_sent_twice_have_a_session_and_others_none() -> None:
    spec = load_spec("ycsb-a", overrides={"operations": {"read": 1, "update": 1, "insert": 1}}).spec
    with_sessions = resolve(spec, target=TARGETS["wire with a replica set that is followed"])
    for plan, has_session in ((with_sessions, True), (resolve(spec, target=TARGETS["wire"]), False)):
        rows = _native.preview(plan.canonical_json(), 50)
        commands = [bson.decode(message[21 : _body_end(message)]) for row in rows for message in row["messages"]]
        for command in commands:
            is_write = "find" not in command
            assert ({"lsid", "txnNumber"} <= command.keys()) == (is_write and has_session)


def _body_end(message: bytes) -> int:
    """Where the body of a message ends, before the documents of an insert."""
    return 21 + int.from_bytes(message[21:25], "little")


@pytest.mark.parametrize(
    "asked",
    [
        {"load": {"kind": "tlr", "threads": 7, "loops": 2, "ramp_up": "0.01s"}, "threads": 3},
        {"load": {"kind": "tlr", "threads": 9, "loops": 2, "ramp_up": "0.01s"}, "threads": 4},
        {"connections": 2, "threads": 8, "operation_count": 10},
        {"connections": 8, "in_flight": 3, "threads": 8, "operation_count": 10},
    ],
)
def test_a_plan_names_the_threads_that_run(asked: dict[str, object]) -> None:
    plan = resolve(load_spec("ycsb-c", overrides={"warmup": "0s", **asked}).spec, target=NullTarget())
    run = _native.start(plan.canonical_json())
    assert run.join()["threads"] == plan.threads


def test_the_engine_understands_a_driver_of_sql() -> None:
    """It executes the statements; a load goes by brimline's own client."""
    spec = load_spec("ycsb-a").spec
    target = sql_target(kind="postgres", address="h:1", database="d", client="jdbc", max_pool_size=4)
    plan = resolve(spec, target=target)
    assert _engine_s_view(plan)["target"]["client"] == "jdbc"
    for each in (plan, load_plan(spec, target=target)):
        assert _engine_s_view(each) == json.loads(each.canonical_json())
    assert "client" not in json.loads(load_plan(spec, target=target).canonical_json())["target"]
