"""Owns the columns that the fields of a collection become in an SQL database: which type takes all of their values."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from brimline.plan.targets import BulkColumn, ColumnType
from brimline.spec import generators
from brimline.spec.data import DataSpec
from brimline.spec.lengths import longest
from brimline.spec.scalars import Scalar

Dialect = Literal["mysql", "postgres"]
"""MariaDB and MySQL, or PostgreSQL: what a target is called by."""

VARCHAR_MAX: Final = 255
"""How long a text may be that isn't a TEXT. All are as long: a workload may write longer ones than those loaded."""
_VARCHARS_BYTES_MAX: Final = 60_000
"""What such columns of one table may take in MariaDB, whose rows are at most 65 535 bytes without long text."""
_TEXT_BYTES_MAX: Final = 65_535
_INT32: Final = range(-(2**31), 2**31)
_KEY_CHARACTERS_MAX: Final = 192
"""The longest prefix of keys, and the longest number behind it."""
_FAKE_CHARACTERS_MAX: Final = {"address": 128, "sentence": 384, "paragraph": 2048}
_FAKE_CHARACTERS_MAX_OTHERS: Final = 64
_WHOLE_NUMBER_CHARACTERS_MAX: Final = 20
_NUMBER_CHARACTERS_MAX: Final = 350
_CHARACTER_BYTES_MAX: Final = 4

_NAMES: Final[dict[Dialect, dict[ColumnType, str]]] = {
    "mysql": {
        "text": "TEXT",
        "bigint": "BIGINT",
        "int": "INT",
        "double": "DOUBLE",
        "decimal": "DECIMAL(38,10)",
        "boolean": "BOOLEAN",
        "datetime": "DATETIME(3)",
        "json": "JSON",
        "bytes": "LONGBLOB",
    },
    "postgres": {
        "text": 'TEXT COLLATE "C"',
        "bigint": "BIGINT",
        "int": "INTEGER",
        "double": "DOUBLE PRECISION",
        "decimal": "NUMERIC",
        "boolean": "BOOLEAN",
        "datetime": "TIMESTAMP(3) WITH TIME ZONE",
        "json": "JSONB",
        "bytes": "BYTEA",
    },
}
_TYPE_OF_KIND: Final[dict[str, ColumnType]] = {
    "int": "int",
    "long": "bigint",
    "sequence": "bigint",
    "double": "double",
    "decimal": "decimal",
    "boolean": "boolean",
    "date": "datetime",
    "clock": "datetime",
    "string": "text",
    "text": "text",
    "fake": "text",
    "key_of": "text",
    "object_id": "text",
    "binary": "bytes",
    "uuid": "bytes",
    "point": "json",
    "document": "json",
    "array": "json",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, where its value stands in a document, its type here, and the type in SQL."""

    name: str
    path: tuple[str, ...] | None
    type: ColumnType
    sql: str

    @property
    def is_bounded(self) -> bool:
        """Whether an index can take its whole value: not of long text, bytes without end, or JSON."""
        return self.type != "json" and "TEXT" not in self.sql and "BLOB" not in self.sql

    def bulk(self) -> BulkColumn:
        """The column as a load has it."""
        return BulkColumn(name=self.name, path=self.path, type=self.type)


def key_column(name: str, dialect: Dialect) -> Column:
    """The column of `_id`, a text that the engine makes: in the order of its bytes, as MongoDB has it."""
    return Column(name, ("_id",), "text", _varchar(dialect))


def field_column(name: str, value: Any, dialect: Dialect) -> Column:
    """The column of a field that a generator makes."""
    kind = column_type(value)
    return Column(name, (name,), kind, sql_type(value, kind, dialect))


def plain_columns(data: DataSpec, dialect: Dialect) -> list[Column]:
    """Those of YCSB's fields, which are text."""
    long = dialect == "mysql" and longest(data.field_length) > _TEXT_BYTES_MAX
    sql = "LONGTEXT" if long else _NAMES[dialect]["text"]
    return [Column(name, (name,), "text", sql) for name in data.field_names]


def column_type(value: Any) -> ColumnType:
    """The type that takes every value of a generator."""
    match value:
        case generators.ConstantValue():
            return _scalar_type([value.value])
        case generators.ChoiceValue():
            return _scalar_type([each for each, _ in value.of])
        case generators.NormalValue():
            return _TYPE_OF_KIND[value.type]
    return _TYPE_OF_KIND[value.kind]


def sql_type(value: Any, kind: ColumnType, dialect: Dialect) -> str:
    """The same in SQL."""
    if isinstance(value, generators.UuidValue) and dialect == "mysql":
        return "BINARY(16)"
    if kind != "text":
        return _NAMES[dialect][kind]
    characters = _characters_max(value)
    if characters <= VARCHAR_MAX:
        return _varchar(dialect)
    if dialect == "mysql" and characters * _CHARACTER_BYTES_MAX > _TEXT_BYTES_MAX:
        return "LONGTEXT"
    return _NAMES[dialect]["text"]


def fitted(columns: Sequence[Column], indexed: Collection[str], dialect: Dialect) -> list[Column]:
    """`columns`, those of text that no index needs as TEXT where a row of MariaDB would be too long."""
    varchar = _varchar(dialect)
    count = sum(column.sql == varchar for column in columns)
    if dialect == "postgres" or count * VARCHAR_MAX * _CHARACTER_BYTES_MAX <= _VARCHARS_BYTES_MAX:
        return list(columns)
    text = _NAMES[dialect]["text"]
    return [
        replace(column, sql=text) if column.sql == varchar and column.name not in indexed else column
        for column in columns
    ]


def _varchar(dialect: Dialect) -> str:
    # PostgreSQL compares by the language of the database, unless a column says otherwise.
    return f"VARCHAR({VARCHAR_MAX})" + (' COLLATE "C"' if dialect == "postgres" else "")


def _scalar_type(values: list[Scalar]) -> ColumnType:
    """What is mixed is JSON; null is in every type."""
    given = [each for each in values if each is not None]
    if given and all(isinstance(each, bool) for each in given):
        return "boolean"
    if given and all(isinstance(each, str) for each in given):
        return "text"
    numbers = [each for each in given if isinstance(each, int | float) and not isinstance(each, bool)]
    if not given or len(numbers) < len(given):
        return "json"
    if any(isinstance(each, float) for each in numbers):
        return "double"
    return "int" if all(each in _INT32 for each in numbers) else "bigint"


def _characters_max(value: Any) -> int:
    """Most characters of a text."""
    match value:
        case generators.StringValue():
            return longest(value.length)
        case generators.KeyOfValue():
            return _KEY_CHARACTERS_MAX
        case generators.FakeValue():
            return _FAKE_CHARACTERS_MAX.get(value.what, _FAKE_CHARACTERS_MAX_OTHERS)
        case generators.TextValue():
            return sum(_characters_max(part) for part in value.parts)
        case generators.ConstantValue():
            return _scalar_characters(value.value)
        case generators.ChoiceValue():
            return max(_scalar_characters(each) for each, _ in value.of)
        case generators.IntValue() | generators.LongValue() | generators.SequenceValue():
            return _WHOLE_NUMBER_CHARACTERS_MAX
        case generators.ObjectIdValue():
            return 24
    return _NUMBER_CHARACTERS_MAX


def _scalar_characters(value: Scalar) -> int:
    return len(value) if isinstance(value, str) else _NUMBER_CHARACTERS_MAX if isinstance(value, float) else 20
