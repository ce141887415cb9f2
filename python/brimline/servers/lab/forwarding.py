"""Owns the forwarders of a lab, one before each server that connections come to from afar: `forwarder.py` each."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from errno import EADDRINUSE
from pathlib import Path
from typing import Literal

from brimline.errors import TargetError
from brimline.servers.deployment import split_address
from brimline.servers.lab.network import Network
from brimline.servers.lab.ports import claim_port
from brimline.servers.lab.state import FORWARDER_PREFIX, Lab, LabServer
from brimline.servers.launch import START_FILE, Guardian, launch
from brimline.servers.listening import listens
from brimline.servers.state import read_json, read_server, write_json

_PROGRAM = Path(__file__).with_name("forwarder.py")
_ATTEMPTS = 4
_LOOK_S = 0.02
CONTROL_FILE = "control.json"
"""In the directory of a forwarder: what it is told while it runs."""
_FOLLOWED_WITHIN_S = 5.0


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
        command = forwarder_command(
            port=port, target=target, server_pid=pid, network=network, servers=servers, control=directory / CONTROL_FILE
        )
        guardians.append(launch(command, directory=directory))
        if _await_port(directory, port, guardians[-1], until, meanwhile):
            return replace(server, address=f"127.0.0.1:{port}", behind=server.own_address)
    raise TargetError("no port can be had for a forwarder", hint="see that this machine has free ports")


def forwarder_command(
    *,
    port: int,
    target: int,
    network: Network,
    server_pid: int | None = None,
    servers: Path | None = None,
    control: Path | None = None,
) -> list[str]:
    """The command line of a forwarder from `port` to `target`, both on 127.0.0.1; see `forwarder.py`."""
    options = {
        "port": port,
        "target": target,
        "server_pid": server_pid,
        "servers": None if servers is None else str(servers),
        "control": None if control is None else str(control),
        **network.to_document(),
    }
    return [sys.executable, "-I", "-S", str(_PROGRAM), json.dumps(options)]


def has_forwarder(lab: Lab, server: LabServer) -> bool:
    """Whether connections to a server come by a forwarder that takes orders."""
    return _control_file(lab, server) is not None


def order(
    lab: Lab, server: LabServer, *, cut: Sequence[int] | Literal["all"] = (), network: Network | None = None
) -> None:
    """Tells the forwarder before a server whose connections stand still, and how far away it is.

    `cut`: the processes that made them, or all; `network` None: as far as it was brought up. Raises TargetError.
    """
    file = _control_file(lab, server)
    process = None if file is None else read_server(file.parent)
    if file is None or process is None:
        raise TargetError(f"nothing stands before the server at {server.address}", hint=_WITHOUT_FORWARDER)
    line = Network.from_document(lab.settings["network"]) if network is None else network
    number = time.monotonic_ns()
    orders = {
        "number": number,
        "cut": cut if isinstance(cut, str) else list(cut),
        "delay_ns": line.delay_ns,
        "rate_bit_per_s": line.rate_bit_per_s,
    }
    try:
        write_json(file, orders)
        os.kill(process.pid, signal.SIGHUP)
    except OSError as error:
        raise TargetError(f"the forwarder before {server.address} takes no orders: {error}", hint="") from error
    done, until = Path(f"{file}.done"), time.monotonic() + _FOLLOWED_WITHIN_S
    while not done.exists() or done.read_text() != str(number):
        if time.monotonic() > until:
            raise TargetError(f"the forwarder before {server.address} doesn't follow", hint="the machine may be busy")
        time.sleep(_LOOK_S)


def restore_line(lab: Lab, server: LabServer) -> bool:
    """Lets what stands before a server be as it was brought up; whether it was told else before. Raises TargetError."""
    file = _control_file(lab, server)
    orders = {} if file is None else read_json(file)
    line = Network.from_document(lab.settings["network"]) if orders else None
    if line is None or (not orders.get("cut") and (orders.get("delay_ns"), orders.get("rate_bit_per_s"))
                        == (line.delay_ns, line.rate_bit_per_s)):  # fmt: skip
        return False
    order(lab, server)
    return True


_WITHOUT_FORWARDER = "bring the lab up with a line before its servers: --delay 0ms --between all"


def _control_file(lab: Lab, server: LabServer) -> Path | None:
    if server.behind is None:
        return None
    directory = lab.servers_directory / f"{FORWARDER_PREFIX}{split_address(server.address)[1]}"
    command = read_json(directory / START_FILE).get("command") or ["{}"]
    return directory / CONTROL_FILE if json.loads(command[-1]).get("control") else None


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
