"""Owns what of a spec belongs together: collections and operations of one's own, and nothing about kinds."""

from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from brimline.spec.own.keys import choice
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.own.protocols import FORMS, STEPS
from brimline.spec.own.step_kind import ProtocolName
from brimline.spec.readers import shown

OF_KINDS: Final = (
    "keys",
    "scan_length",
    "read_all_fields",
    "name_read_fields",
    "verify_reads",
    "upsert",
    "insert_batch_size",
    "write_all_fields",
    "transaction",
)
"""What is said about read, update, insert, scan and transaction, and means nothing to operations of one's own."""


def check_own(value: dict[str, Any]) -> None:
    """Refuses what has no place beside collections, or without them. Raises Problem."""
    operations = value.get("operations")
    protocol = value.get("protocol")
    if protocol is not None:
        choice(protocol, ("protocol",), tuple(FORMS))
    if protocol != "http" and value.get("http") is not None:
        raise Problem(("http",), "is about a service", "add protocol: http, or leave http out")
    for name in ("tables", "isolation"):
        if protocol not in (None, "sql") and value.get(name) is not None:
            raise Problem((name,), "is about an SQL database", f"leave {name} out")
    is_own = isinstance(operations, dict) and any(isinstance(each, dict) for each in operations.values())
    if value.get("collections") is None:
        needs_none = is_own and protocol not in (None, "mongodb")
        for name in ("database", "values", "tables"):
            if value.get(name) is not None and (name == "tables" or not needs_none):
                hint = "write data.database" if name == "database" else "add collections, and operations with steps"
                raise Problem((name,), "belongs to a workload with collections", hint)
        if is_own and value.get("data") is not None:
            hint = "write collections: {orders: {records: 100k}} in place of data"
            raise Problem(("data",), "is of a workload whose operations are shares", hint)
        if needs_none:
            _check_own_alone(value)
        steps = STEPS["mongodb" if protocol is None else protocol]
        if not steps.has_records and not is_own and operations is not None:
            hint = f"write operations: {{look: {steps.example}}}"
            raise Problem(("operations",), f"are by key, which {steps.target} has nothing of", hint)
        if is_own and protocol in (None, "mongodb"):
            meant = _protocol_meant(operations or {}) if protocol is None else None
            if meant is not None:
                raise Problem(("protocol",), "is missing", f"add protocol: {meant}")
            raise Problem(
                ("collections",), "is missing", "add collections: {orders: {records: 100k}}, or orders: existing"
            )
        return
    data = value.get("data")
    if data is not None:
        first = (next(iter(data)),) if isinstance(data, dict) and data else ()
        hint = "write it in the collection, such as collections: {orders: {records: 100k}}"
        raise Problem(("data", *first), "has no place beside collections", hint)
    _check_own_alone(value)
    if operations is not None and not isinstance(operations, dict):
        hint = "write operations: {look: {share: 50%, find: {collection: …}}}"
        raise Problem(("operations",), f"must be operations by name, not {shown(operations)}", hint)
    if isinstance(operations, dict) and operations and not is_own:
        name = next(iter(operations))
        hint = f"write {name}: {{share: 50%, find: {{collection: …}}}}"
        raise Problem(("operations", name), "must be an operation with steps, as there are collections", hint)


def _protocol_meant(operations: dict[str, Any]) -> ProtocolName | None:
    """Which protocol has the first step that no command of MongoDB's is."""
    given = [each for each in operations.values() if isinstance(each, dict)]
    listed = [each["steps"] for each in given if isinstance(each.get("steps"), list)]
    steps = [*given, *(step for several in listed for step in several if isinstance(step, dict))]
    others = (protocol for protocol in FORMS if protocol != "mongodb")
    kinds = ((name, protocol) for protocol in others for name in STEPS[protocol].kinds)
    return next((protocol for name, protocol in kinds if any(name in step for step in steps)), None)


def _check_own_alone(value: dict[str, Any]) -> None:
    """Refuses what is about operations by key."""
    for name in OF_KINDS:
        if value.get(name) is not None:
            raise Problem((name,), "says nothing about operations of your own", f"leave {name} out")
    if value.get("operation_log") is True:
        hint = "leave operation_log out; each step has its histograms"
        raise Problem(("operation_log",), "has no rows for operations of your own", hint)


def unknown_in_slo(name: str, shares: dict[str, float], *, is_own: bool) -> ValidationError:
    """What is wrong with a limit on an operation that there is none of."""
    if is_own:
        return Problem(("slo", name), "is no operation of the workload", nearest(name, shares)).as_validation_error()
    unknown = InitErrorDetails(type="extra_forbidden", loc=("slo", name), input=None)
    return ValidationError.from_exception_data("Spec", [unknown])
