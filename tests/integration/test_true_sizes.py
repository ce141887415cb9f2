"""What a load, an import and a step of growth say of the size of their data: all of it, on every kind of server."""

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.sql_servers import SqlServer

DATABASE = "sizes"
RECORDS = 2_000
DATA_BYTES_MIN = RECORDS * 1_000
INDEXED = """\
name: indexed
database: sizes
collections: {orders: {records: 2000, fields: {text: {kind: string, length: 1000}}, indexes: [{text: 1}]}}
operations: {look: {share: 1, find: {collection: orders, filter: {_id: 1}}}}
"""

pytestmark = pytest.mark.mongod


def test_a_load_knows_its_data_on_the_disk(here: CommandLine, uri: str) -> None:
    loaded = here.run("load", "ycsb-c", "--uri", f"{uri}/{DATABASE}", "--records", str(RECORDS), "--json")

    assert loaded.exit_code == 0, loaded.stderr
    size = loaded.json()["load"]["data_size"]
    assert size["checkpoint"] == "taken"
    assert size["documents"] == RECORDS
    # Without a checkpoint the server says 4 kB. What chance drew can't be compressed by much.
    assert size["storage_bytes"] > 0.5 * DATA_BYTES_MIN
    assert size["data_bytes"] == pytest.approx(size["document_bytes"] * RECORDS)
    assert size["total_bytes"] == size["storage_bytes"] + size["index_bytes"]
    assert size["files_bytes"] > size["total_bytes"]
    (directory,) = here.record_directories()
    assert "a checkpoint after the last write" in (directory / "report.html").read_text()


def test_indexes_that_a_load_makes_at_its_end_are_among_its_sizes(here: CommandLine, uri: str) -> None:
    Path("indexed.yaml").write_text(INDEXED)
    loaded = here.run("load", "indexed.yaml", "--uri", uri, "--json")

    assert loaded.exit_code == 0, loaded.stderr
    assert loaded.json()["load"]["data_size"]["index_bytes"] > 0.5 * DATA_BYTES_MIN


def test_an_import_knows_its_data_on_the_disk(here: CommandLine, uri: str) -> None:
    text = "".join(f"{number},{number * 7919:x>1000}\n" for number in range(RECORDS))
    Path("rows.csv").write_text("number,text\n" + text)
    imported = here.run("import", "rows.csv", "--headerline", "--uri", uri, "-d", DATABASE, "-c", "rows", "--json")

    assert imported.exit_code == 0, imported.stderr
    size = imported.json()["data_size"]
    assert size["checkpoint"] == "taken"
    assert size["documents"] == RECORDS
    assert size["data_bytes"] > DATA_BYTES_MIN
    assert size["storage_bytes"] > 4096


@pytest.mark.slow("a growth of two sizes, on a real server")
def test_a_step_of_growth_knows_its_data_on_the_disk(here: CommandLine, uri: str) -> None:
    grown = here.run(
        *("grow", "ycsb-c", "--uri", f"{uri}/grown", "--to", "2000", "--step", "1000", "--drop"),
        *("--connections", "1", "--queries", "100", "--json"),
    )

    assert grown.exit_code == 0, grown.stderr
    first, second = grown.json()["index_sets"][0]["volumes"]
    assert 0.5 * DATA_BYTES_MIN / 2 < first["load"]["storage_bytes"] < second["load"]["storage_bytes"]


def test_a_load_of_an_sql_database_knows_its_data_on_the_disk(here: CommandLine, sql_server: SqlServer) -> None:
    sql_server.make_database(DATABASE)
    words = ("ycsb-c", "--uri", sql_server.uri(DATABASE), "--records", str(RECORDS))
    loaded = here.run("load", *words, "--json")

    assert loaded.exit_code == 0, loaded.stderr
    size = loaded.json()["load"]["data_size"]
    assert size["checkpoint"] == {"mariadb": "at once", "postgres": "taken"}[sql_server.system]
    assert size["total_bytes"] > DATA_BYTES_MIN
