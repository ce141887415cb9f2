"""Owns making the queries of a scan happen: one place with effects, each execution on the disk before the next."""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import bson
from bson import json_util
from bson.errors import BSONError

from brimline import _native
from brimline.analysis.scan_figures import Execution, Touch
from brimline.dataset.routed import at_once
from brimline.errors import BrimlineError, TargetError
from brimline.execution import RunContext
from brimline.experiments.conductor import Made
from brimline.experiments.scan.order import (
    RangeBounds,
    ScanMade,
    ScanProbe,
    Step,
    explain_command,
    next_step,
    scan_command,
)
from brimline.monitor.scan_counters import added_up, read_scan_counters
from brimline.record import ExperimentWriter
from brimline.record.scan import write_explanation, write_scan_trial
from brimline.servers import Deployment, control_client, page_cache
from brimline.servers.answers import Unkeepable, plain
from brimline.spec.scans import ScansSpec
from brimline.units import counted, format_duration
from brimline.wording import Verbatim, message

RESTARTED = "the server was started again and its files were dropped from the page cache"
AS_FOUND = "the first execution by this scan; what caches held before is not known"
_TURN_S = 0.1
_GRACE_S = 5.0
"""How long after a query's time limit the server may take to end it."""
_EXPLANATION_LENGTH_MAX = 4 << 20
"""Far more than the longest plan; a lie could fill the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPlace:
    """Where a scan runs. `bounds` are those of a range's widths, by probe; `restarts`: before each first touch."""

    deployment: Deployment
    database: str
    collection: str
    scans: ScansSpec
    context: RunContext
    restarts: bool
    document_bytes: float | None
    bounds: Mapping[ScanProbe, RangeBounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queries:
    """The effects of a scan, `count` queries in all. A scenario that the server refuses is an answer too."""

    place: ScanPlace
    writer: ExperimentWriter
    count: int

    def perform(self, probe: Sequence[ScanProbe], trials: Sequence[ScanMade]) -> Sequence[Made[ScanMade]]:
        """Measures a scenario, all widths of a range in turns.

        Raises TargetError when the server is gone, RecordError when the record can't be written.
        """
        scenarios = [_Scenario(each, self.place, self.writer) for each in probe]
        titles = [
            message("query {number} of {count}: {label}", number=number, count=self.count, label=Verbatim(each.label))
            for number, each in enumerate(probe, len(trials) + 1)
        ]
        self.place.context.progress.step(titles[0])
        try:
            _measure(scenarios, self.place)
        except BrimlineError as error:
            for scenario in scenarios:
                scenario.write("error", error.message)
            raise
        return [scenario.end(title) for scenario, title in zip(scenarios, titles, strict=True)]


def _measure(scenarios: Sequence["_Scenario"], place: ScanPlace) -> None:
    """All widths of a range take their turns, so that whatever else the machine does meets all of them alike.

    First touches come first, since a restart leaves the others cold; explaining makes them warm again.
    """
    for step in Step:
        forwards = True
        while pending := [each for each in scenarios if each.next_step is step]:
            for scenario in pending if forwards else reversed(pending):
                if place.context.stop.requested:
                    return
                scenario.follow(step)
            forwards = not forwards


class _Scenario:
    """One scenario, or one width of a range, while it is measured."""

    def __init__(self, probe: ScanProbe, place: ScanPlace, writer: ExperimentWriter) -> None:
        self.probe = probe
        self._place = place
        self._directory = writer.begin_trial(asdict(probe), stage="scan", label=probe.label)
        self._command = scan_command(
            place.scans.scenarios[probe.scenario],
            collection=place.collection,
            bounds=place.bounds.get(probe),
            timeout_ns=place.scans.query_timeout_ns,
        )
        self._executions: list[Execution] = []
        self._explained = False
        self._first_touch = AS_FOUND
        self._refusal: dict[str, Any] | None = None
        self._took_s = 0.0
        self.write("running")

    @property
    def next_step(self) -> Step | None:
        """What is to be done; None when it is done, or refused."""
        if self._refusal is not None:
            return None
        return next_step(self._executions, explained=self._explained, scans=self._place.scans)

    def follow(self, step: Step) -> None:
        """Does one step. Raises TargetError and RecordError."""
        began_s = time.monotonic()
        try:
            match step:
                case Step.FIRST:
                    self._make_cold()
                    self._execute("first")
                case Step.EXPLAIN:
                    self._explain()
                case Step.STEADY:
                    self._execute("steady")
        except _native.CommandError as error:
            code, code_name, text = error.args
            self._refusal = {"code": code, "code_name": code_name, "text": text}
        self._took_s += time.monotonic() - began_s

    def end(self, title: str) -> Made[ScanMade]:
        """Closes the record."""
        finished = self.next_step is None
        self.write("completed" if finished else "interrupt")
        return Made(
            trial=ScanMade(probe=self.probe, ended=finished),
            directory=self._directory,
            title=title,
            outcome=self._outcome(),
            ended=finished,
            took_s=self._took_s,
        )

    def _make_cold(self) -> None:
        own = self._place.deployment.own
        if self._place.restarts and own is not None:
            own.restart(meanwhile=lambda: page_cache.drop(own.data_directory))
            self._first_touch = RESTARTED

    def _execute(self, touch: Touch) -> None:
        deployment = self._place.deployment
        with ExitStack() as open_clients:
            clients = [
                open_clients.enter_context(control_client(address, access=deployment.access, purpose="scan"))
                for address in self._addresses
            ]
            before = added_up([read_scan_counters(client) for client in clients])
            answered = self._answered(self._command)
            if answered is None:
                return
            added = added_up([read_scan_counters(client) for client in clients]).since(before)
        drained = _together([each.drained() for each in answered])
        self._executions.append(Execution(touch=touch, **drained, **asdict(added)))
        self.write("running")

    def _explain(self) -> None:
        answered = self._answered(explain_command(self._command))
        if answered is None:
            return
        try:
            plans = [plain(bson.decode(each.answer()), length_max=_EXPLANATION_LENGTH_MAX) for each in answered]
        except (BSONError, Unkeepable) as error:
            raise TargetError(
                f"the server's plan of the query can't be read: {error}", hint="check that it is a MongoDB server"
            ) from error
        # Of several servers as a router puts theirs together.
        of_shards = {"shards": dict(zip(self._addresses, plans, strict=True))}
        write_explanation(self._directory, plans[0] if len(plans) == 1 else of_shards)
        self._explained = True

    @property
    def _addresses(self) -> tuple[str, ...]:
        """Every server that has a part of the collection."""
        deployment = self._place.deployment
        return (deployment.address, *deployment.shards)

    def _answered(self, command: Mapping[str, Any]) -> list[_native.Query] | None:
        """A command followed to its end at all servers at once; None when the user ended it, and they hear of that."""
        body = bson.encode({**command, "$db": self._place.database})
        found = at_once(self._addresses, partial(self._answer_of, body))
        answered = [each for each in found if each is not None]
        return answered if len(answered) == len(found) else None

    def _answer_of(self, body: bytes, address: str) -> _native.Query | None:
        place = self._place
        try:
            query = _native.Query(address, body, place.database, place.collection, place.deployment.access.native)
            until_s = time.monotonic() + place.scans.query_timeout_ns / 1e9 + _GRACE_S
            while not query.advance(_TURN_S):
                if place.context.stop.requested:
                    return None
                if time.monotonic() > until_s:
                    raise TargetError(
                        "the server neither answers a query nor ends it at its time limit",
                        hint="check that it still runs; query_timeout in the spec's scans is the limit",
                    )
        except _native.TargetError as error:
            raise TargetError(f"the server went away during a query: {error.args[0]}") from error
        return query

    def write(self, ended_by: str, message: str = "") -> None:
        """Puts on the disk what is known so far."""
        values = {
            "executions": [asdict(each) for each in self._executions],
            "first_touch": self._first_touch,
            "refusal": self._refusal,
            "document_bytes": self._place.document_bytes,
            "private": self._place.deployment.own is not None,
            "command": json_util.dumps(self._command, json_options=json_util.RELAXED_JSON_OPTIONS),
        }
        write_scan_trial(self._directory, values, ended_by=ended_by, message=message)

    def _outcome(self) -> str:
        if self._refusal is not None:
            return f"refused: {self._refusal['text']} (code {self._refusal['code']} {self._refusal['code_name']})"
        if not self._executions:
            return "not answered"
        first, last = self._executions[0], self._executions[-1]
        return (
            f"{counted(last.documents, 'document')}, first {format_duration(first.elapsed_ns)}, "
            f"last {format_duration(last.elapsed_ns)}"
        )


def _together(parts: "Sequence[_native.Drained]") -> "_native.Drained":
    """What came of one query at several servers: the slowest of them says how long it took."""
    return {
        "batches": sum(each["batches"] for each in parts),
        "documents": sum(each["documents"] for each in parts),
        "bytes": sum(each["bytes"] for each in parts),
        "first_reply_ns": min(each["first_reply_ns"] for each in parts),
        "elapsed_ns": max(each["elapsed_ns"] for each in parts),
        "client_cpu_ns": sum(each["client_cpu_ns"] for each in parts),
    }
