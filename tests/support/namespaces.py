"""Owns network namespaces of this machine: nodes with addresses of their own, on one bridge."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil
import pytest

_NAME = "brimline"
_SUBNETS = 250


@dataclass(frozen=True, slots=True)
class Networks:
    """`here` is this machine's address on the bridge; a namespace and its address for each node."""

    here: str
    names: tuple[str, ...]
    addresses: tuple[str, ...]

    def command(self, number: int, *words: str) -> tuple[str, ...]:
        """What runs `words` in a namespace."""
        return ("ip", "netns", "exec", self.names[number], *words)


@contextmanager
def networks(count: int, *, second: int) -> Iterator[Networks]:
    """So many namespaces on a subnet of this process, 10.`second`.x; the test is skipped where there can be none."""
    subnet = f"10.{second}.{os.getpid() % _SUBNETS}"
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need root and ip")
    _sweep()
    names = tuple(f"{_NAME}-{os.getpid()}-{number}" for number in range(count))
    addresses = tuple(f"{subnet}.{number + 2}" for number in range(count))
    bridge = f"bl{os.getpid()}"
    try:
        try:
            _run("link", "add", bridge, "type", "bridge")
            _run("address", "add", f"{subnet}.1/24", "dev", bridge)
            _run("link", "set", bridge, "up")
            for number, (name, address) in enumerate(zip(names, addresses, strict=True)):
                ours, theirs = f"{bridge}o{number}", f"{bridge}t{number}"
                _run("netns", "add", name)
                _run("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name)
                _run("link", "set", ours, "master", bridge, "up")
                _run("-n", name, "address", "add", f"{address}/24", "dev", theirs)
                _run("-n", name, "link", "set", theirs, "up")
                _run("-n", name, "link", "set", "lo", "up")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespace can be made here: {error.stderr!r}")
        yield Networks(f"{subnet}.1", names, addresses)
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
        subprocess.run(["ip", "link", "delete", bridge], capture_output=True, check=False)


def _sweep() -> None:
    """Takes away what tests that were killed have left: it would have the same addresses."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout.split()
    bridges = subprocess.run(
        ["ip", "-o", "link", "show", "type", "bridge"], capture_output=True, text=True, check=False
    )
    for name in re.findall(rf"{_NAME}-(\d+)-\d+", " ".join(listed)):
        if not psutil.pid_exists(int(name)):
            for each in (word for word in listed if word.startswith(f"{_NAME}-{name}-")):
                subprocess.run(["ip", "netns", "delete", each], capture_output=True, check=False)
    for name in re.findall(r": bl(\d+):", bridges.stdout):
        if not psutil.pid_exists(int(name)):
            subprocess.run(["ip", "link", "delete", f"bl{name}"], capture_output=True, check=False)


def _run(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
