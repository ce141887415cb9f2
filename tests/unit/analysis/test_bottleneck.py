from typing import Any

from brimline.analysis.bottleneck import BottleneckKind, bottleneck
from brimline.analysis.observation import observe

from .records import S, interval_row, operation_row, run_record


def server_rows(*, server_cpus: float, host_cpus: float, shared: int = 0) -> list[dict[str, Any]]:
    return [
        {"at_ns": at * S, "server_cpu_ns": int(at * server_cpus * S), "server_cpu_count": 2}
        | {"host_busy_ns": int(at * host_cpus * S), "host_cpu_count": 2, "shared_host": shared}
        for at in (1, 11)
    ]


HELD_BACK = [operation_row(second, held_back=100) for second in range(1, 11)]


def test_server_cpu() -> None:
    observation = observe(run_record(server=server_rows(server_cpus=1.94, host_cpus=1.98)))
    found = bottleneck(observation)
    assert (found.kind, found.text) == (BottleneckKind.SERVER_CPU, "server CPU 97 %")
    assert "server CPU 97 % of 2 CPUs" in found.evidence


def test_a_shared_host_is_full_though_the_server_alone_is_not() -> None:
    observation = observe(run_record(server=server_rows(server_cpus=1.6, host_cpus=1.96, shared=1)))
    found = bottleneck(observation)
    assert found.kind is BottleneckKind.SERVER_CPU
    assert found.text == "CPU 98 % of a host shared with the generator (server 80 %, generator 10 %)"


def test_a_full_host_with_another_consumer_is_not_the_servers() -> None:
    observation = observe(run_record(server=server_rows(server_cpus=0.5, host_cpus=1.96, shared=1)))
    assert bottleneck(observation).kind is BottleneckKind.UNDETERMINED


def test_the_generator_is_asked_first() -> None:
    rows = [interval_row(second, busiest_thread_cpu_ns=S) for second in range(1, 11)]
    observation = observe(run_record(intervals=rows, server=server_rows(server_cpus=2.0, host_cpus=2.0)))
    found = bottleneck(observation)
    assert found.kind is BottleneckKind.GENERATOR and "busiest engine thread 100 %" in found.text


def test_the_null_ceiling_counts_when_it_is_known_later() -> None:
    assert bottleneck(observe(run_record()), null_ceiling_ops_per_s=1500).kind is BottleneckKind.GENERATOR


def test_connections() -> None:
    observation = observe(run_record(operations=HELD_BACK, server=server_rows(server_cpus=0.4, host_cpus=0.5)))
    found = bottleneck(observation)
    assert found.kind is BottleneckKind.CONNECTIONS and "10 % of the operations waited for one of 8" in found.text
    # More connections than the plateau needs can't be the limit.
    assert bottleneck(observation, plateau_connections=8).kind is BottleneckKind.UNDETERMINED
    assert bottleneck(observation, plateau_connections=9).kind is BottleneckKind.CONNECTIONS


def test_undetermined_says_what_was_looked_at() -> None:
    found = bottleneck(observe(run_record()))
    assert found.kind is BottleneckKind.UNDETERMINED
    assert "server CPU unknown" in found.evidence
