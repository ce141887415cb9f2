"""Owns `brimline watch`: answering, on a server's host, what that host's counters say. It reads and changes nothing."""

import hmac
import json
import socket
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import urlsplit

from brimline.errors import TargetError
from brimline.monitor.cpu_allowance import cpu_allowance
from brimline.monitor.host.asking import PATH, Answer, Question, boot_id
from brimline.monitor.host.counters import disk_device, network_interfaces
from brimline.monitor.programs import Programs
from brimline.monitor.server_host import ServerHost, data_place
from brimline.servers.listening import listening_process, process_name, server_on_port
from brimline.servers.members import MemberProcess

CONNECTIONS_MAX = 16
"""Who looks on at once; further ones are sent away."""
_SILENCE_S = 60.0
"""How long a connection may ask nothing."""
ASKED_WITHIN_S = 5.0
"""How long it may take to ask the first time, with the token: who doesn't takes no place from who does."""
_HOSTS_KEPT = 8
_UNKNOWN_ANEW_S = 5.0
"""How often a server that is not there is looked for."""


class HostReader:
    """Reads this host's counters for any question; what was found about one is kept for the next. For any thread."""

    def __init__(self, *, disk: str | None = None) -> None:
        self._disk = disk
        self._lock = threading.Lock()
        self._found: OrderedDict[Question, tuple[ServerHost, float]] = OrderedDict()

    def answer(self, question: Question, *, version: str) -> Answer:
        """What the counters say now. Raises nothing."""
        with self._lock:
            host = self._host(question)
            columns = host.columns()
            at_ns = time.monotonic_ns()
        pid = host.pid
        count = None if pid is None or columns["server_cpu_ns"] is None else cpu_allowance(pid)
        return Answer(
            at_ns=at_ns,
            boot_id=boot_id(),
            columns={**columns, "server_cpu_count": count},
            facts={**host.to_dict(), "server": "" if pid is None else process_name(pid)},
            brimline=version,
        )

    def _host(self, question: Question) -> ServerHost:
        """What is read; looked for again where the server has ended, or was not there, but not at each look."""
        host, looked_s = self._found.pop(question, (None, 0.0))
        gone = host is None or host.pid is None or not process_name(host.pid)
        if host is None or (gone and time.monotonic() - looked_s > _UNKNOWN_ANEW_S):
            host, looked_s = self._look_for(question), time.monotonic()
        self._found[question] = (host, looked_s)
        while len(self._found) > _HOSTS_KEPT:
            self._found.popitem(last=False)
        return host

    def _look_for(self, question: Question) -> ServerHost:
        pid = server_on_port(question.port) if question.port else None
        has_family = pid is None
        if pid is None and question.port:
            pid = listening_process(question.port)
        data = data_place(pid, question.data_path) if pid is not None and question.data_path else None
        disk = self._disk
        if disk is None and data is not None:
            disk = disk_device(data)
        search = partial(_members, question.members)
        return ServerHost(
            pid=pid,
            disk=disk,
            data=data,
            interfaces=network_interfaces(),
            programs=None
            if pid is None
            else Programs(search, server_pid=pid, has_family=has_family, ours=frozenset(question.ours)),
            has_family=has_family,
        )


def _members(ports: tuple[int, ...]) -> tuple[MemberProcess, ...]:
    found = {port: server_on_port(port) for port in ports}
    return tuple(
        MemberProcess(name=f"{process_name(pid)} :{port}", pid=pid) for port, pid in found.items() if pid is not None
    )


class HostServer(ThreadingHTTPServer):
    """Answers at `address`, a host and a port (0: any that is free), whoever knows `token`, "" where none is wanted.

    `serve_forever` blocks until `shutdown`. Raises TargetError where nothing can listen there.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], *, token: str, reader: HostReader, version: str) -> None:
        self.token, self.reader, self.version = token, reader, version
        self._free = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self._open: set[Any] = set()
        self._unknown: dict[Any, float] = {}  # those that have not asked yet, and since when
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        try:
            super().__init__(address, _Handler)
        except OSError as error:
            raise TargetError(
                f"nothing can listen at {address[0]}:{address[1]}: {(error.strerror or str(error)).lower()}",
                hint="another program may listen there; give an address of this host and a free port: --listen",
            ) from None

    def server_bind(self) -> None:
        """Without asking for the name of this host, as `HTTPServer` does: a name server may take its time."""
        TCPServer.server_bind(self)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002 (its signature)
        """Whether there is room for another one who looks on."""
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One connection, in a thread of its own."""
        self._open.add(request)
        self._unknown[request] = time.monotonic()
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.discard(request)
            self._unknown.pop(request, None)
            self._free.release()

    def note_asked(self, request: Any) -> None:
        """From now on this connection may be silent for a while."""
        self._unknown.pop(request, None)

    def service_actions(self) -> None:
        """Between two looks for new connections: ends those that have not asked in time."""
        for request, since_s in tuple(self._unknown.items()):
            if time.monotonic() - since_s > ASKED_WITHIN_S:
                _end(request)

    def server_close(self) -> None:
        """Ends it, and the connections that are open."""
        super().server_close()
        for each in tuple(self._open):
            _end(each)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: who looks on may leave at any time."""


def _end(request: Any) -> None:
    with suppress(OSError):  # it ended meanwhile
        request.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: HostServer
    protocol_version = "HTTP/1.1"
    timeout = _SILENCE_S

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if not self._is_allowed():
            self.close_connection = True
            self._say(401, {"error": "a token is wanted, and it isn't this one"})
            return
        self.server.note_asked(self.connection)
        if address.path != PATH:
            self._say(404, {"error": f"there is only {PATH}"})
        else:
            try:
                question = Question.parse(address.query)
            except ValueError as error:
                self._say(400, {"error": str(error)})
                return
            self._say(200, asdict(self.server.reader.answer(question, version=self.server.version)))

    def _is_allowed(self) -> bool:
        wanted = f"Bearer {self.server.token}".encode()
        given = self.headers.get("Authorization", "").encode("latin-1", "replace")
        return not self.server.token or hmac.compare_digest(wanted, given)

    def _say(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return "brimline-watch"

    def log_message(self, *_: Any) -> None:
        """Nothing: what was asked is no news."""
