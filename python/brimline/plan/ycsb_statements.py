"""Owns YCSB's operations on an SQL database: the mix as statements, as its JDBC binding sends them.

Keys follow the same laws and values have the same lengths as in a mix on MongoDB. Fields are text.
"""

from dataclasses import dataclass
from typing import Any, Final

from brimline.errors import UsageError
from brimline.operations import KINDS, Kind
from brimline.plan import model
from brimline.plan.columns import Dialect
from brimline.plan.data import document_plan, key_of_plan, length_plan
from brimline.plan.operations import CollectionPlan, OperationsWork
from brimline.plan.tables import YCSB_KEY, quoted
from brimline.spec import lengths
from brimline.spec.keys import LatestKeys
from brimline.spec.model import Spec
from brimline.spec.own.nodes import constant

_COLLECTION: Final = 0
# The 95 signs that YCSB's own fields have.
_PRINTABLE: Final = "".join(map(chr, range(32, 127)))
_ZIPFIAN_THETA: Final = 0.99
_SCAN_LENGTHS_MAX: Final = 10_000
_ONLY_ON_MONGODB: Final = {
    "verify_reads": "what reads bring isn't compared there",
    "name_read_fields": "a read names its columns where read_all_fields is false",
}


def statements_work(spec: Spec, target: model.SqlTarget) -> OperationsWork:
    """The mix of `spec` as operations of statements. Raises UsageError for what only documents have."""
    _check(spec)
    made = _Statements(spec, target.kind)
    shares = spec.operations.shares
    total = sum(shares.values())
    operations = [
        {"name": name, "weight": share / total, "steps": made.steps(KINDS[name])}
        for name, share in shares.items()
        if share
    ]
    data = spec.data
    collection = CollectionPlan(
        name=data.collection, database=data.database, collection=data.collection, data=document_plan(data)
    )
    return OperationsWork.model_validate(
        {
            "collections": [collection],
            "tables": [],
            "values": [{"name": name, "value": value} for name, value in made.values.items()],
            "saved": [],
            "operations": operations,
        }
    )


def _check(spec: Spec) -> None:
    if spec.data.template is not None:
        raise UsageError(
            "operations by key on an SQL database have YCSB's fields, and data.fields is a template",
            hint="write data.fields as a number, or operations of your own with sql: …",
        )
    for name, hint in _ONLY_ON_MONGODB.items():
        if getattr(spec, name):
            raise UsageError(f"{name} has no counterpart on an SQL database: {hint}", hint=f"leave {name} out")
    if spec.insert_batch_size > 1:
        raise UsageError(
            "insert_batch_size is of MongoDB's inserts alone",
            hint='write an operation of your own: sql: {statement: "INSERT …", row: […], count: 10}',
        )


@dataclass
class _Statements:
    """Makes the steps of each kind. `values` are those that several places of one operation have in common."""

    spec: Spec
    dialect: Dialect

    def __post_init__(self) -> None:
        self.values: dict[str, dict[str, Any]] = {}
        data = self.spec.data
        self._fields = [quoted(name, self.dialect) for name in data.field_names]
        self._table = quoted(data.collection, self.dialect)
        self._key = quoted(YCSB_KEY, self.dialect)

    def steps(self, kind: Kind) -> list[dict[str, Any]]:
        """The statements of a kind, all of the same record."""
        key = self._named("key") if kind.steps else self._drawn()
        return [step for name in kind.steps or (kind.name,) for step in self._made(name, key)]

    def _made(self, name: str, key: dict[str, Any]) -> list[dict[str, Any]]:
        match name:
            case "read":
                return [self._read("read", key)]
            case "update":
                return [self._update("update", key)]
            case "insert":
                return [self._insert()]
            case "scan":
                return [self._scan(key)]
            case "transaction":
                return self._transaction()
        raise TypeError(f"{name} has no statements")

    def _insert(self) -> dict[str, Any]:
        names = ", ".join((self._key, *self._fields))
        marks = ", ".join(self._mark(number) for number in range(1 + len(self._fields)))
        text = f"INSERT INTO {self._table} ({names}) VALUES ({marks})"  # noqa: S608 - every name is quoted
        key = {"kind": "new_key", "collection": _COLLECTION}
        if self.spec.upsert:
            text += self._replacing()
        return self._step("insert", "insert", "write", [key, *(self._value() for _ in self._fields)], text=text)

    def _scan(self, key: dict[str, Any]) -> dict[str, Any]:
        end = f"FROM {self._table} WHERE {self._key} >= {self._mark(0)} ORDER BY {self._key} LIMIT {self._mark(1)}"
        return self._step("scan", "select", "read", [key, self._length()], **self._selected(end))

    def _transaction(self) -> list[dict[str, Any]]:
        asked = self.spec.transaction
        reads = [self._read(_numbered("read", number), self._drawn()) for number in range(asked.reads)]
        updates = [self._update(_numbered("update", number), self._drawn()) for number in range(asked.updates)]
        begin = {"mysql": "START TRANSACTION", "postgres": "BEGIN"}[self.dialect]
        return [
            {**self._step("begin", "begin", "command", [], text=begin), "transaction": "begin"},
            *({**step, "transaction": "inside"} for step in (*reads, *updates)),
            {**self._step("commit", "commit", "write", [], text="COMMIT"), "transaction": "commit"},
        ]

    def _read(self, name: str, key: dict[str, Any]) -> dict[str, Any]:
        end = f"FROM {self._table} WHERE {self._key} = {self._mark(0)}"
        return self._step(name, "select", "read", [key], **self._selected(end))

    def _selected(self, end: str) -> dict[str, Any]:
        """All columns, or one of them, by chance."""
        if self.spec.read_all_fields:
            return {"text": f"SELECT * {end}"}
        return {"texts": [f"SELECT {self._key}, {field} {end}" for field in self._fields]}

    def _update(self, name: str, key: dict[str, Any]) -> dict[str, Any]:
        where = f"WHERE {self._key} = "
        if self.spec.write_all_fields:
            pairs = ", ".join(f"{field} = {self._mark(number)}" for number, field in enumerate(self._fields))
            last = self._mark(len(self._fields))
            text = f"UPDATE {self._table} SET {pairs} {where}{last}"  # noqa: S608 - every name is quoted
            return self._step(name, "update", "write", [*(self._value() for _ in self._fields), key], text=text)
        change, end = f"UPDATE {self._table} SET", f"= {self._mark(0)} {where}{self._mark(1)}"
        texts = [f"{change} {field} {end}" for field in self._fields]
        return self._step(name, "update", "write", [self._value(), key], texts=texts)

    def _step(
        self,
        name: str,
        command: str,
        access: str,
        slots: list[dict[str, Any]],
        *,
        text: str | None = None,
        texts: list[str] | None = None,
    ) -> dict[str, Any]:
        mode = "prepared" if slots else "text"
        request: dict[str, Any] = {"kind": "statement", "mode": mode}
        if texts is None:
            request["text"] = text
        else:
            request["texts"] = texts
            chosen = {"kind": "generator", "spec": {"kind": "int", "min": 0, "max": len(texts) - 1}}
            slots = [chosen, *slots]
        return {
            "name": name,
            "command": command,
            "database": "",
            "collection": None,
            "access": access,
            "body": {"kind": "list", "items": slots},
            "counter": "command",
            "request": request,
        }

    def _mark(self, number: int) -> str:
        return "?" if self.dialect == "mysql" else f"${number + 1}"

    def _replacing(self) -> str:
        if self.dialect == "mysql":
            pairs = ", ".join(f"{field} = VALUES({field})" for field in self._fields)
            return f" ON DUPLICATE KEY UPDATE {pairs}"
        pairs = ", ".join(f"{field} = EXCLUDED.{field}" for field in self._fields)
        return f" ON CONFLICT ({self._key}) DO UPDATE SET {pairs}"

    def _named(self, name: str) -> dict[str, Any]:
        """A key that all steps of an operation have."""
        self.values.setdefault(name, self._drawn())
        return {"kind": "value", "index": list(self.values).index(name)}

    def _drawn(self) -> dict[str, Any]:
        """The key of a record, under the law of the workload."""
        keys = self.spec.keys
        if isinstance(keys, LatestKeys):
            return {"kind": "latest_key", "collection": _COLLECTION, "theta": keys.theta}
        return {"kind": "generator", "spec": key_of_plan(self.spec.data, keys)}

    def _value(self) -> dict[str, Any]:
        """A new value of a field, as long as those that are loaded."""
        length = length_plan(self.spec.data.field_length).model_dump(mode="json")
        return {"kind": "generator", "spec": {"kind": "string", "length": length, "alphabet": _PRINTABLE}}

    def _length(self) -> dict[str, Any]:
        """How many rows a scan asks for."""
        length = self.spec.scan_length
        if length.kind == "constant":
            return constant(length.length).plan
        if length.kind == "uniform":
            return {"kind": "generator", "spec": {"kind": "int", "min": length.min, "max": length.max}}
        return {"kind": "one_of", "values": [[constant(each).plan, weight] for each, weight in _zipfian(length)]}


def _zipfian(length: lengths.ZipfianLength) -> list[tuple[int, float]]:
    count = length.max - length.min + 1
    if count > _SCAN_LENGTHS_MAX:
        raise UsageError(
            f"scan_length has {count} lengths, and on an SQL database at most {_SCAN_LENGTHS_MAX}",
            hint="write {kind: uniform, …}, or a smaller max",
        )
    return [(length.min + rank, (rank + 1) ** -_ZIPFIAN_THETA) for rank in range(count)]


def _numbered(name: str, number: int) -> str:
    return name if not number else f"{name} {number + 1}"
