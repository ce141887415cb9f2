"""Growth on a real mongod: killed and resumed, cold, warm and hot queries, and what is refused."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pymongo
import pytest

from brimline.dataset import read_manifest
from brimline.servers import bundled
from brimline.servers.page_cache import disk_bytes, drop, resident_share
from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions
from tests.support.server import required_mongod
from tests.support.waiting import eventually

pytestmark = pytest.mark.mongod
STEPS = (
    *("--to", "5k", "--step", "2k", "--connections", "1,4", "--queries", "500", "--repeats", "1"),
    *("--stop-disk-share", "100%"),  # however full this machine's disk is
)


@pytest.fixture(scope="module", autouse=True)
def _needs_a_mongod() -> None:
    required_mongod()


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A directory for servers whose files must be able to leave memory, which those of other tests may lie in."""
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


@pytest.fixture
def empty(uri: str) -> str:
    """The shared server, without what others loaded."""
    with pymongo.MongoClient(uri) as client:
        client.drop_database("ycsb")
    return uri


def trials(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "trials").iterdir())


@pytest.mark.slow("a server is grown in steps, killed between two of them, and the rest of the steps made again")
def test_a_growth_that_was_killed_goes_on_on_the_same_server(brimline_cli: CommandLine, empty: str) -> None:
    running = brimline_cli.start("grow", "ycsb-c", "--uri", empty, *STEPS, "--indexes", "compound")

    def second_step() -> bool:
        return any(brimline_cli.runs.glob("*/trials/04-load-*/trial.json"))

    assert eventually(second_step, timeout_s=90), "the second step did not begin"
    running.send(signal.SIGKILL)
    running.end(timeout_s=30)
    (directory,) = brimline_cli.record_directories(kind="growth")
    kept = trials(directory)[:3]

    document = brimline_cli.run("grow", "--resume", directory, "--uri", empty, "--json").json()
    with pymongo.MongoClient(empty) as client:
        collection = client["ycsb"]["usertable"]
        assert collection.count_documents({}) == 5_000
        assert collection.index_information()["field0_1_field1_1"]["key"] == [("field0", 1), ("field1", 1)]
        manifest = read_manifest(client["ycsb"], "usertable")
    assert manifest is not None and manifest.state == "complete" and len(manifest.records) == 5_000
    assert trials(directory)[:3] == kept
    measured = [name.partition("-")[2] for name in trials(directory)]
    assert len(set(measured)) == len(measured), "no cell twice"
    (growth,) = document["index_sets"]
    assert [volume["records"] for volume in growth["volumes"]] == [2_000, 4_000, 5_000]
    assert [volume["load"]["documents"] for volume in growth["volumes"]] == [2_000, 2_000, 1_000]
    assert all(len(volume["queries"]) == 2 for volume in growth["volumes"])
    assert all(figures["problem"] == "" for volume in growth["volumes"] for figures in volume["queries"])
    assert growth["query_breakpoints"][0]["too_few_volumes"]
    assert document["growth_ended_by"] == "target"


@pytest.mark.parametrize("protocol", ["cold", "hot", *repetitions("warm")])
def test_each_protocol_leaves_in_memory_what_it_says(protocol: str, brimline_cli: CommandLine, on_disk: Path) -> None:
    """Cold: nothing; warm: the files, and not the server's cache; hot: both, by the pages that the server reads."""
    words = ("--to", "2k", "--connections", "1", "--protocol", protocol, "--cache-gb", "0.25", "--json")
    grown = brimline_cli.run("grow", "ycsb-c", *STEPS, *words, environment={"XDG_CACHE_HOME": str(on_disk)})
    (volume,) = grown.json()["index_sets"][0]["volumes"]
    (batch,) = volume["queries"]
    assert batch["restarted"] == (protocol != "hot")
    share, pages_read = batch["page_cache_share"], batch["signals"]["cache_pages_read"]
    assert share is None or (share < 0.5 if protocol == "cold" else share > 0.9)
    assert pages_read == 0 if protocol == "hot" else pages_read > 0
    assert volume["load"]["files_bytes"] > volume["load"]["storage_bytes"]


def test_a_server_comes_back_with_its_data(on_disk: Path) -> None:
    with bundled(directory=on_disk, cache_gb=0.25) as deployment:
        own = deployment.own
        assert own is not None
        with pymongo.MongoClient(deployment.address) as client:
            client["t"]["c"].insert_many([{"_id": number, "text": "x" * 500} for number in range(2_000)])
        shares: list[float | None] = []

        def meanwhile() -> None:
            drop(own.data_directory)
            shares.append(resident_share(own.data_directory))

        again = own.restart(meanwhile=meanwhile)
        assert (again.address, again.own) == (deployment.address, own)
        assert again.pid != deployment.pid
        assert shares[0] is None or shares[0] < 0.5
        assert disk_bytes(own.data_directory) > 1_000_000
        with pymongo.MongoClient(again.address) as client:
            assert client["t"]["c"].count_documents({}) == 2_000
    assert list(on_disk.iterdir()) == []


def test_what_cannot_be_is_refused(brimline_cli: CommandLine, empty: str) -> None:
    brimline_cli.run("grow", "ycsb-c").check_error(2, "how far and in which steps", "--to 10M --step 1M")
    brimline_cli.run("grow", "ycsb-c", "--to", "1k", "--step", "2k").check_error(2, "no larger than the target")
    brimline_cli.run("grow", "ycsb-c", *STEPS, "--indexes", "triple").check_error(2, "--indexes")
    brimline_cli.run("grow", "ycsb-c", "--to", "900G", "--step", "1G").check_error(2)
    brimline_cli.run("grow", "ycsb-c", "--to", "900M", "--step", "100M").check_error(
        2, "the data won't fit", "smaller --to"
    )
    brimline_cli.run("grow", "ycsb-c", *STEPS, "--uri", empty, "--protocol", "warm").check_error(
        2, "may start again", "--protocol hot"
    )
    with pymongo.MongoClient(empty) as client:
        client["ycsb"]["usertable"].insert_one({"_id": 1})
    brimline_cli.run("grow", "ycsb-c", *STEPS, "--uri", empty).check_error(2, "did not load", "--drop")
