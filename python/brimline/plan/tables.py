"""Owns the tables that a workload's collections become in an SQL database: columns, keys and indexes, as statements.

The key of a collection is the column `id`, of YCSB's records `ycsb_key`. A nested part is a column of JSON; an array
that the workload says so of is a child table with a row for each element. What has no counterpart is refused by name.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from brimline.errors import UsageError
from brimline.plan.columns import (
    Column,
    Dialect,
    column_type,
    field_column,
    fitted,
    key_column,
    plain_columns,
    sql_type,
)
from brimline.plan.targets import Bulk
from brimline.spec import generators
from brimline.spec.model import Spec
from brimline.spec.own import CollectionSpec, OwnIndex, TableSpec

YCSB_KEY: Final = "ycsb_key"
"""What YCSB's own binding calls the key."""
_KEY: Final = "id"
_NAME_MAX: Final[dict[Dialect, int]] = {"mysql": 64, "postgres": 63}
_POSITION: Final = "position"
_VALUE: Final = "value"
_ENGINE: Final = " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
_HARMLESS_INDEX_OPTIONS: Final = ("name", "unique", "background")
_SERVERS: Final[dict[Dialect, str]] = {"mysql": "MariaDB", "postgres": "PostgreSQL"}


@dataclass(frozen=True, slots=True)
class ChildTable:
    """A table of the elements of an array: how it is made and indexed, and how it is filled from its parent.

    `column` is the parent's, in which the array is loaded as JSON; `leave` takes it away when the child is filled.
    """

    name: str
    column: str
    create: str
    fill: str
    leave: str
    indexes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SqlTable:
    """The table of a collection. `columns` are those of a load, the key first; the statements end without a semicolon.

    The order is: `create`, the load, each child's `create`, `fill`, `indexes` and `leave`, then `indexes`.
    """

    collection: str
    name: str
    dialect: Dialect
    columns: tuple[Column, ...]
    create: str
    indexes: tuple[str, ...] = ()
    children: tuple[ChildTable, ...] = ()

    @property
    def key(self) -> str:
        """The column of the primary key."""
        return self.columns[0].name

    @property
    def quoted(self) -> str:
        """The name as statements have it."""
        return quoted(self.name, self.dialect)

    @property
    def insert(self) -> str:
        """The beginning of an insert of whole rows."""
        names = ", ".join(quoted(column.name, self.dialect) for column in self.columns)
        return f"INSERT INTO {self.quoted} ({names}) VALUES"

    @property
    def after_load(self) -> tuple[str, ...]:
        """What follows the load: the children, and the indexes, which are made faster of rows that are there."""
        of_children = [
            each for child in self.children for each in (child.create, child.fill, *child.indexes, child.leave)
        ]
        return (*of_children, *self.indexes)

    def bulk(self, form: Literal["rows", "copy"] | None = None) -> Bulk:
        """The table as a load has it: by `COPY` where the server has it, unless `form` says otherwise."""
        form = form or ("copy" if self.dialect == "postgres" else "rows")
        return Bulk(table=self.name, columns=tuple(column.bulk() for column in self.columns), form=form)


def quoted(name: str, dialect: Dialect) -> str:
    """An identifier, whatever is in it."""
    mark = "`" if dialect == "mysql" else '"'
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def table_names(spec: Spec, collection: str) -> tuple[str, ...]:
    """The table of one of a workload's own collections, and its children, in any dialect."""
    name = spec.shapes[collection].collection
    asked = (spec.tables or {}).get(collection, TableSpec())
    return (name, *(_child_name(name, field) for field in asked.child))


def sql_tables(spec: Spec, dialect: Dialect) -> tuple[SqlTable, ...]:
    """The tables of a workload's collections, in order; none of those that are `existing`.

    Raises UsageError, which names what has no counterpart.
    """
    if not spec.is_own:
        return (_ycsb_table(spec, dialect),)
    children = spec.tables or {}
    return tuple(_table(name, shape, children.get(name, TableSpec()), dialect) for name, shape in spec.shapes.items())


def _ycsb_table(spec: Spec, dialect: Dialect) -> SqlTable:
    """As YCSB's JDBC binding has it: the key, and a text for each field."""
    data = spec.data
    if data.template is None:
        fields = plain_columns(data, dialect)
    else:
        fields = fitted([field_column(name, value, dialect) for name, value in data.template.items()], (), dialect)
    return _made(data.collection, data.collection, [key_column(YCSB_KEY, dialect), *fields], dialect)


def _table(name: str, shape: CollectionSpec, asked: TableSpec, dialect: Dialect) -> SqlTable:
    place = f"collections.{name}"
    for option in shape.options:
        raise _no_counterpart(f"{place}.options.{option}", dialect, "leave it out for this database")
    template = shape.template
    if template is None:
        fields = plain_columns(shape, dialect)
    else:
        fields = [field_column(field, value, dialect) for field, value in template.items()]
    key = _KEY if _KEY not in {each.name for each in fields} else "_id"
    indexed = {field for index in shape.indexes for field in index.keys}
    columns = [key_column(key, dialect), *fitted(fields, indexed, dialect)]
    table = _made(name, shape.collection, columns, dialect)
    children = [_child(table, field, (template or {})[field], shape, place) for field in asked.child]
    by_name = {column.name: column for column in columns} | {"_id": columns[0]}
    indexes = tuple(
        _index(index, table.name, by_name, f"{place}.indexes[{number}]", dialect)
        for number, index in enumerate(shape.indexes)
        if _child_of(index, asked.child) is None
    )
    return SqlTable(name, table.name, dialect, table.columns, table.create, indexes, tuple(children))


def _made(collection: str, name: str, columns: list[Column], dialect: Dialect) -> SqlTable:
    _check_names(name, [column.name for column in columns], dialect)
    create = _create(name, [(each.name, each.sql) for each in columns], [columns[0].name], dialect)
    return SqlTable(collection, name, dialect, tuple(columns), create)


def _create(name: str, columns: Sequence[tuple[str, str]], key: Sequence[str], dialect: Dialect) -> str:
    lines = [f"  {quoted(column, dialect)} {sql}{' NOT NULL' if column in key else ''}" for column, sql in columns]
    lines.append(f"  PRIMARY KEY ({', '.join(quoted(each, dialect) for each in key)})")
    inner = ",\n".join(lines)
    return f"CREATE TABLE {quoted(name, dialect)} (\n{inner}\n){_ENGINE if dialect == 'mysql' else ''}"


def _check_names(table: str, columns: Sequence[str], dialect: Dialect) -> None:
    seen: dict[str, str] = {}
    for name in (table, *columns):
        length = len(name) if dialect == "mysql" else len(name.encode())
        if length > _NAME_MAX[dialect]:
            raise UsageError(
                f"{_SERVERS[dialect]} has no names of {length} characters, and {name} is one",
                hint=f"take at most {_NAME_MAX[dialect]}",
            )
    for name in columns:
        # MariaDB's columns are the same in capital letters.
        folded = name.lower() if dialect == "mysql" else name
        if folded in seen:
            raise UsageError(
                f"the columns {seen[folded]} and {name} of {table} are the same to {_SERVERS[dialect]}",
                hint="name one of the fields otherwise",
            )
        seen[folded] = name


def _no_counterpart(place: str, dialect: Dialect, hint: str) -> UsageError:
    return UsageError(f"{place} has no counterpart in {_SERVERS[dialect]}", hint=hint)


def _index(index: OwnIndex, table: str, columns: dict[str, Column], place: str, dialect: Dialect) -> str:
    for option, value in index.options.items():
        if option == "sparse" and value and index.options.get("unique"):
            continue  # a unique index takes any number of nulls
        if option not in _HARMLESS_INDEX_OPTIONS and value is not False:
            raise _no_counterpart(f"{place}.{option}", dialect, "leave it out for this database")
    method, parts = "", []
    for field, kind in index.keys.items():
        column = columns.get(field)
        if kind == "hashed" and dialect == "postgres" and len(index.keys) == 1:
            method, kind = " USING hash", 1
        if kind not in (1, -1):
            raise _no_counterpart(f"{place}: an index of the kind {kind}", dialect, "write 1 or -1")
        if column is None:
            what = "a part of a JSON column" if field.partition(".")[0] in columns else "no field of the collection"
            raise UsageError(
                f"{place}: {field} is {what}, and an index in {_SERVERS[dialect]} takes columns",
                hint="make the part a field of its own, or an array a child table: tables: {orders: {child: [items]}}",
            )
        if column.type == "json" or (dialect == "mysql" and not column.is_bounded):
            raise _no_counterpart(
                f"{place}: an index of {field}, which is {column.sql.partition(' ')[0]},", dialect, "make it shorter"
            )
        parts.append(f"{quoted(column.name, dialect)}{' DESC' if kind == -1 else ''}")
    name = _index_name(f"{table}_{index.effective_name}", dialect)
    unique = "UNIQUE " if index.options.get("unique") else ""
    target = f"{quoted(table, dialect)}{method} ({', '.join(parts)})"
    return f"CREATE {unique}INDEX {quoted(name, dialect)} ON {target}"


def _index_name(name: str, dialect: Dialect) -> str:
    """In PostgreSQL all indexes of a schema have names of their own; one that is too long ends with its hash."""
    if len(name.encode()) <= _NAME_MAX[dialect]:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name.encode()[: _NAME_MAX[dialect] - 9].decode(errors='ignore')}_{digest}"


def _child_name(table: str, field: str) -> str:
    return f"{table}_{field}"


def _child_of(index: OwnIndex, children: Sequence[str]) -> str | None:
    """The array whose elements an index is about, where they are rows of a table."""
    return next((name for field in index.keys for name in children if field.partition(".")[0] == name), None)


def _child(parent: SqlTable, field: str, value: Any, shape: CollectionSpec, place: str) -> ChildTable:
    dialect, name = parent.dialect, _child_name(parent.name, field)
    element = value.of
    made = element.fields if isinstance(element, generators.DocumentValue) else {_VALUE: element}
    is_document = isinstance(element, generators.DocumentValue)
    key = f"{parent.name}_id"
    kinds = {each: column_type(inner) for each, inner in made.items()}
    columns = {each: (kind, sql_type(made[each], kind, dialect)) for each, kind in kinds.items()}
    for taken in (key, _POSITION):
        if taken in columns:
            raise UsageError(
                f"the elements of {place}.fields.{field} have a field {taken}, as the child table has",
                hint="name it otherwise",
            )
    _check_names(name, [key, _POSITION, *columns], dialect)
    sql = [(key, parent.columns[0].sql), (_POSITION, "INTEGER"), *((each, sql) for each, (_, sql) in columns.items())]
    by_field = {f"{field}.{each}": Column(each, (each,), kind, sql) for each, (kind, sql) in columns.items()}
    if not is_document:
        by_field = {field: Column(_VALUE, (_VALUE,), *columns[_VALUE])}
    indexes = tuple(
        _index(index, name, by_field, f"{place}.indexes[{number}]", dialect)
        for number, index in enumerate(shape.indexes)
        if _child_of(index, [field]) is not None
    )
    make = _fill_mysql if dialect == "mysql" else _fill_postgres
    into = ", ".join(quoted(each, dialect) for each in (key, _POSITION, *columns))
    return ChildTable(
        name=name,
        column=field,
        create=_create(name, sql, (key, _POSITION), dialect),
        fill=f"INSERT INTO {quoted(name, dialect)} ({into}) {make(parent, field, columns, is_document=is_document)}",
        leave=f"ALTER TABLE {parent.quoted} DROP COLUMN {quoted(field, dialect)}",
        indexes=indexes,
    )


def _fill_mysql(parent: SqlTable, field: str, columns: dict[str, Any], *, is_document: bool) -> str:
    taken, made = [], []
    for number, (name, (kind, sql)) in enumerate(columns.items()):
        path = f"$.{json.dumps(name, ensure_ascii=False)}" if is_document else "$"
        column = f"e.c{number}"
        read = {"datetime": "VARCHAR(32)", "bytes": "LONGTEXT"}.get(kind, sql)
        # Text of MariaDB has escapes of its own.
        taken.append(f"c{number} {read} PATH {_literal(path.replace(chr(92), chr(92) * 2))}")
        if kind == "datetime":
            column = f"STR_TO_DATE(LEFT({column}, 23), '%Y-%m-%dT%H:%i:%s.%f')"
        made.append(f"FROM_BASE64({column})" if kind == "bytes" else column)
    key, array = quoted(parent.key, "mysql"), quoted(field, "mysql")
    numbered = ", ".join(("place FOR ORDINALITY", *taken))
    chosen = ", ".join((f"p.{key}", "e.place - 1", *made))
    elements = f"JSON_TABLE(p.{array}, '$[*]' COLUMNS ({numbered})) e"
    return f"SELECT {chosen} FROM {parent.quoted} p, {elements}"  # noqa: S608 - every name is quoted


def _fill_postgres(parent: SqlTable, field: str, columns: dict[str, Any], *, is_document: bool) -> str:
    made = []
    for name, (kind, sql) in columns.items():
        if kind == "json":
            made.append(f"e.item -> {_literal(name)}" if is_document else "e.item")
            continue
        text = f"(e.item ->> {_literal(name)})" if is_document else "(e.item #>> '{}')"
        made.append(f"decode({text}, 'base64')" if kind == "bytes" else f"{text}::{sql.partition(' COLLATE')[0]}")
    key, array = quoted(parent.key, "postgres"), quoted(field, "postgres")
    chosen = ", ".join((f"p.{key}", "e.place - 1", *made))
    elements = f"jsonb_array_elements(p.{array}) WITH ORDINALITY AS e(item, place)"
    return f"SELECT {chosen} FROM {parent.quoted} p, {elements}"  # noqa: S608 - every name is quoted


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
