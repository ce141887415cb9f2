"""Owns reading the kernel's files. Every check takes their root, so that tests can hand in another machine."""

from pathlib import Path

ROOT = Path("/")


def text(path: Path) -> str | None:
    """What a file says, None where a container or another kernel doesn't have it."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def number(path: Path) -> int | None:
    """What a file of one number says; None where there is none."""
    found = text(path)
    try:
        return None if found is None else int(found)
    except ValueError:
        return None


def memory_kib(root: Path) -> dict[str, int]:
    """`/proc/meminfo` by name; empty where it can't be read."""
    rows = (line.partition(":") for line in (text(root / "proc/meminfo") or "").splitlines())
    return {name: int(value.split()[0]) for name, _, value in rows if value.split() and value.split()[0].isdigit()}


def session_of(root: Path, pid: int | str) -> int | None:
    """The session of a process, field 6 of `/proc/<pid>/stat` (proc(5))."""
    fields = (text(root / "proc" / str(pid) / "stat") or "").rpartition(")")[2].split()
    return int(fields[3]) if len(fields) > 3 and fields[3].isdigit() else None


def is_virtual(root: Path) -> bool | None:
    """Whether this is a virtual machine; None where the processors' flags can't be read."""
    flags = text(root / "proc/cpuinfo")
    return None if flags is None else "hypervisor" in flags.split()
