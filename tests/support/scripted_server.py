"""Owns the scripted test server as a process of its own: started on a free port, stopped, asked what it saw."""

import json
import os
import select
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimline.servers import control_client

BINARY = Path(__file__).parents[2] / "target" / "release" / "brimline-testserver"
SYNTHETIC = {"kind": "synthetic", "document_bytes": 256}
"""Every key exists, so that a run needs no load."""
NAMESPACE = "ycsb.usertable"
OF_YCSB = {"data": SYNTHETIC, "namespace": NAMESPACE}
"""What scripts of MongoDB's protocol say besides: the collection of the shipped workloads, with every key in place."""
_START_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class ScriptedServer:
    """A running scripted server. `address` is `host:port`."""

    address: str
    process: subprocess.Popen[str]

    @property
    def uri(self) -> str:
        return f"mongodb://{self.address}"

    def opcounters(self) -> dict[str, int]:
        """What the server itself counted. A command that a fault fails as a whole is not attempted, nor counted."""
        with control_client(self.address) as client:
            counters: dict[str, int] = client.admin.command("serverStatus")["opcounters"]
        return counters


@dataclass(frozen=True, slots=True)
class ScriptedService:
    """A running scripted server of HTTP. `address` is `host:port`."""

    address: str
    process: subprocess.Popen[str]

    @property
    def uri(self) -> str:
        return f"http://{self.address}"

    def counts(self) -> dict[str, Any]:
        """What the server itself counted: `requests`, `methods` by name, `faults` by place in the script, bytes."""
        with urllib.request.urlopen(f"{self.uri}/testserver/counts", timeout=10) as reply:
            counts: dict[str, Any] = json.load(reply)
        return counts


@contextmanager
def scripted_server(script: Mapping[str, Any]) -> Iterator[ScriptedServer]:
    """Plays `script` on the collection of the shipped workloads, with every key in place."""
    with started("mongodb", {**OF_YCSB, **script}) as (address, process):
        yield ScriptedServer(address, process)


@contextmanager
def scripted_service(script: Mapping[str, Any]) -> Iterator[ScriptedService]:
    """Plays `script` on each request of HTTP, whatever its path."""
    with started("http", script) as (address, process):
        yield ScriptedService(address, process)


@contextmanager
def scripted_database(script: Mapping[str, Any]) -> Iterator[str]:
    """Plays `script` on each statement of MySQL's protocol that reads rows or changes them; `host:port`."""
    with started("mysql", script) as (address, _):
        yield address


@contextmanager
def started(protocol: str, script: Mapping[str, Any]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Plays `script` over a protocol: the server's `host:port`, and its process."""
    process = subprocess.Popen(
        [str(BINARY), "--protocol", protocol, "--script-json", json.dumps(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], _START_TIMEOUT_S)
        assert ready, "the scripted server did not start in time"
        yield json.loads(os.read(process.stdout.fileno(), 4096))["address"], process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
