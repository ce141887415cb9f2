"""Owns one run of one client: prepared, started, measured at both ends of its window, ended."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.catalogue import COLLECTION, DATABASE, LOAD_DATABASE, Peer
from benchmarks.peers.processes import Client, ClientFailed, client, cpu_ns, descendants, peak_memory_bytes
from benchmarks.peers.results import Run
from benchmarks.peers.rounds import Turn
from benchmarks.peers.server import Server
from benchmarks.peers.settings import Cell, Settings
from brimline.monitor.cpu_time import host_cpu

_START_DEADLINE_S = 60.0
_END_DEADLINE_S = 60.0
_LOAD_DEADLINE_S = 120.0
_SETTLE_S = 0.3
"""What the last client had in flight is answered by then, and in no collection that is made afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Both processes and the whole machine at one instant.

    `before_cpu_ns` is of the program of ours that stands before the client, where there is one.
    """

    at_ns: int
    host_busy_ns: int
    client_cpu_ns: int
    server_cpu_ns: int
    counters: dict[str, int]
    before_cpu_ns: int = 0


def command_line(peer: Peer, program: list[str], uri: str, cell: Cell, settings: Settings) -> list[str]:
    """How the client is started for this cell."""
    values: dict[str, Any] = {
        "uri": uri,
        "database": LOAD_DATABASE if cell.loads else DATABASE,
        "collection": COLLECTION,
        "workload": cell.workload,
        "records": settings.documents if cell.loads and peer.by_count else settings.records,
        "threads": settings.threads,
        "batch": settings.batch_of(cell),
        "warmup-s": settings.warmup_of(cell, compiles=peer.compiles),
        "measured-s": settings.measured_of(cell),
        "seed": settings.seed,
    }
    return [*program, *(word for name, value in values.items() for word in (f"--{name}", str(value)))]


def measure(
    peer: Peer, program: list[str], server: Server, cell: Cell, settings: Settings, *, turn: Turn, log: Path
) -> Run:
    """One run. Raises ClientFailed."""
    if cell.loads:
        time.sleep(_SETTLE_S)
        server.empty_for_load()
    rested = server.rest()
    command = command_line(peer, program, server.uri, cell, settings)
    warmup_s = settings.warmup_of(cell, compiles=peer.compiles)
    started_ns = time.monotonic_ns()
    with client(command, cores=settings.client_cores, log=log) as running:
        running.expect("ready", deadline=time.monotonic() + _START_DEADLINE_S)
        ready_ns = time.monotonic_ns()
        running.expect("begin", deadline=time.monotonic() + warmup_s + _START_DEADLINE_S)
        begin = _read(running, peer, server)
        running.expect("end", deadline=time.monotonic() + settings.measured_of(cell) + _LOAD_DEADLINE_S)
        end = _read(running, peer, server)
        # What is behind a program of ours ends before its result is out; all others wait until they are released.
        memory = _memory(running, peer) if peer.is_behind else None
        answer = _answer(running.line(deadline=time.monotonic() + _END_DEADLINE_S))
        memory = answer.get("peak_memory_bytes") or memory or _memory(running, peer)
        running.release()
    start_ns = ready_ns - started_ns
    return run_of(turn, begin, end, answer, peak_memory_bytes=memory, start_ns=start_ns, rested=rested)


def run_of(
    turn: Turn,
    begin: Reading,
    end: Reading,
    answer: Mapping[str, Any],
    *,
    peak_memory_bytes: int,
    start_ns: int,
    rested: bool,
) -> Run:
    """What both readings and the client's own result amount to. Raises ClientFailed where nothing was done.

    For a client that can't tell its operations the server's count is taken. One whose process is gone at the end of its
    window tells its CPU time.
    """
    counted = {kind: end.counters[kind] - begin.counters[kind] for kind in end.counters}
    told = answer["operations"]
    operations = sum(counted.values()) if told is None else told
    if operations == 0:
        raise ClientFailed("did nothing within its window")
    client_cpu_ns = answer.get("client_cpu_ns") or end.client_cpu_ns - begin.client_cpu_ns
    return Run(
        client=turn.client,
        cell=turn.cell,
        round=turn.round,
        number=turn.number,
        operations=operations,
        operations_by="server" if told is None else "client",
        failed=answer["failed"],
        counted=counted,
        window_ns=answer["window_ns"],
        client_cpu_ns=client_cpu_ns,
        engine_cpu_ns=answer.get("engine_cpu_ns"),
        server_cpu_ns=end.server_cpu_ns - begin.server_cpu_ns,
        others_share=others_share(begin, end, client_cpu_ns=client_cpu_ns),
        rested=rested,
        p50_ns=answer["p50_ns"],
        p99_ns=answer["p99_ns"],
        peak_memory_bytes=peak_memory_bytes,
        start_ns=start_ns,
        cpu_before_window_ns=begin.client_cpu_ns,
        versions=answer["versions"],
        read_ns=end.at_ns - begin.at_ns,
    )


def others_share(begin: Reading, end: Reading, *, client_cpu_ns: int) -> float:
    """The part of all cores that was used between two readings, and not by client or server."""
    own_ns = client_cpu_ns + end.server_cpu_ns - begin.server_cpu_ns + end.before_cpu_ns - begin.before_cpu_ns
    others_ns = end.host_busy_ns - begin.host_busy_ns - own_ns
    return max(others_ns / (os.cpu_count() or 1) / max(end.at_ns - begin.at_ns, 1), 0.0)


def _read(running: Client, peer: Peer, server: Server) -> Reading:
    client_cpu_ns = sum(cpu_ns(pid) for pid in _processes(running, peer))
    server_cpu_ns = cpu_ns(server.pid)
    host = host_cpu()
    assert host is not None  # /proc is there: a process's memory is read from it
    return Reading(
        at_ns=time.monotonic_ns(),
        host_busy_ns=host.busy_ns,
        client_cpu_ns=client_cpu_ns,
        server_cpu_ns=server_cpu_ns,
        counters=server.counters(),
        before_cpu_ns=cpu_ns(running.pid) if peer.is_behind else 0,
    )


def _memory(running: Client, peer: Peer) -> int:
    return sum(peak_memory_bytes(pid) for pid in _processes(running, peer))


def _processes(running: Client, peer: Peer) -> list[int]:
    return descendants(running.pid) if peer.is_behind else [running.pid]


def _answer(line: str) -> dict[str, Any]:
    try:
        answer = json.loads(line)
        missing = {"operations", "failed", "window_ns", "p50_ns", "p99_ns", "versions"} - answer.keys()
    except (ValueError, AttributeError):
        raise ClientFailed(f'said "{line[:80]}" where its result was expected') from None
    if missing:
        raise ClientFailed(f"left out of its result: {', '.join(sorted(missing))}")
    if answer["window_ns"] <= 0:
        raise ClientFailed("measured over no time")
    return dict(answer)
