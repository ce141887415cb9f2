"""Owns what messages of a connection are compressed with: what was asked for, and what the server takes.

A server that takes none of what was asked for is an error: what would be measured instead isn't what was meant. Only
connections that are measured are compressed.

Source: the drivers' URI options and wire compression specifications.
"""

from collections.abc import Mapping
from typing import Any, cast

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from brimline.errors import TargetError, UsageError
from brimline.servers.access import COMPRESSORS, Compression, Compressor

NONE = "none"
"""The level of the factor `compression` at which messages stay as they are."""
_ZLIB_LEVELS = range(-1, 10)


def asked_compression(options: Mapping[str, str]) -> Compression | None:
    """From the options of a connection string, by their names in lower case; None: nothing is compressed.

    Raises UsageError for a compressor that is not known, and for a level that nothing uses or that is none.
    """
    given = dict.fromkeys(name.strip().lower() for name in options.get("compressors", "").split(",") if name.strip())
    if not set(given) <= set(COMPRESSORS):
        raise UsageError(
            "the connection string has a value of compressors that is none",
            hint=f"write {', '.join(COMPRESSORS)}, the one to prefer first",
        )
    level = options.get("zlibcompressionlevel")
    if level is not None:
        _check_level(level, is_used="zlib" in given)
    if not given:
        return None
    chosen = None if level is None or level == "-1" else int(level)
    return Compression(compressors=cast(tuple[Compressor, ...], tuple(given)), zlib_level=chosen)


def _check_level(level: str, *, is_used: bool) -> None:
    if not is_used:
        raise UsageError(
            "zlibCompressionLevel in the connection string is used by nothing", hint="add compressors=zlib"
        )
    if level not in map(str, _ZLIB_LEVELS):
        raise UsageError(
            "zlibCompressionLevel in the connection string is out of range",
            hint="write 0 (none) to 9 (best), or -1 for zlib's own choice",
        )


def agreed(client: MongoClient[dict[str, Any]], compression: Compression | None) -> Compressor | None:
    """The compressor that the server will use, as it says itself. Raises TargetError: it takes none of them."""
    if compression is None:
        return None
    try:
        hello = client.admin.command({"hello": 1, "compression": list(compression.compressors)})
    except PyMongoError as error:
        raise TargetError(
            "the server does not say what it compresses with",
            hint="check that it is a MongoDB server, and that it still runs",
        ) from error
    taken = hello.get("compression")
    taken = taken if isinstance(taken, list) else []
    found = next((each for each in compression.compressors if each in taken), None)
    if found is None:
        raise TargetError(
            f"the server compresses with none of: {', '.join(compression.compressors)}",
            hint="its option net.compression.compressors says with what; leave compressors out, or name another",
        )
    return found
