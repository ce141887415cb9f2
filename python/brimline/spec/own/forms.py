"""Owns what the forms of values have in common: what they are read against, and what they leave for the plan."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails

from brimline.spec import generators
from brimline.spec.data import DataSpec
from brimline.spec.document import Path
from brimline.spec.keys import Keys
from brimline.spec.own.expressions import Scope, described, read_expression
from brimline.spec.own.nodes import Node
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.own.tables import Rows, Sample
from brimline.spec.readers import shown


@dataclass(frozen=True, slots=True)
class KeyOf:
    """A key of a loaded record, under a law."""

    data: DataSpec
    keys: Keys


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the workload: rows of a file, or a sample to be drawn; and how one row is taken."""

    name: str
    order: str
    at_end: str
    scope: str
    rows: Rows | None
    sample: Sample | None

    @property
    def columns(self) -> tuple[str, ...]:
        """What the rows have, as far as it is known beforehand."""
        return self.rows.columns if self.rows is not None else self.sample.fields if self.sample is not None else ()


@dataclass
class Forms:
    """Reads forms, each by the reader of the key that it begins with.

    `shapes` are the collections with a shape, in order, `databases` those of all by name. Files are read relative to
    `directory`, once: `files` keeps them.
    """

    readers: "Mapping[str, Form]"
    shapes: dict[str, DataSpec]
    databases: dict[str, str]
    directory: FilePath
    files: dict[Path, Rows] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)

    def read(self, value: Any, path: Path, scope: Scope) -> Node:
        """The expression of a form, or of a plain value. Raises Problem, and ValidationError for a generator."""
        if not isinstance(value, dict):
            return read_expression(value, path, scope)
        leading = next((key for key in value if key in self.readers), None)
        if leading is not None:
            return self.readers[leading](self, value, path, scope)
        first = next(iter(value), "")
        if first.startswith("$"):
            return read_expression(value, path, scope)
        if not value:
            raise Problem(path, "says nothing", "write a value such as {kind: int, max: 5}")
        hint = nearest(first, self.readers)
        if not hint.startswith("did"):
            hint = f"a document is written {{document: {{{first}: …}}}}; forms begin with {', '.join(self.readers)}"
        raise Problem((*path, first), f"{shown(first)} begins no value", hint)

    def shape(self, name: Any, path: Path) -> int:
        """The place of a collection whose records are known."""
        self.database(name, path)
        if name not in self.shapes:
            hint = f"take rows that exist: {{sample: {name}}}"
            raise Problem(path, f"{shown(name)} is existing, so that its keys aren't known", hint)
        return list(self.shapes).index(name)

    def check_collections(self, made: Any, path: Path) -> None:
        """Looks whether the collections exist whose keys a generator has, or a template's fields."""
        for within, name in generators.named_collections(made):
            self.shape(name, (*path, *within, "of"))

    def database(self, name: Any, path: Path) -> str:
        """The database of a collection of the workload."""
        if not isinstance(name, str) or name not in self.databases:
            hint = nearest(name if isinstance(name, str) else "", self.databases)
            raise Problem(path, f"{shown(name)} is none of the collections", hint)
        return self.databases[name]

    def collection_name(self, name: str) -> str:
        """The server's name of a collection of the workload."""
        return self.shapes[name].collection if name in self.shapes else name


def validated(adapter: TypeAdapter[Any], value: Any, path: Path) -> Any:
    """`value` as a type of the spec; what is wrong in it is reported at `path`."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        # pydantic takes its own errors again only in the form that it takes them in.
        raise ValidationError.from_exception_data("own", [_again(each, path) for each in error.errors()]) from None


def _again(details: Any, path: Path) -> InitErrorDetails:
    return InitErrorDetails(
        type=details["type"], loc=(*path, *details["loc"]), input=details["input"], ctx=details.get("ctx", {})
    )


def require_number(node: Node, path: Path, what: str) -> None:
    """Refuses what surely is no number."""
    if node.type == "decimal":
        raise Problem(path, f"{what} can't calculate with a decimal", "give an int, a long or a double")
    if node.type is not None and not node.is_number:
        raise Problem(path, f"{what} takes a number, and this is {described(node)}", "give a number or such a value")


Form = Callable[[Forms, dict[str, Any], Path, Scope], Node]
