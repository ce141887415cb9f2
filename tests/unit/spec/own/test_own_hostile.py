"""Whatever stands in a workload of one's own, it resolves or is refused with its place; nothing else happens."""

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brimline.errors import SpecError
from brimline.plan import NullTarget, explain, resolve
from brimline.spec import load_spec
from brimline.spec.document import dump_document, parse_document

SHOP = Path(__file__).parents[3] / "contract" / "own_shop.yaml"
VALUES = parse_document(SHOP.read_text(encoding="utf-8"), "own_shop.yaml").values
KEYS = ("kind", "steps", "find", "share", "load", "$set", "_id", "collection", "save", "expect", "think_time", "")
JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, float("nan"), 10**30, "", "$", "$$", "$x", "$customer", "$customer.a", "$now", [], {},
    [[]], [None], {"": 1}, {"$value": None}, {"$value": {"$value": 1}}, {"kind": "int"}, {"$date": 1}, {"$date": "x"},
    {"$oid": 5}, {"$binary": 1}, {"$numberLong": "x"}, {"$regularExpression": {}}, {"$timestamp": {}}, {"csv": 5},
    {"csv": "/"}, {"csv": "own_skus.csv", "column": 5}, {"sample": []}, {"key_of": {}}, {"add": []}, {"list": 5},
    {"one_of": [{"value": 1, "weight": "x"}]}, {"date_add": {"date": 1}}, {"document": 5}, [{"find": {}}],
    [{"transaction": []}], "existing", "closed", {"kind": "constant"}, {"min": "x"}, {"save": 5}, {"path": 5},
)  # fmt: skip


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield from [path] if path else []
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(inner, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def mutated(rng: random.Random) -> dict[str, Any]:
    """The workload with one thing gone, under another key, or replaced by what doesn't belong there."""
    values: dict[str, Any] = copy.deepcopy(VALUES)
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


@pytest.mark.parametrize("seed", range(12))
def test_it_resolves_or_is_refused(seed: int, tmp_path: Path) -> None:
    (tmp_path / "own_skus.csv").write_bytes((SHOP.parent / "own_skus.csv").read_bytes())
    file = tmp_path / "own.yaml"
    rng = random.Random(seed)
    for _ in range(6):
        file.write_text(dump_document(mutated(rng)), encoding="utf-8")
        try:
            spec = load_spec(file).spec
        except SpecError as error:
            assert error.message.startswith(str(file))
            continue
        assert explain(resolve(spec, target=NullTarget()))
