"""Owns the ledger of writes of a run under a fault, as a file: each write, and how often it is there.

`ledger.csv` has a row for each write, and one for each number that is there without having been sent.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from brimline.errors import RecordError
from brimline.record.files import replace_pieces
from brimline.record.layout import unreadable

LEDGER_FILE = "ledger.csv"
_COLUMNS = ("session", "number", "sent_unix_ns", "done_unix_ns", "answer", "error", "found", "fate")

Answer = Literal["acknowledged", "unknown"]
StaleKind = Literal["read-your-writes", "monotonic reads"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write of a session: its number there, counted from 0, and how it was answered.

    Times are of the wall clock, in ns since 1970. `answer` is `unknown` where no acknowledgement came: it may have been
    done or not. `error`: the name or code of what came instead.
    """

    session: int
    number: int
    sent_unix_ns: int
    done_unix_ns: int
    answer: Answer
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleRead:
    """A read of a session that lacked a write: one of its own, or one that an earlier read of it had seen."""

    kind: StaleKind
    session: int
    number: int
    unix_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """A ledger: the writes in order, and how often each number is there, by (session, number)."""

    writes: Sequence[Write]
    found: Mapping[tuple[int, int], int]

    def times(self, write: Write) -> int:
        """How often it is there."""
        return self.found.get((write.session, write.number), 0)

    def fate(self, write: Write) -> str:
        """`there`, `missing` (acknowledged, and not there), `twice`, or `unknown` (never acknowledged)."""
        if self.times(write) > 1:
            return "twice"
        if write.answer == "unknown":
            return "unknown"
        return "there" if self.times(write) else "missing"

    @property
    def strange(self) -> list[tuple[int, int]]:
        """There, and never sent."""
        sent = {(each.session, each.number) for each in self.writes}
        return sorted(key for key in self.found if key not in sent)


def write_ledger(directory: Path, entries: Entries) -> None:
    """Stores it. Raises RecordError."""
    replace_pieces(directory / LEDGER_FILE, map(_line, _rows(entries)))


def _rows(entries: Entries) -> Iterator[Sequence[Any]]:
    yield _COLUMNS
    for each in entries.writes:
        yield (each.session, each.number, each.sent_unix_ns, each.done_unix_ns, each.answer, each.error,
               entries.times(each), entries.fate(each))  # fmt: skip
    for session, number in entries.strange:
        yield (session, number, "", "", "", "", entries.found[session, number], "strange")


def _line(row: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue()


def read_ledger(directory: Path) -> Entries | None:
    """What was stored; None where there was none. Raises RecordError."""
    path = directory / LEDGER_FILE
    writes: list[Write] = []
    found: Counter[tuple[int, int]] = Counter()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = int(row["session"]), int(row["number"])
                if (times := int(row["found"])) > 0:
                    found[key] = times
                if row["fate"] != "strange":
                    writes.append(_write(key, row))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path} can't be read: it is damaged ({error})") from None
    return Entries(writes=writes, found=found)


def _write(key: tuple[int, int], row: Mapping[str, str]) -> Write:
    answer: Answer = "acknowledged" if row["answer"] == "acknowledged" else "unknown"
    return Write(session=key[0], number=key[1], sent_unix_ns=int(row["sent_unix_ns"]),
                 done_unix_ns=int(row["done_unix_ns"]), answer=answer, error=row["error"])  # fmt: skip
