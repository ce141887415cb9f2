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


def _schema(description: str, *kinds: str) -> WithJsonSchema:
    kind: Any = list(kinds) if len(kinds) > 1 else kinds[0]
    return WithJsonSchema({"type": kind, "description": description})


def _whole(minimum: int, maximum: int, *, advice: str = "") -> tuple[BeforeValidator, WithJsonSchema]:
    return (
        BeforeValidator(readers.whole(minimum, maximum, advice=advice)),
        _schema(f"{minimum} to {maximum}; also like 100k or 1_000_000", "integer", "string"),
    )


def _bytes(minimum: int, maximum: int) -> tuple[BeforeValidator, WithJsonSchema]:
    return (
        BeforeValidator(readers.whole(minimum, maximum, units.parse_bytes)),
        _schema(f"bytes, {minimum} to {maximum}; also like 1kB or 1KiB", "integer", "string"),
    )


def _duration(
    minimum_ns: int, maximum_ns: int, *, advice: str = ""
) -> tuple[BeforeValidator, PlainSerializer, WithJsonSchema]:
    bounds = f"{units.duration_text(minimum_ns)} to {units.duration_text(maximum_ns)}"
    return (
        BeforeValidator(readers.duration(minimum_ns, maximum_ns, advice=advice)),
        PlainSerializer(units.duration_text),
        _schema(f"a duration of {bounds}, such as 500ms, 10s or 1h30m", "string"),
    )


Name = Annotated[str, BeforeValidator(readers.text(readers.check_name)), _schema("names the run's directory", "string")]
Description = Annotated[str, BeforeValidator(readers.text(readers.check_description)), _schema("free text", "string")]
DatabaseName = Annotated[str, BeforeValidator(readers.text(readers.check_database)), _schema("a database", "string")]
CollectionName = Annotated[
    str, BeforeValidator(readers.text(readers.check_collection)), _schema("a collection", "string")
]
FieldNamePrefix = Annotated[
    str,
    BeforeValidator(readers.text(readers.check_field_name_prefix)),
    _schema("what field names begin with", "string"),
]
KeyPrefix = Annotated[
    str, BeforeValidator(readers.text(readers.check_key_prefix)), _schema("what keys begin with", "string")
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
    _schema("operations per second, such as 5000, 5000/s, 20k/s or 300/min", "number", "string"),
]
RateOrZero = Annotated[
    float,
    BeforeValidator(readers.rate_or_zero),
    PlainSerializer(units.rate_text),
    _schema("operations per second, 0 for none, such as 5000/s or 20k/s", "number", "string"),
]
ErrorShare = Annotated[
    float,
    BeforeValidator(readers.percentage),
    PlainSerializer(units.percentage_text),
    _schema("a percentage, such as 0.1%", "string"),
]
PositiveFraction = Annotated[
    float,
    BeforeValidator(readers.fraction(zero=False)),
    _schema("a fraction above 0 and at most 1, such as 0.2 or 20%", "number", "string"),
]
Fraction = Annotated[
    float,
    BeforeValidator(readers.fraction(zero=True)),
    _schema("a fraction from 0 to 1, such as 0.8 or 80%", "number", "string"),
]
OperationShare = Annotated[
    float,
    BeforeValidator(readers.share),
    _schema("a fraction such as 0.5, a percentage such as 50%, or a weight such as 3", "number", "string"),
]
Theta = Annotated[float, BeforeValidator(readers.theta), _schema("skew, 0 to 10; YCSB's is 0.99", "number")]
Percentile = Annotated[float, BeforeValidator(readers.percentile), _schema("above 0 and below 100", "number")]
LengthWeights = Annotated[
    tuple[tuple[int, float], ...],
    BeforeValidator(readers.weights),
    PlainSerializer(dict),
    WithJsonSchema(
        {"type": "object", "description": "weight of each length", "additionalProperties": {"type": "number"}}
    ),
]
