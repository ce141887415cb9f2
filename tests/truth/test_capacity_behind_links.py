"""Searches for the capacity of an HTTP service and of an SQL database, which is known because it was set.

On the virtual clock what is searched is the workload's own steps; in real time also their protocols, against scripted
servers that speak them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from brimline.experiments.capacity.conclusion import ConclusionKind
from brimline.experiments.settings import CapacitySettings, SweepSettings, quick
from brimline.plan import SqlTarget, TargetPlan, http_target
from brimline.spec import Spec, load_spec
from tests.support.scripted_server import scripted_database, scripted_service
from tests.support.simulation import search

TOLERANCE = 0.03
CAPACITY_OPS_PER_S = 700.0
SCRIPT = {"service": {"kind": "fixed", "ns": 500_000}, "capacity_ops_per_s": CAPACITY_OPS_PER_S}
"""Below the gate's rate nothing waits, above it everything does."""
WORKLOADS = {
    "http": """
name: orders
protocol: http
values: {id: {kind: int, min: 1, max: 1000}}
operations: {look: {share: 1, get: {path: /orders/$id}}}
""",
    "sql": """
name: orders
protocol: sql
database: shop
collections: {orders: existing}
values: {id: {kind: int, min: 1, max: 1000}}
operations: {look: {share: 1, sql: "SELECT * FROM orders WHERE id = $id"}}
""",
}
SHORT = CapacitySettings(
    preset="quick",
    sweep=SweepSettings(warmup_s=0.1, duration_s=0.5, connections_max=16),
    calibrate_s=0.2,
    warmup_s=0.1,
    window_s=0.5,
    operations_min=100,
    budget_s=8.0,
    budget_elapses=True,
)
"""A search that fits among the tests: its windows are too short for a narrow interval."""


@pytest.fixture(params=WORKLOADS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def spec(protocol: str, tmp_path: Path) -> Spec:
    path = tmp_path / "orders.yaml"
    path.write_text(WORKLOADS[protocol], encoding="utf-8")
    return load_spec(path).spec


@contextmanager
def scripted(protocol: str, spec: Spec) -> Iterator[TargetPlan]:
    """The scripted server in real time."""
    if protocol == "http":
        with scripted_service(SCRIPT) as service:
            yield http_target(spec, address=service.address, authority=service.address)
    else:
        with scripted_database(SCRIPT) as address:
            yield SqlTarget(kind="mysql", address=address, database="shop")


def test_the_capacity_is_found(spec: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    settings = replace(quick(), calibrate_s=0.2)
    conclusion = search(SCRIPT, tmp_path / "search", seed=1, settings=settings, spec=spec).conclusion
    assert conclusion.kind is ConclusionKind.SUSTAINED, conclusion.headline
    assert conclusion.sustained is not None
    assert conclusion.sustained.value == pytest.approx(CAPACITY_OPS_PER_S, rel=TOLERANCE)
    assert conclusion.sustained.low <= CAPACITY_OPS_PER_S <= conclusion.sustained.high


STEPS = """
name: orders
collections: {orders: {records: 1k, fields: {customer: {kind: int, max: 9}}}}
values: {order: {key_of: orders}}
operations:
  move:
    share: 1
    steps:
      - find: {collection: orders, filter: {_id: $order}, limit: 1}
      - update: {collection: orders, filter: {_id: $order}, update: {$inc: {moved: 1}}}
"""


def test_that_of_an_operation_of_two_steps_is_half_as_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    (tmp_path / "orders.yaml").write_text(STEPS, encoding="utf-8")
    spec, settings = load_spec(tmp_path / "orders.yaml").spec, replace(quick(), calibrate_s=0.2)
    conclusion = search(SCRIPT, tmp_path / "search", seed=1, settings=settings, spec=spec).conclusion
    assert conclusion.kind is ConclusionKind.SUSTAINED, conclusion.headline
    assert conclusion.sustained is not None
    assert conclusion.sustained.value == pytest.approx(CAPACITY_OPS_PER_S / 2, rel=TOLERANCE)
    assert conclusion.sustained.low <= CAPACITY_OPS_PER_S / 2 <= conclusion.sustained.high


@pytest.mark.alone
@pytest.mark.long  # a machine with other work ends such a search without a figure
@pytest.mark.slow("a search in real time; its twin on the virtual clock is test_that_of_an_operation_of_two_steps_…")
def test_a_short_search_in_real_time_finds_where_the_server_is_full(protocol: str, spec: Spec, tmp_path: Path) -> None:
    """Not within which rate the objective holds: that is for longer windows, on a quiet machine."""
    with scripted(protocol, spec) as server:
        found = search(SCRIPT, tmp_path / "search", seed=1, settings=SHORT, spec=spec, server=server)
    conclusion = found.conclusion
    assert conclusion.sweep.saturation_ops_per_s == pytest.approx(CAPACITY_OPS_PER_S, rel=TOLERANCE)
    if conclusion.sustained is not None:
        assert conclusion.sustained.low <= (1 + TOLERANCE) * CAPACITY_OPS_PER_S


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.slow(
    "the quick preset in real time; its twin on the virtual clock is test_that_of_an_operation_of_two_steps_…"
)
def test_the_capacity_is_found_in_real_time(protocol: str, spec: Spec, tmp_path: Path) -> None:
    with scripted(protocol, spec) as server:
        found = search(SCRIPT, tmp_path / "search", seed=1, settings=quick(), spec=spec, server=server)
    conclusion = found.conclusion
    assert conclusion.kind is ConclusionKind.SUSTAINED, conclusion.headline
    assert conclusion.sustained is not None
    assert conclusion.sustained.value == pytest.approx(CAPACITY_OPS_PER_S, rel=TOLERANCE)
    assert conclusion.sustained.low <= CAPACITY_OPS_PER_S <= conclusion.sustained.high
