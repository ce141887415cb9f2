"""Owns starting a thread of one's own, where the system may have neither a thread nor the memory for one.

`threading.Thread.start` waits without an end for the word of the new thread, and one that dies for want of memory
before it could give it leaves whoever started it waiting for ever.
"""

import _thread
import sys
import threading
from collections.abc import Callable
from typing import Any

from brimline.errors import ResourceError

_BEGIN_WITHIN_S = 30.0


class Worker:
    """A thread that does `work` and ends; it doesn't hold up the end of the program."""

    def __init__(self, work: Callable[[], None], *, name: str) -> None:
        self._work = work
        self._name = name
        self._begun = threading.Event()
        self._ended = threading.Event()

    def start(self) -> None:
        """Starts it, and returns when it is under way. Raises ResourceError."""
        try:
            _thread.start_new_thread(self._run, ())
        except (RuntimeError, MemoryError) as error:
            raise ResourceError.of_threads(self._name) from error
        if not self._begun.wait(_BEGIN_WITHIN_S):
            raise ResourceError.of_threads(self._name)

    def join(self, within_s: float) -> bool:
        """Waits for its end, no longer than `within_s`. Returns whether it has ended."""
        return self._ended.wait(within_s)

    def _run(self) -> None:
        self._begun.set()
        try:
            self._work()
        except BaseException:
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
        finally:
            self._ended.set()


class BoundedThread(threading.Thread):
    """A thread of a library, whose start ends with an error where the new thread never says that it runs."""

    def __init__(self, *arguments: Any, **words: Any) -> None:
        super().__init__(*arguments, **words)
        started: threading.Event = vars(self)["_started"]
        wait = started.wait

        def wait_bounded(timeout: float | None = None) -> bool:
            if not wait(_BEGIN_WITHIN_S if timeout is None else timeout) and timeout is None:
                raise ResourceError.of_threads(self.name)
            return True

        vars(started)["wait"] = wait_bounded
