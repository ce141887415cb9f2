from typing import Any, cast

import pytest

from brimline.analysis.observation import observe
from brimline.record.time_histogram import IntervalHistogram

from .records import MS, FixedHistogram, S, interval_row, operation_row, run_record, summary


def test_figures_of_the_measured_window_only() -> None:
    observation = observe(run_record())
    assert observation.measured_s == 10
    assert observation.throughput_ops_per_s == 1000
    assert observation.offered_ops_per_s == 1000
    assert observation.completed_share == 1
    assert observation.mean_in_flight == 1
    assert observation.client_cpu_ns_per_op == 100_000
    assert observation.generator.busiest_thread_share == pytest.approx(0.1)
    assert observation.valid


def test_a_driver_in_a_process_of_its_own_counts_with_its_cpu_and_its_sockets() -> None:
    """Its workers are no connections, and the engine's threads the lesser part of what it took."""
    rows = [interval_row(second, connections_up=80, process_cpu_ns=S // 2) for second in range(1, 11)]
    engine = observe(run_record(intervals=rows))
    assert (engine.client_cpu_ns_per_op, engine.usage.client_connections) == (100_000, 80)
    runners = [{"client": "go", "workers": 80, "connections_created": 32, "connections_closed": 0}]
    driver = observe(run_record(intervals=rows, summary=summary(runners=runners)))
    assert (driver.client_cpu_ns_per_op, driver.usage.client_connections) == (500_000, 32)
    assert driver.usage.traffic[None].received_bytes_per_s is None, "it shows no bytes of documents"
    assert driver.usage.traffic[None].sent_bytes_per_s == engine.usage.traffic[None].sent_bytes_per_s
    silent = observe(run_record(intervals=rows, summary=summary(runners=[{"client": "go", "workers": 80}])))
    assert silent.usage.client_connections is None


def test_a_thread_has_no_more_than_one_cpu() -> None:
    rows = [interval_row(second, busiest_thread_cpu_ns=round(1.04 * S)) for second in range(1, 11)]
    assert observe(run_record(intervals=rows)).generator.busiest_thread_share == 1.0


def test_throughput_counts_answers_without_failure() -> None:
    rows = [operation_row(second, ok=700, miss=200, failed=100) for second in range(1, 11)]
    observation = observe(run_record(operations=rows))
    assert observation.throughput_ops_per_s == 900
    assert observation.completed_share == 1
    assert (observation.error_rate, observation.miss_rate) == (0.1, 0.2)


def test_operations_are_merged() -> None:
    rows = [operation_row(second, operation=kind) for second in range(1, 11) for kind in ("read", "update")]
    histograms = {
        ("read", "service"): FixedHistogram([(MS, 60)]),
        ("update", "service"): FixedHistogram([(MS, 30), (9 * MS, 10)]),
    }
    observation = observe(run_record(rate=None, operations=rows, histograms=cast(Any, histograms)))
    assert observation.throughput_ops_per_s == 2000
    assert observation.service is not None
    assert (observation.service.count, observation.service.p50_ns, observation.service.p95_ns) == (
        100,
        MS,
        9 * MS,
    )
    assert observation.service.mean_ns == pytest.approx(1.8 * MS)


def test_a_closed_loop_has_no_response_time() -> None:
    observation = observe(run_record(rate=None))
    assert observation.closed_loop
    assert observation.response is None and observation.lag is None
    assert observation.completed_share is None and observation.backlog_growth is None


def test_backlog_growth_counts_what_is_not_done() -> None:
    rows = [interval_row(second, backlog=50 * second, in_flight=8) for second in range(1, 11)]
    observation = observe(run_record(intervals=rows))
    assert observation.backlog_growth is not None
    assert observation.backlog_growth.value == pytest.approx(50)


def test_p99_interval_uses_the_batches_of_the_measured_window() -> None:
    def batch(second: int, phase: str, buckets: list[tuple[int, int]]) -> IntervalHistogram:
        return IntervalHistogram(
            phase=phase,
            start_ns=second * S,
            end_ns=(second + 1) * S,
            operation="read",
            clock="response",
            histogram=cast(Any, FixedHistogram(buckets)),
        )

    merged = [(MS, 19_760), (50 * MS, 240)]
    batches = [batch(0, "warmup", [(900 * MS, 10_000)])]
    batches += [batch(second, "measure", [(MS, 1000)]) for second in range(1, 20)]
    batches += [batch(20, "measure", [(MS, 760), (50 * MS, 240)])]
    record = run_record(latencies={"service": merged, "response": merged, "lag": [(1000, 20_000)]}, batches=batches)
    response = observe(record).response
    assert response is not None and response.p99.value_ns == 50 * MS
    assert (response.p99.low_ns, response.p99.high_ns) == (MS, 50 * MS)


def test_server_cpu_between_the_monitors_rows_in_the_window() -> None:
    rows: list[dict[str, int]] = [
        {"at_ns": at * S, "server_cpu_ns": cpu * S // 10, "server_cpu_count": 2, "host_busy_ns": at * 2 * S}
        | {"host_cpu_count": 2, "shared_host": 1}
        for at, cpu in ((0, 0), (2, 20), (6, 92), (10, 164), (20, 170))
    ]
    server = observe(run_record(server=rows)).server
    assert server.server_cpus_used == pytest.approx(1.8)
    assert server.server_share == pytest.approx(0.9)
    assert server.host_share == pytest.approx(1.0)
    assert server.shared_host is True and server.server_is_main_consumer


def test_an_unseen_server_is_unknown_not_idle() -> None:
    server = observe(run_record(server=[{"at_ns": 2 * S, "server_cpu_ns": 5}])).server
    assert server.server_share is None and server.host_share is None


def test_an_empty_run() -> None:
    record = run_record(operations=[], intervals=[], latencies={}, summary=None, ended_by="killed")
    observation = observe(record)
    assert observation.throughput_ops_per_s == 0
    assert observation.service is None and observation.throughput is None
    assert not observation.valid


def test_overdue_comes_from_the_totals() -> None:
    assert observe(run_record(summary=summary(due=10_007, overdue=7))).overdue == 7
