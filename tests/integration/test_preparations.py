"""Nothing is changed before all that is needed is there: each verb that can delete, and each part that can be missing.

The collection holds documents and has an index, a validator and a collation of somebody else. Whatever keeps a command
from beginning, they are as before.
"""

import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pymongo
import pytest

from brimline.dataset.tables.store import DIALECTS, Store
from brimline.errors import RecordError, TargetError
from brimline.execution import import_data as importing
from brimline.execution.protocols import found
from brimline.record import files, layout
from brimline.servers.faults.kinds import KINDS
from brimline.servers.faults.site import Site
from tests.support.command_line import CommandLine
from tests.support.repetitions import each_once, repetitions
from tests.support.secured_mongod import ADMIN, ADMIN_PASSWORD, SecuredServer
from tests.support.sql_servers import SqlServer

pytestmark = pytest.mark.mongod

Data = pymongo.database.Database[dict[str, Any]]
DATABASE, COLLECTION = "prepared", "usertable"
DATA = ("--data", "load", "--drop", "--records", "200")
SCANS = """\
name: scans
data: {records: 200, database: prepared}
operations: {read: 1}
scans: {scenarios: [{name: whole, filter: all}]}
"""
SEVERAL = """\
name: several
database: prepared
collections: {first: {records: 200}, usertable: {records: 200}}
operations: {change: {share: 1, update: {collection: usertable, filter: {}, update: {$set: {x: 1}}}}}
"""
VERBS: dict[str, tuple[str, ...]] = {
    "load several": ("load", "several.yaml", "--drop"),
    "run several": ("run", "several.yaml", "--duration", "100ms", "--data", "load", "--drop"),
    "load": ("load", "ycsb-a", "--records", "200", "--drop"),
    "run": ("run", "ycsb-a", "--duration", "100ms", *DATA),
    "sweep": ("sweep", "ycsb-a", *DATA),
    "vary": ("sweep", "ycsb-a", "--vary", "connections=1,2", *DATA),
    "vary indexes": ("sweep", "ycsb-a", "--vary", "indexes=field0,field1", *DATA),
    "capacity": ("capacity", "ycsb-a", "--quick", *DATA),
    "ab": ("ab", "ycsb-a", "--a", "connections=1", "--b", "connections=2", "--duration", "100ms", *DATA),
    "interfere": ("interfere", "ycsb-a", "--with", "scan", "--duration", "100ms", *DATA),
    "failover": ("failover", "ycsb-a", "--fault", "echo x", "--before", "2s", "--hold", "1s", "--after", "2s", *DATA),
    "soak": ("soak", "ycsb-a", "--rate", "100/s", "--duration", "1s", *DATA),
    "grow": ("grow", "ycsb-c", "--to", "200", "--step", "100", "--drop"),
    "scan": ("scan", "scans.yaml", *DATA),
    "import": ("import", "rows.json", "--db", DATABASE, "--collection", COLLECTION, "--drop"),
}
EXIT_CODES = {"directory": 1, "disk": 1, "record": 1, "connections": 5, "rights": 5, "no rights": 5}


@pytest.fixture(scope="module")
def server(secured: SecuredServer) -> SecuredServer:
    with secured.client() as client:
        everywhere = {"db": DATABASE, "collection": ""}
        may = ["find", "dropCollection", "createCollection", "createIndex", "listIndexes", "listCollections"]
        client.admin.command(
            "createRole",
            "dropper",
            privileges=[
                {"resource": everywhere, "actions": may},
                {"resource": {"db": DATABASE, "collection": "brimline_manifest"}, "actions": ["insert", "update"]},
            ],
            roles=["clusterMonitor"],
        )
        client.admin.command("createUser", "dropper", pwd="x", roles=["dropper"])
        one = {"db": DATABASE, "collection": COLLECTION}
        lists = {"resource": {"db": DATABASE, "collection": ""}, "actions": ["listCollections", "listIndexes"]}
        whole = {"resource": one, "actions": [*may, "insert", "remove", "collStats"]}
        client.admin.command("createRole", "owner", privileges=[lists, whole], roles=["clusterMonitor"])
        client.admin.command("createUser", "owner", pwd="x", roles=["owner"])
        client.admin.command("createUser", "reader", pwd="x", roles=["readAnyDatabase", "clusterMonitor"])
        writes = {"role": "readWrite", "db": DATABASE}
        client.admin.command("createUser", "writer", pwd="x", roles=[writes])
        client.admin.command("createUser", "nobody", pwd="x", roles=[])
        client.admin.command("createUser", "everywhere", pwd="x", roles=["readAnyDatabase"])
    return secured


@pytest.fixture
def database(server: SecuredServer) -> Iterator[Data]:
    """With a collection that somebody else has made."""
    with server.client() as client:
        client.drop_database(DATABASE)
        made = client[DATABASE].create_collection(
            COLLECTION, validator={"other": {"$exists": False}}, collation={"locale": "de"}
        )
        made.create_index([("mine", 1), ("also", -1)], unique=True, sparse=True)
        made.insert_many([{"_id": number, "mine": number} for number in range(50)])
        yield client[DATABASE]


def _state(database: Data) -> Any:
    """All that a person can lose."""
    (about,) = database.list_collections(filter={"name": COLLECTION})
    collection = database[COLLECTION]
    return list(collection.find().sort("_id")), collection.index_information(), about["options"], about["info"]["uuid"]


def _full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "")


def _unwritable(*_: object, **__: object) -> None:
    raise RecordError("can't write the record: no space left on device")


def _faulty(fault: str, patch: pytest.MonkeyPatch) -> None:
    """Takes away what the name says."""
    match fault:
        case "disk":
            patch.setattr(layout, "_write_through", _full)
        case "record":
            patch.setattr(files.AppendOnlyFile, "append", _unwritable)
        case "connections":
            execution = sys.modules["brimline.execution.execute"]  # its function has the same name
            patch.setattr(execution, "start_engine", _elsewhere(execution.start_engine))
            patch.setattr(importing, "start_import", partial(_start_elsewhere, importing.start_import))


def _elsewhere(start: Callable[..., Any]) -> Callable[..., Any]:
    """Connections are made to where nobody is."""

    def start_elsewhere(plan: Any, *words: Any, **named: Any) -> Any:
        target = plan.target.model_copy(update={"address": "127.0.0.1:1", "replica_set": None})
        return start(plan.model_copy(update={"target": target, "connect_timeout_ns": 1_000_000}), *words, **named)

    return start_elsewhere


def _start_elsewhere(start: Callable[..., Any], plan: Any, *words: Any, **named: Any) -> Any:
    return start({**plan, "address": "127.0.0.1:1", "reply_timeout_ns": 1_000_000}, *words, **named)


def test_every_verb_that_can_drop_is_among_them() -> None:
    """By the pages that follow from the options; `restore` has a test of its own, since it takes its data elsewhere."""
    pages = (Path(__file__).parents[2] / "docs" / "reference" / "verbs").glob("*.md")
    assert {page.stem for page in pages if "`--drop`" in page.read_text()} == {
        "restore",
        *(words[0] for words in VERBS.values()),
    }


@pytest.mark.parametrize(("verb", "fault"), each_once(list(VERBS), list(EXIT_CODES)))
def test_what_a_command_lacks_costs_no_document_and_no_index(
    verb: str, fault: str, here: CommandLine, database: Data, server: SecuredServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("rows.json").write_text('{"mine": 100}\n')
    Path("scans.yaml").write_text(SCANS)
    Path("several.yaml").write_text(SEVERAL)
    user = {"rights": "dropper", "no rights": "reader"}.get(fault, ADMIN)
    password = quote_plus(ADMIN_PASSWORD) if user == ADMIN else "x"
    uri = f"mongodb://{user}:{password}@{server.address}/{DATABASE}?authSource=admin"
    before = _state(database)
    _faulty(fault, monkeypatch)
    runs = "/proc/none" if fault == "directory" else "runs"
    outcome = here.run(*VERBS[verb], "--uri", uri, "-q", "--runs-dir", runs)
    assert _state(database) == before, outcome.stderr
    assert outcome.exit_code == EXIT_CODES[fault], outcome.stderr
    if user != ADMIN:
        assert "insert isn't granted" in outcome.stderr or "insert, " in outcome.stderr


@pytest.mark.parametrize(
    ("user", "damage", "exit_code", "said"),
    [
        ("dropper", "", 5, "insert isn't granted"),
        ("reader", "", 5, "dropCollection, insert isn't granted"),
        (ADMIN, "no option", 2, "nothing was changed"),
        (ADMIN, "no index", 2, "nothing was changed"),
    ],
)
def test_a_restore_drops_nothing_that_it_cant_put_back(
    user: str, damage: str, exit_code: int, said: str, here: CommandLine, database: Data, server: SecuredServer
) -> None:
    password = quote_plus(ADMIN_PASSWORD) if user == ADMIN else "x"
    whole = f"mongodb://{ADMIN}:{quote_plus(ADMIN_PASSWORD)}@{server.address}/{DATABASE}?authSource=admin"
    uri = f"mongodb://{user}:{password}@{server.address}/{DATABASE}?authSource=admin"
    database["another"].insert_one({"_id": 1})
    assert here.run("backup", whole, "dump", "--db", DATABASE, "-q").exit_code == 0
    path = Path("dump", DATABASE, f"{COLLECTION}.metadata.json")
    text = path.read_text()
    told = {"no option": ('"options": {', '"options": {"unheardOf": 1, '), "no index": ('"sparse"', '"unheardOf"')}
    path.write_text(text.replace(*told.get(damage, ("", ""))) if damage else text)
    before = _state(database)
    outcome = here.run("restore", "dump", "--drop", "--uri", uri, "-q")
    assert (_state(database), database["another"].count_documents({})) == (before, 1), outcome.stderr
    outcome.check_error(exit_code, said)
    assert sorted(database.list_collection_names()) == ["another", COLLECTION]
    if damage:  # what is tried is that alone
        path.write_text(text)
        assert here.run("restore", "dump", "--drop", "--uri", uri, "-q").exit_code == 0
        assert _state(database)[:3] == before[:3]


@pytest.mark.parametrize(
    ("user", "words", "said"),
    [
        ("owner", (), ("prepared.another needs: find isn't granted", "the role read on prepared would")),
        (
            "writer",
            (),
            ("prepared.system.buckets.heat needs: find isn't granted", "backup on admin would"),
        ),
        ("everywhere", ("--db", "config"), ("all that config needs: listCollections isn't", "read on config would")),
        ("nobody", (), ("nothing to back up that the user may see", "grant it the role backup on admin")),
        ("nobody", ("--db", DATABASE), ("all that prepared needs: listCollections isn't", "read on prepared would")),
    ],
)
def test_a_backup_without_rights_is_refused_before_anything_is_read(
    user: str, words: tuple[str, ...], said: tuple[str, ...], here: CommandLine, database: Data, server: SecuredServer
) -> None:
    database["another"].insert_one({"_id": 1})
    database.create_collection("heat", timeseries={"timeField": "at"})
    before = _state(database), sorted(database.list_collection_names())
    uri = f"mongodb://{user}:x@{server.address}/?authSource=admin"
    here.run("backup", uri, "dump", *words).check_error(5, *said)
    assert not Path("dump").exists()
    if user in ("owner", "writer"):  # the others may run nothing, or read all of it
        beside = (
            "interfere",
            "ycsb-c",
            "--with",
            "backup",
            "--pairs",
            "1",
            "--duration",
            "100ms",
            "--runs-dir",
            "runs",
        )
        here.run(
            *beside, *DATA, "--uri", f"mongodb://{user}:x@{server.address}/{DATABASE}?authSource=admin"
        ).check_error(5, *said)
        assert not list(Path().glob("runs/*"))
    assert (_state(database), sorted(database.list_collection_names())) == before


def test_a_backup_of_a_time_series_takes_its_indexes_by_its_own_name(
    here: CommandLine, database: Data, server: SecuredServer
) -> None:
    database.create_collection("heat", timeseries={"timeField": "at"}).insert_one(
        {"at": datetime(2026, 1, 1, tzinfo=UTC)}
    )
    of = {"db": DATABASE, "collection": ""}, {"db": DATABASE, "system_buckets": "heat"}
    privileges = [
        {"resource": of[0], "actions": ["find", "listCollections", "listIndexes"]},
        {"resource": of[1], "actions": ["find"]},
    ]
    with server.client() as client:
        client.admin.command("createRole", "series", privileges=privileges, roles=[])
        client.admin.command("createUser", "series", pwd="x", roles=["series"])
        outcome = here.run("backup", f"mongodb://series:x@{server.address}/?authSource=admin", "dump", "--db", DATABASE)
        client.admin.command("dropUser", "series")
        client.admin.command("dropRole", "series")
    assert outcome.exit_code == 0, outcome.stderr
    assert Path("dump", DATABASE, "heat.bson").stat().st_size > 0


def test_a_backup_by_a_user_of_one_database_says_what_it_does_not_see(
    here: CommandLine, database: Data, server: SecuredServer
) -> None:
    with server.client() as client:
        client["unseen"]["one"].insert_one({"_id": 1})
        outcome = here.run("backup", f"mongodb://writer:x@{server.address}/?authSource=admin", "dump")
        client.drop_database("unseen")
    assert outcome.exit_code == 0, outcome.stderr
    assert "may not list all databases (listDatabases)" in outcome.stderr
    assert [path.name for path in Path("dump").iterdir() if path.is_dir()] == [DATABASE]


@pytest.mark.parametrize(("user", "sees"), [("writer", False), ("owner", True)])
def test_a_soak_that_will_not_see_the_server_says_so_before(
    user: str, sees: bool, here: CommandLine, database: Data, server: SecuredServer
) -> None:
    admin = f"mongodb://{ADMIN}:{quote_plus(ADMIN_PASSWORD)}@{server.address}/{DATABASE}?authSource=admin"
    assert here.run("load", "ycsb-c", "--records", "50", "--drop", "--uri", admin).exit_code == 0
    uri = f"mongodb://{user}:x@{server.address}/{DATABASE}?authSource=admin"
    words = ("--rate", "50/s", "--duration", "1s", "--records", "50", "--data", "as-is", "--p99", "10s")
    outcome = here.run("soak", "ycsb-c", *words, "--uri", uri)
    assert outcome.exit_code == 0, outcome.stderr
    before, begun, _ = outcome.stderr.partition("soak of 1.00 s")
    assert begun and ("serverStatus isn't granted" in before) is not sees, outcome.stderr


def test_a_time_series_is_restored_by_who_may_write_its_buckets(
    here: CommandLine, database: Data, server: SecuredServer
) -> None:
    series = database.create_collection("heat", timeseries={"timeField": "at"})
    series.insert_one({"at": datetime(2026, 1, 1, tzinfo=UTC)})
    admin = f"{ADMIN}:{quote_plus(ADMIN_PASSWORD)}"
    assert here.run("backup", f"mongodb://{admin}@{server.address}", "dump", "--db", DATABASE).exit_code == 0
    database.client.drop_database(DATABASE)
    outcome = here.run("restore", f"mongodb://writer:x@{server.address}/?authSource=admin", "dump")
    outcome.check_error(
        5, "prepared.system.buckets.heat needs: find, insert isn't", "backup and restore on admin would"
    )
    assert database.list_collection_names() == []
    with server.client() as client:
        client.admin.command("grantRolesToUser", "writer", roles=["backup", "restore"])
        outcome = here.run("restore", f"mongodb://writer:x@{server.address}/?authSource=admin", "dump")
        client.admin.command("revokeRolesFromUser", "writer", roles=["backup", "restore"])
    assert outcome.exit_code == 0, outcome.stderr
    assert series.count_documents({}) == 1


@pytest.mark.parametrize(("role", "may"), [("clusterMonitor", False), ("clusterManager", True), ("root", True)])
def test_a_step_down_without_the_right_is_refused_before_a_load(role: str, may: bool, server: SecuredServer) -> None:
    with server.client() as client:
        client.admin.command("createUser", "stepper", pwd="x", roles=[role])
        try:
            deployment = found(f"mongodb://stepper:x@{server.address}/?authSource=admin")
            refused = nullcontext() if may else pytest.raises(TargetError, match=r"replSetStateChange isn't granted")
            with refused as caught:
                KINDS["step-down"].check(Site(deployment=deployment), "")
            assert may or "clusterManager on admin" in (caught.value.hint or "")
        finally:
            client.admin.command("dropUser", "stepper")


@pytest.mark.parametrize("verb", ["load", "run", "import", "load several"])
def test_without_a_fault_each_of_them_does_replace(
    verb: str, here: CommandLine, database: Data, server: SecuredServer
) -> None:
    """Else the test above would show nothing. What is no document stays."""
    Path("rows.json").write_text('{"mine": 100}\n')
    Path("several.yaml").write_text(SEVERAL)
    before = _state(database)
    uri = f"mongodb://{ADMIN}:{quote_plus(ADMIN_PASSWORD)}@{server.address}/{DATABASE}?authSource=admin"
    outcome = here.run(*VERBS[verb], "--uri", uri, "--runs-dir", "runs")
    after = _state(database)
    assert after[0] != before[0] and after[3] != before[3], outcome.stderr
    assert after[2] == before[2]
    assert after[1] == before[1]
    assert "kept the index mine_1_also_-1 and the options" in outcome.stderr


REFUSING: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "a validator": ({"validator": {"mine": {"$exists": True}}}, None),
    "a unique index": ({}, {"keys": [("mine", 1)], "unique": True}),
    "a geographic index": ({}, {"keys": [("field0", "2dsphere")]}),
    "a size": ({"capped": True, "size": 4096}, None),
    "a count": ({"capped": True, "size": 1 << 30, "max": 60}, None),
}


@pytest.mark.parametrize(("kind", "verb"), each_once(list(REFUSING), ["load", "run", "load several", "grow"]))
def test_a_kept_collection_that_refuses_the_documents_is_found_before_it_is_emptied(
    verb: str, kind: str, here: CommandLine, database: Data, server: SecuredServer
) -> None:
    options, index = REFUSING[kind]
    if index is not None and verb == "grow":
        pytest.skip("it drops the indexes of others, which it says")
    database.drop_collection(COLLECTION)
    made = database.create_collection(COLLECTION, **options)
    if index is not None:
        made.create_index(**index)
    made.insert_many([{"_id": number, "mine": number} for number in range(50)])
    Path("several.yaml").write_text(SEVERAL)
    before = _state(database)
    uri = f"mongodb://{ADMIN}:{quote_plus(ADMIN_PASSWORD)}@{server.address}/{DATABASE}?authSource=admin"
    outcome = here.run(*VERBS[verb], "--uri", uri, "-q", "--runs-dir", "runs")
    assert _state(database) == before, outcome.stderr
    outcome.check_error(2, "nothing was changed")
    assert [name for name in database.list_collection_names() if "trial" in name] == []


def test_that_nothing_was_tried_before_a_drop_is_said(here: CommandLine, database: Data, server: SecuredServer) -> None:
    """Of a user who may make no other collection, in which the documents could have been tried."""
    Path("rows.json").write_text('{"_id": 1, "mine": 100}\n')
    uri = f"mongodb://owner@{server.address}/?authSource=admin"
    indexes = database[COLLECTION].index_information()
    outcome = here.run(*VERBS["import"], "--uri", uri, environment={"BRIMLINE_PASSWORD": "x"})
    assert outcome.exit_code == 0, outcome.stderr
    assert len(indexes) > 1 and database[COLLECTION].index_information() == indexes
    assert "not tried before it was emptied" in outcome.stderr
    assert list(database[COLLECTION].find()) == [{"_id": 1, "mine": 100}]


TABLES = """\
name: several
protocol: sql
collections:
  usertable: {records: 200, fields: {n: int, of: {kind: array, length: 2, of: int}}, indexes: [{n: 1}]}
tables: {usertable: {child: [of]}}
values: {key: {key_of: usertable}}
operations: {look: {share: 1, sql: "SELECT n FROM usertable WHERE id = $key"}}
"""
SQL_VERBS = [
    verb
    for verb, words in VERBS.items()
    if words[0] in ("load", "run", "sweep", "capacity", "ab", "soak") and verb != "vary indexes"
]
SQL_FAULTS = {**EXIT_CODES, "in use": 5}
SQL_USERS = {
    "mysql": """
        CREATE OR REPLACE USER dropper IDENTIFIED BY 'x'
        GRANT SELECT, DROP, INSERT ON prepared.* TO dropper
        GRANT ALL ON prepared.brimline_manifest TO dropper
        CREATE OR REPLACE USER reader IDENTIFIED BY 'x'
        GRANT SELECT ON prepared.* TO reader
    """,
    "postgres": """
        DROP ROLE IF EXISTS dropper
        CREATE ROLE dropper LOGIN PASSWORD 'x'
        DROP ROLE IF EXISTS reader
        CREATE ROLE reader LOGIN PASSWORD 'x'
    """,
}
SQL_OWNERS = """
    REVOKE CREATE ON SCHEMA public FROM PUBLIC
    CREATE TABLE brimline_manifest (name TEXT PRIMARY KEY, document TEXT NOT NULL)
    ALTER TABLE brimline_manifest OWNER TO dropper
    ALTER TABLE usertable OWNER TO dropper
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader
"""
IN_USE = {
    "mysql": "CREATE TABLE other (mine INT, FOREIGN KEY (mine) REFERENCES usertable (mine))",
    "postgres": "CREATE VIEW other AS SELECT * FROM usertable",
}


def _statements(server: SqlServer, text: str) -> None:
    with server.client(DATABASE) as client:
        for statement in filter(None, map(str.strip, text.splitlines())):
            client.change(statement)


def _sql_state(server: SqlServer) -> Any:
    """All that a person can lose."""
    with server.client(DATABASE) as client:
        store = Store(client=client, dialect=DIALECTS[server.protocol], database=DATABASE)
        rows = client.rows("SELECT * FROM usertable ORDER BY mine")
        return rows, sorted(store.beside("usertable")), store.identity("usertable")


@pytest.fixture
def table(sql_server: SqlServer) -> SqlServer:
    """A database with a table that somebody else has made."""
    sql_server.make_database(DATABASE)
    rows = ", ".join(f"({number}, 'x')" for number in range(50))
    made = f"CREATE TABLE usertable (mine INT PRIMARY KEY, also CHAR(9))\nINSERT INTO usertable VALUES {rows}"
    _statements(sql_server, f"{made}\nCREATE INDEX theirs ON usertable (also)\n{SQL_USERS[sql_server.protocol]}")
    return sql_server


def test_every_verb_that_can_drop_tables_is_among_them() -> None:
    pages = (Path(__file__).parents[2] / "docs" / "reference" / "verbs").glob("*.md")
    texts = {page.stem: page.read_text() for page in pages}
    able = {verb for verb, text in texts.items() if "`--drop`" in text and "`--mariadb`" in text}
    assert able | {"load"} == {VERBS[verb][0] for verb in SQL_VERBS}


# All begin by the same load.
_LOADS_LACK = [("load several", fault) for fault in SQL_FAULTS]
_OTHERS_LACK = [
    (verb, fault)
    for verb in SQL_VERBS
    for fault in ("record", "rights")
    if not verb.startswith("load") and (verb, fault) != ("run", "record")
]


@pytest.mark.parametrize(
    ("verb", "fault"),
    [*_LOADS_LACK, ("run", "record"), *repetitions(*(("load", fault) for fault in SQL_FAULTS), *_OTHERS_LACK)],
)
def test_what_a_command_lacks_costs_no_row_and_no_index(
    verb: str, fault: str, here: CommandLine, table: SqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MariaDB and PostgreSQL: also a table that something else needs stays somebody else's."""
    Path("several.yaml").write_text(TABLES)
    if fault == "in use":
        _statements(table, IN_USE[table.protocol])
    uri = table.uri(DATABASE)
    if user := {"rights": "dropper", "no rights": "reader"}.get(fault):
        _statements(table, SQL_OWNERS if table.protocol == "postgres" else "")
        uri = f"{uri.partition('//')[0]}//{user}:x@{table.target(DATABASE).address}/{DATABASE}"
    before = _sql_state(table)
    with monkeypatch.context() as patch:
        _faulty(fault, patch)
        runs = "/proc/none" if fault == "directory" else "runs"
        outcome = here.run(*VERBS[verb], "--uri", uri, "-q", "--runs-dir", runs)
    assert _sql_state(table) == before, outcome.stderr
    assert outcome.exit_code == SQL_FAULTS[fault], outcome.stderr
    if fault in ("in use", "rights"):
        words = [each for each in VERBS[verb] if each != "--drop"]
        again = here.run(*words, "--uri", table.uri(DATABASE), "-q", "--runs-dir", "runs")
        again.check_error(2, "brimline did not make it")
        assert _sql_state(table) == before


@pytest.mark.parametrize("verb", ["load several", *repetitions("load")])
def test_without_a_fault_a_table_is_replaced(verb: str, here: CommandLine, table: SqlServer) -> None:
    """Else the test above would show nothing. What somebody gave the new one later isn't lost without a word."""
    Path("several.yaml").write_text(TABLES)
    uri = ("--uri", table.uri(DATABASE), "-q", "--runs-dir", "runs")
    assert here.run(*VERBS[verb], *uri).exit_code == 0
    again = [each for each in VERBS[verb] if each != "--drop"]
    assert here.run(*again, *uri).exit_code == 0, "what is brimline's own is replaced without being told"
    _statements(table, "ALTER TABLE usertable ADD COLUMN mine INT\nCREATE INDEX theirs ON usertable (mine)")
    with table.client(DATABASE) as client:
        before = client.rows("SELECT * FROM usertable ORDER BY 1")
        refused = here.run(*again, *uri)
        if table.protocol == "postgres":
            refused.check_error(2, "the index theirs of usertable", "the column mine of usertable")
        refused.check_error(2, "brimline did not make", "--drop")  # MariaDB knows an altered table as another one
        assert client.rows("SELECT * FROM usertable ORDER BY 1") == before
        replaced = here.run(*VERBS[verb], *(each for each in uri if each != "-q"))
        assert replaced.exit_code == 0, replaced.stderr
        assert f"dropped with {DATABASE}.usertable: the index theirs of usertable\n" in replaced.stderr
        assert client.rows("SELECT COUNT(*) FROM usertable") == [(200,)]
        names = "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'brimline_trial%'"
        assert client.rows(names) == []


def test_a_table_that_somebody_made_in_the_same_second_is_another(here: CommandLine, table: SqlServer) -> None:
    """MariaDB says in whole seconds when a table was made."""
    if table.protocol == "postgres":
        pytest.skip("PostgreSQL's tables have numbers")
    again = [each for each in VERBS["load"] if each != "--drop"]
    uri = ("--uri", table.uri(DATABASE), "-q", "--runs-dir", "runs")
    assert here.run(*VERBS["load"], *uri).exit_code == 0
    with table.client(DATABASE) as client:
        store = Store(client=client, dialect=DIALECTS["mysql"], database=DATABASE)
        stored, made = store.read_manifest(COLLECTION), store.identity(COLLECTION)
        assert stored is not None and made is not None and made == stored.manifest.collection_uuid
        _statements(table, f"DROP TABLE {COLLECTION}\nCREATE TABLE {COLLECTION} (mine INT PRIMARY KEY)")
        _statements(table, f"INSERT INTO {COLLECTION} VALUES (1)")
        second = store.identity(COLLECTION)
        mark = made[made.index(" brimline ") :]
        store.write_manifest(replace(stored.manifest, collection_uuid=f"{second}{mark}"), stored.statements)
        here.run(*again, *uri).check_error(2, "brimline did not make it")
        assert client.rows(f"SELECT * FROM {COLLECTION}") == [(1,)]
