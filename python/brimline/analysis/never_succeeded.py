"""Owns what is said of operations of which none succeeded: the run has no figure for them, whatever the others did."""

from collections.abc import Iterator, Mapping, Sequence

from brimline.errors import on_one_line
from brimline.operations import KINDS
from brimline.record.model import ErrorRow, Summary
from brimline.units import format_count
from brimline.wording import Verbatim, joined, message, shortened

_SMALL = "its documents are larger than the server allows"
_CONCERN = "the set has fewer members than the write concern asks for"
_RIGHTS = "the user may not do this"
_PRIMARY = "the server is no primary"
_UNEXPECTED = "the data is not what the step expects, or its filter finds other documents"
UNEXPECTED = "unexpected"
"""Outcome of an operation whose reply was not what its step expects."""
_SAID_MAX = 160
"""Characters of a server's words in a sentence; all of them stand beside the error's count."""
_WHY: Mapping[int, str] = {
    13: _RIGHTS,
    20: "the server can't do this: transactions need a replica set",
    64: _CONCERN,
    79: "the set has no such write concern",
    100: _CONCERN,
    121: "the collection has a validator that refuses these documents",
    166: "the server doesn't know this command",
    263: "the collection can't be used in a transaction",
    10003: "the collection is capped",
    10058: _PRIMARY,
    10107: _PRIMARY,
    10334: _SMALL,
    11000: "such documents are there already, as where a run before inserted them: load the data again",
    13435: _PRIMARY,
    14031: "the server has no room on its disk",
    17280: "a value is too long for an index",
    17419: _SMALL,
    17420: _SMALL,
}
"""What each code of the server most likely comes from; see its `error_codes.yml`."""


def never_succeeded(summary: Summary) -> Iterator[str]:
    """A sentence for each kind of operation that was sent, failed, and never succeeded nor found nothing."""
    for operation, totals in summary["operations"].items():
        if not totals["failed"] or totals["ok"] or totals["miss"]:
            continue
        yield in_vain(_in_a_sentence(operation), totals["failed"], _errors_of(operation, summary["errors"]))


def in_vain(kind: str, count: int, rows: Sequence[ErrorRow]) -> str:
    """That none of `count` operations succeeded, how they failed most often, and what is known of why."""
    parts: list[str] = [message("none of {count} {kind} operations succeeded", count=format_count(count), kind=kind)]
    parts += most_often(rows)
    return joined(": ", parts)


def most_often(rows: Sequence[ErrorRow]) -> list[str]:
    """How operations failed most often, and what that most likely comes from, else what the first such answer said.

    Empty where no error was kept.
    """
    worst = max(rows, key=lambda row: row["count"], default=None)
    if worst is None:
        return []
    why = likely_cause(worst) or Verbatim(shortened(on_one_line(worst["example"]), _SAID_MAX))
    return [message("most often {what}", what=error_text(worst)), *([why] if why else [])]


def _in_a_sentence(operation: str) -> str:
    return operation.replace("_", "-") if operation in KINDS else Verbatim(operation)


def _errors_of(operation: str, rows: Sequence[ErrorRow]) -> list[ErrorRow]:
    return [row for row in rows if row["operation"] == operation]


def likely_cause(row: ErrorRow) -> str:
    """What an error most likely comes from; "" where nothing is known of it."""
    return _UNEXPECTED if row["outcome"] == UNEXPECTED else _WHY.get(row["code"], "")


def error_text(row: ErrorRow) -> str:
    """How an error is named in a sentence."""
    if row["outcome"] == UNEXPECTED:
        return message("a reply that is not as expected ({expected})", expected=Verbatim(row["label"]))
    what = row["label"] or row["outcome"].replace("_", " ")
    return message("{what} ({code})", what=what, code=row["code"]) if row["code"] else what
