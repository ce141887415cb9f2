"""Owns a Ray cluster on this machine: a head without processors, and nodes in network namespaces of their own."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from brimline.servers.bundled import free_port
from tests.support.namespaces import Networks, networks
from tests.support.waiting import eventually

_SOURCES = Path(__file__).parents[2] / "python"
_UP_WITHIN_S = 120.0
_UP = "Ray runtime started."
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}
"""A token that a user of it has would be the head's alone. At niceness 15, Ray's own, a node waits for others."""


@dataclass(frozen=True, slots=True)
class RayCluster:
    """`address` is what RAY_ADDRESS is set to, `client` that of Ray's client; `nodes` are what keeps the nodes up.

    `directory` is all that Ray writes on a disk; each node has a network of `network`.
    """

    address: str
    client: str
    nodes: Sequence[subprocess.Popen[bytes]]
    directory: Path
    network: Networks

    @property
    def environment(self) -> dict[str, str]:
        """What a command needs to find it."""
        return {"RAY_ADDRESS": self.address, **_SETTINGS}

    def actors(self) -> list[int]:
        """How many workers are at work on each of its nodes that has some."""
        counts = [sum(map(_is_actor, psutil.Process(node.pid).children(recursive=True))) for node in self.nodes]
        return [count for count in counts if count]


@contextmanager
def ray_cluster(count: int) -> Iterator[RayCluster]:
    """So many nodes of two processors each: workers may lie on one, unless they are spread.

    The test is skipped without Ray or network namespaces.
    """
    if importlib.util.find_spec("ray") is None:
        pytest.skip("no Ray here: make cluster")
    with ExitStack() as stack:
        network = stack.enter_context(networks(count, second=112))
        directory = tempfile.mkdtemp(prefix="blray", dir="/tmp")  # paths of sockets are short
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        port, client = free_port(), free_port()
        head = f"{network.here}:{port}"
        ports = (
            f"--port={port}",
            f"--dashboard-agent-listen-port={free_port()}",
            f"--ray-client-server-port={client}",
        )
        where = (f"--node-ip-address={network.here}", f"--temp-dir={directory}")
        log = Path(directory, "start.log")
        alone = ("--head", "--include-dashboard=false", "--no-monitor", "--num-cpus=0")  # nobody asks for more nodes
        stack.enter_context(_started((), log, *alone, *ports, *where))
        nodes = []
        for number, address in enumerate(network.addresses):  # one after the other: they look for free names of sockets
            words = (f"--address={head}", f"--node-ip-address={address}", "--num-cpus=2")
            nodes.append(stack.enter_context(_started(network.command(number), log, *words)))
        yield RayCluster(head, f"ray://{network.here}:{client}", nodes, Path(directory), network)


@contextmanager
def _started(prefix: Sequence[str], log: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [*prefix, sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
    begun = log.read_text().count(_UP) if log.exists() else 0
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command, "--object-store-memory=100000000", "--include-log-monitor=false", *words],
            env={
                **os.environ,
                "PYTHONPATH": str(_SOURCES),
                **_SETTINGS,
                "RAY_raylet_start_wait_time_s": "120",
                "GRPC_ENABLE_FORK_SUPPORT": "0",  # or, now and then, what it forks for a client dies
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        is_up = eventually(lambda: log.read_text().count(_UP) > begun, timeout_s=_UP_WITHIN_S)
        assert is_up, log.read_text()
        yield process
    finally:
        below = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        for each in below:
            with suppress(psutil.NoSuchProcess):  # it went with another one
                each.kill()
        process.kill()
        process.wait()


def _is_actor(process: psutil.Process) -> bool:
    try:
        return any(name in " ".join(process.cmdline()) for name in ("ray::_Actor", "ray::_Watch"))
    except psutil.NoSuchProcess:
        return False
