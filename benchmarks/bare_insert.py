"""Owns the plainest insert there is: commands that are encoded before the clock starts, sent over blocking sockets.

What an import can be held against that isn't one: no file is read, nothing is converted, counted or proved, and each
answer is looked at only for `ok` and `n`.
"""

import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import bson

CONNECTIONS = 4
"""As many as an import has."""
DOCUMENTS_PER_COMMAND = 1_000
_OP_MSG = 2013
_HEADER = struct.Struct("<iiii")


def encoded(documents: Iterable[bytes], *, database: str, collection: str, concern: str) -> list[bytes]:
    """OP_MSG insert commands of documents without an `_id`, each of which gets one."""
    body = bson.encode(
        {"insert": collection, "ordered": False, "writeConcern": {"w": concern}, "$db": database},
    )
    return [_message(body, batch) for batch in _batches(with_id(each) for each in documents)]


def with_id(document: bytes) -> bytes:
    """The document with an ObjectId before everything else."""
    element = b"\x07_id\x00" + bson.ObjectId().binary
    return struct.pack("<i", len(document) + len(element)) + element + document[4:]


def _batches(documents: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for document in documents:
        batch.append(document)
        if len(batch) == DOCUMENTS_PER_COMMAND:
            yield batch
            batch = []
    if batch:
        yield batch


def _message(body: bytes, documents: Sequence[bytes]) -> bytes:
    sequence = b"documents\x00" + b"".join(documents)
    sections = b"\x00" + body + b"\x01" + struct.pack("<i", len(sequence) + 4) + sequence
    return _HEADER.pack(_HEADER.size + 4 + len(sections), 1, 0, _OP_MSG) + bytes(4) + sections


@dataclass(slots=True)
class _Sent:
    inserted: int = 0
    wrong: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def send(address: str, messages: Sequence[bytes]) -> tuple[int, float]:
    """How many documents the server says it has inserted, and in how many seconds. Raises RuntimeError."""
    sent = _Sent()
    shares = [messages[start::CONNECTIONS] for start in range(CONNECTIONS)]
    threads = [threading.Thread(target=_converse, args=(address, share, sent)) for share in shares]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed_s = time.monotonic() - began
    if sent.wrong:
        raise RuntimeError(sent.wrong[0])
    return sent.inserted, elapsed_s


def _converse(address: str, messages: Sequence[bytes], sent: _Sent) -> None:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))) as server:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for message in messages:
            server.sendall(message)
            (length, *_) = _HEADER.unpack(_exactly(server, _HEADER.size))
            answer = bson.decode(_exactly(server, length - _HEADER.size)[5:])
            with sent.lock:
                sent.inserted += answer.get("n", 0)
                if answer.get("ok") != 1 or answer.get("writeErrors"):
                    sent.wrong.append(str(answer)[:300])


def _exactly(server: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = server.recv(size - len(parts))
        if not part:
            raise ConnectionError("the server closed the connection")
        parts += part
    return bytes(parts)
