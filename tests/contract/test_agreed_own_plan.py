"""The plan of a person's own operations, as the engine and Python's side agreed on it."""

import json
from pathlib import Path
from typing import Any

from brimline.plan import NullTarget, Plan, resolve
from brimline.spec import load_spec

HERE = Path(__file__).parent


def own_plan() -> Plan:
    """The plan of `own_shop.yaml`; `own_plan.json` holds it."""
    return resolve(load_spec(HERE / "own_shop.yaml").spec, target=NullTarget())


def test_the_plan_is_the_one_that_was_agreed_on() -> None:
    agreed: Any = json.loads((HERE / "own_plan.json").read_text(encoding="utf-8"))
    assert json.loads(own_plan().canonical_json()) == agreed


def test_it_reads_back() -> None:
    text = own_plan().canonical_json()
    assert Plan.from_json(text).canonical_json() == text
    assert Plan.from_json(text).hash8() == own_plan().hash8()


if __name__ == "__main__":  # writes the file after a change that both sides know of
    renewed = json.dumps(json.loads(own_plan().canonical_json()), indent=1, ensure_ascii=False)
    (HERE / "own_plan.json").write_text(renewed + "\n", encoding="utf-8")
