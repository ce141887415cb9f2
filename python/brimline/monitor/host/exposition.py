"""Owns reading what a Prometheus node exporter tells: its text, line by line, into the columns of a row. Pure.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from brimline.monitor.host.figures import HostFigures, Numbers, can_be, is_outside
from brimline.units import NS_PER_S

_SAMPLE = re.compile(
    r"(?P<name>node_\w+)(?:\{(?P<labels>[^}]*)\})?\s+(?P<value>\S+)(?:\s+(?P<unix_ms>-?\d+))?\s*", re.ASCII
)
_LABEL = re.compile(r'\b(\w+)="((?:[^"\\]|\\.)*)"')
"""Begun where a word begins, so that one without an end is looked through once."""
_IDLE = frozenset({"idle", "iowait"})
_MS_PER_S = 1000
_BITS_PER_BYTE = 8

_DISK: Mapping[str, tuple[str, int]] = {
    "node_disk_reads_completed_total": ("disk_reads", 1),
    "node_disk_writes_completed_total": ("disk_writes", 1),
    "node_disk_read_bytes_total": ("disk_bytes_read", 1),
    "node_disk_written_bytes_total": ("disk_bytes_written", 1),
    "node_disk_read_time_seconds_total": ("disk_read_time_ms", _MS_PER_S),
    "node_disk_write_time_seconds_total": ("disk_write_time_ms", _MS_PER_S),
    "node_disk_io_time_seconds_total": ("disk_busy_ms", _MS_PER_S),
    "node_disk_io_time_weighted_seconds_total": ("disk_queue_time_ms", _MS_PER_S),
    "node_disk_io_now": ("disk_in_flight", 1),
}
"""Columns by the exporter's names, and what its figures are multiplied by."""

Scrape = dict[tuple[str, str], float]
"""Values by name and labels."""


def scrapes(lines: Iterable[str]) -> Iterator[HostFigures]:
    """What a node exporter told, scrape after scrape: one ends where a figure is told again. What isn't its is skipped.

    A scrape without `node_time_seconds`, the host's own clock, and without times of its own is left out.
    """
    scrape: Scrape = {}
    stamp_ms: int | None = None
    for line in lines:
        sample = _SAMPLE.fullmatch(line.strip())
        if sample is None:
            continue
        key = (sample["name"], sample["labels"] or "")
        if key in scrape:
            yield from _figures(scrape, stamp_ms)
            scrape, stamp_ms = {}, None
        value = _number(sample["value"])
        if value is None:
            continue
        scrape[key] = value
        if sample["unix_ms"]:
            stamp_ms = int(sample["unix_ms"])
    yield from _figures(scrape, stamp_ms)


def _figures(scrape: Scrape, stamp_ms: int | None) -> Iterator[HostFigures]:
    now_s = scrape.get(("node_time_seconds", ""), None if stamp_ms is None else stamp_ms / _MS_PER_S)
    if now_s is None:
        return
    disks: dict[str, Numbers] = {}
    speeds: dict[str, int | None] = {}
    for (name, labels), value in scrape.items():
        device = _labels(labels).get("device", "")
        if name in _DISK:
            column, factor = _DISK[name]
            disks.setdefault(device, {})[column] = round(value * factor)
        elif name == "node_network_speed_bytes" and is_outside(device):
            speeds[device] = round(value * _BITS_PER_BYTE) if value > 0 else None
    columns = {**_cpu(scrape), **_memory(scrape), **_network(scrape)}
    yield HostFigures(unix_ns=round(now_s * NS_PER_S), columns=columns, disks=disks, speeds_bits_per_s=speeds)


def _cpu(scrape: Scrape) -> Numbers:
    modes = [(_labels(labels), value) for (name, labels), value in scrape.items() if name == "node_cpu_seconds_total"]
    if not modes:
        return {}
    return {
        "host_busy_ns": round(sum(value for each, value in modes if each.get("mode") not in _IDLE) * NS_PER_S),
        "host_iowait_ns": round(sum(value for each, value in modes if each.get("mode") == "iowait") * NS_PER_S),
        "host_cpu_count": len({each.get("cpu") for each, _ in modes}),
    }


def _memory(scrape: Scrape) -> Numbers:
    total, free = scrape.get(("node_memory_SwapTotal_bytes", "")), scrape.get(("node_memory_SwapFree_bytes", ""))
    return {
        "host_memory_total_bytes": _whole(scrape.get(("node_memory_MemTotal_bytes", ""))),
        "host_memory_available_bytes": _whole(scrape.get(("node_memory_MemAvailable_bytes", ""))),
        "host_swap_used_bytes": None if total is None or free is None else round(total - free),
    }


def _network(scrape: Scrape) -> Numbers:
    drops = [_outside(scrape, f"node_network_{way}_drop_total") for way in ("receive", "transmit")]
    return {
        "host_network_bytes_in": _outside(scrape, "node_network_receive_bytes_total"),
        "host_network_bytes_out": _outside(scrape, "node_network_transmit_bytes_total"),
        "host_network_drops": None if None in drops else sum(each for each in drops if each is not None),
        "host_loopback_bytes": _whole(scrape.get(("node_network_transmit_bytes_total", 'device="lo"'))),
        "host_tcp_retransmits": _whole(scrape.get(("node_netstat_Tcp_RetransSegs", ""))),
    }


def _outside(scrape: Scrape, wanted: str) -> int | None:
    """The sum over the interfaces by which traffic leaves the host; None where it has none."""
    found = [
        value
        for (name, labels), value in scrape.items()
        if name == wanted and is_outside(_labels(labels).get("device", "lo"))
    ]
    return round(sum(found)) if found else None


def _number(text: str) -> float | None:
    """A value that can be: what is none, or beyond all that a host counts, says nothing."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if can_be(value) else None


def _labels(text: str) -> dict[str, str]:
    return dict(_LABEL.findall(text))


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
