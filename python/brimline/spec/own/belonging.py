"""Owns what of a spec belongs together: collections and operations of one's own, and nothing about kinds."""

from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import InitErrorDetails

from brimline.spec.own.problems import Problem, nearest
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
    is_own = isinstance(operations, dict) and any(isinstance(each, dict) for each in operations.values())
    if value.get("collections") is None:
        for name in ("database", "values", "tables"):
            if value.get(name) is not None:
                hint = "write data.database" if name == "database" else "add collections, and operations with steps"
                raise Problem((name,), "belongs to a workload with collections", hint)
        if is_own and value.get("data") is not None:
            hint = "write collections: {orders: {records: 100k}} in place of data"
            raise Problem(("data",), "is of a workload whose operations are shares", hint)
        if is_own:
            raise Problem(
                ("collections",), "is missing", "add collections: {orders: {records: 100k}}, or orders: existing"
            )
        return
    data = value.get("data")
    if data is not None:
        first = (next(iter(data)),) if isinstance(data, dict) and data else ()
        hint = "write it in the collection, such as collections: {orders: {records: 100k}}"
        raise Problem(("data", *first), "has no place beside collections", hint)
    for name in OF_KINDS:
        if value.get(name) is not None:
            raise Problem((name,), "says nothing about operations of your own", f"leave {name} out")
    if value.get("operation_log") is True:
        hint = "leave operation_log out; each step has its histograms"
        raise Problem(("operation_log",), "has no rows for operations of your own", hint)
    if operations is not None and not isinstance(operations, dict):
        hint = "write operations: {look: {share: 50%, find: {collection: …}}}"
        raise Problem(("operations",), f"must be operations by name, not {shown(operations)}", hint)
    if isinstance(operations, dict) and operations and not is_own:
        name = next(iter(operations))
        hint = f"write {name}: {{share: 50%, find: {{collection: …}}}}"
        raise Problem(("operations", name), "must be an operation with steps, as there are collections", hint)


def unknown_in_slo(name: str, shares: dict[str, float], *, is_own: bool) -> ValidationError:
    """What is wrong with a limit on an operation that there is none of."""
    if is_own:
        return Problem(("slo", name), "is no operation of the workload", nearest(name, shares)).as_validation_error()
    unknown = InitErrorDetails(type="extra_forbidden", loc=("slo", name), input=None)
    return ValidationError.from_exception_data("Spec", [unknown])
