"""Owns how many CPUs a process may use: its affinity and the quotas of its control groups (cgroup 1 and 2).

A server says how many CPUs its machine has for it; what a container lets it use of them it doesn't know.
"""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")


def cpu_allowance(pid: int, *, root: Path = ROOT) -> float | None:
    """CPUs that process `pid` may use at once on average; None where /proc doesn't say.

    The smallest of: CPUs in its affinity mask, and the quota of its control group and of each one above it.
    sched_setaffinity(2); https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files
    """
    limits = [*_affinity(root / "proc" / str(pid)), *_quotas(root / "proc" / str(pid), root)]
    return min(limits, default=None)


def _affinity(process: Path) -> Iterator[float]:
    for line in _text(process / "status").splitlines():
        name, _, value = line.partition(":")
        if name == "Cpus_allowed_list":
            yield float(sum(_length(part) for part in value.strip().split(",") if part))


def _length(part: str) -> int:
    """How many CPUs "3" or "0-7" are."""
    first, _, last = part.partition("-")
    return int(last or first) - int(first) + 1


def _quotas(process: Path, root: Path) -> Iterator[float]:
    for line in _text(process / "cgroup").splitlines():
        hierarchy, controllers, path = line.split(":", 2)
        unified = hierarchy == "0" and not controllers
        if not unified and "cpu" not in controllers.split(","):
            continue
        for mount, above in _mounts(process, unified=unified):
            yield from _quotas_up_from(root / mount.lstrip("/"), _below(path, above), unified=unified)


def _mounts(process: Path, *, unified: bool) -> Iterator[tuple[str, str]]:
    """Where a hierarchy is mounted, and which of its groups is seen there: a container sees a part."""
    for line in _text(process / "mountinfo").splitlines():
        mount, _, file_system = line.partition(" - ")
        fields, kind = mount.split(), file_system.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        if kind[0] == "cgroup2" if unified else kind[0] == "cgroup" and "cpu" in kind[2].split(","):
            yield fields[4], fields[3]


def _below(path: str, above: str) -> Path:
    """A group's place below the group that is mounted."""
    return Path(path.removeprefix(above.rstrip("/")).lstrip("/"))


def _quotas_up_from(mount: Path, group: Path, *, unified: bool) -> Iterator[float]:
    for each in (group, *group.parents):
        quota = _quota(mount / each, unified=unified)
        if quota is not None:
            yield quota


def _quota(group: Path, *, unified: bool) -> float | None:
    if unified:
        quota, _, period = _text(group / "cpu.max").strip().partition(" ")
    else:
        quota = _text(group / "cpu.cfs_quota_us").strip()
        period = _text(group / "cpu.cfs_period_us").strip()
    # "max" and -1 say that there is none.
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else None


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
