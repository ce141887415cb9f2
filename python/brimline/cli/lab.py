"""Owns `brimline lab`: servers of a topology on this machine, up until they are taken down."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from brimline.api.lab import lab_down, lab_start, lab_status, lab_stop, lab_up, labs
from brimline.api.options import Group, ServerOptions, option
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.help import GroupedCommand
from brimline.cli.output import console, printing
from brimline.cli.talk import say
from brimline.errors import ExitCode, UsageError
from brimline.report.document import FORMAT_VERSION
from brimline.servers.lab.kinds import kind_of
from brimline.servers.lab.lifecycle import DEADLINE_S, ServerLook, is_complete
from brimline.servers.lab.network import LOCAL, Network
from brimline.servers.lab.spec import CACHE_GB_DEFAULT, NAME_DEFAULT, WORKERS_DEFAULT
from brimline.servers.lab.state import Lab, damaged_names, labs_directory, server_process
from brimline.units import parse_duration

_MEMBER = re.compile(r"[0-9]{1,3}")
_SAYINGS = frozenset({"ended", "does not answer"})
_PROCESSORS = re.compile(r"(?P<first>[0-9]{1,5})(-(?P<last>[0-9]{1,5}))?")

app = typer.Typer(help="Start servers of a topology on this machine.", rich_markup_mode=None, no_args_is_help=True)

_Members = Annotated[
    list[str] | None,
    typer.Argument(metavar="MEMBER…", help="Which servers: numbers from 1, ports or addresses; default: all."),
]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="What the lab is called.")]
_Output = Annotated[opt.OutputOptions, only("as_json", "quiet")]
_AsJson = Annotated[opt.OutputOptions, only("as_json")]


@dataclass(frozen=True, kw_only=True)
class UpOptions(Group):
    """What a lab is made of."""

    mariadb: bool = option("--mariadb", "", "One MariaDB in place of MongoDB.", default=False)
    postgres: bool = option("--postgres", "", "One PostgreSQL in place of MongoDB.", default=False)
    order_service: Literal["mongodb", "mariadb", "postgres"] | None = option(
        "--order-service", "", "An order service over HTTP, on such a database."
    )
    workers: int | None = option("--workers", "N", f"Processes of the order service; default: {WORKERS_DEFAULT}.")
    id_generator: Literal["snowflake", "field-report"] | None = option(
        "--id-generator", "", "The order service's ids; field-report's fail under load."
    )
    replica_set: int | None = option("--replica-set", "N", "Members with data, of the set or of each shard.")
    shards: int | None = option("--shards", "N", "A sharded cluster of N shards; needs a mongos.")
    client_routed: int | None = option("--client-routed", "N", "N independent servers, or sets, without a router.")
    priorities: str | None = option("--priorities", "P,P,…", "Of the members, the first first: 2,1,1.")
    hidden: Sequence[int] = option("--hidden", "MEMBER", "A member by number, from 1; repeatable.", default=())
    delayed: Sequence[str] = option(
        "--delayed", "MEMBER=TIME", "It is behind by that: 3=60s; hidden too; repeatable.", default=()
    )
    arbiter: bool = option("--arbiter", "", "An arbiter after the members.", default=False)
    auth: bool = option("--auth", "", "Access control: a user, its password in a private file.", default=False)
    tls: bool = option("--tls", "", "TLS, with certificates of the lab's own.", default=False)
    cache_gb: float = option("--cache-gb", "GB", "Cache of each server.", default=CACHE_GB_DEFAULT)
    cpus: str | None = option("--cpus", "LIST", "Processors the servers may run on: 0,1 or 0-3.")
    small: bool = option(
        "--small", "", "Small journal files: for tests of behaviour, not for measurements.", default=False
    )
    election_timeout: str = option("--election-timeout", "TIME", "How long a primary may be silent.", default="10s")
    delay: str | None = option("--delay", "TIME", "How much later all arrives, each way: 5ms.")
    rate: str | None = option("--rate", "RATE", "What each server's line carries, each way: 100mbit.")
    loss: str | None = option("--loss", "SHARE", "Segments that are lost and sent again, each way: 1%.")
    between: Literal["clients", "members", "all"] | None = option(
        "--between", "", "Where --delay, --rate and --loss apply: to clients (default), among the servers, or all."
    )
    deadline: str = option("--deadline", "TIME", "When it must be up.", default=f"{DEADLINE_S:.0f}s")


@app.command(cls=GroupedCommand)
@grouped
def up(
    server: Annotated[
        ServerOptions,
        only(
            "mongod",
            "server_version",
            mongos="The router of --shards; default: PATH's.",
            cpu_share="CPUs each server may use, such as 0.5 (root).",
        ),
    ],
    output: _Output,
    said: UpOptions,
    *,
    name: _Name = NAME_DEFAULT,
) -> int:
    """Bring up a lab, and wait until it is complete."""
    lab = lab_up(
        name,
        say=(lambda _: None) if output.quiet else say,
        mariadb=said.mariadb,
        postgres=said.postgres,
        order_service=said.order_service,
        workers=said.workers,
        id_generator=said.id_generator,
        replica_set=said.replica_set,
        shards=said.shards,
        client_routed=said.client_routed,
        priorities=_numbers(said.priorities),
        hidden=tuple(said.hidden or ()),
        delays_s=_delays(said.delayed or ()),
        arbiter=said.arbiter,
        auth=said.auth,
        tls=said.tls,
        mongod=server.mongod,
        server_version=server.server_version,
        mongos=server.mongos,
        cache_gb=said.cache_gb,
        cpus=_processors(said.cpus),
        cpu_share=server.cpu_share,
        small=said.small,
        election_timeout_ms=round(_seconds("--election-timeout", said.election_timeout) * 1000),
        delay=said.delay,
        rate=said.rate,
        loss=said.loss,
        between=said.between,
        deadline_s=_seconds("--deadline", said.deadline),
    )
    return _show(*lab_status(lab.name), as_json=output.as_json)


@app.command()
def down(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one.", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
) -> int:
    """Take a lab down: its servers end, its data and secrets are removed."""
    if every and name is not None:
        raise UsageError("--all and a name say two things", hint="give one of them")
    names = (
        [*(lab.name for lab in labs()), *damaged_names(labs_directory())]
        if every
        else [NAME_DEFAULT if name is None else name]
    )
    for each in names:
        lab_down(each)
        say(f"{each} is down")
    if not names:
        say("no labs")
    return 0


@app.command()
@grouped
def start(
    output: _Output,
    *,
    name: _Name = NAME_DEFAULT,
    members: _Members = None,
    deadline: Annotated[
        str, typer.Option("--deadline", metavar="TIME", help="When they must be up.")
    ] = f"{DEADLINE_S:.0f}s",
) -> int:
    """Start servers of a lab that have ended, on their data and addresses; what a killed failover left is put back."""
    started = lab_start(
        name,
        members or (),
        deadline_s=_seconds("--deadline", deadline),
        say=(lambda _: None) if output.quiet else say,
    )
    if not started and not output.quiet:
        say("no server of it has ended")
    return _show(*lab_status(name), as_json=output.as_json)


@app.command()
@grouped
def stop(
    output: _AsJson,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the lab is called.")],
    members: Annotated[
        list[str], typer.Argument(metavar="MEMBER…", help="Which servers: numbers from 1, ports or addresses.")
    ],
) -> int:
    """End servers of a lab, whose data stays; `lab start` starts them again."""
    for server in lab_stop(name, members):
        say(f"{server.address} has ended")
    return _show(*lab_status(name), as_json=output.as_json)


@app.command()
@grouped
def status(output: _AsJson, *, name: _Name = NAME_DEFAULT) -> int:
    """Show what each server of a lab is now. Exits with 5 when the lab is not complete."""
    lab, looks = lab_status(name)
    _show(lab, looks, as_json=output.as_json)
    return 0 if lab.phase == "up" and is_complete(looks) else ExitCode.TARGET


@app.command()
def uri(name: _Name = NAME_DEFAULT) -> int:
    """Print a lab's connection string, as --uri takes it; of client-routed shards one a line."""
    lab, _ = lab_status(name)
    with printing():
        sys.stdout.write("".join(f"{each}\n" for each in lab.uris))
    return 0


@app.command("list")
@grouped
def list_labs(output: _AsJson) -> int:
    """List the labs on this machine."""
    found = labs()
    for name in damaged_names(labs_directory()):
        say(f"the lab {name} can't be read: its lab.json is damaged; brimline lab down {name} removes it")
    with printing():
        if output.as_json:
            sys.stdout.write(json.dumps([_document(lab, ()) for lab in found], indent=2) + "\n")
            return 0
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in ("Name", "Topology", "Network", "State", "Servers", "Version", "Since"):
            table.add_column(column, overflow="fold")
        for lab in found:
            network, count = _network(lab), len(lab.servers)
            line = LOCAL if network is None else network.text
            alive = sum(server_process(lab, each) is not None for each in lab.servers) if lab.phase == "up" else count
            state = lab.phase if alive == count else f"{alive} of {count} up"
            table.add_row(lab.name, lab.topology, line, state, str(count), lab.version or "", lab.created)
        console().print(table if found else "no labs")
    return 0


def _show(lab: Lab, looks: Sequence[ServerLook], *, as_json: bool) -> int:
    with printing():
        if as_json:
            sys.stdout.write(json.dumps(_document(lab, looks), indent=2) + "\n")
            return 0
        out = console()
        out.print(f"{lab.name}: {lab.topology}, {_product(lab)} {lab.version}, {_state(lab, looks)}")
        if (workers := lab.settings.get("workers")) is not None:
            out.print(f"order service: workers {workers}, ids {lab.settings.get('id_generator')}")
            out.print(f"its database: {lab.settings.get('database_uri')}", soft_wrap=True)
        if (network := _network(lab)) is not None:
            out.print(f"network: {network.described}, by forwarders")
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in ("Server", "Role", "Set", "State", "Pid"):
            table.add_column(column, overflow="fold")
        for look in looks:
            server = look.server
            aside = [f"delayed by {server.delay_s} s"] if server.delay_s else ["hidden"] if server.hidden else []
            role = ", ".join([server.role, *aside])
            table.add_row(server.address, role, server.set_name or "", look.state, str(look.pid or ""))
        out.print(table)
        if lab.user is not None:
            out.print(
                f"password: brimline finds it; for other programs in {lab.password_file}, "
                f"in the connection string: {lab.uri_file}",
                soft_wrap=True,
            )
        if lab.tls:
            out.print(f"certificates: {lab.ca_file}, {lab.client_certificate_file}", soft_wrap=True)
        # Last: URI=$(brimline lab up | tail -n 1).
        for uri in lab.uris:
            out.print(uri, soft_wrap=True)
    return 0


def _product(lab: Lab) -> str:
    return kind_of(lab.servers[0].role).product if lab.servers else "version"


def _state(lab: Lab, looks: Sequence[ServerLook]) -> str:
    """The phase; of a lab that is up and lacks servers, how many of them do their part and which don't."""
    away = [look for look in looks if not look.works]
    if lab.phase != "up" or not away:
        return lab.phase
    reasons = ", ".join(
        f"{look.server.address} {look.state if look.state in _SAYINGS else f'is {look.state}'}" for look in away
    )
    return f"{len(looks) - len(away)} of {len(looks)} up: {reasons}"


def _document(lab: Lab, looks: Sequence[ServerLook]) -> dict[str, Any]:
    by_address = {look.server.address: look for look in looks}
    return {
        "format_version": FORMAT_VERSION,
        "kind": "lab",
        "name": lab.name,
        "topology": lab.topology,
        "phase": lab.phase,
        "servers_up": sum(look.works for look in looks) if looks else None,
        "created": lab.created,
        "version": lab.version,
        **lab.settings,
        "uri": lab.uris[0] if len(lab.uris) == 1 else None,
        "uris": list(lab.uris),
        "uri_file": _text(lab.uri_file),
        "user": lab.user,
        "password_file": _text(lab.password_file),
        "ca_file": _text(lab.ca_file),
        "client_certificate_file": _text(lab.client_certificate_file),
        "servers": [
            {
                "address": server.address,
                "behind": server.behind,
                "role": server.role,
                "set": server.set_name,
                "priority": server.priority,
                "hidden": server.hidden,
                "delay_s": server.delay_s,
                "directory": str(lab.directory_of(server)),
                **({"pid": look.pid, "state": look.state} if (look := by_address.get(server.address)) else {}),
            }
            for server in lab.servers
        ],
    }


def _network(lab: Lab) -> Network | None:
    document = lab.settings.get("network")
    return None if document is None else Network.from_document(document)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _numbers(text: str | None) -> tuple[float, ...]:
    """Priorities by place: an empty one is refused, because all behind it would move to another member."""
    try:
        return () if text is None else tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f'--priorities must be numbers, but is "{text}"', hint="write them as 2,1,1") from None


def _delays(texts: Sequence[str]) -> dict[int, int]:
    found: dict[int, int] = {}
    for text in texts:
        member, delay_s = _delay(text)
        if found.setdefault(member, delay_s) != delay_s:
            raise UsageError(f"--delayed says two times for member {member}", hint="give one of them")
    return found


def _delay(text: str) -> tuple[int, int]:
    member, _, time = text.partition("=")
    if not _MEMBER.fullmatch(member) or not time:
        raise UsageError(f'--delayed must be a member and a time, but is "{text}"', hint="write it as 3=60s")
    delay_s = _seconds("--delayed", time)
    if not delay_s.is_integer():
        raise UsageError(f"--delayed: a member is behind by whole seconds, not by {time}", hint="write it as 3=60s")
    return int(member), int(delay_s)


def _processors(text: str | None) -> tuple[int, ...]:
    """Processors of `0,1` or `0-3`; nothing that is written may be left out, or more of them would be used."""
    found: list[int] = []
    for part in () if text is None else text.split(","):
        match = _PROCESSORS.fullmatch(part.strip())
        first, last = (0, -1) if match is None else (int(match["first"]), int(match["last"] or match["first"]))
        if last < first:
            raise UsageError(f'--cpus must be processors, but is "{text}"', hint="write them as 0,1 or 0-3")
        found += range(first, last + 1)
    return tuple(found)


def _seconds(option: str, text: str) -> float:
    try:
        return parse_duration(text) / 1e9
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint="write a time such as 30s or 5m") from error
