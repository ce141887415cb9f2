"""One run: what both readings and the client's own result amount to."""

import os
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.peers.measuring import Reading, others_share, run_of
from benchmarks.peers.processes import ClientFailed
from benchmarks.peers.results import Run
from benchmarks.peers.rounds import Turn

CORES = os.cpu_count() or 1
BEGIN = Reading(at_ns=0, host_busy_ns=0, client_cpu_ns=5, server_cpu_ns=7, counters={"insert": 3, "query": 10})
END = Reading(at_ns=100, host_busy_ns=100, client_cpu_ns=15, server_cpu_ns=27, counters={"insert": 8, "query": 40})


def made(*, end: Reading = END, **answer: Any) -> Run:
    told = {"operations": 36, "failed": 0, "window_ns": 100, "p50_ns": 1, "p99_ns": 2, "versions": {}}
    turn = Turn(client="mongoimport", cell="batch", round=1, number=4)
    return run_of(turn, BEGIN, end, told | answer, peak_memory_bytes=9, start_ns=8, rested=True)


def test_operations_are_those_that_the_client_tells() -> None:
    run = made()
    assert (run.operations, run.operations_by, run.counted) == (36, "client", {"insert": 5, "query": 30})
    assert (run.client, run.cell, run.number) == ("mongoimport", "batch", 4)


def test_operations_are_the_servers_count_where_the_client_tells_none() -> None:
    run = made(operations=None)
    assert (run.operations, run.operations_by) == (35, "server")


@pytest.mark.parametrize("told", [0, None])
def test_a_client_that_did_nothing_has_failed(told: int | None) -> None:
    with pytest.raises(ClientFailed, match="did nothing within its window"):
        made(end=replace(END, counters=BEGIN.counters), operations=told)


def test_what_neither_client_nor_server_used_was_used_by_others() -> None:
    busy_ns = CORES * 100 - 20
    end = replace(END, host_busy_ns=busy_ns)
    assert others_share(BEGIN, end, client_cpu_ns=10) == pytest.approx((busy_ns - 30) / CORES / 100)
    assert others_share(BEGIN, replace(end, host_busy_ns=10), client_cpu_ns=10) == 0
    engine = replace(end, before_cpu_ns=CORES * 10)
    assert others_share(BEGIN, engine, client_cpu_ns=10) == pytest.approx((busy_ns - 30) / CORES / 100 - 0.1)


def test_the_cpu_time_of_a_client_that_is_gone_at_the_end_of_its_window_is_its_own_and_nobody_elses() -> None:
    run = made(client_cpu_ns=70)
    assert run.client_cpu_ns == 70
    assert run.others_share == pytest.approx((100 - 70 - 20) / CORES / 100)
