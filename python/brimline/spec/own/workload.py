"""Owns a person's own workload as a whole: collections, values and operations, read together."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

from brimline.spec.data import DataSpec
from brimline.spec.document import Path
from brimline.spec.own.forms import Forms, Table
from brimline.spec.own.kinds import all_kinds
from brimline.spec.own.operations import OwnOperation
from brimline.spec.own.problems import Problem
from brimline.spec.own.replies import saved_names
from brimline.spec.own.steps import StepReader
from brimline.spec.own.tables import Rows
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
    shapes: dict[str, DataSpec],
    databases: dict[str, str],
    values: dict[str, Any],
    operations: Mapping[str, OwnOperation],
    directory: FilePath,
    files: dict[Path, Rows],
) -> OwnWorkload:
    """Reads values and operations against the collections, and the files that values name.

    Raises Problem, and pydantic.ValidationError for generators and key laws.
    """
    forms = Forms(FORMS, shapes, databases, directory, files)
    for name, shape in shapes.items():
        forms.check_collections(shape.template or {}, ("collections", name, "fields"))
    saved_by = _saved_by(operations)
    places = itertools.count()
    named = read_named(values, forms, saved_by, places)
    slots = {name: number for number, name in enumerate(saved_by)}
    steps = {
        name: _steps(name, operation, forms=forms, named=named, slots=slots, databases=databases)
        for name, operation in operations.items()
    }
    if sum(map(len, steps.values())) > _STEPS_MAX:
        message = f"have more than {_STEPS_MAX} commands together"
        raise Problem(("operations",), message, "make them fewer")
    if len(slots) > _SAVED_MAX:
        raise Problem(("operations",), f"save more than {_SAVED_MAX} values", "save fewer")
    nodes = [(name, node.plan) for name, node in named.nodes.items()]
    return OwnWorkload(shapes, forms.tables, nodes, list(slots), steps)


def _steps(
    name: str,
    operation: OwnOperation,
    *,
    forms: Forms,
    named: NamedValues,
    slots: dict[str, int],
    databases: dict[str, str],
) -> list[dict[str, Any]]:
    path: Path = ("operations", name)
    definition = operation.definition
    scope = named.scope()
    scope.saved_later = frozenset(_saved_in(definition))
    plans = [node.plan for node in named.nodes.values()]
    reader = StepReader(forms, scope, slots, next(iter(databases.values())), plans)
    if "steps" not in definition:
        return reader.step(definition, path)
    made = reader.read(definition["steps"], (*path, "steps"))
    if not made:
        raise Problem((*path, "steps"), "has no step but a pause", f"write one of {', '.join(all_kinds())}")
    return made


def _saved_by(operations: Mapping[str, OwnOperation]) -> dict[str, list[str]]:
    """Which operations save a name, by the name."""
    found: dict[str, list[str]] = {}
    for name, operation in operations.items():
        for saved in dict.fromkeys(_saved_in(operation.definition)):
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
