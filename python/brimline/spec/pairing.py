"""Owns which protocols a workload can run on, and what is wrong where an address is of none of them."""

from collections.abc import Iterator

from brimline.spec.operations import OperationsSpec
from brimline.spec.own import OwnOperations
from brimline.spec.own.operations import check_definition
from brimline.spec.own.problems import Problem
from brimline.spec.own.protocols import FORMS, STEPS
from brimline.spec.own.step_kind import ProtocolName
from brimline.spec.target import protocol_of_uri

AnyOperations = OperationsSpec | OwnOperations


def protocols_of(operations: AnyOperations, declared: ProtocolName | None) -> tuple[ProtocolName, ...]:
    """What operations can run on: what is `declared`, or what each of them has a form for; by key on any database."""
    if declared is not None:
        return (declared,)
    if not isinstance(operations, OwnOperations):
        return tuple(name for name, steps in STEPS.items() if steps.has_records)
    missing = {form for _, form in _missing(operations, declared)}
    return tuple(form for form in FORMS if form not in missing)


def forms_there(operations: AnyOperations, declared: ProtocolName | None) -> tuple[ProtocolName, ...]:
    """Every protocol that some operation has a form for."""
    if not isinstance(operations, OwnOperations):
        return ()
    default = declared or "mongodb"
    there = operations.by_name.values()
    return tuple(form for form in FORMS if any(each.form(form, default=default) is not None for each in there))


def check_forms(operations: AnyOperations, declared: ProtocolName | None) -> None:
    """Refuses operations that say nothing, and forms of which no protocol has all. Raises Problem."""
    if not isinstance(operations, OwnOperations):
        return
    for name, each in operations.by_name.items():
        check_definition(each, ("operations", name), declared or "mongodb")
    wanted = declared
    if wanted is None and not protocols_of(operations, declared):
        wanted = forms_there(operations, declared)[0]
    lacking = next((name for name, form in _missing(operations, declared) if form == wanted), None)
    if wanted is None or lacking is None:
        return
    if declared is not None:
        raise Problem(("operations", lacking), f"has no form for protocol: {wanted}", f"add {wanted}: …")
    message = f"has no form for {wanted}, and there is none that all operations have"
    raise Problem(("operations", lacking), message, f"write {{{wanted}: …}} beside what it has")


def mismatch(
    uri: str, protocols: tuple[ProtocolName, ...], operations: AnyOperations, declared: ProtocolName | None
) -> Problem | None:
    """What is wrong where the target at `uri` speaks what these operations aren't written in; else None."""
    protocol = protocol_of_uri(uri)
    if protocol in protocols:
        return None
    path, scheme = ("target", "uri"), uri.partition("://")[0].lower()
    target = f"{scheme}:// is the address of {STEPS[protocol].target}"
    if protocol == "mongodb" and not scheme.startswith("mongodb"):  # which all else is taken for
        target = "the address is not of a kind that brimline knows"
    if declared is not None:
        message = f"the workload has protocol: {declared}, and {target}"
        return Problem(path, message, f"give an address such as {STEPS[declared].address}, or another workload")
    if not isinstance(operations, OwnOperations) and STEPS[protocol].has_records:
        return Problem(
            path,
            f"scans are MongoDB's queries, and {target}",
            f"write operations of your own: {STEPS[protocol].example}",
        )
    if not isinstance(operations, OwnOperations):
        message = f"operations by key are of a database, and {target}"
        return Problem(
            path, message, f"write operations of your own, with protocol: {protocol} for {STEPS[protocol].target}"
        )
    name = next(name for name, form in _missing(operations, declared) if form == protocol)
    several = ", ".join(f"{form}: …" for form in (*protocols, protocol))
    return Problem(path, f"the operation {name} has no form for it: {target}", f"write {name}: {{{several}}}")


def _missing(operations: OwnOperations, declared: ProtocolName | None) -> Iterator[tuple[str, ProtocolName]]:
    """Each operation and each protocol that it has no form for."""
    for name, each in operations.by_name.items():
        yield from ((name, form) for form in FORMS if each.form(form, default=declared or "mongodb") is None)
