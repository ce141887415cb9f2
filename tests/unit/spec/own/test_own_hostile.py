"""Whatever stands in a workload of one's own, it resolves or is refused with its place; nothing else happens."""

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brimline.errors import SpecError, UsageError
from brimline.plan import HttpTarget, NullTarget, TargetPlan, resolve, sql_target
from brimline.spec import load_spec
from brimline.spec.document import dump_document, parse_document
from tests.support.explained_plan import explain
from tests.support.repetitions import repetitions

SHOPS = Path(__file__).parents[3] / "contract"
TARGETS: dict[str, tuple[TargetPlan, ...]] = {
    "own_shop.yaml": (NullTarget(),),
    "http_shop.yaml": (HttpTarget(address="h:1", authority="h", base="/v1"), NullTarget()),
    "sql_shop.yaml": tuple(sql_target(kind=kind, address="h:1", database="d") for kind in ("mysql", "postgres")),
}
VALUES = {name: parse_document((SHOPS / name).read_text(encoding="utf-8"), name).values for name in TARGETS}
KEYS = (
    "protocol",
    "http",
    "sql",
    "get",
    "headers",
    "json",
    "row",
    "mongodb",
    "kind",
    "steps",
    "find",
    "share",
    "load",
    "$set",
    "_id",
    "collection",
    "save",
    "expect",
    "think_time",
    "",
)
JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, float("nan"), 10**30, "", "$", "$$", "$x", "$customer", "$customer.a", "$now", [], {},
    [[]], [None], {"": 1}, {"$value": None}, {"$value": {"$value": 1}}, {"kind": "int"}, {"$date": 1}, {"$date": "x"},
    {"$oid": 5}, {"$binary": 1}, {"$numberLong": "x"}, {"$regularExpression": {}}, {"$timestamp": {}}, {"csv": 5},
    {"csv": "/"}, {"csv": "own_skus.csv", "column": 5}, {"sample": []}, {"key_of": {}}, {"add": []}, {"list": 5},
    {"one_of": [{"value": 1, "weight": "x"}]}, {"date_add": {"date": 1}}, {"document": 5}, [{"find": {}}],
    [{"transaction": []}], "existing", "closed", {"kind": "constant"}, {"min": "x"}, {"save": 5}, {"path": 5},
    {"env": "X"}, {"env": 5}, "/a?$id", "${", "SELECT '", "SELECT $id; x", "INSERT INTO a VALUES", "/*", {"text": "("},
    {"matches": "[["}, {"mysql": "SELECT 1"}, {"postgres": "SELECT $q$ $id"}, {"get": "/"}, {"statement": None}, "http",
)  # fmt: skip


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield from [path] if path else []
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(inner, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def mutated(rng: random.Random, shop: str) -> dict[str, Any]:
    """The workload with one thing gone, under another key, or replaced by what doesn't belong there."""
    values: dict[str, Any] = copy.deepcopy(VALUES[shop])
    path = rng.choice(list(paths(values)))
    around, key = at(values, path[:-1]), path[-1]
    match rng.randrange(4):
        case 0:
            del around[key]
        case 1 if isinstance(around, dict):
            around[rng.choice(KEYS)] = around.pop(key)
        case 2:
            around[key] = copy.deepcopy(at(values, rng.choice(list(paths(values)))))
        case _:
            around[key] = copy.deepcopy(rng.choice(JUNK))
    return values


@pytest.mark.parametrize("seed", [*range(4), *repetitions(*range(4, 12))])
@pytest.mark.parametrize("shop", TARGETS)
def test_it_resolves_or_is_refused(shop: str, seed: int, tmp_path: Path) -> None:
    (tmp_path / "own_skus.csv").write_bytes((SHOPS / "own_skus.csv").read_bytes())
    file = tmp_path / "own.yaml"
    rng = random.Random(seed)
    for _ in range(6 if shop == "own_shop.yaml" else 24):
        file.write_text(dump_document(mutated(rng, shop)), encoding="utf-8")
        try:
            spec = load_spec(file).spec
        except SpecError as error:
            assert error.message.startswith(str(file))
            continue
        for target in TARGETS[shop]:
            try:
                assert explain(resolve(spec, target=target))
            except UsageError as error:
                assert "runs on" in error.message or "alone" in error.message
