from dataclasses import replace
from typing import Any

import pytest

from brimline.analysis.bottleneck import Bottleneck, BottleneckKind, bottleneck
from brimline.analysis.bottleneck.generator import generator
from brimline.analysis.finding import Standing
from brimline.analysis.host_use import other_programs_share
from brimline.analysis.observation import observe
from brimline.record.named_times import named_times_text
from brimline.units import format_percentage

from .records import S, interval_row, operation_row, run_record, summary


def server_rows(*, server_cpus: float, host_cpus: float, shared: int = 0) -> list[dict[str, Any]]:
    return [
        {"at_ns": at * S, "server_cpu_ns": int(at * server_cpus * S), "server_cpu_count": 2}
        | {"host_busy_ns": int(at * host_cpus * S), "host_cpu_count": 2, "shared_host": shared}
        for at in (1, 11)
    ]


def test_a_service_has_no_candidates_of_a_database() -> None:
    observation = observe(run_record(server=server_rows(server_cpus=1.94, host_cpus=1.98)))
    found = bottleneck(replace(observation, target="http"))
    assert (found.kind, found.text) == (BottleneckKind.SERVER_CPU, "server CPU 97 %")
    assert [each.kind.value for each in found.candidates] == [
        *("outage", "generator", "server_cpu", "host", "disk", "network", "connections")
    ]


@pytest.mark.parametrize(
    ("target", "has_tickets"), [("wire", True), ("runner", True), ("mysql", False), ("postgres", False)]
)
def test_only_mongodb_has_tickets(target: str, has_tickets: bool) -> None:
    found = bottleneck(replace(observe(run_record()), target=target))
    assert (BottleneckKind.TICKETS in [each.kind for each in found.candidates]) is has_tickets


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
    assert found.text == "CPU 98 % of a shared host (server 80 %, generator 10 %, others 8 %)"
    assert not any("other programs" in line for line in found.evidence)


@pytest.mark.parametrize(("server_cpus", "kind"), [(1.2, BottleneckKind.SERVER_CPU), (1.17, BottleneckKind.HOST)])
def test_other_programs_with_half_of_the_servers_cpu_are_what_the_host_is_busy_with(
    server_cpus: float, kind: BottleneckKind
) -> None:
    # The generator takes 0.2 CPUs, so that others have 0.58 or 0.61 of the 1.98.
    found = bottleneck(observe(run_record(server=server_rows(server_cpus=server_cpus, host_cpus=1.98, shared=1))))
    assert found.kind is kind
    others = "29 %" if kind is BottleneckKind.SERVER_CPU else "30.5 %"
    assert f"generator 10 %, others {others})" in found.text
    assert f"host CPU 99 % of 2 CPUs; other programs took {others} of the host" in found.evidence


def with_names(column: str, used_s: dict[str, float]) -> list[dict[str, Any]]:
    """Rows of a primary that uses 0.6 CPUs of a full host, and of what ran beside it: CPU seconds of ten by name."""
    rows = [row | {"server": "127.0.0.1:27017"} for row in server_rows(server_cpus=0.6, host_cpus=1.96, shared=1)]
    return [row | {column: named_times_text({name: int(used * S * part) for name, used in used_s.items()})}
            for row, part in zip(rows, (0, 1), strict=True)]  # fmt: skip


def test_the_members_of_the_measured_set_are_the_server_each_by_name() -> None:
    """They were "other programs", with which the host was busy, though it was the set itself that filled it."""
    used_s = {"mongod 127.0.0.1:27018": 4.4, "config server 127.0.0.1:27019": 4.0}
    observation = observe(run_record(server=with_names("members_cpu_ns_by_name", used_s)))
    found = bottleneck(observation)
    assert found.kind is BottleneckKind.SERVER_CPU
    assert found.text == (
        "CPU 98 % of a shared host (server 72 % (127.0.0.1:27017 30 %, mongod 127.0.0.1:27018 22 %, "
        "config server 127.0.0.1:27019 20 %), generator 10 %, others 16 %)"
    )
    assert other_programs_share(observation.server, observation.generator) == pytest.approx(0.16)


def test_the_three_busiest_of_the_other_programs_are_named() -> None:
    others = {"cc1plus": 5.0, "ld": 2.0, "dockerd": 1.0, "sshd": 0.5}
    found = bottleneck(observe(run_record(server=with_names("others_cpu_ns_by_name", others))))
    assert found.kind is BottleneckKind.HOST
    named = "58 % (cc1plus 25 %, ld 10 %, dockerd 5 %)"
    assert f"others {named}" in found.text
    assert any(f"other programs took {named} of the host" in each for each in found.evidence)


def test_a_full_host_with_another_consumer_is_not_the_servers() -> None:
    observation = observe(run_record(server=server_rows(server_cpus=0.5, host_cpus=1.96, shared=1)))
    found = bottleneck(observation)
    assert found.kind is BottleneckKind.HOST
    assert found.text == (
        "a host busy with other programs: CPU 98 % of a shared host (server 25 %, generator 10 %, others 63 %)"
    )


@pytest.mark.parametrize("server_cpus", [0.6, 0.1, 0.007])
def test_others_that_fill_the_host_are_the_limit_however_little_the_server_got(server_cpus: float) -> None:
    """A server that was let run for a hundredth of the time was taken for one that asks for no more."""
    observation = observe(run_record(server=server_rows(server_cpus=server_cpus, host_cpus=1.96, shared=1)))
    found = bottleneck(observation)
    assert found.kind is BottleneckKind.HOST
    assert found.text.startswith("a host busy with other programs: CPU 98 % of a shared host (server ")
    (check,) = [each for each in observation.findings if each.name == "host_quiet"]
    assert (check.verdict, check.evidence) == (Standing.WARN, observation.crowded)
    others = (1.96 - 0.2 - server_cpus) / 2
    assert observation.crowded == f"other programs took {format_percentage(others)} of a full host"


def test_a_generator_that_fills_the_host_is_no_other_program() -> None:
    """Of the 98 % it takes 75, so that 20.5 are of others: a quarter would be what disturbs."""
    rows = [interval_row(second, process_cpu_ns=3 * S // 2) for second in range(1, 11)]
    server = server_rows(server_cpus=0.05, host_cpus=1.96, shared=1)
    observation = observe(run_record(intervals=rows, server=server))
    assert bottleneck(observation).kind is BottleneckKind.UNDETERMINED and not observation.crowded


def test_a_host_with_room_is_quiet_whatever_others_do() -> None:
    observation = observe(run_record(server=server_rows(server_cpus=0.1, host_cpus=1.75, shared=1)))
    assert bottleneck(observation).kind is BottleneckKind.UNDETERMINED and not observation.crowded


def test_the_generator_on_a_host_of_its_own_takes_nothing_of_the_servers() -> None:
    observation = observe(run_record(server=server_rows(server_cpus=0.5, host_cpus=1.96, shared=0)))
    found = bottleneck(observation)
    assert found.text == "a host busy with other programs: CPU 98 % of the host (server 25 %, others 73 %)"
    unknown = observe(
        run_record(server=[row | {"shared_host": None} for row in server_rows(server_cpus=0.5, host_cpus=1.96)])
    )
    assert other_programs_share(unknown.server, unknown.generator) is None


def test_the_generator_is_asked_first() -> None:
    rows = [interval_row(second, busiest_thread_cpu_ns=S) for second in range(1, 11)]
    observation = observe(run_record(intervals=rows, server=server_rows(server_cpus=2.0, host_cpus=2.0)))
    found = bottleneck(observation)
    assert found.kind is BottleneckKind.GENERATOR and "busiest engine thread 100 %" in found.text


LATE = {clock: [(ns, 10_000)] for clock, ns in {"service": S // 1000, "response": S // 5, "lag": S // 6}.items()}


def test_a_generator_that_others_keep_from_its_processor_is_not_the_limit() -> None:
    """It was called the limit at 4 % of a CPU, beside programs that took 85 % of the host."""
    crowded = server_rows(server_cpus=0.1, host_cpus=1.96, shared=1)
    starved = observe(run_record(latencies=LATE, server=crowded))
    assert starved.findings and generator(starved).full
    assert bottleneck(starved).kind is BottleneckKind.HOST
    assert bottleneck(starved, null_ceiling_ops_per_s=1500).kind is BottleneckKind.GENERATOR
    busy = [interval_row(second, busiest_thread_cpu_ns=S * 8 // 10) for second in range(1, 11)]
    for own in (
        run_record(latencies=LATE, server=crowded, intervals=busy),
        run_record(latencies=LATE, server=server_rows(server_cpus=0.1, host_cpus=1.2, shared=1)),
        run_record(latencies=LATE, server=server_rows(server_cpus=0.1, host_cpus=1.96, shared=0)),
    ):
        assert bottleneck(observe(own)).kind is BottleneckKind.GENERATOR


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


@pytest.mark.parametrize("lag_ns", [10_000, S])
def test_a_server_that_was_gone_is_the_limit_and_no_late_generator(lag_ns: int) -> None:
    """It dies at 7.5 s of 11; what was late before, and full, did not keep back what was due after."""
    latencies = {clock: [(S // 1000, 6_500)] for clock in ("service", "response")} | {"lag": [(lag_ns, 6_500)]}
    totals = summary(due=10_000, sent=6_500, overdue=3_500, ok=6_500, oldest_overdue_ns=7 * S // 2)

    def found(connections_up: int) -> Bottleneck:
        rows = [interval_row(second, connections_up=connections_up if second >= 7 else 8) for second in range(1, 11)]
        return bottleneck(observe(run_record(summary=totals, intervals=rows, latencies=latencies)))

    gone = found(0)
    assert (gone.kind, gone.text) == (
        BottleneckKind.CONNECTIONS,
        "connections (none to the server was up for 3.50 s)",
    )
    assert "none to the server was up for 3.50 s, 1.0 operations in flight over 8 connections" in gone.evidence
    late = lag_ns == S
    assert found(1).kind is (BottleneckKind.GENERATOR if late else BottleneckKind.UNDETERMINED)
