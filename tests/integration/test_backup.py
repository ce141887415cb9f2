"""`brimline backup` and `restore`: everything that a server holds, as of one instant, and the same afterwards."""

import errno
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from gzip import compress
from pathlib import Path
from typing import Any

import pymongo
import pytest
from bson import decode, json_util
from bson.code import Code
from bson.decimal128 import Decimal128
from bson.int64 import Int64
from bson.timestamp import Timestamp

from brimline.api.backup import backup, restore
from brimline.dataset.backup import BackupProgress, read, read_summary
from brimline.dataset.backup.layout import ContentHash, documents_of, split
from brimline.dataset.backup.restore import content_of
from brimline.errors import Interrupted, InvalidRun, RecordError, TargetError, UsageError
from brimline.record.files import AppendOnlyFile
from brimline.record.layout import unwritable
from brimline.servers import control_client
from tests.support.command_line import CommandLine
from tests.support.replica_set import Member
from tests.support.small_disk import small_disk

pytestmark = [pytest.mark.mongod, pytest.mark.other_client]

Client = pymongo.MongoClient[dict[str, Any]]
SHOP = "backup_shop"
WRITES_PER_S = 500


@pytest.fixture
def source(member: Member) -> str:
    """A set of one member, which keeps snapshots, as a standalone server doesn't."""
    return f"mongodb://{member.address}"


@pytest.fixture
def shop(source: str) -> Iterator[Client]:
    """Collections of every kind that a backup has to keep."""
    with pymongo.MongoClient[dict[str, Any]](source, directConnection=True) as client:
        database = client[SHOP]
        orders = database.create_collection("orders", validator={"total": {"$gte": 0}}, collation={"locale": "de"})
        orders.insert_many([{"_id": each, "total": Decimal128(str(each)), "text": "ä" * each, "n": Int64(each)}
                            for each in range(500)])  # fmt: skip
        orders.create_index([("total", 1), ("n", -1)], name="by_total", unique=True)
        orders.create_index("expires", expireAfterSeconds=3600, partialFilterExpression={"n": {"$gt": 3}})
        database.create_collection("capped", capped=True, size=4096).insert_one({"_id": 1})
        database["a/b%c:d"].insert_one({"_id": "odd name"})
        database.create_collection("empty")
        database.create_collection("dear", viewOn="orders", pipeline=[{"$match": {"n": {"$gt": 490}}}])
        database.create_collection("heat", timeseries={"timeField": "at", "metaField": "of"})
        moment = json_util.loads('{"$date": "2026-01-01T00:00:00Z"}')
        database["heat"].insert_many([{"at": moment, "of": each % 3, "value": each} for each in range(30)])
        yield client
        client.drop_database(SHOP)


def test_what_a_server_holds_is_put_back_into_another(
    source: str, shop: Client, uri: str, tmp_path: Path, brimline_cli: CommandLine
) -> None:
    for gzip in (False, True):
        directory = tmp_path / f"dump-{gzip}"
        made = backup(directory, uri=source, databases=[SHOP], gzip=gzip)
        assert made.apart == (f"{SHOP}.capped",)
        assert made.not_consistent == "" and made.as_of is not None and made.complete
        ending = ".gz" if gzip else ""
        names = {path.name for path in (directory / SHOP).iterdir()}
        assert {f"orders.bson{ending}", f"orders.metadata.json{ending}", f"dear.metadata.json{ending}",
                f"a%2Fb%25c%3Ad.bson{ending}", f"empty.bson{ending}"} <= names  # fmt: skip
        outcome = brimline_cli.run("restore", uri, str(directory), *(("--drop",) if gzip else ()), "--json")
        assert outcome.exit_code == 0, outcome.stderr
        assert outcome.json()["document_count"] == made.documents and outcome.json()["views"] == 1
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as there:
        for name in ("orders", "capped", "a/b%c:d", "empty", "dear", "heat"):
            assert _documents(there, name) == _documents(shop, name), name
            if name != "dear":
                assert _indexes(there, name) == _indexes(shop, name), name
            assert _options(there, name) == _options(shop, name), name


@pytest.mark.skipif(
    None in (shutil.which("mongodump"), shutil.which("mongorestore")), reason="MongoDB's database tools aren't here"
)
@pytest.mark.parametrize("gzip", [False, True])
def test_mongorestore_reads_a_backup_and_restore_reads_what_mongodump_wrote(
    source: str, shop: Client, uri: str, tmp_path: Path, gzip: bool, brimline_cli: CommandLine
) -> None:
    own, their, compressed = tmp_path / "own", tmp_path / "their", ["--gzip"] if gzip else []
    backup(own, uri=source, databases=[SHOP], gzip=gzip)
    before = _picture(shop)
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as there:
        there.drop_database(SHOP)
        _tool("mongorestore", f"--uri={uri}", *compressed, str(own))
        assert _picture(there) == before
        _tool("mongodump", f"--uri={source}/?directConnection=true", f"--db={SHOP}", f"--out={their}", *compressed)
        there.drop_database(SHOP)
        outcome = brimline_cli.run("restore", str(their), "--uri", uri)
        assert outcome.exit_code == 0, outcome.stderr
        assert _picture(there) == before


def _tool(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def _picture(client: Client) -> dict[str, Any]:
    """By collection: the hash of its documents, its indexes and its options."""
    held = {}
    for name in ("orders", "capped", "a/b%c:d", "empty", "dear", "system.buckets.heat"):
        content = content_of(client, SHOP, name)
        indexes = {} if name == "dear" else _indexes(client, name)
        held[name] = (content.count, content.text, indexes, _options(client, name))
    return held


def _documents(client: Client, name: str) -> list[dict[str, Any]]:
    return sorted(client[SHOP][name].find(), key=lambda each: str(each["_id"]))


def _indexes(client: Client, name: str) -> dict[str, Any]:
    return _indexes_of(client[SHOP], name)


def _indexes_of(database: Any, name: str) -> dict[str, Any]:
    return {each["name"]: each for each in database[name].list_indexes()}


def _options(client: Client, name: str) -> Any:
    return next(iter(client[SHOP].list_collections(filter={"name": name})))["options"]


def test_a_backup_while_others_write_is_of_one_instant_and_comes_back_as_that(
    source: str, uri: str, tmp_path: Path
) -> None:
    """Each write goes into `first`, and then into `second`: at no instant does `second` have what `first` lacks."""
    stop = threading.Event()
    with pymongo.MongoClient[dict[str, Any]](source, directConnection=True) as client:
        database = client["backup_written"]
        padding = "x" * 1_000
        for name in ("first", "second"):
            database[name].insert_many([{"_id": each, "p": padding} for each in range(4_000)])
        written = 4_000

        def write() -> None:
            nonlocal written
            begun = time.monotonic()
            while not stop.is_set():
                for name in ("first", "second"):
                    database[name].insert_one({"_id": written, "p": padding})
                written += 1
                stop.wait(max(0.0, begun + (written - 4_000) / (WRITES_PER_S / 2) - time.monotonic()))

        writer = threading.Thread(target=write)
        writer.start()
        try:
            while written < 4_050:  # it is at work
                stop.wait(0.005)
            before = written
            made = backup(tmp_path / "dump", uri=source, databases=["backup_written"])
            after = written
        finally:
            stop.set()
            writer.join()
        client.drop_database("backup_written")
    counts = {each.collection: each.documents for each in made.collections}
    assert before <= counts["second"] <= counts["first"] <= counts["second"] + 1 <= after + 2
    ids = [_ids(tmp_path / "dump" / "backup_written" / f"{name}.bson") for name in ("first", "second")]
    assert ids[1] <= ids[0] and ids[0] == set(range(counts["first"]))
    restore(tmp_path / "dump", uri=uri)
    with control_client(uri.removeprefix("mongodb://")) as there:
        for each in made.collections:
            found = content_of(there, each.database, each.collection)
            assert (found.count, found.text) == (each.documents, each.hash)


def _ids(path: Path) -> set[int]:
    return {decode(each)["_id"] for each in documents_of(path)}


def test_a_standalone_server_says_that_its_collections_are_of_different_instants(
    uri: str, tmp_path: Path, brimline_cli: CommandLine
) -> None:
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_alone"]["one"].insert_one({"_id": 1})
    outcome = brimline_cli.run("backup", uri, str(tmp_path / "dump"), "--db", "backup_alone")
    assert outcome.exit_code == 0, outcome.stderr
    assert "a standalone one" in outcome.stderr and "may be of different instants" in outcome.stdout
    summary = read_summary(tmp_path / "dump")
    assert summary is not None and summary.as_of is None and summary.documents == 1


def test_what_brimline_made_for_itself_is_left_out_and_named(
    uri: str, tmp_path: Path, brimline_cli: CommandLine
) -> None:
    """A copy is known by its UUID: a collection of somebody's that has such a name is in the backup."""
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        database = client["backup_own"]
        for name in ("one", "brimline_pristine_one", "brimline_pristine_mine"):
            database[name].insert_one({"_id": 1})
        uuid = next(iter(database.list_collections(filter={"name": "brimline_pristine_one"})))["info"]["uuid"]
        database["brimline_manifest"].insert_one({"_id": "one", "copy_uuid": uuid.hex()})
        outcome = brimline_cli.run("backup", uri, str(tmp_path / "dump"), "--db", "backup_own")
        client.drop_database("backup_own")
    assert outcome.exit_code == 0, outcome.stderr
    said = "left out, as brimline made them for itself: backup_own.brimline_manifest, backup_own.brimline_pristine_one"
    assert f"{said}\n" in outcome.stderr
    summary = read_summary(tmp_path / "dump")
    assert summary is not None
    assert [each.collection for each in summary.collections] == ["brimline_pristine_mine", "one"]


def test_what_a_restore_that_was_killed_has_left_is_in_no_backup(uri: str, tmp_path: Path) -> None:
    said: list[str] = []
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        for name in ("one", "brimline_restore_0123abcd", "brimline_restore_notes"):
            client["backup_left"][name].insert_one({"_id": 1})
        made = backup(tmp_path / "dump", uri=uri, databases=["backup_left"], notice=said.append)
        client.drop_database("backup_left")
    assert [each.collection for each in made.collections] == ["brimline_restore_notes", "one"]
    assert "made them for itself: backup_left.brimline_restore_0123abcd" in said[0]


def test_progress_has_one_form(uri: str, tmp_path: Path) -> None:
    """What of the collection at work is done, then bytes of all."""
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        for name in ("one", "two"):
            client["backup_seen"][name].insert_many([{"_id": each} for each in range(3)])
        seen: list[BackupProgress] = []
        backup(tmp_path / "dump", uri=uri, databases=["backup_seen"], progress=seen.append)
        restore(tmp_path / "dump", uri=uri, drop=True, progress=seen.append)
        client.drop_database("backup_seen")
    assert [(each.namespace, each.documents) for each in seen] == [("backup_seen.one", 3), ("backup_seen.two", 3)] * 2
    assert seen[0].bytes < seen[1].bytes == seen[3].bytes == seen[3].bytes_expected


def test_what_cant_be_is_refused_before_anything_is_changed(
    uri: str, tmp_path: Path, brimline_cli: CommandLine
) -> None:
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_refused"]["one"].insert_one({"_id": 1})
        dump = tmp_path / "dump"
        backup(dump, uri=uri, databases=["backup_refused"])
        client["backup_refused"]["one"].insert_one({"_id": 2})
        refused = [
            (("backup", uri, str(dump)), "is not empty: a backup is in it already"),
            (("backup", uri, str(tmp_path / "x"), "--db", "nowhere"), "there is no database nowhere"),
            (("restore", str(dump), "--uri", uri), "backup_refused.one is there already"),
            (("restore", str(tmp_path), "--uri", uri), "holds no backup"),
            (("restore", str(tmp_path / "nothing"), "--uri", uri), "there is no directory"),
            (("backup", uri, uri, "x"), "backup takes one server and one directory"),
            (("restore", uri, uri, "x"), "restore takes one server and one directory"),
            (("restore", uri, str(dump), "--uri", uri), "the server is named twice"),
            (("backup", "mongodb://127.0.0.1:1", str(tmp_path / "y")), ""),
        ]
        for words, said in refused:
            outcome = brimline_cli.run(*words)
            assert outcome.exit_code in (2, 5) and said in outcome.stderr, outcome.stderr
        assert client["backup_refused"]["one"].count_documents({}) == 2
    assert not (tmp_path / "x").exists() and not (tmp_path / "y").exists()


def test_damage_is_found_and_named(uri: str, tmp_path: Path) -> None:
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_damaged"]["one"].insert_many([{"_id": each, "text": "abc"} for each in range(10)])
        backup(tmp_path / "dump", uri=uri, databases=["backup_damaged"])
        path = tmp_path / "dump" / "backup_damaged" / "one.bson"
        whole = path.read_bytes()
        for content, error in (
            (whole[:-3], RecordError),
            (whole.replace(b"abc", b"abd", 1), InvalidRun),
            (b"\xff\xff\xff\x7f" + whole, RecordError),
        ):
            path.write_bytes(content)
            with pytest.raises(error, match=r"one\.bson"):
                restore(tmp_path / "dump", uri=uri, drop=True)
            assert client["backup_damaged"]["one"].count_documents({}) == 10, "what it was to replace is still there"
        path.unlink()
        with pytest.raises(UsageError, match="lacks the documents"):
            restore(tmp_path / "dump", uri=uri, drop=True)


def test_damage_of_compressed_files_and_of_metadata_is_found_and_named(uri: str, tmp_path: Path) -> None:
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_packed"]["one"].insert_many([{"_id": each, "text": os.urandom(50)} for each in range(100)])
        backup(tmp_path / "dump", uri=uri, databases=["backup_packed"], gzip=True)
        place = tmp_path / "dump" / "backup_packed"
        documents, metadata = (
            (path, path.read_bytes()) for path in (place / "one.bson.gz", place / "one.metadata.json.gz")
        )
        wrong = bytes(each ^ 0xFF for each in documents[1][40:80])
        for (path, whole), content, said in (
            (documents, documents[1][:40] + wrong + documents[1][80:], "can't be unpacked"),
            (documents, b"BZ" + documents[1][2:], "can't be unpacked"),
            (documents, documents[1][:-20], "is cut short"),
            (metadata, metadata[1][:20], "is cut short"),
            (metadata, compress(b"[]"), "no options and indexes"),
            (metadata, compress(b'{"indexes": [3]}'), "no options and indexes"),
            (metadata, compress(b'{"indexes": [], "options": "x"}'), "no options and indexes"),
            (metadata, compress(b"{"), "no extended JSON"),
        ):
            path.write_bytes(content)
            with pytest.raises(RecordError, match=said) as told:
                restore(tmp_path / "dump", uri=uri, drop=True)
            assert path.name in told.value.message
            path.write_bytes(whole)
        assert client["backup_packed"].list_collection_names() == ["one"]
        assert restore(tmp_path / "dump", uri=uri, drop=True).documents == 100


@pytest.mark.parametrize("then", ["drop", "rename", "make anew"])
@pytest.mark.parametrize("kind", ["alone", "set"])
def test_a_collection_that_goes_while_it_is_backed_up_is_an_error_and_no_empty_file(
    source: str, uri: str, tmp_path: Path, then: str, kind: str
) -> None:
    """Until MongoDB 7.0 a snapshot shows nothing of a collection that was dropped since, and no error."""
    address = source if kind == "set" else uri
    with pymongo.MongoClient[dict[str, Any]](address, directConnection=True) as client:
        for name in ("a", "b"):
            client["backup_gone"][name].insert_one({"_id": 1})

        def go(_progress: BackupProgress) -> None:
            if then == "rename":
                client["backup_gone"]["b"].rename("c")
            else:
                client["backup_gone"].drop_collection("b")
            if then == "make anew":
                client["backup_gone"]["b"].insert_one({"_id": 2})

        with pytest.raises(TargetError, match=r"backup_gone\.b"):
            backup(tmp_path / "dump", uri=address, databases=["backup_gone"], progress=go)
        client.drop_database("backup_gone")
    assert not (tmp_path / "dump").exists()


def test_long_names_stored_functions_and_what_expires_come_back(uri: str, tmp_path: Path) -> None:
    """A name that is no file's is cut as mongodump cuts it. What expired since is there until the server deletes it."""
    long, hour_ago = "订单" * 30, datetime.now(UTC) - timedelta(hours=1)
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        database = client["backup_long"]
        client.admin.command("setParameter", 1, ttlMonitorEnabled=False)
        try:
            database[long].insert_one({"_id": 1, "counted": Int64(0)})
            database[long].update_one({"_id": 1}, {"$set": {"never": Timestamp(0, 0)}})
            database["system.js"].insert_one({"_id": "double", "value": Code("function(x) { return 2 * x }")})
            database["brief"].insert_one({"_id": 1, "at": hour_ago})
            database["brief"].create_index("at", expireAfterSeconds=60)
            database.command({"create": "heat", "timeseries": {"timeField": "at"}, "expireAfterSeconds": 60})
            database["heat"].insert_one({"at": hour_ago})
            made = backup(tmp_path / "dump", uri=uri, databases=["backup_long"])
            files = {each.name for each in (tmp_path / "dump" / "backup_long").iterdir()}
            assert any(len(each) == 238 + len(".bson") and "%24" in each for each in files)
            options = {each["name"]: each["options"] for each in database.list_collections()}
            for drop in (True, False):
                restore(tmp_path / "dump", uri=uri, drop=drop)
                assert {each["name"]: each["options"] for each in database.list_collections()} == options
                counts = {name: database[name].count_documents({}) for name in (long, "system.js", "brief", "heat")}
                assert set(counts.values()) == {1} and made.documents == 4
                assert database[long].find_one() == {"_id": 1, "counted": 0, "never": Timestamp(0, 0)}
                assert _indexes_of(database, "brief")["at_1"]["expireAfterSeconds"] == 60
                client.drop_database("backup_long")
        finally:
            client.admin.command("setParameter", 1, ttlMonitorEnabled=True)
            client.drop_database("backup_long")


def test_every_file_is_on_the_disk_before_the_backup_says_that_it_is_whole(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    whole_after: list[int] = []
    fsync, summed = os.fsync, read.write_summary

    def note(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    def write(directory: Path, made: Any) -> None:
        if made.complete:
            whole_after.append(len(synced))
        summed(directory, made)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(read, "write_summary", write)
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_synced"]["one"].insert_one({"_id": 1})
    for gzip, ending in ((False, ""), (True, ".gz")):
        synced.clear()
        directory = tmp_path / f"dump{ending}"
        backup(directory, uri=uri, databases=["backup_synced"], gzip=gzip)
        before = synced[: whole_after.pop()]
        assert before.index(f"one.bson{ending}") < before.index("backup_synced") < before.index(directory.name, 3)
        assert f"one.metadata.json{ending}" in before


def test_what_a_killed_restore_left_and_the_room_that_is_needed_are_told_before(uri: str, tmp_path: Path) -> None:
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        shop = client["backup_left"]
        shop["one"].insert_many([{"_id": each, "text": "x" * 100} for each in range(100)])
        backup(tmp_path / "dump", uri=uri, databases=["backup_left"])
        shop["brimline_restore_0123abcd"].insert_one({"_id": 1})
        shop["brimline_restore_of_mine"].insert_one({"_id": 1})
        said: list[str] = []
        restore(tmp_path / "dump", uri=uri, databases=["backup_left"], drop=True, notice=said.append)
        left, room = said
        assert left.startswith("backup_left has brimline_restore_0123abcd, of a restore that goes on or was killed")
        assert room.startswith("until all is in, the server keeps what is there beside what is restored: up to 1")
        assert sorted(shop.list_collection_names()) == [
            "brimline_restore_0123abcd", "brimline_restore_of_mine", "one"
        ]  # fmt: skip
        client.drop_database("backup_left")


def test_what_is_the_servers_own_is_put_back_where_it_is_named_alone(uri: str, tmp_path: Path) -> None:
    """A whole mongodump holds the users and roles of its server as well."""
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_own"]["one"].insert_one({"_id": 1})
        backup(tmp_path / "dump", uri=uri, databases=["backup_own"])
        client.drop_database("backup_own")
        (tmp_path / "dump" / "brimline-backup.json").unlink()
        for database, name in (("admin", "system.users"), ("admin", "backup_notes"), ("config", "system.sessions")):
            place = tmp_path / "dump" / database
            place.mkdir(exist_ok=True)
            for ending in (".bson", ".metadata.json"):
                (place / f"{name}{ending}").write_bytes(
                    (tmp_path / "dump" / "backup_own" / f"one{ending}").read_bytes()
                )
        said: list[str] = []
        made = restore(tmp_path / "dump", uri=uri, notice=said.append)
        assert [each.namespace for each in made.collections] == ["backup_own.one"]
        assert "admin, config" in said[-1] and "--db admin" in said[-1]
        made = restore(tmp_path / "dump", uri=uri, databases=["admin"], notice=said.append)
        assert [each.namespace for each in made.collections] == ["admin.backup_notes"]
        assert "admin.system.users" in said[-1]
        client["admin"].drop_collection("backup_notes")
        with pytest.raises(UsageError, match="holds no database nowhere"):
            restore(tmp_path / "dump", uri=uri, databases=["nowhere"])


def test_a_name_that_steers_a_terminal_stays_on_its_line(uri: str, here: CommandLine) -> None:
    name = "=a\u202e\x1b[31m\u2028\nb"
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_named"][name].insert_one({"_id": 1})
        made = here.run("backup", uri, "dump", "--db", "backup_named")
        refused = here.run("restore", "dump", "--uri", uri)
        put_back = here.run("restore", "dump", "--uri", uri, "--drop")
        assert client["backup_named"].list_collection_names() == [name]
    kept = "backup_named.=a\ufffd\ufffd[31m\ufffd\ufffdb"
    assert made.stdout.split("\n")[0].startswith(f"{kept}: 1 document,")
    assert put_back.stdout.split("\n")[0].startswith(f"{kept}: 1 document,")
    refused.check_error(2, f"{kept} is there already")


def test_no_room_and_an_interrupt_leave_nothing(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_room"]["one"].insert_many([{"_id": each, "p": "x" * 1000} for each in range(100)])
    monkeypatch.setattr("brimline.execution.log_room.free_below", lambda _directory: 1000)
    with pytest.raises(UsageError, match="are free in"):
        backup(tmp_path / "dump", uri=uri, databases=["backup_room"])
    monkeypatch.undo()

    def interrupt(_progress: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("brimline.dataset.backup.read.split", _slowly_split(interrupt))
    with pytest.raises(Interrupted):
        backup(tmp_path / "dump", uri=uri, databases=["backup_room"])
    assert not (tmp_path / "dump").exists()


@pytest.mark.parametrize("summary", [1, 2])
def test_a_summary_that_cannot_be_written_hints_at_what_the_verb_has(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, summary: int
) -> None:
    """At the beginning, and when all is read."""
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        client["backup_room"]["one"].insert_one({})
        appended = AppendOnlyFile.append
        left, full = [None] * summary, OSError(errno.ENOSPC, "")

        def append(self: AppendOnlyFile, text: str) -> None:
            left.pop()
            appended(self, text)
            if not left:
                raise unwritable(self._path, full) from full

        monkeypatch.setattr(AppendOnlyFile, "append", append)
        with pytest.raises(RecordError, match=r"brimline-backup\.json: no space left on device") as caught:
            backup(tmp_path / "dump", uri=uri, databases=["backup_room"])
        assert caught.value.hint == "free some space, or choose another directory"
        client.drop_database("backup_room")


@pytest.mark.parametrize("place", [".", "dump"])
def test_a_disk_that_is_full_in_the_middle_leaves_nothing_and_no_lock(
    uri: str, tmp_path: Path, place: str, brimline_cli: CommandLine
) -> None:
    """How small what is compressed will be isn't known before: of this as much is asked for as of any."""
    with pymongo.MongoClient[dict[str, Any]](uri, directConnection=True) as client:
        for name in ("one", "two"):
            client["backup_full"][name].insert_many([{"_id": each, "p": os.urandom(5_000)} for each in range(400)])
        with small_disk(tmp_path / "disk", "3m") as disk:
            outcome = brimline_cli.run("backup", uri, disk / place, "--db", "backup_full", "--gzip", "-q")
            outcome.check_error(1, "two.bson.gz: no space left on device", "free some space, or choose another dir")
            assert list(disk.iterdir()) == []
        assert "fsyncLock" not in client.admin.command("currentOp")
        client.drop_database("backup_full")


def _slowly_split(interrupt: Any) -> Any:
    def interrupted(batch: bytes) -> Iterator[bytes]:
        interrupt(None)
        yield from split(batch)

    return interrupted


def test_the_hash_does_not_depend_on_the_order_and_on_all_else() -> None:
    documents = [bytes([5, 0, 0, 0, 0]), bytes([6, 0, 0, 0, 1, 0]), bytes([7, 0, 0, 0, 1, 1, 0])]

    def hashed(*of: bytes) -> str:
        content = ContentHash()
        for each in of:
            content.add(each)
        return content.text

    assert hashed(*documents) == hashed(*reversed(documents))
    assert len({hashed(*documents), hashed(*documents[:2]), hashed(*documents, documents[0])}) == 3


def test_a_document_may_be_as_large_as_those_that_servers_keep_for_themselves(tmp_path: Path) -> None:
    """MongoDB's limit of 16 MiB, and 16 KiB for what a server adds."""
    path, length = tmp_path / "large.bson", 16 * 1024 * 1024 + 16 * 1024
    path.write_bytes(length.to_bytes(4, "little") + bytes(length - 4))
    assert [len(each) for each in documents_of(path)] == [length]
    path.write_bytes((length + 1).to_bytes(4, "little") + bytes(length - 3))
    with pytest.raises(RecordError, match=f"says that it has {length + 1} bytes"):
        list(documents_of(path))
