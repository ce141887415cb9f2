"""Owns starting a server of brimline's own, as the options of a verb want it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from brimline.api.options import Options
from brimline.api.options.server import OF_ITS_OWN
from brimline.api.own_lab import own_lab, router_of, wants_lab
from brimline.errors import UsageError
from brimline.execution import StopToken
from brimline.servers import Deployment, bundled, find_mongod


@contextmanager
def own_server(options: Options, *, say: Callable[[str], None], stop: StopToken) -> Iterator[Deployment]:
    """A fresh server for the length of the `with` block. `say` is told what is fetched and started.

    Where a topology, a network or a share of the processors is wanted it is a lab. Raises UsageError and TargetError as
    `find_mongod`, `bundled` and `bring_up` do, Interrupted while something is fetched.
    """
    router_of(options)  # one that nothing would use is refused first
    binary = find_mongod(
        flag=options.mongod, server_version=options.server_version, say=say, meanwhile=stop.raise_if_requested
    )
    if wants_lab(options):
        with own_lab(options, binary, say=say, stop=stop) as deployment:
            yield deployment
        return
    say(f"starting {binary.described}")
    with bundled(binary=binary, cache_gb=options.cache_gb) as deployment:
        yield deployment


def refuse_own(options: Options) -> None:
    """Where a server was named, or none is wanted, what says how to start one contradicts it. Raises UsageError."""
    for name, option in options.given.items():
        if name in OF_ITS_OWN:
            given = f"{option.name} {getattr(options, name)}"
            raise UsageError(
                f"{given} is of servers that brimline starts, and another target was named",
                hint=f"leave {option.name} out, or --uri (also in the workload and in BRIMLINE_URI) and --null",
            )
