"""Programs that are taken where they are, behind the interface of the peers: go-ycsb, a release of YCSB, mongoimport.

This program only starts the tool, waits, and reads what it prints; its own CPU and memory are not counted. go-ycsb and
YCSB say how many operations they did from first to last, not within the window: the server's counters do.
"""

import argparse
import base64
import contextlib
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymongo

from benchmarks.peers.outside.tools import (
    GO_DATABASE,
    GO_LOAD_TABLE,
    GO_TABLE,
    failures,
    go_ycsb_command,
    go_ycsb_records,
    mongoimport_command,
    percentile_ns,
    ycsb_command,
)
from benchmarks.peers.processes import peak_memory_bytes
from benchmarks.peers.protocol import answer, options, say

_SENDING = 100
"""Operations after which a tool has begun to send."""
_START_DEADLINE_S = 50.0
_END_DEADLINE_S = 40.0
_POLL_S = 0.01
_MEMORY_EVERY_S = 0.05
_READ_S = 2.0
"""Within which the runner has read the CPU time of a tool that is ended here."""


def main() -> None:
    """Runs one workload of one tool; see ../../README.md."""
    given = arguments()
    with pymongo.MongoClient(given.uri) as client:
        result = imported(given) if given.tool == "mongoimport" else followed(given, client)
    answer(result)


def arguments() -> argparse.Namespace:
    """What every peer is told on its command line, and which program is meant."""
    parser = options()
    for name in ("tool", "program"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--tool-version", help="where it is known")
    return parser.parse_args()


def followed(given: argparse.Namespace, client: pymongo.MongoClient[dict[str, Any]]) -> dict[str, Any]:
    """A tool that runs for a time and prints its percentiles at the end."""
    if given.tool == "go-ycsb":
        prepare_go_ycsb(given, client)
        command = go_ycsb_command(given)
    else:
        command = ycsb_command(given)
    with tempfile.TemporaryFile() as output:
        tool = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            wait_until_it_sends(tool, client)
            window_ns = pass_window(given)
            if given.tool == "go-ycsb":
                time.sleep(_READ_S)
                tool.send_signal(signal.SIGINT)
            tool.wait(math.ceil(given.warmup_s) + _END_DEADLINE_S)
        finally:
            tool.kill()
            tool.wait()
        output.seek(0)
        said = output.read().decode(errors="replace")
    return {
        "operations": None,
        "failed": failures(given.tool, said, in_flight=given.threads),
        "window_ns": window_ns,
        "p50_ns": percentile_ns(said, 50),
        "p99_ns": percentile_ns(said, 99),
        "versions": {given.tool: given.tool_version} if given.tool_version else {},
    }


def prepare_go_ycsb(given: argparse.Namespace, client: pymongo.MongoClient[dict[str, Any]]) -> None:
    """go-ycsb has a database and keys of its own, so it loads its records itself, once."""
    collection = client[GO_DATABASE][GO_TABLE]
    if given.workload == "load":
        client[GO_DATABASE][GO_LOAD_TABLE].drop()
    elif collection.estimated_document_count() != go_ycsb_records(given):
        collection.drop()
        subprocess.run(go_ycsb_command(given, loads=True), stdout=sys.stderr, check=True)


def wait_until_it_sends(tool: subprocess.Popen[bytes], client: pymongo.MongoClient[dict[str, Any]]) -> None:
    """Returns once the server has counted a few operations of it. Ends this program when it doesn't."""

    def counted() -> int:
        counters = client.admin.command("serverStatus")["opcounters"]
        return int(counters["query"] + counters["insert"] + counters["update"])

    before, deadline = counted(), time.monotonic() + _START_DEADLINE_S
    while counted() < before + _SENDING:
        if tool.poll() is not None or time.monotonic() > deadline:
            sys.exit("error: it sent nothing")
        time.sleep(_POLL_S)


def pass_window(given: argparse.Namespace) -> int:
    """Waits through warm-up and window; the window's length in ns."""
    say("ready")
    time.sleep(given.warmup_s)
    begin_ns = time.monotonic_ns()
    say("begin")
    time.sleep(given.measured_s)
    window_ns = time.monotonic_ns() - begin_ns
    say("end")
    return window_ns


def imported(given: argparse.Namespace) -> dict[str, Any]:
    """The whole import, from its start to its end."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        write_documents(file.write, given.records)
        file.flush()
        say("ready")
        say("begin")
        begin_ns = time.monotonic_ns()
        tool = subprocess.Popen(mongoimport_command(given, Path(file.name)), stdout=subprocess.DEVNULL)
        memory_bytes = memory_until_its_end(tool.pid)
        _, status, used = os.wait4(tool.pid, 0)
        tool.returncode = os.waitstatus_to_exitcode(status)
        window_ns = time.monotonic_ns() - begin_ns
        say("end")
    if tool.returncode != 0:
        sys.exit(f"error: it ended with {tool.returncode}")
    return {
        "operations": None,
        "failed": 0,
        "window_ns": window_ns,
        "client_cpu_ns": round((used.ru_utime + used.ru_stime) * 1e9),
        "peak_memory_bytes": memory_bytes,
        "p50_ns": None,
        "p99_ns": None,
        "versions": {},
    }


def memory_until_its_end(process_id: int) -> int:
    """The most memory that a process held, in bytes, to its last 50 ms; returns when it ends, and leaves it unreaped.

    What wait4 says of memory begins with that of the program that started it: this one.
    """
    memory_bytes, has_ended, ended = 0, False, os.pidfd_open(process_id)
    try:
        while not has_ended:
            with contextlib.suppress(ProcessLookupError):
                memory_bytes = peak_memory_bytes(process_id)
            has_ended = bool(select.select([ended], [], [], _MEMORY_EVERY_S)[0])
    finally:
        os.close(ended)
    return memory_bytes


def write_documents(write: Callable[[str], object], count: int) -> None:
    """Documents of YCSB's shape as extended JSON, one a line."""
    for number in range(count):
        values = base64.b64encode(os.urandom(100)).decode()
        fields = ",".join(f'"field{field}":{{"$binary":{{"base64":"{values}","subType":"00"}}}}' for field in range(10))
        write(f'{{"_id":"user{number:020d}",{fields}}}\n')


if __name__ == "__main__":
    main()
