"""Owns what every runner of PyMongo has in common: frames to and from the engine, what is used, and errors.

A program of its own, which imports nothing of brimline. docs/reference/runners.md describes the frames.
"""

import gc
import os
import platform
import re
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NoReturn

import bson
import pymongo
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.int64 import Int64
from pymongo import errors
from pymongo.monitoring import ConnectionPoolListener

VERSION = 1
OPEN, COMMAND, CLOCK, USE, CLOSE = range(1, 6)
"""Kinds of frames that come."""
READY, REPLY, CLOCK_IS, USED, FAILED = range(1, 6)
"""Kinds of frames that go."""
ANSWERED, LOST, TIMED_OUT, NO_CONNECTION, REFUSED = range(5)
"""What became of a command."""
WANTS_DOCUMENTS = 1
OPTIONS: CodecOptions[dict[str, Any]] = CodecOptions(
    tz_aware=True, datetime_conversion=DatetimeConversion.DATETIME_AUTO
)
"""Values keep their types on the way through: a 64-bit number stays one."""
_LENGTH = struct.Struct("<I")
_COMMAND = struct.Struct("<IIQB")
_REPLY = struct.Struct("<IBIIBQQIQ")
_FRAME_BYTES_MAX = 64 << 20


class Gone(Exception):
    """The engine is gone."""


def frames_of(stream: BinaryIO) -> Callable[[], tuple[int, bytes]]:
    """Reads a frame at each call: its kind and its content. Raises Gone at the end."""

    def read(count: int) -> bytes:
        content = stream.read(count)
        if len(content) < count:
            raise Gone
        return content

    def frame() -> tuple[int, bytes]:
        (length,) = _LENGTH.unpack(read(4))
        if not 1 <= length <= _FRAME_BYTES_MAX:
            raise Gone
        content = read(length)
        return content[0], content[1:]

    return frame


def split(arrived: bytearray) -> list[tuple[int, bytes]]:
    """Takes the frames that are whole out of what has arrived. Raises Gone for what is none."""
    found, at = [], 0
    while len(arrived) - at >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(arrived, at)
        if not 1 <= length <= _FRAME_BYTES_MAX:
            raise Gone
        start, end = at + _LENGTH.size, at + _LENGTH.size + length
        if len(arrived) < end:
            break
        found.append((arrived[start], bytes(memoryview(arrived)[start + 1 : end])))
        at = end
    del arrived[:at]
    return found


class Answers:
    """Frames to the engine, each whole, whichever thread it comes from."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, kind: int, content: bytes) -> None:
        """One frame. An engine that is gone is no error here: the end of its frames tells."""
        self._write(_LENGTH.pack(len(content) + 1) + bytes((kind,)) + content)

    def reply(self, place: int, number: int, done: "Done", sent_ns: int, done_ns: int) -> None:
        """What became of a command."""
        body = bson.encode(done.body, codec_options=OPTIONS)
        head = _REPLY.pack(
            _REPLY.size - 4 + len(body),
            REPLY,
            place,
            number,
            done.outcome,
            sent_ns,
            done_ns,
            done.documents,
            0,
        )
        self._write(head + body)

    def _write(self, content: bytes) -> None:
        with self._lock:
            view = memoryview(content)
            while view:
                try:
                    view = view[os.write(self._descriptor, view) :]
                except BrokenPipeError:
                    return


class Done:
    """What became of a command: an outcome, the server's reply or what stands for it, and how many documents came."""

    __slots__ = ("body", "documents", "outcome")

    def __init__(self, body: Mapping[str, Any], *, outcome: int = ANSWERED, documents: int = 0) -> None:
        self.body = body
        self.outcome = outcome
        self.documents = documents


def brought(call: Any, result: Any, *, wants_documents: bool) -> Done:
    """What a call has brought: the first document of a cursor only where it is wanted, and how many there were."""
    if call.brings == "result":
        return Done(call.reply(result))
    documents = [] if result is None else [result] if call.brings == "one" else result
    return Done(call.reply(documents[:1] if wants_documents else []), documents=len(documents))


class Command:
    """A command as it came."""

    __slots__ = ("body", "due_ns", "number", "place", "wants_documents")

    def __init__(self, content: bytes) -> None:
        self.place, self.number, self.due_ns, flags = _COMMAND.unpack_from(content)
        self.wants_documents = bool(flags & WANTS_DOCUMENTS)
        self.body: dict[str, Any] = bson.decode(content[_COMMAND.size :], OPTIONS)


class PoolEvents(ConnectionPoolListener):
    """What the driver's pool tells of its connections and of waiting for one."""

    # ruff: noqa: ARG002, D102
    def __init__(self) -> None:
        self.created = self.closed = self.taken = self.refused = 0
        self.waited_ns = self.waited_max_ns = 0
        self.waits = [0] * 32
        """How often it took so long: the bits of the time in µs."""

    def pool_created(self, event: Any) -> None: ...
    def pool_ready(self, event: Any) -> None: ...
    def pool_cleared(self, event: Any) -> None: ...
    def pool_closed(self, event: Any) -> None: ...
    def connection_ready(self, event: Any) -> None: ...
    def connection_check_out_started(self, event: Any) -> None: ...
    def connection_checked_in(self, event: Any) -> None: ...

    def connection_created(self, event: Any) -> None:
        self.created += 1

    def connection_closed(self, event: Any) -> None:
        self.closed += 1

    def connection_checked_out(self, event: Any) -> None:
        self.taken += 1
        self._waited(event.duration)

    def connection_check_out_failed(self, event: Any) -> None:
        self.refused += 1
        self._waited(event.duration)

    def _waited(self, duration_s: float) -> None:
        waited_ns = round(duration_s * 1e9)
        self.waited_ns += waited_ns
        self.waited_max_ns = max(self.waited_max_ns, waited_ns)
        self.waits[min((waited_ns // 1000).bit_length(), len(self.waits) - 1)] += 1


class Sessions:
    """Sessions that had transactions. They end with the runner: one that stays open would keep its locks for long."""

    WITHIN_S = 0.5
    """How long what is under way is waited for: a transaction that begins after the end would stay."""
    END_WITHIN_S = 1.0
    """How long the server may take to end them."""

    def __init__(self, patience_ms: int) -> None:
        self._patience_ns = patience_ms * 1_000_000
        self.ids: list[Any] = []
        self.is_over = False
        self.under_way = 0
        self._lock = threading.Lock()

    def enters(self) -> bool:
        """Whether a command may begin; if so, `leave` follows it."""
        with self._lock:
            self.under_way += not self.is_over
            return not self.is_over

    def leave(self) -> None:
        """A command is done."""
        with self._lock:
            self.under_way -= 1

    def require_answered(self, begun_ns: int) -> None:
        """Raises NetworkTimeout of an abort of which only its time tells that nobody answered: the driver doesn't."""
        if time.monotonic_ns() - begun_ns >= self._patience_ns:
            raise errors.NetworkTimeout("no answer to an abort within the time that an operation has")

    def waits(self) -> Iterator[float]:
        """No command begins any more: how long to wait, again and again, for those that are under way."""
        with self._lock:
            self.is_over = True
        until_s = time.monotonic() + self.WITHIN_S
        while self.ids and self.under_way and time.monotonic() < until_s:
            yield 0.005


class Collections:
    """How often the garbage collector ran, and how long."""

    def __init__(self) -> None:
        self.count = self.elapsed_ns = self._begun_ns = 0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, info: Mapping[str, int]) -> None:
        if phase == "start":
            self._begun_ns = time.monotonic_ns()
        else:
            self.count += 1
            self.elapsed_ns += time.monotonic_ns() - self._begun_ns


def used(pool: PoolEvents, collections: Collections) -> bytes:
    """What this process has used so far."""
    return bson.encode(
        {
            "cpu_ns": time.process_time_ns(),
            **_memory_peak(),
            "collections": collections.count,
            "collections_ns": collections.elapsed_ns,
            "connections_created": pool.created,
            "connections_closed": pool.closed,
            "pool_taken": pool.taken,
            "pool_refused": pool.refused,
            "pool_waited_ns": pool.waited_ns,
            "pool_waited_max_ns": pool.waited_max_ns,
            "pool_waits": [*map(Int64, pool.waits)],
        }
    )


def _memory_peak() -> dict[str, int]:
    """The most memory of this program. That of getrusage begins with that of the process that started it."""
    with open("/proc/self/status") as status:  # noqa: PTH123 - no pathlib to load
        told = re.search(r"^VmHWM:\s*(\d+) kB$", status.read(), re.MULTILINE)
    return {} if told is None else {"memory_peak_bytes": int(told[1]) * 1024}


def ready(client: str) -> bytes:
    """What this runner is. Commands may be handed over a little before they are due."""
    return bson.encode(
        {
            "version": VERSION,
            "client": client,
            "driver": "PyMongo",
            "driver_version": pymongo.version,
            "runtime": platform.python_implementation(),
            "runtime_version": platform.python_version(),
            "ahead_ns": 300_000,
        }
    )


def failed(error: BaseException) -> bytes:
    """Why this runner can't go on."""
    return bson.encode({"message": f"{type(error).__name__}: {error}"})


def done_of(error: Exception) -> Done:
    """What an error of the driver's amounts to: what the server said, in its own form, or that it said nothing."""
    if isinstance(error, errors.BulkWriteError):
        details = error.details
        concerns = details.get("writeConcernErrors") or []
        reply = {
            "ok": 1,
            "n": details.get("nInserted", 0) + details.get("nMatched", 0) + details.get("nRemoved", 0),
            "writeErrors": [
                {"index": each["index"], "code": each["code"], "errmsg": each.get("errmsg", "")}
                for each in details.get("writeErrors", [])
            ],
        }
        return Done({**reply, "writeConcernError": concerns[0]} if concerns else reply)
    if isinstance(error, errors.WriteError):
        first = {"index": 0, "code": error.code or 0, "errmsg": str((error.details or {}).get("errmsg", error))}
        return Done({"ok": 1, "n": 0, "writeErrors": [first]})
    if isinstance(error, errors.WriteConcernError):
        details = dict(error.details or {})
        concern = details.get("writeConcernError", {"code": error.code or 0, "errmsg": str(error)})
        return Done({"ok": 1, "n": details.get("n", 1), "writeConcernError": concern})
    if isinstance(error, errors.OperationFailure):
        details = dict(error.details or {})
        labels = details.get("errorLabels") or []
        code = error.code or 0
        known = {"code": code, "codeName": details.get("codeName", ""), "errmsg": str(details.get("errmsg", error))}
        return Done({"ok": 0, **known, "errorLabels": labels})
    if isinstance(error, errors.WaitQueueTimeoutError):
        return Done(_words(error), outcome=NO_CONNECTION)
    if isinstance(error, errors.NetworkTimeout):
        return Done(_words(error), outcome=TIMED_OUT)
    if isinstance(error, errors.ConnectionFailure):
        return Done(_words(error), outcome=LOST)
    return Done(_words(error), outcome=REFUSED)


def _words(error: Exception) -> dict[str, str]:
    return {"message": str(error), "label": type(error).__name__}


def end() -> NoReturn:
    """Ends the process at once: whatever the driver is still at, nobody waits for it."""
    sys.stderr.flush()
    os._exit(0)
