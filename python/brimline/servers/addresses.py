"""Owns how the address of a host is written and read, and which hosts are this machine by their name alone."""

import re
from ipaddress import ip_address

from brimline.errors import UsageError

PORT_MAX = (1 << 16) - 1
_ADDRESS = re.compile(r"(?:\[(?P<v6>[0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|(?P<name>[\w.-]+)):(?P<port>[0-9]+)", re.ASCII)


def in_brackets(host: str) -> str:
    """`host` as it stands before a port: one of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def joined_address(host: str, port: int) -> str:
    """`host:port` or `[v6]:port`; `deployment.split_address` is the way back."""
    return f"{in_brackets(host)}:{port}"


def read_address(text: str, *, port_min: int = 1) -> tuple[str, int] | None:
    """Host, without brackets, and port of a `HOST:PORT` that somebody wrote; None where it is none.

    `port_min` 0: to listen, where 0 is any port that is free. Raises UsageError where no port has the number.
    """
    found = _ADDRESS.fullmatch(text)
    return None if found is None else (found["v6"] or found["name"], read_port(found["port"], port_min=port_min))


def read_port(digits: str, *, port_min: int = 1) -> int:
    """The port that `digits` say. Raises UsageError where no port has the number."""
    port = int(digits[:9])  # enough of any number to see that it is too large
    if not port_min <= port <= PORT_MAX:
        raise UsageError(
            f"the port {digits[:9]} is out of range", hint=f"a port is a number from {port_min} to {PORT_MAX}"
        )
    return port


def names_loopback(host: str) -> bool:
    """Whether `host` is this machine alone, whatever names lead to: no name but localhost is asked for."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
