"""What `brimline init` writes is a workload: it is loaded and run, on a server that knows nothing of the live one."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pymongo
import pytest
from bson import ObjectId

from brimline.servers import Deployment
from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions

pytestmark = pytest.mark.mongod

LIVE = "init_live"


@pytest.fixture(scope="module")
def uri(mongod: Deployment) -> Iterator[str]:
    """A server with a live shop whose queries were profiled."""
    with pymongo.MongoClient(f"mongodb://{mongod.address}", directConnection=True, appname="shop") as client:
        database: Any = client[LIVE]
        client.drop_database(LIVE)
        draw = random.Random(1)
        keys = [ObjectId() for _ in range(200)]
        schema = {
            "required": ["email", "age"],
            "properties": {"age": {"bsonType": "int", "minimum": 18}, "city": {"enum": ["Wuhan", "Xi'an"]}},
        }
        database.create_collection("people", validator={"$jsonSchema": schema})
        database.people.insert_many(
            {
                "_id": key,
                "email": f"p{number}@x.org",
                "age": draw.randint(18, 90),
                "city": draw.choice(["Wuhan", "Xi'an"]),
            }
            for number, key in enumerate(keys)
        )
        database.people.create_index("email", unique=True)
        database.visits.insert_many(
            {
                "person": draw.choice(keys),
                "at": datetime(2024, 1, 1) + timedelta(minutes=number),
                "place": {"type": "Point", "coordinates": [draw.uniform(5, 9), draw.uniform(45, 50)]},
                "tags": draw.sample(["a", "b", "c"], 2),
            }
            for number in range(500)
        )
        database.visits.create_index([("person", 1), ("at", -1)])
        database.visits.create_index([("place", "2dsphere")])
        database.command("profile", 2)
        for number in range(40):
            list(database.visits.find({"person": draw.choice(keys)}).sort("at", -1).limit(5))
            database.people.update_one({"_id": draw.choice(keys)}, {"$inc": {"age": 1}, "$set": {"city": "Wuhan"}})
            database.visits.insert_one({"person": keys[number], "at": datetime.now()})
            list(
                database.visits.aggregate([{"$match": {"tags": "a"}}, {"$group": {"_id": "$person", "n": {"$sum": 1}}}])
            )
            database.people.find_one_and_update({"email": f"p{number}@x.org"}, {"$set": {"age": 30}})
            list(
                database.visits.find(
                    {"place": {"$near": {"$geometry": {"type": "Point", "coordinates": [7, 48]}}}}
                ).limit(3)
            )
        database.command("profile", 0)
        yield f"mongodb://{mongod.address}/?directConnection=true"
        client.drop_database(LIVE)
        client.drop_database(f"{LIVE}_brimline")


def test_live_collections_are_used_as_they_are(brimline_cli: CommandLine, uri: str) -> None:
    written = brimline_cli.run("init", "my.yaml", "--from", uri, f"{LIVE}.people", f"{LIVE}.visits", "--existing")
    assert written.exit_code == 0, written.stderr
    assert f"next: brimline run my.yaml --uri '{uri}'" in written.stderr
    measured = ("run", "my.yaml", "--uri", uri, "--rate", "300/s", "--duration", "1s", "--warmup", "0s", "--json")
    brimline_cli.run(*measured).check_error(2, "--allow-writes")
    outcome = brimline_cli.run(*measured, "--allow-writes")
    assert outcome.exit_code in (0, 3, 4), outcome.stderr
    assert outcome.json()["error_rate"] == 0, outcome.json()["errors"]


@pytest.mark.parametrize("arguments", [("--with-values",), *repetitions(((),), (("--operations", "indexes"),))])
def test_a_written_workload_is_loaded_and_run(brimline_cli: CommandLine, uri: str, arguments: tuple[str, ...]) -> None:
    written = brimline_cli.run("init", "my.yaml", "--from", uri, f"{LIVE}.people", f"{LIVE}.visits", *arguments)
    assert written.exit_code == 0, written.stderr
    outcome = brimline_cli.run(
        "run",
        "my.yaml",
        "--uri",
        uri,
        "--data",
        "load",
        "--drop",
        "--rate",
        "300/s",
        "--duration",
        "1s",
        "--warmup",
        "0s",
        "--json",
    )
    # Too few operations for a p99 is no matter here.
    assert outcome.exit_code in (0, 3, 4), outcome.stderr
    document = outcome.json()
    assert document["error_rate"] == 0, document["errors"]
    assert sum(each["samples"] for each in document["operations"].values()) == 300
    checks = {check["name"]: check for check in document["checks"]}
    assert [name for name, check in checks.items() if "counts" in name and "fail" in check.values()] == []
