"""Owns starting a server of brimline's own, as the options of a verb want it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from brimline.api.options import Options
from brimline.api.options.server import OF_ITS_OWN
from brimline.api.own_lab import own_lab, router_of, wants_lab
from brimline.errors import UsageError
from brimline.execution import StopToken
from brimline.servers import Deployment, PasswordSource, bundled, find_mongod
from brimline.servers.database import database
from brimline.servers.lab.own_sql import own_sql
from brimline.servers.sql_programs import SqlSystem
from brimline.spec import Spec
from brimline.wording import Verbatim, message


@contextmanager
def own_server(options: Options, *, say: Callable[[str], None], stop: StopToken) -> Iterator[Deployment]:
    """A fresh server for the length of the `with` block. `say` is told what is fetched and started.

    Where a topology, a network or a share of the processors is wanted it is a lab. Raises UsageError and TargetError as
    `find_mongod`, `bundled` and `bring_up` do, Interrupted while something is fetched.
    """
    if (system := sql_system(options)) is not None:
        with _own_database(system, options, say=say, stop=stop) as deployment:
            yield deployment
        return
    router_of(options)  # one that nothing would use is refused first
    binary = find_mongod(
        flag=options.mongod, server_version=options.server_version, say=say, meanwhile=stop.raise_if_requested
    )
    if wants_lab(options):
        with own_lab(options, binary, say=say, stop=stop) as deployment:
            yield deployment
        return
    say(message("starting {server}", server=Verbatim(binary.described)))
    with bundled(binary=binary, cache_gb=options.cache_gb) as deployment:
        yield deployment


@contextmanager
def _own_database(
    system: SqlSystem, options: Options, *, say: Callable[[str], None], stop: StopToken
) -> Iterator[Deployment]:
    meanwhile = stop.raise_if_requested
    with own_sql(system, cache_gb=options.cache_gb, cpu_share=options.cpu_share, say=say, meanwhile=meanwhile) as lab:
        found = database(lab.uris[0], password=PasswordSource(file=lab.password_file))
        yield replace(found, started=True)


def sql_system(options: Options) -> SqlSystem | None:
    """Which SQL database brimline is to start, if one."""
    return "mariadb" if options.mariadb else "postgres" if options.postgres else None


def require_target(spec: Spec, options: Options, uri: str | None) -> None:
    """Raises UsageError where a workload can't run on the server that is named, or that would be started for it."""
    if options.null:
        return
    if uri is not None:
        spec.require_protocol(uri)
    elif (system := sql_system(options)) is not None:
        spec.require_protocol(f"{system}://")
    elif "mongodb" not in spec.protocols:
        of_http = "http" in spec.protocols
        raise UsageError(
            "the workload is of HTTP requests, and no service is named"
            if of_http
            else "the workload is of SQL statements, and no database is named",
            hint="give --uri http://HOST:PORT"
            if of_http
            else "give --uri mysql://HOST/DATABASE or postgresql://HOST/DATABASE, or have one started by "
            "--mariadb or --postgres",
        )


def refuse_own(options: Options) -> None:
    """Where a server was named, or none is wanted, what says how to start one contradicts it. Raises UsageError."""
    for name, option in options.given.items():
        if name in OF_ITS_OWN:
            value = getattr(options, name)
            given = option.name if value is True else f"{option.name} {value}"
            raise UsageError(
                f"{given} is of servers that brimline starts, and another target was named",
                hint=f"leave {option.name} out, or --uri (also in the workload and in BRIMLINE_URI) and --null",
            )
