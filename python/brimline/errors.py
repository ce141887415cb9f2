"""Owns what can go wrong: one tree of errors, each with a message, a hint and an exit code.

A message is lower case, has no final period and names the thing that is wrong; a hint says what to do about
it. Neither ever holds a password: `BrimlineError` passes every text through `redact_text`, so that a
connection string which reached a message by way of another library is cut there too.
"""

import re
from typing import ClassVar

_USER_INFO_MASK = "***"
# A password may hold any character except those that end a URI in running text. Up to the last "@" before the
# path is user information, so that an unescaped "@" in a password does not leave the password's tail behind.
_USER_INFO = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/?#'\"<>]*@")
# An unescaped "/", "?" or "#" in a password makes the URI wrong, but such a URI is just what ends up in an
# error.
_MONGODB_USER_INFO = re.compile(r"(?P<scheme>mongodb(?:\+srv)?://)[^\s'\"<>]*@", re.IGNORECASE)
# Options of a connection string that hold secrets.
_SECRET_OPTION = re.compile(
    r"(?P<key>[?&](?:tlsCertificateKeyFilePassword|sslClientCertificateKeyPassword|password|authMechanismProperties)=)"
    r"[^\s&'\"<>]*",
    re.IGNORECASE,
)


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """`text` without what steers a terminal or reverses the reading direction: a replacement character each."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def redact_text(text: str) -> str:
    """`text` with the user information and the secret options of every URI in it replaced by `***`."""
    text = _MONGODB_USER_INFO.sub(rf"\g<scheme>{_USER_INFO_MASK}@", text)
    text = _USER_INFO.sub(rf"\g<scheme>{_USER_INFO_MASK}@", text)
    return _SECRET_OPTION.sub(rf"\g<key>{_USER_INFO_MASK}", text)


def redact_uri(uri: str) -> str:
    """`uri` without what must stay secret: the user information and the options that hold passwords.

    Works on anything, also on what is no URI at all: the whole text up to the last `@` counts as user
    information.
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        scheme, rest = "", uri
    user_info, at, address = rest.rpartition("@")
    visible = f"{_USER_INFO_MASK}@{address}" if at and user_info else rest
    return _SECRET_OPTION.sub(rf"\g<key>{_USER_INFO_MASK}", f"{scheme}{separator}{visible}")


class BrimlineError(Exception):
    """Anything brimline reports to its user. `exit_code` is what the command line ends with."""

    exit_code: int = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = visible(redact_text(message))
        self.hint = None if hint is None else visible(redact_text(hint))
        super().__init__(self.message)


class RecordError(BrimlineError):
    """A run directory that can't be written or read."""


class UsageError(BrimlineError):
    """The user's words can't be followed: a wrong option, a wrong combination, a wrong value."""

    exit_code = 2


class SpecError(UsageError):
    """A workload spec that can't be used. `path` is the dotted path of the wrong key, "" for the whole."""

    def __init__(self, message: str, *, path: str = "", line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.line = line


class GateFailed(BrimlineError):
    """The run is valid and misses an objective."""

    exit_code = 3


class InvalidRun(BrimlineError):
    """The run proves nothing, so that no figure may be drawn from it."""

    exit_code = 4


class TargetError(BrimlineError):
    """The target can't be reached, refuses, or went away."""

    exit_code = 5


class Interrupted(BrimlineError):
    """The user or the system ended the run; what was measured is kept. `signal_number` as in `signal`."""

    _SIGNAL_EXIT_BASE: ClassVar[int] = 128

    def __init__(self, message: str = "interrupted", *, signal_number: int = 2, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.signal_number = signal_number
        self.exit_code = self._SIGNAL_EXIT_BASE + signal_number
