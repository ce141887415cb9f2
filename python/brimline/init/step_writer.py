"""Owns how a request with holes becomes a step: what stands in each hole, and what is guessed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from brimline.init.command_groups import CommandGroup, HoleValues
from brimline.init.constants import literal, step_document
from brimline.init.field_generators import FieldContext, document_fields, generator, unnamed_fields
from brimline.init.holes import Hole, Kept, holes_in
from brimline.init.live_collection import LiveCollection
from brimline.init.named_values import NamedValues
from brimline.init.rounding import duration_words, rounded_range, rounded_size
from brimline.init.value_shape import ValueShape
from brimline.init.words import can_name_field
from brimline.init.yaml_text import plain
from brimline.units import counted

_SAMPLED_ITEMS_MAX = 5
_ITEMS_MAX = 1_000
_STEADY_AGE = 0.1
"""A date is "so long ago" where its age varies by less than this share."""
_NOW_MS = 60_000.0
_OF_ROWS = frozenset({"equal", "bound", "list", "prefix"})
_PREFIX_LENGTH_MAX = 20
_TEXT_SEARCHED: Mapping[str, Any] = {"kind": "string", "length": 6, "alphabet": "lowercase"}


@dataclass(slots=True, kw_only=True)
class StepWriter:
    """Writes the steps of groups of commands on known collections.

    `live` are the collections that were looked at, by name; `contexts` decides about their generators; `references`
    gives for (collection, path) the loaded collection whose key stands there.
    """

    values: NamedValues
    live: Mapping[str, LiveCollection] = field(default_factory=dict)
    contexts: Mapping[str, FieldContext] = field(default_factory=dict)
    references: Mapping[tuple[str, str], str] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)
    _group: CommandGroup = field(init=False)
    _rows: dict[str, int] = field(default_factory=dict)
    _rare: str = ""
    _spans: dict[int, tuple[Hole, float]] = field(default_factory=dict)

    def write(self, group: CommandGroup) -> dict[str, Any]:
        """The step, `{find: {…}}`; what was guessed for it is in `guesses`."""
        self._group, self.guesses, self._rows = group, [], {}
        request = group.request
        self._rare = self._rare_fields(group)
        self._spans = {
            high.number: (low, median(found))
            for low, high in group.pairs
            if (found := group.spans.get((low.number, high.number)))
        }
        arguments = {"collection": request.collection}
        if request.kind == "insert":
            return {"insert": arguments | self._insert(request.arguments["count"])}
        return {request.kind: arguments | {name: self._filled(each) for name, each in request.arguments.items()}}

    def _rare_fields(self, group: CommandGroup) -> str:
        """The fields of rows that a group needs, where some documents lack one of them; else ""."""
        live = self.live.get(group.request.collection)
        asked = {each.field for each in holes_in(group.request.arguments) if each.role in _OF_ROWS and each.field}
        rare = live is not None and any(live.is_rare(each) for each in asked)
        return "_".join(sorted(asked)) if rare else ""

    def _insert(self, count: Any) -> dict[str, Any]:
        made: dict[str, Any] = {"document": self.new_document(self._group.request.collection)}
        hole = self._hole(count)
        number = round((hole.shape.number_min or 1) if hole.shape.distinct_count == 1 else _middle(hole.shape, 1))
        if number > 1:
            made["count"] = min(number, _ITEMS_MAX)
            if hole.shape.distinct_count != 1:
                self._guess(f"{counted(number, 'document')} at a time, the median")
        return made

    def new_document(self, name: str) -> Any:
        """A further document of the collection."""
        return self.values.new_record(name) if name in self.values.loaded else self._document(name)

    def _document(self, name: str) -> Any:
        """A document of the collection's shape, without `_id`."""
        live = self.live.get(name)
        if live is None:
            self._guess("nothing shows what a document looks like")
            return {"created": "$now"}
        if left_out := unnamed_fields(live.shape):
            self._guess(left_out)
        fields = plain(document_fields(live.shape, self._outside(name)))
        if name in self.values.loaded:
            return step_document({path: {"$value": each} for path, each in fields.items()} or {"created": "$now"})
        return step_document(self._like_another(name, live, fields))

    def _like_another(self, name: str, live: LiveCollection, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A document as another is that exists, so that it meets what the live collection asks of its documents."""
        self._guess("new documents are as others are, but for what is unique")
        made = {
            path: self._unlike(path, each) if path in self._unique(name) else self.values.other(name, path)
            for path, each in fields.items()
            if live.shape.fields[path].seen >= live.sampled
        }
        return made or {"created": "$now"}

    def _unique(self, name: str) -> frozenset[str]:
        context = self.contexts.get(name)
        return frozenset() if context is None else context.unique_paths

    @staticmethod
    def _unlike(_path: str, made: Mapping[str, Any]) -> Any:
        """A value that no document has: of texts that of a new ObjectId."""
        return {"$value": {"text": "$new_id"} if made["kind"] in ("string", "choice") else dict(made)}

    def _outside(self, name: str) -> FieldContext:
        """The context of a collection for values that no record's number makes."""
        context = self.contexts.get(name, FieldContext())
        return FieldContext(
            with_values=context.with_values,
            point_paths=context.point_paths,
            references={path: plain(value) for path, value in context.references.items()},
            in_records=False,
        )

    def _filled(self, value: Any) -> Any:
        if isinstance(value, Hole):
            return _FILLERS[value.role](self, value)
        if isinstance(value, Kept):
            return literal(value.text, dollars=True)
        if isinstance(value, Mapping):
            return step_document({name: self._filled(each) for name, each in value.items()})
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        return literal(value, dollars=True)

    def _hole(self, hole: Hole) -> HoleValues:
        return self._group.holes[hole.number]

    def _guess(self, text: str) -> None:
        if text not in self.guesses:
            self.guesses.append(text)

    def _existing(self, path: str) -> Any:
        """A value that a document has; each further use of a field in a step is of another row."""
        row = self._rows.get(path, 0)
        self._rows[path] = row + 1
        return self.existing(self._group.request.collection, path, row=row)

    def existing(self, name: str, path: str, *, row: int = 0) -> Any:
        """A value that a document of the collection has: a key, or the field of a row that exists."""
        if name in self.values.loaded:
            if path == "_id":
                return self.values.key_of(name)
            if (target := self.references.get((name, path))) in self.values.loaded and target is not None:
                return self.values.key_of(target)
        live = self.live.get(name)
        column, path = (path, path) if live is None else live.route(path)
        return self.values.known(name, path, column=column, row=row, group=self._rare)

    def _equal(self, hole: Hole) -> Any:
        shape = self._hole(hole).shape
        if shape.main_type in ("document", "array"):
            self._guess(f"{hole.field} compared with a whole {shape.main_type}: one of the same shape")
            return self._made(hole)
        return self._existing(hole.field)

    def _bound(self, hole: Hole) -> Any:
        seen = self._hole(hole)
        low, span = self._spans.get(hole.number, (hole, 0.0))
        age = _steady_age(self._hole(low))
        if age is not None:
            self._guess(f"{hole.field} is so long before the operation")
            by = span - age
            return {"$value": {"date_add": {"date": "$now", "by": f"{'-' if by < 0 else ''}{duration_words(by)}"}}}
        if hole is not low:
            return self._shifted(self._anchor(low), span, seen.shape.main_type, hole.field)
        return self._anchor(hole)

    def _anchor(self, hole: Hole) -> Any:
        """The row's own value, the same for both bounds of a field."""
        return self.existing(self._group.request.collection, hole.field)

    def _shifted(self, anchor: Any, span: float, kind: str, path: str) -> Any:
        if kind == "date":
            self._guess(f"{path} spans {duration_words(span)}, the median")
            return {"$value": {"date_add": {"date": anchor, "by": duration_words(span)}}}
        if kind in ("int", "long", "double", "decimal"):
            wide = rounded_range(0.0, abs(span))[1]
            self._guess(f"{path} spans {wide:g}, the median rounded")
            return {"$value": {"add": [anchor, int(wide) if wide.is_integer() else wide]}}
        return anchor

    def _list(self, hole: Hole) -> Any:
        """As many values as the list had at the median."""
        shape = self._hole(hole).shape
        count = min(max(round(_middle_of(shape.lengths)), 1), _ITEMS_MAX)
        name = self._group.request.collection
        target = name if hole.field == "_id" else self.references.get((name, hole.field))
        if len(shape.lengths) > 1:
            self._guess(f"{hole.field} is compared with {counted(count, 'value')}, the median")
        if target in self.values.loaded and target is not None:
            return {"$value": {"kind": "array", "length": count, "of": self.values.keys_form(target)}}
        if count <= _SAMPLED_ITEMS_MAX:
            return [self._existing(hole.field) for _ in range(count)]
        self._guess(f"{hole.field} takes {counted(count, 'value')} that are made up")
        items: Any = self.of_field(name, hole.field) or self._item(hole)
        return {"$value": {"kind": "array", "length": count, "of": items}}

    def _items(self, hole: Hole) -> Any:
        """New items of an array, as many as there were at the median."""
        shape = self._hole(hole).shape
        count = min(max(round(_middle_of(shape.lengths)), 1), _ITEMS_MAX)
        return {"$value": {"kind": "array", "length": count, "of": self._item(hole)}}

    def _item(self, hole: Hole) -> Any:
        """The generator of the items that lists in a hole had."""
        items = self._hole(hole).shape.items or ValueShape()
        return plain(generator(items, self._outside(self._group.request.collection)))

    def _new(self, hole: Hole) -> Any:
        if hole.field and not hole.operator:
            if _is_now(self._hole(hole)):
                return "$now"
            if (made := self.new_value(self._group.request.collection, hole.field)) is not None:
                return made
        return self._made(hole)

    def new_value(self, name: str, path: str) -> Any:
        """A new value for a field, as a step has it; None where it wasn't seen.

        Of a live collection that is used as it is, the value of another document, which its validator takes.
        """
        made = self.of_field(name, path)
        if made is None or name in self.values.loaded or path in self._unique(name):
            return None if made is None else {"$value": made}
        return self.values.other(name, path) if can_name_field(path) else {"$value": made}

    def new_point(self, name: str, path: str) -> Any:
        """A point where the field's are, as a step has it; None where the field wasn't seen."""
        live = self.live.get(name)
        shape = None if live is None else live.at(path)
        context = FieldContext(point_paths=frozenset({path}))
        return None if shape is None else {"$value": plain(generator(shape, context, path))}

    def of_field(self, name: str, path: str) -> Any:
        """The generator of a field of the collection; None where it wasn't seen."""
        live = self.live.get(name)
        shape = None if live is None else live.at(path)
        if shape is None or path == "_id":
            return None
        return plain(generator(shape, self._outside(name), path))

    def _made(self, hole: Hole) -> Any:
        shape = self._hole(hole).shape
        return {"$value": plain(generator(shape, self._outside(self._group.request.collection)))}

    def _amount(self, hole: Hole) -> Any:
        return self._made(hole)

    def _prefix(self, hole: Hole) -> Any:
        """A regular expression of the beginning of a value that exists; without a beginning, of its first part."""
        shape = self._hole(hole).shape
        length = min(max(round(_middle_of(shape.sizes)) - len(hole.operator), 1), _PREFIX_LENGTH_MAX)
        self._guess(f"{hole.field} is searched by {rounded_size(length)} characters of a value that exists")
        part = {"substring": {"of": self._existing(hole.field), "start": 0, "length": rounded_size(length)}}
        return {"$value": {"concat": ["^", part]} if hole.operator else part}

    def _search(self, hole: Hole) -> Any:
        self._guess("the words of the text search are made up")
        words = self._hole(hole).shape
        return {"$value": {**_TEXT_SEARCHED, "length": min(rounded_size(max(words.sizes, default=6)), 12)}}

    def _point(self, hole: Hole) -> Any:
        live = self.live.get(self._group.request.collection)
        shape = None if live is None or not hole.field else live.at(hole.field)
        seen = shape if shape is not None and shape.point_min is not None else self._hole(hole).shape
        if hole.operator == "pair" or (self._hole(hole).shape.main_type == "array" and seen.point_min is None):
            return self._made(hole)
        return {"$value": plain(generator(seen, FieldContext()))}

    def _size(self, hole: Hole) -> Any:
        shape = self._hole(hole).shape
        return _rounded_middle(shape)

    def _number(self, hole: Hole) -> Any:
        """A limit or a number to skip: the one that it always is, else any of the range."""
        shape = self._hole(hole).shape
        low, high = int(shape.number_min or 0), int(shape.number_max or 0)
        if low == high:
            return low
        self._guess(f"{hole.field} is anything from {low} to {high}")
        return {"$value": {"kind": "int", "min": low, "max": high}}

    def _whole(self, hole: Hole) -> Any:  # noqa: ARG002
        """A whole document that replaces another."""
        return self._document(self._group.request.collection)


_FILLERS: Mapping[str, Callable[[StepWriter, Hole], Any]] = {
    "equal": StepWriter._equal,
    "bound": StepWriter._bound,
    "list": StepWriter._list,
    "items": StepWriter._items,
    "new": StepWriter._new,
    "amount": StepWriter._amount,
    "prefix": StepWriter._prefix,
    "search": StepWriter._search,
    "point": StepWriter._point,
    "size": StepWriter._size,
    "number": StepWriter._number,
    "document": StepWriter._whole,
}


def _middle_of(sizes: Mapping[int, int]) -> float:
    """The median of counted numbers; 1 without any."""
    left = sum(sizes.values()) / 2
    for size in sorted(sizes):
        left -= sizes[size]
        if left <= 0:
            return size
    return 1


def _middle(shape: ValueShape, otherwise: float) -> float:
    """The median of the numbers that a place had, as far as they are told apart."""
    numbers = {value: count for value, count in shape.distinct.items() if isinstance(value, int | float)}
    return _middle_of(numbers) if numbers else otherwise  # type: ignore[arg-type]


def _rounded_middle(shape: ValueShape) -> float:
    middle = _middle(shape, shape.number_max or 1.0)
    return rounded_range(0.0, float(middle))[1] if middle > 0 else middle


def _is_now(hole: HoleValues) -> bool:
    """Whether dates were those of their commands."""
    return hole.shape.main_type == "date" and bool(hole.ages_ms) and all(abs(age) <= _NOW_MS for age in hole.ages_ms)


def _steady_age(hole: HoleValues) -> float | None:
    """How long before their commands dates were, where that is steady: "of the last seven days".

    A date that stays while time goes on is a constant.
    """
    moves = hole.shape.many or 2 * len(hole.shape.distinct) >= hole.shape.seen
    if len(hole.ages_ms) < 2 or not moves or hole.shape.main_type != "date":
        return None
    middle = median(hole.ages_ms)
    spread = max(abs(age - middle) for age in hole.ages_ms)
    return middle if middle > 0 and spread <= _STEADY_AGE * middle else None
