"""Owns what `system.profile` tells: each operation that the server's profiler wrote down."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bson.codec_options import CodecOptions, DatetimeConversion
from pymongo.errors import OperationFailure

from brimline.dataset.access import DataDatabase, target_errors
from brimline.errors import TargetError
from brimline.init.observed import Observations, Observed, told_of
from brimline.init.value_shape import milliseconds
from brimline.servers.answers import refusal_words
from brimline.servers.refusal import NOT_ALLOWED_CODES

_ENTRIES_MAX = 200_000
_WITHIN_S = 120.0
_READING: Any = CodecOptions(
    datetime_conversion=DatetimeConversion.DATETIME_MS, unicode_decode_error_handler="replace", uuid_representation=4
)
_ALL, _SLOW_MS_DEFAULT = 2, 100.0


def read_profile(database: DataDatabase, take: Callable[[Observed], None]) -> Observations:
    """What the profiler of the database wrote, each command to `take`; none where it wrote nothing.

    Raises TargetError where the user may not read it, or the server goes away.
    """
    try:
        with target_errors("reading system.profile", within_s=_WITHIN_S):
            status = database.command("profile", -1)
            takes_all, slow_ms = status.get("was") == _ALL, float(status.get("slowms", _SLOW_MS_DEFAULT))
            collection = database.get_collection("system.profile", codec_options=_READING)
            with collection.find({}, limit=_ENTRIES_MAX).sort("$natural", 1) as entries:
                return profile_observations(entries, take, takes_all=takes_all, slow_ms=slow_ms)
    except TargetError as error:
        cause = error.__cause__
        if isinstance(cause, OperationFailure) and cause.code in NOT_ALLOWED_CODES:
            raise TargetError(
                f"the user may not read {database.name}.system.profile: {refusal_words(cause)}",
                hint=f"grant the role dbAdmin on {database.name}, or give --operations indexes or --log FILE",
            ) from cause
        raise


def profile_observations(
    entries: Iterable[Mapping[str, Any]], take: Callable[[Observed], None], *, takes_all: bool, slow_ms: float
) -> Observations:
    """The operations of documents of `system.profile`.

    The profiler took all of them where it does so now, or where it took some that were quicker than `slow_ms`.
    """
    found = Observations(source="system.profile", only_slow=not takes_all, take=take)
    for entry in entries:
        at_s = _seconds(entry.get("ts"))
        found.saw(at_s)
        found.only_slow = found.only_slow and not entry.get("millis", slow_ms) < slow_ms
        for each in told_of(
            entry,
            kind=str(entry.get("op", "")),
            namespace=str(entry.get("ns", "")),
            application=str(entry.get("appName", "")),
            at_s=at_s,
            duration_ms=entry.get("millis"),
        ):
            if isinstance(each, str):
                found.left_out[each] += 1
            else:
                found.add(each)
    return found


def _seconds(value: Any) -> float | None:
    try:
        return milliseconds(value) / 1000
    except (TypeError, ValueError):
        return None
