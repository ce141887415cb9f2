"""Runs over MySQL's protocol against the scripted server, whose capacity and rows are known: in real time."""

from pathlib import Path
from typing import Any

import pytest

from brimline.analysis.observation import observe
from brimline.execution import execute
from brimline.plan import SqlTarget, load_plan, resolve
from brimline.record import RunRecord
from brimline.spec import Spec, load_spec
from tests.support.scripted_server import scripted_database
from tests.support.simulation import context, read_only

CAPACITY_OPS_PER_S = 400.0
TOLERANCE = 0.03
_COUNTED: dict[str, Any] = {"duration": None}
"""Ends by the number of its operations."""
SHOP = """
name: shop-sql
protocol: sql
database: shop
collections: {orders: existing, stock: existing}
values: {customer: {kind: int, min: 1, max: 1000}, order: {kind: int, min: 1, max: 1000000}}
operations:
  latest:
    share: 50%
    sql: "SELECT * FROM orders WHERE customer = $customer ORDER BY created DESC LIMIT 20"
    expect: {rows: 20}
    save: {first: id}
  place:
    share: 50%
    steps:
      - transaction:
          - sql: "INSERT INTO orders (id, customer) VALUES ($order, $customer)"
          - sql: "UPDATE stock SET n = n - 1 WHERE sku = $order"
            expect: {affected: 1}
"""


def executed(spec: Spec, script: dict[str, Any], directory: Path, *, loads: bool = False) -> RunRecord:
    with scripted_database(script) as address:
        target = SqlTarget(kind="mysql", address=address, database="ycsb")
        plan = (load_plan if loads else resolve)(spec, target=target)
        return execute(plan, directory=directory, title="scripted", context=context())


@pytest.mark.alone
def test_the_throughput_is_the_server_s_capacity(tmp_path: Path) -> None:
    # As many connections as the server answers in 80 ms: so long the client may stand still on a busy machine.
    spec = read_only(connections=32, warmup="500ms", duration="2500ms", **{"load.kind": "closed"})
    record = executed(spec, {"capacity_ops_per_s": CAPACITY_OPS_PER_S}, tmp_path / "run")
    assert observe(record).throughput_ops_per_s == pytest.approx(CAPACITY_OPS_PER_S, rel=TOLERANCE)


def test_no_statement_is_faster_than_the_server(tmp_path: Path) -> None:
    spec = read_only(connections=4, warmup="0s", **_COUNTED, operation_count=400)
    record = executed(spec, {"service": {"kind": "fixed", "ns": 5_000_000}}, tmp_path / "run")
    service = observe(record).service
    assert service is not None
    assert service.min_ns is not None and service.min_ns >= 5_000_000


def test_steps_of_sql_are_what_the_server_answers(tmp_path: Path) -> None:
    path = tmp_path / "shop-sql.yaml"
    path.write_text(SHOP)
    spec = load_spec(path, overrides={**_COUNTED, "operation_count": 400, "warmup": "0s"}).spec
    summary = executed(spec, {}, tmp_path / "run").summary
    assert summary is not None
    assert (summary["ok"], summary["failed"]) == (400, 0)
    answered = {name: counts["answered"] for name, counts in summary["command_names"].items()}
    latest, place = answered["select"], answered["insert"]
    assert latest + place == 400
    assert answered == {"select": latest, "insert": place, "update": place, "begin": place, "commit": place}
    assert summary["document_counts"]["returned"] == 20 * latest


def test_a_deadlock_is_an_error_by_its_number(tmp_path: Path) -> None:
    error = {"code": 1213, "name": "Deadlock found", "label": "40001"}
    script = {"faults": [{"when": {"first_n": 7}, "kind": {"error": error}}]}
    summary = executed(read_only(**_COUNTED, operation_count=100, warmup="0s"), script, tmp_path / "run").summary
    assert summary is not None
    assert (summary["ok"], summary["failed"]) == (93, 7)
    assert [(each["code"], each["label"], each["count"]) for each in summary["errors"]] == [(1213, "40001", 7)]


def test_a_load_sends_every_record_once(tmp_path: Path) -> None:
    spec = load_spec("ycsb-c", overrides={"data.records": 5_000}).spec
    summary = executed(spec, {}, tmp_path / "run", loads=True).summary
    assert summary is not None
    assert (summary["inserts"]["sent"], summary["inserts"]["inserted"]) == (5_000, 5_000)
