"""The prose of a person's own operations: where their values come from, their steps, their loads."""

from brimline import units
from brimline.plan import model
from brimline.plan.operations import OperationPlan, OperationsWork, Step, TablePlan
from brimline.plan.pacing import describe_load


def own_lines(plan: model.Plan, data: list[str]) -> list[str]:
    """Lines of collections, tables and operations. `data` says of each collection with a shape what is in it."""
    work = plan.work
    assert isinstance(work, OperationsWork)
    lines = [f"data: {each}" for each in data] or ["data: what is there already; nothing is loaded"]
    lines += [f"rows: {_table(table)}" for table in work.tables]
    return [*lines, *(f"operation: {_operation(each)}" for each in work.operations)]


def own_load_lines(plan: model.Plan) -> list[str]:
    """A line for each load beside the plan's own."""
    work = plan.work
    assert isinstance(work, OperationsWork)
    lines = []
    for load in work.loads:
        names = ", ".join(work.operations[place].name for place in load.operations)
        changed = {"pacer": load.pacer, "connections": load.connections, "in_flight_max": None, "threads": 1}
        lines.append(f"load of {names}: {describe_load(plan.model_copy(update=changed))}")
    return lines


def _table(table: TablePlan) -> str:
    order = "at random" if table.order == "random" else f"in turn, at the end {table.at_end}"
    if table.sample is not None and not table.row_count:
        taken = ", ".join(table.sample.fields) or "all fields"
        most = units.format_count(table.sample.row_count_max)
        source = f"up to {most} of {table.sample.database}.{table.sample.collection} ({taken})"
    else:
        source = f"{units.format_count(table.row_count)} ({', '.join(table.columns)})"
    return f"{table.name}, {source}, {order}"


def _operation(operation: OperationPlan) -> str:
    share = units.format_percentage(operation.weight) if operation.weight else "a load of its own"
    return f"{operation.name}, {share}: {', '.join(_step(step) for step in operation.steps)}"


def _step(step: Step) -> str:
    # A statement that begins a transaction is a step by itself.
    begin = "begin, " if step.transaction == "begin" and step.request is None else ""
    if step.think_time is None:
        return f"{begin}{step.name}"
    law = "about " if step.think_time.law == "exponential" else ""
    return f"a pause of {law}{units.format_duration(step.think_time.mean_ns)}, {begin}{step.name}"
