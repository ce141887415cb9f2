"""Each candidate by itself, on runs in which everything about it is known."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from brimline.analysis.bottleneck import BottleneckKind, Evidence, Fullness, at_its_limit, bottleneck
from brimline.analysis.observation import observe
from brimline.analysis.server_use import COMMANDS
from brimline.plan.model import WriteConcern
from brimline.record.model import RunRecord

from .records import MS, S, at_work, operation_row, run_record, summary

FULL, NEAR, NOT, UNKNOWN = Fullness.FULL, Fullness.NEAR, Fullness.NOT, Fullness.UNKNOWN
WORK = {"query": 500.0, "insert": 0.0, "update": 500.0, "delete": 0.0, "getmore": 0.0}
CACHE = {"cache_bytes_max": 1e9, "cache_bytes_used": 8e8, "cache_bytes_dirty": 2e7}


def candidate(kind: BottleneckKind, record: RunRecord) -> Evidence:
    (found,) = [each for each in bottleneck(observe(record)).candidates if each.kind is kind]
    return found


def writing(record: RunRecord, *, write_concern: WriteConcern | None, **server: Any) -> RunRecord:
    """The same run as a mix with updates under a write concern."""
    plan = record.plan
    shares = plan.work.proportions | {"read": 0.5, "update": 0.5}  # type: ignore[union-attr]
    changed = plan.model_copy(
        update={
            "work": plan.work.model_copy(update={"proportions": shares}),
            "target": plan.target.model_copy(update={"write_concern": write_concern}),
        }
    )
    return replace(record, plan=changed, environment={"server": server})


def test_without_a_monitor_nothing_of_the_server_is_known() -> None:
    found = bottleneck(observe(run_record(rate=None)))
    standings = {each.kind: each.standing for each in found.candidates}
    assert standings.pop(BottleneckKind.GENERATOR) is NOT
    assert standings.pop(BottleneckKind.OUTAGE) is NOT
    assert standings.pop(BottleneckKind.CONNECTIONS) is NEAR
    assert standings.pop(BottleneckKind.REPLICATION) is NOT, "a workload of reads waits for no member"
    assert set(standings.values()) == {UNKNOWN}
    assert len(found.candidates) == len(BottleneckKind) - 1, "every candidate has a line"


@pytest.mark.parametrize(("scanned", "standing"), [(500, NOT), (5000, NEAR), (49_000, NEAR), (50_000, FULL)])
def test_query_plan(scanned: float, standing: Fullness) -> None:
    counters = {"documents_scanned": scanned, "documents_returned": 400.0, "update": 100.0, "delete": 0.0}
    assert candidate(BottleneckKind.QUERY_PLAN, at_work(counters=counters)).standing is standing


@pytest.mark.parametrize(("conflicts", "standing"), [(1.0, NOT), (25.0, NEAR), (125.0, FULL)])
def test_hot_document(conflicts: float, standing: Fullness) -> None:
    found = candidate(BottleneckKind.LOCK, at_work(counters={**WORK, "write_conflicts": conflicts}))
    assert found.standing is standing
    if standing is FULL:
        assert found.verdict == "a lock or hot document (0.250 write conflicts per write)"


@pytest.mark.parametrize(("waiting", "standing"), [(1.9, NOT), (2.0, NEAR), (4.0, FULL)])
def test_lock_waits_are_compared_with_the_operations_in_flight(waiting: float, standing: Fullness) -> None:
    found = candidate(BottleneckKind.LOCK, at_work(connections=8, counters={"lock_wait_us": waiting * 1e6}))
    assert found.standing is standing
    if standing is FULL:
        assert found.verdict == "a lock or hot document (50 % of the operations in flight waited for a lock)"


@pytest.mark.parametrize(
    ("read_bytes", "fill", "standing"),
    [(3000.0, 0.8, NOT), (4000.0, 0.8, NEAR), (17_000.0, 0.8, FULL), (17_000.0, 0.4, NOT)],
    ids=["few misses", "some misses", "many misses", "many misses in a cold cache"],
)
def test_cache_misses(read_bytes: float, fill: float, standing: Fullness) -> None:
    counters = {**WORK, "cache_bytes_read": read_bytes * 1000}
    gauges = {**CACHE, "cache_bytes_used": fill * 1e9}
    assert candidate(BottleneckKind.CACHE, at_work(counters=counters, gauges=gauges)).standing is standing


@pytest.mark.parametrize(("evicted", "standing"), [(5.0, NOT), (20.0, NEAR), (100.0, FULL)])
def test_clients_that_must_evict(evicted: float, standing: Fullness) -> None:
    record = at_work(counters={**WORK, "cache_pages_evicted_by_application": evicted}, gauges=CACHE)
    assert candidate(BottleneckKind.CACHE, record).standing is standing


@pytest.mark.parametrize(("dirty", "standing"), [(0.05, NOT), (0.12, NEAR), (0.2, FULL)])
def test_dirty_cache(dirty: float, standing: Fullness) -> None:
    record = at_work(gauges={**CACHE, "cache_bytes_dirty": dirty * 1e9})
    assert candidate(BottleneckKind.CACHE, record).standing is standing


SYNCING = {"journal_syncs": 2500.0, "journal_sync_time_us": 600_000.0}
JOURNALED = WriteConcern(w=1, journal=True)


@pytest.mark.parametrize(
    ("concern", "server", "standing", "words"),
    [
        (JOURNALED, {}, FULL, "awaited by writes"),
        (WriteConcern(w="majority", journal=None), {}, FULL, "awaited by writes"),
        (WriteConcern(w=1, journal=None), {}, NEAR, "awaited by no write"),
        (None, {}, FULL, "perhaps awaited by writes"),
        (None, {"default_write_concern": {"w": 1}}, NEAR, "awaited by no write"),
        (None, {"default_write_concern": {"w": "majority", "wtimeout": 0}}, FULL, "awaited by writes"),
    ],
)
def test_journal_is_a_limit_only_for_those_who_wait_for_it(
    concern: WriteConcern | None, server: dict[str, Any], standing: Fullness, words: str
) -> None:
    found = candidate(BottleneckKind.JOURNAL, writing(at_work(counters=SYNCING), write_concern=concern, **server))
    assert found.standing is standing
    assert found.text == f"journal being synced 60 % of the time, 2 500 syncs/s of 240 µs, {words}"


def test_a_journal_that_is_synced_as_usual() -> None:
    usual = {"journal_syncs": 10.0, "journal_sync_time_us": 20_000.0}
    record = writing(at_work(counters=usual), write_concern=JOURNALED)
    assert candidate(BottleneckKind.JOURNAL, record).standing is NOT


MAJORITY = WriteConcern(w="majority", journal=None)


@pytest.mark.parametrize(("waiting_ms", "standing"), [(100.0, NOT), (2000.0, NEAR), (6000.0, FULL)])
def test_replication_by_the_time_that_writes_waited(waiting_ms: float, standing: Fullness) -> None:
    record = at_work(connections=8, counters={"write_concern_wait_ms": waiting_ms})
    found = candidate(BottleneckKind.REPLICATION, writing(record, write_concern=MAJORITY, kind="replica-set member"))
    assert found.standing is standing


@pytest.mark.parametrize(("lag_ms", "standing"), [(0, NOT), (6000, NEAR), (10_000, FULL)])
def test_replication_by_lag(lag_ms: float, standing: Fullness) -> None:
    record = at_work(gauges={"replication_lag_majority_ms": lag_ms})
    found = candidate(BottleneckKind.REPLICATION, writing(record, write_concern=None, kind="replica-set member"))
    assert found.standing is standing


def test_nobody_replicates_from_a_server_that_stands_alone() -> None:
    found = candidate(BottleneckKind.REPLICATION, writing(at_work(), write_concern=MAJORITY, kind="standalone"))
    assert (found.standing, found.text) == (NOT, "no write waited for another member")


@pytest.mark.parametrize(("busy_ms", "standing"), [(300.0, NOT), (750.0, NEAR), (950.0, FULL)])
def test_disk(busy_ms: float, standing: Fullness) -> None:
    record = at_work(counters={"disk_busy_ms": busy_ms}, gauges={"checkpoint_running": 1})
    found = candidate(BottleneckKind.DISK, record)
    assert found.standing is standing
    assert found.text.endswith("of the time; a checkpoint ran 100 % of the time")


@pytest.mark.parametrize(
    ("out", "queue", "standing"),
    [(64, 0, NOT), (100, 0, NEAR), (128, 0.5, NEAR), (128, 40, FULL), (64, 40, NOT)],
)
def test_tickets(out: float, queue: float, standing: Fullness) -> None:
    gauges = {"read_tickets_out": 3, "read_tickets_total": 128, "read_queue": 0}
    gauges |= {"write_tickets_out": out, "write_tickets_total": 128, "write_queue": queue}
    found = candidate(BottleneckKind.TICKETS, at_work(gauges=gauges))
    assert found.standing is standing
    if standing is FULL:
        assert found.verdict == "tickets (100 % of the write tickets in use, 40.0 operations waiting for one)"


def _far(
    service_ms: int,
    inside_us: float,
    *,
    quickest_ms: int | None = None,
    round_trip_ms: float = 0,
    more: Mapping[str, float] | None = None,
    **changes: Any,
) -> RunRecord:
    """A closed loop whose operations take so long, the quickest maybe less, the server's own part of it known."""
    quickest = service_ms if quickest_ms is None else quickest_ms
    return at_work(
        counters={
            "reads_ops": 1000.0,
            "reads_latency_us": 1000 * inside_us,
            "writes_ops": 0.0,
            "writes_latency_us": 0.0,
            **(more or {}),
        },
        gauges={"round_trip_ns": round_trip_ms * MS} if round_trip_ms else {},
        latencies={"service": [(quickest * MS, 1), (service_ms * MS, 9999)]},
        **changes,
    )


@pytest.mark.parametrize(
    ("record", "standing"),
    [
        (_far(20, 100), FULL),
        (_far(20, 12_000), NEAR),
        (_far(20, 19_000), NOT),
        (_far(20, 100, quickest_ms=1), NOT),
        (_far(20, 100, round_trip_ms=2), NOT),
        (_far(20, 100, round_trip_ms=22), FULL),
        (_far(1, 100), NOT),
    ],
    ids=["far away", "half inside", "inside", "a queue before it", "near for the monitor", "far for both", "near"],
)
def test_network(record: RunRecord, standing: Fullness) -> None:
    assert candidate(BottleneckKind.NETWORK, record).standing is standing


def test_writes_that_wait_for_other_members_do_not_hide_the_way() -> None:
    """Reads that need 12 ms, 10 of them on the way, among writes that are in the server for 40 ms."""
    counters = dict.fromkeys(COMMANDS, 0.0) | {"query": 500.0, "update": 500.0}
    counters |= {"reads_ops": 500.0, "reads_latency_us": 500 * 500.0}
    counters |= {"writes_ops": 500.0, "writes_latency_us": 500 * 40_000.0}
    latencies = {"service": [(11 * MS, 5000), (12 * MS, 5000)]}
    found = candidate(BottleneckKind.NETWORK, at_work(counters=counters, latencies=latencies))
    assert found.standing is FULL
    assert "the quickest operation took 10.5 ms more than the server" in found.text


def test_network_names_its_round_trip() -> None:
    found = candidate(BottleneckKind.NETWORK, _far(20, 100))
    assert found.verdict == "the network (a round trip of 19.9 ms, 99.5 % of the service time)"


def _queue(connections: int, inside_us: float, *, more: Mapping[str, float] | None = None, **changes: Any) -> RunRecord:
    """A closed loop at 1000 ops/s: operations take 1 ms per connection, some hardly any time, so much in the server."""
    counters = dict.fromkeys((*COMMANDS, "writes_ops", "writes_latency_us"), 0.0)
    counters |= {"query": 1000.0, "reads_ops": 1000.0, "reads_latency_us": 1000 * inside_us, **(more or {})}
    latencies = {"service": [(MS // 10, 1), (connections * MS, 9999)]}
    return at_work(connections=connections, counters=counters, latencies=latencies, **changes)


@pytest.mark.parametrize(
    ("record", "standing"),
    [
        (_queue(8, 100), FULL),
        (_queue(8, 5_000), NEAR),
        (_queue(8, 7_500), NOT),
        (_queue(1, 100), NOT),
        (_queue(8, 100, server_cpus=1.5), NOT),
        (_queue(8, 100, server_cpus=1.9), NOT),
    ],
    ids=["on the way", "half inside", "inside", "short", "a server with hardly room", "a full server"],
)
def test_what_waits_on_the_way(record: RunRecord, standing: Fullness) -> None:
    """A line that carries no more makes operations wait on it, while some are as quick as ever."""
    found = candidate(BottleneckKind.NETWORK, record)
    assert found.standing is standing
    if standing is FULL:
        assert "98.8 % of what was in flight was between generator and server" in found.verdict


LOCAL = {"server": {"same_host": True}}
BY_A_LINE = {"server": {"same_host": True, "lab": {"network": {"delay_ns": 10 * MS}}}}


@pytest.mark.parametrize(
    "make", [lambda **changes: _far(20, 100, **changes), lambda **changes: _queue(8, 100, **changes)]
)
def test_beside_the_server_the_network_is_never_the_limit(make: Callable[..., RunRecord]) -> None:
    """What waits outside there waits for a processor, unseen; that the server had room is not known either."""
    for environment in ({}, BY_A_LINE):
        assert bottleneck(observe(make(environment=environment))).kind is BottleneckKind.NETWORK
    found = bottleneck(observe(make(environment=LOCAL)))
    assert found.kind is BottleneckKind.UNDETERMINED
    standings = {each.kind: each.standing for each in found.candidates}
    assert (standings[BottleneckKind.NETWORK], standings[BottleneckKind.CONNECTIONS]) == (NOT, NEAR)
    full = {"host_busy_ns": 1.96 * S, "server_cpu_ns": 0.01 * S}
    crowded = make(environment=LOCAL, more=full)
    assert bottleneck(observe(crowded)).kind is BottleneckKind.HOST


def test_quick_operations_beside_the_server_are_limited_by_connections() -> None:
    assert bottleneck(observe(_far(1, 100, environment=LOCAL))).kind is BottleneckKind.CONNECTIONS


@pytest.mark.parametrize(("bytes_per_s", "standing"), [(50e6, NOT), (100e6, NEAR), (120e6, FULL)])
def test_a_link_of_a_gigabit(bytes_per_s: float, standing: Fullness) -> None:
    facts = {"monitor": {"host": {"interfaces_bits_per_s": {"eth0": 1_000_000_000}}}}
    rates = {"host_network_bytes_in": 1e6, "host_network_bytes_out": bytes_per_s}
    found = candidate(BottleneckKind.NETWORK, at_work(counters=rates, server_facts=facts))
    assert found.standing is standing
    if standing is FULL:
        assert found.verdict == "the network (a link used to 96 %)"


@pytest.mark.parametrize(("bytes_per_s", "standing"), [(50e6, NOT), (125e6, UNKNOWN), (180e6, NEAR), (240e6, FULL)])
def test_one_full_link_of_two_is_not_said_to_have_room(bytes_per_s: float, standing: Fullness) -> None:
    """Rows hold the sum over both: 125 MB/s are half of it, or all of one."""
    facts = {"monitor": {"host": {"interfaces_bits_per_s": {"eth0": 1_000_000_000, "eth1": 1_000_000_000}}}}
    found = candidate(
        BottleneckKind.NETWORK, at_work(counters={"host_network_bytes_out": bytes_per_s}, server_facts=facts)
    )
    assert found.standing is standing
    assert "of all interfaces together" in found.text
    if standing is FULL:
        assert found.verdict == "the network (all interfaces together used to 96 %)"


def test_a_link_of_unknown_speed_is_not_judged() -> None:
    facts = {"monitor": {"host": {"interfaces_bits_per_s": {"eth0": 1_000_000_000, "tun0": None}}}}
    rates = {"host_network_bytes_in": 1e9, "host_network_bytes_out": 1e9}
    record = at_work(counters=rates, server_facts=facts)
    assert candidate(BottleneckKind.NETWORK, record).standing is UNKNOWN


@pytest.mark.parametrize(
    ("record", "standing"),
    [
        (at_work(server_cpus=0.5), FULL),
        (at_work(server_cpus=1.5), NEAR),
        (at_work(server_cpus=0.5, server=()), NEAR),
        (at_work(server_cpus=0.5, counters={"disk_busy_ms": 800.0}), NEAR),
        (at_work(server_cpus=0.5, operations=[operation_row(each) for each in range(1, 11)]), FULL),
    ],
    ids=["room", "hardly room", "unknown", "another wait", "replies that wait for the generator"],
)
def test_connections_of_a_closed_loop(record: RunRecord, standing: Fullness) -> None:
    assert candidate(BottleneckKind.CONNECTIONS, record).standing is standing


def test_connections_whose_workers_think_are_idle() -> None:
    idle = observe(at_work(server_cpus=0.5, operations=[operation_row(each) for each in range(1, 11)]))
    found = {each.kind: each for each in bottleneck(replace(idle, back_to_back=False)).candidates}
    assert found[BottleneckKind.CONNECTIONS].standing is NOT


def test_connections_that_a_sweep_showed_to_be_enough() -> None:
    observation = observe(at_work(server_cpus=0.5, connections=8))
    assert bottleneck(observation).kind is BottleneckKind.CONNECTIONS
    assert bottleneck(observation, plateau_connections=8).kind is BottleneckKind.UNDETERMINED
    assert bottleneck(observation, plateau_connections=16).kind is BottleneckKind.CONNECTIONS


def test_places_that_kept_everything_unsent_are_a_limit_although_nothing_was_seen_to_wait() -> None:
    """What was answered in the window was due before it; of what was due in it nothing went out."""
    totals = summary(due=80_000, sent=10_000, overdue=70_000, oldest_overdue_ns=10 * S)
    waiting = [operation_row(second, phase="warmup", held_back=1000) for second in range(1, 11)]
    observation = observe(run_record(summary=totals, operations=waiting, latencies={}))
    assert observation.held_back_share is None
    found = candidate(BottleneckKind.CONNECTIONS, run_record(summary=totals, operations=waiting, latencies={}))
    assert (found.standing, found.verdict) == (
        FULL,
        "connections (all 8 places for operations in flight were taken)",
    )


# Several at once


MISSING = {**WORK, "cache_bytes_read": 4e7}


def test_a_cache_that_misses_explains_a_full_cpu_and_a_full_disk() -> None:
    record = at_work(server_cpus=1.95, counters={**MISSING, "disk_busy_ms": 990.0}, gauges=CACHE)
    found = bottleneck(observe(record))
    assert found.kind is BottleneckKind.CACHE
    assert [each.kind for each in found.candidates if each.full] == [
        BottleneckKind.CACHE,
        BottleneckKind.SERVER_CPU,
        BottleneckKind.DISK,
    ]


def test_a_cache_that_misses_is_no_limit_while_one_connection_leaves_the_server_idle() -> None:
    record = at_work(server_cpus=0.5, connections=1, counters=MISSING, gauges=CACHE)
    assert bottleneck(observe(record)).kind is BottleneckKind.CONNECTIONS


def test_a_scan_explains_a_full_cpu() -> None:
    scans = {"documents_scanned": 1e6, "documents_returned": 1000.0, "update": 0.0, "delete": 0.0}
    assert bottleneck(observe(at_work(server_cpus=1.95, counters=scans))).kind is BottleneckKind.QUERY_PLAN


def test_a_queue_for_tickets_behind_a_full_cpu_is_an_effect() -> None:
    tickets = {"read_tickets_out": 128, "read_tickets_total": 128, "read_queue": 72}
    assert bottleneck(observe(at_work(server_cpus=1.95, gauges=tickets))).kind is BottleneckKind.SERVER_CPU
    assert bottleneck(observe(at_work(server_cpus=0.95, gauges=tickets))).kind is BottleneckKind.TICKETS


def test_a_journal_on_a_full_disk_is_named_and_the_disk_kept_as_evidence() -> None:
    record = writing(at_work(counters={**SYNCING, "disk_busy_ms": 980.0}), write_concern=JOURNALED)
    found = bottleneck(observe(record))
    assert found.kind is BottleneckKind.JOURNAL
    assert any("disk busy 98 % of the time" in line for line in found.evidence)


# Whether anything had to be full


def test_a_closed_loop_without_think_time_always_asked_for_more_another_while_its_connections_were_busy() -> None:
    busy, idle = observe(at_work()), observe(at_work(operations=[operation_row(each) for each in range(1, 11)]))
    assert at_its_limit(busy) and at_its_limit(idle)
    assert at_its_limit(replace(busy, back_to_back=False))
    assert not at_its_limit(replace(idle, back_to_back=False))
    half = replace(busy, mean_in_flight=busy.in_flight_max / 2, back_to_back=False)
    assert not at_its_limit(half)
    assert at_its_limit(replace(half, in_flight_max=busy.in_flight_max // 2)), "no more may be in flight"


def test_an_open_loop_is_at_its_limit_when_it_got_less_than_it_asked_for() -> None:
    assert not at_its_limit(observe(run_record()))
    assert at_its_limit(observe(run_record(summary=summary(due=10_900, overdue=900))))
    held_back = [operation_row(second, held_back=100) for second in range(1, 11)]
    assert at_its_limit(observe(run_record(operations=held_back)))


@pytest.mark.parametrize(("misses", "standing"), [(50.0, NOT), (200.0, NEAR), (500.0, FULL)])
def test_pages_that_are_not_in_the_buffer_pool(misses: float, standing: Fullness) -> None:
    counters = {**WORK, "buffer_misses": misses, "buffer_requests": 10_000.0}
    found = candidate(BottleneckKind.CACHE, at_work(counters=counters))
    assert found.standing is standing
    if standing is FULL:
        assert found.verdict == "the cache (0.500 pages per statement not in the buffer pool, 5 % of those asked for)"


def test_where_no_statements_are_counted_transactions_are() -> None:
    counters = {"transactions_committed": 900.0, "transactions_aborted": 100.0, "buffer_misses": 500.0}
    found = candidate(BottleneckKind.CACHE, at_work(counters={**counters, "buffer_requests": 10_000.0}))
    assert found.standing is FULL


@pytest.mark.parametrize(("waiting", "standing"), [(1.0, NOT), (2.0, NEAR), (4.0, FULL)])
def test_sessions_that_wait_for_the_log(waiting: float, standing: Fullness) -> None:
    record = at_work(connections=8, gauges={"log_waiters": waiting}, counters={"fsyncs": 120.0})
    found = candidate(BottleneckKind.JOURNAL, record)
    assert found.standing is standing
    if standing is FULL:
        assert found.text == "50 % of the operations in flight waited for the log; 120 fsyncs/s"
        assert found.verdict == "the log (50 % of the operations in flight waited for it)"


def test_fsyncs_alone_are_told_and_judge_nothing() -> None:
    found = candidate(BottleneckKind.JOURNAL, at_work(counters={"fsyncs": 120.0}))
    assert (found.standing, found.text) == (UNKNOWN, "120 fsyncs/s, how long they took isn't known")


@pytest.mark.parametrize(("waiting", "standing"), [(1.0, NOT), (2.0, NEAR), (4.0, FULL)])
def test_sessions_that_wait_for_a_lock_at_each_look(waiting: float, standing: Fullness) -> None:
    found = candidate(BottleneckKind.LOCK, at_work(connections=8, gauges={"lock_waiters": waiting}))
    assert found.standing is standing
