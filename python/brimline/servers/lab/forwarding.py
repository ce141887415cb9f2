"""Owns the forwarders of a lab, one before each server that connections come to from afar: `forwarder.py` each."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from errno import EADDRINUSE
from pathlib import Path

from brimline.errors import TargetError
from brimline.servers.deployment import split_address
from brimline.servers.lab.network import Network
from brimline.servers.lab.ports import claim_port
from brimline.servers.lab.state import FORWARDER_PREFIX, Lab, LabServer
from brimline.servers.launch import Guardian, launch
from brimline.servers.listening import listens
from brimline.servers.state import read_server

_PROGRAM = Path(__file__).with_name("forwarder.py")
_ATTEMPTS = 4
_LOOK_S = 0.02


def forward(
    lab: Lab,
    server: LabServer,
    network: Network,
    *,
    pid: int,
    guardians: list[Guardian],
    until: float,
    meanwhile: Callable[[], None],
) -> LabServer:
    """Puts a forwarder before a server that listens; gives that as it is reached from now on.

    `guardians` gets whatever is started for it. The address is what members and clients are told, so that nobody finds
    a way around. Raises TargetError, OSError.
    """
    servers = lab.servers_directory
    for _ in range(_ATTEMPTS):
        port, directory = claim_port(servers, lambda port: f"{FORWARDER_PREFIX}{port}")
        target = split_address(server.own_address)[1]
        command = forwarder_command(port=port, target=target, server_pid=pid, network=network, servers=servers)
        guardians.append(launch(command, directory=directory))
        if _await_port(directory, port, guardians[-1], until, meanwhile):
            return replace(server, address=f"127.0.0.1:{port}", behind=server.own_address)
    raise TargetError("no port can be had for a forwarder", hint="see that this machine has free ports")


def forwarder_command(
    *, port: int, target: int, network: Network, server_pid: int | None = None, servers: Path | None = None
) -> list[str]:
    """The command line of a forwarder from `port` to `target`, both on 127.0.0.1; see `forwarder.py`."""
    options = {
        "port": port,
        "target": target,
        "server_pid": server_pid,
        "servers": None if servers is None else str(servers),
        **network.to_document(),
    }
    return [sys.executable, "-I", "-S", str(_PROGRAM), json.dumps(options)]


def _await_port(directory: Path, port: int, guardian: Guardian, until: float, meanwhile: Callable[[], None]) -> bool:
    """Whether the forwarder listens; False when another program was quicker to take the port."""
    while True:
        process = read_server(directory)
        if process is not None and listens(process.pid, port):
            return True
        meanwhile()
        if guardian.poll() is not None:
            if guardian.returncode == EADDRINUSE:
                return False
            words = (directory / "stderr").read_text(errors="replace").strip()
            raise TargetError(
                f"a forwarder ended at once: {words or guardian.returncode}", hint="the server behind it may have ended"
            )
        if time.monotonic() > until:
            raise TargetError("a forwarder doesn't listen in time", hint="give a longer --deadline")
        time.sleep(_LOOK_S)
