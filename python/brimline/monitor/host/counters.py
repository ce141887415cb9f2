"""Owns the counters of this machine that matter to a server on it, from /proc and /sys (proc(5), iostats.rst).

Memory, disk and network are read here, CPU in `cpu_time`. A file that isn't there leaves its columns out.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

_SECTOR_BYTES = 512
"""The unit of /proc/diskstats, whatever the device's own sectors are."""
_KIBIBYTE = 1024

Columns = dict[str, int | None]


def memory_columns(*, root: Path = Path("/")) -> Columns:
    """Memory that is there, that programs could still have, and swap in use."""
    sizes = _meminfo(root)
    swap = (sizes.get("SwapTotal"), sizes.get("SwapFree"))
    return {
        "host_memory_total_bytes": sizes.get("MemTotal"),
        "host_memory_available_bytes": sizes.get("MemAvailable"),
        "host_swap_used_bytes": None if swap[0] is None or swap[1] is None else swap[0] - swap[1],
    }


def free_bytes(directory: Path) -> int | None:
    """Room that users have on the disk of a directory; None where it can't be looked at."""
    try:
        return shutil.disk_usage(directory).free
    except OSError:
        return None


def own_resident_bytes(*, proc: Path = Path("/proc")) -> int | None:
    """Memory of this process; None where this machine doesn't show it."""
    pages = next(iter(_lines(proc / "self/statm")), "").split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if len(pages) > 1 else None


def disk_columns(device: str, *, root: Path = Path("/")) -> Columns:
    """Counters of one block device, such as `sda`; none when it isn't there any more."""
    for line in _lines(root / "proc/diskstats"):
        fields = line.split()
        if len(fields) >= 14 and fields[2] == device:
            return _disk(tuple(int(field) for field in fields[3:14]))
    return {}


def _disk(stats: tuple[int, ...]) -> Columns:
    reads, _, sectors_read, read_ms, writes, _, sectors_written, write_ms, in_flight, busy_ms, queue_ms = stats
    return {
        "disk_reads": reads,
        "disk_writes": writes,
        "disk_bytes_read": sectors_read * _SECTOR_BYTES,
        "disk_bytes_written": sectors_written * _SECTOR_BYTES,
        "disk_read_time_ms": read_ms,
        "disk_write_time_ms": write_ms,
        "disk_busy_ms": busy_ms,
        "disk_queue_time_ms": queue_ms,
        "disk_in_flight": in_flight,
    }


def network_columns(interfaces: tuple[str, ...], *, root: Path = Path("/")) -> Columns:
    """Counters of `interfaces` together, of loopback, and of TCP."""
    counted = _interface_counters(root)
    outside = [counted[name] for name in interfaces if name in counted]
    loopback = counted.get("lo")
    return {
        "host_network_bytes_in": sum(each["bytes_in"] for each in outside) if outside else None,
        "host_network_bytes_out": sum(each["bytes_out"] for each in outside) if outside else None,
        "host_network_drops": sum(each["drops"] for each in outside) if outside else None,
        "host_loopback_bytes": None if loopback is None else loopback["bytes_out"],
        "host_tcp_retransmits": _tcp_retransmits(root),
    }


def network_interfaces(*, root: Path = Path("/")) -> tuple[str, ...]:
    """The interfaces by which traffic leaves this machine.

    Those of real devices, so that what passes a bridge isn't counted twice; in a container, which has none, all but
    loopback.
    """
    names = [name for name in _interface_counters(root) if name != "lo"]
    real = [name for name in names if (root / "sys/class/net" / name / "device").exists()]
    return tuple(real or names)


def interface_bits_per_s(name: str, *, root: Path = Path("/")) -> int | None:
    """What an interface says it can carry; None where it doesn't say, as most virtual ones."""
    try:
        megabits_per_s = int((root / "sys/class/net" / name / "speed").read_text())
    except (OSError, ValueError):
        return None
    return megabits_per_s * 1_000_000 if megabits_per_s > 0 else None


def disk_device(path: Path, *, root: Path = Path("/")) -> str | None:
    """The whole disk that holds `path`, such as `sda` or `nvme0n1`; None when it is on none that can be told.

    A partition's counters leave out what its neighbours do to the same disk. Of a device above others (LVM, a RAID) it
    is the upper one.
    """
    try:
        number = path.stat().st_dev
    except OSError:
        return None
    if os.major(number) == 0:  # a file system with a number of its own
        number = _device_below(number, root)
    block = root / "sys/dev/block" / f"{os.major(number)}:{os.minor(number)}"
    if not block.exists():
        return None
    resolved = block.resolve()
    return resolved.parent.name if (resolved / "partition").exists() else resolved.name


def _device_below(number: int, root: Path) -> int:
    """The device that such a file system lies on (Btrfs), from mountinfo; 0 for those in memory or above others."""
    mounted_as = f"{os.major(number)}:{os.minor(number)}"
    for line in _lines(root / "proc/self/mountinfo"):
        mount, _, file_system = line.partition(" - ")
        source = Path(file_system.split()[1]) if len(file_system.split()) > 1 else Path()
        if mount.split()[2:3] == [mounted_as] and source.is_block_device():
            return source.stat().st_rdev
    return 0


def _interface_counters(root: Path) -> Mapping[str, Mapping[str, int]]:
    counters = {}
    for line in _lines(root / "proc/net/dev")[2:]:
        name, _, rest = line.partition(":")
        fields = [int(field) for field in rest.split()]
        if len(fields) >= 12:
            counters[name.strip()] = {
                "bytes_in": fields[0],
                "bytes_out": fields[8],
                "drops": fields[3] + fields[11],
            }
    return counters


def _tcp_retransmits(root: Path) -> int | None:
    tcp = [line.split() for line in _lines(root / "proc/net/snmp") if line.startswith("Tcp:")]
    if len(tcp) != 2:
        return None
    segments = dict(zip(tcp[0], tcp[1], strict=False)).get("RetransSegs")
    return None if segments is None else int(segments)


def _meminfo(root: Path) -> Mapping[str, int]:
    sizes = {}
    for line in _lines(root / "proc/meminfo"):
        name, _, value = line.partition(":")
        if value.split()[1:2] == ["kB"]:
            sizes[name] = int(value.split()[0]) * _KIBIBYTE
    return sizes


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []
