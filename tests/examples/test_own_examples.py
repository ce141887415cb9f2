"""The examples of operations of one's own: each resolves to its steps, and together they show every kind."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from brimline.plan import NullTarget, Plan, explain, load_plans, resolve
from brimline.plan.operations import OperationsWork
from brimline.spec import load_spec
from brimline.spec.own import OwnOperations
from brimline.spec.own.kinds import ALL_KINDS

DIRECTORY = Path(__file__).parents[2] / "examples" / "own-operations"
LOADED: Mapping[str, Mapping[str, int]] = {
    "shop.yaml": {"customers": 2_000, "stock": 200, "orders": 10_000},
    "flights.yaml": {"flights": 5_000, "bookings": 2_000},
    "measurements.yaml": {"sensors": 200, "measurements": 20_000},
    "work-queue.yaml": {"tasks": 20_000},
    "addresses-zh.yaml": {"contacts": 5_000},
}
"""What each loads."""


def plan_of(name: str) -> Plan:
    return resolve(load_spec(DIRECTORY / name).spec, target=NullTarget())


def work_of(name: str) -> OperationsWork:
    work = plan_of(name).work
    assert isinstance(work, OperationsWork)
    return work


def test_each_example_is_expected_and_has_a_line_in_the_readme() -> None:
    readme = (DIRECTORY.parent / "README.md").read_text(encoding="utf-8")
    assert {file.name for file in DIRECTORY.glob("*.yaml")} == set(LOADED)
    assert [name for name in LOADED if f"(own-operations/{name})" not in readme] == []


@pytest.mark.parametrize("name", LOADED)
def test_it_resolves(name: str) -> None:
    spec = load_spec(DIRECTORY / name).spec
    plans = load_plans(spec, target=NullTarget())
    assert {plan.namespace.collection: plan.data.record_count for plan in plans} == LOADED[name]
    assert len([line for line in explain(plan_of(name)) if line.startswith("operation: ")]) == len(
        spec.operations.shares
    )
    assert sum(each.weight for each in work_of(name).operations) == pytest.approx(1)


def test_a_shop() -> None:
    work = work_of("shop.yaml")
    place_order = work.operations[2].steps
    assert [step.name for step in place_order] == [
        "find customers",
        "find stock",
        "update stock",
        "insert orders",
        "commit",
    ]
    assert [step.transaction for step in place_order] == [None, None, "begin", "inside", "commit"]
    assert [len(load.operations) for load in work.loads] == [1]


def test_together_they_show_every_kind_of_step() -> None:
    shown = {kind for name in LOADED for kind in kinds_in(load_spec(DIRECTORY / name).spec.operations)}
    # What none of the stories needs: a command as it is, and a whole document in place of one.
    assert set(ALL_KINDS) - shown == {"command", "replace"}


def kinds_in(operations: Any) -> Iterator[str]:
    assert isinstance(operations, OwnOperations)
    for operation in operations.by_name.values():
        for step in operation.definition.get("steps", [operation.definition]):
            yield from (kind for kind in ALL_KINDS if kind in step)
