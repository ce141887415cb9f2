"""Owns distance: a program that passes TCP connections on to a server, later and slower. It runs under a guardian.

    python -I -S forwarder.py OPTIONS

OPTIONS is a JSON object. `port`: where it listens, on 127.0.0.1 alone. `target`: port of the server there.
`server_pid`: the server's process, with which it ends. `delay_ns`: how much later bytes arrive, each way.
`rate_bit_per_s`: how many bits pass, each way, over all connections together; null: any. `loss`: share of the segments
that are lost, each way; see `Mending`. `between`: whose connections
are meant, "clients", "members" or "all"; the others are passed on at once. `servers`: the lab's directory of servers: a
connection that one of their processes has made is a member's. `control`: a file with orders, read on SIGHUP. An order
is a JSON object: its `number`, `delay_ns`, `rate_bit_per_s`, and `cut`: the processes whose connections stand still, or
"all". Nothing of what is cut is lost: it goes on once it is cut no longer, as on a network that was parted. The file
with ".done" behind its name has the number of the last order that was followed.

What it is not: a network. Making a connection takes no longer, because the kernel of this machine accepts it. It passes
on streams, in which TCP has mended every loss already, so that what a loss costs is a model of what TCP would do.

One thread, epoll. Standard library only, and no import of brimline: it starts in about 30 ms. Exit code: 0 when the
server has ended, 98 when the port is taken (EADDRINUSE).
"""

# pathlib would double the time to start.
# ruff: noqa: PTH105, PTH115, PTH118, PTH119, PTH120, PTH123, PTH207, PTH208

import contextlib
import errno
import glob
import heapq
import json
import math
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any

_CHUNK_BYTES = 65_536
_WINDOW_BYTES = 16 * 1024 * 1024
"""Most bytes of one direction of one connection that are under way: more than a second of 100 Mbit/s."""
_BACKLOG = 1024
_ESTABLISHED = "01"
_CONNECT_WITHIN_S = 1.0
_ACCEPT_AGAIN_S = 0.05
_SEGMENT_BYTES = 1448
"""What an Ethernet frame carries of a stream, with time stamps."""
_FAST_AFTER = 3
"""So many segments behind a lost one tell the sender of it at once."""
_TIME_OUT_NS = 200_000_000
"""Linux's shortest time until a segment is sent again (TCP_RTO_MIN), besides the round trip."""
_TIME_OUTS_MAX = 10


class Mending:
    """How much later bytes arrive because segments of them were lost, and TCP sent them again.

    A segment with three or more behind it is sent again after a round trip, the last ones after Linux's time-out and a
    round trip, which doubles each time that it is lost again. What comes behind it on the connection waits for it. Left
    out is what else a loss does: the sender slows down (congestion control), and tail loss probes may be quicker.
    """

    def __init__(self, loss: float, delay_ns: int, seed: int) -> None:
        self._loss = loss
        self._round_trip_ns = 2 * delay_ns
        self._state = seed
        self._until_lost = self._gap()

    def later_ns(self, byte_count: int) -> int:
        """For bytes that are sent at once; none: the end of a stream, which is a segment as well."""
        segments = max(1, -(-byte_count // _SEGMENT_BYTES))
        later_ns, place = 0, -1
        while place + self._until_lost < segments:
            place += self._until_lost
            self._until_lost = self._gap()
            later_ns = max(later_ns, self._again_ns(segments - 1 - place))
        self._until_lost -= segments - 1 - place
        return later_ns

    def _again_ns(self, behind: int) -> int:
        if behind >= _FAST_AFTER and self._draw() >= self._loss:
            return self._round_trip_ns
        time_out_ns = _TIME_OUT_NS + self._round_trip_ns
        total_ns = time_out_ns
        for _ in range(_TIME_OUTS_MAX):
            if self._draw() >= self._loss:
                break
            time_out_ns *= 2
            total_ns += time_out_ns
        return total_ns

    def _gap(self) -> int:
        """How many segments on the next lost one is: 1 is the next (geometric)."""
        return 1 + int(math.log(1.0 - self._draw()) / math.log1p(-self._loss))

    def _draw(self) -> float:
        """From 0 to below 1 (SplitMix64, Steele, Lea and Flood 2014); the module random is slow to import."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return ((mixed ^ (mixed >> 31)) >> 11) / 9007199254740992.0


class Line:
    """One direction of the line that all delayed connections share. Each connection's bytes stay in order."""

    def __init__(self, delay_ns: int, rate_bit_per_s: float | None, mending: Mending | None = None) -> None:
        self._delay_ns = delay_ns
        self._rate_bit_per_s = rate_bit_per_s
        self._mending = mending
        self._free_at_ns = 0
        self._sent = 0
        self._under_way: list[tuple[int, int, Flow, bytes]] = []

    def send(self, flow: "Flow", data: bytes, now_ns: int) -> None:
        """Takes bytes in; an empty text is the end of the stream."""
        if self._rate_bit_per_s is not None:
            self._free_at_ns = max(now_ns, self._free_at_ns) + round(len(data) * 8e9 / self._rate_bit_per_s)
            now_ns = self._free_at_ns
        due_ns = now_ns + self._delay_ns
        if self._mending is not None:
            due_ns = flow.arrives_ns = max(due_ns + self._mending.later_ns(len(data)), flow.arrives_ns)
        self._sent += 1
        heapq.heappush(self._under_way, (due_ns, self._sent, flow, data))

    def deliver(self, now_ns: int) -> None:
        """Hands out what has arrived by now."""
        while self._under_way and self._under_way[0][0] <= now_ns:
            _, _, flow, data = heapq.heappop(self._under_way)
            flow.deliver(data)

    def change(self, delay_ns: int, rate_bit_per_s: float | None) -> None:
        """What is sent from now on is as late and as slow as this."""
        self._delay_ns = delay_ns
        self._rate_bit_per_s = rate_bit_per_s
        self._free_at_ns = 0

    @property
    def next_ns(self) -> int | None:
        """When something arrives next."""
        return self._under_way[0][0] if self._under_way else None


class Flow:
    """One direction of one connection. `line`: None where it isn't delayed."""

    def __init__(self, pair: "Pair", source: socket.socket, sink: socket.socket, line: Line | None) -> None:
        self._pair = pair
        self._source = source
        self._sink = sink
        self._line = line
        self._arrived = bytearray()
        self._pending_bytes = 0
        self._source_ended = False
        self._ends = False
        self.arrives_ns = 0
        self.done = False
        self.reads = True

    @property
    def wants_room(self) -> bool:
        """Whether bytes have arrived that the sink has not taken yet."""
        return bool(self._arrived)

    def read(self) -> None:
        """Takes what the source has sent."""
        try:
            data = self._source.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        self._pending_bytes += len(data)
        self.reads = bool(data) and self._pending_bytes < _WINDOW_BYTES
        if not data:
            self._source_ended = True
        if self._line is None:
            self.deliver(data)
        else:
            self._line.send(self, data, time.monotonic_ns())

    def deliver(self, data: bytes) -> None:
        """Gives the sink what has arrived; b"": nothing more will."""
        if self._pair.closed:
            return
        self._ends = self._ends or not data
        self._arrived += data
        if self._pair.held:
            return
        try:
            self.write()
        except OSError:
            self._pair.close()
            return
        self._pair.watch()

    def write(self) -> None:
        """Sends as much as the sink takes. Raises OSError."""
        while self._arrived:
            try:
                sent = self._sink.send(self._arrived)
            except BlockingIOError:
                return
            del self._arrived[:sent]
            self._pending_bytes -= sent
            if not self._source_ended and self._pending_bytes < _WINDOW_BYTES // 2:
                self.reads = True
        if self._ends and not self.done:
            self.done = True
            self._sink.shutdown(socket.SHUT_WR)


class Pair:
    """A connection of a client, and the one to the server that belongs to it."""

    def __init__(
        self,
        loop: "Loop",
        near: socket.socket,
        far: socket.socket,
        lines: tuple[Line, Line] | None,
        *,
        peer_port: int,
        held: bool,
    ) -> None:
        self._loop = loop
        self.peer_port = peer_port
        self.held = held
        there, back = lines or (None, None)
        self._flows = {near: Flow(self, near, far, there), far: Flow(self, far, near, back)}
        self._opposite = {near: far, far: near}
        self._watched = dict.fromkeys(self._flows, 0)
        self.closed = False
        for each in self._flows:
            each.setblocking(False)
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.watch()

    def ready(self, at: socket.socket, events: int) -> None:
        """Follows what one of the sockets is ready for."""
        if self.closed or self.held:
            return
        incoming, outgoing = self._flows[at], self._flows[self._opposite[at]]
        try:
            if events & select.EPOLLOUT:
                outgoing.write()
            if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR) and incoming.reads:
                incoming.read()
        except OSError:
            self.close()
            return
        self.watch()

    def hold(self, held: bool) -> None:
        """Lets it stand still, or go on with what has come meanwhile."""
        if self.closed or held == self.held:
            return
        self.held = held
        try:
            for flow in self._flows.values() if not held else ():
                flow.write()
        except OSError:
            self.close()
            return
        self.watch()

    def watch(self) -> None:
        """Asks for what is wanted of each socket now; closes both when all has passed."""
        if self.closed:
            return
        if all(flow.done for flow in self._flows.values()):
            self.close()
            return
        for each, flow in self._flows.items():
            wanted = (select.EPOLLIN if flow.reads else 0) | (
                select.EPOLLOUT if self._flows[self._opposite[each]].wants_room else 0
            )
            wanted = 0 if self.held else wanted
            if wanted != self._watched[each]:
                self._loop.watch(each, self, was=self._watched[each], wanted=wanted)
                self._watched[each] = wanted

    def close(self) -> None:
        """Ends both; what is under way is lost, as on a line that breaks."""
        if self.closed:
            return
        self.closed = True
        self._loop.forget(self)
        for each in self._flows:
            self._loop.watch(each, self, was=self._watched[each], wanted=0)
            each.close()


class Loop:
    """The listening socket, the server's end, and every connection."""

    def __init__(self, options: dict[str, Any], listener: socket.socket, server: int | None) -> None:
        self._target = ("127.0.0.1", int(options["target"]))
        self._port = int(options["port"])
        self._between: str = options["between"]
        self._servers: str | None = options.get("servers")
        delay_ns, rate = int(options["delay_ns"]), options.get("rate_bit_per_s")
        loss = float(options.get("loss", 0.0))
        there, back = (Mending(loss, delay_ns, seed=self._port + way) if loss else None for way in (0, 1 << 32))
        self._lines = (Line(delay_ns, rate, there), Line(delay_ns, rate, back))
        self._listener = listener
        self._server = server
        self._poller = select.epoll()
        self._pairs: dict[int, tuple[Pair, socket.socket]] = {}
        self._open: set[Pair] = set()
        self._cut: list[int] | str = []
        self._control: str | None = options.get("control")
        self._orders = _signalled() if self._control is not None else None
        if self._orders is not None:
            self._poller.register(self._orders, select.EPOLLIN)
        self._poller.register(listener.fileno(), select.EPOLLIN)
        if server is not None:
            self._poller.register(server, select.EPOLLIN)

    def run(self) -> None:
        """Until the server has ended."""
        while True:
            # epoll's own time-out has the grain of a millisecond.
            select.select([self._poller.fileno()], [], [], self._patience_s())
            for line in self._lines:
                line.deliver(time.monotonic_ns())
            for descriptor, events in self._poller.poll(0):
                if descriptor == self._server:
                    return
                if descriptor == self._listener.fileno():
                    self._accept()
                elif descriptor == self._orders:
                    self._follow_order()
                elif descriptor in self._pairs:
                    pair, at = self._pairs[descriptor]
                    pair.ready(at, events)

    def watch(self, each: socket.socket, pair: Pair, *, was: int, wanted: int) -> None:
        """Asks for these events of a socket; none: it is left alone, also where its other end has gone for good."""
        if wanted and was:
            self._poller.modify(each.fileno(), wanted)
        elif wanted:
            self._pairs[each.fileno()] = (pair, each)
            self._poller.register(each.fileno(), wanted)
        elif was:
            del self._pairs[each.fileno()]
            self._poller.unregister(each.fileno())

    def _patience_s(self) -> float | None:
        due = [line.next_ns for line in self._lines if line.next_ns is not None]
        return max(0.0, (min(due) - time.monotonic_ns()) / 1e9) if due else None

    def _accept(self) -> None:
        try:
            near, (_, port) = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:
            # Where no more files may be opened the listener stays readable; it is asked again a little later.
            time.sleep(_ACCEPT_AGAIN_S)
            return
        try:
            far = socket.create_connection(self._target, timeout=_CONNECT_WITHIN_S)
        except OSError:
            near.close()
            return
        lines = self._lines if self._is_meant(port) else None
        self._open.add(Pair(self, near, far, lines, peer_port=port, held=self._is_cut([port])[port]))

    def forget(self, pair: Pair) -> None:
        """It has ended."""
        self._open.discard(pair)

    def _follow_order(self) -> None:
        if self._orders is None or self._control is None:
            return
        os.read(self._orders, _CHUNK_BYTES)
        with open(self._control, encoding="utf-8") as file:
            order = json.load(file)
        self._cut = order["cut"]
        for line in self._lines:
            line.change(int(order["delay_ns"]), order["rate_bit_per_s"])
        cut = self._is_cut([pair.peer_port for pair in self._open])
        for pair in list(self._open):
            pair.hold(cut[pair.peer_port])
        with open(f"{self._control}.new", "w", encoding="utf-8") as file:
            file.write(str(order["number"]))
        os.replace(f"{self._control}.new", f"{self._control}.done")

    def _is_cut(self, peer_ports: list[int]) -> dict[int, bool]:
        """Which of the connections from these ports stand still."""
        if isinstance(self._cut, str) or not self._cut:
            return dict.fromkeys(peer_ports, bool(self._cut))
        made = ports_of(self._cut, self._port)
        return {port: port in made for port in peer_ports}

    def _is_meant(self, peer_port: int) -> bool:
        if self._between == "all" or self._servers is None:
            return True
        return (self._between == "members") == is_made_by(_processes(self._servers), peer_port, self._port)


def is_made_by(pids: list[int], port: int, to_port: int) -> bool:
    """Whether one of these processes has made the connection from `port` to `to_port` of 127.0.0.1."""
    return port in ports_of(pids, to_port)


def ports_of(pids: list[int], to_port: int) -> set[int]:
    """From which ports of 127.0.0.1 these processes are connected to `to_port` there (proc(5))."""
    wanted = f"0100007F:{to_port:04X}"
    ports: dict[str, int] = {}
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in table:
            fields = line.split()
            if fields[2] == wanted and fields[3] == _ESTABLISHED:
                ports[fields[9]] = int(fields[1].rpartition(":")[2], 16)
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    name = os.readlink(f"/proc/{pid}/fd/{descriptor}")
                    if name.startswith("socket:[") and name[8:-1] in ports:
                        found.add(ports[name[8:-1]])
    return found


def _signalled() -> int:
    """A descriptor that becomes readable on SIGHUP."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGHUP, lambda *_: None)
    return readable


def _processes(servers: str) -> list[int]:
    """The servers of the lab, without its forwarders."""
    pids = []
    for path in glob.glob(os.path.join(glob.escape(servers), "*", "server.json")):
        if os.path.basename(os.path.dirname(path)).startswith("forwarder-"):
            continue
        with contextlib.suppress(OSError, ValueError, KeyError), open(path, encoding="utf-8") as file:
            pids.append(int(json.load(file)["process"]["pid"]))
    return pids


def main(options: dict[str, Any]) -> int:
    """Passes connections on until the server has ended; see the module."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server = os.pidfd_open(int(options["server_pid"])) if options.get("server_pid") else None
            listener.bind(("127.0.0.1", int(options["port"])))
        except ProcessLookupError:
            return 0
        except OSError as error:
            os.write(2, f"{error.strerror}\n".encode())
            return error.errno if error.errno == errno.EADDRINUSE else 1
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        Loop(options, listener, server).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
