"""What a statement costs a client: brimline beside a bare loop, sysbench and drivers, over both protocols of SQL.

    make peers-sql ARGUMENTS='--times 20000 --rounds 5'

Each program reads one row of 1 KB by its key, one statement after the other on each of 32 connections to a MariaDB,
then a PostgreSQL, that are started for it; the drivers of Python and Node on one connection. The CPU is that of the
client's process, user and system; that of a short run is taken off that of a long one, so that starting and connecting
don't count. Programs take turns, and the figure is the median of the rounds. What can't be had is left out, and said.
Exit code 3 when brimline costs more than sysbench or a driver does, or more than BARE_RATIO_MAX of the bare loop.

The bare loop waits for all connections at once, as brimline does; sysbench has a thread for each.
aiomysql sends its statements as text; all others prepare them. `--python` names an interpreter that has asyncpg and
aiomysql, `--node-path` a directory with mysql2 and pg.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import brimline
from benchmarks.scripted import RELEASE, ROOT, compile_package
from brimline.servers.sql_client import SqlClient, open_client
from brimline.servers.target_uri import parse_target_uri

HERE = ROOT / "benchmarks/peers/sql"
ENGINE = str(HERE / "brimline_engine.py")
BARE = RELEASE / "examples/bare_statement"
SHORT_TIMES = 500
USER, DATABASE = "bare", "bench"
STATEMENT = "SELECT value FROM bench WHERE id = 4711"
CONNECTIONS = 32
BARE_RATIO_MAX = 1.3
"""How many times the bare loop's CPU brimline's own may be: it draws, judges and records each statement."""

Protocol = Literal["mysql", "postgres"]
Command = Callable[[int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Server:
    """A server that lets `USER` in without a password."""

    protocol: Protocol
    name: str
    host: str
    port: int


def main() -> int:
    """Prints a table for each protocol."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20_000, help="statements of a long run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has asyncpg and aiomysql")
    parser.add_argument("--node-path", default=os.environ.get("NODE_PATH", ""), help="where mysql2 and pg are")
    arguments = parser.parse_args()
    if arguments.node_path:
        _ENVIRONMENT["NODE_PATH"] = arguments.node_path
    compile_package("brimline-sql", "bare_statement")
    held = []
    for protocol in ("mysql", "postgres"):
        with _server(protocol) as server:
            held.append(_compare(server, arguments))
    return 0 if all(held) else 3


def _compare(server: Server, arguments: argparse.Namespace) -> bool:
    commands = {name: command for name, command in _commands(server, arguments) if _works(name, command)}
    costs: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(arguments.rounds):
        for name in commands if number % 2 == 0 else reversed(list(commands)):
            costs[name].append(_cost_us(commands[name], arguments.times))
    medians = {name: statistics.median(each) for name, each in costs.items()}
    ours, bare = medians["brimline"], medians["bare loop"]
    print(f"{server.name}: client CPU per statement, median of {arguments.rounds} rounds of {arguments.times}")
    for name, cost in sorted(medians.items(), key=lambda item: item[1]):
        low, high = min(costs[name]), max(costs[name])
        print(
            f"  {name:12}{cost:>8.1f} µs  ({low:.1f} to {high:.1f})  {cost / bare:>6.2f} of the bare loop", flush=True
        )
    others = [cost for name, cost in medians.items() if name not in ("brimline", "bare loop")]
    return ours <= BARE_RATIO_MAX * bare and all(ours <= cost for cost in others)


def _commands(server: Server, arguments: argparse.Namespace) -> Iterator[tuple[str, Command]]:
    host, port = server.host, str(server.port)
    words = (host, port, USER, DATABASE, STATEMENT)
    yield (
        "bare loop",
        lambda times: [
            str(BARE),
            server.protocol,
            f"{host}:{port}",
            USER,
            DATABASE,
            STATEMENT,
            str(CONNECTIONS),
            str(times),
        ],
    )
    yield (
        "brimline",
        lambda times: [sys.executable, ENGINE, server.protocol, *words, str(CONNECTIONS), str(times)],
    )
    python = "aiomysql" if server.protocol == "mysql" else "asyncpg"
    yield python, lambda times: [arguments.python, str(HERE / "python_driver.py"), python, *words, str(times)]
    node = "mysql2" if server.protocol == "mysql" else "pg"
    if shutil.which("node"):
        yield f"node {node}", lambda times: ["node", str(HERE / "node_driver.js"), node, *words, str(times)]
    if shutil.which("sysbench"):
        yield "sysbench", lambda times: _sysbench(server, times)


def _sysbench(server: Server, times: int) -> list[str]:
    name = "mysql" if server.protocol == "mysql" else "pgsql"
    login = {"host": server.host, "port": server.port, "user": USER, "db": DATABASE}
    options = [f"--{name}-{key}={value}" for key, value in login.items()]
    script = [f"--statement={STATEMENT}", str(HERE / "statement.lua"), "run"]
    return [
        "sysbench",
        f"--db-driver={name}",
        *options,
        f"--threads={CONNECTIONS}",
        f"--events={times}",
        "--time=0",
        *script,
    ]


def _works(name: str, command: Command) -> bool:
    done = subprocess.run(command(10), capture_output=True, text=True, check=False, env=_ENVIRONMENT)
    if done.returncode == 0:
        return True
    if name in ("brimline", "bare loop"):
        sys.exit(f"error: {name} failed\n{done.stdout}{done.stderr}")
    print(f"{name} is left out: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
    return False


def _cost_us(command: Command, times: int) -> float:
    long, short = (_cpu_s(command(count)) for count in (times, SHORT_TIMES))
    return (long - short) / (times - SHORT_TIMES) * 1e6


def _cpu_s(command: Sequence[str]) -> float:
    """Of a process and all it started, once it has ended; of brimline's engine what it says of its run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ENGINE in command:
        return float(done.stdout)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


_ENVIRONMENT = dict(os.environ)


@contextmanager
def _server(protocol: Protocol) -> Iterator[Server]:
    """A server of its own with the table and the user."""
    words = {"mariadb": True} if protocol == "mysql" else {"postgres": True}
    with brimline.lab(**words) as lab:  # type: ignore[arg-type]
        target = parse_target_uri(Path(lab.uri_file).read_text().strip())
        with open_client(target) as client:
            _admit(client, protocol)
            version = str(client.rows("SELECT version()")[0][0]).split(" (")[0]
        with open_client(target, database=DATABASE) as client:
            _fill(client, protocol)
        yield Server(protocol, f"MariaDB {version}" if protocol == "mysql" else version, target.host, target.port)


def _admit(client: SqlClient, protocol: Protocol) -> None:
    """Makes the database and the user."""
    client.change(f"CREATE DATABASE {DATABASE}")
    if protocol == "mysql":
        client.change(f"CREATE USER {USER}@'%'")
        client.change(f"GRANT ALL ON {DATABASE}.* TO {USER}@'%'")
        return
    client.change(f"CREATE ROLE {USER} LOGIN")
    access = Path(str(client.rows("SHOW hba_file")[0][0]))
    access.write_text(f"host all {USER} 127.0.0.1/32 trust\n{access.read_text()}")
    client.rows("SELECT pg_reload_conf()")


def _fill(client: SqlClient, protocol: Protocol) -> None:
    series = {"mysql": "seq_1_to_10000", "postgres": "generate_series(1, 10000) AS seq"}[protocol]
    client.change("CREATE TABLE bench (id INT PRIMARY KEY, value VARCHAR(1000))")
    client.change("INSERT INTO bench SELECT seq, REPEAT('x', 1000) FROM " + series)  # noqa: S608  # of two constants
    if protocol == "postgres":
        client.change(f"GRANT SELECT ON bench TO {USER}")


if __name__ == "__main__":
    sys.exit(main())
