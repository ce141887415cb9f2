"""Owns what tests of `brimline ycsb` share: a database of its own, the command, and figures in its text."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymongo

from brimline.servers import Deployment
from tests.support.command_line import CommandLine, Outcome
from tests.support.ycsb_golden import GOLDEN

Database = pymongo.database.Database[dict[str, Any]]


@contextmanager
def database_without_collections(mongod: Deployment, name: str) -> Iterator[Database]:
    """A database that is dropped before and afterwards."""
    with pymongo.MongoClient[dict[str, Any]](f"mongodb://{mongod.address}", directConnection=True) as client:
        client.drop_database(name)
        yield client[name]
        client.drop_database(name)


def url_property(mongod: Deployment, name: str) -> str:
    """The address of a database as YCSB has it."""
    return f"mongodb.url=mongodb://{mongod.address}/{name}?w=1"


def workload(letter: str) -> str:
    """The property file that YCSB's recorded runs had."""
    return str(GOLDEN / f"workload{letter}.properties")


def ycsb(cli: CommandLine, url: str, phase: str, letter: str, *flags: str, binding: str = "mongodb") -> Outcome:
    """`brimline ycsb` with a recorded workload, to its end."""
    return cli.run("ycsb", phase, binding, "-P", workload(letter), "-p", url, *flags)


def ycsb_with(cli: CommandLine, url: str, phase: str, letter: str, *properties: str) -> Outcome:
    """The same with properties instead of flags."""
    return ycsb(cli, url, phase, letter, *(word for each in properties for word in ("-p", each)))


def record_of(cli: CommandLine, outcome: Outcome) -> Path:
    """Where the run says that its record is."""
    told = next(line for line in outcome.stderr.splitlines() if line.startswith("record: "))
    return cli.directory / told.removeprefix("record: ")


def check_measured(outcome: Outcome) -> None:
    """The run went to its end; a busy machine may make it one that proves nothing about the server."""
    # What never went out for a late reply stands before that.
    busy = re.search(
        r"^error: the run proves nothing: (planned .*; )?the (generator|process of the driver) ",
        outcome.stderr,
        re.MULTILINE,
    )
    assert outcome.exit_code == 0 or (outcome.exit_code == 4 and busy), outcome.stderr


def value(text: str, metric: str, measurement: str) -> str:
    """A figure of YCSB's text."""
    (found,) = re.findall(rf"^\[{re.escape(metric)}\], {re.escape(measurement)}, (.*)$", text, re.MULTILINE)
    return str(found)
