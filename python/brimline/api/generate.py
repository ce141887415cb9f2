"""Owns the verb `generate`: a workload's documents as rows of CSV, JSON or BSON, in a file or on standard output.

They are the documents that `load` inserts for the same data and seed.
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from brimline import _native
from brimline.api.options import typed
from brimline.api.workload import load_workload
from brimline.doctor.disk import free_below
from brimline.errors import BrimlineError, Interrupted, UsageError
from brimline.execution import StopToken, interruptible
from brimline.execution.memory import allow_memory_of
from brimline.plan import NullTarget, Plan, load_plan
from brimline.plan.rows import rows_job, sample_row_bytes
from brimline.units import counted, format_bytes

if TYPE_CHECKING:
    from brimline._native import GenerationOutcome

RowFormat = Literal["csv", "json", "bson"]
Header = Literal["names", "types", "none"]

_POLL_S = 0.1
_SUFFIXES: Mapping[str, RowFormat] = {
    ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".bson": "bson",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateProgress:
    """How far it is. `share` is of the rows or bytes that were asked for, 0 to 1."""

    rows: int
    bytes: int
    elapsed_s: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateResult:
    """What was written. `path` None is standard output; `cpu_ns` is that of the process, all threads."""

    workload: str
    seed: int
    path: Path | None
    format: RowFormat
    rows: int
    bytes: int
    elapsed_ns: int
    cpu_ns: int

    @property
    def bytes_per_s(self) -> float:
        """Rate of the whole, with the time that the disk took to hold it all."""
        return self.bytes * 1e9 / max(self.elapsed_ns, 1)

    @property
    def cpu_ns_per_row(self) -> float | None:
        """CPU time of the client per row; None without rows."""
        return self.cpu_ns / self.rows if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        values = asdict(self) | {"path": None if self.path is None else str(self.path)}
        return values | {"bytes_per_s": self.bytes_per_s, "cpu_ns_per_row": self.cpu_ns_per_row}


@typed
def generate(
    workload: str | Path,
    *,
    output: str | Path | None = None,
    format: RowFormat | None = None,  # noqa: A002 - the flag's word
    rows: int | None = None,
    size_bytes: int | None = None,
    header: Header = "names",
    canonical: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    overrides: Mapping[str, object] | None = None,
    on_progress: Callable[[GenerateProgress], None] = lambda _: None,
) -> GenerateResult:
    """Writes the documents of `workload`'s data from its first record on.

    `rows` or `size_bytes` says where it ends; with neither it is all records of the spec. Without `format` the name
    of `output` says it, else it is CSV.

    Raises BrimlineError: words that can't be followed, no room, or an output that could not be written whole; the text
    says what is there then.
    """
    if rows is not None and size_bytes is not None:
        raise UsageError("a number of rows and a size are two ends", hint="give --rows or --size")
    output = None if output is None else Path(output)
    threads = threads or len(os.sched_getaffinity(0))
    allow_memory_of("writing these rows", threads=threads)
    loaded = load_workload(workload, overrides=overrides)
    plan = load_plan(loaded.spec, target=NullTarget())
    count = plan.data.record_count if rows is None else rows
    limit = {"kind": "rows", "count": count} if size_bytes is None else {"kind": "bytes", "count": size_bytes}
    _check_name(output)
    form = format or _format_of(output)
    words = _words(form, header=header, canonical=canonical)
    planned_bytes = size_bytes if size_bytes is not None else _planned_bytes(plan, words, count)
    _check_room(output, planned_bytes)
    job = rows_job(
        plan.data,
        seed=plan.seed,
        form=words,
        limit=limit,
        threads=threads,
        path=output,
        overwrite=overwrite or not _is_plain_or_new(output),
    )
    wanted = count if size_bytes is None else size_bytes
    outcome, elapsed_ns, cpu_ns = _follow(job, wanted, by_bytes=size_bytes is not None, on_progress=on_progress)
    _require_whole(outcome, output)
    return GenerateResult(
        workload=plan.name,
        seed=plan.seed,
        path=output,
        format=form,
        rows=outcome["rows"],
        bytes=outcome["bytes"],
        elapsed_ns=elapsed_ns,
        cpu_ns=cpu_ns,
    )


def _format_of(output: Path | None) -> RowFormat:
    if output is None:
        return "csv"
    form = _SUFFIXES.get(output.suffix.lower())
    if form is None:
        raise UsageError(
            f"{output} doesn't say what to write",
            hint="give --format csv, json or bson, or end the name with one of them",
        )
    return form


def _words(form: RowFormat, *, header: Header, canonical: bool) -> dict[str, Any]:
    match form:
        case "csv":
            return {"kind": "csv", "header": header}
        case "json":
            return {"kind": "json", "canonical": canonical}
        case "bson":
            return {"kind": "bson"}


def _planned_bytes(plan: Plan, words: dict[str, Any], rows: int) -> int:
    return round(rows * sample_row_bytes(plan.data, seed=plan.seed, form=words))


def _check_name(output: Path | None) -> None:
    """What no file can be called is told before anything else looks at it."""
    if output is None:
        return
    try:
        is_directory = stat.S_ISDIR(output.stat().st_mode)
    except FileNotFoundError:
        return
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"can't write {output}: {reason}", hint="choose another name") from None
    if is_directory:
        raise UsageError(f"{output} is a directory", hint="name a file in it")


def _check_room(output: Path | None, planned_bytes: int) -> None:
    """A pipe or a device has no room to look at."""
    if output is None or not _is_plain_or_new(output):
        return
    if not output.parent.is_dir():
        raise UsageError(f"{output.parent} is no directory", hint="make it, or choose another")
    replaced_bytes = output.stat().st_size if output.exists() else 0
    free_bytes = free_below(output.parent) + replaced_bytes
    if planned_bytes > free_bytes:
        raise BrimlineError(
            f"{output} would take {format_bytes(planned_bytes)}, but {format_bytes(free_bytes)} are free there",
            hint="write fewer rows, or to another disk",
        )


def _is_plain_or_new(output: Path | None) -> bool:
    """Pipes and devices are there beforehand, and nothing in them is replaced."""
    return output is None or output.is_file() or not output.exists()


def _follow(
    job: str, wanted: int, *, by_bytes: bool, on_progress: Callable[[GenerateProgress], None]
) -> "tuple[GenerationOutcome, int, int]":
    """Waits for the end: the outcome, time and CPU time in ns."""
    with interruptible() as stop:
        begun_ns, cpu_begun_ns = time.monotonic_ns(), time.process_time_ns()
        generation = _native.start_generation(job)
        while not (state := generation.poll(_POLL_S))["is_finished"]:
            if stop.requested:
                generation.stop()
            done = state["bytes"] if by_bytes else state["rows"]
            elapsed_s = (time.monotonic_ns() - begun_ns) / 1e9
            on_progress(
                GenerateProgress(
                    rows=state["rows"], bytes=state["bytes"], elapsed_s=elapsed_s, share=min(1.0, done / max(wanted, 1))
                )
            )
        outcome = generation.join()
        if outcome["ended_by"] == "stopped":
            raise _interrupted(stop, outcome)
        return outcome, time.monotonic_ns() - begun_ns, time.process_time_ns() - cpu_begun_ns


def _interrupted(stop: StopToken, outcome: "GenerationOutcome") -> Interrupted:
    error = stop.error()
    return Interrupted(
        f"{error.message} after {counted(outcome['rows'], 'row')}",
        signal_number=error.signal_number,
        hint=f"the {format_bytes(outcome['bytes'])} that are written are whole rows",
    )


def _require_whole(outcome: "GenerationOutcome", output: Path | None) -> None:
    if outcome["ended_by"] == "completed":
        return
    name = "standard output" if output is None else str(output)
    number = outcome["os_error"]
    if number == errno.EEXIST:
        raise UsageError(f"{name} exists already", hint="give --force to replace it, or another name")
    reason = outcome["message"] if number is None else os.strerror(number).lower()
    written = f"after {counted(outcome['rows'], 'row')} ({format_bytes(outcome['bytes'])})"
    if number == errno.EPIPE:
        raise BrimlineError(f"{name} was closed {written}", hint="what reads them ended early: see what it says")
    is_kept = output is not None and output.is_file()
    kept = f"{name} holds these whole rows and no more; remove it, or go on with fewer"
    raise BrimlineError(f"can't write {name}: {reason} {written}", hint=kept if is_kept else "write to another place")
