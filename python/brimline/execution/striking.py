"""Owns making a fault befall the servers during a run, and putting them back as they were, however the run ends."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from brimline import _native, leaving
from brimline.errors import BrimlineError
from brimline.record.fault import FaultFacts
from brimline.record.model import Samples
from brimline.servers.faults.fault import Fault
from brimline.threads import Worker
from brimline.units import NS_PER_S

_END_WITHIN_S = 600.0
"""Longer than doing and undoing may take."""


class Striking:
    """One fault, `at_s` on the run's clock, undone `hold_s` later; both as soon as the run ends before.

    As long as it is on, a process that ends at once says what is to be done by hand.
    `on_samples` of the run tells it the clock. `end` waits until the servers are put back, and says what happened.
    """

    def __init__(self, fault: Fault, facts: FaultFacts, *, at_s: float, hold_s: float) -> None:
        self._fault = fault
        self._facts = facts
        self._at_s = at_s
        self._hold_s = hold_s
        self._zero_s: float | None = None
        self._runs = threading.Event()
        self._over = threading.Event()
        self._worker = Worker(self._strike, name="the fault")

    def start(self) -> None:
        """Waits for the run's clock in a thread. Raises ResourceError."""
        self._worker.start()

    def on_samples(self, samples: Samples) -> None:
        """The end of an interval is now, or was a moment ago."""
        if self._zero_s is None:
            self._zero_s = time.monotonic() - samples["intervals"][-1]["end_ns"] / NS_PER_S
            self._runs.set()

    def end(self) -> FaultFacts:
        """The run is over: what was done is undone, if it isn't yet."""
        self._over.set()
        self._runs.set()
        if not self._worker.join(_END_WITHIN_S):
            self._note(undo_trouble=f"that did not end within {_END_WITHIN_S:.0f} s")
        leaving.last_words.pop(self, None)
        return self._facts

    def _strike(self) -> None:
        self._runs.wait()
        if self._zero_s is None or self._over.wait(max(0.0, self._zero_s + self._at_s - time.monotonic())):
            return
        self._note(begun_unix_ns=_native.unix_now_ns())
        leaving.last_words[self] = self._left
        trouble = _trouble_of(self._fault.do)
        self._note(
            trouble=trouble,
            at=self._fault.at,
            by_hand=self._fault.by_hand,
            **({} if trouble else {"done_unix_ns": _native.unix_now_ns()}),
        )
        # What failed may have been done in part: it is undone as well.
        if not trouble:
            self._over.wait(self._hold_s)
        self._note(undo_begun_unix_ns=_native.unix_now_ns())
        undo_trouble = _trouble_of(self._fault.undo)
        self._note(undo_trouble=undo_trouble, **({} if undo_trouble else {"undone_unix_ns": _native.unix_now_ns()}))
        if not undo_trouble:
            leaving.last_words.pop(self, None)

    @property
    def _left(self) -> str:
        by_hand = f"; do it by hand: {self._facts.by_hand}" if self._facts.by_hand else ""
        return f"the fault {self._facts.name} was not undone, the servers are NOT as they were{by_hand}"

    def _note(self, **facts: object) -> None:
        self._facts = replace(self._facts, **facts)  # type: ignore[arg-type]


def _trouble_of(act: Callable[[], None]) -> str:
    try:
        act()
    except BrimlineError as error:
        return error.message
    except Exception as error:  # whatever it is, the servers are put back and it is told
        return f"{type(error).__name__}: {error}"
    return ""
