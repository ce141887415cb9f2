"""Owns a lab's forwarder before any address on loopback, so that a server there is far away."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from brimline.servers.bundled import free_port
from brimline.servers.lab.forwarding import forwarder_command
from brimline.servers.lab.network import Network
from brimline.servers.listening import listens
from tests.support.waiting import eventually


@contextmanager
def delaying_forwarder(address: str, *, delay_s: float) -> Iterator[str]:
    """Forwards to `address` (`host:port`), each way `delay_s` later; gives its own address."""
    with forwarder(address, Network(delay_ns=round(delay_s * 1e9))) as own:
        yield own


@contextmanager
def forwarder(address: str, network: Network) -> Iterator[str]:
    """The same over any line."""
    port = free_port()
    command = forwarder_command(port=port, target=int(address.rpartition(":")[2]), network=network)
    with subprocess.Popen(command) as process:
        try:
            assert eventually(lambda: listens(process.pid, port))
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()
