"""A lab's forwarder: whole streams both ways, no sooner than asked for, for those alone that are meant.

Times have lower bounds only: a busy machine may always be later.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EADDRINUSE
from pathlib import Path

import pytest

from brimline.servers.bundled import free_port
from brimline.servers.lab.forwarder import Line, Mending, is_made_by
from brimline.servers.lab.forwarding import forwarder_command
from brimline.servers.lab.network import Network
from brimline.servers.listening import listens
from tests.support.forwarder import forwarder
from tests.support.waiting import eventually

MS = 1_000_000
PATIENCE_S = 30.0


@pytest.fixture
def echo() -> Iterator[str]:
    """A server that sends back what it gets, and ends when its client does."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                while data := connection.recv(65_536):
                    connection.sendall(data)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def _connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host, int(port)), PATIENCE_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _receive(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count and (more := connection.recv(65_536)):
        data += more
    return bytes(data)


def _round_trip_s(connection: socket.socket, data: bytes = b"x") -> float:
    began_s = time.monotonic()
    connection.sendall(data)
    assert _receive(connection, len(data)) == data
    return time.monotonic() - began_s


def test_a_round_trip_takes_twice_the_delay_at_least(echo: str) -> None:
    with forwarder(echo, Network(delay_ns=20 * MS)) as far, _connect(far) as connection:
        assert min(_round_trip_s(connection) for _ in range(5)) >= 0.040


def test_several_connections_are_under_way_at_once(echo: str) -> None:
    """One after the other they would take 4 s, so that even a very busy machine tells the two apart."""
    with forwarder(echo, Network(delay_ns=100 * MS)) as far:
        connections = [_connect(far) for _ in range(20)]
        began_s = time.monotonic()
        for connection in connections:
            connection.sendall(b"x")
        for connection in connections:
            assert _receive(connection, 1) == b"x"
        assert 0.2 <= time.monotonic() - began_s < 4.0
        for connection in connections:
            connection.close()


def test_no_more_passes_than_the_rate_also_over_two_connections(echo: str) -> None:
    """100 kB at 4 Mbit/s are 0.2 s, and they come back over the other direction as they arrive."""
    with forwarder(echo, Network(rate_bit_per_s=4e6)) as far, _connect(far) as one, _connect(far) as other:
        began_s = time.monotonic()
        for connection in (one, other):
            connection.sendall(bytes(50_000))
        for connection in (one, other):
            assert _receive(connection, 50_000) == bytes(50_000)
        assert time.monotonic() - began_s >= 0.2


def test_whole_streams_pass_in_order_also_to_one_that_is_slow_to_read(echo: str) -> None:
    data = random.Random(1).randbytes(24 * 1024 * 1024)
    with forwarder(echo, Network(delay_ns=MS)) as far, _connect(far) as connection:
        sending = threading.Thread(target=connection.sendall, args=(data,), daemon=True)
        sending.start()
        time.sleep(0.3)  # the forwarder's window and all buffers fill
        assert _receive(connection, len(data)) == data
        sending.join(PATIENCE_S)


def test_an_end_passes_after_what_was_sent_before_it(echo: str) -> None:
    with forwarder(echo, Network(delay_ns=20 * MS)) as far, _connect(far) as connection:
        connection.sendall(b"last words")
        connection.shutdown(socket.SHUT_WR)
        assert _receive(connection, 1_000) == b"last words", "and then the echo's own end"


def test_where_nobody_listens_the_connection_ends() -> None:
    nobody = f"127.0.0.1:{free_port()}"
    with forwarder(nobody, Network()) as far, _connect(far) as connection, suppress(ConnectionResetError):
        assert connection.recv(1) == b""


def _later_ns(loss: float, byte_count: int, *, delay_ns: int = 0) -> list[int]:
    mending = Mending(loss, delay_ns, seed=1)
    return [mending.later_ns(byte_count) for _ in range(100_000)]


def test_as_many_segments_are_lost_as_asked_for() -> None:
    """Of messages of so many segments 1 - (1 - loss)^segments are late, within five deviations."""
    for segments in (1, 10):
        late = sum(later_ns > 0 for later_ns in _later_ns(0.01, 1448 * segments, delay_ns=MS)) / 100_000
        expected = 1 - 0.99**segments
        assert abs(late - expected) < 5 * (expected * (1 - expected) / 100_000) ** 0.5


def test_a_lost_segment_costs_what_it_costs_tcp() -> None:
    """A time-out and a round trip for the last ones, twice that and so on where it is lost again; else a round trip."""
    alone = [later_ns for later_ns in _later_ns(0.1, 100, delay_ns=5 * MS) if later_ns]
    assert set(alone) <= {210 * MS * (2**times - 1) for times in range(1, 8)}
    again = sum(later_ns > 210 * MS for later_ns in alone) / len(alone)
    assert abs(again - 0.1) < 5 * (0.09 / len(alone)) ** 0.5
    of_many = _later_ns(0.001, 1448 * 40, delay_ns=5 * MS)
    quick = sum(later_ns == 10 * MS for later_ns in of_many) / sum(later_ns > 0 for later_ns in of_many)
    assert abs(quick - 37 / 40) < 0.02


def test_what_comes_behind_a_lost_segment_waits_and_other_connections_do_not() -> None:
    arrived: list[tuple[str, bytes]] = []

    class Flow:
        def __init__(self, name: str) -> None:
            self.name, self.arrives_ns = name, 0

        def deliver(self, data: bytes) -> None:
            arrived.append((self.name, data))

    class Loses:
        """The first message alone."""

        def __init__(self) -> None:
            self.costs_ns = [300, 0, 0]

        def later_ns(self, _: int) -> int:
            return self.costs_ns.pop(0)

    line = Line(100, None, Loses())  # type: ignore[arg-type]
    one, other = Flow("one"), Flow("other")
    for number, flow in enumerate((one, one, other)):
        line.send(flow, bytes([number]), now_ns=0)  # type: ignore[arg-type]
    line.deliver(399)
    assert arrived == [("other", b"\x02")]
    assert line.next_ns == 400
    line.deliver(400)
    assert arrived[1:] == [("one", b"\x00"), ("one", b"\x01")]


def test_streams_are_whole_on_a_line_that_loses(echo: str) -> None:
    data = random.Random(2).randbytes(2 * 1024 * 1024)
    with forwarder(echo, Network(loss=0.02)) as far, _connect(far) as connection:
        sending = threading.Thread(target=connection.sendall, args=(data,), daemon=True)
        sending.start()
        assert _receive(connection, len(data)) == data
        sending.join(PATIENCE_S)


@contextmanager
def _of_a_lab(echo: str, servers: Path, network: Network) -> Iterator[str]:
    """A forwarder of a lab of which this very process is a server."""
    port = free_port()
    for name, pid in (("127.0.0.1-1", os.getpid()), ("forwarder-2", 1)):
        (servers / name).mkdir(parents=True)
        (servers / name / "server.json").write_text(json.dumps({"process": {"pid": pid}}))
    command = forwarder_command(port=port, target=int(echo.rpartition(":")[2]), network=network, servers=servers)
    with subprocess.Popen(command) as process:
        try:
            assert eventually(lambda: listens(process.pid, port))
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()


_STRANGER = """
import socket, sys, time
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30) as connection:
    began = time.monotonic()
    connection.sendall(b"x")
    connection.recv(1)
    print(time.monotonic() - began)
"""


def _stranger_s(address: str) -> float:
    """The round trip of another process."""
    command = [sys.executable, "-c", _STRANGER, address.rpartition(":")[2]]
    return float(subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE_S).stdout)


def test_a_line_to_clients_is_none_between_members(echo: str, tmp_path: Path) -> None:
    with _of_a_lab(echo, tmp_path, Network(delay_ns=1500 * MS)) as far, _connect(far) as of_a_member:
        assert _round_trip_s(of_a_member) < 3.0
        assert _stranger_s(far) >= 3.0


def test_a_line_between_members_is_none_to_clients(echo: str, tmp_path: Path) -> None:
    line = Network(delay_ns=1500 * MS, between="members")
    with _of_a_lab(echo, tmp_path, line) as far, _connect(far) as of_a_member:
        assert _round_trip_s(of_a_member) >= 3.0
        assert _stranger_s(far) < 3.0


def test_whose_a_connection_is_is_told_by_its_process(echo: str) -> None:
    port = int(echo.rpartition(":")[2])
    with _connect(echo) as connection:
        own = connection.getsockname()[1]
        assert is_made_by([os.getpid()], own, port)
        assert not is_made_by([os.getppid(), 2**22 + 1], own, port)
        assert not is_made_by([os.getpid()], own, port + 1)
    assert not is_made_by([], own, port)


def test_it_ends_with_its_server(echo: str) -> None:
    port = free_port()
    with subprocess.Popen(["sleep", "60"]) as server:
        command = forwarder_command(
            port=port, target=int(echo.rpartition(":")[2]), network=Network(), server_pid=server.pid
        )
        with subprocess.Popen(command) as process:
            assert eventually(lambda: listens(process.pid, port))
            server.kill()
            assert process.wait(PATIENCE_S) == 0
    after = subprocess.run(command, timeout=PATIENCE_S, check=False)
    assert after.returncode == 0, "a server that has ended already"


def test_a_port_that_is_taken_is_told_by_its_exit_code(echo: str) -> None:
    taken = int(echo.rpartition(":")[2])
    command = forwarder_command(port=taken, target=taken, network=Network())
    assert subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False).returncode == EADDRINUSE


def test_what_is_cut_stands_still_and_goes_on_where_it_was(echo: str, tmp_path: Path) -> None:
    """New connections of the same process are cut as well; those of others are not."""
    control = tmp_path / "control.json"
    port, target = free_port(), int(echo.rpartition(":")[2])
    command = forwarder_command(port=port, target=target, network=Network(between="all"), control=control)
    with subprocess.Popen(command) as process:
        try:
            assert eventually(lambda: listens(process.pid, port))
            with _connect(f"127.0.0.1:{port}") as before:
                assert _round_trip_s(before) < PATIENCE_S
                _order(process.pid, control, number=1, cut=[os.getpid()])
                before.sendall(b"waits")
                with _connect(f"127.0.0.1:{port}") as during:
                    during.sendall(b"waits too")
                    for each in (before, during):
                        each.settimeout(0.2)
                        with pytest.raises(TimeoutError):
                            each.recv(1)
                        each.settimeout(PATIENCE_S)
                    _order(process.pid, control, number=2, cut=[])
                    assert _receive(before, 5) == b"waits"
                    assert _receive(during, 9) == b"waits too"
                _order(process.pid, control, number=3, cut=[1])
                assert _round_trip_s(before) < PATIENCE_S
                _order(process.pid, control, number=4, cut=[], delay_ns=20 * MS)
                assert _round_trip_s(before) >= 0.040
        finally:
            process.kill()


def _order(pid: int, control: Path, *, number: int, cut: list[int], delay_ns: int = 0) -> None:
    order = {"number": number, "cut": cut, "delay_ns": delay_ns, "rate_bit_per_s": None}
    control.write_text(json.dumps(order))
    os.kill(pid, signal.SIGHUP)
    done = Path(f"{control}.done")
    assert eventually(lambda: done.exists() and done.read_text() == str(number), interval_s=0.005)
