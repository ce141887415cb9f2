"""What a rate takes, by laws, and as the page on it says."""

import json
from pathlib import Path

import pytest

from benchmarks.scale import RESULTS, Measured, calls_per_s, coordinator_us, cpu_of_a_find, most_nodes, needs, table
from brimline.execution.cluster.shared_work import look_s

PAGE = (Path(__file__).parents[3] / "docs" / "concepts" / "scale.md").read_text()
OF_THE_PAGE = Measured(
    client_us=7.86,
    server_us=47.7,
    bytes_out=173,
    bytes_in=1214,
    histograms=7.75,
    histogram_bytes=1153,
    merge_us=25.5,
    call_us=460,
)


def test_needs_are_in_proportion_and_nodes_are_whole() -> None:
    one = Measured(
        client_us=10,
        server_us=50,
        bytes_out=100,
        bytes_in=1000,
        histograms=6,
        histogram_bytes=500,
        merge_us=100,
        call_us=200,
    )
    found = needs(1_000_000, one)
    # 10 CPUs of work by threads that are half busy; four threads a node. The same of 50 CPUs of servers.
    assert (found.threads, found.nodes) == (20, 5)
    assert (found.bits_per_s, found.node_bits_per_s) == (8e9, 1.6e9)
    assert (found.in_flight, found.server_cpus) == (2000, pytest.approx(100))
    # Of five nodes: six histograms and 13 calls a second.
    assert (found.coordinator_bytes_per_s, found.coordinator_share) == (15_000, pytest.approx(0.003 + 0.013))
    assert most_nodes(one) == 357


def test_the_pages_table_follows_from_the_pages_figures() -> None:
    for line in table(OF_THE_PAGE):
        assert line in PAGE
    for figure in ("7.86 µs", "47.7 µs", "173, 1 214", "7.75 of 1 153", "25.5 µs", "460 µs"):
        assert figure in PAGE
    of_1000, bytes_each, merge_us = 1000 * OF_THE_PAGE.histograms, OF_THE_PAGE.histogram_bytes, OF_THE_PAGE.merge_us
    assert f"{of_1000 * bytes_each / 1e6:.3g} MB, and {of_1000 * merge_us / 1e6:.1g} s" in PAGE
    assert f"up to ten nodes it makes {calls_per_s(10):g} calls a second" in PAGE
    assert (look_s(10), look_s(40), look_s(90), look_s(91)) == (0.1, 0.4, 0.9, 1.0)
    assert f"it leads {most_nodes(OF_THE_PAGE)} nodes" in PAGE
    assert f"1 000 nodes by Ray would take {1000 * coordinator_us(OF_THE_PAGE, 1000) / 1e6:.2g}." in PAGE


def test_cpu_times_are_those_of_the_benchmarks() -> None:
    client_us, server_us = cpu_of_a_find(json.loads(RESULTS.read_text()))
    assert (client_us, server_us) == (pytest.approx(7.86, abs=0.005), pytest.approx(47.7, abs=0.05))
