"""Owns the question that is asked first: does the run prove anything? One function per check."""

from dataclasses import dataclass

from brimline.analysis.connections_down import connections_down
from brimline.analysis.cpu_use import GeneratorCpu, ServerCpu
from brimline.analysis.distribution import distribution, distribution_finding
from brimline.analysis.finding import Finding, Standing
from brimline.analysis.followed import following_findings
from brimline.analysis.gone_collections import gone_collections
from brimline.analysis.host_use import quiet_host
from brimline.analysis.kept_in_flight import kept_in_flight
from brimline.analysis.latency import Latency
from brimline.analysis.lateness import LAG_CHECK, Lateness, lag_finding
from brimline.analysis.loads import loads_beside, main_load
from brimline.analysis.monitor_cost import monitor_findings
from brimline.analysis.never_succeeded import most_often, never_succeeded
from brimline.analysis.nodes import blamed, lost_nodes, node_findings
from brimline.analysis.operation_names import shown
from brimline.analysis.outages import outages
from brimline.analysis.standstills import runner_standstills, standstill_findings
from brimline.analysis.steady import SteadyState
from brimline.analysis.unsent import (
    not_begun,
    server_gone_ns,
    waited_for_places,
    was_sent,
    why_unsent,
)
from brimline.analysis.unwatched import watching_findings
from brimline.analysis.watched_host import host_findings
from brimline.monitor import (
    Agreement,
    Opcounters,
    agreement_by_shard,
    agreement_of,
    brought_by_rows,
    check_agreement,
    of_shard,
    own_counts,
)
from brimline.monitor.own_work import Brought
from brimline.monitor.sql import SqlCounters, check_sql_agreement
from brimline.plan import Plan, RunnerTarget, SqlTarget, WireTarget
from brimline.plan.model import LoadWork, MixWork, OperationsWork
from brimline.plan.requests import HttpRequest
from brimline.record.layout import RUNNING
from brimline.record.model import Opcounters as CountersAround
from brimline.record.model import RunRecord, ShardOpcounters, Summary
from brimline.spec.own.http_replies import ANY_STATUS
from brimline.spec.own.protocols import steps_of_target
from brimline.stats.quantile_interval import TAIL_COUNT_MIN
from brimline.units import duration_text, format_count, format_duration, format_percentage, format_rate
from brimline.wording import Verbatim, joined, message

GENERATOR_CPU_SHARE_MAX = 0.90
"""Share of wall time from which the busiest engine thread counts as full."""
HEADROOM_MIN = 2.0
"""How much faster the null target must be than what was measured."""
UNSTAMPED_SHARE_MAX = 0.001
"""Share of replies without a time of arrival, above which a p99 may be of the generator's looks."""
MISS_RATE_MAX = 0.01
"""Share of operations without their document, above which keys and data don't belong together."""
MISS_RATE_VALID_MAX = 0.10
"""Share of operations without their document, above which the run measured something else than the workload."""
_RAN_DRY = "ran_dry"
"""How a run ended whose operations take rows of a table that has no more of them."""
GENERATOR_CHECKS = frozenset(
    {"generator_cpu", "generator_headroom", LAG_CHECK, "kept_in_flight", "standstills", "runner_standstills"}
)
"""Names of the findings which say that the generator was the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """What the checks look at, besides the record."""

    throughput_ops_per_s: float
    mean_in_flight: float
    held_back_share: float | None  # None: nothing that was due in the window was sent
    lateness: Lateness | None  # None in a closed loop, and where nothing was recorded of it
    response_in_time: bool  # whether an objective's limits on response times are met
    error_rate: float
    miss_rate: float
    service: Latency | None
    response: Latency | None
    lag: Latency | None
    generator: GeneratorCpu
    server: ServerCpu
    steady: SteadyState | None


def validity(record: RunRecord, figures: RunFigures, *, null_ceiling_ops_per_s: float | None) -> tuple[Finding, ...]:
    """Every check of one run, the most serious first. A run against the null target is its own ceiling."""
    findings = [ended(record), *unaltered(record), conservation(record), *logged(record.summary)]
    findings += [*stood_still(record), *node_findings(record)]
    if record.plan.target.kind != "null":
        findings += [
            opcounters(record),
            *quiet_host(figures.server, figures.generator),
            blamed(record, generator_cpu_finding(figures.generator), lambda node: node.busiest_thread_share),
            *generator_headroom(figures.throughput_ops_per_s, null_ceiling_ops_per_s),
            *kept_in_flight(record, figures.mean_in_flight),
            *monitor_findings(record),
            *watching_findings(record),
            *host_findings(record),
            *arrivals(record.summary),
        ]
        if not record.closed_loop:
            findings.append(blamed(record, generator_lag(figures), lambda node: node.lag_p99_ns))
    findings += _sent(record, figures.held_back_share)
    findings += [*outages(record), *connections_down(record)]
    findings += following_findings(record.server)
    findings.append(errors(record.summary, figures.error_rate))
    findings += redirects(record)
    if steps_of_target(record.plan.target.kind).has_records:  # a reply of a service is one or fails
        findings.append(misses(record.plan, figures.miss_rate))
    findings += [*contents(record), *gone_collections(record)]
    if isinstance(record.plan.work, LoadWork) and record.complete:
        shards = distribution(record.server_facts)
        findings += distribution_finding(shards, documents=record.plan.data.record_count)
    findings.append(
        _only_older(record, figures) or samples(figures.service if record.closed_loop else figures.response)
    )
    if figures.steady is not None:
        findings.append(figures.steady.finding)
    return tuple(findings)


def ended(record: RunRecord) -> Finding:
    """The run went to its planned end."""
    if record.ended_by == "completed":
        return Finding("ended", Standing.PASS, "the run went to its planned end")
    if record.ended_by == RUNNING:
        return Finding("ended", Standing.FAIL, "the run is still under way")
    if record.ended_by == _RAN_DRY:
        evidence = message(
            "the run ended early: the rows of {values} have come to their end, and at_end is error; give more rows, or "
            "at_end: again to take them once more, or stop to let the run end with them",
            values=joined(", ", [Verbatim(f"${name}") for name in _tables_that_end(record.plan)]),
        )
        return Finding("ended", Standing.FAIL, evidence)
    verdict = Standing.WARN if record.ended_by in ("stopped", "interrupt") else Standing.FAIL
    how = record.ended_by.replace("_", " ")
    if not record.message:
        return Finding("ended", verdict, message("the run ended early ({how})", how=how))
    return Finding("ended", verdict, message("the run ended early ({how}): {why}", how=how, why=record.message))


def _tables_that_end(plan: Plan) -> list[str]:
    """The values whose rows may not come to their end."""
    tables = plan.work.tables if isinstance(plan.work, OperationsWork) else ()
    return [table.name for table in tables if table.at_end == "error"]


def unaltered(record: RunRecord) -> list[Finding]:
    """The files are what was sealed; nothing to say when they are."""
    if not record.files_changed:
        return []
    evidence = message("changed since it was sealed: {files}", files=joined(", ", record.files_changed))
    return [Finding("unaltered", Standing.FAIL, evidence)]


def conservation(record: RunRecord) -> Finding:
    """Due = sent + overdue, sent = ok + miss + failed + unfinished, rows = totals."""
    summary = record.summary
    if summary is None:
        return Finding("conservation", Standing.UNKNOWN, "the run was not sealed, so its totals are missing")
    problems = list(record.imbalances)
    if summary["due"] != summary["sent"] + summary["overdue"]:
        problems.append(message("due {due} is not sent {sent} + overdue {overdue}", **_counts(summary)))
    accounted = summary["ok"] + summary["miss"] + summary["failed"] + summary["unfinished"]
    if summary["sent"] != accounted:
        problems.append(
            message("sent {sent} is not the {n} that ended or are unfinished", **_counts(summary), n=accounted)
        )
    if problems:
        evidence = message("operations got lost: {problems}", problems=joined("; ", dict.fromkeys(problems)))
        return Finding("conservation", Standing.FAIL, evidence)
    evidence = message("all {count} operations are accounted for", count=format_count(summary["due"]))
    return Finding("conservation", Standing.PASS, evidence)


def logged(summary: Summary | None) -> list[Finding]:
    """The log of operations has a row for each that finished; nothing to say where nobody asked for one."""
    log = summary.get("operation_log") if summary is not None else None
    if log is None:
        return []
    counts = {"written": format_count(log["written"]), "lost": format_count(log["lost"])}
    if log["error"]:
        evidence = message(
            "the log of operations could not be written any more ({why}): it has {written}, {lost} are lost",
            why=log["error"],
            **counts,
        )
        return [Finding("operation_log", Standing.WARN, evidence)]
    if log["lost"]:
        evidence = message(
            "the disk was too slow for the log of operations: it has {written}, {lost} are lost", **counts
        )
        return [Finding("operation_log", Standing.WARN, evidence)]
    return [Finding("operation_log", Standing.PASS, message("all {written} operations are in the log", **counts))]


def stood_still(record: RunRecord) -> list[Finding]:
    """The generator itself was let run; nothing to say when it always was."""
    measured = [row for row in record.intervals if row["phase"] == "measure"]
    if record.summary is None or not measured:
        return []
    begin_ns, end_ns = measured[0]["start_ns"], measured[-1]["end_ns"]
    own, of_runners = record.summary.get("standstills", []), runner_standstills(record.summary)
    return [
        *standstill_findings(own, begin_ns=begin_ns, end_ns=end_ns),
        *standstill_findings(of_runners, begin_ns=begin_ns, end_ns=end_ns, of_runner=True),
    ]


def arrivals(summary: Summary | None) -> list[Finding]:
    """The kernel said when replies arrived; nothing to say when it nearly always did: it may begin a moment late."""
    looks = summary.get("looks") if summary is not None else None
    if summary is None or looks is None or looks["unstamped"] <= UNSTAMPED_SHARE_MAX * summary["sent"]:
        return []
    evidence = message(
        "the kernel gave {count} replies no time of arrival: they are timed by when the generator read them, and seem "
        "slower where it was busy",
        count=format_count(looks["unstamped"]),
    )
    return [Finding("arrival_times", Standing.WARN, evidence)]


def _counts(summary: Summary) -> dict[str, int]:
    return {"due": summary["due"], "sent": summary["sent"], "overdue": summary["overdue"]}


def opcounters(record: RunRecord) -> Finding:
    """The server counted the same operations as we did."""
    if record.plan.target.kind == "http":
        return Finding("opcounters", Standing.UNKNOWN, "what a service counts only its own log knows")
    if record.opcounters is None or record.summary is None:
        return Finding("opcounters", Standing.UNKNOWN, "the server's opcounters were not read")
    if isinstance(record.plan.target, SqlTarget):
        before, after = (
            SqlCounters.from_dict(each) for each in (record.opcounters["before"], record.opcounters["after"])
        )
        return _agreed(record.summary, check_sql_agreement(record.plan, record.summary, before=before, after=after))
    brought = brought_by_rows(record.operations, record.steps)
    together = _agreement(record, record.opcounters, record.summary, brought)
    counted, sent = record.opcounters.get("shards"), record.summary.get("shards")
    if counted is None or sent is None:
        return _agreed(record.summary, together)
    shards: dict[str, Agreement] = {
        message("shard {number} ({address})", number=number, address=Verbatim(shard["address"])): _agreement(
            record, shard, *of_shard(record.plan, record.summary, of_it)
        )
        for number, (shard, of_it) in enumerate(zip(counted, sent, strict=True), start=1)
    }
    return _agreed(record.summary, agreement_by_shard(together, shards))


def _agreement(
    record: RunRecord, counted: CountersAround | ShardOpcounters, summary: Summary, brought: Brought
) -> Agreement:
    """Of all servers together, or of one that takes a part of the records."""
    return check_agreement(
        before=Opcounters(**counted["before"]),
        after=Opcounters(**counted["after"]),
        acknowledged=summary["commands"],
        uncertain=summary["commands_uncertain"],
        in_replica_set=_in_replica_set(record),
        has_numbered_writes=_has_numbered_writes(record.plan),
        secondaries=_secondaries(record),
        own=own_counts(record.plan, summary, brought),
        is_drained_elsewhere=isinstance(record.plan.target, RunnerTarget),
    )


def _agreed(summary: Summary, agreement: Agreement) -> Finding:
    """What a lost node sent is not known in full, so that the server may have counted more than is known of."""
    if (lost := lost_nodes(summary)) and agreement.verdict != "unknown":
        if fewer := [check for check in agreement.checks if check.deficit and not check.agrees]:
            agreement = agreement_of(fewer)
        else:
            agreement = Agreement(
                verdict="unknown", evidence=message("what was sent is not known in full: lost: {nodes}", nodes=lost)
            )
    verdict, evidence = Standing(agreement.verdict), agreement.evidence
    return Finding("opcounters", verdict, evidence, another_client=agreement.another_client)


def _has_numbered_writes(plan: Plan) -> bool:
    retries = isinstance(plan.target, WireTarget | RunnerTarget) and plan.target.retry_writes
    return retries or (isinstance(plan.work, MixWork) and plan.work.transaction is not None)


def _in_replica_set(record: RunRecord) -> bool:
    """Whether others read the server's oplog; client-routed shards may be sets as well."""
    server = record.environment.get("server") or {}
    return server.get("kind") == "replica-set member" or "members" in (server.get("lab") or {})


def _secondaries(record: RunRecord) -> int:
    """How many secondaries are counted: those that take reads, and all of a set that is followed."""
    target = record.plan.target
    if isinstance(target, RunnerTarget):
        return 0 if target.replica_set is None else len(target.addresses) - 1
    if not isinstance(target, WireTarget):
        return 0
    readers = () if target.reads is None else target.reads.addresses
    members = () if target.replica_set is None else target.replica_set.members
    return len({*readers, *members} - {target.address})


def generator_cpu_finding(generator: GeneratorCpu) -> Finding:
    """The busiest engine thread had time to spare."""
    full = generator.busiest_thread_share >= GENERATOR_CPU_SHARE_MAX
    evidence = message(
        "busiest engine thread {share} of a CPU", share=format_percentage(generator.busiest_thread_share)
    )
    return Finding("generator_cpu", Standing.FAIL if full else Standing.PASS, evidence)


def generator_headroom(throughput_ops_per_s: float, null_ceiling_ops_per_s: float | None) -> list[Finding]:
    """The generator encodes and records at least twice as much; nothing to say when it does.

    It does so without sockets, many times faster than it can send, so that this proves no room: CPU and lag judge that.
    """
    if not null_ceiling_ops_per_s or not throughput_ops_per_s:
        return []
    headroom = null_ceiling_ops_per_s / throughput_ops_per_s
    if headroom >= HEADROOM_MIN:
        return []
    evidence = message(
        "encode-and-record ceiling, without sockets, {ceiling}: {headroom:.1f} times what was measured",
        ceiling=format_rate(null_ceiling_ops_per_s),
        headroom=headroom,
    )
    return [Finding("generator_headroom", Standing.FAIL, evidence)]


def generator_lag(figures: RunFigures) -> Finding:
    """The generator sent when operations were due, or so nearly that the response p99 doesn't show it."""
    late, response, lag = figures.lateness, figures.response, figures.lag
    if late is None or response is None or lag is None:
        return Finding(LAG_CHECK, Standing.UNKNOWN, "no lag was recorded")
    return lag_finding(
        late, lag=lag, response=response, waited=figures.held_back_share or 0.0, in_time=figures.response_in_time
    )


def _sent(record: RunRecord, held_back_share: float | None) -> list[Finding]:
    """Everything planned was sent, of the workload's load and of those beside it that were not."""
    findings = sent_as_planned(main_load(record), held_back_share)
    for load in loads_beside(record):
        named = sent_as_planned(load, None)
        if load.summary is None or not named or named[0].verdict is Standing.PASS:
            continue
        of = joined(", ", [shown(name) for name in load.summary["operations"]])
        evidence = message("{operations}: {evidence}", operations=of, evidence=named[0].evidence)
        findings = [Finding("sent", Standing.WARN, joined("; ", [*(each.evidence for each in findings), evidence]))]
    return findings


def sent_as_planned(record: RunRecord, held_back_share: float | None) -> list[Finding]:
    """Everything planned was sent. A closed loop without loops sends what the server lets it; see `_time_was_over`."""
    summary = record.summary
    if summary is None:
        return []
    if record.plan.pacer.kind == "closed":
        return _time_was_over(record, summary)
    evidence = message(
        "planned {planned}, sent {sent}", planned=format_count(summary["due"]), sent=format_count(summary["sent"])
    )
    if was_sent(summary):
        return [Finding("sent", Standing.PASS, evidence)]
    evidence = message(
        "{evidence}: {count} ({share}) never went out, {why}",
        evidence=evidence,
        count=format_count(summary["overdue"]),
        share=_of_whole_run(record, format_percentage(summary["overdue"] / summary["due"])),
        why=why_unsent(record, summary, held_back_share),
    )
    return [Finding("sent", Standing.WARN, evidence)]


def _of_whole_run(record: RunRecord, share: str) -> str:
    """That a share is not of the measured window, as those beside it are."""
    if not record.plan.warmup_ns:
        return share
    warmup = format_duration(record.plan.warmup_ns)
    return message("{share} of the whole run, its warm-up of {warmup} included", share=share, warmup=warmup)


def _time_was_over(record: RunRecord, summary: Summary) -> list[Finding]:
    """Of a closed loop with two bounds: that it ended by its time. Nothing is wrong with that, so it is told only."""
    left, time_ns = not_begun(record), record.plan.duration_ns
    if not left or time_ns is None or record.ended_by != "completed":
        return []
    evidence = message(
        "planned {planned} operations or {time} of measuring, whichever comes first: the time was over after {sent}",
        planned=format_count(summary["due"] + left),
        time=duration_text(time_ns),
        sent=format_count(summary["sent"]),
    )
    return [Finding("sent", Standing.PASS, evidence)]


def errors(summary: Summary | None, error_rate: float) -> Finding:
    """No operation failed."""
    if not error_rate:
        return Finding("errors", Standing.PASS, "no operation failed")
    in_vain = list(never_succeeded(summary)) if summary else []
    if in_vain:
        return Finding("errors", Standing.FAIL, joined("; ", in_vain))
    failed = message("{share} of the operations failed", share=format_percentage(error_rate))
    kinds = most_often(summary["errors"]) if summary else []
    evidence = joined("; ", [failed, *([joined(": ", kinds)] if kinds else [])])
    return Finding("errors", Standing.FAIL if error_rate >= 1 else Standing.WARN, evidence)


def redirects(record: RunRecord) -> list[Finding]:
    """How many replies lead elsewhere and were not followed, where there are any.

    A warning where no status is expected: the operation went well then, and may have got a page to log in.
    """
    left = {
        operation: times.count()
        for (operation, clock), times in record.breakdown.items()
        if clock == "redirect_left" and times.count()
    }
    if not left:
        return []
    evidence = message("redirects that were not followed: {count}", count=format_count(sum(left.values())))
    if not any(_takes_any_status(record.plan, operation) for operation in left):
        return [Finding("redirects", Standing.PASS, evidence)]
    evidence = message(
        "{evidence}; follow_redirects follows them on the same host, and a status in expect makes the others failures",
        evidence=evidence,
    )
    return [Finding("redirects", Standing.WARN, evidence)]


def _takes_any_status(plan: Plan, operation: str) -> bool:
    """Whether a request of `operation` takes every status that is no error for what it asked for."""
    return isinstance(plan.work, OperationsWork) and any(
        isinstance(step.request, HttpRequest) and ANY_STATUS in step.request.status
        for each in plan.work.operations
        if each.name == operation
        for step in each.steps
    )


def misses(plan: Plan, miss_rate: float) -> Finding:
    """The operations found their documents.

    What an author's own operations look for need not be there: where it must, their steps expect it.
    """
    evidence = message("{share} of the operations found no document", share=format_percentage(miss_rate))
    if miss_rate <= MISS_RATE_MAX:
        return Finding("misses", Standing.PASS, evidence)
    if isinstance(plan.work, OperationsWork):
        evidence = message("{evidence}; a step that must find one says so with expect", evidence=evidence)
        return Finding("misses", Standing.WARN, evidence)
    standing = Standing.WARN if miss_rate <= MISS_RATE_VALID_MAX else Standing.FAIL
    evidence = message("{evidence}; do keys and loaded data belong together?", evidence=evidence)
    return Finding("misses", standing, evidence)


def contents(record: RunRecord) -> list[Finding]:
    """What reads by key brought is what was written; nothing to say where nobody looked."""
    work = record.plan.work
    if not isinstance(work, MixWork) or not work.verify_reads or record.summary is None:
        return []
    verified = record.summary.get("verified", {})
    different, absent = verified.get("different", 0), verified.get("absent", 0)
    evidence = message(
        "of {reads} reads by key {different} brought something else than was written, and {absent} nothing",
        reads=format_count(sum(verified.values())),
        different=format_count(different),
        absent=format_count(absent),
    )
    standing = Standing.FAIL if different else Standing.WARN if absent else Standing.PASS
    return [Finding("contents", standing, evidence)]


def _only_older(record: RunRecord, figures: RunFigures) -> Finding | None:
    """What an open loop shows whose backlog took the whole window: nothing due in it was answered, but older ones were.

    Where they waited for the server, that it doesn't keep up is what the run proves, and an objective is missed; where
    the generator was late, nothing is known of the server. None where it isn't so.
    """
    if record.closed_loop or record.summary is None or figures.response is not None or not figures.throughput_ops_per_s:
        return None
    evidence = message(
        "nothing that was due in the measured window was answered: the {rate} answered in it were due before",
        rate=format_rate(figures.throughput_ops_per_s),
    )
    main = main_load(record)
    assert main.summary is not None  # noqa: S101 - the whole has one
    by_server = waited_for_places(main, main.summary, figures.held_back_share) and not server_gone_ns(main)
    return Finding("samples", Standing.WARN if by_server else Standing.FAIL, evidence)


def samples(latency: Latency | None) -> Finding:
    """Enough operations lie above the p99 to print it as a figure."""
    if latency is None:
        return Finding("samples", Standing.FAIL, "no operation finished in the measured window")
    tail = format_count(round(latency.p99.count * 0.01))
    if latency.p99.enough:
        return Finding("samples", Standing.PASS, message("{tail} operations lie above the p99", tail=tail))
    if latency.p99.is_open:
        evidence = message(
            "{share} of the operations never completed, so that the p99 is a bound",
            share=format_percentage(latency.p99.never_share),
        )
        return Finding("samples", Standing.WARN, evidence)
    evidence = message(
        "only {tail} operations lie above the p99, {needed} are needed; it is a bound", tail=tail, needed=TAIL_COUNT_MIN
    )
    return Finding("samples", Standing.WARN, evidence)
