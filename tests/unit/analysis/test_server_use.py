import pytest

from brimline.analysis.server_use import ServerUse, server_use
from brimline.analysis.server_window import ServerWindow

from .records import S, watched


def use(counters: dict[str, float] | None = None, **gauges: float) -> ServerUse:
    return server_use(ServerWindow.of(watched(counters=counters, **gauges), start_ns=S, end_ns=11 * S))


WORK = {"query": 600.0, "insert": 100.0, "update": 300.0, "delete": 0.0, "getmore": 0.0}


def test_nothing_seen_is_nothing_known() -> None:
    assert server_use(ServerWindow.of([], start_ns=0, end_ns=S)) == ServerUse()
    assert use() == ServerUse()


def test_counters_become_rates_and_ratios() -> None:
    seen = use({**WORK, "write_conflicts": 40.0, "documents_scanned": 9000.0, "documents_returned": 600.0})
    assert (seen.commands_per_s, seen.writes_per_s) == (1000, 400)
    assert seen.conflicts_per_write == pytest.approx(0.1)
    # An update matches a document without returning it.
    assert seen.scanned_per_match == pytest.approx(9000 / 900)


def test_the_servers_own_latency_is_that_of_reads_and_writes_together() -> None:
    seen = use(
        {"reads_ops": 300.0, "reads_latency_us": 60_000.0, "writes_ops": 100.0, "writes_latency_us": 40_000.0},
        round_trip_ns=3e6,
    )
    assert seen.latency_mean_ns == pytest.approx(250_000)
    assert seen.round_trip_min_ns == 3e6


@pytest.mark.parametrize(("queries", "writes", "quicker_ns"),
                         [(300.0, 100.0, 200_000), (20.0, 380.0, 400_000), (390.0, 10.0, 200_000)])  # fmt: skip
def test_the_quicker_kind_is_one_that_the_workload_has(queries: float, writes: float, quicker_ns: float) -> None:
    """A server looks up sessions and the like for itself: such reads say nothing of the workload's writes."""
    seen = use(
        {
            **WORK, "query": queries, "insert": 0.0, "update": writes,
            "reads_ops": 300.0, "reads_latency_us": 60_000.0, "writes_ops": 100.0, "writes_latency_us": 40_000.0,
        }
    )  # fmt: skip
    assert seen.latency_quicker_ns == pytest.approx(quicker_ns)


def test_waits_are_numbers_of_operations() -> None:
    """Four seconds of waiting in each second are four operations that wait at once: Little's law."""
    seen = use(
        {
            "lock_wait_us": 4e6,
            "write_concern_wait_ms": 2500.0,
            "cache_read_by_application_us": 1e6,
            "cache_wait_by_application_us": 0.5e6,
        }
    )
    assert seen.lock_waiting == pytest.approx(4)
    assert seen.write_concern_waiting == pytest.approx(2.5)
    assert seen.cache_waiting == pytest.approx(1.5)


def test_cache_journal_and_disk() -> None:
    seen = use(
        {
            **WORK,
            "cache_bytes_read": 32_000_000.0,
            "cache_pages_evicted_by_application": 10.0,
            "journal_syncs": 500.0,
            "journal_sync_time_us": 250_000.0,
            "disk_busy_ms": 930.0,
            "disk_bytes_read": 1e6,
            "disk_bytes_written": 2e6,
            "disk_queue_time_ms": 4200.0,
        },
        cache_bytes_max=1e9,
        cache_bytes_used=8e8,
        cache_bytes_dirty=5e7,
        checkpoint_running=1,
    )
    assert (seen.cache_fill, seen.cache_dirty) == (pytest.approx(0.8), pytest.approx(0.05))
    assert seen.cache_read_bytes_per_command == pytest.approx(32_000)
    assert seen.evictions_by_application_per_command == pytest.approx(0.01)
    assert seen.journal_sync_share == pytest.approx(0.25)
    assert (seen.journal_syncs_per_s, seen.journal_sync_mean_ns) == (500, pytest.approx(500_000))
    assert (seen.disk_busy_share, seen.disk_bytes_per_s) == (pytest.approx(0.93), pytest.approx(3e6))
    assert seen.disk_in_flight == pytest.approx(4.2)
    assert seen.checkpoint_share == 1


def test_gauges_are_means_over_the_looks_that_have_them() -> None:
    rows = [
        {"at_ns": S, "read_queue": 0, "read_tickets_out": 4, "read_tickets_total": 5},
        {"at_ns": 2 * S, "gap": "AutoReconnect", "read_queue": None, "read_tickets_out": None},
        {"at_ns": 3 * S, "read_queue": 6, "read_tickets_out": 5, "read_tickets_total": 5},
        {"at_ns": 9 * S, "read_queue": 100, "read_tickets_out": 0, "read_tickets_total": 5},  # after the window
    ]
    seen = server_use(ServerWindow.of(rows, start_ns=S, end_ns=4 * S))
    assert seen.read_queue == 3
    assert seen.read_tickets_share == pytest.approx(0.9)
    assert seen.write_queue is None


def test_a_look_that_failed_does_not_break_a_rate() -> None:
    rows = [
        {"at_ns": 0, "journal_syncs": 10},
        {"at_ns": 2 * S, "journal_syncs": None},
        {"at_ns": 4 * S, "journal_syncs": 50},
        {"at_ns": 5 * S, "journal_syncs": None},
    ]
    assert ServerWindow.of(rows, start_ns=0, end_ns=9 * S).rate("journal_syncs") == 10


def test_a_server_that_was_started_again_has_no_rates() -> None:
    rows = [{"at_ns": S, "query": 1000, "update": 5}, {"at_ns": 2 * S, "query": 30, "update": 9}]
    window = ServerWindow.of(rows, start_ns=0, end_ns=9 * S)
    assert window.rate("query") is None and window.rate("query", "update") is None
    assert window.ratio(("update",), ("query",)) is None
    assert window.rate("update") == 4


def test_a_ratio_to_nothing_is_not_known() -> None:
    rows = [{"at_ns": S, "query": 7, "update": 5}, {"at_ns": 2 * S, "query": 7, "update": 9}]
    assert ServerWindow.of(rows, start_ns=0, end_ns=9 * S).ratio(("update",), ("query",)) is None


def test_one_look_gives_gauges_and_no_rates() -> None:
    window = ServerWindow.of([{"at_ns": S, "query": 7, "read_queue": 2}], start_ns=0, end_ns=9 * S)
    assert window.rate("query") is None and window.mean("read_queue") == 2
