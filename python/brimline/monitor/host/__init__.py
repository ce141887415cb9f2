"""Owns the figures of a server's host: read from /proc here, asked of whoever reads them there, or found in a file."""

from brimline.monitor.host.counters import (
    Columns,
    disk_columns,
    disk_device,
    free_bytes,
    interface_bits_per_s,
    memory_columns,
    network_columns,
    network_interfaces,
    own_resident_bytes,
)

__all__ = [
    "Columns",
    "disk_columns",
    "disk_device",
    "free_bytes",
    "interface_bits_per_s",
    "memory_columns",
    "network_columns",
    "network_interfaces",
    "own_resident_bytes",
]
