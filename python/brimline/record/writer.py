"""Writes a run directory while the run goes on, so that a killed run keeps what it had measured."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from brimline.errors import RecordError, redact_text
from brimline.plan import Plan
from brimline.plan.model import MixWork
from brimline.record import hlog
from brimline.record.closing import Closing
from brimline.record.conservation import RowTotals, imbalances, log_imbalances, verified_imbalances
from brimline.record.csv_file import CsvFile
from brimline.record.directory_lock import lock_directory
from brimline.record.environment import brimline_version
from brimline.record.events import EventLog
from brimline.record.files import AppendOnlyFile, digests, make_directory, replace_json, replace_text
from brimline.record.histograms import native_codec
from brimline.record.layout import (
    ENVIRONMENT_FILE,
    EVENTS_FILE,
    FORMAT_VERSION,
    HOST_FILE,
    INTERVALS_FILE,
    LATENCY_FILE,
    NODES_FILE,
    OPERATION_LOG_FILE,
    OPERATIONS_FILE,
    PLAN_FILE,
    PLANS_FILE,
    RECORD_FILE,
    SERVER_FACTS_FILE,
    SERVER_FILE,
    SPEC_FILE,
    STEPS_FILE,
)
from brimline.record.model import (
    CLOCKS,
    Environment,
    IntervalRow,
    NodeRow,
    Opcounters,
    OperationRow,
    SampleRow,
    Samples,
    ServerRow,
    StepRow,
    StepSampleRow,
    Summary,
    step_clock,
)
from brimline.record.operation_log import count_rows
from brimline.record.pieces import PiecesFile, pieces_of
from brimline.record.redaction import redact
from brimline.record.time_histogram import HistogramCodec

_SEALED_FILES = (
    SPEC_FILE,
    PLAN_FILE,
    ENVIRONMENT_FILE,
    OPERATIONS_FILE,
    STEPS_FILE,
    INTERVALS_FILE,
    NODES_FILE,
    LATENCY_FILE,
    OPERATION_LOG_FILE,
    PLANS_FILE,
    SERVER_FILE,
    SERVER_FACTS_FILE,
    HOST_FILE,
    EVENTS_FILE,
)


class RecordWriter(Closing):
    """Writes one run directory; a context manager.

    The directory is made when missing and must not hold a record. `append` and friends reach the kernel
    before they return; `seal` makes everything durable and says how the run ended. Until then the record reads as
    `running`; leaving the context without a `seal` leaves one that reads as `killed`. Every method raises
    RecordError when the disk is full or can't be written; what was written before stays readable.
    """

    def __init__(
        self,
        directory: Path,
        plan: Plan,
        spec_text: str,
        environment: Environment,
        *,
        codec: HistogramCodec | None = None,
    ) -> None:
        self.directory = directory
        self._plan = plan
        self._codec = codec or native_codec()
        self._rows = RowTotals()
        self._measured_until_ns = 0
        _begin(directory)
        self._lock = _held(directory)
        # Plan first: a directory with a record.json has everything that is needed to read it.
        replace_text(directory / PLAN_FILE, plan.canonical_json() + "\n")
        replace_text(directory / SPEC_FILE, redact_text(spec_text))
        replace_json(directory / ENVIRONMENT_FILE, redact(environment))
        self._operations = CsvFile(directory / OPERATIONS_FILE, tuple(OperationRow.__annotations__), in_pieces=True)
        self._steps: CsvFile | None = None
        self._nodes: CsvFile | None = None
        self._intervals = CsvFile(directory / INTERVALS_FILE, tuple(IntervalRow.__annotations__), in_pieces=True)
        self._latency = PiecesFile(directory / LATENCY_FILE)
        self._events = EventLog(directory / EVENTS_FILE)
        if plan.operation_log:  # the engine writes it
            AppendOnlyFile(directory / OPERATION_LOG_FILE).close()
        self._server: CsvFile | None = None
        self._host: CsvFile | None = None
        self._server_columns: frozenset[str] = frozenset()
        self._write_state(ended_by=None, message="", summary=None, opcounters=None, problems=[], files={})

    def append(self, samples: Samples) -> None:
        """Adds completed intervals."""
        steps = samples.get("steps", [])
        try:
            # Intervals last: a row there says that the interval's other rows are whole.
            self._operations.append(samples["operations"])
            self._append_latency(samples["operations"], steps)
            self._append_steps(steps)
            self._append_nodes(samples.get("nodes", []))
            self._intervals.append(samples["intervals"])
        except RecordError as error:
            raise self._with_what_is_kept(error) from error
        for operation in samples["operations"]:
            self._rows.add(operation)
        for step in steps:
            self._rows.add_step(step)
        for node in samples.get("nodes", []):
            self._rows.add_node(node)
        for interval in samples["intervals"]:
            self._measured_until_ns = max(self._measured_until_ns, interval["end_ns"])

    def append_server(self, row: ServerRow) -> None:
        """Adds what the monitor saw.

        The first row decides the columns: a later one may lack some, not bring new ones.
        """
        if self._server is None:
            self._server = CsvFile(self.directory / SERVER_FILE, tuple(row), in_pieces=True)
            self._server_columns = frozenset(row)
        if unknown := row.keys() - self._server_columns:
            raise ValueError(f"columns that the first server row lacked: {', '.join(sorted(unknown))}")
        self._server.append([row])

    def append_host(self, row: ServerRow) -> None:
        """Adds what was learnt of the server's host from elsewhere; each row has the columns of the first."""
        if self._host is None:
            self._host = CsvFile(self.directory / HOST_FILE, tuple(row), in_pieces=True)
        self._host.append([row])

    def server_facts(self, facts: Mapping[str, Any]) -> None:
        """Replaces what is known about the server beside its rows; see `RunRecord.server_facts`."""
        replace_json(self.directory / SERVER_FACTS_FILE, redact(facts))

    def plans(self, plans: Mapping[str, Any]) -> None:
        """Replaces what is known of how the server executes each step; see `record.plans`."""
        replace_json(self.directory / PLANS_FILE, redact(plans))

    def event(self, kind: str, **fields: Any) -> None:
        """Adds something that happened, with the wall clock's time."""
        self._events.append(kind, **fields)

    def seal(
        self, summary: Summary | None, opcounters: Opcounters | None, *, ended_by: str, message: str = ""
    ) -> list[str]:
        """Makes the record durable and final.

        Returns what doesn't add up (see `conservation`), which it stores as well.

        `ended_by` is the summary's, or `interrupt` or `error`; `summary` is None when the run never gave one.
        """
        problems = [*imbalances(summary, self._rows), *self._log_imbalances(summary)] if summary is not None else []
        if summary is not None and isinstance(self._plan.work, MixWork) and self._plan.work.verify_reads:
            problems += verified_imbalances(summary)
        for file in self._files():
            file.sync()
        self._write_state(
            ended_by=ended_by,
            message=redact_text(message),
            summary=summary,
            opcounters=opcounters,
            problems=problems,
            files=digests(self.directory, self._sealed_files()),
        )
        return problems

    def _log_imbalances(self, summary: Summary) -> list[str]:
        totals = summary.get("operation_log")
        return log_imbalances(summary, totals, count_rows(self.directory)) if totals is not None else []

    def close(self) -> None:
        """Closes the files; idempotent."""
        for file in self._files():
            file.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _files(self) -> list[CsvFile | PiecesFile | EventLog]:
        """All that are open."""
        rows = (self._operations, self._steps, self._nodes, self._intervals)
        every = (*rows, self._latency, self._events, self._server, self._host)
        return [file for file in every if file is not None]

    def _sealed_files(self) -> list[str]:
        """The names of all that nobody changes any more, a file's full pieces before it."""
        return [
            each.name for name in _SEALED_FILES for each in (*pieces_of(self.directory / name), self.directory / name)
        ]

    def _append_steps(self, rows: Sequence[StepSampleRow]) -> None:
        """Where no operation has several steps there is no such file."""
        if rows and self._steps is None:
            self._steps = CsvFile(self.directory / STEPS_FILE, tuple(StepRow.__annotations__), in_pieces=True)
        if self._steps is not None:
            self._steps.append(rows)

    def _append_nodes(self, rows: Sequence[NodeRow]) -> None:
        """Where one client performs the run alone there is no such file."""
        if rows and self._nodes is None:
            self._nodes = CsvFile(self.directory / NODES_FILE, tuple(NodeRow.__annotations__), in_pieces=True)
        if self._nodes is not None:
            self._nodes.append(rows)

    def _append_latency(self, rows: Sequence[SampleRow], steps: Sequence[StepSampleRow]) -> None:
        lines = [line for row in rows for line in self._latency_lines(row)]
        lines += [self._line(row, step_clock(row["step"]), row["service"]) for row in steps if row["service"]]
        if lines and not self._latency.head:
            self._latency.head = hlog.header(self._started_unix_ns([*rows, *steps]))
            lines.insert(0, self._latency.head)
        self._latency.append("".join(lines))

    def _latency_lines(self, row: SampleRow) -> Iterable[str]:
        for clock, text in (*((clock, row[clock]) for clock in CLOCKS), *row["breakdown"].items()):
            if text is not None:
                yield self._line(row, clock, text)

    def _line(self, row: SampleRow | StepSampleRow, clock: str, text: str) -> str:
        entry = hlog.LogLine(
            phase=row["phase"],
            operation=row["operation"],
            clock=clock,
            start_ns=row["start_ns"],
            end_ns=row["end_ns"],
            text=text,
        )
        return hlog.line(entry, max_ns=self._codec.decode(text).max())

    @staticmethod
    def _started_unix_ns(rows: Iterable[SampleRow | StepSampleRow]) -> int:
        """When the run's clock was zero: the first rows arrive just after the end of their interval.

        Late by as long as nobody asked for samples; the exact instant is the summary's `started_unix_ns`.
        """
        from brimline import _native  # here, so that records can be read without the engine

        return _native.unix_now_ns() - max(row["end_ns"] for row in rows)

    def _write_state(
        self,
        *,
        ended_by: str | None,
        message: str,
        summary: Summary | None,
        opcounters: Opcounters | None,
        problems: list[str],
        files: Mapping[str, str],
    ) -> None:
        state = run_state(self._plan.name, ended_by, message, summary, opcounters, problems, files)
        replace_json(self.directory / RECORD_FILE, state)

    def _with_what_is_kept(self, error: RecordError) -> RecordError:
        measured_s = self._measured_until_ns / 1e9
        kept = f"what was measured in the first {measured_s:.1f} s is kept in {self.directory}"
        return RecordError(error.message, hint=f"{kept}; {error.hint}" if error.hint else kept)


def run_state(
    name: str,
    ended_by: str | None,
    message: str,
    summary: Summary | None,
    opcounters: Opcounters | None,
    problems: list[str],
    files: Mapping[str, str],
) -> dict[str, Any]:
    """What `record.json` of a run holds. `files` are the digests of the others; none before it is sealed."""
    return {
        "format_version": FORMAT_VERSION,
        "brimline_version": brimline_version(),
        "name": name,
        "ended_by": ended_by,
        "message": message,
        "summary": redact(summary),
        "opcounters": opcounters,
        "imbalances": problems,
        "files": files,
    }


def _begin(directory: Path) -> None:
    make_directory(directory)
    if (directory / RECORD_FILE).exists():
        raise RecordError(
            f"{directory} already holds a run", hint="records are never written twice: choose a new directory"
        )


def _held(directory: Path) -> int:
    """The descriptor by which readers see that the run goes on; -1 on a file system without locks."""
    with suppress(RecordError):  # the run matters more: it reads as killed until it is sealed
        return lock_directory(directory)
    return -1
