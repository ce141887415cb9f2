"""Owns the loop of every experiment: what a machine asks for is made to happen, noted and timed, until it asks no more.

A machine is pure: which probe comes next follows from the trials alone. What a probe takes is the business of its
effects: cooling down, a background beside it, a restart of the server, putting data back.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

from brimline.errors import Interrupted
from brimline.execution import ProgressSink, StopToken
from brimline.record import ExperimentWriter
from brimline.wording import message

ProbeT = TypeVar("ProbeT")
_Asked = TypeVar("_Asked", covariant=True)
_Performed = TypeVar("_Performed", contravariant=True)
TrialT = TypeVar("TrialT")
_Seen = TypeVar("_Seen", contravariant=True)


class Machine(Protocol[_Asked, _Seen]):
    """A pure state machine: what comes next follows from the trials alone."""

    def next_probe(self, trials: Sequence[_Seen]) -> _Asked | None:
        """What is to be made next, None when there is nothing more to ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made(Generic[TrialT]):
    """A trial, and where its record lies. `title` and `outcome`: what was asked, and what came of it, in a line.

    `ended`: it went to its planned end, so that more can be asked. `took_s`: where the time since the probe was asked
    for is not that of this trial alone, or not by the clock that counts. `failed`: why it has no figure, where that is
    to be noted in its record.
    """

    trial: TrialT
    directory: Path
    title: str
    outcome: str
    ended: bool
    took_s: float | None = None
    failed: str = ""


class Effects(Protocol[_Performed, TrialT]):
    """What makes a probe happen."""

    def perform(self, probe: _Performed, trials: Sequence[TrialT]) -> Sequence[Made[TrialT]]:
        """Makes the trials of one probe, one unless they take turns; none where the user ended it before they began.

        `trials` are those made so far. Raises BrimlineError.
        """


def conduct_trials(
    machine: Machine[ProbeT, TrialT],
    effects: Effects[ProbeT, TrialT],
    *,
    writer: ExperimentWriter,
    stop: StopToken,
    progress: ProgressSink,
    done: Sequence[TrialT] = (),
) -> list[TrialT]:
    """Makes probes happen until `machine` asks for no more, or something ends it early; returns the trials so far.

    `done` are trials of an experiment that is resumed. A trial that was cut short is the last one; one that went to its
    end has `took_s`, by the wall clock and all effects included, in its record and in itself. Raises what the effects
    raise; Interrupted only where nothing was measured.
    """
    trials = list(done)
    while not stop.requested and (probe := machine.next_probe(trials)) is not None:
        began_s = time.monotonic()
        try:
            made = effects.perform(probe, trials)
        except Interrupted:
            stop.request_if_lost()
            if not trials:
                raise
            break
        for each in made:
            trials.append(_ended(each, began_s, writer) if each.ended else each.trial)
            writer.event("trial", directory=each.directory.name, outcome=each.outcome)
            progress.outcome(message("{title}: {outcome}", title=each.title, outcome=each.outcome))
        if not made or not all(each.ended for each in made):
            stop.request_if_lost()
            break
    return trials


def _ended(made: Made[TrialT], began_s: float, writer: ExperimentWriter) -> TrialT:
    took_s = round(time.monotonic() - began_s if made.took_s is None else made.took_s, 3)
    writer.end_trial(made.directory, took_s=took_s, failed=made.failed)
    timed: TrialT = replace(cast("Any", made.trial), took_s=took_s)
    return timed
