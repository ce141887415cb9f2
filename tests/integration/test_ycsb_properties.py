"""Properties of YCSB that change what is sent, as a real mongod's own profiler sees it."""

from collections.abc import Iterator
from typing import Any

import pymongo
import pytest

from brimline.servers import Deployment
from tests.support.command_line import CommandLine, Outcome
from tests.support.ycsb_golden import GOLDEN

pytestmark = pytest.mark.mongod

Database = pymongo.database.Database[dict[str, Any]]
NAME = "ycsbproperties"


@pytest.fixture
def database(mongod: Deployment) -> Iterator[Database]:
    """A database without any collection."""
    with pymongo.MongoClient[dict[str, Any]](f"mongodb://{mongod.address}", directConnection=True) as client:
        client.drop_database(NAME)
        yield client[NAME]
        client[NAME].command("profile", 0)
        client.drop_database(NAME)


@pytest.fixture
def url(mongod: Deployment) -> str:
    return f"mongodb.url=mongodb://{mongod.address}/{NAME}?w=1"


def ycsb(cli: CommandLine, url: str, phase: str, letter: str, *properties: str) -> Outcome:
    given = [word for each in (url, *properties) for word in ("-p", each)]
    return cli.run("ycsb", phase, "mongodb", "-P", str(GOLDEN / f"workload{letter}.properties"), *given)


def profiled(database: Database, operation: str) -> list[dict[str, Any]]:
    """The commands of this kind that the profiler saw."""
    return [each["command"] for each in database["system.profile"].find({"op": operation, "ns": f"{NAME}.usertable"})]


def test_reads_name_all_fields_and_those_of_a_read_modify_write_none(
    brimline_cli: CommandLine, url: str, database: Database
) -> None:
    assert ycsb(brimline_cli, url, "load", "f", "recordcount=50").exit_code == 0
    database.command("profile", 2)
    ycsb(brimline_cli, url, "run", "f", "recordcount=50", "operationcount=60", "readallfieldsbyname=true")
    database.command("profile", 0)
    projections = [each.get("projection") for each in profiled(database, "query")]
    assert {tuple(each) for each in projections if each} == {tuple(f"field{number}" for number in range(10))}
    updates = database["system.profile"].count_documents({"op": "update", "ns": f"{NAME}.usertable"})
    assert projections.count(None) == updates > 0, "one read of each read-modify-write"
    assert len(projections) == 60
