"""Owns what other tools tell of a host, brought into the columns of a row: the host's own, and those of each disk."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

Numbers = dict[str, int | float | None]

_NO_DISK = re.compile(r"(loop|ram|zram|sr|fd|nbd|md|dm-)\d+|dev7-\d+|dev1-\d+")
"""Devices that are none of their own, or lie above others."""
_VALUE_MAX = 2.0**63
_NO_INTERFACE = re.compile(r"(lo|veth|docker|br-|virbr|ifb|tun|tap|cni|flannel|cali|vxlan|dummy|bond\d+\.|kube)")
"""Interfaces whose traffic leaves by another one as well, or doesn't leave. Loopback is one of them."""


def can_be(value: object) -> bool:
    """Whether a host can have counted `value`: it is a number, and not beyond all that a host counts."""
    return type(value) in (int, float) and abs(cast("float", value)) < _VALUE_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFigures:
    """What a host told at `unix_ns` of its own wall clock, which may be later by up to `grain_ns`.

    `columns` as in a `ServerRow`, without those of disks; `disks`: those by the name of each disk; `speeds_bits_per_s`
    of its interfaces, where it tells.
    """

    unix_ns: int
    grain_ns: int = 0
    columns: Numbers = field(default_factory=dict)
    disks: Mapping[str, Numbers] = field(default_factory=dict)
    speeds_bits_per_s: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def tells(self) -> bool:
        """Whether anything is told but how many CPUs there are."""
        of_host = (value for name, value in self.columns.items() if name != "host_cpu_count")
        return any(value is not None for value in of_host) or any(self.disks.values())

    def columns_with(self, disk: str | None) -> Numbers:
        """The host's columns, and those of a disk."""
        return {**self.columns, **(self.disks.get(disk, {}) if disk else {})}


def whole_disks(names: Iterable[str]) -> list[str]:
    """Of devices, those that may hold a server's data."""
    return sorted({name for name in names if not _NO_DISK.fullmatch(name)})


def data_disk(names: Iterable[str], named: str | None) -> str | None:
    """The disk that is meant: the one that was `named`, else the only one there is; None where that can't be told."""
    found = list(names)
    if named is not None:
        return named if named in found else None
    candidates = whole_disks(found)
    return candidates[0] if len(candidates) == 1 else None


def is_outside(interface: str) -> bool:
    """Whether traffic of an interface leaves the host there."""
    return _NO_INTERFACE.match(interface) is None
