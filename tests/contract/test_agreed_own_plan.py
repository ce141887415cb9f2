"""The plan of a person's own operations, as the engine and Python's side agreed on it."""

import json
from pathlib import Path
from typing import Any

import bson
import pytest
from bson.codec_options import CodecOptions, DatetimeConversion

from brimline import _native
from brimline.plan import NullTarget, Plan, resolve, with_tables
from brimline.plan.operations import OperationsWork
from brimline.spec import load_spec

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "own-operations"


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


def with_rows(plan: Plan) -> Plan:
    """The plan with rows in place of those that a run samples."""
    assert isinstance(plan.work, OperationsWork)
    rows = {
        table.name: (bson.encode({name: f"{name} of a row" for name in table.columns}), 1)
        for table in plan.work.tables
        if table.sample is not None
    }
    return with_tables(plan, rows)


@pytest.mark.parametrize(
    "workload", [HERE / "own_shop.yaml", *sorted(EXAMPLES.glob("*.yaml"))], ids=lambda file: file.stem
)
def test_the_engine_understands_what_was_meant(workload: Path) -> None:
    plan = with_rows(resolve(load_spec(workload).spec, target=NullTarget()))
    assert isinstance(plan.work, OperationsWork)
    assert json.loads(_native.validate_plan(plan.canonical_json())) == json.loads(plan.canonical_json())
    commands = _native.example_commands(plan.canonical_json(), plan.work.table_contents())
    for operation, made in zip(plan.work.operations, commands, strict=True):
        for step, command in zip(operation.steps, made, strict=True):
            document = bson.decode(command, CodecOptions(datetime_conversion=DatetimeConversion.DATETIME_MS))
            assert (next(iter(document)), document["$db"]) == (step.command, step.database)


if __name__ == "__main__":  # writes the file after a change that both sides know of
    renewed = json.dumps(json.loads(own_plan().canonical_json()), indent=1, ensure_ascii=False)
    (HERE / "own_plan.json").write_text(renewed + "\n", encoding="utf-8")
