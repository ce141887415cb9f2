"""What MariaDB and PostgreSQL tell around a run: their counts, their state, sizes, and how they execute statements."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brimline.errors import TargetError
from brimline.execution.protocols import found
from brimline.monitor.row import COLUMNS, ServerRow
from brimline.monitor.sql import DIALECTS, WatchedDatabase
from brimline.monitor.sql.explain import explained, tried
from brimline.servers.database import database, durability
from brimline.servers.sql_client import SqlClient, SqlError, open_client
from brimline.servers.target_uri import parse_target_uri
from tests.support.sql_servers import SqlServer

DATABASE = "watching"


@pytest.fixture(scope="module")
def made() -> set[str]:
    return set()


@pytest.fixture
def here(sql_server: SqlServer, made: set[str]) -> SqlServer:
    """The server with a table of 1000 rows."""
    if sql_server.system not in made:
        sql_server.make_database(DATABASE)
        with sql_server.client(DATABASE) as client:
            client.change("CREATE TABLE orders (id INT PRIMARY KEY, customer INT, note VARCHAR(20))")
            client.change("CREATE INDEX by_customer ON orders (customer)")
            rows = ", ".join(f"({number}, {number % 50}, 'x')" for number in range(1000))
            client.change(f"INSERT INTO orders VALUES {rows}")
            client.change("ANALYZE TABLE orders" if sql_server.system == "mariadb" else "ANALYZE orders")
        made.add(sql_server.system)
    return sql_server


def mark(server: SqlServer) -> str:
    return "?" if server.system == "mariadb" else "$1"


def test_a_database_says_what_it_is_and_when_it_keeps_what_it_took(here: SqlServer) -> None:
    deployment = found(here.uri(DATABASE))

    assert deployment.engine == {"mariadb": "MariaDB", "postgres": "PostgreSQL"}[here.system]
    assert (deployment.protocol, deployment.local, deployment.is_own) == (here.protocol, True, False)
    assert deployment.pid is not None
    assert Path(f"/proc/{deployment.pid}").is_dir()
    assert durability(deployment).on_disk is True
    assert "***@" in deployment.uri_redacted


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda uri: uri.replace("brimline:", "brimline:not"), "does not accept the user name and the password"),
        (lambda uri: uri.replace(DATABASE, "nowhere"), "has no database of that name"),
        (lambda uri: f"{uri}?tls=true", "no TLS connection"),
        (lambda uri: uri.replace("mariadb://", "postgres://"), None),
        (lambda uri: uri.replace("postgresql://", "mysql://"), None),
    ],
)
def test_what_a_database_refuses_is_told_and_no_password(
    here: SqlServer, change: Callable[[str], str], words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brimline.servers.sql_client.CONNECT_TIMEOUT_S", 0.5)
    uri = change(here.uri(DATABASE))
    if uri == here.uri(DATABASE):
        pytest.skip("of the other one")

    with pytest.raises(TargetError, match=words or "does not answer as") as refused:
        database(uri)

    login = parse_target_uri(uri).access.login
    assert login is not None
    assert str(login.password) not in refused.value.message + str(refused.value.hint)


def counted(server: SqlServer, do: Callable[[SqlClient], Any]) -> tuple[Any, Any]:
    dialect = DIALECTS[server.protocol]
    with server.client("brimline" if server.system == "mariadb" else "postgres") as watching:
        before = dialect.counters(watching, DATABASE)
        with server.client(DATABASE) as client:
            do(client)
        # What a backend of PostgreSQL counted is seen once it has ended.
        until_s = time.monotonic() + 5
        while True:
            after = dialect.counters(watching, DATABASE)
            if after.rows_written != before.rows_written or time.monotonic() > until_s:
                return before, after
            time.sleep(0.01)


def test_every_row_that_is_written_is_counted(here: SqlServer) -> None:
    def write(client: SqlClient) -> None:
        client.change("INSERT INTO orders VALUES (5001, 1, 'a'), (5002, 1, 'b')")
        client.change("UPDATE orders SET note = 'c' WHERE id > 5000")
        client.change("DELETE FROM orders WHERE id > 5000")

    before, after = counted(here, write)

    assert after.rows_written - before.rows_written == 6
    if here.system == "mariadb":
        assert [after.since(before, kind) for kind in ("insert", "update", "delete")] == [1, 1, 1]
        assert after.transactions is None
    else:
        assert after.transactions - before.transactions >= 3
    assert type(after).from_dict(after.to_dict()) == after


def test_a_look_has_the_server_its_process_and_the_host(here: SqlServer) -> None:
    deployment = found(here.uri(DATABASE))
    with WatchedDatabase(deployment, DIALECTS[here.protocol], database=DATABASE) as watched:
        row = watched.take()

    assert row["gap"] == ""
    assert set(row) <= set(COLUMNS)
    ServerRow(**row)
    for column in ("uptime_ms", "buffer_requests", "buffer_misses", "buffer_bytes_max", "server_cpu_ns", "connections"):
        assert row[column] is not None, column
    assert row["monitor_server_cpu_ns"] is not None
    assert not {"uptime_ms", "buffer_requests"} & {name for each in watched.absent() for name in each.metrics}


def test_a_look_at_a_server_that_is_gone_is_a_gap(here: SqlServer) -> None:
    deployment = found(here.uri(DATABASE))
    with WatchedDatabase(deployment, DIALECTS[here.protocol], database=DATABASE) as watched:
        watched.take()
        assert watched._client is not None
        watched._client.__exit__(None, None, None)
        assert watched.take()["gap"] == "ConnectionLost"


def test_sizes_are_those_of_the_database_and_the_table(here: SqlServer) -> None:
    with here.client(DATABASE) as client:
        sizes = DIALECTS[here.protocol].sizes(client, DATABASE, "orders")

    assert sizes["table"]["data_bytes"] > 10_000
    assert sizes["table"]["index_bytes"] > 10_000
    assert sizes["database"]


@pytest.mark.parametrize(
    ("text", "parameters", "index", "scans", "sorts"),
    [
        ("SELECT * FROM orders WHERE id = {}", [5], {"PRIMARY", "orders_pkey"}, False, False),
        ("SELECT * FROM orders WHERE customer = {} ORDER BY note", [5], {"by_customer"}, False, True),
        ("SELECT * FROM orders WHERE note = {}", ["y%'"], set(), True, False),
        ("UPDATE orders SET note = 'n' WHERE customer = {}", [5], {"by_customer"}, False, False),
        ("DELETE FROM orders WHERE note = {}", ["y"], set(), True, False),
        ("INSERT INTO orders VALUES ({}, 1, 'a')", [9001], set(), False, False),
    ],
)
def test_how_a_statement_is_executed(
    here: SqlServer, text: str, parameters: list[Any], index: set[str], scans: bool, sorts: bool
) -> None:
    with here.client(DATABASE) as client:
        plan = explained(client, here.protocol, text.format(mark(here)), parameters)
        rows = client.rows("SELECT COUNT(*), COUNT(DISTINCT note) FROM orders")

    assert (bool(set(plan["index_names"]) & index) or not index) and plan["collection_scan"] is scans
    assert plan["in_memory_sort"] is sorts and plan["index_could_sort"] is (True if sorts else None)
    if scans and text.startswith("SELECT"):
        assert plan["docs_examined"] == 1000
    assert rows == [(1000, 1)], "nothing of it stays"


def test_a_sort_of_groups_is_told_from_one_that_an_index_could_do(here: SqlServer) -> None:
    with here.client(DATABASE) as client:
        text = "SELECT note, COUNT(*) AS n FROM orders GROUP BY note ORDER BY n"
        plan = explained(client, here.protocol, text, [])
    assert (plan["in_memory_sort"], plan["index_could_sort"]) == (True, False)


@pytest.mark.parametrize("text", ["SELEC 1", "SELECT nothing FROM orders", "UPDATE nowhere SET a = 1"])
def test_a_statement_that_is_refused_says_why(here: SqlServer, text: str) -> None:
    with here.client(DATABASE) as client, pytest.raises(SqlError):
        tried(client, here.protocol, text, [])


def test_a_connection_of_the_control_plane_is_to_the_database_of_the_address(here: SqlServer) -> None:
    with open_client(here.target(DATABASE)) as client:
        name = client.rows("SELECT DATABASE()" if here.system == "mariadb" else "SELECT current_database()")
    assert name == [(DATABASE,)]
