"""Keeps secrets out of a record.

Connection strings lose their user information, fields that hold a secret their value.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from brimline.errors import is_secret_flag, redact_text

REDACTED = "***"
# The key must be the secret itself (`keyFilePassword`), not a setting about one (`passwordDigestor`).
_SECRET_KEY = re.compile(r"(password|passphrase|passwd|pwd|secret|token|credentials?)$", re.IGNORECASE)
_SECRET_ASSIGNMENT = re.compile(r"^(--?[\w.-]*(?:password|passphrase|secret|token)=).*$", re.IGNORECASE | re.DOTALL)


def redact(value: Any) -> Any:
    """A copy of a JSON-like value that is safe to store. Values of other types become their text."""
    if isinstance(value, Mapping):
        return {str(key): _redact_entry(str(key), entry) for key, entry in value.items()}
    if isinstance(value, str):
        return _SECRET_ASSIGNMENT.sub(rf"\g<1>{REDACTED}", redact_text(value))
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return _redact_arguments([redact(item) for item in value])
    if value is None or isinstance(value, bool | int | float):
        return value
    return redact_text(str(value))


def _redact_entry(key: str, value: Any) -> Any:
    if value and _SECRET_KEY.search(key) and not isinstance(value, Mapping):
        return REDACTED
    return redact(value)


def _redact_arguments(items: list[Any]) -> list[Any]:
    """Masks what follows an option such as `--sslPEMKeyPassword` in a command line."""
    for index, item in enumerate(items[:-1]):
        if isinstance(item, str) and is_secret_flag(item):
            items[index + 1] = REDACTED
    return items
