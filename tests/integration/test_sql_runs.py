"""Runs on MariaDB and PostgreSQL: data loaded and proved, counts that agree, data put back, and what is refused."""

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brimline.dataset import manifest_for
from brimline.dataset.inspection import State
from brimline.dataset.tables import drop_copy, has_copy, inspect_table, make_copy, make_empty, require_ours
from brimline.dataset.tables.store import DIALECTS, Store
from brimline.errors import TargetError, UsageError
from brimline.plan.tables import SqlTable
from brimline.record import RunRecord, read_record
from brimline.servers.owner import Owner, Scope
from brimline.servers.processes import identify
from tests.support.command_line import CommandLine, Outcome
from tests.support.repetitions import repetitions
from tests.support.sql_servers import SqlServer
from tests.support.sql_work import statement_plan

DATABASE = "runs"
RECORDS = 300
SHORT = ("--duration", "300ms", "--warmup", "0s", "--connections", "2")
SHOP = """
name: shop
protocol: sql
database: runs
collections:
  orders:
    records: 200
    fields:
      customer: {kind: string, length: 3}
      total: {kind: double, max: 500}
      items: {kind: array, length: 2, of: {kind: document, fields: {sku: {kind: string, length: 4}, n: int}}}
    indexes: [{customer: 1}]
tables: {orders: {child: [items]}}
values:
  order: {key_of: orders}
operations:
  look: {share: 50%, sql: "SELECT * FROM orders WHERE id = $order", expect: {rows: 1}}
  change:
    share: 50%
    steps:
      - transaction:
          - sql: "UPDATE orders SET total = total + 1 WHERE id = $order"
            expect: {affected: 1}
          - sql: "SELECT total FROM orders WHERE id = $order"
"""


by_one = pytest.mark.parametrize("sql_server", ["mariadb", *repetitions("postgres")], indirect=True)
"""What both databases have from one piece of code, with statements that the other tests prove on either."""


@pytest.fixture
def here(sql_server: SqlServer) -> Iterator[SqlServer]:
    """The server with an empty database."""
    sql_server.make_database(DATABASE)
    yield sql_server


@pytest.fixture
def shop(brimline_cli: CommandLine) -> Path:
    path = brimline_cli.directory / "shop.yaml"
    path.write_text(SHOP)
    return path


def run(cli: CommandLine, server: SqlServer, workload: str | Path, *words: str) -> Outcome:
    return cli.run("run", workload, "--uri", server.uri(DATABASE), *SHORT, "--json", *words)


def rows(server: SqlServer, text: str) -> list[tuple[Any, ...]]:
    with server.client(DATABASE) as client:
        return client.rows(text)


def the_run(cli: CommandLine) -> RunRecord:
    records = [read_record(each) for each in cli.record_directories()]
    return next(record for record in reversed(records) if record.plan.work.kind == "operations")


def evidence(done: Outcome, name: str) -> tuple[str, str]:
    check = next(each for each in done.json()["checks"] if each["name"] == name)
    return check["result"], check["evidence"]


@pytest.mark.parametrize("letter", [*"ae", *repetitions(*"bcdf")])
def test_ycsb_runs_with_counts_that_agree(brimline_cli: CommandLine, here: SqlServer, letter: str) -> None:
    done = run(brimline_cli, here, f"ycsb-{letter}", "--records", str(RECORDS), "--data", "load")

    assert done.exit_code == 0, done.stderr
    verdict, told = evidence(done, "opcounters")
    assert verdict == "pass", told
    assert {each["failed"] for each in done.json()["operations"].values()} == {0}
    assert rows(here, "SELECT COUNT(*) FROM usertable") == [(RECORDS,)], "what it inserted is taken away again"
    assert len(rows(here, "SELECT * FROM usertable LIMIT 1")[0]) == 11


def test_a_load_is_proved_and_found_again(brimline_cli: CommandLine, here: SqlServer) -> None:
    words = ("ycsb-c", "--uri", here.uri(DATABASE), "--records", str(RECORDS))
    loaded = brimline_cli.run("load", *words, "--json")
    (directory,) = brimline_cli.record_directories()
    again = run(brimline_cli, here, "ycsb-c", "--records", str(RECORDS))
    other = run(brimline_cli, here, "ycsb-c", "--records", str(RECORDS + 1))

    assert loaded.exit_code == 0, loaded.stderr
    assert loaded.json()["document_count"] == RECORDS
    assert evidence(loaded, "opcounters")[0] == "pass"
    assert not [each for each in loaded.json()["lint"] if each["result"] == "fail"]
    settings = {"mariadb": "innodb_flush_log_at_trx_commit=1", "postgres": "fsync=on"}[here.system]
    assert f"left to the server, whose settings are {settings}" in (directory / "report.html").read_text()
    for language, said in {"en": "Rows and statements", "zh": "行与语句"}.items():
        told = brimline_cli.run("report", str(directory), "--format", "md", "-o", "-", "--lang", language).stdout
        assert said in told
        assert "documents/s" not in told and "Insert commands" not in told
    assert again.exit_code == 0, again.stderr
    assert other.exit_code == 2
    assert "the number of records is 300 there and 301 in the plan" in other.stderr


@by_one
def test_a_table_of_somebody_else_stays(brimline_cli: CommandLine, here: SqlServer) -> None:
    with here.client(DATABASE) as client:
        client.change("CREATE TABLE usertable (a INT)")
        client.change("INSERT INTO usertable VALUES (7)")

    refused = run(brimline_cli, here, "ycsb-c", "--records", "10", "--data", "load")
    unloaded = run(brimline_cli, here, "ycsb-c", "--records", "10")
    kept = rows(here, "SELECT a FROM usertable")
    dropped = run(brimline_cli, here, "ycsb-c", "--records", "10", "--data", "load", "--drop")

    for done in (refused, unloaded):
        assert done.exit_code == 2
        assert f"the table {DATABASE}.usertable is there, and brimline did not make it" in done.stderr
    assert kept == [(7,)]
    assert dropped.exit_code == 0, dropped.stderr
    assert rows(here, "SELECT COUNT(*) FROM usertable") == [(10,)]


@by_one
def test_a_child_of_somebody_else_stays(brimline_cli: CommandLine, here: SqlServer, shop: Path) -> None:
    with here.client(DATABASE) as client:
        client.change("CREATE TABLE orders_items (a INT)")
        client.change("INSERT INTO orders_items VALUES (7)")

    loaded = brimline_cli.run("load", shop, "--uri", here.uri(DATABASE))
    refused = run(brimline_cli, here, shop, "--data", "load")
    kept = rows(here, "SELECT a FROM orders_items")
    dropped = brimline_cli.run("load", shop, "--uri", here.uri(DATABASE), "--drop")

    for done in (loaded, refused):
        assert done.exit_code == 2
        assert f"the table {DATABASE}.orders_items is there, and brimline did not make it" in done.stderr
    assert kept == [(7,)]
    assert dropped.exit_code == 0, dropped.stderr
    assert rows(here, "SELECT COUNT(*) FROM orders_items") == [(400,)]


def test_a_table_made_by_others_after_a_load_that_could_not_stays(here: SqlServer) -> None:
    with here.client(DATABASE) as client:
        table = SqlTable(collection="t", name="t", dialect=here.protocol, columns=(), create="CREATE", children=())
        store = Store(client=client, dialect=DIALECTS[here.protocol], database=DATABASE)
        manifest = replace(manifest_for(statement_plan({}, load=True, kind=here.protocol)), collection="t")
        with pytest.raises(TargetError):
            make_empty(store, table, manifest)
        client.change("CREATE TABLE t (a INT)")

        looked = inspect_table(store, table, manifest)

        assert looked.found.state is State.FOREIGN
        with pytest.raises(UsageError, match="brimline did not make it"):
            require_ours(store, table, looked)


def test_a_copy_that_was_interrupted_is_none(here: SqlServer) -> None:
    with here.client(DATABASE) as client:
        client.change("CREATE TABLE t (a INT)")
        table = SqlTable(collection="t", name="t", dialect=here.protocol, columns=(), create="", children=())
        make, _ = DIALECTS[here.protocol].copy
        dialect = replace(DIALECTS[here.protocol], copy=(make, "INSERT INTO {copy} SELECT no FROM {table}"))
        store = Store(client=client, dialect=dialect, database=DATABASE)
        with pytest.raises(TargetError):
            make_copy(store, table)

        assert not has_copy(store, table)
        whole = replace(store, dialect=DIALECTS[here.protocol])
        make_copy(whole, table)
        assert has_copy(whole, table)
        drop_copy(whole, table)
        # MariaDB lists the tables of all databases here: a manifest in another test's database is no copy.
        named = "table_name IN ('brimline_making_t', 'brimline_copy_t')"
        assert client.rows(f"SELECT table_name FROM information_schema.tables WHERE {named}") == []


def test_copies_of_tables_with_long_names_are_told_apart(here: SqlServer) -> None:
    long = "a" * 60
    first, second = (
        SqlTable(collection=name, name=name, dialect=here.protocol, columns=(), create="", children=())
        for name in (f"{long}1", f"{long}2")
    )
    with here.client(DATABASE) as client:
        store = Store(client=client, dialect=DIALECTS[here.protocol], database=DATABASE)
        client.change(f"CREATE TABLE {long}1 (a INT)")
        make_copy(store, first)

        assert has_copy(store, first)
        assert not has_copy(store, second)


def test_what_operations_change_is_put_back(brimline_cli: CommandLine, here: SqlServer, shop: Path) -> None:
    loaded = brimline_cli.run("load", shop, "--uri", here.uri(DATABASE))
    assert loaded.exit_code == 0, loaded.stderr
    total = rows(here, "SELECT SUM(total) FROM orders")
    children = rows(here, "SELECT COUNT(*) FROM orders_items")

    first = run(brimline_cli, here, shop)
    changed = rows(here, "SELECT SUM(total) FROM orders")
    second = run(brimline_cli, here, shop, "--operations", "1")
    third = run(brimline_cli, here, "ycsb-c", "--records", "10")

    assert first.exit_code == 0, first.stderr
    assert second.exit_code in (0, 4), second.stderr
    assert third.exit_code == 2
    assert children == [(400,)]
    assert changed[0][0] > total[0][0] + 1
    assert abs(rows(here, "SELECT SUM(total) FROM orders")[0][0] - total[0][0]) < 2, "all but the one operation"
    assert "was put back from its copy" in second.stderr
    assert evidence(first, "opcounters")[0] == "pass", evidence(first, "opcounters")


@by_one
def test_a_load_that_did_not_end_goes_on(brimline_cli: CommandLine, here: SqlServer) -> None:
    """Of one that was cut short rows are missing within and at the end; what is there stays as it is."""
    words = ("load", "ycsb-c", "--uri", here.uri(DATABASE), "--records", str(RECORDS))
    assert brimline_cli.run(*words).exit_code == 0
    keys = sorted(row[0] for row in rows(here, "SELECT ycsb_key FROM usertable"))
    gone = [*keys[10:40], *keys[-50:]]
    with here.client(DATABASE) as client:
        client.change(f"DELETE FROM usertable WHERE ycsb_key IN ({', '.join(repr(key) for key in gone)})")
        client.change("UPDATE usertable SET field0 = 'stays'")
    _unfinished(here, "usertable")

    unready = run(brimline_cli, here, "ycsb-c", "--records", str(RECORDS))
    resumed = brimline_cli.run(*words, "--resume", "--json")
    again = brimline_cli.run(*words, "--resume", "--json")

    assert unready.exit_code == 2
    assert resumed.exit_code == 0, resumed.stderr
    assert f"{RECORDS - 80} of {RECORDS} rows of {DATABASE}.usertable are there already" in resumed.stderr
    assert resumed.json()["document_count"] == RECORDS
    assert rows(here, "SELECT COUNT(*) FROM usertable WHERE field0 = 'stays'") == [(RECORDS - 80,)]
    assert again.exit_code == 0, again.stderr


@by_one
def test_a_table_that_another_command_loads_stays(brimline_cli: CommandLine, here: SqlServer) -> None:
    words = ("load", "ycsb-c", "--uri", here.uri(DATABASE), "--records", "50")
    assert brimline_cli.run(*words).exit_code == 0
    with subprocess.Popen(["sleep", "30"]) as other:
        process = identify(other.pid)
        assert process is not None
        owner = Owner(scope=Scope.current(), process=process).to_document()
        _unfinished(here, "usertable")
        _rewrite(here, "usertable", lambda manifest: manifest.update(at_work=owner))
        for more in ((), ("--resume",)):
            refused = brimline_cli.run(*words, *more)
            refused.check_error(2, "is in use", f"process {other.pid}", "wait until")
        other.kill()
    assert rows(here, "SELECT COUNT(*) FROM usertable") == [(50,)]
    assert brimline_cli.run(*words).exit_code == 0


@by_one
def test_a_load_whose_indexes_were_begun_begins_anew(brimline_cli: CommandLine, here: SqlServer, shop: Path) -> None:
    words = ("load", shop, "--uri", here.uri(DATABASE))
    assert brimline_cli.run(*words).exit_code == 0
    with here.client(DATABASE) as client:
        client.change("DELETE FROM orders WHERE total > 250")
    _unfinished(here, "orders")

    resumed = brimline_cli.run(*words, "--resume")

    assert resumed.exit_code == 0, resumed.stderr
    assert f"the indexes of {DATABASE}.orders were begun: it is loaded anew" in resumed.stderr
    assert rows(here, "SELECT COUNT(*) FROM orders_items") == [(400,)]


@by_one
def test_what_a_killed_run_changed_is_put_back(brimline_cli: CommandLine, here: SqlServer, shop: Path) -> None:
    """Such a run could not note what it left; where a row is under no key of brimline's, the table stays."""
    first = run(brimline_cli, here, shop, "--data", "load", "--operations", "20")
    _rewrite(here, "orders", lambda manifest: manifest.pop("left_ids"))
    second = run(brimline_cli, here, shop, "--operations", "20")
    _rewrite(here, "orders", lambda manifest: manifest.pop("left_ids"))
    with here.client(DATABASE) as client:
        names = [name for name in client.named_rows("SELECT * FROM orders LIMIT 1")[0] if name != "id"]
        client.change(
            f"INSERT INTO orders (id, {', '.join(names)}) SELECT 'mine', {', '.join(names)} FROM orders LIMIT 1"
        )
    third = run(brimline_cli, here, shop, "--operations", "20")

    assert first.exit_code in (0, 4), first.stderr
    assert second.exit_code in (0, 4), second.stderr
    assert "was put back from its copy" in second.stderr
    assert third.exit_code == 2, third.stderr
    assert "may hold rows that brimline did not load" in third.stderr
    assert rows(here, "SELECT COUNT(*) FROM orders WHERE id = 'mine'") == [(1,)]


def _unfinished(server: SqlServer, table: str) -> None:
    """Makes the manifest that of a load that was cut short."""

    def begin(manifest: dict[str, Any]) -> None:
        manifest.update(state="loading", count=None, loaded_at=None)
        manifest.pop("collection_uuid", None)

    _rewrite(server, table, begin)


def _rewrite(server: SqlServer, table: str, change: Callable[[dict[str, Any]], object]) -> None:
    dialect = DIALECTS[server.protocol]
    with server.client(DATABASE) as client:
        ((text,),) = client.rows(f"SELECT document FROM brimline_manifest WHERE name = '{table}'")
        document = json.loads(text)
        change(document["manifest"])
        client.change(dialect.write_manifest, table, json.dumps(document))


@by_one
def test_what_has_no_copy_any_more_is_loaded_again(brimline_cli: CommandLine, here: SqlServer, shop: Path) -> None:
    first = run(brimline_cli, here, shop, "--data", "load", "--operations", "20")
    with here.client(DATABASE) as client:
        client.change("DROP TABLE brimline_copy_orders")
    second = run(brimline_cli, here, shop, "--operations", "20")
    with here.client(DATABASE) as client:
        client.change("DROP TABLE brimline_copy_orders")
        client.change("DELETE FROM orders WHERE total > 250")
    third = run(brimline_cli, here, shop, "--operations", "20")

    assert first.exit_code in (0, 4), first.stderr
    assert "was loaded again" in second.stderr
    assert rows(here, "SELECT COUNT(*) FROM orders_items") == [(400,)]
    assert third.exit_code == 2, third.stderr
    assert "may hold rows that brimline did not load" in third.stderr


def test_the_report_has_plans_sizes_and_what_the_server_did(
    brimline_cli: CommandLine, here: SqlServer, shop: Path
) -> None:
    shop.write_text(SHOP.replace('WHERE id = $order", expect: {rows: 1}}', 'WHERE total = 3.5 OR total = 4.5"}'))
    # Long enough for several looks at the server, also beside other tests: one alone makes no chart.
    done = run(brimline_cli, here, shop, "--data", "load", "--duration", "2s")

    assert done.exit_code == 0, done.stderr
    record = the_run(brimline_cli)
    plans = {(each["operation"], each["step"]): each for each in record.plans["start"]}
    looked = next(each for (operation, _), each in plans.items() if operation == "look")
    assert looked["collection_scan"] is True
    assert looked["docs_examined"] == 200
    assert record.plans["end"]
    assert any("a whole table is scanned by look" in fact for fact in done.json()["plan_remarks"])
    sizes = record.server_facts["after"]["sql"]
    assert sizes["table"]["index_bytes"] > 0
    assert record.server[-1]["buffer_requests"] is not None
    assert record.environment["server"]["settings"]
    html = (record.directory / "report.html").read_text()
    assert "Size on disk" in html
    if here.system == "mariadb":  # PostgreSQL tells once a second what its sessions did
        assert "Buffer pool and checkpoints" in html


def test_a_statement_that_does_not_parse_is_an_error_before_anything_is_sent(
    brimline_cli: CommandLine, here: SqlServer, shop: Path
) -> None:
    shop.write_text(SHOP.replace("SELECT total FROM orders", "SELECT totl FROM orders"))
    done = run(brimline_cli, here, shop, "--data", "load")

    assert done.exit_code == 2
    assert done.stderr.count("error:") == 1
    assert "operations.change: the step select orders: the server refuses it" in done.stderr
    assert "totl" in done.stderr
    assert not any(
        record.plan.work.kind == "operations" for record in map(read_record, brimline_cli.record_directories())
    )


@pytest.mark.parametrize("words", [(), ("--allow-writes",)], ids=["", "writes allowed"])
@pytest.mark.parametrize("steps", ['{sql: "SELEC 1"}', '{steps: [{transaction: [{sql: "SELEC 1"}]}]}'])
def test_what_is_no_statement_is_an_error_before_anything_is_sent(
    brimline_cli: CommandLine, here: SqlServer, shop: Path, steps: str, words: tuple[str, ...]
) -> None:
    shop.write_text(f"name: slip\nprotocol: sql\noperations:\n  a: {steps}\n")
    done = run(brimline_cli, here, shop, *words)

    assert done.exit_code == 2
    assert "operations.a: the step selec: the server refuses it" in done.stderr
    assert not brimline_cli.record_directories()


@by_one
def test_writes_to_tables_of_others_need_permission(brimline_cli: CommandLine, here: SqlServer, shop: Path) -> None:
    with here.client(DATABASE) as client:
        client.change("CREATE TABLE stock (n INT)")
        client.change("INSERT INTO stock VALUES (1)")
    shop.write_text(SHOP.replace("UPDATE orders SET total = total + 1 WHERE id = $order", "UPDATE stock SET n = n + 1"))

    refused = run(brimline_cli, here, shop, "--data", "load")
    allowed = run(brimline_cli, here, shop, "--data", "load", "--allow-writes")

    assert refused.exit_code == 2
    assert "writes to a table that brimline did not load" in refused.stderr
    assert allowed.exit_code == 0, allowed.stderr


@by_one
def test_rows_of_a_table_are_values(brimline_cli: CommandLine, here: SqlServer, shop: Path) -> None:
    shop.write_text(
        SHOP.replace(
            "  order: {key_of: orders}",
            "  order: {key_of: orders}\n  known: {sample: orders, fields: [id, customer], count: 50}",
        ).replace(
            'WHERE id = $order", expect: {rows: 1}}',
            'WHERE id = $known.id AND customer = $known.customer", expect: {rows: 1}}',
        )
    )
    done = run(brimline_cli, here, shop, "--data", "load")

    assert done.exit_code == 0, done.stderr
    assert "$known: 50 rows of runs.orders" in done.stderr
    assert done.json()["operations"]["look"]["failed"] == 0


@by_one
def test_rows_that_run_out_end_the_run(brimline_cli: CommandLine, here: SqlServer, shop: Path) -> None:
    (brimline_cli.directory / "ids.csv").write_text("id\n" + "\n".join(map(str, range(20))) + "\n")
    shop.write_text(
        SHOP.replace(
            "  order: {key_of: orders}",
            "  order: {key_of: orders}\n  row: {csv: ids.csv, column: id, order: in_turn, at_end: error}",
        ).replace('WHERE id = $order", expect: {rows: 1}}', 'WHERE customer = $row"}')
    )
    done = run(brimline_cli, here, shop, "--data", "load")

    assert done.exit_code == 4
    assert "the rows of $row have come to their end" in done.stdout


def test_transactions_are_kept_apart_as_far_as_was_asked_for(
    brimline_cli: CommandLine, here: SqlServer, tmp_path: Path
) -> None:
    asked = {
        "mariadb": "SELECT @@tx_isolation AS level",
        "postgres": "SELECT current_setting('transaction_isolation') AS level",
    }
    text = f"""
name: levels
protocol: sql
isolation: serializable
operations:
  look:
    share: 1
    sql: "{asked[here.system]}"
    expect: {{fields: {{level: {{matches: "(?i)^serializable$"}}}}}}
"""
    workload = tmp_path / "levels.yaml"
    workload.write_text(text)

    done = run(brimline_cli, here, workload)
    told = brimline_cli.run("report", "--format", "md", "-o", "-")
    otherwise = workload.with_name("otherwise.yaml")
    otherwise.write_text(text.replace("isolation: serializable", "isolation: read committed"))
    refused = run(brimline_cli, here, otherwise)

    assert done.exit_code == 0, done.stderr
    assert done.json()["operations"]["look"]["failed"] == 0
    assert "Isolation of transactions" in told.stdout and "serializable" in told.stdout
    assert refused.exit_code != 0, "each operation fails"


def test_a_wrong_password_is_one_error(brimline_cli: CommandLine, here: SqlServer) -> None:
    uri = here.uri(DATABASE).replace("brimline:", "brimline:wrong")
    done = brimline_cli.run("run", "ycsb-c", "--uri", uri)

    assert done.exit_code == 5
    assert done.stderr.count("error:") == 1
    assert "does not accept the user name and the password" in done.stderr


@pytest.mark.slow("a server of each kind is made in each block")
def test_databases_are_compared_by_one_command(
    brimline_cli: CommandLine, mariadb: SqlServer, postgres: SqlServer
) -> None:
    done = brimline_cli.run(
        *("sweep", "ycsb-b", "--records", "100", "--vary", "protocol=mongodb,mariadb,postgres", "--repeats", "1"),
        *("--repeats-max", "1"),
        *("--duration", "200ms", "--warmup", "0s", "--connections", "2", "--json"),
    )

    assert done.exit_code == 0, done.stderr
    (directory,) = brimline_cli.record_directories(kind="vary")
    html = (directory / "report.html").read_text()
    assert "Durability is equal: every write is on disk before it is acknowledged." in html
    assert {cell["levels"]["protocol"] for cell in done.json()["combinations"]} == {"mongodb", "mariadb", "postgres"}
