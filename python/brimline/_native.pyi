"""The compiled engine. Coarse calls only: a plan goes in as JSON, samples come out as rows, progress is polled."""

from typing import Any, TypedDict

class PlanError(ValueError):
    """A plan the engine refuses. `args` is (path, message)."""

class TargetError(OSError):
    """The target can't be reached or refuses the handshake. `args` is (message,)."""

class Progress(TypedDict):
    """The latest state of a run; figures are totals since its start."""

    stage: str  # "connecting" | "running" | "finished"
    elapsed_ns: int
    sent: int
    ok: int
    miss: int
    failed: int
    documents: int
    in_flight: int
    connections_up: int

class SampleRow(TypedDict):
    """One operation kind in one interval, all threads merged. Without a sent or finished operation there is no row.

    Histogram texts are base64 of HdrHistogram V2 + deflate, values in ns; `None` where nothing was recorded. In a
    closed loop `response` and `lag` are None: response time is service time there, and lag is zero by definition.
    """

    phase: str  # "warmup" | "measure": the phase in which the operations were due (sent, in a closed loop)
    start_ns: int  # the interval in which they were sent or finished; it may lie in the drain
    end_ns: int
    operation: str  # "read" "update" "insert" "scan" "read_modify_write" "load"
    sent: int
    ok: int
    miss: int
    failed: int
    held_back: int  # operations that were due while every connection was busy
    documents: int  # returned or written
    bytes_out: int
    bytes_in: int
    in_flight_ns: int  # sum over finished operations of done - sent: mean in flight = in_flight_ns / interval
    service: str | None
    response: str | None
    lag: str | None

class IntervalRow(TypedDict):
    """The generator itself in one interval."""

    phase: str
    start_ns: int
    end_ns: int
    in_flight: int
    connections_up: int
    backlog: int  # due by end_ns and not sent; 0 in a closed loop
    engine_cpu_ns: int  # CPU time of the engine's worker threads
    busiest_thread_cpu_ns: int  # of the busiest worker thread
    process_cpu_ns: int  # CPU time of the whole process

class Samples(TypedDict):
    operations: list[SampleRow]
    intervals: list[IntervalRow]

class ErrorRow(TypedDict):
    operation: str
    outcome: str  # "server_error" "write_error" "write_concern_error" "timeout" "connection_lost" "bad_reply"
    code: int  # 0 where there is none
    label: str  # code name or error label, "" where there is none
    count: int
    example: str  # first message seen

class OperationTotals(TypedDict):
    sent: int
    ok: int
    miss: int
    failed: int
    unfinished: int

class Summary(TypedDict):
    """Totals of a whole run, warm-up and drain included."""

    ended_by: str  # "completed" | "stopped" | "aborted" | "target_lost"
    message: str  # why, when not completed
    started_unix_ns: int
    elapsed_ns: int
    due: int
    sent: int
    overdue: int
    oldest_overdue_ns: int
    ok: int
    miss: int
    failed: int
    unfinished: int
    oldest_unfinished_ns: int
    operations: dict[str, OperationTotals]
    commands: dict[str, int]  # by serverStatus.opcounters name: query insert update getmore; acknowledged ones only
    commands_uncertain: dict[str, int]  # sent, answer unknown: the server may have counted them
    operations_hash: str  # 16 hex digits; equal for equal sets of operations, in whatever order
    errors: list[ErrorRow]
    threads: int
    virtual_clock: bool

class Run:
    """A started run. Dropping it aborts it."""

    def poll(self, timeout_s: float) -> Progress:
        """Waits up to `timeout_s` for news, the interpreter lock released, and returns the latest state."""

    def take_samples(self) -> Samples:
        """Hands out the intervals that were completed since the last call, in order."""

    def stop(self) -> None:
        """Sends nothing more and drains. Idempotent."""

    def abort(self) -> None:
        """Drops every connection at once. Idempotent."""

    def join(self) -> Summary:
        """Waits for the end. Raises TargetError when no connection could ever be made."""

class Histogram:
    """HdrHistogram of nanoseconds, 3 significant digits, 1 ns to 1 h."""

    def __init__(self) -> None: ...
    @staticmethod
    def decode(text: str) -> Histogram: ...
    def encode(self) -> str: ...
    def merge(self, other: Histogram) -> None: ...
    def record(self, value_ns: int, count: int = 1) -> None: ...
    def quantile(self, quantile: float) -> int: ...
    def count(self) -> int: ...
    def count_above(self, value_ns: int) -> int: ...
    def mean(self) -> float: ...
    def stddev(self) -> float: ...
    def min(self) -> int: ...
    def max(self) -> int: ...
    def buckets(self) -> list[tuple[int, int]]:
        """Non-empty buckets as (highest equivalent value in ns, count), ascending."""

def validate_plan(plan_json: str) -> str:
    """The plan as the engine understood it, as canonical JSON. Raises PlanError."""

def preview(plan_json: str, count: int) -> list[dict[str, Any]]:
    """The first `count` operations: {"index", "operation", "record", "messages": the OP_MSG of each command}."""

def generate_documents(plan_json: str, first: int, count: int) -> list[bytes]:
    """BSON of the records with index first .. first + count of the plan's data."""

def generate_keys(plan_json: str, first: int, count: int) -> list[str]:
    """Keys of the records with index first .. first + count of the plan's data."""

def start(plan_json: str) -> Run:
    """Starts a run and returns at once. Raises PlanError; connection trouble is reported by poll and join."""

__version__: str
