"""Owns the first contact with an address: whether anything listens there, and whether that is a MongoDB server.

PyMongo tries until its time is over, whatever the reason, and then says that it is. Here an address is asked once for
its `hello`, as PyMongo would ask. Where the answer is none of MongoDB's, a few more connections show what listens.
"""

import re
import selectors
import socket
import ssl
import struct
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Final

import bson
from pymongo.errors import AutoReconnect

from brimline.servers.access import Tls

PATIENCE_S = 0.2
"""How long a server that refuses connections, or ends them, is tried again: it may be about to start."""
_REST_S = 0.1
_ANSWER_S = 0.5
"""A server that answers later is left to PyMongo, which waits longer."""
_PROBE_S = 1.0
_READ_BYTES = 256
_HEADER_BYTES = 16
_MESSAGE_BYTES_MAX = 48_000_000
_REQUEST = 0x6272_696D
_OP_REPLY, _OP_QUERY, _OP_MSG = 1, 2004, 2013
_POSTGRES_TLS: Final = bytes([0, 0, 0, 8, 4, 210, 22, 47])
"""PostgreSQL's SSLRequest: it answers S or N, and to nothing else before a user is named."""
_HTTP: Final = b"GET / HTTP/1.0\r\n\r\n"
_MONGODB_OVER_HTTP: Final = b"access MongoDB over HTTP"
"""What a mongod tells a browser."""
_WELL_KNOWN: Final = (
    (b"HTTP/", "an HTTP server"),
    (b"SSH-", "an SSH server"),
    (b"-ERR", "a Redis server"),
    (b"-NOAUTH", "a Redis server"),
    (b"-DENIED", "a Redis server"),
    (b"AMQP", "an AMQP server"),
    (b"220 ", "a mail or FTP server"),
    (b"220-", "a mail or FTP server"),
    (b"+OK", "a mail server"),
    (b"* OK", "a mail server"),
    (b"ERROR\r\n", "a memcached server"),
    (b"ESFATAL", "a PostgreSQL server"),
)
"""How the answers of other servers begin, to a greeting that isn't theirs or to none at all."""
_MYSQL = re.compile(rb"..[^\xff]\0(?:[\x09\x0a]\d+\.|\xff..[ -~]{5})", re.DOTALL)
"""Its packets begin with a length and a number; the first has a version, or why the client may not connect."""
_TLS = "TLS"


class NoContact(AutoReconnect):
    """An address that can't be used, known at the first look.

    `answers_as` is what listens there, where that is known to be no MongoDB server. `hint` is what to do, where known.
    """

    def __init__(self, words: str, *, hint: str = "", answers_as: str = "") -> None:
        super().__init__(words)
        self.hint, self.answers_as = hint, answers_as


def make_contact(
    host: str,
    port: int,
    *,
    tls: Tls | None,
    timeout_s: float,
    patience_s: float = 0.0,
    may_be_slow: bool = True,
) -> None:
    """Returns when a MongoDB server answers, or where nothing answers and it `may_be_slow`.

    `timeout_s` bounds the wait for a connection; within `patience_s` one that is refused or ended is tried again. One
    that may not be slow has as long for its answer.

    Raises:
        NoContact: nothing listens, the name is unknown, it is another server, or no TLS connection can be had.
    """
    until_s = time.monotonic() + patience_s
    while True:
        try:
            answer = _answer_to_hello(host, port, tls, timeout_s, _ANSWER_S if may_be_slow else timeout_s)
        except socket.gaierror as error:
            raise NoContact(_resolution(error), hint="check how the host name is written") from error
        except OSError as error:
            if isinstance(error, ConnectionError) and time.monotonic() < until_s:
                time.sleep(_REST_S)
                continue
            name = _name_by_probes(host, port, timeout_s, tls=tls is not None, ended=True)
            raise _other(name) if name else NoContact(_words(error)) from error
        if _is_mongodb(answer):
            return
        if not answer and not may_be_slow:
            raise NoContact("no answer in time")
        if name := _name_of(answer) if answer else _name_by_probes(host, port, timeout_s, tls=tls is not None):
            raise _other(name)
        return


def _answer_to_hello(host: str, port: int, tls: Tls | None, timeout_s: float, answer_s: float) -> bytes:
    """How it begins; empty where there is none in time. Raises OSError; ConnectionError: it may be tried again."""
    with ExitStack() as stack:
        connection = stack.enter_context(socket.create_connection((host, port), timeout=timeout_s))
        connection.settimeout(min(timeout_s, answer_s))
        try:
            if tls is not None:
                connection = stack.enter_context(tls_context(tls).wrap_socket(connection, server_hostname=host))
            connection.sendall(_hello())
            answer = connection.recv(_READ_BYTES)
        except TimeoutError:
            return b""
    if not answer:
        raise ConnectionResetError("connection closed")
    return answer


def _name_by_probes(host: str, port: int, timeout_s: float, *, tls: bool, ended: bool = False) -> str:
    """What the server is by its answers to a few greetings; "" where that can't be told.

    `tls` has been tried. `ended`: the server has ended a connection; one that was only slow may speak TLS as well.
    """
    may_want_tls = ended and not tls
    hello = _hello() if tls else _client_hello()
    for message, answer in _answers(host, port, (_HTTP, _POSTGRES_TLS, hello), timeout_s):
        if _is_mongodb(answer) or _MONGODB_OVER_HTTP in answer:
            return _TLS if may_want_tls else ""
        if message == _POSTGRES_TLS and answer in (b"S", b"N"):
            return "a PostgreSQL server"
        if (name := _name_of(answer)) and (name != _TLS or may_want_tls):
            return name
    return ""


def _answers(host: str, port: int, messages: Iterable[bytes], timeout_s: float) -> Iterable[tuple[bytes, bytes]]:
    """What each message is answered with first, sent on a connection of its own, all at the same time."""
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for message in messages:
            with suppress(OSError):
                connection = stack.enter_context(socket.create_connection((host, port), timeout=timeout_s))
                connection.sendall(message)
                selector.register(connection, selectors.EVENT_READ, (connection, message))
        until_s = time.monotonic() + _PROBE_S
        while selector.get_map() and (rest_s := until_s - time.monotonic()) > 0:
            for key, _ in selector.select(rest_s):
                connection, message = key.data
                selector.unregister(connection)
                with suppress(OSError):
                    yield message, connection.recv(_READ_BYTES)


def _name_of(answer: bytes) -> str:
    """What a server is that says this first; "" where it can't be told."""
    for beginning, name in _WELL_KNOWN:
        if answer.startswith(beginning):
            return name
    if answer[:2] in (b"\x15\x03", b"\x16\x03"):  # an alert, or the server's part of a handshake
        return _TLS
    if _MYSQL.match(answer):
        return "a MariaDB server" if b"MariaDB" in answer else "a MySQL server"
    return ""


def _other(name: str) -> NoContact:
    if name == _TLS:
        return NoContact("the server wants TLS", hint="add tls=true; if it isn't MongoDB, check host and port")
    return NoContact(f"it is {name}", hint="check host and port; MongoDB's own port is 27017", answers_as=name)


def _is_mongodb(answer: bytes) -> bool:
    """Whether it begins as a reply of the protocol does."""
    if len(answer) < _HEADER_BYTES:
        return False
    length, _, answered, operation = struct.unpack_from("<iiii", answer)
    return answered == _REQUEST and _HEADER_BYTES <= length <= _MESSAGE_BYTES_MAX and operation in (_OP_REPLY, _OP_MSG)


def _hello() -> bytes:
    """The first message of every driver, which servers of all ages understand."""
    body = struct.pack("<i11sii", 0, b"admin.$cmd\0", 0, -1) + bson.encode({"ismaster": 1, "helloOk": True})
    return struct.pack("<iiii", _HEADER_BYTES + len(body), _REQUEST, 0, _OP_QUERY) + body


def _client_hello() -> bytes:
    """How a TLS connection begins."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()


def tls_context(tls: Tls) -> ssl.SSLContext:
    """How a connection is secured, as PyMongo makes it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = not (tls.allow_invalid_hostnames or tls.allow_invalid_certificates)
    if tls.allow_invalid_certificates:
        context.verify_mode = ssl.CERT_NONE
    if tls.certificate_key_file is not None:
        context.load_cert_chain(tls.certificate_key_file)
    if tls.ca_file is not None:
        context.load_verify_locations(tls.ca_file)
    else:
        context.load_default_certs()
    return context


def _words(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error if isinstance(error, ssl.SSLError) else error.strerror or error).lower()


def _resolution(error: socket.gaierror) -> str:
    """Why a name has no address, in words of PyMongo's errors."""
    return {
        socket.EAI_NONAME: "the host name is unknown",
        socket.EAI_AGAIN: "the host name can't be resolved",
    }.get(error.errno or 0, "the host name has no address")
