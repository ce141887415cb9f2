"""Owns a stand-in for mongos, which no package brings: it answers as one does, and keeps what it was told.

    fake_mongos.py --version
    fake_mongos.py --configdb SET/ADDRESS --port PORT ...

It proves the order of the steps and the form of the commands, not that a router takes them. What it was told is in
`commands.json` in its working directory. Whatever it doesn't answer itself goes to the first shard, as it is, so that
runs work: it holds all data, however a collection is sharded.
"""

import argparse
import contextlib
import json
import socket
import socketserver
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

import bson

VERSION = "6.0.5"
_OP_MSG, _OP_QUERY, _OP_REPLY = 2013, 2004, 1
_told: list[dict[str, Any]] = []
_shards: list[tuple[str, int]] = []
_keys: dict[str, dict[str, Any]] = {}
"""Of the collections that are sharded, by namespace."""


class Connection(socketserver.StreamRequestHandler):
    """Answers one client."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        with contextlib.ExitStack() as stack:
            self._stack = stack
            self._shard: BinaryIO | None = None
            while message := _message(self.rfile):
                self._follow(message)

    def _follow(self, message: bytes) -> None:
        _, request, _, code = struct.unpack_from("<iiii", message)
        body = message[16:]
        # A section of kind 0 follows the flags of OP_MSG; an OP_QUERY has flags, a name and two numbers first.
        start = 5 if code == _OP_MSG else body.index(b"\0", 4) + 9
        size = struct.unpack_from("<i", body, start)[0]
        answer = _answer(bson.decode(body[start : start + size]))
        if answer is None:
            self.wfile.write(self._of_the_shard(message))
        elif code == _OP_MSG:
            self._send(request, _OP_MSG, struct.pack("<iB", 0, 0) + bson.encode(answer))
        else:
            self._send(request, _OP_REPLY, struct.pack("<iqii", 8, 0, 0, 1) + bson.encode(answer))

    def _of_the_shard(self, message: bytes) -> bytes:
        if self._shard is None:
            connection = self._stack.enter_context(socket.create_connection(_shards[0]))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._shard = self._stack.enter_context(connection.makefile("rwb", buffering=0))
        self._shard.write(message)
        return _message(self._shard)

    def _send(self, request: int, code: int, payload: bytes) -> None:
        self.wfile.write(struct.pack("<iiii", 16 + len(payload), 0, request, code) + payload)


def _message(stream: BinaryIO) -> bytes:
    """The next one whole; b"": there is none."""
    header = _exactly(stream, 16)
    return header + _exactly(stream, struct.unpack_from("<i", header)[0] - 16) if header else b""


def _exactly(stream: BinaryIO, length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = stream.read(length - len(data))
        if not more:
            return b""
        data += more
    return data


def _answer(command: dict[str, Any]) -> dict[str, Any] | None:
    """None: the shard is asked."""
    name = next(iter(command))
    if name.lower() in {"hello", "ismaster"}:
        return {"ok": 1, "msg": "isdbgrid", "isWritablePrimary": True, "maxWireVersion": 17, "minWireVersion": 0}
    if name == "buildInfo":
        return {"ok": 1, "version": VERSION, "gitVersion": "0" * 40, "openssl": {"running": "none"}}
    if name in {"addShard", "enableSharding", "shardCollection"}:
        _tell({key: value for key, value in command.items() if key in {name, "key"}})
        if name == "addShard":
            host, _, port = command[name].partition("/")[2].partition(",")[0].partition(":")
            _shards.append((host, int(port)))
        if name == "shardCollection":
            _keys[command[name]] = command["key"]
        return {"ok": 1}
    if name == "drop":
        _keys.pop(f"{command['$db']}.{command[name]}", None)
    if name == "find" and (command["$db"], command[name]) == ("config", "collections"):
        wanted = command["filter"]["_id"]
        found = [{"_id": wanted, "key": _keys[wanted]}] if wanted in _keys else []
        return {"ok": 1, "cursor": {"id": 0, "ns": "config.collections", "firstBatch": found}}
    return None if _shards else {"ok": 1}


def _tell(words: dict[str, Any]) -> None:
    _told.append(words)
    Path("commands.json").write_text(json.dumps(_told))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--configdb")
    parser.add_argument("--port", type=int)
    arguments, _ = parser.parse_known_args()
    if arguments.version:
        sys.stdout.write(f"mongos version v{VERSION}\n")
        return
    _tell({"configdb": arguments.configdb})
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", arguments.port), Connection) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
