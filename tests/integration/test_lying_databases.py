"""What a service or an SQL database can do to brimline by lying at first contact: one ordinary error, and nothing else.

What it can do afterwards is tried in the crates of the protocols.
"""

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from brimline.servers import service, sql_client
from tests.support.command_line import CommandLine
from tests.support.first_login import greeting
from tests.support.repetitions import repetitions

WORKLOADS = {
    "http": "name: w\nprotocol: http\noperations: {look: {get: /x}}\n",
    "mysql": "name: w\nprotocol: sql\noperations: {look: {sql: 'SELECT 1'}}\n",
    "postgresql": "name: w\nprotocol: sql\noperations: {look: {sql: 'SELECT 1'}}\n",
}
TRUTHS = {
    "http": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}",
    "mysql": greeting() + b"\7\0\0\2\0\0\0\2\0\0\0" + b"\1\0\0\1\xfb" * 3,
    "postgresql": b"R\0\0\0\x08\0\0\0\0Z\0\0\0\5IT\xff\xff\xff\xff",
}
SAYS_MAX_BYTES = 50_000_000
"""Of an endless one: far more than may be taken in."""


@contextmanager
def peer(says: bytes, *, then: str) -> Iterator[str]:
    """Says this to whoever comes, then goes, says it again, or waits; its address."""
    connections: list[socket.socket] = []

    def attend(connection: socket.socket) -> None:
        connections.append(connection)
        with suppress(OSError):
            connection.sendall(says)
            for _ in range(SAYS_MAX_BYTES // len(says) if then == "again" else 0):
                connection.sendall(says)
            if then != "wait":
                connection.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=attend, args=(listener.accept()[0],), daemon=True).start()

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    for connection in connections:
        connection.close()


@pytest.fixture(params=WORKLOADS)
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_client, "CONNECT_TIMEOUT_S", 0.3)
    monkeypatch.setattr(sql_client.open_client, "__kwdefaults__", {"database": None, "timeout_s": 0.3})
    monkeypatch.setattr(service.service, "__kwdefaults__", {"password": None, "connect_timeout_s": 0.3})


def check_one_error(cli: CommandLine, scheme: str, says: bytes, *, then: str) -> None:
    (cli.directory / "w.yaml").write_text(WORKLOADS[scheme])
    with peer(says, then=then) as address:
        user, database = ("", "") if scheme == "http" else ("u:p@", "/d")
        done = cli.run("run", "w.yaml", "--uri", f"{scheme}://{user}{address}{database}")
    # A service that answers, but not as is expected, is refused as such.
    assert done.exit_code in ((2, 5) if scheme == "http" else (5,)), done.stderr
    assert done.stderr.count("error:") == done.stderr.count("hint:") == 1
    assert "Traceback" not in done.stderr
    assert cli.record_directories() == []


@pytest.mark.slow("silence is waited for")
@pytest.mark.parametrize(
    ("says", "then"),
    [
        (b"", "go"),
        (b"", "wait"),
        (b"x" * 4_096, "again"),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 999, "again"),
        (b"\xff\xff\xff\x00", "again"),
    ],
    ids=["nothing", "silence", "no line", "headers without end", "packets without end"],
)
def test_silence_and_no_end_are_one_error(brimline_cli: CommandLine, scheme: str, says: bytes, then: str) -> None:
    check_one_error(brimline_cli, scheme, says, then=then)


@pytest.mark.parametrize("seed", [*range(3), *repetitions(*range(3, 8))])
def test_any_bytes_and_damaged_truths_are_one_error(brimline_cli: CommandLine, scheme: str, seed: int) -> None:
    draw = random.Random(seed)
    says = bytearray(draw.randbytes(draw.randrange(1, 400)) if seed % 3 == 0 else TRUTHS[scheme])
    for _ in range(seed % 4):
        says[draw.randrange(len(says))] = draw.randrange(256)
    check_one_error(brimline_cli, scheme, bytes(says), then=draw.choice(["go", "wait"]))
