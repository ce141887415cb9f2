"""Owns what can go wrong: one tree of errors, each with a message, a hint and an exit code.

A message is lower case, has no final period and names the thing that is wrong; a hint says what to do about
it. Neither ever holds a password: `BrimlineError` passes every text through `redact_text`, so that a
connection string which reached a message by way of another library is cut there too.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from errno import ENOMEM
from typing import ClassVar, Self

_MASK = "***"
# A password may hold any character except those that end a URI in running text. Up to the last "@" before the
# path is user information, so that an unescaped "@" in a password does not leave the password's tail behind.
_USER_INFO = re.compile(r"(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/?#'\"<>]*@")
# An unescaped "/", "?", "#" or quote in a password makes the URI wrong, but such a URI is just what ends up in an
# error; a blank does too, and what stands before it looks like a port that is no number.
_MONGODB_USER_INFO = re.compile(
    r"(?P<scheme>mongodb(?:\+srv)?:/{1,2})(?:\S*@|[^\s/?#@:\[]*:(?!\d+(?:\D|$))[^\n]*@)", re.IGNORECASE
)
_BARE_USER_INFO = re.compile(r"(?<![\w/*])[\w.%+-]+:[^\s/@:'\"<>]+@(?=[\w\[])")
# Names whose value is a secret, as options of a connection string, as assignments and as flags.
_CONFIDENTIAL_NAME = r"[\w.-]*(?:pass|passwd|password|passphrase|pwd|secret|token|credentials?|authMechanismProperties)"
# Of commands alone: what is assigned to a key in other texts is rarely secret. A shard key never is.
_SECRET_NAME = rf"(?:{_CONFIDENTIAL_NAME}|[\w.-]*(?<!shard[_-])(?<!shard)key)"
_SECRET_FLAG = rf"-{_SECRET_NAME}"


def _value(ends: str) -> str:
    r"""The pattern of a value in a text: in quotes, or up to one of `ends` or a blank that has no `\` before it.

    The quotes and brackets that close what it stands in are no part of it.
    """
    word = rf"(?:\\[ \t]|[^\s{ends}])*[^\s{ends}'\"{{}}\[\](),;]"
    return rf"(?:(?:\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')(?:(?![{{}}\[\](),;]){word})?|{word})"


_SECRET_IN_TEXT = re.compile(rf"(?<![\w.-])(?P<key>{_CONFIDENTIAL_NAME}=)(?!\*\*\*){_value('&')}", re.IGNORECASE)
_SECRET_BEHIND_FLAG = re.compile(rf"(?<![\w.-])(?P<key>{_SECRET_FLAG}['\"]?,?\s+){_value('')}", re.IGNORECASE)
"""In a command within a text, as a fault of one's own is. A flag in prose looks the same, and takes the next word."""
_SECRET_OPTION = re.compile(rf"(?P<key>[?&;]{_CONFIDENTIAL_NAME}=)[^&]+", re.IGNORECASE | re.DOTALL)
_SECRET_WORD = re.compile(rf"(?P<key>{_SECRET_NAME}[=:]).+", re.IGNORECASE | re.DOTALL)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*")
_HOST = re.compile(r"(?:\[[^\]@]*\]|[^:\[\]]*)(?::\d*)?")


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_LINE_BREAKING = re.compile(rf"[\t\n]|{_UNPRINTABLE.pattern}")


def visible(text: str) -> str:
    """`text` without what steers a terminal or reverses the reading direction: a replacement character each."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def on_one_line(text: str) -> str:
    """`text` as a table or a log takes it: what breaks a line is a replacement character as well."""
    return _LINE_BREAKING.sub("\N{REPLACEMENT CHARACTER}", text) if _LINE_BREAKING.search(text) else text


def _without_breaks(text: str) -> str:
    """As `on_one_line`, but for tabs: a hint may be a line to paste."""
    return visible(text).replace("\n", "\N{REPLACEMENT CHARACTER}")


def redact_text(text: str) -> str:
    """`text` with the user information of every URI, and what is assigned to a secret, replaced by `***`."""
    # A character that a pattern can't do without is looked for first: most texts have none of them.
    if "@" in text:
        text = _MONGODB_USER_INFO.sub(rf"\g<scheme>{_MASK}@", text)
        text = _USER_INFO.sub(rf"\g<scheme>{_MASK}@", text)
        text = _BARE_USER_INFO.sub(f"{_MASK}@", text)
    if "-" in text:
        text = _SECRET_BEHIND_FLAG.sub(rf"\g<key>{_MASK}", text)
    return _SECRET_IN_TEXT.sub(rf"\g<key>{_MASK}", text) if "=" in text else text


def is_secret_flag(word: str) -> bool:
    """Whether the word behind this one, in a command, is a secret."""
    return bool(re.fullmatch(_SECRET_FLAG, word, re.IGNORECASE))


def redact_uri(uri: str) -> str:
    """`uri` without what must stay secret: the user information and the options that hold passwords.

    Works on anything, also on what is no URI at all: the whole text up to the last `@` counts as user information, and
    so does all that follows a scheme where what looks like a port is no number: the beginning of a password.
    """
    scheme, separator, rest = uri.partition("://")
    if not (separator and _SCHEME.fullmatch(scheme)):
        scheme, separator, rest = "", "", uri
    user_info, at, address = rest.rpartition("@")
    hosts = re.split("[/?#]", address, maxsplit=1)[0].split(",")
    if separator and not all(_HOST.fullmatch(host) for host in hosts):
        return f"{scheme}{separator}{_MASK}@"
    kept = f"{_MASK}@{address}" if at and user_info else rest
    return _SECRET_OPTION.sub(rf"\g<key>{_MASK}", f"{scheme}{separator}{kept}")


def redact_word(word: str) -> str:
    """One word of a command line without what must stay secret: a word ends where it ends, whatever is in it."""
    if secret := _SECRET_WORD.fullmatch(word):
        return f"{secret['key']}{_MASK}"
    name, separator, value = word.partition("=")
    if separator and re.fullmatch(r"[\w.-]+", name):
        return f"{name}={redact_uri(value)}"
    shown = redact_uri(word)
    return redact_text(word) if shown == word and " " in word else shown


_NO_ROOM_TO_IMPORT = re.compile(r"failed to map segment|cannot allocate memory", re.IGNORECASE)
_NO_THREAD = re.compile(r"can't start new thread")
# As Python, the JVM, V8, Go and the C library say it.
_NO_THREAD_ELSEWHERE = re.compile(
    rf"{_NO_THREAD.pattern}|unable to create (?:new )?native thread|failed to create new OS thread"
    r"|pthread_create|uv_thread_create"
)
_NO_MEMORY_ELSEWHERE = re.compile(
    r"(?i)\bMemoryError\b|cannot allocate memory|out of memory|OutOfMemory|insufficient memory"
    r"|failed to (?:reserve|map|allocate)|could not reserve"
)


class ExitCode(IntEnum):
    """What the command line ends with. The reference prints what stands behind each."""

    DONE = 0
    """Done; an objective, where there was one, was met."""
    DEFECT = 1
    """The record can't be written or read, there is no memory or thread for the work, or a defect of brimline."""
    USAGE = 2
    """The command, the spec, a file or the data can't be used as they are."""
    MISSED = 3
    """The objective was missed (`capacity`: can't be met), or a `--gate` failed.

    Of `scan`: a plan isn't the one that is expected. Of `lint`: a claim can't be true.
    """
    INCONCLUSIVE = 4
    """Invalid or inconclusive: the run or the gate proves nothing, or a node of `--workers` was lost.

    Of `capacity`: no number was found. Of `sweep`: no plateau of the target itself was found. Of `load`: the server
    counts other than was intended. Of `doctor`: a check failed.
    """
    TARGET = 5
    """The server can't be reached, refuses, or went away. Of `lab status`: the lab is not complete."""
    HANGUP = 129
    """Interrupted by a hang-up, not under `nohup`; what was measured is kept."""
    INTERRUPTED = 130
    """Interrupted by Ctrl-C; what was measured is kept."""
    TERMINATED = 143
    """Interrupted by SIGTERM; what was measured is kept."""


class BrimlineError(Exception):
    """Anything brimline reports to its user, on one line. `exit_code` is what the command line ends with."""

    exit_code: int = ExitCode.DEFECT

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = on_one_line(redact_text(message))
        self.hint = None if hint is None else _without_breaks(redact_text(hint))
        super().__init__(self.message)


class RecordError(BrimlineError):
    """A run directory that can't be written or read."""


class ResourceError(BrimlineError):
    """The system gives no memory, or no thread."""

    _HINT: ClassVar[str] = (
        "raise what this process may have (ulimit -v and -u, the memory of the container), or use fewer connections "
        "and threads"
    )

    @classmethod
    def of_memory(cls, what: str = "") -> Self:
        """There is no memory, for `what` where that is known."""
        return cls(f"there is not enough memory{what and f': {what}'}", hint=cls._HINT)

    @classmethod
    def of_threads(cls, what: str) -> Self:
        """There is no thread for `what`."""
        return cls(f"no thread can be started for {what}", hint=cls._HINT)

    @classmethod
    def told_by(cls, program: str, words: str) -> Self | None:
        """What the last words of another `program` say of memory and threads; None: they are about something else."""
        if _NO_THREAD_ELSEWHERE.search(words):
            return cls.of_threads(program)
        return cls.of_memory(program) if _NO_MEMORY_ELSEWHERE.search(words) else None

    @classmethod
    def behind(cls, error: BaseException) -> Self | None:
        """What `error`, or one that it came of, says of memory and threads; None: it is about something else."""
        seen: set[int] = set()
        cause: BaseException | None = error
        while cause is not None and id(cause) not in seen:
            seen.add(id(cause))
            if isinstance(cause, cls):
                return cause
            if isinstance(cause, MemoryError):
                return cls.of_memory(str(cause))
            if isinstance(cause, OSError) and cause.errno == ENOMEM:
                return cls.of_memory(cause.filename or "")
            if isinstance(cause, ImportError) and _NO_ROOM_TO_IMPORT.search(str(cause)):
                return cls.of_memory("a library can't be loaded")
            if isinstance(cause, RuntimeError) and _NO_THREAD.search(str(cause)):
                return cls.of_threads("the work")
            cause = cause.__cause__ or cause.__context__
        return None


class UsageError(BrimlineError):
    """The user's words can't be followed: a wrong option, a wrong combination, a wrong value."""

    exit_code = ExitCode.USAGE


class AnotherServer(UsageError):
    """What is gone on with was measured on another server: no combination can be, and none has failed."""


class SpecError(UsageError):
    """A workload spec that can't be used. `path` is the dotted path of the wrong key, "" for the whole."""

    def __init__(self, message: str, *, path: str = "", line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.line = line


class NotGoodEnough(BrimlineError):
    """A result is there, and isn't what was asked for. `reasons`: why, each as a report says it, in any language."""

    def __init__(self, message: str, *, hint: str | None = None, reasons: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.reasons = reasons


class GateFailed(NotGoodEnough):
    """The run is valid and misses an objective."""

    exit_code = ExitCode.MISSED


class InvalidRun(NotGoodEnough):
    """The run proves nothing, so that no figure may be drawn from it."""

    exit_code = ExitCode.INCONCLUSIVE


class TargetError(BrimlineError):
    """The target can't be reached, refuses, or went away."""

    exit_code = ExitCode.TARGET


class NotAllConnected(TargetError):
    """Only `up` of the `wanted` connections could be had: with fewer, the target may well be measured."""

    def __init__(self, message: str, *, up: int, wanted: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.up, self.wanted = up, wanted


class NotPutBack(TargetError):
    """Servers are not as they were, and somebody has to see to it: nothing more is measured on them."""


class Interrupted(BrimlineError):
    """The user or the system ended the run; what was measured is kept. `signal_number` as in `signal`."""

    _SIGNAL_EXIT_BASE: ClassVar[int] = 128

    def __init__(self, message: str = "interrupted", *, signal_number: int = 2, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.signal_number = signal_number
        self.exit_code = self._SIGNAL_EXIT_BASE + signal_number


class NodeGone(Interrupted):
    """A node of `--workers` was lost, without which nothing more can be measured; what was measured is kept."""

    def __init__(self, message: str, *, hint: str | None = "start that node again, or go on with fewer") -> None:
        super().__init__(message, hint=hint)
        self.exit_code = ExitCode.INCONCLUSIVE
