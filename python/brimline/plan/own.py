"""Owns the step from a person's own collections, values and operations to the plan's work."""

from collections.abc import Mapping
from typing import Any

from brimline.errors import UsageError
from brimline.plan import data as data_plan
from brimline.plan import model
from brimline.plan.operations import CollectionPlan, OperationsWork, Sampled
from brimline.plan.pacing_plan import pacer_plan
from brimline.spec.model import Spec
from brimline.spec.own import CollectionSpec, KeyOf, OwnOperation, OwnOperations, OwnWorkload, Table
from brimline.spec.own.kinds import KINDS
from brimline.spec.own.protocols import protocol_of_target
from brimline.spec.own.step_kind import ProtocolName


def operations_work(spec: Spec, target: model.TargetPlan) -> OperationsWork:
    """The work of `spec`, which has operations of its own, in the words of `target`.

    Raises UsageError where it has no words for such a target.
    """
    read = spec.own_workload(spec_protocol(spec, target))
    return OperationsWork.model_validate(
        {
            "collections": [_collection(name, shape, read.shapes) for name, shape in spec.shapes.items()],
            "tables": [_table(table) for table in read.tables],
            "values": [{"name": name, "value": _expression(plan, read.shapes)} for name, plan in read.values],
            "saved": read.saved,
            "operations": _operations(spec, read, target),
            "loads": _loads(spec),
        }
    )


def spec_protocol(spec: Spec, target: model.TargetPlan) -> ProtocolName:
    """Which of its forms a workload has on `target`; of one that answers by itself the first."""
    return spec.protocols[0] if target.kind in ("null", "simulated") else protocol_of_target(target.kind)


def require_protocol(spec: Spec, target: model.TargetPlan) -> None:
    """Raises UsageError where `spec` is about another kind of target."""
    if spec.isolation is not None and target.kind not in ("mysql", "postgres", "null", "simulated"):
        raise UsageError("isolation is about an SQL database, and the target is none", hint="leave isolation out")
    if spec_protocol(spec, target) not in spec.protocols:
        raise UsageError(
            f"the workload runs on {' or '.join(spec.protocols)}, and not on {spec_protocol(spec, target)}",
            hint="give the address of such a target, or another workload",
        )


def main_operation(spec: Spec) -> str | None:
    """Where each operation has a load of its own, that of the first is the plan's: the name of this operation."""
    if any(spec.operations.shares.values()) or not isinstance(spec.operations, OwnOperations):
        return None
    return next(iter(spec.operations.by_name))


def with_tables(plan: model.Plan, contents: Mapping[str, tuple[bytes, int]]) -> model.Plan:
    """`plan` with the rows of tables by name: their BSON documents one behind another, and how many there are."""
    if not isinstance(plan.work, OperationsWork):
        raise TypeError("only operations of a person's own have tables")
    return plan.model_copy(update={"work": plan.work.with_tables(contents)})


def collection_plan(plan: model.Plan, index: int) -> model.Plan:
    """`plan` with namespace and data of its collection `index`, so that what is about one collection takes it."""
    if not isinstance(plan.work, OperationsWork):
        return plan
    return plan.model_copy(update=_placed(plan.work.collections[index]))


def _placed(collection: CollectionPlan) -> dict[str, Any]:
    namespace = model.Namespace(database=collection.database, collection=collection.collection)
    return {"namespace": namespace, "data": collection.data}


def _collection(name: str, shape: CollectionSpec, shapes: data_plan.Collections) -> CollectionPlan:
    return CollectionPlan(
        name=name,
        database=shape.database,
        collection=shape.collection,
        data=data_plan.document_plan(shape, shapes),
        time_series="timeseries" in shape.options,
    )


def _table(table: Table) -> dict[str, Any]:
    sample, rows = table.sample, table.rows
    return {
        "name": table.name,
        "columns": table.columns,
        "row_count": 0 if rows is None else rows.row_count,
        "sha256": "" if rows is None else rows.sha256,
        "order": table.order,
        "at_end": table.at_end,
        "scope": table.scope,
        "content": b"" if rows is None else rows.content,
        "sample": None
        if sample is None
        else Sampled(
            database=sample.database, collection=sample.collection, fields=sample.fields, row_count_max=sample.count
        ),
    }


def _expression(plan: dict[str, Any], shapes: data_plan.Collections) -> dict[str, Any]:
    """An expression with its generators in the engine's own words."""
    if plan["kind"] == "generator":
        return {"kind": "generator", "spec": _generator(plan["spec"], shapes)}
    return {name: _lowered(value, shapes) for name, value in plan.items()}


def _lowered(value: Any, shapes: data_plan.Collections) -> Any:
    if isinstance(value, dict):
        if "kind" in value:
            return _expression(value, shapes)
        return {name: _lowered(each, shapes) for name, each in value.items()}
    return [_lowered(each, shapes) for each in value] if isinstance(value, list) else value


def _generator(spec: Any, shapes: data_plan.Collections) -> dict[str, Any]:
    if isinstance(spec, KeyOf):
        return data_plan.key_of_plan(spec.data, spec.keys)
    return data_plan.value_plan(spec, shapes)


def _operations(spec: Spec, read: OwnWorkload, target: model.TargetPlan) -> list[dict[str, Any]]:
    shares = spec.operations.shares
    total, main = sum(shares.values()), main_operation(spec)
    return [
        {
            "name": name,
            "weight": 1.0 if name == main else shares[name] / total if total else 0.0,
            "steps": [_step(name, each, read.shapes, target) for step in steps for each in _sent_apart(step, target)],
        }
        for name, steps in read.steps.items()
        if name in _sent(spec)
    ]


def _sent_apart(step: dict[str, Any], target: model.TargetPlan) -> list[dict[str, Any]]:
    """A step as one for each of its statements where these may be for several client-routed shards.

    One that looks into its reply stays as it is, and so does a command in a person's own words.
    """
    is_routed = isinstance(target, model.WireTarget) and target.server_count > 1
    if not is_routed or step.get("statements", 1) == 1 or step["collection"] is None or step["expect"] or step["save"]:
        return [step]
    field = next(kind.statements for kind in KINDS.values() if kind.command == step["command"])
    body = {each["name"]: each["value"] for each in step["body"].get("fields", ())}
    if field not in body or body[field]["kind"] != "list":
        return [step]

    def alone(number: int, statement: dict[str, Any]) -> dict[str, Any]:
        fields = body | {field: {"kind": "list", "items": [statement]}}
        made = [{"name": name, "value": value} for name, value in fields.items()]
        pause = step.get("think_time") if number == 1 else None
        name = f"{step['name']}.{number}"
        return {
            **step, "name": name, "statements": 1, "body": {"kind": "document", "fields": made}, "think_time": pause
        }  # fmt: skip

    return [alone(number, each) for number, each in enumerate(body[field]["items"], start=1)]


def _step(
    operation: str, step: dict[str, Any], shapes: data_plan.Collections, target: model.TargetPlan
) -> dict[str, Any]:
    """A step as `target` takes it: of several forms of a statement the one for its dialect."""
    by_target = step.get("of")
    if by_target is not None:
        chosen = next(iter(by_target)) if target.kind in ("null", "simulated") else target.kind
        if chosen not in by_target:
            there = next(iter(by_target))
            raise UsageError(
                f"the step {step['name']} of {operation} has a statement for {there} alone",
                hint=f"add {chosen}: …",
            )
        step = {name: value for name, value in step.items() if name != "of"} | by_target[chosen]
        if isinstance(target, model.HttpTarget) and target.base:
            step["request"] = _below(target.base, step["request"])
    expect = [
        {**each, "value": _expression(each["value"], shapes)} if "value" in each else each for each in step["expect"]
    ]
    return {**step, "body": _expression(step["body"], shapes), "expect": expect}


def _below(base: str, request: dict[str, Any]) -> dict[str, Any]:
    """A request whose path begins with the base path; one that is a value as a whole has it already."""
    first, *rest = request["target"]
    return (
        {**request, "target": [{"text": base + first["text"]}, *rest]}
        if "text" in first
        else ({**request, "target": [{"text": base}, first, *rest]} if first["as"] == "url" else request)
    )


def _sent(spec: Spec) -> Mapping[str, OwnOperation]:
    assert isinstance(spec.operations, OwnOperations)  # noqa: S101 - of every spec with collections
    return spec.operations.sent


def _loads(spec: Spec) -> list[dict[str, Any]]:
    main = main_operation(spec)
    return [
        {"operations": [place], "pacer": pacer_plan(each.load), "connections": each.effective_connections}
        for place, (name, each) in enumerate(_sent(spec).items())
        if each.load is not None and name != main
    ]
