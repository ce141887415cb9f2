"""Owns a stand-in for mongos, which no package brings: it answers as one does, and keeps what it was told.

    fake_mongos.py --version
    fake_mongos.py --configdb SET/ADDRESS --port PORT ...

It proves the order of the steps and the form of the commands, not that a router takes them. What it was told is in
`commands.json` in its working directory.
"""

import argparse
import json
import socketserver
import struct
import sys
from pathlib import Path
from typing import Any

import bson

VERSION = "6.0.5"
_OP_MSG, _OP_QUERY, _OP_REPLY = 2013, 2004, 1
_told: list[dict[str, Any]] = []


class _Connection(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while header := self.rfile.read(16):
            length, request, _, code = struct.unpack("<iiii", header)
            body = self.rfile.read(length - 16)
            # A section of kind 0 follows the flags of OP_MSG; an OP_QUERY has flags, a name and two numbers first.
            start = 5 if code == _OP_MSG else body.index(b"\0", 4) + 9
            size = struct.unpack_from("<i", body, start)[0]
            reply = bson.encode(_answer(bson.decode(body[start : start + size])))
            if code == _OP_MSG:
                payload = struct.pack("<iB", 0, 0) + reply
                self._send(request, _OP_MSG, payload)
            else:
                self._send(request, _OP_REPLY, struct.pack("<iqii", 8, 0, 0, 1) + reply)

    def _send(self, request: int, code: int, payload: bytes) -> None:
        self.wfile.write(struct.pack("<iiii", 16 + len(payload), 0, request, code) + payload)


def _answer(command: dict[str, Any]) -> dict[str, Any]:
    name = next(iter(command))
    if name.lower() in {"hello", "ismaster"}:
        return {"ok": 1, "msg": "isdbgrid", "isWritablePrimary": True, "maxWireVersion": 17, "minWireVersion": 0}
    if name == "buildInfo":
        return {"ok": 1, "version": VERSION, "gitVersion": "0" * 40, "openssl": {"running": "none"}}
    if name == "addShard":
        _told.append({name: command[name]})
        Path("commands.json").write_text(json.dumps(_told))
    return {"ok": 1}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--configdb")
    parser.add_argument("--port", type=int)
    arguments, _ = parser.parse_known_args()
    if arguments.version:
        sys.stdout.write(f"mongos version v{VERSION}\n")
        return
    _told.append({"configdb": arguments.configdb})
    Path("commands.json").write_text(json.dumps(_told))
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", arguments.port), _Connection) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
