"""Owns a scripted server of MongoDB's protocol that keeps numbered writes, and is not honest about each of them."""

import socketserver
import struct
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import bson

_OP_MSG = 2013
_OP_QUERY = 2004
_OP_REPLY = 1
_HEADER = struct.Struct("<iiii")


@dataclass(slots=True)
class Writes:
    """What was written, by document, and what the server did with it.

    `forget_every`: so many writes are acknowledged and the last of them is not kept. `break_every`: a write is done and
    the connection closed instead of an answer; when it comes again under its number it is done again. `is_behind`: most
    members have what was written before the last write that was to be on most of them, and nothing later. `old_every`:
    so many reads of one document are answered, and the last of them without the `old_by` writes that came last.
    """

    forget_every: int = 0
    break_every: int = 0
    is_behind: bool = False
    old_every: int = 0
    old_by: int = 0
    reads: int = 0
    left_out: list[tuple[str, Sequence[int]]] = field(default_factory=list)
    replicated: dict[str, list[int]] = field(default_factory=dict)
    kept: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    forgotten: list[tuple[str, int]] = field(default_factory=list)
    doubled: list[tuple[str, int]] = field(default_factory=list)
    count: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def push(self, key: str, number: int) -> bool:
        """Whether it is answered."""
        with self.lock:
            self.count += 1
            if self.forget_every and self.count % self.forget_every == 0:
                self.forgotten.append((key, number))
                return True
            if (key, number) in self.doubled:
                self.kept[key].append(number)
                return True
            self.kept[key].append(number)
            if self.break_every and self.count % self.break_every == 0:
                self.doubled.append((key, number))
                return False
            return True

    def read(self, key: str) -> list[int]:
        """What a read of one document is answered."""
        with self.lock:
            self.reads += 1
            numbers = list(self.kept[key])
            if not self.old_every or self.reads % self.old_every or len(numbers) < self.old_by:
                return numbers
            self.left_out.append((key, numbers[-self.old_by :]))
            return numbers[: -self.old_by]

    def replicate(self) -> None:
        """Most members have what is there now."""
        with self.lock:
            self.replicated = {key: list(numbers) for key, numbers in self.kept.items()}


@contextmanager
def numbered_writes(writes: Writes) -> Iterator[str]:
    """The server's address for the length of the `with` block: the primary of a set of one."""

    class Connection(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            address = "{}:{}".format(*self.server.server_address[:2])
            try:
                while (message := _read(self.rfile)) is not None:
                    request, op, body = message
                    answer = _answer(body, writes, address)
                    if answer is None:
                        return
                    self.wfile.write(_framed(request, op, answer))
            except OSError:
                return

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address, daemon_threads = True, True

    with Server(("127.0.0.1", 0), Connection) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield "{}:{}".format(*server.server_address[:2])
        finally:
            server.shutdown()


def _read(stream: BinaryIO) -> tuple[int, int, dict[str, Any]] | None:
    head = stream.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return None
    length, request, _, op = _HEADER.unpack(head)
    rest = stream.read(length - _HEADER.size)
    if op == _OP_QUERY:
        body = rest[4:]
        body = body[body.index(b"\0") + 9 :]
        return request, op, bson.decode(body)
    sections, place, found = rest[4:], 0, dict[str, Any]()
    while place < len(sections):
        kind = sections[place]
        (size,) = struct.unpack_from("<i", sections, place + 1)
        part = sections[place + 1 : place + 1 + size]
        if kind == 0:
            found |= bson.decode(part)
        else:
            name, _, documents = part[4:].partition(b"\0")
            found[name.decode()] = list(bson.decode_iter(documents))
        place += 1 + size
    return request, op, found


def _framed(request: int, op: int, answer: dict[str, Any]) -> bytes:
    document = bson.encode(answer)
    if op == _OP_QUERY:
        body = struct.pack("<iqii", 8, 0, 0, 1) + document
        return _HEADER.pack(_HEADER.size + len(body), 0, request, _OP_REPLY) + body
    body = struct.pack("<ib", 0, 0) + document
    return _HEADER.pack(_HEADER.size + len(body), 0, request, _OP_MSG) + body


def _answer(body: dict[str, Any], writes: Writes, address: str) -> dict[str, Any] | None:
    name = next(iter(body))
    if name.lower() in ("hello", "ismaster"):
        return {
            "ok": 1, "isWritablePrimary": True, "ismaster": True, "helloOk": True, "setName": "numbered",
            "setVersion": 1, "hosts": [address], "primary": address, "me": address, "minWireVersion": 0,
            "logicalSessionTimeoutMinutes": 30, "maxWireVersion": 21, "maxBsonObjectSize": 16_777_216,
            "maxMessageSizeBytes": 48_000_000, "maxWriteBatchSize": 100_000,
        }  # fmt: skip
    if body.get("writeConcern", {}).get("w") == "majority":
        writes.replicate()
    if name == "update":
        (change,) = body["updates"]
        if "$push" not in change["u"]:
            return {"ok": 1, "n": 1, "nModified": 1}
        is_answered = writes.push(change["q"]["_id"], change["u"]["$push"]["writes"])
        return {"ok": 1, "n": 1, "nModified": 1} if is_answered else None
    if name == "find":
        return {"ok": 1, "cursor": {"id": 0, "ns": f"{body['$db']}.{body['find']}", "firstBatch": _found(body, writes)}}
    return {"ok": 1, "n": 1, "cursor": {"id": 0, "ns": "a.b", "firstBatch": []}}


def _found(body: dict[str, Any], writes: Writes) -> list[dict[str, Any]]:
    wanted = body.get("filter", {}).get("_id")
    if isinstance(wanted, str):
        return [{"_id": wanted, "writes": writes.read(wanted)}]
    is_behind = writes.is_behind and body.get("readConcern", {}).get("level") == "majority"
    with writes.lock:
        kept = writes.replicated if is_behind else writes.kept
        return [{"_id": key, "writes": list(kept[key])} for key in sorted(kept)]
