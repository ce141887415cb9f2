"""Owns what may be kept or shown of what a server says, which can be anything, of any length and type, if it lies.

Words become short and one line, documents plain values of bounded length.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from bson import json_util
from pymongo.errors import OperationFailure

from brimline.errors import visible
from brimline.record.redaction import redact
from brimline.wording import shortened

WORDS_LENGTH_MAX = 300
_COMMAND_IN_WORDS = re.compile(r"execute command \{ (\w+).*\}", re.DOTALL)
"""As in "not authorized on shop to execute command { insert: …, lsid: { id: UUID(…) }, $db: … }"."""
_DOCUMENT_LENGTH_MAX = 256 * 1024
"""Twenty times what `hello` of a replica set of 50 members takes."""


class Unkeepable(ValueError):
    """A document that is too long, too deep, or of values that JSON can't hold."""


def words(value: Any) -> str:
    """A text of the server's, on one line, cut where it is long."""
    return shortened(visible(" ".join(str(value)[: 4 * WORDS_LENGTH_MAX].split())), WORDS_LENGTH_MAX)


def refusal_words(error: OperationFailure) -> str:
    """Why the server refused, in its own words without what is about the sending of a command; else its code.

    Of several documents or concerns that it refused, the words are those about the first.
    """
    details = error.details or {}
    several = [*_listed(details, "writeErrors"), *_listed(details, "writeConcernErrors")]
    told = (at(several[0], "errmsg") if several else details.get("errmsg")) or error.code
    return words(_without_command(told) if isinstance(told, str) else told)


def _listed(details: Mapping[str, Any], name: str) -> list[Any]:
    found = details.get(name)
    return found if isinstance(found, list) else []


def _without_command(text: str) -> str:
    """What a user may not do is told with the whole command, its session and cluster time included: its name stays."""
    return _COMMAND_IN_WORDS.sub(r"execute the command \1", text, count=1)


def refusal_name(error: OperationFailure) -> str:
    """The name of the code with which it refused; else the code."""
    return words((error.details or {}).get("codeName", error.code))


def at(document: Any, *path: str) -> Any:
    """What lies at a path; None where nothing does."""
    for name in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(name)
    return document


def plain(document: Any, *, length_max: int = _DOCUMENT_LENGTH_MAX) -> Any:
    """`document` as JSON types, without what is secret. Raises Unkeepable."""
    try:
        text = json_util.dumps(document, json_options=json_util.RELAXED_JSON_OPTIONS)
        if len(text) > length_max:
            raise Unkeepable(f"too long: {len(text)} characters")
        return redact(json.loads(text))
    except (RecursionError, TypeError, OverflowError, ArithmeticError, UnicodeError) as error:
        raise Unkeepable(f"unreadable ({type(error).__name__})") from error
