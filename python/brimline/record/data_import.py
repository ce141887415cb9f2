"""Owns the record of an import: what was read, what became of it, how fast, and from where it can go on.

    record.json       settings, inputs, counts, what the server counted before and after, CPU time, how it ended
    environment.json  as in every record
    intervals.csv     one row per interval: documents, bytes, CPU time
    latency.hlog      time from sending a command to its answer, Tag=import.service
    server.csv  server.json  events.jsonl      as in the record of a run
    checkpoint.json   how far everything is settled, and how far rows may have been sent
    rejected.jsonl    one JSON object for each record that did not come in, in the order of the input
    nodes.csv         where several nodes shared the import: one row per interval and node, on the import's clock

An import that goes on appends to the same record; its clock goes on where the process before stopped writing.
"""

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypedDict, TypeVar

from brimline.errors import RecordError, redact_text
from brimline.record import hlog
from brimline.record.closing import Closing
from brimline.record.csv_file import CsvFile
from brimline.record.directory_lock import lock_directory
from brimline.record.environment import brimline_version
from brimline.record.events import EventLog
from brimline.record.files import (
    AppendOnlyFile,
    digests,
    is_of_kind,
    make_directory,
    read_json_if_there,
    replace_json,
)
from brimline.record.histograms import native_codec
from brimline.record.layout import (
    ENVIRONMENT_FILE,
    EVENTS_FILE,
    FORMAT_VERSION,
    INTERVALS_FILE,
    KILLED,
    LATENCY_FILE,
    NODES_FILE,
    RECORD_FILE,
    RUNNING,
    SERVER_FACTS_FILE,
    SERVER_FILE,
    short_repr,
)
from brimline.record.model import Environment, NodeFacts, Standstill
from brimline.record.pieces import lines_of
from brimline.record.reader import changed_files, read_environment, read_state
from brimline.record.redaction import redact
from brimline.record.time_histogram import Histogram

KIND = "import"
"""`kind` of such a record in its `record.json`, and part of its directory's name."""
CHECKPOINT_FILE = "checkpoint.json"
REJECTED_FILE = "rejected.jsonl"
_SEALED_FILES = (
    ENVIRONMENT_FILE,
    INTERVALS_FILE,
    LATENCY_FILE,
    SERVER_FILE,
    SERVER_FACTS_FILE,
    EVENTS_FILE,
    REJECTED_FILE,
    CHECKPOINT_FILE,
    NODES_FILE,
)
_OPERATION, _CLOCK = "import", "service"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """An input as it was when the import began; no `path`: standard input. `head_sha256` is of its first MiB.

    Of a pipe only the path is known: what is read of it is gone.
    """

    path: str | None
    gzip: bool
    size_bytes: int | None = None
    modified_ns: int | None = None
    head_sha256: str | None = None

    @property
    def is_file(self) -> bool:
        """Whether it can be read again from its beginning."""
        return self.size_bytes is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRow:
    """An interval on the import's clock."""

    start_ns: int
    end_ns: int
    documents: int
    refused: int
    commands: int
    input_bytes: int
    bytes_out: int
    process_cpu_ns: int


_COLUMNS = tuple(ImportRow.__dataclass_fields__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportNodeRow(ImportRow):
    """What one node of several did in an interval of its own, put on the import's clock, and how far that may be off.

    `service_p99_ns` is of the commands that were answered in it, 0 without any.
    """

    node: int
    service_p99_ns: int
    clock_error_ns: int


_Row = TypeVar("_Row", bound=ImportRow)
_NODE_COLUMNS = ("node", *_COLUMNS, "service_p99_ns", "clock_error_ns")


class Place(TypedDict):
    """A border between two records: number of the input, bytes before it, line that begins there."""

    input: int
    offset: int
    line: int


class ImportPart(TypedDict):
    """What one node of several imports. `until` None: to the end of the last input."""

    begin: Place
    until: Place | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportShares:
    """What each of several nodes imports, in the order of the input.

    `heads_bytes`: how much of each input comes before its first record, without which the rest can't be read; None: no
    part of it can be read without all that comes before. `input_bytes`: all inputs, decompressed. `reading_ns`: how
    long it took to find out, before the import itself; None: not noted.
    """

    parts: Sequence[ImportPart]
    heads_bytes: Sequence[int | None]
    input_bytes: int
    reading_ns: int | None = None


class ImportNode(NodeFacts):
    """One node of several in the last attempt; `counts` are those of its part, with what attempts before had settled.

    `ended_by`: the kind of its own ending, and `reason` what it says of it.
    """

    connections: int
    counts: Mapping[str, int]
    service_p99_ns: int
    elapsed_ns: int
    client_cpu_ns: int
    sent_bytes: int
    ended_by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportState:
    """What `record.json` holds. `counts` are the importer's; None where nothing is known.

    `first_not_utf8`: input, line and offset of the first record (or header line) with text that is not UTF-8.
    `first_ragged`: the same of the first row with more or fewer cells than its table has columns.
    `misfits`: cells of records that were sent that didn't fit their column's type, by the column's name.
    `standstills`: when the importer itself did not run.
    `inputs_changed`: what was seen at the end of files that are not what they were when the import began.
    `tables_of_cr`: files that hold no row because their lines end with CR alone.
    `killed`: attempts that were killed; of such a one what came after its last interval is not known.
    `without_id`: documents that are in and had no `_id` of their own; looked for where the import may be begun again.
    `is_prepared`: the collection was made, and emptied where that was asked for (`drop`).
    `shares`: what each of several nodes imports; None where one client does.
    """

    name: str
    namespace: str
    settings: Mapping[str, Any]
    inputs: Sequence[InputFile]
    object_ids: Mapping[str, int]
    count_before: int
    drop: bool = False
    is_prepared: bool = True
    started_unix_ns: int | None = None
    ended_by: str | None = None
    message: str = ""
    ending: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    first_not_utf8: Mapping[str, int] | None = None
    first_ragged: Mapping[str, int] | None = None
    misfits: Mapping[str, int] = field(default_factory=dict)
    count_after: int | None = None
    without_id: int | None = None
    duration_ns: int = 0
    client_cpu_ns: int = 0
    server_cpu_ns: int | None = None
    attempts: int = 0
    killed: int = 0
    kept: Mapping[str, Any] = field(default_factory=dict)
    inputs_changed: Sequence[str] = ()
    tables_of_cr: Sequence[str] = ()
    standstills: Sequence[Standstill] = ()
    shares: ImportShares | None = None
    nodes: Sequence[ImportNode] = ()


def import_state(state: ImportState, files: Mapping[str, str]) -> dict[str, Any]:
    """What `record.json` of an import holds. `files` are the digests of the others; none before it is sealed."""
    return {
        "format_version": FORMAT_VERSION,
        "brimline_version": brimline_version(),
        "kind": KIND,
        **asdict(state),
        "message": redact_text(state.message),
        "summary": {"started_unix_ns": state.started_unix_ns},
        "files": files,
    }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ImportRecord:
    """An import as it lies on disk."""

    directory: Path
    state: ImportState
    checkpoint: Mapping[str, Any]
    environment: Environment
    rows: Sequence[ImportRow]
    service: Histogram
    interval_p99_ns: Sequence[int | None]
    server_facts: Mapping[str, Any]
    brimline_version: str
    files_changed: tuple[str, ...] = ()
    node_rows: Sequence[ImportNodeRow] = ()

    def __repr__(self) -> str:
        """Three lines: the samples of a run are more than anybody reads."""
        return short_repr(self, self.state.name, self.ended_by, self.directory)

    @property
    def ended_by(self) -> str:
        """How it ended; `running` or `killed` when it never said."""
        return self.state.ended_by or KILLED


class ImportWriter(Closing):
    """Writes the record of one import; a context manager that holds the directory for this process.

    Raises RecordError.
    """

    def __init__(self, directory: Path, state: ImportState, environment: Environment) -> None:
        make_directory(directory)
        if (directory / RECORD_FILE).exists():
            raise RecordError(f"{directory} already holds a record", hint="choose a new directory")
        self._begin(directory, state, goes_on=False)
        replace_json(directory / ENVIRONMENT_FILE, redact(environment))
        self.save(state)

    @classmethod
    def reopen(cls, directory: Path, state: ImportState) -> Self:
        """Goes on with the record in `directory`, whatever ended it; what the attempt before said is over."""
        writer = cls.__new__(cls)
        writer._begin(directory, state, goes_on=True)
        writer.event("resumed")
        writer.save(replace(state, ended_by=None, message="", ending={}, count_after=None))
        return writer

    def _begin(self, directory: Path, state: ImportState, *, goes_on: bool) -> None:
        self.directory = directory
        self.state = state
        self._lock = lock_directory(directory)
        self._offset_ns = 0
        self._intervals = CsvFile(directory / INTERVALS_FILE, _COLUMNS, goes_on=goes_on)
        self._latency = AppendOnlyFile(directory / LATENCY_FILE, goes_on=goes_on)
        self._latency_begun = goes_on and (directory / LATENCY_FILE).stat().st_size > 0
        self._events = EventLog(directory / EVENTS_FILE, goes_on=goes_on)
        self._server: CsvFile | None = None
        self._nodes: CsvFile | None = None
        self._codec = native_codec()

    def begin_attempt(self) -> None:
        """The clock of what is appended from now on begins where the last interval ended."""
        self._offset_ns = _end_ns(self.directory)

    def on_clock(self, standstills: Iterable[Standstill]) -> list[Standstill]:
        """Standstills of the attempt that goes on, on the record's clock."""
        place = self._offset_ns
        return [{**each, "from_ns": each["from_ns"] + place, "to_ns": each["to_ns"] + place} for each in standstills]

    def append(self, intervals: Iterable[Mapping[str, Any]], *, started_unix_ns: int) -> None:
        """Adds intervals of the attempt that goes on."""
        rows, lines = [], []
        for each in intervals:
            placed = self._placed(each)
            start_ns, end_ns = placed["start_ns"], placed["end_ns"]
            rows.append(placed)
            if (text := each["service"]) is not None:
                entry = hlog.LogLine(phase=hlog.MEASURED_PHASE, operation=_OPERATION, clock=_CLOCK,
                                     start_ns=start_ns, end_ns=end_ns, text=text)  # fmt: skip
                lines.append(hlog.line(entry, max_ns=self._codec.decode(text).max()))
        if lines and not self._latency_begun:
            lines.insert(0, hlog.header(started_unix_ns))
            self._latency_begun = True
        if lines:
            self._latency.append("".join(lines))
        if rows:
            self._intervals.append(rows)

    def _placed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row of the attempt that goes on, on the record's clock."""
        place = self._offset_ns
        return {**row, "start_ns": row["start_ns"] + place, "end_ns": row["end_ns"] + place}

    def append_nodes(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds intervals of single nodes; `rows` are on the clock of the attempt."""
        if not rows:
            return
        if self._nodes is None:
            self._nodes = CsvFile(self.directory / NODES_FILE, _NODE_COLUMNS, goes_on=True)
        self._nodes.append(map(self._placed, rows))

    def append_server(self, row: Mapping[str, Any]) -> None:
        """Adds what the monitor saw; `row` is on the clock of the attempt."""
        if self._server is None:
            self._server = CsvFile(self.directory / SERVER_FILE, tuple(row), goes_on=True)
        self._server.append([{**row, "at_ns": row["at_ns"] + self._offset_ns}])

    def server_facts(self, facts: Mapping[str, Any]) -> None:
        """Replaces what is known about the server beside its rows."""
        replace_json(self.directory / SERVER_FACTS_FILE, redact(facts))

    def event(self, kind: str, **fields: Any) -> None:
        """Adds something that happened, with the wall clock's time."""
        self._events.append(kind, **fields)

    def save(self, state: ImportState, *, sealed: bool = False) -> None:
        """Replaces `record.json`; `sealed` puts the digests of the other files into it."""
        self.state = state
        if sealed:
            self._events.sync()
        files = digests(self.directory, _SEALED_FILES) if sealed else {}
        replace_json(self.directory / RECORD_FILE, import_state(state, files))

    def close(self) -> None:
        """Closes the files; idempotent."""
        for file in (self._intervals, self._latency, self._events, self._server, self._nodes):
            if file is not None:
                file.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def documents_in(counts: Mapping[str, int]) -> int:
    """Documents that were inserted, updated or deleted; `counts` are the importer's."""
    return sum(counts.get(name, 0) for name in ("inserted", "updated", "deleted"))


def documents_there(state: ImportState) -> int:
    """How many documents have come in: as the server counts them where it was asked, else as it acknowledged them.

    An import that ends early may have sent more than was acknowledged. Where documents are updated or deleted, and of a
    collection that others made smaller, a count says nothing.
    """
    acknowledged = documents_in(state.counts)
    if state.count_after is None or state.settings.get("mode") != "insert":
        return acknowledged
    return max(state.count_after - state.count_before, 0)


def documents_at_least(record: ImportRecord) -> int | None:
    """How many documents have come in at least, of an import that never said how it ended; None of any other."""
    if record.ended_by != KILLED:
        return None
    return max(documents_there(record.state), sum(row.documents for row in record.rows))


def documents_settled(state: ImportState) -> int | None:
    """How many documents are in whatever became of a server that is gone; None where it counted them, or all are.

    More were acknowledged: a server that dies may lose what it acknowledged since the checkpoint.
    """
    if state.ending.get("kind") != "server_lost" or state.count_after is not None or not state.kept.get("counts"):
        return None
    settled = documents_in(state.kept["counts"])
    return settled if settled < documents_in(state.counts) else None


def is_import(directory: Path) -> bool:
    """Whether a record directory holds an import. Raises RecordError when it can't be read."""
    return is_of_kind(directory, KIND)


def read_import(directory: Path) -> ImportRecord:
    """The import in `directory`. Raises RecordError."""
    document = read_state(directory, RECORD_FILE)
    if document.get("kind") != KIND:
        raise RecordError(f"{directory} is no import", hint="`brimline list` shows the records there are")
    codec = native_codec()
    rows = _read_rows(directory / INTERVALS_FILE, ImportRow)
    service, p99_by_start = codec.empty(), {}
    for entry in hlog.read(directory / LATENCY_FILE):
        histogram = codec.decode(entry.text)
        service.merge(histogram)
        p99_by_start[entry.start_ns] = histogram.quantile(0.99)
    try:
        known = ImportState.__dataclass_fields__.keys() & document.keys() - {"inputs", "shares"}
        state = ImportState(
            **{name: document[name] for name in known},
            inputs=[InputFile(**each) for each in document["inputs"]],
            shares=None if document.get("shares") is None else ImportShares(**document["shares"]),
        )
    except (KeyError, TypeError) as error:
        raise RecordError(f"{directory} is damaged: {error}", hint="restore it from a copy") from error
    checkpoint = read_checkpoint(directory) or {}
    return ImportRecord(
        directory=directory,
        state=_as_far_as_known(state, rows, checkpoint),
        checkpoint=checkpoint,
        environment=read_environment(directory / ENVIRONMENT_FILE),
        rows=rows,
        service=service,
        interval_p99_ns=[p99_by_start.get(row.start_ns) for row in rows],
        server_facts=read_json_if_there(directory / SERVER_FACTS_FILE) or {},
        brimline_version=str(document.get("brimline_version", "unknown")),
        files_changed=changed_files(directory, document.get("files", {})),
        node_rows=_read_rows(directory / NODES_FILE, ImportNodeRow) if (directory / NODES_FILE).exists() else (),
    )


def _as_far_as_known(state: ImportState, rows: Sequence[ImportRow], checkpoint: Mapping[str, Any]) -> ImportState:
    """What an attempt that never said how it ended had kept: its intervals, and its last checkpoint."""
    if state.ended_by not in (RUNNING, KILLED, "error") or not state.attempts:
        return state
    counts: Mapping[str, int] = checkpoint.get("counts", {})
    found = replace(
        state,
        duration_ns=max(state.duration_ns, rows[-1].end_ns if rows else 0),
        client_cpu_ns=max(state.client_cpu_ns, sum(row.process_cpu_ns for row in rows)),
        server_cpu_ns=None,
        killed=state.killed + (state.ended_by == KILLED),
    )
    if not counts or documents_in(counts) < documents_in(state.counts):
        return found
    named = ("first_not_utf8", "first_ragged", "misfits")
    return replace(found, counts=counts, **{name: checkpoint[name] for name in named if name in checkpoint})


def read_checkpoint(directory: Path) -> dict[str, Any] | None:
    """The checkpoint of an import; None before the first. Raises RecordError."""
    return read_json_if_there(directory / CHECKPOINT_FILE)


def _read_rows(path: Path, kind: type[_Row]) -> list[_Row]:
    try:
        return [kind(**{name: int(text) for name, text in row.items()}) for row in csv.DictReader(lines_of(path))]
    except (TypeError, ValueError) as error:
        raise RecordError(f"{path} is damaged: {error}", hint="restore it from a copy") from error


def _end_ns(directory: Path) -> int:
    """Where the last interval ended; 0 before the first."""
    rows = _read_rows(directory / INTERVALS_FILE, ImportRow)
    return rows[-1].end_ns if rows else 0
