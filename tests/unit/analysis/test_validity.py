from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.objective import ErrorObjective, LatencyObjective, Slo
from brimline.analysis.observation import observe
from brimline.analysis.verdict import judge
from brimline.plan import Plan, WireTarget, resolve
from brimline.record.model import RunRecord
from brimline.spec import load_spec

from .records import MS, Buckets, FixedHistogram, S, interval_row, operation_row, run_record, summary


def finding(record: RunRecord, name: str, **known: Any) -> Finding:
    return next(each for each in observe(record, **known).findings if each.name == name)


def around(queries: int) -> dict[str, dict[str, int]]:
    """The server's counters before and after a run in which it counted `queries`."""
    before = dict.fromkeys(("insert", "query", "update", "delete", "getmore", "command", "uptime_ms"), 7)
    return {"before": before, "after": {**before, "query": 7 + queries, "command": 900, "uptime_ms": 9_000}}


def test_a_sound_run_passes_every_check_it_can() -> None:
    findings = observe(run_record(opcounters=around(10_000)), null_ceiling_ops_per_s=100_000).findings
    names = ["ended", "conservation", "opcounters", "generator_cpu", "generator_lag"]
    assert [each.name for each in findings] == [*names, "sent", "errors", "misses", "samples", "steady_state"]
    assert {each.verdict for each in findings[:-1]} == {Standing.PASS}
    assert findings[-1].verdict is Standing.UNKNOWN  # ten seconds are too short to tell
    assert all(each.evidence and "\n" not in each.evidence for each in findings)


def test_connections_that_were_down_are_told() -> None:
    """Those of the warm-up and of the drain are not."""
    intervals = [
        interval_row(0, phase="warmup", connections_up=1),
        *(interval_row(second, connections_up=6 if second in (4, 5, 6) else 8) for second in range(1, 11)),
        interval_row(11, phase="drain", connections_up=0),
    ]
    found = finding(run_record(intervals=intervals), "connections")
    assert found.verdict is Standing.WARN
    assert found.evidence.startswith("6 of 8 connections were up at the fewest")
    assert found.evidence.endswith("intervals of 3.00 s in all")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"due": 10_001}, "due 10001 is not sent 10000 + overdue 0"),
        ({"ok": 9_999}, "sent 10000 is not the 9999 that ended or are unfinished"),
    ],
)
def test_lost_operations(changes: dict[str, int], text: str) -> None:
    lost = finding(run_record(summary=summary(**changes)), "conservation")
    assert lost.verdict is Standing.FAIL and text in lost.evidence


@pytest.mark.parametrize(
    ("log", "verdict", "text"),
    [
        ({"written": 3000, "lost": 0, "error": None}, Standing.PASS, "all 3 000 operations are in the log"),
        ({"written": 2000, "lost": 1000, "error": None}, Standing.WARN, "too slow for the log of operations: it has"),
        ({"written": 2000, "lost": 1000, "error": "disk full"}, Standing.WARN, "any more (disk full): it has 2 000"),
    ],
)
def test_what_a_log_of_operations_lost_is_told(log: dict[str, Any], verdict: Standing, text: str) -> None:
    found = finding(run_record(summary=summary(operation_log=log)), "operation_log")
    assert found.verdict is verdict
    assert text in found.evidence
    names = [each.name for each in observe(run_record()).findings]
    assert "operation_log" not in names, "nobody asked for one"


def test_replies_without_a_time_of_arrival_are_told() -> None:
    looks = {"rests": 3, "rested_ns": 600_000, "unstamped": 1_200}
    found = finding(run_record(summary=summary(looks=looks)), "arrival_times")
    assert found.verdict is Standing.WARN
    assert "gave 1 200 replies no time of arrival" in found.evidence
    few = summary(looks=looks | {"unstamped": summary()["sent"] // 1000})
    for stamped in (summary(), few):
        names = [each.name for each in observe(run_record(summary=stamped)).findings]
        assert "arrival_times" not in names


def test_imbalances_of_the_sealing_count() -> None:
    assert finding(run_record(imbalances=("read: off by 1",)), "conservation").verdict is Standing.FAIL


@pytest.mark.parametrize(
    ("counted", "uncertain", "verdict"),
    [
        (10_000, 0, Standing.PASS),
        (10_010, 0, Standing.PASS),  # a monitoring tool looks in now and then
        (10_011, 0, Standing.FAIL),  # another client is at work, or we count wrongly
        (9_999, 0, Standing.FAIL),
        (10_003, 3, Standing.PASS),  # three answers were lost, the server may have counted them
        (10_014, 3, Standing.FAIL),
    ],
)
def test_opcounters(counted: int, uncertain: int, verdict: Standing) -> None:
    record = run_record(opcounters=around(counted), summary=summary(commands_uncertain={"query": uncertain}))
    assert finding(record, "opcounters").verdict is verdict


def _node(number: int, lost: str | None) -> dict[str, Any]:
    of_run = {"elapsed_ns": S, "late_ns": 0, "clock": {}, "sent": 0, "failed": 0}
    return {"node": number, "host": "there", "lost": lost, **of_run}


@pytest.mark.parametrize("others", [None, "gone"])
def test_what_a_lost_node_sent_is_no_other_clients_work(others: str | None) -> None:
    """It has told no commands. That the server counted fewer than the others had acknowledged is wrong all the same."""
    nodes = [_node(0, others), _node(1, "gone")]
    sent = 0 if others else 10_000
    totals = summary(commands={"query": sent} if sent else {}, nodes=nodes)
    found = finding(run_record(opcounters=around(sent + 9_000), summary=totals), "opcounters")
    names = ", ".join(f"{node['node']} (there)" for node in nodes if node["lost"])
    said = f"what was sent is not known in full: lost: {names}"
    assert (found.verdict, found.evidence, found.another_client) == (Standing.UNKNOWN, said, False)
    if sent:
        fewer = finding(run_record(opcounters=around(9_999), summary=totals), "opcounters")
        assert (fewer.verdict, fewer.another_client) == (Standing.FAIL, False)
        assert "1 fewer than the 10000 it acknowledged" in fewer.evidence


def of_shards(*sent_and_counted: tuple[int, int], uncertain: int = 0) -> RunRecord:
    """Client-routed shards, each with the finds that were sent to it and those that it counted."""
    sent, counted = (sum(each) for each in zip(*sent_and_counted, strict=True))
    shards = [{"commands": {"query": sent}, "commands_uncertain": {"query": uncertain}} for sent, _ in sent_and_counted]
    alone = [{"address": f"h:{number}", **around(count)} for number, (_, count) in enumerate(sent_and_counted, 1)]
    return run_record(
        summary=summary(commands={"query": sent}, commands_uncertain={"query": 2 * uncertain}, shards=shards),
        opcounters={**around(counted), "shards": alone},
    )


def test_each_shard_must_have_counted_what_was_sent_to_it() -> None:
    held = finding(of_shards((6_000, 6_000), (4_000, 4_000)), "opcounters")
    assert held.verdict is Standing.PASS
    assert held.evidence.endswith("; each of the 2 shards counted what was sent to it")
    swapped = finding(of_shards((6_000, 5_900), (4_000, 4_100)), "opcounters")
    assert swapped.verdict is Standing.FAIL, "their sum agrees"
    assert swapped.evidence == (
        "shard 1 (h:1): query 5900 counted, 6000 sent and answered; "
        "shard 2 (h:2): query 4100 counted, 4000 sent and answered; "
        "all of them together counted what was sent: it went to another shard than it was for"
    )
    assert not swapped.another_client
    lost = finding(of_shards((6_000, 5_999), (4_000, 4_008)), "opcounters")
    assert lost.verdict is Standing.FAIL and "another shard" not in lost.evidence, "what one lacks no other has"
    assert finding(of_shards((6_000, 5_999), (4_000, 4_001)), "opcounters").verdict is Standing.FAIL, "a single one"


def test_a_shard_that_others_use_or_that_did_less_is_named() -> None:
    others = finding(of_shards((6_000, 6_000), (4_000, 4_100)), "opcounters")
    assert others.verdict is Standing.FAIL
    assert others.another_client
    assert others.evidence == ("shard 2 (h:2): query 4100 counted, 4000 sent and answered: another client was at work")
    fewer = finding(of_shards((6_000, 6_000), (4_000, 3_990)), "opcounters")
    assert fewer.evidence == "shard 2 (h:2): query 3990 counted, 4000 sent and answered"
    assert finding(of_shards((6_000, 6_005), (4_000, 4_005), uncertain=5), "opcounters").verdict is Standing.PASS


def test_a_record_without_counts_of_each_shard_is_held_against_their_sum() -> None:
    record = of_shards((6_000, 5_900), (4_000, 4_100))
    assert record.summary is not None
    without = {name: value for name, value in record.summary.items() if name != "shards"}
    held = finding(replace(record, summary=without), "opcounters")  # type: ignore[arg-type]
    assert held.verdict is Standing.PASS
    assert "each of the" not in held.evidence


def test_a_full_engine_thread_is_a_limit() -> None:
    def verdict(share: float) -> Standing:
        rows = [interval_row(second, busiest_thread_cpu_ns=int(share * S)) for second in range(1, 11)]
        return finding(run_record(intervals=rows), "generator_cpu").verdict

    assert verdict(0.89) is Standing.PASS
    assert verdict(0.91) is Standing.FAIL


@pytest.mark.parametrize(("ceiling", "verdicts"), [(None, []), (5_000_000, []), (2000, []), (1999, [Standing.FAIL])])
def test_headroom_over_the_null_target_is_no_proof_of_room(ceiling: float | None, verdicts: list[Standing]) -> None:
    """The null target has no sockets and is far above any server: only that it is too near says something."""
    findings = observe(run_record(), null_ceiling_ops_per_s=ceiling).findings
    assert [each.verdict for each in findings if each.name == "generator_headroom"] == verdicts


def late_record(
    lag_ns: int, *, late: int = 10_000, response_p99_ns: int = 4 * MS, held_back: int = 0, **changes: Any
) -> RunRecord:
    """10 000 operations, of which `late` were sent `lag_ns` late and `held_back` in each of ten seconds waited."""
    latencies = {
        "service": [(MS, 10_000)],
        "response": [(MS, 9_000), (response_p99_ns, 1_000)],
        "lag": [(1_000, 10_000 - late), (lag_ns, late)] if late < 10_000 else [(lag_ns, late)],
    }
    rows = [operation_row(second, held_back=held_back) for second in range(1, 11)]
    return run_record(latencies=latencies, operations=rows, **changes)


def test_lag_is_held_against_the_stated_p99() -> None:
    def found(lag_ns: int) -> Finding:
        return finding(late_record(lag_ns, response_p99_ns=20 * MS), "generator_lag")

    assert found(2 * MS - 1_000).verdict is Standing.PASS
    assert found(2 * MS).verdict is Standing.WARN
    assert found(10 * MS).verdict is Standing.FAIL
    assert found(2 * MS).evidence == (
        "the generator sent late: lag p99 2.00 ms, at most 10 % of the response p99 of 20.0 ms"
    )


@pytest.mark.parametrize(
    ("count", "late", "standing", "evidence"),
    [
        (40, 0, Standing.PASS, "lag p99 ≥ 1.00 µs, at most 0.1 % of the response p99 of ≥ 1.00 ms"),
        (40, 1, Standing.WARN, "1 of 40 operations were sent late, too few to tell: lag p99 ≥ 1.00 µs"),
        (40, 2, Standing.WARN, "largest lag 67.0 ms"),
        (40, 5, Standing.FAIL, "the generator sent late: lag p99 ≥ 67.0 ms"),
        (2_000, 40, Standing.FAIL, "the generator sent late: lag p99 ≥ 67.0 ms"),
    ],
)
def test_one_late_operation_of_a_few_is_no_proof(count: int, late: int, standing: Standing, evidence: str) -> None:
    latencies: dict[str, Buckets] = {"service": [(MS, count)], "response": [(MS, count - late), (68 * MS, late)]}
    latencies |= {"lag": [(1_000, count - late), (67 * MS, late)]}
    latencies = {clock: [each for each in buckets if each[1]] for clock, buckets in latencies.items()}
    found = finding(run_record(latencies=latencies), "generator_lag")
    assert found.verdict is standing
    assert evidence in found.evidence


def test_lag_of_full_connections_is_not_the_generators() -> None:
    held_back = finding(late_record(2 * MS, late=200, held_back=20), "generator_lag")
    assert held_back.verdict is Standing.PASS and "2 % of the operations waited" in held_back.evidence
    overloaded = finding(late_record(2 * MS, late=6_000, held_back=550), "generator_lag")
    assert overloaded.verdict is Standing.PASS


def test_what_waited_excuses_no_lag_but_its_own() -> None:
    """5 % waited for a connection, for 2 ms each; 3 % went out 3 s late, which waits of others don't explain."""
    waits = {("read", "held_back_lag"): FixedHistogram([(2 * MS, 500)])}
    lags = {
        "service": [(MS, 10_000)],
        "response": [(MS, 9_200), (3 * MS, 500), (3_001 * MS, 300)],
        "lag": [(1_000, 9_200), (2 * MS, 500), (3_000 * MS, 300)],
    }
    rows = [operation_row(second, held_back=50) for second in range(1, 11)]
    late = finding(run_record(latencies=lags, operations=rows, breakdown=waits), "generator_lag")
    assert late.verdict is Standing.FAIL


def test_a_generator_a_little_late_while_connections_were_full_changes_nothing() -> None:
    """Stalls held 2 % back for 200 ms; the generator itself sent 6 % 2 ms late, which did not make the p99 200 ms."""
    waits = {("read", "held_back_lag"): FixedHistogram([(200 * MS, 200)])}
    lags = {
        "service": [(MS, 10_000)],
        "response": [(MS, 9_200), (3 * MS, 600), (201 * MS, 200)],
        "lag": [(1_000, 9_200), (2 * MS, 600), (200 * MS, 200)],
    }
    rows = [operation_row(second, held_back=20) for second in range(1, 11)]
    assert (
        finding(run_record(latencies=lags, operations=rows, breakdown=waits), "generator_lag").verdict is Standing.PASS
    )


def test_a_stop_of_the_generator_is_not_excused_by_what_waited_after_it() -> None:
    """Stopped for 5 % of the time, after which 2 % of the operations met full connections."""
    lags = {"service": [(MS, 10_000)], "response": [(MS, 9_500), (3_001 * MS, 500)]}
    lags |= {"lag": [(1_000, 9_500), (3_000 * MS, 500)]}
    rows = [operation_row(second, held_back=20) for second in range(1, 11)]
    stopped = finding(run_record(latencies=lags, operations=rows), "generator_lag")
    assert stopped.verdict is Standing.FAIL
    assert "the generator sent late" in stopped.evidence


def test_lag_on_a_host_that_the_server_fills() -> None:
    def server_rows(server_cpus: float) -> list[dict[str, int]]:
        return [
            {"at_ns": at * S, "server_cpu_ns": int(at * server_cpus * S), "host_busy_ns": int(at * 1.9 * S)}
            | {"host_cpu_count": 2, "shared_host": 1}
            for at in (1, 11)
        ]

    assert finding(late_record(2 * MS, server=server_rows(1.5)), "generator_lag").verdict is Standing.WARN
    assert finding(late_record(2 * MS, server=server_rows(0.5)), "generator_lag").verdict is Standing.FAIL


def test_misses_above_one_percent_are_suspect() -> None:
    def verdict(misses: int) -> Standing:
        rows = [operation_row(second, ok=1000 - misses, miss=misses) for second in range(1, 11)]
        return finding(run_record(operations=rows), "misses").verdict

    assert verdict(10) is Standing.PASS
    assert verdict(11) is Standing.WARN


def test_errors_name_the_most_frequent() -> None:
    rows = [operation_row(second, ok=990, failed=10) for second in range(1, 11)]
    kinds = [
        {"operation": "read", "outcome": "timeout", "code": 0, "label": "", "count": 1, "example": ""},
        {
            "operation": "read",
            "outcome": "server_error",
            "code": 11600,
            "label": "InterruptedAtShutdown",
            "count": 99,
        }
        | {"example": ""},
    ]
    errors = finding(run_record(operations=rows, summary=summary(errors=kinds)), "errors")
    assert errors.verdict is Standing.WARN
    assert errors.evidence == "1 % of the operations failed; most often InterruptedAtShutdown (11600)"


def test_an_error_that_nobody_can_explain_is_told_in_the_servers_words() -> None:
    rows = [operation_row(second, ok=990, failed=10) for second in range(1, 11)]
    said = {"code": 500, "label": "500 Internal Server Error", "example": "clock moved backwards\n" + "x" * 300}
    kind = {"operation": "read", "outcome": "server_error", "count": 100} | said
    errors = finding(run_record(operations=rows, summary=summary(errors=[kind])), "errors")
    head = "1 % of the operations failed; most often 500 Internal Server Error (500): clock moved backwards�xx"
    assert errors.evidence.startswith(head)
    assert errors.evidence.endswith("xx…") and len(errors.evidence) < 250
    seen = observe(run_record(operations=rows, summary=summary(errors=[kind])))
    limits = (LatencyObjective(quantile=0.5, limit_ns=S),)
    (missed,) = judge(seen, Slo(latencies=limits, errors=(ErrorObjective(share_max=0.001),))).reasons
    assert missed.startswith("1 % of the operations failed, 0.1 % are allowed; most often 500 Internal Server Error")


@pytest.mark.parametrize(
    ("ok", "miss", "failed", "verdict"),
    [(0, 0, 10, Standing.FAIL), (0, 0, 1, Standing.FAIL), (1, 0, 99, Standing.WARN), (0, 1, 99, Standing.WARN)],
)
def test_a_kind_of_operations_that_never_succeeded_has_no_figure(
    ok: int, miss: int, failed: int, verdict: Standing
) -> None:
    """However few they are among the others; its code says what it most likely comes from."""
    rows = [operation_row(second, ok=990, failed=10) for second in range(1, 11)]
    none: dict[str, int] = {"ok": 0, "miss": 0, "failed": 0, "unfinished": 0, "sent": 0}
    operations = {
        "read": {**none, "sent": 9_900, "ok": 9_900},
        "insert": {"sent": ok + miss + failed, "ok": ok, "miss": miss, "failed": failed, "unfinished": 0},
        "scan": {**none, "sent": 5, "unfinished": 5},
        "update": none,
    }
    kinds = [
        {"operation": "insert", "outcome": "write_error", "code": code, "label": label, "count": count, "example": ""}
        for code, label, count in ((11000, "DuplicateKey", max(failed - 1, 1)), (0, "", 1))
    ]
    found = finding(run_record(operations=rows, summary=summary(errors=kinds, operations=operations)), "errors")
    assert found.verdict is verdict
    told = f"none of {failed} insert operations succeeded: most often DuplicateKey (11000): such documents are there"
    assert found.evidence.startswith(told) == (verdict is Standing.FAIL)


def test_several_kinds_that_never_succeeded_are_each_told() -> None:
    """With the server's word where nobody knows why, and without any where no error was kept."""
    rows = [operation_row(second, ok=0, failed=10) for second in range(1, 11)]
    failed = {"sent": 50, "ok": 0, "miss": 0, "failed": 50, "unfinished": 0}
    kinds = [{"operation": "read", "outcome": "timeout", "code": 0, "label": "", "count": 50, "example": ""}]
    record = run_record(operations=rows, summary=summary(errors=kinds, operations={"read": failed, "scan": failed}))
    assert finding(record, "errors").evidence == (
        "none of 50 read operations succeeded: most often timeout; none of 50 scan operations succeeded"
    )


def test_few_samples_make_the_p99_a_bound() -> None:
    few = finding(run_record(latencies={"service": [(MS, 100)], "response": [(MS, 100)]}), "samples")
    assert few.verdict is Standing.WARN and "only 1 operation lies" in few.evidence


@pytest.mark.parametrize(
    ("ended_by", "verdict"),
    [
        ("stopped", Standing.WARN),
        ("interrupt", Standing.WARN),
        ("target_lost", Standing.FAIL),
        ("killed", Standing.FAIL),
        ("running", Standing.FAIL),
    ],
)
def test_a_run_that_ended_early(ended_by: str, verdict: Standing) -> None:
    assert finding(run_record(ended_by=ended_by, message="gone"), "ended").verdict is verdict


def test_the_null_target_is_no_server() -> None:
    names = {each.name for each in observe(run_record(target="null", rate=None)).findings}
    assert names == {"ended", "conservation", "errors", "misses", "samples"}


@pytest.mark.parametrize(
    ("held_back", "reason"), [(500, "all 8 places for operations in flight were taken"), (0, "the generator was late")]
)
def test_what_never_went_out_is_told_with_its_reason(held_back: int, reason: str) -> None:
    totals = summary(due=200_000, sent=179_960, overdue=20_040, ok=179_960, oldest_overdue_ns=S)
    operations = [operation_row(second, sent=1000, held_back=held_back) for second in range(1, 11)]
    unsent = finding(run_record(summary=totals, operations=operations), "sent")
    assert unsent.verdict is Standing.WARN
    assert unsent.evidence.startswith(
        "planned 200 000, sent 179 960: 20 040 (10 % of the whole run, its warm-up of 2.00 s included) never went out, "
        "the oldest was due 1.00 s"
    )
    assert unsent.evidence.endswith(reason)


@pytest.mark.parametrize(
    ("target", "held_back", "standing", "reason"),
    [
        ("wire", 1000, Standing.WARN, "all 8 places for operations in flight were taken"),
        ("wire", 400, Standing.FAIL, "the generator was late"),
        ("null", 1000, Standing.FAIL, "the generator was late"),
    ],
)
def test_a_backlog_that_takes_the_whole_window_is_the_servers_or_the_generators(
    target: str, held_back: int, standing: Standing, reason: str
) -> None:
    """What is sent in the window was due before it; whether it had waited for a place tells who was behind."""
    totals = summary(due=200_000, sent=10_000, overdue=190_000, oldest_overdue_ns=10 * S)
    operations = [operation_row(second, phase="warmup", held_back=held_back) for second in range(1, 11)]
    record = run_record(target=target, summary=totals, operations=operations, latencies={})
    samples = finding(record, "samples")
    assert samples.verdict is standing
    assert samples.evidence == (
        "nothing that was due in the measured window was answered: the 1 000 ops/s answered in it were due before"
    )
    assert finding(record, "sent").evidence.endswith(reason)


@pytest.mark.parametrize("gone", [{"connections_up": 0}, {"in_flight": 8}])
def test_a_window_in_which_nothing_was_answered_proves_nothing(gone: dict[str, int]) -> None:
    totals = summary(due=200_000, sent=10_000, overdue=190_000, oldest_overdue_ns=10 * S)
    intervals = [interval_row(second, **gone) for second in range(1, 11)]
    operations = [operation_row(0, phase="warmup")]
    record = run_record(summary=totals, intervals=intervals, operations=operations, latencies={})
    samples = finding(record, "samples")
    assert (samples.verdict, samples.evidence) == (Standing.FAIL, "no operation finished in the measured window")


def test_one_place_is_told_as_one() -> None:
    totals = summary(due=200_000, sent=179_960, overdue=20_040, ok=179_960, oldest_overdue_ns=S)
    operations = [operation_row(second, sent=1000, held_back=500) for second in range(1, 11)]
    record = run_record(summary=totals, operations=operations)
    narrow = replace(record, plan=record.plan.model_copy(update={"in_flight_max": 1}))
    assert finding(narrow, "sent").evidence.endswith("; the one place for an operation in flight was taken")


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        ({"connections_up": 0, "in_flight": 0}, "; no connection to the server was up for 3.50 s"),
        ({"connections_up": 1, "in_flight": 1}, "; the generator was late"),
        ({"connections_up": 8, "in_flight": 8}, "; all 8 places for operations in flight were taken"),
    ],
)
def test_what_waited_to_the_end_is_told_by_the_samples_of_that_time(samples: dict[str, int], reason: str) -> None:
    """A server that dies or stops at 7.5 s of 11 holds nothing back that is sent later, because nothing is."""
    intervals = [interval_row(second, **(samples if second >= 7 else {})) for second in range(1, 11)]
    totals = summary(due=10_000, sent=6_500, overdue=3_500, ok=6_500, oldest_overdue_ns=3_500 * MS)
    unsent = finding(run_record(summary=totals, intervals=intervals), "sent")
    assert unsent.evidence.endswith(f"the oldest was due 3.50 s before the end{reason}")


def test_a_server_that_was_gone_for_less_than_half_of_the_wait_is_not_the_reason() -> None:
    intervals = [interval_row(second, connections_up=0 if second == 10 else 8) for second in range(1, 11)]
    totals = summary(due=10_000, sent=6_500, overdue=3_500, ok=6_500, oldest_overdue_ns=3_500 * MS)
    assert finding(run_record(summary=totals, intervals=intervals), "sent").evidence.endswith("the generator was late")


@pytest.mark.parametrize(
    ("ended_by", "reason"),
    [
        ("completed", "before its workers had performed their loops"),
        ("target_lost", "no connection to the server was left"),
    ],
)
def test_loops_that_no_worker_came_to_are_told(ended_by: str, reason: str) -> None:
    load: Mapping[str, object] = {"kind": "tlr", "threads": 5000, "loops": 40, "ramp_up": "10s"}
    spec = load_spec("ycsb-c", overrides={"load": load}).spec
    plan = resolve(spec, target=WireTarget(address="h:1", write_concern=None))
    totals = summary(due=200_000, sent=179_960, overdue=20_040, ok=179_960)
    unsent = finding(run_record(rate=None, summary=totals, plan=plan, ended_by=ended_by), "sent")
    assert unsent.verdict is Standing.WARN
    assert unsent.evidence.startswith("planned 200 000, sent 179 960: 20 040 (10 %) never went out")
    assert unsent.evidence.endswith(reason)


def test_a_closed_loop_has_nothing_left_to_send() -> None:
    assert not [each for each in observe(run_record(rate=None)).findings if each.name == "sent"]


def bounded(**bounds: object) -> Plan:
    spec = load_spec("ycsb-c", overrides={"load": "closed", **bounds}).spec
    return resolve(spec, target=WireTarget(address="h:1", write_concern=None))


def test_a_closed_loop_that_its_time_ended_before_its_count_says_so() -> None:
    both = bounded(operation_count=200_000, duration="10s")
    cut_short = run_record(rate=None, plan=both, summary=summary(due=179_960, sent=179_960, ok=179_960))
    told = finding(cut_short, "sent")
    assert told.verdict is Standing.PASS, "nothing is wrong with it"
    assert told.evidence == (
        "planned 200 000 operations or 10s of measuring, whichever comes first: the time was over after 179 960"
    )
    repeated = replace(cut_short, summary=summary(due=200_005, sent=200_005, ok=200_005, attempted_again=50))
    assert finding(repeated, "sent").evidence.startswith("planned 200 050"), "45 of the 200 000 were not begun"


@pytest.mark.parametrize(
    ("bounds", "sent", "ended_by"),
    [
        ({"operation_count": 10_000, "duration": "10s"}, 10_000, "completed"),
        ({"operation_count": 10_000}, 9_000, "completed"),
        ({"duration": "10s"}, 9_000, "completed"),
        ({"operation_count": 10_000, "duration": "10s"}, 9_000, "interrupt"),
        ({"operation_count": 10_000, "duration": "10s"}, 9_000, "target_lost"),
    ],
    ids=["the count came first", "no time", "no count", "interrupted", "server lost"],
)
def test_where_the_time_did_not_end_it_nothing_is_said(bounds: dict[str, object], sent: int, ended_by: str) -> None:
    totals = summary(due=sent, sent=sent, ok=sent)
    record = run_record(rate=None, plan=bounded(**bounds), summary=totals, ended_by=ended_by)
    assert not [each for each in observe(record).findings if each.name == "sent"]


def test_outages_are_told_and_a_run_without_one_says_nothing() -> None:
    first = {"from_ns": 2 * S, "to_ns": 4 * S, "failed": 3, "retried": 8, "primary": "b:1"}
    second = {"from_ns": 9 * S, "to_ns": None, "failed": 4, "retried": 0, "primary": None}
    assert not [each for each in observe(run_record(summary=summary(outages=[]))).findings if each.name == "outages"]
    one = finding(run_record(summary=summary(outages=[first])), "outages")
    assert one.verdict is Standing.WARN
    assert one.evidence == (
        "nothing was answered for 2.00 s from 2.00 s on: 3 operations failed meanwhile, 8 commands were sent once more"
    )
    more = summary(outages=[first], operations={"read": {"retried": 16}})
    assert finding(run_record(summary=more), "outages").evidence.endswith(
        "8 commands were sent once more, of 16 in the whole run"
    ), "the table of what became of operations says 16"
    both = finding(run_record(summary=summary(outages=[first, second], elapsed_ns=12 * S)), "outages")
    assert "in 2 outages of 5.00 s together, the longest 3.00 s from 9.00 s on: 7 operations failed" in both.evidence
