"""Owns making a fault happen during a run: who is struck, the ledger beside the load, all put back afterwards."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from brimline import _native
from brimline.analysis.ledger import settle
from brimline.errors import BrimlineError, TargetError
from brimline.execution import RunContext, execute, putting_back
from brimline.execution.ledger import Ledger
from brimline.execution.striking import Striking
from brimline.experiments.conductor import Made
from brimline.experiments.failover.figures import ledger_pace
from brimline.experiments.failover.order import (
    LEDGER_MOST_PER_S,
    WARM_UP_S,
    FailoverProbe,
    FailoverSettings,
    FailoverTrial,
)
from brimline.experiments.failover.stored import read_trial
from brimline.plan import Plan
from brimline.record import ExperimentWriter
from brimline.record.fault import FAULT_FILE, FaultFacts, Said, begin_fault, note_undone, write_fault
from brimline.record.ledger import write_ledger
from brimline.servers import Deployment
from brimline.servers.faults.fault import fault_on
from brimline.servers.faults.said import said_between
from brimline.servers.faults.site import LOOK_S, Site, lab_of, site_of
from brimline.spec import Spec
from brimline.units import format_count, format_duration
from brimline.wording import Verbatim, joined, message

WHOLE_WITHIN_S = 180.0
"""Within which servers do their part again: a killed one recovers its data first, and elections take a while."""


@dataclass(slots=True, kw_only=True)
class FailoverWork:
    """The effects of a failover: one run of `plan` for each fault, on `deployment`."""

    settings: FailoverSettings
    spec: Spec
    plan: Plan
    deployment: Deployment
    writer: ExperimentWriter
    context: RunContext

    def perform(self, probe: FailoverProbe, trials: Sequence[FailoverTrial]) -> Sequence[Made[FailoverTrial]]:
        """A run with a fault. Raises BrimlineError; the servers are put back as they were all the same."""
        del trials
        asked, context = self.settings.asked, self.context
        site = self._whole_site()
        fault = fault_on(asked, site, alone=self.settings.alone)
        title = message("fault {number}: {fault}", number=probe.number, fault=Verbatim(asked.name))
        directory = self.writer.begin_trial(
            asdict(probe), stage="fault", label=f"{asked.name}-{probe.number}", needs=FAULT_FILE
        )
        facts = FaultFacts(name=asked.name, what=fault.what, at=fault.at, by_hand=fault.by_hand)
        striking = Striking(fault, facts, at_s=WARM_UP_S + self.settings.before_s, hold_s=self.settings.hold_s)
        ledger = self._ledger()
        with putting_back(self.plan, context):
            if ledger is not None:
                ledger.prepare()
            begin_fault(directory, facts)
            try:
                if ledger is not None:
                    ledger.start()
                striking.start()
                record = execute(
                    self.plan,
                    directory=directory,
                    title=title,
                    context=replace(context, on_samples=striking.on_samples),
                )
            finally:
                write_fault(directory, self._put_back(striking, site, ledger, directory))
        trial = read_trial(probe, record)
        outcome = describe_outcome(trial, self.settings)
        ended = record.complete and trial.facts is not None and not trial.facts.undo_trouble
        return (Made(trial=trial, directory=directory, title=title, outcome=outcome, ended=ended),)

    def _whole_site(self) -> Site:
        """The servers, each of which does its part, and who is struck now. Raises TargetError.

        Another election may come between the look at all and that at who is struck: then both are made again.
        """
        self.context.progress.step("waiting for all servers")
        site, until = Site(deployment=self.deployment, lab=lab_of(self.deployment)), time.monotonic() + WHOLE_WITHIN_S
        while True:
            left_s = until - time.monotonic()
            if not site.await_whole(left_s, meanwhile=lambda: not self.context.stop.requested):
                self.context.stop.raise_if_requested()
                raise TargetError(
                    "not every server does its part, so that a fault would show something else",
                    hint="see brimline lab status, or the status of the set; brimline lab start puts back what a "
                    "killed failover left",
                )
            try:
                return site_of(self.deployment, at=self.settings.at)
            except TargetError:
                if time.monotonic() > until:
                    raise
                self.context.stop.raise_if_requested()
                time.sleep(LOOK_S)

    def _ledger(self) -> Ledger | None:
        asked_per_s = self.settings.ledger_per_s
        if asked_per_s == 0:
            return None
        return Ledger(
            self.deployment,
            database=self.spec.data.database,
            write_concern=self.spec.target.effective_write_concern,
            rate_per_s=LEDGER_MOST_PER_S if asked_per_s is None else asked_per_s,
        )

    def _put_back(self, striking: Striking, site: Site, ledger: Ledger | None, directory: Path) -> FaultFacts:
        """Undoes the fault, waits until all is well, and has the ledger checked; what fails of it is told."""
        progress, stop = self.context.progress, self.context.stop
        progress.step("putting the servers back")
        facts = striking.end()
        if facts.undo_trouble:
            by_hand = f"; do it by hand: {facts.by_hand}" if facts.by_hand else ""
            progress.warning(
                f"the fault was not undone, the servers are NOT as they were: {facts.undo_trouble}{by_hand}"
            )
        else:
            note_undone(directory)
        if site.await_whole(WHOLE_WITHIN_S, meanwhile=lambda: not stop.urgent):
            facts = replace(facts, whole_unix_ns=_native.unix_now_ns())
        elif not facts.undo_trouble:
            progress.warning("the fault was undone, and still not every server does its part: see the servers' logs")
        if ledger is not None:
            ledger.stop()
            facts = self._check(ledger, facts, directory)
        if facts.begun_unix_ns is not None:
            lines = said_between(self.deployment, site.lab, facts.begun_unix_ns, _native.unix_now_ns())
            facts = replace(facts, said=tuple(Said(unix_ns=at, address=of, text=text) for at, of, text in lines))
        return facts

    def _check(self, ledger: Ledger, facts: FaultFacts, directory: Path) -> FaultFacts:
        """What became of the ledger's writes, as a file; and its documents are taken away."""
        facts = replace(facts, ledger=ledger.described, stale=tuple(ledger.stale))
        try:
            self.context.progress.step("looking for every write that was acknowledged")
            write_ledger(directory, settle(ledger.writes, ledger.there()).entries)
            ledger.remove()
        except BrimlineError as error:
            self.context.progress.warning(f"the ledger of writes could not be checked: {error.message}")
            return replace(facts, ledger_trouble=error.message)
        return facts


def describe_outcome(trial: FailoverTrial, settings: FailoverSettings) -> str:
    """One line: what came of it."""
    figures = trial.figures
    if figures is None:
        return trial.problem
    parts: list[str] = [message("no answer for {time}", time=format_duration(figures.gap.length_ns))]
    if figures.back_ns is not None:
        parts.append(message("95 % of the rate after {time}", time=format_duration(figures.back_ns)))
    parts.append(message("{count} never answered", count=format_count(figures.unanswered)))
    if figures.overdue:
        parts.append(message("{count} never sent", count=format_count(figures.overdue)))
    if (settled := trial.settled) is not None:
        missing, acknowledged = len(settled.missing), len(settled.acknowledged)
        parts.append(message("{missing} of {count} acknowledged writes missing", missing=format_count(missing),
                             count=format_count(acknowledged)))  # fmt: skip
        if pace := ledger_pace((settled,), settings.ledger_per_s):
            parts.append(pace)
    return joined(", ", parts)
