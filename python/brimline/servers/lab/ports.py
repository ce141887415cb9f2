"""Owns choosing the port of a server or a forwarder of a lab, and making the directory that is named after it."""

from collections.abc import Callable
from pathlib import Path

from brimline.servers.bundled import free_port


def claim_port(servers: Path, name_of: Callable[[int], str]) -> tuple[int, Path]:
    """A port that nothing listens on, and its new directory in `servers`.

    Until a server listens its port counts as free, so that another of the same lab can be offered it (seen about once
    in 4 000 sets of three): the directory is what holds it, among those of a kind. A server and a forwarder that are
    offered one port find it taken and start with another. Raises OSError.
    """
    while True:
        port = free_port()
        directory = servers / name_of(port)
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return port, directory
