"""A database of a test's own on the shared server, and what is said while brimline works on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pymongo

from brimline.execution.progress import Silence
from brimline.servers import Deployment

Data = pymongo.database.Database[dict[str, Any]]


@contextmanager
def database_for_a_test(mongod: Deployment, name: str) -> Iterator[Data]:
    """The database `name`, empty before and gone afterwards."""
    with pymongo.MongoClient[dict[str, Any]](f"mongodb://{mongod.address}", directConnection=True) as client:
        client.drop_database(name)
        yield client[name]
        client.drop_database(name)


class Told(Silence):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def step(self, text: str) -> None:
        self.texts.append(text)

    note = warning = step
