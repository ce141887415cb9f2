"""Reads a run directory, whole or cut short: a killed run is a prefix whose last line may be torn."""

import csv
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast, get_origin

from pydantic import ValidationError

from brimline.errors import RecordError, visible
from brimline.plan import Plan
from brimline.record import hlog
from brimline.record.batches import condensed
from brimline.record.damage import damage_told
from brimline.record.directory_lock import is_held
from brimline.record.events import read_events
from brimline.record.files import (
    DAMAGED_HINT,
    digest,
    is_there,
    read_json,
    read_json_if_there,
    require_file,
)
from brimline.record.histograms import native_codec
from brimline.record.host_rows import with_host
from brimline.record.imported import KIND as IMPORTED_KIND
from brimline.record.layout import (
    ENVIRONMENT_FILE,
    EVENTS_FILE,
    EXPERIMENT_FILE,
    FORMAT_VERSION,
    HOST_FILE,
    INTERVALS_FILE,
    KILLED,
    LATENCY_FILE,
    NODES_FILE,
    OPERATIONS_FILE,
    PLAN_FILE,
    PLANS_FILE,
    RECORD_FILE,
    RUNNING,
    SERVER_FACTS_FILE,
    SERVER_FILE,
    STEPS_FILE,
    unreadable,
)
from brimline.record.model import (
    CLOCKS,
    Clock,
    IntervalRow,
    NodeRow,
    NodeTotals,
    Opcounters,
    OperationRow,
    RunRecord,
    Scalar,
    ServerRow,
    StepRow,
    Summary,
    is_of_breakdown,
)
from brimline.record.pieces import lines_of
from brimline.record.time_histogram import HistogramCodec, IntervalHistogram
from brimline.spec.validation import first_in_words

_Row = TypeVar("_Row", OperationRow, StepRow, IntervalRow, NodeRow)
_KILLED_MESSAGE = "the run was never sealed: brimline or its machine stopped in the middle"
_LIST_HINT = "`brimline list` shows the records there are"
_STATE_KINDS: Mapping[str, tuple[type, str]] = {
    "ended_by": (str, "text"),
    "summary": (dict, "an object"),
    "opcounters": (dict, "an object"),
    "imbalances": (list, "a list"),
    "files": (dict, "an object"),
}
"""What the values of `record.json` are; all of them may be absent."""
_NULL_UNTIL_KNOWN = ("ended_by", "summary", "opcounters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What was sampled of a run; `load` as `RunRecord.load_interval_histograms`."""

    intervals: Sequence[IntervalRow]
    operations: Sequence[OperationRow]
    steps: Sequence[StepRow]
    server: Sequence[ServerRow]
    load: Callable[[Clock | None], Iterable[IntervalHistogram]]
    nodes: Sequence[NodeRow] = ()


def every_row(directory: Path, codec: HistogramCodec) -> Rows:
    """All rows as they were written. Raises RecordError."""
    intervals = list(typed_rows(directory / INTERVALS_FILE, IntervalRow))
    # Intervals are written last: what a killed run had written beyond the last one isn't whole.
    whole_until_ns = intervals[-1]["end_ns"] if intervals else 0
    return Rows(
        intervals=intervals,
        operations=[
            row for row in typed_rows(directory / OPERATIONS_FILE, OperationRow) if row["end_ns"] <= whole_until_ns
        ],
        steps=[row for row in typed_rows(directory / STEPS_FILE, StepRow) if row["end_ns"] <= whole_until_ns],
        server=with_host(list(server_rows(directory / SERVER_FILE)), list(server_rows(directory / HOST_FILE))),
        load=functools.partial(interval_histograms, directory / LATENCY_FILE, whole_until_ns, codec),
        nodes=[row for row in typed_rows(directory / NODES_FILE, NodeRow) if row["end_ns"] <= whole_until_ns],
    )


def read_record(
    directory: Path,
    *,
    codec: HistogramCodec | None = None,
    rows: Callable[[Path, HistogramCodec], Rows] = every_row,
) -> RunRecord:
    """The run in `directory`. Raises RecordError when there is none, or one that is damaged or of a newer format.

    `rows` reads what was sampled: every row, unless something coarser is wanted (`record.coarse`).
    """
    with damage_told(directory):
        return _read_record(directory, codec or native_codec(), rows)


def _read_record(directory: Path, codec: HistogramCodec, rows: Callable[[Path, HistogramCodec], Rows]) -> RunRecord:
    state = read_state(directory, RECORD_FILE)
    if state.get("kind") == IMPORTED_KIND:
        raise RecordError(
            f"{directory} is imported from {state.get('tool')}: it is no run of brimline's own",
            hint="brimline show and brimline report read it",
        )
    _check_kinds(directory / RECORD_FILE, state)
    plan = read_plan(directory / PLAN_FILE)
    sampled = rows(directory, codec)
    measured, batches = condensed(sampled.load(None), sampled.operations, codec)
    ended_by = state["ended_by"]
    return RunRecord(
        directory=directory,
        name=str(state.get("name", "")),
        plan=plan,
        ended_by=ended_by,
        message=_KILLED_MESSAGE if ended_by == KILLED else str(state.get("message", "")),
        summary=_read_summary(state.get("summary")),
        environment=read_environment(directory / ENVIRONMENT_FILE),
        opcounters=cast("Opcounters | None", state.get("opcounters")),
        operations=sampled.operations,
        intervals=sampled.intervals,
        server=sampled.server,
        server_facts=read_json_if_there(directory / SERVER_FACTS_FILE) or {},
        events=read_events(directory / EVENTS_FILE),
        histograms={key: merged for key, merged in measured.items() if key[1] in CLOCKS},
        breakdown={key: merged for key, merged in measured.items() if is_of_breakdown(key[1])},
        brimline_version=str(state.get("brimline_version", "unknown")),
        load_interval_histograms=sampled.load,
        batches=batches,
        imbalances=tuple(state.get("imbalances", ())),
        files_changed=changed_files(directory, state.get("files", {})),
        steps=sampled.steps,
        nodes=sampled.nodes,
        plans=read_json_if_there(directory / PLANS_FILE) or {},
    )


def read_nodes(directory: Path) -> tuple[Sequence[NodeTotals], Sequence[NodeRow]]:
    """The nodes that shared the run in `directory`, and their rows; nothing else of it is read. Raises RecordError."""
    with damage_told(directory):
        summary = _read_summary(read_state(directory, RECORD_FILE).get("summary"))
        nodes = summary.get("nodes", []) if summary else []
        return nodes, list(typed_rows(directory / NODES_FILE, NodeRow)) if nodes else []


def read_state(directory: Path, name: str) -> Mapping[str, Any]:
    """`record.json` or `experiment.json` of a directory, its format version checked. Raises RecordError.

    `ended_by` is there in any case: where the record doesn't say, it is `running` while a process writes it, else
    `killed`.
    """
    path = directory / name
    if not is_there(path):
        raise _no_record(directory, name)
    held = is_held(directory)  # asked first: what is sealed in between says itself how it ended
    state = read_json(path)
    version = state.get("format_version")
    if not isinstance(version, int):
        raise RecordError(f"{path} is not a record of brimline: it has no format_version", hint=_LIST_HINT)
    if version > FORMAT_VERSION:
        raise RecordError(
            f"{directory} has format version {version}, this brimline reads up to {FORMAT_VERSION}",
            hint="it was written by a newer brimline: update this one",
        )
    state["ended_by"] = state.get("ended_by") or (RUNNING if held else KILLED)
    # What somebody else wrote is shown in a terminal.
    return {key: visible(value) if isinstance(value, str) else value for key, value in state.items()}


def _no_record(directory: Path, name: str) -> RecordError:
    if not directory.is_dir():
        return RecordError(f"there is no directory {directory}", hint=_LIST_HINT)
    hint = _LIST_HINT
    if name == RECORD_FILE and is_there(directory / EXPERIMENT_FILE):
        hint = "it is an experiment; its runs are in the directory trials below it"
    return RecordError(f"{directory} is not a run: it has no {name}", hint=hint)


def _check_kinds(path: Path, state: Mapping[str, Any]) -> None:
    """Raises RecordError, which names the key, where a value is of another kind than was written."""
    for key, (kind, called) in _STATE_KINDS.items():
        value = state.get(key)
        absent = key not in state or (value is None and key in _NULL_UNTIL_KNOWN)
        if not absent and not isinstance(value, kind):
            shown = json.dumps(value)[:60]
            raise RecordError(f"{path} is damaged: {key} must be {called}, but is {shown}", hint=DAMAGED_HINT)


def read_plan(path: Path) -> Plan:
    """The plan in a file. Raises RecordError."""
    require_file(path)
    try:
        return Plan.model_validate_json(_of_today(path.read_bytes()))
    except OSError as error:
        raise unreadable(path, error) from error
    except ValidationError as error:
        raise RecordError(f"{path} is damaged: {first_in_words(error.errors())}", hint=DAMAGED_HINT) from error


def _of_today(plan: bytes) -> bytes:
    """A plan as it is written now: the driver for Rust was a part of the engine once, its target a kind of its own."""
    if b'"kind":"driver"' in plan:
        with suppress(ValueError, KeyError, TypeError, AttributeError):  # what is damaged is told where it is read
            values = json.loads(plan)
            target = values["target"]
            runner = {"kind": "runner", "client": "rust", "addresses": [target.pop("address")], "max_pool_size": 0}
            return json.dumps({**values, "target": {**target, **runner}}).encode()
    return plan


def _read_summary(value: Any) -> Summary | None:
    if value is None:
        return None
    if missing := Summary.__required_keys__ - value.keys():
        raise RecordError(f"the summary in {RECORD_FILE} lacks {', '.join(sorted(missing))}", hint=DAMAGED_HINT)
    for key, declared in Summary.__annotations__.items():
        origin: Any = get_origin(declared)
        of = origin or declared
        if of in (bool, int, str, list, dict) and type(value[key]) is not of:
            raise RecordError(f"the summary in {RECORD_FILE} is damaged: {key} is {value[key]!r}", hint=DAMAGED_HINT)
    return cast(Summary, value)


def read_environment(path: Path) -> Mapping[str, Any]:
    """`environment.json`; empty when it isn't there. Raises RecordError."""
    return read_json_if_there(path) or {}


def typed_rows(path: Path, row_type: type[_Row]) -> Iterator[_Row]:
    """The rows of a file, one at a time. Raises RecordError."""
    return (_typed_row(row, row_type, path) for row in csv.DictReader(lines_of(path)))


def _typed_row(row: Mapping[str, str], row_type: type[_Row], path: Path) -> _Row:
    try:
        return cast(_Row, {column: of(row[column]) for column, of in row_type.__annotations__.items()})
    except (KeyError, TypeError, ValueError) as error:
        near = ",".join(map(str, row.values()))[:60]
        raise RecordError(f"{path} is damaged near {near!r}", hint=DAMAGED_HINT) from error


def server_rows(path: Path) -> Iterator[ServerRow]:
    """What the monitor saw, one look at a time. Raises RecordError."""
    return ({column: _scalar(text) for column, text in row.items()} for row in csv.DictReader(lines_of(path)))


def _scalar(text: str) -> Scalar:
    if text == "":
        return None
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def interval_histograms(
    path: Path, whole_until_ns: int, codec: HistogramCodec, clock: Clock | None
) -> Iterator[IntervalHistogram]:
    """One at a time: decoded, all of a long run's would fill the memory."""
    return (
        IntervalHistogram(
            phase=entry.phase,
            start_ns=entry.start_ns,
            end_ns=entry.end_ns,
            operation=entry.operation,
            clock=entry.clock,
            histogram=codec.decode(entry.text),
        )
        for entry in hlog.read(path, clock=clock)
        if entry.end_ns <= whole_until_ns and clock in (None, entry.clock)
    )


def changed_files(directory: Path, digests: Mapping[str, str]) -> tuple[str, ...]:
    """The files that are gone or not as they were sealed; `digests` by name. Raises RecordError."""
    return tuple(
        name
        for name, sealed in digests.items()
        if not (directory / name).exists() or digest(directory / name) != sealed
    )
