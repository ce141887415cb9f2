"""Owns how the address of a host is written, and which hosts are this machine by their name alone."""

from ipaddress import ip_address


def in_brackets(host: str) -> str:
    """`host` as it stands before a port: one of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def joined_address(host: str, port: int) -> str:
    """`host:port` or `[v6]:port`; `deployment.split_address` is the way back."""
    return f"{in_brackets(host)}:{port}"


def names_loopback(host: str) -> bool:
    """Whether `host` is this machine alone, whatever names lead to: no name but localhost is asked for."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
