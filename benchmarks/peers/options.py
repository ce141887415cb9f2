"""Owns the command line: which peers, which work, how long, on which cores."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from benchmarks.peers.builds import ROOT
from benchmarks.peers.catalogue import BRIMLINE, CATALOGUE
from benchmarks.peers.settings import CELLS, Settings, default_cores
from brimline.errors import UsageError

_LOOK_RECORDS, _LOOK_READY_BYTES = 10_000, 64 << 20
_LOOK_BATCH = 50
"""No document of a load is in before a batch of each thread has come so far: 32 000 of them, cold, outlast a look."""
_NUMBERS = ("rounds", "records", "threads", "batch", "measured_s", "warmup_s", "warmup_compiling_s")


class _Parser(argparse.ArgumentParser):
    """Refuses as the rest of brimline does: an error with a hint."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"{self.prog} --help lists all options")


def read_arguments(words: Sequence[str]) -> argparse.Namespace:
    """What was asked for. Raises UsageError."""
    peers = [peer.name for peer in CATALOGUE if peer.name != BRIMLINE]
    cells = [cell.name for cell in CELLS]
    client_cores, server_cores = default_cores()
    parser = _Parser(
        prog="python -m benchmarks.peers", description="Measures brimline beside its peers.", allow_abbrev=False
    )
    add = parser.add_argument
    add("--peers", type=_list_of("peer", peers), default=peers, metavar="A,B", help=f"of {', '.join(peers)}")
    add("--cells", type=_list_of("cell", cells), default=cells, metavar="A,B", help=f"of {', '.join(cells)}")
    add("--quick", action="store_true", help="one round of short windows: whether it works, not how fast it is")
    add("--rounds", type=_positive(int), help="how often everything is measured")
    add("--records", type=_positive(int), help="records of workloads A and C")
    add("--threads", type=_positive(int), help="connections")
    add("--batch", type=_positive(int), help="documents per command of a batched load")
    add("--measured-s", type=_positive(float), help="length of a window")
    add("--warmup-s", type=_positive(float), help="warm-up of what is compiled")
    add("--warmup-compiling-s", type=_positive(float), help="that of what compiles while it runs: on a JVM, Node.js")
    add("--together", action="store_true", help="client and server on all cores, instead of cores of their own")
    add("--client-cores", type=_cores, default=client_cores, metavar="0,1", help="where clients run")
    add("--server-cores", type=_cores, default=server_cores, metavar="0,1", help="where mongod runs")
    add("--mongod", type=Path, help="start this mongod instead of the bundled one")
    add("--page", action="store_true", help="measure nothing: write BENCHMARKS.md again from results.json")
    add("--output", type=Path, default=ROOT, help="directory of BENCHMARKS.md and benchmarks/results.json")
    return parser.parse_args(words)


def settings_of(given: argparse.Namespace) -> Settings:
    """What was asked for, with defaults for the rest."""
    settings = replace(Settings(), client_cores=given.client_cores, server_cores=given.server_cores)
    if given.together:
        everywhere = tuple(sorted(os.sched_getaffinity(0)))
        settings = replace(settings, client_cores=everywhere, server_cores=everywhere)
    if given.quick:
        settings = short_windows(replace(settings, rounds=1, records=_LOOK_RECORDS, ready_bytes_max=_LOOK_READY_BYTES))
    return replace(settings, **{name: getattr(given, name) for name in _NUMBERS if getattr(given, name) is not None})


def short_windows(settings: Settings) -> Settings:
    """Long enough to see what a client does, not how fast it is."""
    short = replace(settings, warmup_s=0.5, warmup_compiling_s=1.0, measured_s=1.0, batched_part=1.0)
    return replace(short, batch=min(settings.batch, _LOOK_BATCH))


def _list_of(what: str, known: Sequence[str]) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        wanted = [word for word in text.split(",") if word]
        if not wanted:
            raise argparse.ArgumentTypeError(f"no {what} is named; known are {', '.join(known)}")
        if unknown := [word for word in wanted if word not in known]:
            raise argparse.ArgumentTypeError(f"there is no {what} {unknown[0]}; known are {', '.join(known)}")
        return wanted

    return read


def _positive(kind: type[int] | type[float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = kind(text)
        if not 0 < value < 1e9:
            raise argparse.ArgumentTypeError(f"{text} is not between 0 and 10⁹")
        return value

    read.__name__ = kind.__name__
    return read


def _cores(text: str) -> tuple[int, ...]:
    usable = sorted(os.sched_getaffinity(0))
    names = {str(core): core for core in usable}
    if unknown := [word for word in text.split(",") if word not in names]:
        raise argparse.ArgumentTypeError(
            f'there is no core "{unknown[0]}" to run on; there are {", ".join(map(str, usable))}'
        )
    return tuple(dict.fromkeys(names[word] for word in text.split(",")))
