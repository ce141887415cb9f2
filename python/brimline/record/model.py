"""What a run directory holds, as types: rows, totals, and the record that ties them together.

The row types mirror `brimline._native` so that a row goes from the engine to disk and back unchanged; they
exist at run time as well, because the reader takes its columns from them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict

from brimline.operations import PARTS
from brimline.plan import Plan
from brimline.record.layout import short_repr
from brimline.record.time_histogram import Batches, Histogram, IntervalHistogram

Clock: TypeAlias = Literal["service", "response", "lag"]
CLOCKS: tuple[Clock, ...] = ("service", "response", "lag")
"""service = done - sent, response = done - due, lag = sent - due."""
REQUEST_CLOCKS: tuple[str, ...] = ("connect", "redirect", "first_byte", "transfer", "redirect_left")
"""The parts of a request's time: until its connection was there, where it waited for one; each redirect that was
followed (of several of one request their mean, so often); from then, or from its sending, to the first byte of the
reply; from there to the last; and both together of a reply that leads elsewhere and was not followed."""
BREAKDOWN_CLOCKS: tuple[str, ...] = (
    *(f"{part}{ending}_{clock}" for part in ("", *(f"{name}_" for name in PARTS)) for ending in ("ok", "miss", "failed")
      for clock in ("service", "response") if part or ending != "ok"),
    "service_per_document", "held_back_lag", "verify_matching", "verify_different", "verify_absent", *REQUEST_CLOCKS,
)  # fmt: skip
"""What these times consist of, where there is more to say: misses and failures apart from the rest (`miss_service`,
`failed_response`), the two commands of a read-modify-write (`read_ok_service`, `update_failed_response`), a
transaction's commit (`commit_ok_service`), a scan's service time per document, the lag of operations that waited
for a connection, how long it took to compare what was read, by what that showed, and the parts of requests. A
histogram exists only where it has values."""
_STEP_MARK = "/"


def step_clock(step: str) -> str:
    """What the service times of a step of an operation are called among what its times consist of."""
    return f"{_STEP_MARK}{step}.service"


def step_of(clock: str) -> str | None:
    """The step whose service times `clock` names; None where it is no step's."""
    return clock.removeprefix(_STEP_MARK).removesuffix(".service") if clock.startswith(_STEP_MARK) else None


def is_of_breakdown(clock: str) -> bool:
    """Whether times of this name are part of others: those of `BREAKDOWN_CLOCKS`, and those of steps."""
    return clock in BREAKDOWN_CLOCKS or clock.startswith(_STEP_MARK)


Scalar: TypeAlias = int | float | str | None
ServerRow: TypeAlias = Mapping[str, Scalar]
"""What the monitor saw at one instant. `at_ns` is on the run's clock; the other columns are the monitor's."""

Environment: TypeAlias = Mapping[str, Any]
"""`environment.json`.

`captured_at`, `brimline`, `python`, `host`, `container`, and what was handed in, such as `server`.
"""


class OperationRow(TypedDict):
    """One operation kind in one interval.

    `SampleRow` of the engine without its histograms, which are in `latency.hlog`.

    The interval in which a phase ends can have two rows of an operation: `phase` is that of the operations'
    due time, the interval is the one in which they were sent or finished, and may lie in the drain.
    """

    phase: str  # "warmup" | "measure"
    start_ns: int
    end_ns: int
    operation: str
    sent: int
    ok: int
    miss: int
    failed: int
    held_back: int  # operations that were due while every connection of their engine thread was busy
    documents: int
    bytes_out: int
    bytes_in: int
    in_flight_ns: int  # sum over finished operations of done - sent


class SampleRow(OperationRow):
    """An operation row with its histograms.

    Base64 of HdrHistogram V2 + deflate, ns; None where nothing was recorded.
    """

    service: str | None
    response: str | None
    lag: str | None
    breakdown: Mapping[str, str]  # what these consist of, by name; see `BREAKDOWN_CLOCKS`


class StepRow(TypedDict):
    """One step of an operation that has several, in one interval; phase and interval as of the operation."""

    phase: str  # "warmup" | "measure"
    start_ns: int
    end_ns: int
    operation: str
    step: str
    sent: int
    ok: int
    miss: int
    failed: int
    documents: int
    bytes_out: int
    bytes_in: int


class StepSampleRow(StepRow):
    """A row of a step with the histogram of its service times."""

    service: str | None


class IntervalRow(TypedDict):
    """The generator itself in one interval."""

    phase: str  # "warmup" | "measure" | "drain"
    start_ns: int
    end_ns: int
    in_flight: int
    connections_up: int
    backlog: int  # due by end_ns and not sent; 0 in a closed loop
    workers_active: int  # of a closed loop: have begun and are not done; 0 in an open loop
    engine_cpu_ns: int
    busiest_thread_cpu_ns: int
    process_cpu_ns: int


class NodeRow(IntervalRow):
    """One node of several in one interval: the generator there, what it sent, and its clock."""

    node: int
    sent: int
    ok: int
    miss: int
    failed: int
    held_back: int
    service_p99_ns: int  # 0 where nothing ended
    lag_p99_ns: int  # 0 in a closed loop
    clock_ahead_ns: int  # of the coordinator's clock, when it was last read
    clock_error_ns: int  # of that reading


class Samples(TypedDict):
    """What the engine hands out at once."""

    operations: list[SampleRow]
    steps: NotRequired[list[StepSampleRow]]  # where an operation has several
    intervals: list[IntervalRow]
    nodes: NotRequired[list[NodeRow]]  # where several share the run


class ErrorRow(TypedDict):
    """Failures of one kind."""

    operation: str
    outcome: str  # "server_error" "write_error" "write_concern_error" "timeout" "connection_lost" "bad_reply",
    # "unexpected" (a reply that its step didn't expect) and, for operations that were never sent because no server took
    # them in time, "server_selection"
    code: int  # 0 where there is none
    label: str  # code name or error label, "" where there is none
    count: int
    example: str  # first message seen


class OperationTotals(TypedDict):
    """Outcomes of one operation kind over the whole run: sent = ok + miss + failed + unfinished."""

    sent: int
    ok: int
    miss: int
    failed: int
    unfinished: int
    retried: NotRequired[int]  # commands of these that were sent once more; no part of `sent`; older records lack it


class StepTotals(TypedDict):
    """Outcomes of one step over the whole run; what isn't ok, miss or failed of those sent was under way at its end."""

    sent: int
    ok: int
    miss: int
    failed: int


class CommandTotals(TypedDict):
    """Commands of one name over the whole run: those the server answered, and those of which nothing is known."""

    answered: int
    uncertain: int


class Outage(TypedDict):
    """A time in which no operation was answered, on the run's clock."""

    from_ns: int  # when the first operation or connection was lost
    to_ns: int | None  # when one sent after that was answered; None: not before the end of the run
    failed: int  # operations that failed for it
    retried: int  # commands that were sent once more for it
    primary: str | None  # where writes went afterwards, of a replica set that is followed


class Standstill(TypedDict):
    """A time in which the generator itself did not run, on the run's clock.

    Where its host was suspended that clock stood as well, so that `still_ns` can be more than lies between the two.
    """

    from_ns: int  # the last look before it
    to_ns: int  # the first look after it
    still_ns: int
    node: NotRequired[int]  # which of several it was


class ConnectTimes(TypedDict):
    """Connections of the engine that were made, TLS and login included; those that took the place of others too."""

    count: int
    mean_ns: int
    max_ns: int


class Looks(TypedDict):
    """How replies were looked for and timed.

    `rests`: how often engine threads left their sockets alone before a look, `rested_ns` for how long altogether.
    `unstamped`: replies of which the kernel did not say when they arrived, so that they are done when they were read.
    """

    rests: int
    rested_ns: int
    unstamped: int


class InsertTotals(TypedDict):
    """Documents of insert commands over the whole run: sent = inserted + failed + skipped + unknown.

    Commands are counted apart: one that inserted 997 of its 1000 documents is one failed operation.
    """

    sent: int
    inserted: int  # the server says so
    failed: int  # refused one by one, by code in `document_errors`
    skipped: int  # not attempted after the first refused document of an ordered command
    unknown: int  # in commands that failed as a whole or were not answered


class LogTotals(TypedDict):
    """What became of the rows of a log of operations; `error` is why the file could not be written any more."""

    written: int
    lost: int
    error: str | None


class NodeFacts(TypedDict):
    """What is known of one node of several, whatever they share.

    `late_ns`: how long after the instant of the start, or after the others, it was let go. `clock` holds `ahead_ns`,
    `error_ns` (at any instant of the work), `drift_ppm` with `drift_error_ppm`, and how many `readings` there were.
    `lost`: why it is lost; None: it isn't.
    """

    node: int
    host: str
    pid: int
    cpu_cores: int
    python: str
    late_ns: int
    clock: dict[str, Any]
    lost: str | None


class NodeTotals(NodeFacts):
    """One node of several over the whole run."""

    due: int
    sent: int
    ok: int
    miss: int
    failed: int
    unfinished: int
    threads: int
    operations_hash: str
    elapsed_ns: int
    ended_by: str


class ShardCounts(TypedDict):
    """What one of several client-routed shards must have counted: its part of the same counts in the summary."""

    commands: dict[str, int]  # by serverStatus.opcounters name, acknowledged ones only
    commands_uncertain: dict[str, int]  # sent, answer unknown: the server may have counted them
    command_names: NotRequired[dict[str, CommandTotals]]  # by the command's own name, of operations of steps
    document_counts: NotRequired[dict[str, int]]  # inserted, matched, modified, deleted …, as replies to steps said
    step_documents: NotRequired[dict[str, dict[str, int]]]  # that replies brought, by operation and step


class Summary(TypedDict):
    """Totals of a whole run, warm-up and drain included."""

    ended_by: str  # "completed" | "stopped" | "aborted" | "target_lost" | "ran_dry" | "worker_lost"
    message: str
    started_unix_ns: int
    elapsed_ns: int
    close_ns: NotRequired[int]  # closing the connections after that; older records lack it
    due: int
    sent: int
    attempted_again: NotRequired[int]  # of those sent, further attempts of failed inserts; older records lack it
    overdue: int
    oldest_overdue_ns: int
    ok: int
    miss: int
    failed: int
    unfinished: int
    oldest_unfinished_ns: int
    operations: dict[str, OperationTotals]
    steps: NotRequired[dict[str, dict[str, StepTotals]]]  # by operation and step, where an operation has several
    run_identity: NotRequired[str]  # what the object ids of operations of steps begin with, in hex
    verified: NotRequired[dict[str, int]]  # reads by what comparing them showed: matching, different, absent
    inserts: NotRequired[InsertTotals]  # not in records of the first days
    document_errors: NotRequired[list[ErrorRow]]  # `count` is documents; not in records of the first days
    commands: dict[str, int]  # by serverStatus.opcounters name, acknowledged ones only
    commands_uncertain: dict[str, int]  # sent, answer unknown: the server may have counted them
    command_names: NotRequired[dict[str, CommandTotals]]  # by the command's own name, of operations of steps
    document_counts: NotRequired[dict[str, int]]  # inserted, matched, modified, deleted …, as replies to steps said
    shards: NotRequired[list[ShardCounts]]  # older records lack it
    operations_hash: str
    errors: list[ErrorRow]
    outages: NotRequired[list[Outage]]  # when the target could not be used; older records lack it
    standstills: NotRequired[list[Standstill]]  # when the generator did not run; only where it so happened
    connects: NotRequired[ConnectTimes]  # of a server; older records lack it
    looks: NotRequired[Looks]  # where there was a rest or a reply without a stamp; older records lack it
    operation_log: NotRequired[LogTotals]  # of a plan with a log of operations
    runners: NotRequired[list[dict[str, Any]]]  # of a driver in a process of its own: what it is and what it used
    nodes: NotRequired[list[NodeTotals]]  # where several shared the run
    unsettled_sessions: NotRequired[list[bytes]]  # may have left a transaction open; not in records
    threads: int
    virtual_clock: bool


def drivers_of(summary: Summary | None) -> list[dict[str, Any]]:
    """What drivers in processes of their own said of themselves; nothing of brimline's own client."""
    return summary.get("runners", []) if summary is not None else []


Outcomes: TypeAlias = OperationRow | StepRow | OperationTotals | StepTotals | Summary
"""What counts operations, or steps, by how they ended."""


def finished_count(of: Iterable[Outcomes]) -> int:
    """How many ended, well or badly."""
    return sum(each["ok"] + each["miss"] + each["failed"] for each in of)


def answered_count(of: Iterable[Outcomes]) -> int:
    """How many ended well; a miss did, which found nothing."""
    return sum(each["ok"] + each["miss"] for each in of)


class ShardOpcounters(TypedDict):
    """The counts of one of several client-routed shards around the run."""

    address: str
    before: dict[str, Any]
    after: dict[str, Any]


class Opcounters(TypedDict):
    """`serverStatus.opcounters` around the run; of operations of steps also `commands` and `documents` by name."""

    before: dict[str, Any]
    after: dict[str, Any]
    shards: NotRequired[list[ShardOpcounters]]  # older records lack it


class Measured(Protocol):
    """Merged times by (operation, clock), whoever measured them."""

    @property
    def histograms(self) -> Mapping[tuple[str, str], Histogram]:
        """Over the measured window."""
        ...

    @property
    def closed_loop(self) -> bool:
        """Whether only service time exists."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of `events.jsonl`.

    `unix_ns` is the wall clock: events also happen before and after the run's own clock.
    """

    unix_ns: int
    kind: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunRecord:
    """One run as it lies on disk.

    `ended_by` is what the sealing wrote: a Summary's `ended_by`, `interrupt`, `error`; when nothing was sealed,
    `running` while it is still being written, else `killed`. A record without a summary is a prefix. `histograms`
    are merged over the phase "measure", by (operation, clock), for each pair that has values there; `breakdown`
    likewise for what they consist of, steps included (`step_clock`). `server_facts` are what is known about the server
    beside its rows: `before` and `after` the run (`dbStats`, `collStats`), and of the `monitor` what it watched
    (`host`), which columns of `server` it has no figures for and why (`absent`), and its `cost`; empty in older
    records.
    """

    directory: Path
    name: str
    plan: Plan
    ended_by: str
    message: str
    summary: Summary | None
    environment: Environment
    opcounters: Opcounters | None
    operations: Sequence[OperationRow]
    intervals: Sequence[IntervalRow]
    server: Sequence[ServerRow]
    events: Sequence[Event]
    histograms: Mapping[tuple[str, str], Histogram]
    brimline_version: str
    load_interval_histograms: Callable[[Clock | None], Iterable[IntervalHistogram]] = field(repr=False)
    batches: Batches | None = None  # None in a record that was never on disk
    imbalances: Sequence[str] = ()  # what the sealing found not to add up; empty in a sound record
    breakdown: Mapping[tuple[str, str], Histogram] = field(default_factory=dict)
    server_facts: Mapping[str, Any] = field(default_factory=dict)
    files_changed: Sequence[str] = ()  # files that no longer have the content that was sealed
    steps: Sequence[StepRow] = ()  # of operations with several
    nodes: Sequence[NodeRow] = ()  # where several shared the run
    plans: Mapping[str, Any] = field(default_factory=dict)  # how the server executes each step; see `record.plans`

    def __repr__(self) -> str:
        """Three lines: the samples of a run are more than anybody reads."""
        return short_repr(self, self.name, self.ended_by, self.directory)

    @property
    def complete(self) -> bool:
        """Whether the run went to its planned end."""
        return self.ended_by == "completed"

    @property
    def errors(self) -> Sequence[ErrorRow]:
        """The errors of operations by kind, class and code; none in a prefix."""
        return self.summary["errors"] if self.summary else ()

    @property
    def closed_loop(self) -> bool:
        """Whether due = sent by definition, so that only service time exists. Not where workers share connections."""
        return self.follows_target and not self.plan.is_pooled

    @property
    def follows_target(self) -> bool:
        """Whether workers wait for their replies, so that a slow target is asked less."""
        return self.plan.pacer.kind in ("closed", "tlr")

    @property
    def measured_s(self) -> float:
        """Length of the measured window in seconds, from its first to its last interval."""
        measured = [row for row in self.intervals if row["phase"] == "measure"]
        return (measured[-1]["end_ns"] - measured[0]["start_ns"]) / 1e9 if measured else 0.0

    def interval_histograms(self, clock: Clock | None = None) -> Iterable[IntervalHistogram]:
        """Histograms of one clock, or of all, interval by interval, to be gone through once.

        They are read from disk anew at each call, and decoded one at a time.
        """
        return self.load_interval_histograms(clock)

    def frames(self) -> dict[str, Any]:
        """The rows as pandas data frames.

        `operations`, `steps`, `intervals`, `server`, `quantiles`, `quantiles_over_time`.

        Raises UsageError when pandas isn't installed.
        """
        from brimline.record.frames import frames

        rows: dict[str, tuple[Sequence[Mapping[str, Any]], list[str] | None]] = {
            "operations": (self.operations, list(OperationRow.__annotations__)),
            "steps": (self.steps, list(StepRow.__annotations__)),
            "intervals": (self.intervals, None),
            "server": (self.server, None),
        }
        return frames(rows, self.histograms, self.interval_histograms())
