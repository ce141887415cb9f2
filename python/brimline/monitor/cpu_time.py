"""Owns CPU time from /proc (proc(5)): of a process, those it started, a connection's thread, the machine; ns, growing.

The grain is 10 ms, but for the thread: that is counted by the scheduler in ns (sched-stats.rst).
"""

import os
from dataclasses import dataclass
from pathlib import Path

from brimline.servers.processes import family

_NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_USER_TIME_FIELD = 14
_FIRST_FIELD_AFTER_NAME = 3
_OWN_TIMES = slice(_USER_TIME_FIELD - _FIRST_FIELD_AFTER_NAME, _USER_TIME_FIELD - _FIRST_FIELD_AFTER_NAME + 2)
_TIMES = slice(_OWN_TIMES.start, _OWN_TIMES.start + 4)
"""User and system time of the process; the same, and of its children that have ended."""
_IDLE_FIELDS = frozenset({"idle", "iowait"})
_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""`guest` and `guest_nice` follow and are contained in `user` and `nice`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCpu:
    """CPU time of all processes, time stolen by the hypervisor included, and the number of CPUs.

    `iowait_ns` is idle time during which a process waited for a disk.
    """

    busy_ns: int
    iowait_ns: int
    cpu_count: int


def process_cpu_ns(pid: int, *, proc: Path = Path("/proc")) -> int | None:
    """User and system time of all threads of a process, those that ended included; None when it is gone."""
    found = named_process_cpu(pid, proc=proc)
    return None if found is None else found[1]


def named_process_cpu(pid: int, *, proc: Path = Path("/proc")) -> tuple[str, int] | None:
    """What the kernel calls a process, and its `process_cpu_ns`; None when it is gone."""
    fields = _stat_fields(pid, proc)
    if fields is None:
        return None
    return fields[0], sum(map(int, fields[1][_OWN_TIMES])) * _NS_PER_TICK


def family_cpu_ns(pid: int, *, proc: Path = Path("/proc")) -> int | None:
    """User and system time of a process and of all that it started, those that ended included; None when it is gone.

    One that ended is counted by its parent once that has taken notice.
    """
    seen = [_stat_fields(each, proc) for each in family(pid, proc=proc)]
    if seen[0] is None:
        return None
    return sum(sum(map(int, fields[1][_TIMES])) for fields in seen if fields is not None) * _NS_PER_TICK


def _stat_fields(pid: int, proc: Path) -> tuple[str, list[str]] | None:
    """What the kernel calls a process, and the fields of its `stat` behind the name; None when it is gone."""
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name stands in parentheses and may hold anything.
    head, _, rest = text.rpartition(")")
    return head.partition("(")[2], rest.split()


def host_cpu(*, proc: Path = Path("/proc")) -> HostCpu | None:
    """CPU time of the machine; None where /proc/stat can't be read."""
    try:
        lines = (proc / "stat").read_text().splitlines()
    except OSError:
        return None
    cpu_lines = [line.split() for line in lines if line.startswith("cpu")]
    if not cpu_lines:
        return None
    total = dict(zip(_CPU_FIELDS, map(int, cpu_lines[0][1:]), strict=False))
    busy = sum(ticks for name, ticks in total.items() if name not in _IDLE_FIELDS)
    return HostCpu(
        busy_ns=busy * _NS_PER_TICK,
        iowait_ns=total.get("iowait", 0) * _NS_PER_TICK,
        cpu_count=len(cpu_lines) - 1,
    )


def connection_thread(pid: int, connection_id: int, *, proc: Path = Path("/proc")) -> Path | None:
    """Where the thread of a mongod or mongos that serves one connection is in /proc; None when it can't be found.

    Both serve each connection with a thread of its own, and name it after `hello`'s `connectionId`.
    """
    try:
        threads = list((proc / str(pid) / "task").iterdir())
    except OSError:
        return None
    return next((thread for thread in threads if _name(thread) == f"conn{connection_id}"), None)


def thread_cpu_ns(thread: Path) -> int | None:
    """CPU time of a thread, given by its place in /proc; None when it has ended."""
    try:
        return int((thread / "schedstat").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _name(thread: Path) -> str:
    try:
        return (thread / "comm").read_text().strip()
    except OSError:
        return ""
