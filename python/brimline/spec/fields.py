"""Owns the types of a spec's values.

Each reads what a user may type, keeps it in the unit its field's name ends with, is written back as text that
reads as the same value, and describes itself in the JSON schema.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from brimline import units
from brimline.spec import readers

DAY_NS = readers.DAY_NS
HOUR_NS = readers.HOUR_NS


def _schema(description: str, *kinds: str, **bounds: Any) -> WithJsonSchema:
    kind: Any = list(kinds) if len(kinds) > 1 else kinds[0]
    return WithJsonSchema({"type": kind, "description": description, **bounds})


def _quantity(description: str, reader: str, *kinds: str, **bounds: Any) -> WithJsonSchema:
    """A quantity that may be text with a unit. `bounds` are about numbers."""
    return _schema(description, *kinds, pattern=units.PATTERNS[reader], **bounds)


def _or_zero(zero: bool) -> tuple[str, ...]:
    """Text; and where 0 is a value it needs no unit."""
    return ("string", "integer") if zero else ("string",)


def _whole(minimum: int, maximum: int, *, advice: str = "") -> tuple[BeforeValidator, WithJsonSchema]:
    return (
        BeforeValidator(readers.whole(minimum, maximum, advice=advice)),
        _quantity(
            f"{minimum} to {maximum}; also like 100k or 1_000_000",
            "count",
            "integer",
            "string",
            minimum=minimum,
            maximum=maximum,
        ),
    )


def _bytes(minimum: int, maximum: int) -> tuple[BeforeValidator, WithJsonSchema]:
    return (
        BeforeValidator(readers.whole(minimum, maximum, units.parse_bytes)),
        _quantity(
            f"bytes, {minimum} to {maximum}; also like 1kB or 1KiB",
            "bytes",
            "integer",
            "string",
            minimum=minimum,
            maximum=maximum,
        ),
    )


def _duration(
    minimum_ns: int, maximum_ns: int, *, advice: str = ""
) -> tuple[BeforeValidator, PlainSerializer, WithJsonSchema]:
    bounds = f"{units.duration_text(minimum_ns)} to {units.duration_text(maximum_ns)}"
    return (
        BeforeValidator(readers.duration(minimum_ns, maximum_ns, advice=advice)),
        PlainSerializer(units.duration_text),
        _quantity(
            f"a duration of {bounds}, such as 500ms, 10s or 1h30m",
            "duration",
            *_or_zero(minimum_ns == 0),
            minimum=0,
            maximum=0,
        ),
    )


Name = Annotated[
    str,
    BeforeValidator(readers.text(readers.check_name)),
    _schema(
        "names the run's directory",
        "string",
        maxLength=48,
        pattern=r"^[^\x00-/:-@\[-^`{-\x7f][^\x00-,/:-@\[-^`{-\x7f]*$",
    ),
]
Description = Annotated[
    str, BeforeValidator(readers.text(readers.check_description)), _schema("free text", "string", maxLength=2000)
]
DatabaseName = Annotated[
    str,
    BeforeValidator(readers.text(readers.check_database)),
    _schema("a database", "string", maxLength=63, pattern=r'^(?!(?:admin|local|config)$)[^/\\. "$*<>:|?]+$'),
]
CollectionName = Annotated[
    str,
    BeforeValidator(readers.text(readers.check_collection)),
    _schema("a collection", "string", maxLength=128, pattern=r"^(?!system\.|[.\s])(?!.*\.\.)[^$]*[^$.\s]$"),
]
FieldNamePrefix = Annotated[
    str,
    BeforeValidator(readers.text(readers.check_field_name_prefix)),
    _schema("what field names begin with", "string", maxLength=128, pattern=r"^[^.$]+$"),
]
KeyPrefix = Annotated[
    str,
    BeforeValidator(readers.text(readers.check_key_prefix)),
    _schema("what keys begin with", "string", maxLength=128),
]

Seed = Annotated[int, *_whole(0, readers.SEED_MAX)]
RecordCount = Annotated[int, *_whole(1, readers.RECORD_COUNT_MAX)]
RecordNumber = Annotated[int, *_whole(0, readers.RECORD_COUNT_MAX)]
OperationCount = Annotated[int, *_whole(1, 10**15, advice="write it like 1000 or 100k")]
FieldCount = Annotated[int, *_whole(1, readers.FIELD_COUNT_MAX)]
FieldLength = Annotated[int, *_bytes(0, readers.DOCUMENT_BYTES_MAX)]
ZeroPadding = Annotated[int, *_whole(0, 64)]
BatchSize = Annotated[int, *_whole(1, readers.BATCH_SIZE_MAX)]
ScanLength = Annotated[int, *_whole(1, readers.SCAN_LENGTH_MAX)]
ConnectionCount = Annotated[int, *_whole(1, readers.CONNECTION_COUNT_MAX, advice="write it like 32")]
AttemptCount = Annotated[int, *_whole(1, readers.ATTEMPT_COUNT_MAX, advice="write it like 2")]
StatementCount = Annotated[int, *_whole(0, readers.STATEMENT_COUNT_MAX)]
ThreadCount = Annotated[int, *_whole(1, readers.THREAD_COUNT_MAX)]

WarmupDuration = Annotated[int, *_duration(0, DAY_NS)]
ThinkTime = Annotated[int, *_duration(0, DAY_NS)]
Rest = Annotated[int, *_duration(0, HOUR_NS)]
RampUp = Annotated[int, *_duration(1, DAY_NS, advice="1ms starts all at once")]
StageDuration = Annotated[int, *_duration(units.NS_PER_MS, 30 * DAY_NS, advice="such as 10s")]
MeasureDuration = Annotated[int, *_duration(10 * units.NS_PER_MS, 30 * DAY_NS)]
IntervalDuration = Annotated[int, *_duration(10 * units.NS_PER_MS, HOUR_NS)]
Timeout = Annotated[int, *_duration(units.NS_PER_MS, HOUR_NS)]
LatencyLimit = Annotated[int, *_duration(1, HOUR_NS)]

Rate = Annotated[
    float,
    BeforeValidator(readers.rate),
    PlainSerializer(units.rate_text),
    _quantity(
        "operations per second, such as 5000, 5000/s, 20k/s or 300/min",
        "rate",
        "number",
        "string",
        minimum=1e-6,
        maximum=readers.RATE_OPS_PER_S_MAX,
    ),
]
RateOrZero = Annotated[
    float,
    BeforeValidator(readers.rate_or_zero),
    PlainSerializer(units.rate_text),
    _quantity(
        "operations per second, 0 for none, such as 5000/s or 20k/s",
        "rate",
        "number",
        "string",
        minimum=0,
        maximum=readers.RATE_OPS_PER_S_MAX,
    ),
]
ErrorShare = Annotated[
    float,
    BeforeValidator(readers.percentage),
    PlainSerializer(units.percentage_text),
    _quantity("a percentage, such as 0.1%", "percentage", *_or_zero(True), minimum=0, maximum=0),
]
PositiveFraction = Annotated[
    float,
    BeforeValidator(readers.fraction(zero=False)),
    _quantity(
        "a fraction above 0 and at most 1, such as 0.2 or 20%",
        "fraction",
        "number",
        "string",
        exclusiveMinimum=0,
        maximum=1,
    ),
]
Fraction = Annotated[
    float,
    BeforeValidator(readers.fraction(zero=True)),
    _quantity("a fraction from 0 to 1, such as 0.8 or 80%", "fraction", "number", "string", minimum=0, maximum=1),
]
OperationShare = Annotated[
    float,
    BeforeValidator(readers.share),
    _quantity(
        "a fraction such as 0.5, a percentage such as 50%, or a weight such as 3",
        "fraction",
        "number",
        "string",
        minimum=0,
        maximum=1e9,
    ),
]
Theta = Annotated[
    float, BeforeValidator(readers.theta), _schema("skew, 0 to 10; YCSB's is 0.99", "number", minimum=0, maximum=10)
]
Percentile = Annotated[
    float,
    BeforeValidator(readers.percentile),
    _schema("above 0 and below 100", "number", exclusiveMinimum=0, exclusiveMaximum=100),
]
LengthWeights = Annotated[
    tuple[tuple[int, float], ...],
    BeforeValidator(readers.weights),
    PlainSerializer(dict),
    WithJsonSchema(
        {
            "type": "object",
            "description": "weight of each length",
            "minProperties": 1,
            "propertyNames": {"pattern": units.PATTERNS["bytes"]},
            "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1e15},
        }
    ),
]
