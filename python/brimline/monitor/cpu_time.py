"""Owns CPU time from /proc (proc(5)): of one process, of the machine; ns, growing, grain 10 ms."""

import os
from dataclasses import dataclass
from pathlib import Path

_NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_USER_TIME_FIELD = 14
_FIRST_FIELD_AFTER_NAME = 3
_IDLE_FIELDS = frozenset({"idle", "iowait"})
_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""`guest` and `guest_nice` follow and are contained in `user` and `nice`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCpu:
    """CPU time of all processes, time stolen by the hypervisor included, and the number of CPUs."""

    busy_ns: int
    cpu_count: int


def process_cpu_ns(pid: int, *, proc: Path = Path("/proc")) -> int | None:
    """User and system time of all threads of a process, those that ended included; None when it is gone."""
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name stands in parentheses and may hold anything.
    fields = text.rpartition(")")[2].split()
    first = _USER_TIME_FIELD - _FIRST_FIELD_AFTER_NAME
    return (int(fields[first]) + int(fields[first + 1])) * _NS_PER_TICK


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
    return HostCpu(busy_ns=busy * _NS_PER_TICK, cpu_count=len(cpu_lines) - 1)
