"""Owns what is seen of values: their types, how long and how large they are, how many different ones there are.

It is gathered value by value, in bounded memory, and knows neither a server nor a generator.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from bson import Binary, Decimal128, Int64, ObjectId
from bson.datetime_ms import DatetimeMS

DISTINCT_MAX = 10_000
"""Different values that are told apart in one place; beyond that they are many."""
DOCUMENT_DEPTH_MAX = 6
FIELDS_MAX = 2_000
"""Different fields of one document that are followed."""
_TEXT_KEPT = 200
_DAY_MS = 86_400_000
_NUMBERS = ("int", "long", "double", "decimal")


@dataclass(slots=True)
class ValueShape:
    """The values of one place: a field, an item of an array, a place in a command.

    `seen` counts values, `types` those of each BSON type. `sizes`: characters of texts, bytes of binaries.
    Numbers are compared as doubles, dates as milliseconds since 1970; `has_times`: not all of them are midnights.
    """

    seen: int = 0
    types: Counter[str] = field(default_factory=Counter)
    number_min: float | None = None
    number_max: float | None = None
    has_fractions: bool = False
    decimals: int = 0
    date_ms_min: int | None = None
    date_ms_max: int | None = None
    has_times: bool = False
    true_count: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    text_bytes: int = 0
    characters: set[str] = field(default_factory=set)
    lengths: Counter[int] = field(default_factory=Counter)
    point_min: tuple[float, float] | None = None
    point_max: tuple[float, float] | None = None
    items: "ValueShape | None" = None
    fields: "dict[str, ValueShape]" = field(default_factory=dict)
    left_out_fields: int = 0
    distinct: Counter[Hashable] = field(default_factory=Counter)
    many: bool = False

    @property
    def main_type(self) -> str:
        """The type of most values but null; of numbers with fractions the widest."""
        types = Counter({name: count for name, count in self.types.items() if name != "null"})
        if not types:
            return "null"
        main = types.most_common(1)[0][0]
        if main in _NUMBERS and self.has_fractions:
            return next(name for name in reversed(_NUMBERS) if types[name])
        return main

    @property
    def other_types(self) -> dict[str, int]:
        """How many values are of a type that `main_type` does not cover."""
        main = self.main_type
        covered = _NUMBERS if main in _NUMBERS else (main,)
        return {name: count for name, count in self.types.most_common() if name not in covered}

    @property
    def distinct_count(self) -> int | None:
        """How many different scalar values there are; None where they are too many to tell apart, or no scalars."""
        return None if self.many or not self.distinct else len(self.distinct)

    def add(self, value: Any, depth: int = 0) -> None:
        """Takes one more value into account."""
        self.seen += 1
        name = type_name(value)
        self.types[name] += 1
        match name:
            case "int" | "long" | "double" | "decimal":
                self._number(value)
            case "date":
                self._date(milliseconds(value))
            case "boolean":
                self.true_count += bool(value)
            case "text":
                self._text(value)
            case "binary":
                self.sizes[len(value)] += 1
            case "point":
                self._point(value["coordinates"])
            case "document":
                self._document(value, depth)
            case "array":
                self._array(value, depth)
            case _:
                pass
        if name in _SCALARS:
            self._count(value if name != "date" else milliseconds(value))

    def _number(self, value: Any) -> None:
        number = float(value.to_decimal()) if isinstance(value, Decimal128) else float(value)
        if number != number or number in (float("inf"), float("-inf")):
            return
        self.number_min = number if self.number_min is None else min(self.number_min, number)
        self.number_max = number if self.number_max is None else max(self.number_max, number)
        if not number.is_integer():
            self.has_fractions = True
            self.decimals = max(self.decimals, min(len(f"{number!r}".partition(".")[2]), 15))

    def _date(self, ms: int) -> None:
        self.has_times = self.has_times or ms % _DAY_MS != 0
        self.date_ms_min = ms if self.date_ms_min is None else min(self.date_ms_min, ms)
        self.date_ms_max = ms if self.date_ms_max is None else max(self.date_ms_max, ms)

    def _text(self, value: str) -> None:
        self.sizes[len(value)] += 1
        self.text_bytes += len(value.encode("utf-8", "surrogatepass"))
        self.characters.update(value[:_TEXT_KEPT])

    def _point(self, coordinates: Any) -> None:
        x, y = float(coordinates[0]), float(coordinates[1])
        low, high = self.point_min or (x, y), self.point_max or (x, y)
        self.point_min, self.point_max = (min(low[0], x), min(low[1], y)), (max(high[0], x), max(high[1], y))

    def _document(self, value: Mapping[str, Any], depth: int) -> None:
        if depth >= DOCUMENT_DEPTH_MAX:
            return
        for name, each in value.items():
            shape = self.fields.get(name)
            if shape is None:
                if len(self.fields) >= FIELDS_MAX:
                    self.left_out_fields += 1
                    continue
                shape = self.fields[name] = ValueShape()
            shape.add(each, depth + 1)

    def _array(self, value: list[Any], depth: int) -> None:
        self.lengths[len(value)] += 1
        if depth >= DOCUMENT_DEPTH_MAX:
            return
        self.items = self.items or ValueShape()
        for each in value:
            self.items.add(each, depth + 1)

    def _count(self, value: Any) -> None:
        key: Hashable = value if not isinstance(value, str) or len(value) <= _TEXT_KEPT else (value[:20], hash(value))
        if isinstance(value, Decimal128):
            key = str(value)
        if self.many or (len(self.distinct) >= DISTINCT_MAX and key not in self.distinct):
            self.many = True
            return
        self.distinct[key] += 1


_SCALARS = frozenset({"int", "long", "double", "decimal", "text", "date", "object_id", "uuid", "boolean", "binary"})


def type_name(value: Any) -> str:
    """The BSON type of a value as PyMongo gives it, by the name of its generator where it has one."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case Int64():
            return "long"
        case int():
            return "int" if -(2**31) <= value < 2**31 else "long"
        case float():
            return "double"
        case Decimal128():
            return "decimal"
        case str():
            return "text"
        case datetime() | DatetimeMS():
            return "date"
        case ObjectId():
            return "object_id"
        case UUID():
            return "uuid"
        case Binary():
            return "binary"
        case bytes():
            return "binary"
        case list():
            return "array"
        case Mapping():
            return _document_type(value)
        case _:
            return type(value).__name__.lower()


def _document_type(value: Mapping[str, Any]) -> str:
    """What a document is: a point of GeoJSON, another of its geometries, or just a document."""
    kind, coordinates = value.get("type"), value.get("coordinates")
    if not isinstance(kind, str) or not isinstance(coordinates, list):
        return "document"
    if kind == "Point":
        return "point" if _is_on_earth(coordinates) else "document"
    return "geometry" if kind in _GEOMETRIES else "document"


_GEOMETRIES = frozenset({"LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon"})


def _is_on_earth(coordinates: list[Any]) -> bool:
    """Whether these are a longitude and a latitude."""
    if len(coordinates) < 2 or not all(isinstance(each, int | float) for each in coordinates[:2]):
        return False
    return bool(-180 <= coordinates[0] <= 180 and -90 <= coordinates[1] <= 90)


def milliseconds(value: Any) -> int:
    """Since 1970, of a date as PyMongo gives it. Raises TypeError for anything else."""
    if isinstance(value, DatetimeMS):
        return int(value)
    return int(DatetimeMS(value))


def shape_of(values: Iterable[Any]) -> ValueShape:
    """What is seen of `values`."""
    shape = ValueShape()
    for value in values:
        shape.add(value)
    return shape


def at_path(shape: ValueShape, path: str) -> ValueShape | None:
    """The shape at a dotted path, through arrays as a query goes; None where nothing was seen there."""
    for name in path.split("."):
        while not shape.fields and shape.items is not None:
            shape = shape.items
        if name.isdigit() and name not in shape.fields:
            continue
        if name not in shape.fields:
            return None
        shape = shape.fields[name]
    return shape


def scalars_below(shape: ValueShape, path: str = "") -> Iterator[tuple[str, ValueShape]]:
    """Each place that holds scalars, by its dotted path; items of an array stand at the path of the array."""
    for name, each in shape.fields.items():
        yield from scalars_below(each, f"{path}.{name}" if path else name)
    if shape.items is not None:
        yield from scalars_below(shape.items, path)
    if path and any(name in _SCALARS for name in shape.types):
        yield path, shape
