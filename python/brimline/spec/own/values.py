"""Owns the forms of a value, by the key they begin with: generators, keys, rows of tables, choices, calculations."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, Final, get_args

from bson.int64 import Int64
from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails

from brimline import units
from brimline.spec import fields, generators
from brimline.spec.data import DataSpec
from brimline.spec.document import Path, dotted
from brimline.spec.keys import Keys, ZipfianKeys
from brimline.spec.own.expressions import BUILT_IN, Scope, described, read_expression
from brimline.spec.own.keys import check_keys, choice, mapping
from brimline.spec.own.nodes import Node, array, constant, constant_value, document
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.own.tables import CELL_TYPES, Rows, Sample, read_csv, read_jsonl
from brimline.spec.readers import shown

_GENERATORS: Final[dict[str, Any]] = {
    model.model_fields["kind"].default: model for model in get_args(get_args(generators.Value)[0])
}
_GENERATOR: Final[TypeAdapter[Any]] = TypeAdapter(generators.Value)
_KEYS: Final[TypeAdapter[Keys]] = TypeAdapter(Keys)
_THETA: Final[TypeAdapter[float]] = TypeAdapter(fields.Theta)
_ROW_COUNT: Final[TypeAdapter[int]] = TypeAdapter(fields.RecordCount)
SAMPLE_ROWS_DEFAULT: Final = 10_000
_ORDERS: Final = ("random", "in_turn")
_ENDS: Final = ("again", "stop", "error")
_SCOPES: Final = ("shared", "worker")
_UNITS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_GENERATOR_TYPES: Final = {
    "int": "int",
    "long": "long",
    "sequence": "long",
    "double": "double",
    "boolean": "boolean",
    "date": "date",
    "clock": "date",
    "string": "text",
    "text": "text",
    "fake": "text",
    "binary": "binary",
    "uuid": "binary",
    "object_id": "object_id",
    "point": "document",
    "document": "document",
    "array": "list",
}


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
    """Reads forms. `shapes` are the collections with a shape, in order, `databases` those of all by name.

    Files are read relative to `directory`, once: `files` keeps them.
    """

    shapes: dict[str, DataSpec]
    databases: dict[str, str]
    directory: FilePath
    files: dict[Path, Rows] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)

    def read(self, value: Any, path: Path, scope: Scope) -> Node:
        """The expression of a form, or of a plain value. Raises Problem, and ValidationError for a generator."""
        if not isinstance(value, dict):
            return read_expression(value, path, scope)
        leading = next((key for key in value if key in FORMS), None)
        if leading is not None:
            return FORMS[leading](self, value, path, scope)
        first = next(iter(value), "")
        if first.startswith("$"):
            return read_expression(value, path, scope)
        if not value:
            raise Problem(path, "says nothing", "write a value such as {kind: int, max: 5}")
        hint = nearest(first, FORMS)
        if not hint.startswith("did"):
            hint = f"a document is written {{document: {{{first}: …}}}}; forms begin with {', '.join(FORMS)}"
        raise Problem((*path, first), f"{shown(first)} begins no value", hint)

    def shape(self, name: Any, path: Path) -> int:
        """The place of a collection whose records are known."""
        self.database(name, path)
        if name not in self.shapes:
            hint = f"take rows that exist: {{sample: {name}, fields: [_id]}}"
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


def _generator(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    made = validated(_GENERATOR, value, path)
    forms.check_collections(made, path)
    return Node({"kind": "generator", "spec": made}, _generated_type(made))


def _generated_type(made: Any) -> str | None:
    if made.kind == "constant":
        return constant(made.value).type
    return _GENERATOR_TYPES.get(made.kind)


def _key_of(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    check_keys(value, path, ("key_of", "keys"))
    forms.shape(value["key_of"], (*path, "key_of"))
    keys = validated(_KEYS, value["keys"], (*path, "keys")) if "keys" in value else ZipfianKeys()
    if keys.kind == "latest":
        hint = f"write {{latest_key_of: {value['key_of']}, theta: {keys.theta:g}}}"
        raise Problem((*path, "keys"), "latest is about records that the run inserts too", hint)
    return Node({"kind": "generator", "spec": KeyOf(forms.shapes[value["key_of"]], keys)}, "text")


def _new(kind: str, made: str) -> "Form":
    def read(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
        key = f"{kind}_of"
        check_keys(value, path, (key,))
        return Node({"kind": kind, "collection": forms.shape(value[key], (*path, key))}, made)

    return read


def _latest_key_of(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    check_keys(value, path, ("latest_key_of", "theta"))
    place = forms.shape(value["latest_key_of"], (*path, "latest_key_of"))
    theta = validated(_THETA, value.get("theta", 0.99), (*path, "theta"))
    return Node({"kind": "latest_key", "collection": place, "theta": theta}, "text")


def _table(
    forms: Forms, value: dict[str, Any], path: Path, *, rows: Rows | None, sample: Sample | None, types: dict[str, str]
) -> Node:
    order = choice(value.get("order", "random" if sample is not None else "in_turn"), (*path, "order"), _ORDERS)
    if order == "random" and "at_end" in value:
        raise Problem((*path, "at_end"), "rows drawn at random have no end", "leave at_end out, or add order: in_turn")
    at_end = choice(value.get("at_end", "again"), (*path, "at_end"), _ENDS)
    scope = choice(value.get("scope", "shared"), (*path, "scope"), _SCOPES)
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


_OF_TABLES: Final = ("order", "at_end", "scope")


def _csv(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    check_keys(value, path, ("csv", "column", "types", *_OF_TABLES))
    types = mapping(value.get("types", {}), (*path, "types"), "{price: double}")
    for column, kind in types.items():
        choice(kind, (*path, "types", column), tuple(CELL_TYPES))
    rows = _file(forms, value["csv"], (*path, "csv"), lambda file, at: read_csv(file, at, types))
    return _table(forms, value, path, rows=rows, sample=None, types=types)


def _jsonl(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    check_keys(value, path, ("jsonl", "column", *_OF_TABLES))
    rows = _file(forms, value["jsonl"], (*path, "jsonl"), read_jsonl)
    node = _table(forms, value, path, rows=rows, sample=None, types={})
    return Node(node.plan, None) if node.plan["kind"] == "cell" else node


def _file(forms: Forms, name: Any, path: Path, read: Callable[[FilePath, Path], Rows]) -> Rows:
    if not isinstance(name, str) or not name:
        raise Problem(path, f"must be a file's name, not {shown(name)}", "write it like skus.csv")
    if path not in forms.files:
        forms.files[path] = read(forms.directory / name, path)
    return forms.files[path]


def _sample(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
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


def _one_of(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    check_keys(value, path, ("one_of",))
    path, given = (*path, "one_of"), value["one_of"]
    if not isinstance(given, list) or not given:
        raise Problem(path, "must be a list with a value", "write one_of: [a, b] or [{value: a, weight: 3}]")
    weighted = all(isinstance(each, dict) and "value" in each and set(each) <= {"value", "weight"} for each in given)
    pairs: list[tuple[Node, float]] = []
    for number, each in enumerate(given):
        at = (*path, number)
        weight = each.get("weight", 1) if weighted else 1
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1e15:
            raise Problem((*at, "weight"), f"must be a number from 0 on, not {shown(weight)}", "write weight: 3")
        node = read_expression(each["value"], (*at, "value"), scope) if weighted else read_expression(each, at, scope)
        pairs.append((node, float(weight)))
    if not any(weight for _, weight in pairs):
        raise Problem(path, "needs a weight above 0", "write weight: 1")
    kinds = {node.type for node, _ in pairs}
    kind = next(iter(kinds)) if len(kinds) == 1 else None
    return Node({"kind": "one_of", "values": [[node.plan, weight] for node, weight in pairs]}, kind)


def _calculate(operator: str, of: list[Node], kind: str | None) -> Node:
    return Node({"kind": "calculate", "operator": operator, "of": [node.plan for node in of]}, kind)


def _operands(forms: Forms, value: dict[str, Any], path: Path, scope: Scope, *, count: int | None = None) -> list[Node]:
    """What stands behind an operator: a list of values, as many as `count`, else at least one."""
    operator = next(iter(value))
    check_keys(value, path, (operator,))
    given = value[operator]
    if not isinstance(given, list) or not given or (count is not None and len(given) != count):
        many = "a list of values" if count is None else f"a list of {count} values"
        raise Problem((*path, operator), f"must be {many}", f"write {operator}: [$a, 2]")
    return [forms.read(each, (*path, operator, number), scope) for number, each in enumerate(given)]


def require_number(node: Node, path: Path, what: str) -> None:
    """Refuses what surely is no number."""
    if node.type is not None and not node.is_number:
        raise Problem(path, f"{what} takes a number, and this is {described(node)}", "give a number or such a value")


def _arithmetic(count: int | None = None) -> "Form":
    def read(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
        operator = next(iter(value))
        nodes = _operands(forms, value, path, scope, count=count)
        for number, node in enumerate(nodes):
            require_number(node, (*path, operator, number), operator)
            if operator in ("divide", "modulo") and number and node.is_constant and constant_value(node) == 0:
                raise Problem((*path, operator, number), f"can't {operator} by 0", "give another number")
        kinds = {node.type for node in nodes}
        kind = (
            next(iter(kinds)) if len(kinds) == 1 and operator != "divide" else "double" if "double" in kinds else None
        )
        return _calculate(operator, nodes, kind if None not in kinds else None)

    return read


def _extreme(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    nodes = _operands(forms, value, path, scope)
    kinds = {node.type for node in nodes}
    return _calculate(next(iter(value)), nodes, next(iter(kinds)) if len(kinds) == 1 else None)


def _round(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    nodes = _operands(forms, value, path, scope, count=2)
    require_number(nodes[0], (*path, "round", 0), "round")
    decimals = value["round"][1]
    if isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= 15:
        raise Problem((*path, "round", 1), f"must be 0 to 15 places, not {shown(decimals)}", "write round: [$x, 2]")
    return _calculate("round", nodes, nodes[0].type)


def _concat(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    nodes = _operands(forms, value, path, scope)
    for number, node in enumerate(nodes):
        if node.type in ("document", "list", "binary"):
            hint = "give text, a number, a date or an ObjectId"
            raise Problem((*path, "concat", number), f"{described(node)} can't be put together", hint)
    return _calculate("concat", nodes, "text")


def _conversion(kind: str) -> "Form":
    def read(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
        operator = next(iter(value))
        check_keys(value, path, (operator,))
        node = forms.read(value[operator], (*path, operator), scope)
        if operator in ("lower", "upper"):
            _require(node, "text", (*path, operator), operator)
        return _calculate(operator, [node], kind)

    return read


def _require(node: Node, kind: str, path: Path, what: str) -> None:
    if node.type not in (None, kind):
        article = "text" if kind == "text" else f"a {kind}"
        raise Problem(path, f"{what} takes {article}, and this is {described(node)}", f"give {article}")


def _substring(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    check_keys(value, path, ("substring",))
    path = (*path, "substring")
    given = mapping(value["substring"], path, "{of: $sku, start: 0, length: 4}")
    check_keys(given, path, ("of", "start", "length"), required=("of", "length"))
    nodes = [forms.read(given.get(key, 0), (*path, key), scope) for key in ("of", "start", "length")]
    _require(nodes[0], "text", (*path, "of"), "substring")
    for node, key in zip(nodes[1:], ("start", "length"), strict=True):
        require_number(node, (*path, key), key)
    return _calculate("substring", nodes, "text")


def _date_add(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    check_keys(value, path, ("date_add",))
    path = (*path, "date_add")
    given = mapping(value["date_add"], path, "{date: $now, by: -7d}")
    check_keys(given, path, ("date", "by"), required=("date", "by"))
    date = forms.read(given["date"], (*path, "date"), scope)
    _require(date, "date", (*path, "date"), "date_add")
    by = given["by"]
    if isinstance(by, str) and not by.startswith("$"):
        milliseconds = constant(Int64(_milliseconds(by, (*path, "by"))))
    elif isinstance(by, int | float) and not isinstance(by, bool) and by != 0:
        raise Problem((*path, "by"), f"{shown(by)} has no unit", f'write "{by}s" or "{by}ms"')
    else:
        milliseconds = forms.read(by, (*path, "by"), scope)
        require_number(milliseconds, (*path, "by"), "by")
    return _calculate("date_add", [date, milliseconds], "date")


def _milliseconds(text: str, path: Path) -> int:
    sign = -1 if text.lstrip().startswith("-") else 1
    try:
        return sign * (units.parse_duration(text.lstrip().lstrip("+-")) // units.NS_PER_MS)
    except ValueError as error:
        raise Problem(
            path, str(error).partition(";")[0], "write it like -7d or 90m, or as $value of milliseconds"
        ) from None


def _date_trunc(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:
    check_keys(value, path, ("date_trunc",))
    path = (*path, "date_trunc")
    given = mapping(value["date_trunc"], path, "{date: $now, unit: day}")
    check_keys(given, path, ("date", "unit"), required=("date", "unit"))
    date = forms.read(given["date"], (*path, "date"), scope)
    _require(date, "date", (*path, "date"), "date_trunc")
    unit = constant(choice(given["unit"], (*path, "unit"), _UNITS))
    return _calculate("date_trunc", [date, unit], "date")


def _document(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    check_keys(value, path, ("document",))
    path = (*path, "document")
    given = mapping(value["document"], path, "{city: $city}")
    return document([(name, read_expression(item, (*path, name), scope)) for name, item in given.items()])


def _list(forms: Forms, value: dict[str, Any], path: Path, scope: Scope) -> Node:  # noqa: ARG001
    check_keys(value, path, ("list",))
    given = value["list"]
    if not isinstance(given, list):
        raise Problem((*path, "list"), f"must be a list, not {shown(given)}", "write list: [$a, $b]")
    return array([read_expression(item, (*path, "list", number), scope) for number, item in enumerate(given)])


Form = Callable[[Forms, dict[str, Any], Path, Scope], Node]

FORMS: Final[dict[str, Form]] = {
    "kind": _generator,
    "key_of": _key_of,
    "new_key_of": _new("new_key", "text"),
    "new_record_of": _new("new_record", "document"),
    "latest_key_of": _latest_key_of,
    "sample": _sample,
    "csv": _csv,
    "jsonl": _jsonl,
    "one_of": _one_of,
    "add": _arithmetic(),
    "subtract": _arithmetic(2),
    "multiply": _arithmetic(),
    "divide": _arithmetic(2),
    "modulo": _arithmetic(2),
    "min": _extreme,
    "max": _extreme,
    "round": _round,
    "concat": _concat,
    "lower": _conversion("text"),
    "upper": _conversion("text"),
    "substring": _substring,
    "text": _conversion("text"),
    "int": _conversion("int"),
    "long": _conversion("long"),
    "double": _conversion("double"),
    "date_add": _date_add,
    "date_trunc": _date_trunc,
    "document": _document,
    "list": _list,
}
"""How each form is read, by the key it begins with."""


def looks_like_form(value: dict[Any, Any]) -> bool:
    """Whether a document in a step was probably meant as a value: all that it says is what a form says."""
    first = next(iter(value), "")
    if first in ("key_of", "new_key_of", "new_record_of", "latest_key_of"):
        return set(value) <= {first, "keys", "theta"}
    made = _GENERATORS.get(str(value[first])) if first == "kind" else None
    return made is not None and set(value) <= {field.alias or name for name, field in made.model_fields.items()}


def read_named(values: dict[str, Any], forms: Forms, saved_by: dict[str, list[str]], places: Any) -> "NamedValues":
    """Reads every named value, each after those that it refers to."""
    named = NamedValues(values, forms, saved_by, places)
    for name in values:
        named.get(name, ("values", name))
    return named


@dataclass
class NamedValues:
    """The named values of a workload, in an order in which each refers to earlier ones only."""

    given: dict[str, Any]
    forms: Forms
    saved_by: dict[str, list[str]]
    places: Any
    nodes: dict[str, Node] = field(default_factory=dict)
    _under_way: list[str] = field(default_factory=list)

    def get(self, name: str, path: Path) -> tuple[int, Node] | None:
        """The place of a value and what it is; None where there is none. `path` is where it is named."""
        if name not in self.given:
            return None
        if name not in self.nodes:
            self._read(name, path)
        return list(self.nodes).index(name), self.nodes[name]

    def _read(self, name: str, path: Path) -> None:
        if name in self._under_way:
            circle = " → ".join(f"${each}" for each in (*self._under_way[self._under_way.index(name) :], name))
            raise Problem(path, f"is defined in a circle: {circle}", "let one of them not refer to the others")
        if name in BUILT_IN:
            raise Problem(("values", name), f"${name} is built in", f"choose another name: my_{name}")
        if not name.replace("_", "a").isalnum() or name[:1].isdigit():
            hint = "take letters, digits and _, a letter first"
            raise Problem(("values", name), f"{shown(name)} can't name a value", hint)
        self._under_way.append(name)
        scope = self.scope()
        scope.is_named_value = True
        node = self.forms.read(self.given[name], ("values", name), scope)
        self._under_way.pop()
        self.nodes[name] = node

    def scope(self) -> Scope:
        """What `$name` means outside steps."""
        return Scope(
            tuple(self.given),
            self.get,
            self.forms.read,
            saved_by=self.saved_by,
            looks_like_form=looks_like_form,
            places=self.places,
        )
