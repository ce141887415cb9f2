"""Owns the programs behind figures without Python and without a database: engine, bare client, scripted server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "target/release"
ENGINE = RELEASE / "examples/execute_plan"
PING_PONG = RELEASE / "examples/ping_pong"
VALUES = RELEASE / "examples/values"
# Every key exists, with a document of 1 KB, so that a run needs no load.
SYNTHETIC = '{"data": {"kind": "synthetic", "document_bytes": 1000}, "namespace": "ycsb.usertable"}'


def build() -> None:
    """Builds the engine and the maker of values as programs of their own, the bare client and the scripted server."""
    compile_package("brimline-engine", "execute_plan", "ping_pong")
    compile_package("brimline-datagen", "values")
    compile_package("brimline-testserver")


def compile_package(name: str, *examples: str) -> None:
    """Compiles a package, or examples of it, in one piece as a release is.

    A shell may ask for pieces (CARGO_INCREMENTAL), in which an operation takes a fifth more instructions.
    """
    words = ["--package", name, *(word for each in examples for word in ("--example", each))]
    whole = {**os.environ, "CARGO_INCREMENTAL": "0"}
    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", *words], cwd=ROOT, check=True, env=whole)


@contextmanager
def scripted_server(*, script: str = "{}", core: int | None = None, protocol: str = "mongodb") -> Iterator[str]:
    """The scripted server, which answers at once unless `script` says otherwise, on one core if asked; its address."""
    command = [*pinned(core), str(RELEASE / "brimline-testserver"), "--protocol", protocol, "--script-json", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            yield json.loads(server.stdout.readline())["address"]
        finally:
            server.stdin.close()


def execute(plan_json: str, *, wrapper: Sequence[str] = (), log: Path | None = None) -> tuple[dict[str, Any], str]:
    """Executes a plan with the engine, all operations of which must work; its totals, and what was said on stderr.

    `log` is an empty file for the log of operations, where the plan wants one.
    """
    command = [*wrapper, str(ENGINE), *([str(log)] if log else [])]
    done = subprocess.run(command, input=plan_json, capture_output=True, text=True, check=False)
    totals: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    if not totals or totals["failed"]:
        sys.exit(f"error: the engine failed\n{done.stdout}{done.stderr}")
    return totals, done.stderr


def pinned(core: int | None) -> list[str]:
    """What to put in front of a command so that it keeps to one core.

    No new session: where the kernel groups tasks by session, two of them cost an operation 12 µs more.
    """
    return [] if core is None else ["taskset", "--cpu-list", str(core)]


def cores() -> list[int]:
    """The cores this process may use."""
    return sorted(os.sched_getaffinity(0))
