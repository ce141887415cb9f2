"""The compiled engine. Coarse calls only: a plan goes in as JSON, samples come out as rows, progress is polled."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from brimline.record.model import Samples, Summary

class PlanError(ValueError):
    """A plan the engine refuses. `args` is (path, message)."""

class TargetError(OSError):
    """The target can't be reached or refuses the handshake. `args` is (message,)."""

class Access:
    """What opens a server, apart from every plan. Never shows what it holds; wiped when its last user is gone.

    One value for all runs on a server: it keeps the keys of the password, and whether the server took them.
    """

    def __init__(
        self,
        *,
        login: object | None = None,
        tls: object | None = None,
        compression: object | None = None,
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Reads the attributes of `servers.access.Login`, `Tls` and `Compression`; `headers` of HTTP stand for a login.

        Raises TargetError for a bad certificate or key.
        """

class Progress(TypedDict):
    """The latest state of a run; figures are totals since its start."""

    stage: str  # "connecting" | "ready" | "running" | "finished"
    elapsed_ns: int
    sent: int
    ok: int
    miss: int
    failed: int
    documents: int
    in_flight: int
    connections_up: int
    inserts_settled: int  # all inserts of the run with a smaller number are, as far as this engine's share goes

class Run:
    """A started run. Dropping it aborts it."""

    def poll(self, timeout_s: float) -> Progress:
        """Waits up to `timeout_s` for news, the interpreter lock released, and returns the latest state."""

    def take_samples(self) -> Samples:
        """Hands out the intervals that were completed since the last call, in order."""

    def release(self, at_ns: int | None = None) -> None:
        """Lets a run go that was held. Idempotent.

        `at_ns`: when its clock is zero, by the system's monotonic clock. Where that has passed it begins late.
        """

    def note_settled(self, inserts: int) -> None:
        """Tells an engine with a share how far the other ones are: their inserts below this number are settled."""

    def stop(self) -> None:
        """Sends nothing more and drains. Idempotent."""

    def abort(self) -> None:
        """Drops every connection at once. Idempotent."""

    def join(self) -> Summary:
        """Waits for the end. Raises TargetError when no connection could ever be made."""

class AnsweringServer:
    """A server on the loopback that answers every find at once, from a thread of its own in this process.

    Dropping it ends it. For what the generator can do over sockets; it stores nothing and is no stand-in for mongod.
    """

    address: str
    """host:port"""

    def __init__(self, document_bytes: int) -> None:
        """Every key that is read is a document of that many bytes (64 to 16 000 000, else ValueError).

        Raises OSError when there is no socket or thread to be had.
        """

    def stop(self) -> None:
        """Closes every connection and ends the thread. Idempotent."""

class ImportInterval(TypedDict):
    """What an import did in an interval; `service` is a histogram as Base64, None when no command was answered."""

    start_ns: int
    end_ns: int
    documents: int
    refused: int
    commands: int
    input_bytes: int
    bytes_out: int
    process_cpu_ns: int
    service: str | None

class Import:
    """A started import. Dropping it abandons it."""

    def poll(self, timeout_s: float) -> str:
        """Waits for the end up to `timeout_s`, the interpreter lock released; the progress as JSON."""

    def take_intervals(self) -> list[ImportInterval]:
        """Hands out the intervals that ended since the last call, in order."""

    def await_documents(self, timeout_s: float) -> bool:
        """Waits up to `timeout_s`; whether the server is reached and there are documents to send."""

    def first_documents(self) -> list[bytes]:
        """Of an import that is held and has documents to send: the first ones as they were read, at most 1 000."""

    def release(self) -> None:
        """Lets an import go that was held. Idempotent."""

    def stop(self) -> None:
        """Reads nothing more and settles what is read, of which nothing is sent while it is held. Idempotent."""

    def abort(self) -> None:
        """Drops every connection at once. Idempotent."""

    def join(self) -> str:
        """Waits for the end; the summary as JSON."""

def check_import(check_json: str) -> str | None:
    """What would end an import of `{"inputs": […], "format": …}` before its first record, as the JSON of an ending.

    Pipes are not looked at. Raises ValueError for what can't be read.
    """

def split_import(split_json: str) -> str:
    """How the inputs of `{"inputs": […], "format": …, "parts": N}` can be divided, as JSON; reads them whole.

    `borders`: where parts end but for the last, at most N - 1. `heads`: of each input that could be read how many bytes
    come before its first record. `read_bytes`: of all inputs, decompressed. Raises ValueError for what can't be read.
    """

def start_import(plan_json: str, access: Access | None = None, held: bool = False) -> Import:
    """Starts an import and returns at once. One that is `held` sends nothing before `Import.release`.

    Raises ValueError for a plan that can't be read, OSError for an address that names no host or a file that can't be
    written.
    """

class CommandError(RuntimeError):
    """The server answered a command with an error. `args` is (code, code_name, message)."""

class Drained(TypedDict):
    """What came of a command so far. Elapsed times begin when it was sent."""

    batches: int
    documents: int
    bytes: int  # of the replies
    first_reply_ns: int
    elapsed_ns: int
    client_cpu_ns: int

class Query:
    """One command on a connection of its own, its cursor drained; dropping it ends it, also on the server."""

    def __init__(
        self, address: str, command: bytes, database: str, collection: str, access: Access | None = None
    ) -> None:
        """Starts connecting. `command` is BSON with `$db`. Raises TargetError, as `advance` does."""

    def advance(self, timeout_s: float) -> bool:
        """Works for about so long, the interpreter lock released; True once all is there.

        Raises CommandError and TargetError.
        """

    def drained(self) -> Drained: ...
    def answer(self) -> bytes:
        """BSON of the reply when no document came in a cursor; else empty."""

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

def merge_histograms(texts: Sequence[str]) -> str:
    """The sum of histograms as `Histogram.encode` writes them, exactly. Raises ValueError."""

def validate_plan(plan_json: str) -> str:
    """The plan as the engine understood it, as canonical JSON. Raises PlanError."""

def preview(plan_json: str, count: int) -> list[dict[str, Any]]:
    """The first `count` operations: {"index", "operation", "record", "messages": the OP_MSG of each command}."""

def generate_documents(plan_json: str, first: int, count: int) -> list[bytes]:
    """BSON of the records with index first .. first + count of the plan's data."""

def generate_keys(plan_json: str, first: int, count: int) -> list[str]:
    """Keys of the records with index first .. first + count of the plan's data."""

class GenerationProgress(TypedDict):
    """How far a generation of files is: whole rows, and the bytes of the header and these rows."""

    rows: int
    bytes: int
    is_finished: bool

class GenerationOutcome(TypedDict):
    """How it ended: "completed", "stopped" or "failed", then with the system's number of the error, if it has one."""

    ended_by: str
    os_error: int | None
    message: str
    rows: int
    bytes: int

class Generation:
    """Rows being written to a file or standard output. Dropping it stops it."""

    def poll(self, timeout_s: float) -> GenerationProgress:
        """Waits up to `timeout_s` for the end, the interpreter lock released, and says how far it is."""

    def stop(self) -> None:
        """Writes no further rows. Idempotent."""

    def join(self) -> GenerationOutcome:
        """Waits for the end."""

def start_generation(job_json: str) -> Generation:
    """Starts writing and returns at once. Raises PlanError for a job that is out of bounds."""

def sample_bytes_per_row(job_json: str) -> float:
    """Mean size of a row, from the first thousand. Raises PlanError."""

class ClockProbe(TypedDict):
    """Reads of the monotonic clock in a row; steps are differences of neighbouring reads."""

    reads: int
    elapsed_ns: int
    steps_back: int
    smallest_step_ns: int  # 0 when the clock stood still
    largest_step_ns: int

def unix_now_ns() -> int:
    """When it is, in ns since 1970: a record's instants can be subtracted, also where somebody sets the wall clock."""

def probe_clock(reads: int) -> ClockProbe:
    """Reads the engine's clock so many times in a row, the interpreter lock released."""

class OperationRows:
    """The rows of a log of operations as CSV."""

    def __init__(self, path: Path) -> None:
        """Raises OSError where the file can't be read, or is no such log; so do the other users of a log."""

    def next_text(self) -> str:
        """About a megabyte of text, whole lines; nothing at the end."""

class OperationTimes:
    """Times of chosen operations of a log, in whole microseconds, in the order in which they ended."""

    def __init__(self, path: Path, wanted: list[tuple[str, str, str, str]], label: str) -> None:
        """`wanted` are `record.operation_log.Selection`s. Raises ValueError for other words."""

    def next_text(self) -> str:
        """About a megabyte of lines "label,wall clock in ms,time in us"; nothing at the end."""

    def counts_us(self) -> list[tuple[int, int]]:
        """How often each time was handed out so far, ascending."""

def count_operations(path: Path) -> dict[str, dict[str, int]]:
    """Rows of a log of operations by operation and ending."""

def start(
    plan_json: str,
    access: Access | None = None,
    log_path: Path | None = None,
    held: bool = False,
    tables: Sequence[bytes] = (),
    identity: bytes | None = None,
    runner: Sequence[str] = (),
) -> Run:
    """Starts a run on the server that `access` opens, and returns at once.

    `log_path` is an empty file for the log of operations, which a plan that wants one needs. One that is `held` sends
    nothing before `Run.release`, and is at the stage "ready" when it has its connections. `tables`: the content of each
    table of the plan's own operations, its rows as BSON documents one behind another.
    `identity`: 12 bytes by which the run is told from others, its time in seconds first; object ids begin with six
    of them. `runner` are the words that start the runner of a plan whose target is one.
    Raises PlanError; connection trouble is reported by poll and join.
    """

def example_commands(plan_json: str, tables: Sequence[bytes] = ()) -> list[list[bytes]]:
    """For each of the plan's own operations its steps' commands as BSON, as its first operation would send them.

    What replies would bring is null. Of a request of another protocol: what its slots hold, an array. Raises PlanError.
    """

__version__: str
