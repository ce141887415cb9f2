"""Compressed messages to a real server: that they are compressed is what the server itself has counted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brimline.servers import Deployment, control_client
from tests.support.command_line import CommandLine
from tests.support.repetitions import repetitions
from tests.support.secured_mongod import SecuredServer, secured_mongod
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod

SPEC = """\
name: packed
data: {records: 1000, fields: 10, field_length: 100}
operations: {read: 0.4, update: 0.4, scan: 0.2}
connections: 8
threads: 2
warmup: 0s
operation_count: 2000
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "packed.yaml"
    path.write_text(SPEC)
    return path


def _counted(mongod: Deployment | SecuredServer, compressor: str) -> dict[str, int]:
    """Bytes of requests and replies before and behind the compressor, since the server's start."""
    with control_client(mongod.address) as client:
        network: dict[str, Any] = client.admin.command("serverStatus")["network"]
    of = network["compression"][compressor]
    return {
        "requests packed": int(of["decompressor"]["bytesIn"]),
        "requests": int(of["decompressor"]["bytesOut"]),
        "replies": int(of["compressor"]["bytesIn"]),
        "replies packed": int(of["compressor"]["bytesOut"]),
    }


@pytest.mark.parametrize("asked", ["snappy", "zstd", "zlib", *repetitions("zlib&zlibCompressionLevel=1")])
def test_what_is_measured_is_compressed(brimline_cli: CommandLine, mongod: Deployment, spec: Path, asked: str) -> None:
    compressor = asked.partition("&")[0]
    before = _counted(mongod, compressor)
    uri = f"mongodb://{mongod.address}/?compressors={asked}"
    outcome = brimline_cli.run("run", spec, "--uri", uri, "--data", "load", "--drop", "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert json.loads(outcome.stdout)["counts_whole_run"]["ok"] == 2000
    after = _counted(mongod, compressor)
    grown = {name: after[name] - before[name] for name in after}
    # 2 000 commands, and as many documents of 1 KB as reads and scans have found.
    assert grown["requests"] > 300_000 and grown["replies"] > 1_000_000, grown
    # A message that compresses badly may grow by the length of its own header.
    assert grown["requests packed"] < 1.05 * grown["requests"], grown
    assert grown["replies packed"] < 1.05 * grown["replies"], grown
    [record] = [each for each in brimline_cli.record_directories() if "-load-" not in each.name]
    assert json.loads((record / "environment.json").read_text())["server"]["compressor"] == compressor


def test_an_import_is_compressed(brimline_cli: CommandLine, mongod: Deployment, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("_id,a\n" + "".join(f"{row},the same text in every row\n" for row in range(20_000)))
    before = _counted(mongod, "zstd")
    uri = f"mongodb://{mongod.address}/packed?compressors=zstd,snappy"
    outcome = brimline_cli.run("import", rows, "--headerline", "--uri", uri, "--drop", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    after = _counted(mongod, "zstd")
    sent = after["requests"] - before["requests"]
    assert sent > 20_000 * 40
    assert after["requests packed"] - before["requests packed"] < sent / 3
    with control_client(mongod.address) as client:
        assert client["packed"]["rows"].count_documents({}) == 20_000


@pytest.fixture(scope="module")
def plain_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredServer]:
    """Takes one compressor alone."""
    directory = tmp_path_factory.mktemp("plain")
    words = ("--networkMessageCompressors", "zlib")
    with secured_mongod(required_mongod(), directory, access_control=False, options=words) as server:
        yield server


def test_a_server_that_takes_none_of_them_is_told(
    brimline_cli: CommandLine, plain_server: SecuredServer, spec: Path
) -> None:
    uri = f"mongodb://{plain_server.address}/?compressors=zstd,snappy"
    outcome = brimline_cli.run("run", spec, "--uri", uri, "--data", "load")
    outcome.check_error(5, "compresses with none of: zstd, snappy", "net.compression.compressors")
    assert not brimline_cli.record_directories()


def test_the_next_best_is_taken(brimline_cli: CommandLine, plain_server: SecuredServer, spec: Path) -> None:
    uri = f"mongodb://{plain_server.address}/?compressors=zstd,zlib"
    outcome = brimline_cli.run("run", spec, "--uri", uri, "--data", "load", "--drop", "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert _counted(plain_server, "zlib")["requests"] > 1_000_000


def test_compression_is_a_factor(brimline_cli: CommandLine, mongod: Deployment, spec: Path) -> None:
    once = ("--repeats", "1", "--repeats-max", "1", "--duration", "300ms", "--warmup", "50ms")
    words = ("--vary", "compression=none,zstd", *once)
    uri = ("--uri", f"mongodb://{mongod.address}", "--data", "load", "--drop")
    outcome = brimline_cli.run("sweep", spec, *words, *uri, "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    [directory] = [each for each in brimline_cli.record_directories() if "-vary-" in each.name]
    seen = set()
    for trial in (directory / "trials").iterdir():
        server = json.loads((trial / "environment.json").read_text())["server"]
        seen.add(server.get("compressor"))
    assert seen == {None, "zstd"}
