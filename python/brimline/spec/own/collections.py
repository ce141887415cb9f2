"""Owns the collections of a person's own workload: their shape, their indexes, and how they are created."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from brimline.spec import fields, readers
from brimline.spec.base import Named, Part
from brimline.spec.data import DataSpec
from brimline.spec.document import Path
from brimline.spec.expected_plan import key_pattern_text
from brimline.spec.own.expressions import Scope, read_expression
from brimline.spec.own.nodes import Node, constant_value
from brimline.spec.own.problems import Problem, nearest, told_to_pydantic
from brimline.spec.readers import shown

EXISTING: Final = "existing"
"""A live collection as it is: no shape, never loaded, never emptied."""
SHAPE_TAG: Final = "a shape"
"""Stands in pydantic's paths where a mapping was given; it is no key."""
DATABASE_DEFAULT: Final = "brimline"
_INDEX_KINDS: Final = ("hashed", "text", "2d", "2dsphere", "geoHaystack")
_INDEX_OPTIONS: Final = (
    "name", "unique", "sparse", "expireAfterSeconds", "partialFilterExpression", "collation", "weights",
    "default_language", "language_override", "textIndexVersion", "2dsphereIndexVersion", "bits", "min", "max",
    "bucketSize", "wildcardProjection", "hidden", "storageEngine", "background",
)  # fmt: skip
_CREATE_OPTIONS: Final = (
    "validator", "validationLevel", "validationAction", "timeseries", "capped", "size", "max", "collation",
    "clusteredIndex", "expireAfterSeconds", "storageEngine", "indexOptionDefaults", "changeStreamPreAndPostImages",
    "comment",
)  # fmt: skip


def _extended(value: object, path: Path) -> Any:
    """Extended JSON as BSON values; `$name` has no meaning where a collection is created."""
    scope = Scope((), lambda _name, _path: None, _refuse_value)
    with told_to_pydantic():
        node = read_expression(value, path, scope)
    if not node.is_constant:
        raise _no_value(path).as_validation_error()
    return constant_value(node)


def _no_value(path: Path) -> Problem:
    return Problem(path, "a collection is created once, so that its options take no values", "write the constant")


def _refuse_value(_value: Any, path: Path, _scope: Scope) -> Node:
    raise _no_value(path)


def _read_keys(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError(f"must be an index's fields, not {shown(value)}; write it like {{customer: 1, created: -1}}")
    for field, kind in value.items():
        if isinstance(kind, bool) or kind not in (1, -1, *_INDEX_KINDS):
            raise ValueError(
                f"{shown(field)} can't be {shown(kind)} in an index; write 1, -1, {' or '.join(_INDEX_KINDS)}"
            )
    return value


def _read_shard_key(value: object) -> dict[str, Any]:
    keys = _read_keys(value)
    for field, kind in keys.items():
        if kind not in (1, "hashed"):
            raise ValueError(f"{shown(field)} can't be {shown(kind)} in a shard key; write 1 or hashed")
    return keys


def _read_options(known: tuple[str, ...], example: str) -> Any:
    def read(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"must be a mapping, not {shown(value)}; write it like {example}")
        for name in value:
            if name not in known:
                raise Problem((name,), "unknown option", nearest(name, known)).as_validation_error()
            _extended(value[name], (name,))
        return value

    return read


_KEYS_SCHEMA: Final = {
    "type": "object",
    "description": "fields and 1, -1 or a kind",
    "minProperties": 1,
    "additionalProperties": {"enum": [1, -1, *_INDEX_KINDS]},
}


def _options_schema(known: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {} for name in known}, "additionalProperties": False}


def _beside_or_short(schema: dict[str, Any]) -> None:
    """Options stand beside the keys, or the keys stand alone."""
    options = _options_schema(_INDEX_OPTIONS)
    whole = {**schema, "properties": {**schema["properties"], **options["properties"], "options": options}}
    schema.clear()
    schema["anyOf"] = [whole, _KEYS_SCHEMA]


def _without_place(schema: dict[str, Any]) -> None:
    """Database and name are said elsewhere."""
    for name in ("database", "collection"):
        del schema["properties"][name]


class OwnIndex(Part):
    """An index: its keys, and options of `createIndexes` by the server's names."""

    model_config = ConfigDict(json_schema_extra=_beside_or_short)

    keys: Annotated[
        dict[str, Any],
        BeforeValidator(_read_keys),
        WithJsonSchema(_KEYS_SCHEMA),
    ]
    """Indexed fields, each with 1, -1 or a kind of index."""
    options: Annotated[
        dict[str, Any],
        BeforeValidator(_read_options(_INDEX_OPTIONS, "{unique: true}")),
        WithJsonSchema({"type": "object", "description": "options of createIndexes"}),
    ] = Field(default={})
    """Its options, such as `unique`, which stand beside `keys`."""

    @model_validator(mode="before")
    @classmethod
    def _options_stand_beside(cls, value: Any) -> Any:
        """`{customer: 1}` is short for `{keys: {customer: 1}}`; options stand beside the keys."""
        if not isinstance(value, dict):
            return value
        if not isinstance(value.get("keys"), dict):
            return {"keys": value}
        beside = {name: option for name, option in value.items() if name not in ("keys", "options")}
        for name in beside:
            if name not in _INDEX_OPTIONS:
                raise Problem((name,), "unknown option", nearest(name, _INDEX_OPTIONS)).as_validation_error()
        return {"keys": value["keys"], "options": {**value.get("options", {}), **beside}}

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        return {"keys": self.keys, **self.options}

    @property
    def effective_name(self) -> str:
        """`customer_1_created_-1`, as MongoDB itself calls it."""
        return str(self.options.get("name") or "_".join(f"{field}_{kind}" for field, kind in self.keys.items()))

    @property
    def text(self) -> str:
        """Its fields, for people."""
        return key_pattern_text(self.keys)

    @property
    def create_options(self) -> dict[str, Any]:
        """Its options as BSON values."""
        return {name: _extended(value, (name,)) for name, value in self.options.items()}


class CollectionSpec(DataSpec):
    """A collection with a shape: its records, indexes and options. Database and name are said elsewhere."""

    model_config = ConfigDict(json_schema_extra=_without_place)
    has_others: ClassVar[bool] = True

    database: fields.DatabaseName = Field(default=DATABASE_DEFAULT, exclude=True)
    """That of the workload."""
    collection: fields.CollectionName = Field(default="", exclude=True)
    """Its key."""
    indexes: Annotated[tuple[OwnIndex, ...], Field(strict=False)] = ()
    """Indexes, as `{customer: 1, created: -1}`, or as `{keys: {sku: 1}, unique: true}` with options."""
    options: Annotated[
        dict[str, Any],
        BeforeValidator(_read_options(_CREATE_OPTIONS, "{validator: {…}}")),
        WithJsonSchema({**_options_schema(_CREATE_OPTIONS), "description": "options of create"}),
    ] = Field(default={})
    """Options of `create`: validator, timeseries, capped, size, max, collation, clusteredIndex and others."""
    shard_key: Annotated[
        dict[str, Any] | None,
        BeforeValidator(lambda value: None if value is None else _read_shard_key(value)),
        WithJsonSchema(
            {
                "type": ["object", "null"],
                "description": "fields and 1 or hashed",
                "minProperties": 1,
                "additionalProperties": {"enum": [1, "hashed"]},
            }
        ),
    ] = None
    """Fields by which a mongos spreads the collection."""

    @model_validator(mode="before")
    @classmethod
    def _said_elsewhere(cls, value: Any) -> Any:
        for name, hint in (
            ("database", "write database at the top, for all collections"),
            ("collection", "the collection is called as its key is"),
        ):
            if isinstance(value, dict) and name in value:
                raise Problem((name,), "has no place in a collection", hint).as_validation_error()
        return value

    @model_validator(mode="after")
    def _check_indexes(self) -> "CollectionSpec":
        names = [index.effective_name for index in self.indexes]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            number = len(names) - 1 - names[::-1].index(twice)
            problem = Problem(
                ("indexes", number), f"there are two indexes called {shown(twice)}", "leave one of them out"
            )
            raise problem.as_validation_error()
        return self

    @model_serializer(mode="wrap")
    def _as_written(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values = self._without_idle_keys(dump)
        left_out = {name for name in ("indexes", "options") if not getattr(self, name)}
        return {name: value for name, value in values.items() if name not in left_out}

    @property
    def create_options(self) -> dict[str, Any]:
        """Options of `create` as BSON values."""
        return {name: _extended(value, (name,)) for name, value in self.options.items()}

    def placed(self, database: str, collection: str) -> "CollectionSpec":
        """The collection at its place."""
        return self.model_copy(update={"database": database, "collection": collection})


class TableSpec(Part):
    """How a collection becomes a table of an SQL database: a column for each field, JSON where a field is nested."""

    child: Annotated[
        tuple[str, ...],
        Field(strict=False),
        WithJsonSchema({"type": "array", "items": {"type": "string"}, "description": "names of fields"}),
    ] = ()
    """Arrays that are tables of their own, with a row for each element, in place of a column of JSON."""


def check_tables(tables: dict[str, TableSpec], shapes: Mapping[str, DataSpec], names: Iterable[str]) -> None:
    """Refuses tables of no collection, and child tables of no array. Raises Problem."""
    for name, table in tables.items():
        path: Path = ("tables", name)
        if name not in shapes:
            is_there = name in names
            message = "is existing, so that no table of it is made" if is_there else "is none of the collections"
            raise Problem(path, message, "leave it out" if is_there else nearest(name, shapes))
        template = shapes[name].template or {}
        arrays = [field for field, value in template.items() if value.kind == "array"]
        for number, field in enumerate(table.child):
            at = (*path, "child", number)
            if field not in template:
                raise Problem(at, f"{name} has no field {shown(field)}", nearest(field, arrays or template))
            if field not in arrays:
                raise Problem(at, f"{field} is no array, and a child table has a row for each element", "leave it out")
            if field in table.child[:number]:
                raise Problem(at, f"{field} is there twice", "leave one of them out")


Tables = dict[str, TableSpec]


def _tag(value: object) -> str:
    return SHAPE_TAG if isinstance(value, dict | CollectionSpec) else EXISTING


def _read_existing(value: object) -> object:
    if value != EXISTING:
        raise ValueError(f"must be a shape or existing, not {shown(value)}; write {{records: 100k}} or existing")
    return value


OwnCollection = Annotated[
    Annotated[CollectionSpec, Tag(SHAPE_TAG)]
    | Annotated[Literal["existing"], BeforeValidator(_read_existing), Tag(EXISTING)],
    Discriminator(_tag),
]


def _check_names(value: object) -> object:
    if not isinstance(value, dict):
        return value
    if not value:
        raise ValueError("names no collection; write it like {orders: {records: 100k}}")
    for name in value:
        try:
            readers.text(readers.check_collection)(name)
        except ValueError as error:
            raise ValueError(str(error)) from None
    return value


Collections = Annotated[
    dict[str, OwnCollection], BeforeValidator(_check_names), Named(r"^(?!system\.|[.\s])(?!.*\.\.)[^$]*[^$.\s]$")
]
