"""Owns how nodes are named: `ray`, `ray:N`, `ray://HOST:PORT`, `ray://HOST:PORT/N`, `local:N`."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_FORMS = "ray, ray:N, ray://HOST:PORT, ray://HOST:PORT/N or local:N"
_RAY = re.compile(r"ray(?:(?P<address>://[^\s/]+:\d+))?(?:[:/](?P<count>\d+))?")
_LOCAL = re.compile(r"local:(?P<count>\d+)")
COUNT_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which nodes perform a plan. `address`: of Ray's client; None: the cluster that is there. `count` None: all."""

    is_ray: bool
    address: str | None = None
    count: int | None = None
    per_node: int = 1

    @property
    def processes(self) -> int:
        """How many processes of this machine are meant, where it is no cluster."""
        return (self.count or 1) * self.per_node

    @property
    def text(self) -> str:
        """As `read_where` reads it."""
        if not self.is_ray:
            return f"local:{self.count}"
        count = "" if self.count is None else f"{':' if self.address is None else '/'}{self.count}"
        return f"{self.address or 'ray'}{count}"


def read_where(text: str, per_node: int = 1) -> Where:
    """What `text` says. Raises ValueError."""
    if found := _LOCAL.fullmatch(text):
        where = Where(is_ray=False, count=int(found["count"]), per_node=per_node)
    elif found := _RAY.fullmatch(text):
        address = None if found["address"] is None else f"ray{found['address']}"
        count = None if found["count"] is None else int(found["count"])
        where = Where(is_ray=True, address=address, count=count, per_node=per_node)
    else:
        raise ValueError(f"{text!r} names no workers; write {_FORMS}")
    if where.address is not None:
        _check_port(where.address)
    if not 1 <= per_node <= COUNT_MAX:
        raise ValueError(f"there can't be {per_node} of them on a node")
    if where.count is not None and not 1 <= where.count <= COUNT_MAX:
        raise ValueError(f"{text!r}: there can be 1 to {COUNT_MAX} of them")
    return where


def _check_port(address: str) -> None:
    """Raises ValueError."""
    try:
        known = urlsplit(address).port != 0
    except ValueError:
        known = False
    if not known:
        raise ValueError(f"{address!r} has a port that is none; ports are 1 to 65535")
