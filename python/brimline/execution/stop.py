"""Owns Ctrl-C, SIGTERM and SIGHUP: the first asks a run to end and keeps what it measured, the second ends at once.

Whatever the program waits for then, it has a few seconds to end; then the wait is broken (`brimline.leaving`).
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from brimline import leaving
from brimline.errors import Interrupted, NodeGone
from brimline.record.layout import WORKER_LOST

KEPT = "what was measured is kept in"
"""What a hint says in front of the directory."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_END_WITHIN_S = 10.0
"""After the second signal: time to close the record and to say where it is."""


class StopToken:
    """A request to end, made by a signal or by another thread."""

    def __init__(self) -> None:
        self._requests = 0
        self._signal_number = int(signal.SIGINT)
        self._lost: str | None = None

    def request(self, *, signal_number: int = signal.SIGINT) -> None:
        """Asks to end; a second time: at once."""
        self._requests += 1
        self._signal_number = int(signal_number)

    def note_lost(self, what: str) -> None:
        """Notes what was lost, in a sentence, without which nothing more can be measured; it asks nobody to end."""
        self._lost = self._lost or what

    def request_if_lost(self) -> None:
        """Asks to end where such a thing was lost: of an experiment, which would measure on."""
        if self._lost is not None:
            self._requests = max(self._requests, 1)

    @property
    def signal_number(self) -> int:
        """The signal of the last request."""
        return self._signal_number

    @property
    def requested(self) -> bool:
        """Whether to send nothing more and to drain."""
        return self._requests > 0

    @property
    def urgent(self) -> bool:
        """Whether to drop everything."""
        return self._requests > 1

    @property
    def how_ended(self) -> str:
        """What the record of an experiment says ended it."""
        if not self.requested:
            return "completed"
        return "interrupt" if self._lost is None else WORKER_LOST

    def error(self, *, kept: str | None = None) -> Interrupted:
        """The error that ends the command; `kept` says where what was measured is."""
        hint = None if kept is None else f"{KEPT} {kept}"
        if self._lost is not None:
            gone = NodeGone(self._lost)
            gone.hint = "; ".join(filter(None, (gone.hint, hint)))
            return gone
        name = signal.Signals(self._signal_number).name
        return Interrupted(f"interrupted by {name}", signal_number=self._signal_number, hint=hint)

    def raise_if_requested(self) -> None:
        """Raises Interrupted where there is nothing to keep."""
        if self.requested:
            raise self.error()


@contextmanager
def interruptible() -> Iterator[StopToken]:
    """Turns SIGINT, SIGTERM and SIGHUP into requests for the length of the `with` block.

    Python allows signal handlers in the main thread only; elsewhere the token is there for others to use. SIGINT is
    taken over even where it was ignored, as it is for jobs that a shell script puts in the background; SIGHUP is not,
    because `nohup` ignores it to let a run outlive its terminal.
    """
    token = StopToken()
    if threading.current_thread() is not threading.main_thread():
        yield token
        return

    def handle(number: int, _frame: FrameType | None) -> None:
        if token.urgent:
            leaving.give_up(number)
        token.request(signal_number=number)
        if token.urgent:
            signal.setitimer(signal.ITIMER_REAL, _END_WITHIN_S)

    def time_is_over(_number: int, _frame: FrameType | None) -> None:
        leaving.give_up(token.signal_number)

    taken = [n for n in _SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
    previous = {number: signal.signal(number, handle) for number in taken}
    previous[signal.SIGALRM] = signal.signal(signal.SIGALRM, time_is_over)
    try:
        yield token
    finally:
        if token.urgent:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in previous.items():
            signal.signal(number, handler)
