"""Owns the part of a spec that names queries to be scanned one by one: their filters, indexes and expected plans."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Final, Self

from bson import json_util
from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema, model_validator

from brimline import units
from brimline.spec import fields, readers
from brimline.spec.base import InShort, Part, one_of
from brimline.spec.expected_plan import key_pattern_text, parse_expected_plan
from brimline.spec.readers import shown

EVERY_DOCUMENT: Final = "all"
"""The filter that every document passes, said in a word so that a forgotten filter isn't one."""
WIDTHS_MIN: Final = 3
"""A line through two points fits whatever they are."""
SCENARIOS_MAX: Final = 64
REPETITIONS_MIN: Final = 3
REPETITIONS_MAX: Final = 1000
_WIDTHS_MAX: Final = 16
_INDEX_KINDS = ("hashed", "text", "2d", "2dsphere")
_WRITING_STAGES = ("$out", "$merge")


def _read_document(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a mapping, not {shown(value)}; write it like {{level: ERROR}}")
    extended_json(value)
    return value


def _read_filter(value: object) -> object:
    if value == EVERY_DOCUMENT:
        return value
    document = _read_document(value)
    if not document:
        raise ValueError("names no field; give a condition such as {level: ERROR}, or say filter: all")
    return document


def _read_pipeline(value: object) -> list[Any]:
    if not isinstance(value, list) or not value or not all(isinstance(each, dict) and len(each) == 1 for each in value):
        raise ValueError("must be a list of stages; write it like [{$match: {level: ERROR}}]")
    for stage in value:
        extended_json(stage)
        if (name := next(iter(stage))) in _WRITING_STAGES:
            raise ValueError(f"has the stage {name}, which writes; a scan only reads: leave it out")
    return value


def extended_json(value: Any) -> Any:
    """What MongoDB's Extended JSON says, as BSON values: `{$date: …}` is a date. Raises ValueError."""
    try:
        return json_util.loads(json.dumps(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"is not Extended JSON: {error}; write it as MongoDB's documents have it") from None


def _read_keys(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError(f"must be an index's fields, not {shown(value)}; write it like {{time: 1}}")
    for field, kind in value.items():
        if isinstance(kind, bool) or kind not in (1, -1, *_INDEX_KINDS):
            raise ValueError(f"{field} can't be {shown(kind)} in an index; write 1, -1, {' or '.join(_INDEX_KINDS)}")
    return value


def _read_hint(value: object) -> object:
    return value if isinstance(value, str) and value else _read_keys(value)


def _check_field(text: str) -> None:
    if not text or text.startswith("$"):
        raise ValueError(f"{shown(text)} is no field's name; write it like level")


def _check_plan(text: str) -> None:
    parse_expected_plan(text)


def _check_name(text: str) -> None:
    if not text.strip() or len(text) > 60:
        raise ValueError("must have 1 to 60 characters; take a short name")


def _amount(minimum: int) -> Any:
    whole = readers.whole(minimum, readers.RECORD_COUNT_MAX)

    def read(value: object) -> int | str:
        if not isinstance(value, str) or not value.rstrip().endswith("%"):
            return whole(value)
        share = readers.percentage(value)
        if minimum and not share:
            raise ValueError("must be more than 0%, else there is nothing to ask for; write it like 5%")
        return units.percentage_text(share)

    words = f"{minimum} to {readers.RECORD_COUNT_MAX}, also like 100k; or a share of the documents, such as 5%"
    return (
        BeforeValidator(read),
        WithJsonSchema(
            {
                "type": ["integer", "string"],
                "description": words,
                "minimum": minimum,
                "maximum": readers.RECORD_COUNT_MAX,
                "pattern": f"{units.PATTERNS['count']}|{units.PATTERNS['percentage']}",
            }
        ),
    )


def _mapping(read: Any, description: str, *kinds: str, **bounds: Any) -> Any:
    schema = {"type": list(kinds) or "object", "description": description, **bounds}
    return (BeforeValidator(read), WithJsonSchema(schema))


_A_STAGE: Final = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "propertyNames": {"not": {"enum": [*_WRITING_STAGES]}},
}
Document = Annotated[dict[str, Any], *_mapping(_read_document, "fields and values, as Extended JSON")]
Filter = Annotated[
    Any,
    *_mapping(
        _read_filter,
        "conditions as Extended JSON, or all",
        "object",
        "string",
        pattern=f"^{EVERY_DOCUMENT}$",
        minProperties=1,
    ),
]
Pipeline = Annotated[
    list[Any],
    *_mapping(_read_pipeline, "stages of an aggregate, none that writes", "array", minItems=1, items=_A_STAGE),
]
_KEYS: Final = {
    "type": "object",
    "description": "fields and 1, -1 or a kind",
    "minProperties": 1,
    "additionalProperties": {"enum": [1, -1, *_INDEX_KINDS]},
}
Keys = Annotated[dict[str, Any], BeforeValidator(_read_keys), WithJsonSchema(_KEYS)]
Hint = Annotated[
    Any,
    *_mapping(_read_hint, "an index's fields, its name, or $natural", "object", "string", minLength=1, minProperties=1),
]
FieldName = Annotated[
    str,
    BeforeValidator(readers.text(_check_field)),
    WithJsonSchema({"type": "string", "description": "a field", "pattern": r"^[^$]"}),
]
PlanWords = Annotated[
    str,
    BeforeValidator(readers.text(_check_plan)),
    WithJsonSchema({"type": "string", "description": 'stages such as "IXSCAN {time: 1}, no SORT"'}),
]
ScenarioName = Annotated[
    str,
    BeforeValidator(readers.text(_check_name)),
    WithJsonSchema({"type": "string", "description": "in reports", "pattern": r"\S", "maxLength": 60}),
]
Amount = Annotated[int | str, *_amount(1)]
"""A count, or a share of the collection's documents, as text: "5%"."""
Count = Annotated[int | str, *_amount(0)]
Repetitions = Annotated[
    int,
    BeforeValidator(readers.whole(REPETITIONS_MIN, REPETITIONS_MAX)),
    WithJsonSchema(
        {
            "type": ["integer", "string"],
            "description": f"{REPETITIONS_MIN} to {REPETITIONS_MAX}",
            "minimum": REPETITIONS_MIN,
            "maximum": REPETITIONS_MAX,
            "pattern": units.PATTERNS["count"],
        }
    ),
]
QueryTime = Annotated[
    int,
    BeforeValidator(readers.duration(units.NS_PER_MS, readers.DAY_NS)),
    PlainSerializer(units.duration_text),
    WithJsonSchema(
        {
            "type": "string",
            "description": "a duration of 1ms to 1d, such as 500ms, 10s or 1h30m",
            "pattern": units.PATTERNS["duration"],
        }
    ),
]


class IndexSpec(Part):
    """An index that the scenarios need; its name is MongoDB's own unless it is given."""

    keys: Keys
    """Indexed fields, each with 1, -1 or a kind of index."""
    name: FieldName | None = None
    """Its name; by default MongoDB's own, such as `time_1_level_-1`."""

    @property
    def effective_name(self) -> str:
        """`time_1_level_-1`, as MongoDB itself calls it."""
        return self.name or "_".join(f"{field}_{kind}" for field, kind in self.keys.items())

    @property
    def text(self) -> str:
        """Its fields, for people."""
        return key_pattern_text(self.keys)


def _plain_index(value: object) -> object:
    """`{time: 1}` is short for `{keys: {time: 1}}`."""
    return {"keys": value} if isinstance(value, dict) and not isinstance(value.get("keys"), dict) else value


class RangeSpec(Part):
    """Ranges of an indexed field that hold so many entries of the index, from its beginning on.

    Without `widths`: 1 000, 10 000 … and all there are.
    """

    field: FieldName
    """The indexed field."""
    widths: (
        Annotated[
            tuple[Amount, ...],
            Field(strict=False, json_schema_extra={"minItems": WIDTHS_MIN, "maxItems": _WIDTHS_MAX}),
        ]
        | None
    ) = None
    """How many entries each range holds, or which share of all; by default 1 000, 10 000 … and all there are."""

    @model_validator(mode="after")
    def _check_widths(self) -> Self:
        if self.widths is None:
            return self
        if not WIDTHS_MIN <= len(self.widths) <= _WIDTHS_MAX:
            raise ValueError(
                f"a line needs {WIDTHS_MIN} to {_WIDTHS_MAX} widths, not {len(self.widths)}; "
                "give some such as [10k, 30k, 100k, 300k]"
            )
        if len({type(width) for width in self.widths}) > 1:
            raise ValueError("widths must all be counts, or all be shares; one collection decides which is wider")
        if any(later <= earlier for earlier, later in pairwise(map(_size, self.widths))):
            raise ValueError("widths must grow; order them, each once")
        return self


class ScenarioSpec(Part):
    """One query: a `find` with a filter, a range or both, or an aggregate."""

    model_config = ConfigDict(json_schema_extra=one_of("filter", "range", "pipeline"))

    name: ScenarioName
    """What reports call the query."""
    filter: Filter | None = None
    """Conditions of a `find`; `all` for every document."""
    range: RangeSpec | None = None
    """Ranges of an indexed field, one after the other."""
    pipeline: Pipeline | None = None
    """Stages of an aggregate, instead of a `find`."""
    sort: Document | None = None
    """Order of the documents."""
    projection: Document | None = None
    """Fields to bring."""
    limit: Amount | None = None
    """Documents to bring at most; also a share of the collection's."""
    hint: Hint | None = None
    """Index that the server is told to use."""
    plan: PlanWords | None = None
    """The plan that is expected; another one ends the scan with exit code 3."""
    documents: Count | None = None
    """Number of documents that is expected; also a share of the collection's."""

    @model_validator(mode="after")
    def _check_question(self) -> Self:
        if self.filter is None and self.range is None and self.pipeline is None:
            raise ValueError(
                f"{shown(self.name)} has no filter; "
                "give filter: {field: value}, a range or a pipeline, or filter: all"
            )
        beside = [name for name in ("filter", "sort", "projection", "limit") if getattr(self, name) is not None]
        if self.pipeline is not None and beside:
            raise ValueError(f"{beside[0]} has no place beside a pipeline; make it a stage of the pipeline")
        if self.range is not None and self.documents is not None:
            raise ValueError("documents differ from width to width; leave documents out")
        if self.range is not None and isinstance(self.filter, Mapping) and self.range.field in self.filter:
            raise ValueError(f"filter and range are both about {self.range.field}; leave it out of filter")
        return self


def count_of(amount: int | str, *, entry_count: int) -> int:
    """A count as it is; a share of so many entries, rounded, and no less than one unless it is 0%."""
    if isinstance(amount, int):
        return amount
    share = _size(amount)
    return max(round(share * entry_count), 1) if share else 0


def _size(amount: int | str) -> float:
    return amount if isinstance(amount, int) else units.parse_percentage(amount)


class ScansSpec(Part):
    """What `brimline scan` asks, and how exactly.

    A scenario is repeated until the 95 % interval of its mean time is `precision` wide on either side, at most
    `repetitions` times and for about `time_per_scenario`. `answer_within` is the T of the rule.
    """

    scenarios: Annotated[
        tuple[ScenarioSpec, ...],
        Field(strict=False, json_schema_extra={"minItems": 1, "maxItems": SCENARIOS_MAX}),
    ]
    """The queries, in order."""
    indexes: Annotated[
        tuple[Annotated[IndexSpec, BeforeValidator(_plain_index), InShort(_KEYS)], ...],
        Field(strict=False),
    ] = ()
    """Indexes that are built before, and dropped afterwards where they were not there."""
    answer_within_ns: QueryTime = Field(default=10 * units.NS_PER_S, alias="answer_within")
    """Time to answer, from which the rule of entries is derived."""
    precision: fields.PositiveFraction = 0.05
    """Half the width of the 95 % interval of a mean time at which repeating ends, as a share of it."""
    repetitions: Repetitions = 20
    """Repetitions of a query at most."""
    time_per_scenario_ns: QueryTime = Field(default=20 * units.NS_PER_S, alias="time_per_scenario")
    """About how long one query is repeated at most."""
    query_timeout_ns: QueryTime = Field(default=readers.HOUR_NS, alias="query_timeout")
    """How long one execution may take."""

    def sized(self, entry_count: int) -> "ScansSpec":
        """The same with counts in place of shares. Shares that come to the same count are asked for once."""

        def of(amount: int | str | None) -> int | None:
            return None if amount is None else count_of(amount, entry_count=entry_count)

        def sized(each: ScenarioSpec) -> ScenarioSpec:
            range_ = each.range
            if range_ is not None and range_.widths is not None:
                range_ = range_.model_copy(update={"widths": tuple(dict.fromkeys(map(of, range_.widths)))})
            return each.model_copy(update={"range": range_, "limit": of(each.limit), "documents": of(each.documents)})

        return self.model_copy(update={"scenarios": tuple(map(sized, self.scenarios))})

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if not 1 <= len(self.scenarios) <= SCENARIOS_MAX:
            raise ValueError(
                f"scenarios must be 1 to {SCENARIOS_MAX}, not {len(self.scenarios)}; "
                "give some such as [{name: errors, filter: {level: ERROR}}]"
            )
        for what, names in (
            ("scenarios", [each.name for each in self.scenarios]),
            ("indexes", [each.effective_name for each in self.indexes]),
        ):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise ValueError(f"there are two {what} called {shown(twice[0])}; give each its own name")
        return self
