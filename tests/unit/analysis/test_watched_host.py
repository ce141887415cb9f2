"""Whether another machine's host was watched all the time, as a record says it; limits where little is told."""

from typing import Any

import pytest

from brimline.analysis.bottleneck import BottleneckKind, bottleneck
from brimline.analysis.finding import Standing
from brimline.analysis.observation import observe
from brimline.analysis.watched_host import host_findings

from .records import S, run_record
from .test_bottleneck import server_rows


def facts(**host: Any) -> dict[str, Any]:
    return {"monitor": {"host": {"source": "watch", "from": "db:27027", "clock_error_ns": 120_000, "gaps": [], **host}}}


@pytest.mark.parametrize(
    ("host", "evidence"),
    [
        ({}, "brimline watch at db:27027; its times are known to within 120 µs"),
        (
            {"source": "file", "from": "io.json", "clock_error_ns": None},
            "the file io.json; its clock is taken to be right",
        ),
        ({"source": "exporter"}, "the node exporter at db:27027; its times are known"),
        ({"gaps": [{"start_ns": -S, "end_ns": 0, "reason": "x"}]}, "brimline watch at db:27027; its times are known"),
    ],
)
def test_a_host_that_was_seen_all_the_time(host: dict[str, Any], evidence: str) -> None:
    record = run_record(server_facts=facts(**host))
    (finding,) = host_findings(record)
    assert (finding.name, finding.verdict) == ("host_watched", Standing.PASS) and evidence in finding.evidence
    assert finding in observe(record).findings


def test_a_silence_is_as_long_as_it_lasted_within_the_run() -> None:
    gaps = [
        {"start_ns": -S, "end_ns": S, "reason": "connection refused"},
        {"start_ns": 2 * S, "end_ns": 3 * S, "reason": "other"},
    ]
    (finding,) = host_findings(run_record(server_facts=facts(gaps=gaps)))
    assert finding.verdict is Standing.UNKNOWN
    assert "told nothing for 2.00 s of the run (connection refused)" in finding.evidence


SOUND: dict[str, list[float | None]] = {
    "host_busy_ns": [5 * S, 6 * S, 7 * S],
    "disk_busy_ms": [10, 10, 10],
    "host_network_bytes_in": [0, 1e6, 1e9],
}


@pytest.mark.parametrize(
    ("told", "odd"),
    [
        ({}, ""),
        ({"host_busy_ns": [-5 * S, -4 * S, -3 * S]}, "host_busy_ns"),
        ({"host_busy_ns": [7 * S, 6 * S, 8 * S]}, "host_busy_ns"),
        ({"host_busy_ns": [0, 0, 9_000_000_000_000_000_000]}, "host_busy_ns"),
        ({"host_busy_ns": [9_000_000_000_000_000_000] * 3}, "host_busy_ns"),
        ({"disk_busy_ms": [0, 9_000_000_000_000, 9_000_000_000_000]}, "disk_busy_ms"),
        ({"disk_busy_ms": [10, 5, 1], "host_network_bytes_in": [-1, -2, -3]}, "disk_busy_ms, host_network_bytes_in"),
        ({"host_network_bytes_in": [0, 0, 9_000_000_000_000_000_000]}, "host_network_bytes_in"),
        ({"disk_busy_ms": [None, None, None]}, ""),
        ({name: [None, None, None] for name in SOUND}, "told no figure of the run that a host can have"),
    ],
)
def test_numbers_that_can_not_be_say_nothing_of_the_host(told: dict[str, list[float | None]], odd: str) -> None:
    columns = SOUND | told
    rows = [{"at_ns": at * S} | {name: columns[name][at - 1] for name in columns} for at in (1, 2, 3)]
    (finding,) = host_findings(run_record(server_facts=facts(), server=rows))
    assert finding.verdict is (Standing.UNKNOWN if odd else Standing.PASS), finding.evidence
    if odd:
        assert odd in finding.evidence and "how the server's host was is unknown" in finding.evidence
        assert finding.evidence.count("_") == odd.count("_"), "those and no other"


@pytest.mark.parametrize(
    ("since_ns", "evidence"),
    [
        (
            {"host_busy_ns": 3 * S, "host_cpu_count": 2 * S},
            "in host_busy_ns, host_cpu_count, first 2.00 s into the run",
        ),
        ({"host_memory_available_bytes": 0}, "in host_memory_available_bytes, first 0 ns into the run"),
        ({"host_busy_ns": 1000 * S, "server_cpu_ns": S, "shared_host": S}, ""),
    ],
)
def test_columns_of_no_use_are_named_and_since_when(since_ns: dict[str, int], evidence: str) -> None:
    """Those that end with the server's process are none of them, nor what came behind the run."""
    rows = [{"at_ns": at * S} | {name: SOUND[name][at - 1] for name in SOUND} for at in (1, 2, 3)]
    (finding,) = host_findings(run_record(server_facts=facts(unusable_since_ns=since_ns), server=rows))
    assert finding.verdict is (Standing.UNKNOWN if evidence else Standing.PASS), finding.evidence
    if evidence:
        assert f"told nothing of use {evidence}: how the server's host was is unknown" in finding.evidence


def test_a_host_that_nobody_watched_from_elsewhere_is_no_check() -> None:
    local = {"monitor": {"host": {"disk": "sda", "interfaces_bits_per_s": {}}}}
    assert host_findings(run_record(server_facts=local)) == [] == host_findings(run_record())


def test_a_full_host_of_its_own_is_the_servers_where_that_takes_most_of_it() -> None:
    found = bottleneck(observe(run_record(server=server_rows(server_cpus=1.5, host_cpus=1.98))))
    assert (found.kind, found.text) == (
        BottleneckKind.SERVER_CPU,
        "CPU 99 % of the host (server 75 %, others 24 %)",
    )


def test_a_full_host_counts_also_where_nobody_tells_the_servers_part() -> None:
    rows = [row | {"server_cpu_ns": None} for row in server_rows(server_cpus=0, host_cpus=1.9)]
    found = bottleneck(observe(run_record(server=rows)))
    assert (found.kind, found.text) == (
        BottleneckKind.SERVER_CPU,
        "CPU 95 % of the server's host, of whose programs nothing is known",
    )
    idle = [row | {"server_cpu_ns": None} for row in server_rows(server_cpus=0, host_cpus=0.9)]
    assert bottleneck(observe(run_record(server=idle))).kind is not BottleneckKind.SERVER_CPU
