"""Owns whose the CPU time of a host is: the other members of the measured deployment, and programs that are none of it.

Times by name grow from the first look on: a member's are those of its process, another program's those of all processes
of that name. Reading every process takes time, so that it is done less often where there are many.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from brimline.monitor.cpu_time import named_process_cpu
from brimline.record.named_times import named_times_text
from brimline.servers.members import MemberProcess
from brimline.servers.processes import family

OTHERS_SHOWN = 8
"""Programs that a row names, those that took most."""
SCAN_SHARE_MAX = 1 / 200
"""Part of a CPU that reading all processes may take; a wait for a CPU is none: then others are what matters."""
LOOKS_TO_SEARCH = 10
"""Looks from one search for members that are gone to the next."""

_GENERATING: set[int] = set()
"""Processes of the generator that others started for it."""

Search = Callable[[], Sequence[MemberProcess]]


@contextmanager
def generating(pids: frozenset[int]) -> Iterator[None]:
    """Takes these processes for the generator's for the length of a `with` block."""
    _GENERATING.update(pids)
    try:
        yield
    finally:
        _GENERATING.difference_update(pids)


def generator_processes() -> frozenset[int]:
    """Those of the generator: it is this one, and others may have been started for it."""
    return frozenset({os.getpid(), *_GENERATING})


class Members:
    """The members on this host beside the server that is watched. One that was started again goes on under its name."""

    def __init__(self, search: Search, *, proc: Path = Path("/proc")) -> None:
        self._search, self._proc = search, proc
        self._found = {each.name: each.pid for each in search()}
        self._ended_ns = Counter[str]()
        self._last_ns: dict[str, int] = {}
        self._looks = 0

    @property
    def pids(self) -> frozenset[int]:
        """Their processes."""
        return frozenset(self._found.values())

    def times_ns(self) -> dict[str, int]:
        """CPU time of each by name, growing also over a new start."""
        gone = False
        for name, pid in self._found.items():
            seen = named_process_cpu(pid, proc=self._proc)
            if seen is None:
                self._ended_ns[name] += self._last_ns.get(name, 0)
                self._last_ns[name] = 0
                gone = True
            else:
                self._last_ns[name] = seen[1]
        self._looks += 1
        if gone and self._looks % LOOKS_TO_SEARCH == 0:
            self._found |= {each.name: each.pid for each in self._search()}
        return {name: self._ended_ns[name] + last_ns for name, last_ns in self._last_ns.items()}


class OtherPrograms:
    """All processes of this host but those whose pid is in `known`, added up by name.

    `cost` says the CPU time of this thread in s.
    """

    def __init__(
        self,
        *,
        proc: Path = Path("/proc"),
        clock: Callable[[], float] = time.perf_counter,
        cost: Callable[[], float] = time.thread_time,
    ) -> None:
        self._proc, self._clock, self._cost = proc, clock, cost
        self._before: dict[int, tuple[str, int]] | None = None
        self._grown_ns = Counter[str]()
        self._next_s = 0.0

    def times_ns(self, known: frozenset[int]) -> dict[str, int] | None:
        """CPU time by name since the first call, the most first; None where it is too early to read them all again."""
        if self._clock() < self._next_s:
            return None
        began_s = self._cost()
        now = {pid: seen for pid, seen in self._processes() if pid not in known}
        if self._before is not None:
            for pid, (name, cpu_ns) in now.items():
                before_name, before_ns = self._before.get(pid, (name, 0))
                # Less than before: another process has the pid.
                self._grown_ns[name] += cpu_ns - before_ns if before_ns <= cpu_ns and before_name == name else cpu_ns
        self._before = now
        self._next_s = self._clock() + (self._cost() - began_s) / SCAN_SHARE_MAX
        return {name: grown_ns for name, grown_ns in self._grown_ns.most_common(OTHERS_SHOWN) if grown_ns}

    def _processes(self) -> Iterator[tuple[int, tuple[str, int]]]:
        try:
            names = os.listdir(self._proc)  # noqa: PTH208 (names only)
        except OSError:
            return
        for each in names:
            if each.isdigit() and (seen := named_process_cpu(int(each), proc=self._proc)) is not None:
                # Threads of the kernel are named after what they do: kworker/3:1-events.
                yield int(each), (seen[0].partition("/")[0] or seen[0], seen[1])


class Programs:
    """The columns of a look that say whose the host's CPU time is. `server_pid`: the server that is watched.

    `has_family`: what that process started is the server as well. `ours`: further processes that are the generator's.
    """

    def __init__(
        self,
        search: Search,
        *,
        server_pid: int,
        has_family: bool = False,
        ours: frozenset[int] = frozenset(),
        proc: Path = Path("/proc"),
    ) -> None:
        self._server_pid, self._has_family, self._proc = server_pid, has_family, proc
        self._ours = ours
        self._members = Members(search, proc=proc)
        self._others = OtherPrograms(proc=proc)

    def columns(self) -> dict[str, int | str | None]:
        """`members_cpu_ns`, the sum, and both by name; an empty cell where they weren't read."""
        of_members = self._members.times_ns()
        servers = family(self._server_pid, proc=self._proc) if self._has_family else [self._server_pid]
        # What the generator's process started is the generator's: drivers' processes, and what looks after its servers.
        own = [each for pid in self._ours | generator_processes() for each in family(pid, proc=self._proc)]
        of_others = self._others.times_ns(frozenset({*own, *servers}) | self._members.pids)
        return {
            "members_cpu_ns": sum(of_members.values()),
            "members_cpu_ns_by_name": named_times_text(of_members),
            "others_cpu_ns_by_name": None if of_others is None else named_times_text(of_others),
        }
