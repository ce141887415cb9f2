"""The server's counts of commands by name and of documents against what replies to the author's own steps said."""

from dataclasses import replace
from typing import Any

import pytest

from brimline.monitor import (
    Agreement,
    Opcounters,
    brought_by_rows,
    check_agreement,
    command_names,
    of_shard,
    own_counts,
)
from brimline.plan import Plan
from brimline.plan.operations import CollectionPlan, OperationsWork
from tests.support.own_work import SHOP, constant, own_plan, step
from tests.unit.record.own_samples import step_row
from tests.unit.record.samples import operation_row, plan, summary

PLAN = own_plan(SHOP)
TOLD = {
    "commands": {"query": 300, "insert": 100, "update": 100, "delete": 0, "getmore": 0, "command": 50},
    "command_names": {
        name: {"answered": count, "uncertain": 0}
        for name, count in (("find", 300), ("insert", 100), ("update", 100), ("aggregate", 50))
    },
    "document_counts": {
        "inserted": 100, "matched": 90, "modified": 80, "deleted": 0, "upserted": 0, "returned": 4000
    },
    "errors": [],
}  # fmt: skip
COMMANDS = {"find": 300, "insert": 100, "update": 100, "aggregate": 50, "getMore": 0}
DOCUMENTS = {"inserted": 100, "updated": 90, "deleted": 0, "returned": 4000}


def counters(
    *, commands: dict[str, int] | None = None, documents: dict[str, int] | None = None, **counts: int
) -> Opcounters:
    zero = dict.fromkeys(("insert", "query", "update", "delete", "getmore", "command"), 0)
    return Opcounters(**zero | counts, uptime_ms=1000, commands=commands, documents=documents)


BEFORE = counters(commands=dict.fromkeys(COMMANDS, 0), documents=dict.fromkeys(DOCUMENTS, 0))
AFTER = counters(query=300, insert=100, update=100, command=999, commands=COMMANDS, documents=DOCUMENTS)


def compare(
    after: Opcounters = AFTER,
    *,
    of: Any = PLAN,
    before: Opcounters = BEFORE,
    told: Any = TOLD,
    rows: Any = ((), ()),
    **more: Any,
) -> Agreement:
    known = summary(**told)
    operations, steps = rows
    return check_agreement(
        before=before,
        after=after,
        acknowledged=known["commands"],
        uncertain=known["commands_uncertain"],
        own=own_counts(of, known, brought_by_rows(operations, steps)),
        **more,
    )


def with_commands(**counts: int) -> Opcounters:
    return replace(AFTER, commands={**COMMANDS, **counts})


def with_documents(**counts: int) -> Opcounters:
    return replace(AFTER, documents={**DOCUMENTS, **counts})


def test_every_count_agrees() -> None:
    agreement = compare()
    assert agreement.verdict == "pass"
    assert agreement.evidence == (
        "the server counted the same operations: insert 100, query 300, update 100, find commands 300, "
        "insert commands 100, update commands 100, aggregate commands 50, documents inserted 100, "
        "documents updated 90, documents returned 4000"
    )


def test_the_names_that_are_asked_for_are_those_that_are_sent() -> None:
    assert command_names(PLAN) == (
        "find", "insert", "update", "aggregate", "getMore", "commitTransaction", "abortTransaction", "delete",
        "findAndModify",
    )  # fmt: skip
    assert command_names(plan()) == ()
    assert own_counts(plan(), summary()) is None


@pytest.mark.parametrize(
    ("after", "evidence"),
    [
        (
            with_commands(aggregate=49),
            "aggregate commands: the server counted 49, 1 fewer than the 50 it acknowledged (in revenue)",
        ),
        (
            with_commands(aggregate=70),
            "aggregate commands: the server counted 70, 20 more than brimline sent: another client was at work "
            "(in revenue)",
        ),
        (
            with_commands(insert=99),
            "insert commands: the server counted 99, 1 fewer than the 100 it acknowledged "
            "(in place_order: insert orders)",
        ),
        (
            with_documents(updated=89),
            "documents updated: the server counted 89, 1 fewer than the 90 it acknowledged "
            "(in place_order: update stock)",
        ),
        (
            with_documents(returned=4011),
            "documents returned: the server counted 4011, 11 more than brimline sent: another client was at work "
            "(in latest_orders, place_order: find customers, revenue)",
        ),
        (
            replace(AFTER, query=299),
            "query: the server counted 299, 1 fewer than the 300 it acknowledged "
            "(in latest_orders, place_order: find customers)",
        ),
    ],
)  # fmt: skip
def test_the_step_that_disagrees_is_named(after: Opcounters, evidence: str) -> None:
    agreement = compare(after)
    assert (agreement.verdict, str(agreement.evidence)) == ("fail", evidence)


def test_what_the_server_has_no_count_for_is_unknown_alone() -> None:
    """As of a router, which counts commands and no documents, and of a command that it doesn't know."""
    of_router = compare(replace(AFTER, documents=None), before=replace(BEFORE, documents=None))
    assert of_router.verdict == "pass"
    assert "documents inserted unknown (in place_order: insert orders): the server has no count" in of_router.evidence
    missing = {name: count for name, count in COMMANDS.items() if name != "aggregate"}
    agreement = compare(replace(AFTER, commands=missing))
    assert agreement.verdict == "pass"
    assert agreement.evidence.endswith("; aggregate commands unknown (in revenue): the server has no count of them")


@pytest.mark.parametrize(
    ("after", "more", "verdict"),
    [
        (with_commands(find=350), {}, "fail"),
        (with_commands(find=350), {"has_numbered_writes": True}, "pass"),  # it looks sessions up
        (with_commands(find=299), {"has_numbered_writes": True}, "fail"),
        (with_commands(getMore=500), {"in_replica_set": True}, "pass"),  # others read the oplog
        (with_documents(returned=9000), {"in_replica_set": True}, "pass"),
        (with_documents(returned=3999), {"in_replica_set": True}, "fail"),
        (with_documents(inserted=111), {"in_replica_set": True}, "fail"),
        (with_commands(find=317), {"secondaries": 1}, "pass"),  # a share of them is mirrored
        (with_commands(find=330), {"secondaries": 1}, "fail"),
    ],
)
def test_the_tolerances_of_opcounters_hold_for_names_and_documents(
    after: Opcounters, more: dict[str, Any], verdict: str
) -> None:
    assert compare(after, **more).verdict == verdict


def test_a_server_that_puts_its_sessions_in_order_updates_and_deletes() -> None:
    more = with_documents(updated=500, deleted=300)
    more = replace(more, commands={**COMMANDS, "update": 150}, update=500, delete=300)
    assert compare(more).verdict == "fail"
    before = replace(BEFORE, session_jobs=1, sessions_updated=1, sessions_deleted=1)
    after = replace(more, session_jobs=2, sessions_updated=400, sessions_deleted=300)
    assert compare(after, before=before).verdict == "pass"
    assert compare(replace(after, sessions_updated=380), before=before).verdict == "fail"
    assert compare(replace(after, sessions_deleted=280), before=before).verdict == "fail"


@pytest.mark.parametrize("sessions", [{}, {"session_jobs": 1, "sessions_updated": 0}])
def test_what_another_client_finds_and_modifies_is_no_session(sessions: dict[str, int]) -> None:
    """It counts as documents updated and as a command, but as no statement."""
    before = replace(BEFORE, commands={**dict.fromkeys(COMMANDS, 0), "findAndModify": 0}, **sessions)
    after = replace(with_documents(updated=390), commands={**COMMANDS, "findAndModify": 300}, **sessions)
    agreement = compare(after, before=before)
    assert agreement.verdict == "fail"
    assert "findAndModify commands: the server counted 300, 300 more" in agreement.evidence
    assert "documents updated: the server counted 390, 300 more" in agreement.evidence
    open_ended = {"session_jobs": 9, "sessions_updated": 5}
    assert "documents updated: the server counted 390, 300 more" in (
        compare(replace(after, **open_ended), before=before).evidence if sessions else agreement.evidence
    )


def test_what_was_never_answered_may_have_been_executed() -> None:
    names = {**TOLD["command_names"], "insert": {"answered": 100, "uncertain": 20}}
    told = {**TOLD, "command_names": names, "commands_uncertain": {"insert": 60}}
    after = replace(with_documents(inserted=160), commands={**COMMANDS, "insert": 120}, insert=160)
    assert compare(after, told=told).verdict == "pass"
    assert compare(replace(after, commands={**COMMANDS, "insert": 131}), told=told).verdict == "fail"


@pytest.mark.parametrize(("code", "verdict"), [(10107, "pass"), (11000, "fail")])
def test_a_member_that_is_no_primary_counts_no_command(code: int, verdict: str) -> None:
    """A command that fails otherwise is counted."""
    row = {"operation": "place_order", "outcome": "server_error", "code": code, "label": "", "count": 3, "example": ""}
    assert compare(with_commands(insert=97), told={**TOLD, "errors": [row]}).verdict == verdict


def test_a_command_that_was_sent_once_more_may_have_been_refused_before() -> None:
    totals = {"place_order": {"sent": 100, "ok": 100, "miss": 0, "failed": 0, "unfinished": 0, "retried": 2}}
    assert compare(with_commands(insert=98), told={**TOLD, "operations": totals}).verdict == "pass"
    assert compare(with_commands(insert=97), told={**TOLD, "operations": totals}).verdict == "fail"


def test_an_aggregation_that_writes_is_no_other_client() -> None:
    out = constant({"aggregate": "orders", "pipeline": [{"$out": "copy"}], "cursor": {}})
    steps = {**SHOP, "revenue": [step("aggregate", body=out)]}
    after = replace(with_documents(inserted=5000, returned=9000), insert=5000)
    assert compare(after).verdict == "fail"
    agreement = compare(after, of=own_plan(steps))
    assert agreement.verdict == "pass"
    assert "documents returned unknown (in revenue): the server counts what these bring otherwise" in agreement.evidence


def test_an_aggregation_whose_pipeline_is_a_named_value_may_write() -> None:
    named = {"kind": "value", "index": 0, "path": []}
    fields = [
        {"name": "aggregate", "value": {"kind": "bson", "hex": "0202000000" + b"o\0".hex()}},
        {"name": "pipeline", "value": named},
    ]
    steps = {**SHOP, "revenue": [step("aggregate", body={"kind": "document", "fields": fields})]}
    stages = constant({"list": [{"$out": "copy"}]})  # only to be of that kind
    values = {
        "known": {"kind": "list", "items": [constant({"$match": {}}), constant({"$out": "copy"})]},
        "drawn": {"kind": "one_of", "values": [[stages, 1.0]]},
        "reads": {"kind": "list", "items": [constant({"$match": {"$where": "true"}})]},
    }
    after = replace(with_documents(inserted=5000, returned=9000), insert=5000)
    for name, verdict in (("known", "pass"), ("drawn", "pass"), ("reads", "fail")):
        plan = own_plan(steps, values=[{"name": name, "value": values[name]}])
        assert compare(after, of=plan).verdict == verdict, name
        counts = own_counts(plan, summary(**TOLD))
        assert counts is not None
        assert counts.reads_within == (name == "reads")


OUT = {"$out": "copy"}
MERGE = {"$merge": "copy"}
MERGE_NEW = {"$merge": {"into": "copy", "whenMatched": "fail"}}


def writing(stage: dict[str, Any]) -> Plan:
    body = constant({"aggregate": "orders", "pipeline": [stage], "cursor": {}})
    return own_plan({**SHOP, "revenue": [step("aggregate", body=body)]})


def test_what_a_pipeline_passes_on_counts_as_returned() -> None:
    """Of 6.0.5: 21 aggregations that merge 6 groups each return 126 more."""
    rows = (
        [operation_row(second, "latest_orders", documents=758) for second in range(5)],
        [step_row(0, "find customers", documents=210)],
    )
    after = replace(with_documents(returned=4126), update=226)
    passed = compare(after, of=writing(MERGE), rows=rows)
    assert passed.verdict == "pass", passed.evidence
    assert "documents returned 4126 for at least 4000, what pipelines pass on to where they write included" in (
        passed.evidence
    )
    assert compare(with_documents(returned=3999), of=writing(MERGE), rows=rows).verdict == "fail"


@pytest.mark.parametrize(
    ("stage", "counts", "verdict"),
    [
        (OUT, {"insert": 5000}, "pass"),
        (OUT, {"update": 5000}, "fail"),  # $out updates nothing
        (MERGE, {"update": 5000}, "pass"),
        (MERGE, {"insert": 5000}, "fail"),  # nor does $merge insert, unless it is told what to do with what matches
        (MERGE_NEW, {"insert": 5000}, "pass"),
        (MERGE, {"delete": 5000}, "fail"),
    ],
)
def test_only_what_a_pipeline_may_write_has_no_upper_bound(
    stage: dict[str, Any], counts: dict[str, int], verdict: str
) -> None:
    agreement = compare(replace(AFTER, **counts), of=writing(stage))
    assert agreement.verdict == verdict
    if verdict == "pass":
        assert f"{next(iter(counts))} 5000 for 100 of the steps, the rest unknown beside a pipeline that writes" in (
            agreement.evidence
        )


def test_documents_beside_a_pipeline_are_no_more_than_statements() -> None:
    after = replace(with_documents(updated=1090), update=1100)
    assert compare(after, of=writing(MERGE)).verdict == "pass"
    assert compare(replace(after, update=1080), of=writing(MERGE)).verdict == "fail"


@pytest.mark.parametrize("name", ["insert", "update", "delete", "findAndModify"])
def test_another_client_that_writes_beside_a_pipeline_shows_by_its_commands(name: str) -> None:
    """A pipeline writes without commands. No step of these reads sends any of them."""
    body = constant({"aggregate": "orders", "pipeline": [MERGE_NEW], "cursor": {}})
    of = own_plan({"revenue": [step("aggregate", body=body)]})
    told = {**TOLD, "commands": {}, "command_names": {"aggregate": {"answered": 50, "uncertain": 0}}}
    before = counters(commands={"aggregate": 0, name: 0}, documents={})
    after = counters(insert=500, update=500, commands={"aggregate": 50, name: 11}, documents={})
    agreement = compare(after, before=before, of=of, told=told)
    assert agreement.verdict == "fail"
    assert f"{name} commands: the server counted 11, 11 more" in agreement.evidence
    alone = compare(replace(after, commands={"aggregate": 50, name: 0}), before=before, of=of, told=told)
    assert alone.verdict == "pass"
    assert "insert 500 for 0 of the steps, the rest unknown beside a pipeline that writes" in alone.evidence


def test_what_is_found_and_modified_counts_as_updated() -> None:
    claims = own_plan({**SHOP, "claim": [step("findAndModify")]})
    told = {**TOLD, "command_names": {**TOLD["command_names"], "findAndModify": {"answered": 500, "uncertain": 0}}}
    after = replace(with_documents(updated=590), commands={**COMMANDS, "findAndModify": 500})
    assert compare(after).verdict == "fail"
    agreement = compare(after, of=claims, told=told)
    assert agreement.verdict == "pass"
    assert compare(replace(after, documents={**DOCUMENTS, "updated": 601}), of=claims, told=told).verdict == "fail"
    assert "documents returned unknown (in claim)" in agreement.evidence


def test_steps_beside_one_whose_documents_are_counted_otherwise_are_proven_alone() -> None:
    """What the finds and the aggregation brought is known from the rows of the run."""
    counts = {**SHOP, "count": [step("count")]}
    operations = [
        operation_row(second, name, documents=documents)
        for second in range(5)
        for name, documents in (("latest_orders", 700), ("place_order", 900), ("revenue", 60), ("count", 5))
    ]
    steps = [step_row(second, "find customers", documents=40) for second in range(5)]

    def with_returned(count: int) -> Agreement:
        return compare(with_documents(returned=count), of=own_plan(counts), rows=(operations, steps))

    assert with_returned(4000).verdict == "pass"
    assert "documents returned 4000" in with_returned(4000).evidence
    assert "documents returned unknown (in count)" in with_returned(4000).evidence
    wrong = with_returned(3999)
    assert wrong.verdict == "fail"
    assert wrong.evidence.endswith("(in latest_orders, place_order: find customers, revenue)")


def test_a_shard_is_held_against_what_its_own_replies_brought() -> None:
    """The rows are of all shards together: what each step brought from one of them stands in the summary alone."""
    of = own_plan({**SHOP, "count": [step("count")]})
    shard: Any = {
        "commands": {"query": 30},
        "commands_uncertain": {},
        "command_names": {"find": {"answered": 30, "uncertain": 0}, "count": {"answered": 7, "uncertain": 0}},
        "document_counts": {"returned": 500},
        "step_documents": {
            "latest_orders": {"find orders": 400},
            "place_order": {"find customers": 40, "insert orders": 0},
            "count": {"count orders": 60},
        },
    }
    known, brought = of_shard(of, summary(**TOLD), shard)

    def held(returned: int) -> Agreement:
        after = counters(query=30, commands={**COMMANDS, "find": 30, "insert": 0, "update": 0, "count": 7},
                         documents={"returned": returned})  # fmt: skip
        after = replace(after, commands={**(after.commands or {}), "aggregate": 0})
        return check_agreement(
            before=BEFORE, after=after, acknowledged=known["commands"], uncertain=known["commands_uncertain"],
            own=own_counts(of, known, brought),
        )  # fmt: skip

    assert held(440).verdict == "pass", held(440).evidence
    assert "documents returned 440" in held(440).evidence
    assert held(439).verdict == "fail"
    assert summary(**TOLD)["commands"] == TOLD["commands"], "the summary of the run is as it was"


def test_buckets_of_time_series_are_no_other_client() -> None:
    after = replace(with_documents(updated=300), update=310)
    assert compare(after).verdict == "fail"
    assert compare(after, of=with_series("orders")).verdict == "pass"
    assert compare(after, of=with_series("another")).verdict == "fail"
    assert compare(replace(after, update=99), of=with_series("orders")).verdict == "fail"


def with_series(name: str) -> Plan:
    """The plan with a collection that the server keeps as a time series."""
    assert isinstance(PLAN.work, OperationsWork)
    series = CollectionPlan(name=name, database="shop", collection=name, data=PLAN.data, time_series=True)
    return PLAN.model_copy(update={"work": PLAN.work.model_copy(update={"collections": (series,)})})


def test_a_version_that_does_not_count_inserts_into_time_series() -> None:
    after = replace(AFTER, insert=0)
    agreement = compare(after)
    assert agreement.verdict == "pass"
    assert "insert unknown (in place_order: insert orders): this version counts none into time series" in (
        agreement.evidence
    )
    assert compare(replace(after, documents={**DOCUMENTS, "inserted": 99})).verdict == "fail"


def test_brimlines_own_commands_are_no_other_client() -> None:
    """A step that pings: so do others of brimline's own connections."""
    pings = own_plan({"ping": [step("ping")]})
    told = {**TOLD, "commands": {}, "command_names": {"ping": {"answered": 100, "uncertain": 0}}, "document_counts": {}}
    before, after = (counters(commands={"ping": count}, documents={}) for count in (0, 150))
    assert compare(after, before=before, of=pings, told=told).verdict == "pass"
    assert compare(replace(after, commands={"ping": 99}), before=before, of=pings, told=told).verdict == "fail"


def test_counts_by_name_are_read_and_added() -> None:
    from brimline.monitor.opcounters import added

    status = {
        "opcounters": dict.fromkeys(("insert", "query", "update", "delete", "getmore"), 1),
        "metrics": {
            "commands": {"findAndModify": {"failed": 1, "total": 7}, "find": {"total": 3}, "<UNKNOWN>": 4},
            "document": {"inserted": 5, "returned": 6},
        },
    }
    read = Opcounters.from_status(status, ("findandmodify", "find", "nosuch"))
    assert read is not None
    assert (read.commands, read.documents) == ({"findandmodify": 7, "find": 3}, {"inserted": 5, "returned": 6})
    assert Opcounters(**read.to_dict()) == read
    both = added([read, replace(read, commands={"find": 1})])
    assert both is not None and both.commands == {"find": 4} and both.documents == {"inserted": 10, "returned": 12}
    without = Opcounters.from_status(status)
    assert without is not None and (without.commands, without.documents) == (None, None)
