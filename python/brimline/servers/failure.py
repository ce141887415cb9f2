"""Owns explaining why a server did not start, from its exit code, its log and its standard error."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from brimline.errors import TargetError
from brimline.wording import shortened

_LOG_TAIL_BYTES = 64 * 1024
_LINES_SHOWN = 3
_LINE_LENGTH_MAX = 300
_SEVERITIES = frozenset({"F", "E"})
_PRINTED_ERROR = re.compile(r"\[ERROR\] (?!Aborting)|FATAL:|PANIC:|\berror:")
"""As MariaDB, PostgreSQL and their programs write it."""
_HINTS: tuple[tuple[str, str], ...] = (
    (
        r"error while loading shared libraries",
        "the build is for another distribution: install the library it names, or give --mongod FILE",
    ),
    (
        r"GLIBC_|GLIBCXX_",
        "the build needs a newer C library than this machine has; give --mongod FILE of another build",
    ),
    (
        r"exec format error",
        "the file is not a program for this kind of processor; give --mongod FILE of another build",
    ),
    (r"address already in use", "another program keeps taking the port; try again"),
    (
        r"no space left|disk full|ENOSPC",
        "a data directory needs about 1 GB; free some or set XDG_CACHE_HOME elsewhere",
    ),
    (
        r"permission denied|read-only file system|EACCES|EROFS",
        "set XDG_CACHE_HOME to a directory on a disk that can be written",
    ),
    (
        r"capabilities: operation not permitted",
        "PostgreSQL doesn't run as root, and root may not become another user here: run brimline as another user",
    ),
    (r"too many open files", "raise the limit of open files: ulimit -n 64000"),
    (
        r"illegal instruction|SIGILL",
        "mongod 5.0 and later need a processor with AVX; give --mongod FILE of an older build",
    ),
    (r"cannot allocate memory|out of memory", "give the server a smaller cache or the machine more memory"),
)
_DAMAGED_EXIT_CODES = frozenset({126, 127, 135, 139})
"""It isn't executable, can't be loaded, or ended by SIGBUS or SIGSEGV: a file of a known build doesn't do that."""
_SIGNAL_HINTS = {
    132: "mongod 5.0 and later need a processor with AVX; give --mongod FILE of an older build",
    137: "it was killed, perhaps by the system because memory ran out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFailure:
    """Why a start failed: the server's exit code (None when it still ran) and its last words, newest last.

    `port_was_taken`: another program took the port between the choice and the start.
    """

    exit_code: int | None
    lines: tuple[str, ...]
    port_was_taken: bool = False


def start_failure(*, exit_code: int | None, log: Path, stderr: Path) -> StartFailure:
    """Collects the last error lines of the log and of standard error; either file may be missing."""
    structured, printed = error_lines(_tail(log)), _printed_lines(_tail(stderr))
    # Of a log on standard error, those that speak of errors.
    errors = [line for line in printed if _PRINTED_ERROR.search(line)]
    return StartFailure(
        exit_code=exit_code,
        lines=tuple([*structured, *(errors or printed)][-_LINES_SHOWN:]),
        port_was_taken=exit_code is not None and any("already in use" in line.lower() for line in structured + printed),
    )


def error_lines(log_text: str) -> list[str]:
    """Errors and fatal errors of a structured log (mongod 4.4 and later) as "message: details"."""
    found = []
    for line in log_text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("s") in _SEVERITIES:
            found.append(shortened(_log_entry_text(entry), _LINE_LENGTH_MAX))
    return found


def start_error(
    failure: StartFailure, *, binary: Path, waited_s: float, cache_entry: Path | None = None
) -> TargetError:
    """The error to raise: what happened, in the server's own last words, and what to do about it.

    `cache_entry`: where the binary is kept that brimline fetched itself; None: it comes from elsewhere.
    """
    what = (
        f"{binary} did not answer within {waited_s:.0f} s"
        if failure.exit_code is None
        else f"{binary} ended at once with exit code {failure.exit_code}"
    )
    words = "; ".join(failure.lines) or "it left no error in its log"
    if cache_entry is not None and failure.exit_code in _DAMAGED_EXIT_CODES:
        hint = f"what was fetched may be damaged: remove {cache_entry.parent}, and it is fetched anew"
    else:
        hint = _hint(failure, binary)
    return TargetError(f"the server can't be started: {what}: {words}", hint=hint)


def _hint(failure: StartFailure, binary: Path) -> str:
    words = " ".join(failure.lines)
    for pattern, hint in _HINTS:
        if re.search(pattern, words, re.IGNORECASE):
            return hint
    if failure.exit_code in _SIGNAL_HINTS:
        return _SIGNAL_HINTS[failure.exit_code]
    if not binary.name.startswith("mongo"):
        return "give --uri of a running server, or another program on PATH"
    return "run `brimline doctor`, or give --mongod FILE or --uri of a running server"


def _log_entry_text(entry: dict[str, object]) -> str:
    attributes = entry.get("attr")
    error = attributes.get("error") if isinstance(attributes, dict) else None
    detail = error.get("errmsg") if isinstance(error, dict) else error
    if detail is None and attributes:
        detail = json.dumps(attributes)
    return f"{entry.get('msg', '')}: {detail}" if detail else str(entry.get("msg", ""))


def _printed_lines(text: str) -> list[str]:
    return [shortened(line.strip(), _LINE_LENGTH_MAX) for line in text.splitlines() if line.strip()]


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG_TAIL_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
