"""brimline import when a disk is full: the server's, or that of the record. One error, what is done, and it goes on."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from brimline.api.generate import generate
from brimline.servers import Deployment
from tests.support.command_line import CommandLine
from tests.support.own_mongod import OwnMongod
from tests.support.scripted_server import scripted_server
from tests.support.small_disk import small_disk

ROWS = 150_000
LEFT_BYTES = 12 << 20
PIECE_BYTES = 1 << 20
OUT_OF_DISK_SPACE = 14_031


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """42 MB, of which compression saves a quarter."""
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    generate("bulk-rows", output=path, rows=ROWS)
    return path


@pytest.fixture
def tight(tmp_path: Path) -> Iterator[Path]:
    """Room for a server and what a resumed import writes, journal files made ahead included."""
    with small_disk(tmp_path / "server-disk", "700m") as place:
        yield place


def test_a_server_without_room_refuses_and_no_row_is_given_up(brimline_cli: CommandLine, tmp_path: Path) -> None:
    """A full disk says nothing about a document: it is not rejected, and the next try has it again."""
    (tmp_path / "rows.csv").write_text("_id,b\n" + "".join(f"{number},x\n" for number in range(5_000)))
    fault = {"when": {"at_request": 3}, "kind": {"write_error": {"code": OUT_OF_DISK_SPACE, "statements": 7}}}
    with scripted_server({"data": {"kind": "stored"}, "namespace": "full.c", "faults": [fault]}) as server:
        at = ("--uri", server.uri, "-d", "full", "-c", "c", "-j", "1", "--batchSize", "500")
        outcome = brimline_cli.run("import", tmp_path / "rows.csv", "--headerline", *at, "-q", "--json")
        outcome.check_error(5, "the server's disk is full", "documents are in, 0 records were rejected", "--resume")
    counts, settled = outcome.json()["counts"], outcome.json()["certain_counts"]
    assert counts["rejected"] == 0 and counts["inserted"] >= 493
    assert settled["read"] == settled["inserted"] < counts["inserted"], "the next try begins before the refused rows"
    (directory,) = brimline_cli.runs.glob("*-import-*")
    assert (directory / "rejected.jsonl").read_text() == ""


@pytest.mark.slow("a disk is filled")
@pytest.mark.mongod
def test_a_server_that_ends_on_a_full_disk_is_gone_on_with_when_there_is_room(
    brimline_cli: CommandLine, tight: Path, rows: Path
) -> None:
    with OwnMongod.running(tight / "db") as server:
        # Inserts themselves write what they change. By default a thread beside them does, for which there may be no CPU
        # until all rows are in memory, which has room for them.
        eviction = {"wiredTigerEngineRuntimeConfig": "eviction_dirty_target=1,eviction_dirty_trigger=2"}
        with server.client() as client:
            client.admin.command({"setParameter": 1, **eviction})
        filler = tight / "filler"
        # By the piece: the server takes room meanwhile.
        with filler.open("wb", buffering=0) as file:
            while (free := shutil.disk_usage(tight).free) > LEFT_BYTES:
                file.write(bytes(min(free - LEFT_BYTES, PIECE_BYTES)))
        at = ("--uri", server.uri, "-d", "full", "-c", "c")
        outcome = brimline_cli.run("import", rows, "--headerline", *at, "--json")
        outcome.check_error(5, "so far", "--resume")
        assert "the server's disk may be too small" in outcome.stderr
        certain = outcome.json()["certain_counts"]["inserted"]
        assert certain < ROWS
        filler.unlink()
        server.kill()
        server.start()
        with server.client() as client:
            assert client["full"]["c"].count_documents({}) >= certain, "nothing is claimed that isn't there"
        again = brimline_cli.run("import", "--resume", "latest", "-q", "--json")
        assert again.exit_code == 0, again.stderr
        with server.client() as client:
            assert client["full"]["c"].count_documents({}) == ROWS


@pytest.mark.mongod
def test_a_record_without_room_ends_the_import_with_what_is_done(
    brimline_cli: CommandLine, mongod: Deployment, tmp_path: Path
) -> None:
    """Every second row is rejected and kept with its text, which soon fills the disk."""
    count = 40_000
    (tmp_path / "rows.csv").write_text("".join(f"{number}\n{'x' * 90}\n" for number in range(count)))
    uri = f"mongodb://{mongod.address}"
    at = ("--uri", uri, "-d", "record_full", "-c", "c", "--drop", "-f", "a.int32()", "--columnsHaveTypes")
    with small_disk(tmp_path / "runs-disk", "1m") as place:
        skip = ("--parseGrace", "skipRow")
        outcome = brimline_cli.run("import", tmp_path / "rows.csv", *at, *skip, "-q", "--runs-dir", place)
        outcome.check_error(1, "no space left on device", "so far", "documents are in", "--resume")
        _grow(place)
        again = brimline_cli.run("import", "--resume", "latest", "--uri", uri, "-q", "--json", "--runs-dir", place)
        assert again.exit_code == 0, again.stderr
        assert again.json()["counts"]["inserted"] == again.json()["count_after"] == count
        assert again.json()["counts"]["rejected"] == count


def _grow(place: Path) -> None:
    """Makes the file system larger."""
    subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)
