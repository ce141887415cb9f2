"""`brimline interfere --with backup`: by its own client, by copies of files, and by mongodump.

That is in no registry: a stand-in reads what it does.

What the real tool costs a server isn't shown by this, only that it is started, watched and ended as it must be.
"""

import json
import os
import stat
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pymongo
import pytest

from brimline.dataset.backup.restore import content_of
from brimline.execution import backups as module
from brimline.execution.backups import FileCopies, backups
from brimline.record.background import read_activities
from brimline.servers import Deployment
from tests.support.command_line import CALM, CommandLine, Outcome
from tests.support.own_mongod import OwnMongod
from tests.support.repetitions import repetitions
from tests.support.waiting import eventually

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]

SMALL_JOURNAL = ("--wiredTigerEngineConfigString", "log=(prealloc=false,file_max=10MB)")
SHORT = ("--records", "1000", "--duration", "500ms", "--warmup", "100ms", "--pairs", "1")
STAND_IN = """#!{python}
import json, os, sys, time
from pathlib import Path
import pymongo
from bson.raw_bson import RawBSONDocument

words = sys.argv[1:]
(settings,) = [Path(word.partition("=")[2]) for word in words if word.startswith("--config=")]
uri = json.loads(settings.read_text().partition(": ")[2])
with open({log!r}, "a") as log:
    log.write(json.dumps([os.getpid(), words, uri, settings.stat().st_mode]) + "\\n")
{misbehaves}
with pymongo.MongoClient(uri, document_class=RawBSONDocument) as client:
    database = client.get_default_database()
    for name in database.list_collection_names():
        for document in database[name].find():
            sys.stdout.buffer.write(document.raw)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls"


def interfere(
    brimline_cli: CommandLine,
    mongod: Deployment,
    log: Path,
    *,
    stand_in: str = STAND_IN,
    misbehaves: str = "",
    words: tuple[str, ...] = (),
    beside: str = "backup:mongodump",
) -> Outcome:
    directory = log.parent / "bin"
    directory.mkdir()
    tool = directory / "mongodump"
    tool.write_text(stand_in.format(python=sys.executable, log=str(log), misbehaves=misbehaves))
    tool.chmod(0o755)
    at = (
        "--uri",
        f"mongodb://{mongod.address}/brimline_backup",
        "--data",
        "load",
        "--background-rows",
        "5k",
        "-q",
        *CALM,
    )
    path = f"{directory}{os.pathsep}{os.environ['PATH']}"
    return brimline_cli.run("interfere", "ycsb-c", "--with", beside, *SHORT, *at, *words, environment={"PATH": path})


def calls(log: Path) -> list[tuple[int, list[str], str, int]]:
    return [tuple(json.loads(line)) for line in log.read_text().splitlines()]


@pytest.mark.slow("dumps go on beside runs of seconds")
def test_dumps_are_made_all_the_while_and_counted(brimline_cli: CommandLine, mongod: Deployment, log: Path) -> None:
    outcome = interfere(brimline_cli, mongod, log, words=("--json", "--duration", "3s"))
    (run,) = outcome.json()["background"]["runs"]
    assert run["problem"] is None and run["busy_share"] >= 0.9, outcome.stderr
    assert run["units"] >= 1
    made = calls(log)
    # The last one was cut off when the run was over.
    assert run["units"] <= len(made)
    for _, words, uri, mode in made:
        assert "mongodb://" not in " ".join(words)
        assert uri.endswith("/brimline_backup")
        assert stat.S_IMODE(mode) == 0o600


@pytest.mark.slow("dumps go on beside runs of seconds")
def test_one_that_fails_is_told_with_its_own_words(brimline_cli: CommandLine, mongod: Deployment, log: Path) -> None:
    # After a moment: one that ends at once may be seen to have failed before it began, which has another exit code.
    fails = "#!/bin/sh\nsleep 0.3\necho 'Failed: no such host' >&2\nexit 1\n"
    outcome = interfere(brimline_cli, mongod, log, stand_in=fails)
    outcome.check_error(4, "mongodump ended with 1: Failed: no such host")


@pytest.mark.slow("a dump that would not end is under way beside a run of seconds")
def test_one_that_would_outlive_the_run_is_ended(brimline_cli: CommandLine, mongod: Deployment, log: Path) -> None:
    outcome = interfere(brimline_cli, mongod, log, misbehaves="time.sleep(600)", words=("--json",))
    (process, *_), *_ = calls(log)
    assert not psutil.pid_exists(process)
    (run,) = outcome.json()["background"]["runs"]
    # It was under way all the time, and how many were made can't be said.
    assert run["busy_share"] >= 0.9 and run["units"] is None and run["problem"] is None


@pytest.mark.slow("backups go on beside runs of seconds")
@pytest.mark.parametrize("kind", ["backup", *repetitions("backup:files")])
def test_backups_of_brimlines_own_are_made_beside_a_run(brimline_cli: CommandLine, kind: str) -> None:
    words = ("--with", kind, *SHORT, "--background-rows", "5k", "-q", "--json", "--runs-dir", "runs")
    brimline_cli.run("interfere", "ycsb-a", "--rate", "200/s", "--connections", "4", *words)
    (directory, *_) = sorted((brimline_cli.directory / "runs").glob("*/trials/*/background.json"))
    (activity,) = read_activities(directory.parent)
    assert activity.error is None and activity.kind == kind
    assert len(activity.sizes_bytes) >= 1 and min(activity.sizes_bytes) > 100_000
    assert not list((brimline_cli.directory / "runs").glob(".brimline-backup-*")), "none is kept"


def test_compressed_backups_are_smaller(mongod: Deployment, tmp_path: Path) -> None:
    plan: Any = SimpleNamespace(namespace=SimpleNamespace(database="brimline_backup_gzip"))
    with pymongo.MongoClient[dict[str, Any]](f"mongodb://{mongod.address}") as client:
        client.brimline_backup_gzip.one.insert_many([{"_id": each, "text": "abc" * 300} for each in range(500)])
        sizes = []
        for of in ("", "gzip"):
            made = backups(of, plan, mongod, directory=tmp_path, text="backup")
            made.start()
            assert eventually(lambda made=made: bool(made._progress), interval_s=0.01)  # type: ignore[misc]
            sizes.append(made.stop().sizes_bytes[0])
        client.drop_database("brimline_backup_gzip")
    assert sizes[0] > 450_000 and sizes[1] < sizes[0] / 10
    assert list(tmp_path.iterdir()) == []


def test_a_server_starts_on_copied_files_and_holds_what_was_there_then(
    mongod: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody writes meanwhile is in the copy up to one write, which was the last before the lock."""
    plan: Any = SimpleNamespace(namespace=SimpleNamespace(database="shop"))
    place, kept, over = tmp_path / "copy", list[tuple[int, int]](), threading.Event()
    written, at_file = 0, list[int]()
    copy_over = module._copy_over

    def slowly(path: Path, copy: Path, **words: Any) -> int:
        time.sleep(0.003)  # a write that is not held back comes in
        at_file.append(written)
        return copy_over(path, copy, **words)

    monkeypatch.setattr(module, "_copy_over", slowly)
    with (
        OwnMongod.running(tmp_path / "server", more=SMALL_JOURNAL) as server,
        pymongo.MongoClient[dict[str, Any]](server.uri, socketTimeoutMS=5_000) as client,
    ):
        own: Any = SimpleNamespace(data_directory=tmp_path / "server")
        deployment = replace(mongod, address=server.address, own=own)

        def write() -> None:
            nonlocal written
            while not over.is_set():
                client.shop.orders.insert_one({"_id": written, "text": "x" * 1_000})
                written += 1

        client.shop.gone.insert_one({"_id": 1})
        writer = threading.Thread(target=write)
        writer.start()
        try:
            copies = FileCopies(plan, deployment, directory=tmp_path, text="backup:files")
            place.mkdir()
            for _ in range(2):  # the second one goes over the first
                before = written
                assert eventually(lambda before=before: written > before + 100, interval_s=0.01)  # type: ignore[misc]
                before = written
                at_file.clear()
                assert copies._copy(place) == sum(each.stat().st_size for each in place.rglob("*") if each.is_file())
                # One that was done before the lock may have been answered behind it.
                assert max(at_file[1:]) - at_file[1] <= 1, "writes went on while the files were copied"
                kept.append((before, at_file[-1] + 1))
                client.shop.gone.drop()
        finally:
            over.set()
            writer.join()
        assert eventually(lambda: client.admin.command("currentOp").get("fsyncLock") is None)
        with OwnMongod.running(place) as copied, copied.client() as there:
            held = content_of(there, "shop", "orders")
            assert kept[-1][0] <= held.count <= kept[-1][1]
            assert there.shop.list_collection_names() == ["orders"]
            assert there.shop.validate_collection("orders", full=True)["valid"]
        client.shop.orders.delete_many({"_id": {"$gte": held.count}})
        assert content_of(client, "shop", "orders").text == held.text


def test_files_of_somebody_elses_server_are_not_copied(brimline_cli: CommandLine, mongod: Deployment) -> None:
    at = ("--uri", f"mongodb://{mongod.address}/brimline_backup", "--data", "load")
    outcome = brimline_cli.run("interfere", "ycsb-c", "--with", "backup:files", *SHORT, *at)
    outcome.check_error(2, "brimline's own alone")
    brimline_cli.run("interfere", "ycsb-c", "--with", "backup:tape", *SHORT, *at).check_error(2, "there is no backup")
