"""Owns the records of a directory as the page has them: which there are, found by name, and their reports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from brimline.api.comparison import compare
from brimline.api.reopen import open_result
from brimline.errors import UsageError
from brimline.record import RecordEntry
from brimline.record.directory_lock import is_held
from brimline.record.layout import ANALYSIS_FILE, EXPERIMENT_FILE, RECORD_FILE, REPORT_FILE, RUNNING
from brimline.record.listing import is_record, named_time, record_entry
from brimline.report import in_language, render_html

_HEAD_BYTES: Final = 400
"""In which a page says its language."""
_STUDY_FILE, _DOCUMENT_FILE = "study.json", "document.html"
_HTML_LANGUAGES: Final = {"en": b'lang="en"', "zh": b'lang="zh-CN"'}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which records are wanted; "" where anything will do. `text` may stand in a name or a directory's name."""

    kind: str = ""
    outcome: str = ""
    text: str = ""

    def lets_through(self, entry: RecordEntry) -> bool:
        """Whether an entry is one of them."""
        text = self.text.strip().lower()
        return (
            self.kind in ("", entry.kind)
            and self.outcome in ("", outcome_of(entry))
            and (text in entry.name.lower() or text in entry.directory.name.lower())
        )


def outcome_of(entry: RecordEntry) -> str:
    """What came out, in a word: of what never said it, how it ended."""
    if entry.problem:
        return "damaged"
    if entry.ended_by == RUNNING:
        return RUNNING
    return (entry.outcome or entry.ended_by).replace("_", " ")


@dataclass
class Shelf:
    """A directory of records. Entries are read again only where their files have changed."""

    directory: Path
    _known: dict[str, tuple[tuple[int, ...], RecordEntry]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def entries(self, wanted: Filter | None = None) -> list[RecordEntry]:
        """The records, newest first."""
        chosen = wanted or Filter()
        with self._lock:
            return [entry for entry in self._all() if chosen.lets_through(entry)]

    def _all(self) -> Sequence[RecordEntry]:
        names = sorted((each.name for each in self._directories()), reverse=True)
        found: dict[str, tuple[tuple[int, ...], RecordEntry]] = {}
        for name in names:
            written = _written(self.directory / name)
            known = self._known.get(name)
            if known is not None and known[0] == written:
                found[name] = known
            elif (entry := _entry(self.directory / name)) is not None:
                found[name] = written, entry
        self._known = found
        return [entry for _, entry in found.values()]

    def _directories(self) -> Sequence[Path]:
        if not self.directory.is_dir():
            return ()
        return [each for each in self.directory.iterdir() if each.is_dir() and not each.name.startswith(".")]

    def running(self) -> list[Path]:
        """The records that a process is writing now, oldest first."""
        return sorted(each for each in self._directories() if _is_at_work(each))

    def find(self, name: str) -> Path:
        """The directory of a record. Raises UsageError for what is none, and for what leads out of the directory."""
        # What isn't a name of the list is asked of no file system.
        directory = next((each for each in self._directories() if each.name == name), None)
        if directory is None or directory.resolve().parent != self.directory.resolve():
            raise UsageError("there is no such record", hint="go back to the list")
        if not is_record(directory) and not _is_study(directory):
            raise UsageError("there is no record in this directory", hint="go back to the list")
        return directory

    def report(self, name: str, language: str) -> str:
        """A record's report as a page of its own: the one beside it, or one that is made now. Raises BrimlineError."""
        directory = self.find(name)
        if _is_study(directory):
            return _document(directory)
        stored = directory / REPORT_FILE
        if not is_held(directory) and _is_in(stored, language) and _is_newer(stored, directory):
            return stored.read_text(encoding="utf-8", errors="replace")
        return render_html(in_language(open_result(directory, runs_dir=self.directory).report, language))

    def comparison(self, a: str, b: str, language: str) -> str:
        """The report of B against A. Raises BrimlineError where they can't be compared."""
        result = compare([self.find(a)], [self.find(b)], runs_dir=self.directory)
        return render_html(in_language(result.report, language))


def _entry(directory: Path) -> RecordEntry | None:
    """A record, or a study, which is a directory of records that ends in a document."""
    if not _is_study(directory):
        return record_entry(directory)
    ended = RUNNING if _is_at_work(directory) else "completed" if (directory / _DOCUMENT_FILE).exists() else "stopped"
    return RecordEntry(
        directory=directory,
        kind="study",
        name=directory.name.partition("-study-")[2] or directory.name,
        started_at=named_time(directory),
        ended_by=ended,
        outcome="",
        message="",
        problem="",
    )


def _is_study(directory: Path) -> bool:
    return (directory / _STUDY_FILE).exists()


def _is_at_work(directory: Path) -> bool:
    """Whether a process writes a record, or one of a study's."""
    if _is_study(directory):
        return any(is_held(each) for each in directory.glob("experiments/*/*") if each.is_dir())
    return is_held(directory) and is_record(directory)


def _document(directory: Path) -> str:
    """A study's document, in the language that it was written in. Raises UsageError before it is."""
    try:
        return (directory / _DOCUMENT_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise UsageError(
            "this study has no document yet", hint="it is written when the last experiment has ended"
        ) from None


def _written(directory: Path) -> tuple[int, ...]:
    """When the files were written that an entry is read from; a record that is being written always reads anew."""
    times = []
    for name in (RECORD_FILE, EXPERIMENT_FILE, ANALYSIS_FILE):
        try:
            times.append((directory / name).stat().st_mtime_ns)
        except OSError:
            times.append(0)
    if _is_study(directory):
        times.append(int((directory / _DOCUMENT_FILE).exists()))
    return (*times, int(_is_at_work(directory)))


def _is_in(page: Path, language: str) -> bool:
    try:
        with page.open("rb") as file:
            return _HTML_LANGUAGES[language] in file.read(_HEAD_BYTES)
    except OSError:
        return False


def _is_newer(page: Path, directory: Path) -> bool:
    """Whether a report was made when its record was whole."""
    return page.stat().st_mtime_ns >= max(_written(directory)[:2])
