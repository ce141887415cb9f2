"""Owns forms that take a row or a cell of a table: of a file, or sampled of a collection."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, Final

from pydantic import TypeAdapter

from brimline.spec import fields
from brimline.spec.document import Path, dotted
from brimline.spec.own.expressions import Scope
from brimline.spec.own.forms import Forms, Table, validated
from brimline.spec.own.keys import check_keys, choice, mapping
from brimline.spec.own.nodes import Node
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.own.tables import CELL_TYPES, Rows, Sample, read_csv, read_jsonl
from brimline.spec.readers import shown

_ROW_COUNT: Final[TypeAdapter[int]] = TypeAdapter(fields.RecordCount)
SAMPLE_ROWS_DEFAULT: Final = 10_000
_ORDERS: Final = ("random", "in_turn")
_ENDS: Final = ("again", "stop", "error")
_SCOPES: Final = ("shared", "worker")
_OF_TABLES: Final = ("order", "at_end", "scope")


def _table(
    forms: Forms, value: dict[str, Any], path: Path, *, rows: Rows | None, sample: Sample | None, types: dict[str, str]
) -> Node:
    order = choice(value.get("order", "random" if sample is not None else "in_turn"), (*path, "order"), _ORDERS)
    if order == "random" and "at_end" in value:
        raise Problem((*path, "at_end"), "rows drawn at random have no end", "leave at_end out, or add order: in_turn")
    at_end = choice(value.get("at_end", "again"), (*path, "at_end"), _ENDS)
    scope = choice(value.get("scope", "shared"), (*path, "scope"), _SCOPES)
    if scope == "worker" and at_end != "again":
        hint = f"leave scope out, or at_end: {at_end}"
        raise Problem((*path, "scope"), "rows that each connection takes for itself begin again at their end", hint)
    name = path[1] if len(path) == 2 and path[0] == "values" else dotted(path)
    place = len(forms.tables)
    table = Table(str(name), order, at_end, scope, rows, sample)
    forms.tables.append(table)
    key = "field" if sample is not None else "column"
    if key not in value:
        return Node({"kind": "row", "table": place}, "document", table.columns or None)
    column = value[key]
    if not isinstance(column, str) or column not in table.columns:
        hint = nearest(column if isinstance(column, str) else "", table.columns)
        raise Problem((*path, key), f"the rows have no {key} {shown(column)}", hint)
    kind = CELL_TYPES[types[column]][0] if column in types else None if sample is not None else "text"
    return Node({"kind": "cell", "table": place, "column": table.columns.index(column)}, kind)


def csv(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """A row or a cell of a CSV file."""
    check_keys(value, path, ("csv", "column", "types", *_OF_TABLES))
    types = mapping(value.get("types", {}), (*path, "types"), "{price: double}")
    for column, kind in types.items():
        choice(kind, (*path, "types", column), tuple(CELL_TYPES))
    rows = _file(forms, value["csv"], (*path, "csv"), lambda file, at: read_csv(file, at, types))
    return _table(forms, value, path, rows=rows, sample=None, types=types)


def jsonl(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """A document of a file with one on each line, or a field of it."""
    check_keys(value, path, ("jsonl", "column", *_OF_TABLES))
    rows = _file(forms, value["jsonl"], (*path, "jsonl"), read_jsonl)
    node = _table(forms, value, path, rows=rows, sample=None, types={})
    return Node(node.plan, None) if node.plan["kind"] == "cell" else node


def _file(forms: Forms, name: Any, path: Path, read: Callable[[FilePath, Path], Rows]) -> Rows:
    if not isinstance(name, str) or not name:
        raise Problem(path, f"must be a file's name, not {shown(name)}", "write it like skus.csv")
    if path not in forms.files:
        forms.files[path] = replace(read(forms.directory / name, path), name=name)
    return forms.files[path]


def sample(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    """A row of a collection, or a field of it, that is read before the run."""
    check_keys(value, path, ("sample", "fields", "field", "count", *_OF_TABLES))
    name = value["sample"]
    database = forms.database(name, (*path, "sample"))
    if "field" in value and "fields" in value:
        raise Problem((*path, "field"), "field and fields both say what is taken", "leave one of them out")
    given = [value["field"]] if "field" in value else value.get("fields", [])
    if not isinstance(given, list) or not all(isinstance(each, str) and each for each in given):
        raise Problem((*path, "fields"), "must be a list of fields", "write fields: [_id, city]")
    count = validated(_ROW_COUNT, value.get("count", SAMPLE_ROWS_DEFAULT), (*path, "count"))
    wanted = Sample(database, forms.collection_name(name), tuple(dict.fromkeys(given)), count)
    return _table(forms, value, path, rows=None, sample=wanted, types={})
