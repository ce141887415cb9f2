"""`brimline init` on a real mongod: collections and a profile that the tests make, errors, and no value that leaks."""

import json
import random
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pymongo
import pytest
from bson import Decimal128, ObjectId

from brimline.servers import Deployment
from brimline.spec import load_spec
from tests.support.command_line import CommandLine
from tests.support.secured_mongod import SecuredServer

pytestmark = pytest.mark.mongod

DATABASE = "init_shop"
SECRETS = (
    "Zanzibarville",
    "Quuxtown",
    "person17@example.org",
    "DELIVERED_TODAY",
    "SKU-7",
    "Lieselotte",
    "privatenote",
    "4711.25",
    "2013-03-17",
    "7.1234567",
    "SecretLiteral",
)
"""Values of the data and of queries, none of which may be in a file that didn't ask for them."""


def _client(mongod: Deployment) -> "pymongo.MongoClient[dict[str, Any]]":
    return pymongo.MongoClient(
        f"mongodb://{mongod.address}", directConnection=True, appname="shop", uuidRepresentation="standard"
    )


@pytest.fixture(scope="module")
def shop(mongod: Deployment) -> Iterator[str]:
    """The address of a server on which a shop was loaded and used while the profiler took all."""
    with _client(mongod) as client:
        client.drop_database(DATABASE)
        database = client[DATABASE]
        _load(database)
        database.command("profile", 2)
        _use(database)
        database.command("profile", 0)
        yield f"mongodb://{mongod.address}/?directConnection=true"
        client.drop_database(DATABASE)


def _load(database: Any) -> None:
    draw = random.Random(1)
    keys = [ObjectId() for _ in range(500)]
    database.create_collection(
        "customers",
        validator={
            "$jsonSchema": {
                "required": ["email"],
                "properties": {"_id": {"bsonType": "objectId"}, "city": {"enum": SECRETS[:2]}},
            }
        },
    )
    database.customers.insert_many(
        {
            "_id": key,
            "name": f"Lieselotte{number}",
            "email": f"person{number}@example.org",
            "city": draw.choice(SECRETS[:2]),
            "at": {"type": "Point", "coordinates": [7.1234567 + number / 1000, 50.0]},
            "born": datetime(2013, 3, 17),
        }
        for number, key in enumerate(keys)
    )
    database.customers.create_index("email", unique=True)
    database.customers.create_index([("at", "2dsphere")])
    database.orders.insert_many(
        {
            "customer": draw.choices(keys, [1 / (rank + 1) for rank in range(500)])[0],
            "total": 4711.25 + number,
            "created": datetime(2024, 1, 1) + timedelta(minutes=number),
            "status": "DELIVERED_TODAY",
            "price": Decimal128("9.99"),
            "items": [{"sku": f"SKU-7{number}", "n": 2}],
            "token": UUID(int=number),
            **({"note": "privatenote"} if number % 3 else {}),
        }
        for number in range(2000)
    )
    database.orders.create_index([("customer", 1), ("created", -1)])
    database.orders.create_index("status", partialFilterExpression={"status": "DELIVERED_TODAY"})
    database.create_collection("empty")


def _use(database: Any) -> None:
    draw = random.Random(2)
    orders = list(database.orders.find({}, {"customer": 1}))
    for number in range(60):
        order = draw.choice(orders)
        list(database.orders.find({"customer": order["customer"]}).sort("created", -1).limit(20))
        database.customers.find_one({"_id": order["customer"]})
        if number % 3:
            continue
        database.orders.update_one(
            {"_id": order["_id"]},
            {"$set": {"note": "privatenote", "changed": datetime.now()}, "$inc": {"total": 4711.25}},
        )
        database.customers.find_one({"email": "person17@example.org", "city": {"$in": ["Quuxtown", "Zanzibarville"]}})
        list(database.customers.find({"name": {"$regex": "^Lieselotte1"}}).limit(2))
        list(
            database.customers.find(
                {"at": {"$near": {"$geometry": {"type": "Point", "coordinates": [7.1234567, 50.0]}}}}
            ).limit(2)
        )
        list(
            database.orders.aggregate(
                [
                    {"$match": {"created": {"$gte": datetime(2024, 1, 1), "$lt": datetime(2024, 1, 2)}}},
                    {"$group": {"_id": "$status", "sum": {"$sum": "$total"}, "what": {"$first": "SecretLiteral"}}},
                ]
            )
        )
        database.orders.insert_one({"customer": order["customer"], "status": "DELIVERED_TODAY"})


def _written(cli: CommandLine, *arguments: Any) -> tuple[str, Any]:
    """The text of the file that was written, and its spec."""
    outcome = cli.run("init", "my.yaml", *arguments)
    assert outcome.exit_code == 0, outcome.stderr
    path = cli.directory / "my.yaml"
    return path.read_text(encoding="utf-8"), load_spec(path).spec


def _of_shop(cli: CommandLine, uri: str, *arguments: Any) -> tuple[str, Any]:
    return _written(cli, "--from", uri, f"{DATABASE}.customers", f"{DATABASE}.orders", *arguments)


@pytest.mark.parametrize(
    "arguments", [(), ("--existing",), ("--operations", "indexes"), ("--existing", "--operations", "indexes")]
)
def test_no_value_leaks_and_the_reader_takes_the_file(
    brimline_cli: CommandLine, shop: str, arguments: tuple[str, ...]
) -> None:
    text, spec = _of_shop(brimline_cli, shop, *arguments)
    assert [each for each in SECRETS if each in text] == []
    assert list(spec.collections) == ["customers", "orders"]
    assert spec.database == (DATABASE if "--existing" in arguments else f"{DATABASE}_brimline")
    assert len(spec.operations.by_name) >= 6


def test_shapes_references_and_indexes(brimline_cli: CommandLine, shop: str) -> None:
    text, spec = _of_shop(brimline_cli, shop)
    orders = spec.collections["orders"].model_dump()
    assert 2000 <= orders["records"] <= 2100
    customer = spec.collections["orders"].fields["customer"]
    assert (customer.of, customer.keys.kind) == ("customers", "zipfian")
    kinds = {name: value["kind"] for name, value in orders["fields"].items() if "kind" in value}
    assert (
        kinds.items()
        >= {
            "total": "double",
            "created": "date",
            "status": "choice",
            "price": "decimal",
            "items": "array",
            "token": "uuid",
        }.items()
    )
    assert orders["indexes"][0]["keys"] == {"customer": 1, "created": -1}
    assert "guess: refers to customers" in text
    assert "partial in the live collection" in text


def test_operations_are_those_of_the_profile_with_their_shares(brimline_cli: CommandLine, shop: str) -> None:
    text, spec = _of_shop(brimline_cli, shop)
    shares = spec.operations.shares
    assert shares["find_orders_by_customer"] == pytest.approx(60 / 240, abs=0.01)
    assert shares["find_customers_by_id"] == pytest.approx(60 / 240, abs=0.01)
    assert {"update_orders_by_id", "aggregate_orders_by_created", "insert_orders"} <= shares.keys()
    assert "slow operations only" not in text
    assert "theta" in text


def test_values_come_only_when_they_are_asked_for(brimline_cli: CommandLine, shop: str) -> None:
    text, _ = _of_shop(brimline_cli, shop, "--with-values")
    assert "Zanzibarville: " in text and "Quuxtown: " in text
    assert "Values of the data are in it" in text


def test_without_a_profile_operations_are_proposed_from_the_indexes(brimline_cli: CommandLine, shop: str) -> None:
    text, spec = _of_shop(brimline_cli, shop, "--operations", "indexes")
    assert {
        "find_orders_by_customer",
        "find_customers_by_email",
        "insert_orders",
        "update_orders_by_id",
    } <= spec.operations.shares.keys()
    assert "all operations are proposed from the indexes" in text


def test_the_text_goes_to_standard_output_without_a_file(brimline_cli: CommandLine, shop: str) -> None:
    outcome = brimline_cli.run("init", "--from", shop, f"{DATABASE}.customers", "--sample", "10")
    assert outcome.exit_code == 0, outcome.stderr
    assert "10 of them looked at" in outcome.stdout
    assert "looking at" in outcome.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((f"{DATABASE}.customer",), f"there is no collection customer in the database {DATABASE}"),
        ((f"{DATABASE}.empty",), f"{DATABASE}.empty is empty"),
        ((DATABASE,), "names no collection"),
        (("admin.users",), "one of MongoDB's own databases"),
        ((f"{DATABASE}.orders", "other.orders"), "two databases"),
        ((f"{DATABASE}.orders", "--sample", "200k"), "--sample"),
        ((f"{DATABASE}.orders", "--operations", "log"), "names no log"),
    ],
)
def test_what_can_not_be_read_is_one_error(
    brimline_cli: CommandLine, shop: str, words: tuple[str, ...], said: str
) -> None:
    brimline_cli.run("init", "my.yaml", "--from", shop, *words).check_error(2, said)
    assert not (brimline_cli.directory / "my.yaml").exists()


def test_a_profile_without_operations_on_these_collections(brimline_cli: CommandLine, mongod: Deployment) -> None:
    with _client(mongod) as client:
        client["init_quiet"].quiet.insert_one({"a": 1})
        try:
            outcome = brimline_cli.run(
                "init",
                "--from",
                f"mongodb://{mongod.address}/?directConnection=true",
                "init_quiet.quiet",
                "--operations",
                "profile",
            )
        finally:
            client.drop_database("init_quiet")
    outcome.check_error(2, "system.profile has no operation on these collections")


def test_a_file_that_is_there_stays_without_force(brimline_cli: CommandLine, shop: str) -> None:
    path = brimline_cli.directory / "my.yaml"
    path.write_text("mine", encoding="utf-8")
    brimline_cli.run("init", path, "--from", shop, f"{DATABASE}.orders").check_error(2, "is there already", "--force")
    assert path.read_text(encoding="utf-8") == "mine"
    assert _of_shop(brimline_cli, shop, "--force")[1].name == "init_shop"


def test_the_servers_own_log_shows_its_slow_operations(
    brimline_cli: CommandLine, shop: str, mongod: Deployment
) -> None:
    with _client(mongod) as client:
        database = client[DATABASE]
        database.command("profile", 0, slowms=-1)
        try:
            for number in range(30):
                list(database.orders.find({"total": {"$gt": 4711.25 + number}}).limit(3))
        finally:
            database.command("profile", 0, slowms=100)
        path = Path(client.admin.command("getCmdLineOpts")["parsed"]["systemLog"]["path"])
    shutil.copy(path, brimline_cli.directory / "mongod.log")
    text, spec = _written(brimline_cli, "--log", "mongod.log", f"{DATABASE}.orders")
    assert spec.collections == {"orders": "existing"}
    assert "find_orders_by_total" in spec.operations.by_name
    assert "slow operations only" in text
    assert "4711" not in text


def test_rights_that_are_missing_are_named(brimline_cli: CommandLine, secured: SecuredServer) -> None:
    with secured.client() as client:
        client.shop.orders.insert_one({"a": 1})
        client.shop.command("createUser", "reader", pwd="hidden-word", roles=["read"])
        client.shop.command("createUser", "nobody", pwd="hidden-word", roles=[])
    address = f"{secured.address}/shop?directConnection=true"
    mine = ("--from", f"mongodb://reader:hidden-word@{address}", "shop.orders")
    brimline_cli.run("init", *mine, "--operations", "profile").check_error(
        5, "may not read shop.system.profile", "dbAdmin"
    )
    outcome = brimline_cli.run("init", "my.yaml", *mine)
    assert outcome.exit_code == 0, outcome.stderr
    text = (brimline_cli.directory / "my.yaml").read_text(encoding="utf-8")
    assert "may not read shop.system.profile" in text
    assert "hidden-word" not in text + outcome.stderr + outcome.stdout
    refused = brimline_cli.run("init", "--from", f"mongodb://nobody:hidden-word@{address}", "shop.orders")
    refused.check_error(5, "not", "")
    assert "hidden-word" not in refused.stderr


def test_no_server(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("init", "my.yaml", "--from", "mongodb://user:hidden-word@127.0.0.1:1", "shop.orders")
    outcome.check_refused("127.0.0.1:1")
    assert "hidden-word" not in outcome.stderr
    assert not (brimline_cli.directory / "my.yaml").exists()


def test_a_view_and_a_time_series(brimline_cli: CommandLine, shop: str, mongod: Deployment) -> None:
    with _client(mongod) as client:
        database = client["init_kinds"]
        database.create_collection(
            "series", timeseries={"timeField": "at", "metaField": "sensor", "granularity": "minutes"}
        )
        database.series.insert_many(
            {"at": datetime(2024, 1, 1, 0, minute), "sensor": minute % 5, "v": 1.5} for minute in range(50)
        )
        database.command("create", "seen", viewOn="series", pipeline=[])
        try:
            brimline_cli.run("init", "--from", shop, "init_kinds.seen").check_error(2, "is a view")
            _, spec = _written(brimline_cli, "--from", shop, "init_kinds.series")
        finally:
            client.drop_database("init_kinds")
    assert json.loads(json.dumps(spec.collections["series"].options)) == {
        "timeseries": {"timeField": "at", "metaField": "sensor", "granularity": "minutes"}
    }
