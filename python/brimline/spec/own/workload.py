"""Owns a person's own workload as a whole: collections, values and operations, read together."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

from brimline.spec.data import DataSpec
from brimline.spec.document import Path
from brimline.spec.own.command_steps import CommandSteps
from brimline.spec.own.expressions import Scope
from brimline.spec.own.forms import Forms, Table
from brimline.spec.own.http import HttpSpec
from brimline.spec.own.operations import OwnOperation
from brimline.spec.own.problems import Problem
from brimline.spec.own.protocols import all_kinds
from brimline.spec.own.replies import saved_names
from brimline.spec.own.request_steps import RequestSteps
from brimline.spec.own.step_kind import ProtocolName
from brimline.spec.own.steps import StepReader
from brimline.spec.own.tables import Rows
from brimline.spec.own.unsaved import check_saves
from brimline.spec.own.values import FORMS, NamedValues, read_named

# Bounds of the engine.
_STEPS_MAX: Final = 4096
_SAVED_MAX: Final = 1024


@dataclass(frozen=True, slots=True)
class OwnWorkload:
    """What the plan is made from. Expressions are plain values in the plan's form; see `Node`.

    `shapes` are the collections with a shape. `values` are in an order in which each refers to earlier ones only.
    """

    shapes: dict[str, DataSpec]
    tables: list[Table]
    values: list[tuple[str, dict[str, Any]]]
    saved: list[str]
    steps: dict[str, list[dict[str, Any]]]


def read_workload(
    *,
    protocol: ProtocolName,
    default: ProtocolName,
    shapes: dict[str, DataSpec],
    databases: dict[str, str],
    values: dict[str, Any],
    operations: Mapping[str, OwnOperation],
    directory: FilePath,
    files: dict[Path, Rows],
    http: HttpSpec | None = None,
) -> OwnWorkload:
    """Reads values and operations against the collections, and the files that values name.

    Of each operation it is the form of `protocol`; one without several forms has the words of `default`, and one that
    has nothing for `protocol` is left out. Raises Problem, and pydantic.ValidationError for generators and key laws.
    """
    forms = Forms(FORMS, shapes, databases, directory, files)
    for name, shape in shapes.items():
        forms.check_collections(shape.template or {}, ("collections", name, "fields"))
    definitions = {
        name: (form[0], ("operations", name, *form[1]))
        for name, each in operations.items()
        if (form := each.form(protocol, default=default)) is not None
    }
    saved_by = _saved_by(definitions)
    places = itertools.count()
    named = read_named(values, forms, saved_by, places)
    slots = {name: number for number, name in enumerate(saved_by)}

    def reader(scope: Scope) -> StepReader:
        if protocol == "mongodb":
            plans = [node.plan for node in named.nodes.values()]
            return CommandSteps(protocol, forms, scope, slots, next(iter(databases.values())), plans)
        said = http or HttpSpec()
        return RequestSteps(protocol, forms, scope, slots, said.plain_headers, said.secret_header_names)

    steps = {name: _steps(given, path, named, reader) for name, (given, path) in definitions.items()}
    if sum(map(len, steps.values())) > _STEPS_MAX:
        message = f"have more than {_STEPS_MAX} commands together"
        raise Problem(("operations",), message, "make them fewer")
    if len(slots) > _SAVED_MAX:
        raise Problem(("operations",), f"save more than {_SAVED_MAX} values", "save fewer")
    if protocol == "mongodb":
        check_saves(definitions, shapes, values)
    nodes = [(name, node.plan) for name, node in named.nodes.items()]
    return OwnWorkload(shapes, forms.tables, nodes, list(slots), steps)


def _steps(
    definition: dict[str, Any], path: Path, named: NamedValues, reader_of: Callable[[Scope], StepReader]
) -> list[dict[str, Any]]:
    scope = named.scope()
    scope.saved_later = frozenset(_saved_in(definition))
    reader = reader_of(scope)
    if "steps" not in definition:
        return reader.step(definition, path)
    made = reader.read(definition["steps"], (*path, "steps"))
    if not made:
        names = ", ".join(all_kinds(reader.protocol))
        raise Problem((*path, "steps"), "has no step but a pause", f"write one of {names}")
    return made


def _saved_by(definitions: Mapping[str, tuple[dict[str, Any], Path]]) -> dict[str, list[str]]:
    """Which operations save a name, by the name."""
    found: dict[str, list[str]] = {}
    for name, (definition, _) in definitions.items():
        for saved in dict.fromkeys(_saved_in(definition)):
            found.setdefault(saved, []).append(name)
    return found


def _saved_in(definition: dict[str, Any]) -> list[str]:
    """The names that an operation saves, in order."""
    steps = definition.get("steps", [definition])
    names: list[str] = []
    for step in steps if isinstance(steps, list) else []:
        names += saved_names(step)
        inner = step.get("transaction") if isinstance(step, dict) else None
        inner = inner.get("steps") if isinstance(inner, dict) else inner
        names += [name for each in inner for name in saved_names(each)] if isinstance(inner, list) else []
    return names
