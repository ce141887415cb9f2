"""Owns results.json: its form, written and read. Times in ns, sizes in bytes, one entry per run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

FORMAT_VERSION = 1
OTHERS_SHARE_MAX = 0.05
"""Of all cores: what other processes may take before absolute figures and throughput mean little."""
COUNT_TOLERANCE = 0.05
"""How far the server's count may be from the client's: both are taken while operations are going on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of one client.

    `round` counts from 1; `number` is that of the pair: a peer and the brimline run beside it have the same.
    `operations` ended within the window; of a load they are documents. So are `failed`, which found nothing or weren't
    carried out: a batch that failed counts with all its documents. A program from outside tells of its whole run, a
    driver of its window and two seconds after it.
    `counted` is what the server counted between both ends. `operations_by`: who told `operations`; a client that can't
    is taken at the server's count, so that there is nothing to compare. None in results from before it was recorded.
    `start_ns` is from the start of the process until it was ready to send, `cpu_before_window_ns` all CPU time it took
    until the window began, warm-up included. `engine_cpu_ns`: of brimline, without Python.
    `peak_memory_bytes` is of the whole process when its result is out, so that what it does after the window counts; of
    a program from outside or a driver it is read at the end of the window.
    `others_share`: how much of all cores neither client nor server used, but somebody else. `rested`: whether the
    server had done what the client before had left to it. `read_ns`: from the one reading of counters and CPU time to
    the other, which is not quite the client's own window. None in results from before it was recorded.
    """

    client: str
    cell: str
    round: int
    number: int
    operations: int
    failed: int
    counted: Mapping[str, int]
    window_ns: int
    client_cpu_ns: int
    engine_cpu_ns: int | None
    server_cpu_ns: int
    others_share: float
    p50_ns: int | None
    p99_ns: int | None
    peak_memory_bytes: int
    start_ns: int
    cpu_before_window_ns: int
    versions: Mapping[str, str]
    rested: bool = True
    operations_by: Literal["client", "server"] | None = None
    read_ns: int | None = None

    @property
    def executed(self) -> int:
        """Operations within the time that CPU time is of: by the server's count, which is read together with it."""
        return self.operations if self.read_ns is None else sum(self.counted.values())

    @property
    def ops_per_s(self) -> float:
        """Throughput."""
        return self.operations * 1e9 / self.window_ns

    @property
    def client_us(self) -> float:
        """CPU of the client per operation, in µs."""
        return self.client_cpu_ns / 1e3 / max(self.executed, 1)

    @property
    def server_us(self) -> float:
        """CPU of the server per operation, in µs."""
        return self.server_cpu_ns / 1e3 / max(self.executed, 1)

    @property
    def quotient(self) -> float:
        """CPU of the client over that of the server, which drifts less with the machine than either."""
        return self.client_cpu_ns / max(self.server_cpu_ns, 1)

    def in_flight(self, batch: int) -> float | None:
        """How many commands of `batch` documents were on the way at once, about: by Little's law, p50 for the mean."""
        return None if self.p50_ns is None else self.ops_per_s / batch * self.p50_ns / 1e9

    @property
    def server_agrees(self) -> bool:
        """Whether the server counted what the client says it did: always where the client says nothing.

        As many, or as many a second: YCSB cuts its window itself, and not at the instants of the readings.
        """
        counted = sum(self.counted.values())
        as_many = counted * self.window_ns / self.read_ns if self.read_ns else counted
        return min(abs(counted - self.operations), abs(as_many - self.operations)) <= COUNT_TOLERANCE * self.operations


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A peer that isn't here, or a run of it that failed: why, and how to get it.

    `made_again`: it failed once only, and its second try is in the tables.
    """

    client: str
    reason: str
    hint: str = ""
    cell: str = ""
    made_again: bool = False


@dataclass(slots=True, kw_only=True)
class Results:
    """Everything that was measured. `runs` in the order in which they were made.

    `commands`: by client, then by kind, what the profiler saw. `command_lines`: by client and cell ("ycsb, c").
    """

    machine: Mapping[str, Any]
    settings: Mapping[str, Any]
    server_version: str
    runs: list[Run] = field(default_factory=list)
    absent: list[Absence] = field(default_factory=list)
    commands: dict[str, dict[str, str]] = field(default_factory=dict)
    command_lines: dict[str, str] = field(default_factory=dict)
    complete: bool = False

    def of(self, client: str, cell: str) -> list[Run]:
        """The runs of one client in one cell, for medians and ratios: those with which the server agrees."""
        return [run for run in self.runs if run.client == client and run.cell == cell and run.server_agrees]

    @property
    def doubtful(self) -> list[Run]:
        """The runs in no median and no ratio: the server counted something else."""
        return [run for run in self.runs if not run.server_agrees]

    def note_absent(self, absence: Absence) -> None:
        """Notes why something is missing, once."""
        if absence not in self.absent:
            self.absent.append(absence)

    def note_made_again(self, failed: Sequence[Absence]) -> None:
        """What had failed, and is noted so, has been made after all."""
        self.absent = [replace(each, made_again=True) if each in failed else each for each in self.absent]

    def write(self, file: Path) -> None:
        """Writes results.json, whole or not at all."""
        values = {"format_version": FORMAT_VERSION, **asdict(self)}
        draft = file.with_suffix(".new")
        draft.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        draft.replace(file)

    @classmethod
    def read(cls, file: Path) -> "Results":
        """Reads what `write` wrote. Raises ValueError for another format, TypeError for other keys."""
        values = json.loads(file.read_text(encoding="utf-8"))
        if (found := values.pop("format_version", None)) != FORMAT_VERSION:
            raise ValueError(f"format_version is {found}, not {FORMAT_VERSION}")
        if "warmup_jvm_s" in (settings := values["settings"]):  # so it was called before Node.js was a peer
            settings["warmup_compiling_s"] = settings.pop("warmup_jvm_s")
        runs = [Run(**each) for each in values.pop("runs")]
        absent = [Absence(**each) for each in values.pop("absent")]
        return cls(runs=runs, absent=absent, **values)
