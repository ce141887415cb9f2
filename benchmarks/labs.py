"""Brings labs up and takes them down, kills some half-way, and holds that nothing is ever left.

    python -m benchmarks.labs [--rounds 50] [--killed 5]

The rounds take turns among a server of its own, a replica set of three, one with access control and TLS,
client-routed shards, and a replica set that is far away. After the next command there must be no process, no directory
and no port of any of them. Exit code 1 when there is.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

_SHAPES: tuple[tuple[str, ...], ...] = (
    (),
    ("--replica-set", "3", "--election-timeout", "2s"),
    ("--replica-set", "3", "--election-timeout", "2s", "--auth", *(("--tls",) if shutil.which("openssl") else ())),
    ("--client-routed", "3", "--auth"),
    ("--replica-set", "2", "--election-timeout", "2s", "--delay", "2ms"),
)
_UP_S = 240.0
_GONE_S = 10.0


def main() -> int:
    """Prints a line per round and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--killed", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)  # which rounds are cut, and when; no secret
    cut = set(chance.sample(range(arguments.rounds), min(arguments.killed, arguments.rounds)))
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="brimline-labs-") as directory:
        cache = Path(directory)
        for number in range(arguments.rounds):
            shape = _SHAPES[number % len(_SHAPES)]
            after_s = chance.uniform(0.0, 8.0) if number in cut else None
            ports = _killed_half_way(shape, cache, after_s) if after_s is not None else _up_and_down(shape, cache)
            left = _left(cache, ports)
            failed += left
            how = "up and down" if after_s is None else f"killed after {after_s:.1f} s"
            sys.stdout.write(f"{number + 1}: {' '.join(shape) or 'standalone'}, {how}: {', '.join(left) or 'clean'}\n")
            sys.stdout.flush()
    sys.stdout.write(json.dumps({"rounds": arguments.rounds, "killed": len(cut), "left_behind": len(failed)}) + "\n")
    return 1 if failed else 0


def _up_and_down(shape: tuple[str, ...], cache: Path) -> list[int]:
    """The ports that the lab used."""
    done = _brimline(cache, "up", "--small", "--json", *shape)
    if done.returncode != 0:
        sys.stdout.write(done.stderr)
        return []
    servers = json.loads(done.stdout)["servers"]
    addresses = {server[where] for server in servers for where in ("address", "behind") if server[where] is not None}
    _brimline(cache, "down")
    return [int(address.rpartition(":")[2]) for address in sorted(addresses)]


def _killed_half_way(shape: tuple[str, ...], cache: Path, after_s: float) -> list[int]:
    """As `_up_and_down`, of a command that is killed; one that was quicker is taken down like any other."""
    process = subprocess.Popen(
        [sys.executable, "-m", "brimline", "lab", "up", "--small", *shape],
        env=_environment(cache),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(after_s)
    ports = [port for each in _processes(cache) for port in _listening(each)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    _brimline(cache, "down", "--all")
    return ports


def _left(cache: Path, ports: list[int]) -> list[str]:
    """What is left of labs; a guardian that was just starting gets a moment to see that it is alone."""
    until = time.monotonic() + _GONE_S
    while True:
        listening = {each.laddr.port for each in psutil.net_connections("tcp") if each.status == psutil.CONN_LISTEN}
        found = [
            *(str(path) for path in (cache / "brimline" / "labs").glob("*")),
            *(str(path) for path in (cache / "brimline" / "labs").glob(".*")),
            *(f"process {each.pid}" for each in _processes(cache)),
            *(f"port {port}" for port in ports if port in listening),
        ]
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.1)


def _processes(cache: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(cache) in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def _listening(process: psutil.Process) -> list[int]:
    """The ports that a process listens on."""
    try:
        return [each.laddr.port for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN]
    except psutil.Error:
        return []


def _brimline(cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "brimline", "lab", *words],
        env=_environment(cache),
        capture_output=True,
        text=True,
        timeout=_UP_S,
        check=False,
    )


def _environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(cache)}


if __name__ == "__main__":
    sys.exit(main())
