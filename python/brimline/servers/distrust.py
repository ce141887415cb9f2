"""Owns what PyMongo takes a server's word for and brimline doesn't.

PyMongo makes room for as many bytes as a server announces, up to a length that the server chose itself, and derives
keys with as many iterations as it is told to. It has no setting for either, so both are bounded where it reads them,
for every client of the process: no server that means well comes near. An answer of another form than it expects leaves
it as whatever error its own code met; here that becomes an error of the server's. And it waits for a server that is
gone as long as the work for which it is wanted may take; here it is as long as connecting may. A thread that can't be
had it waits for without an end; here it is an error. A server that is at its limit of connections closes a further one
at once, which is an error of PyMongo's; here it is asked again, as long as connecting may take.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import pymongo
from pymongo import ReadPreference, periodic_executor
from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError
from pymongo.server_description import ServerDescription
from pymongo.synchronous import auth, command_cursor, cursor, monitor, pool, topology

from brimline.errors import ResourceError
from brimline.threads import BoundedThread

REPLY_BYTES_MAX = 48_000_000
"""What every server announces as its longest message."""
ITERATIONS_MAX = 1_000_000
"""The engine's bound as well (`crates/wire/src/scram.rs`). MongoDB's default is 15 000."""

_REST_S = 0.1

_receive = vars(pool)["receive_message"]
_parse_scram = vars(auth)["_parse_scram_response"]
_check = vars(monitor.Monitor)["_run"]
_selection_timeout_s = topology.Topology.get_server_selection_timeout


_UNBELIEVABLE = {
    "invalid nonce": "it answers another authentication than this one",
    "invalid signature": "it does not prove that it knows the user's password",
    "iteration": f"it asks for fewer iterations than 4096, or more than {ITERATIONS_MAX}",
    "sasl conversation failed": "its authentication comes to no end",
}
"""What PyMongo says of a server that can't know the password, in words of the engine."""


def unbelievable(error: OperationFailure) -> str:
    """Why the server's part of an authentication is not believed; "": that is not what is wrong."""
    text = str(error).lower()
    return next((words for pattern, words in _UNBELIEVABLE.items() if pattern in text), "")


class UnreadableReply(PyMongoError):
    """A server answered with something that has not the form of an answer."""


_PAUSED = "connection pool paused"
_CLOSED = ("connection closed", "Connection reset by peer", "Broken pipe", "EOF occurred", "has been closed (EOF)")
"""How PyMongo, the system and TLS put it that the other side closed a connection."""
_TURNED_AWAY = "BrimlineTurnedAway"


def is_turned_away(error: PyMongoError) -> bool:
    """Whether a control client gave up because the server had closed each connection at once, to the last."""
    return error.has_error_label(_TURNED_AWAY)


def _is_closed_at_once(server: Any, error: AutoReconnect) -> bool:
    """Whether the server took a connection and closed it at once, as one does that has its most connections.

    Once PyMongo has lost the one that looks whether the server is there, it makes no others, and says that it pauses.
    How it was lost that look tells, as words alone; nothing there: the server is back since.
    """
    if _PAUSED in str(error):
        lost = server._monitor._server_description.error
        return lost is None or _says_closed(lost)
    return error.has_error_label("SystemOverloadedError") and _says_closed(error)


def _says_closed(error: Exception) -> bool:
    return any(words in str(error) for words in _CLOSED)


class Waiting:
    """How long the clients of this process waited in all because they were turned away."""

    def __init__(self) -> None:
        self._lock, self._waited_s = threading.Lock(), 0.0

    def add(self, waited_s: float) -> None:
        """Notes some of it."""
        with self._lock:
            self._waited_s += waited_s

    def take_s(self) -> float:
        """What came together since this was asked last."""
        with self._lock:
            taken, self._waited_s = self._waited_s, 0.0
        return taken


TURNED_AWAY = Waiting()


class ControlClient(pymongo.MongoClient[dict[str, Any]]):
    """A client that knows no errors but PyMongo's, whatever a server sends."""

    # Every command is sent and its answer read within one of these, but for what a cursor reads of it afterwards.

    def _checkout(self, server: Any, *others: Any) -> Any:
        return _readable(self._patient(server, partial(super()._checkout, server, *others)))

    @contextmanager
    def _patient(self, server: Any, checkout: Callable[[], AbstractContextManager[Any]]) -> Iterator[Any]:
        """Asks again while the server turns connections away, as long as it would be waited for to be there at all.

        Those of a run that is over may be counted against its limit for a moment. One that is not there any more in the
        end was about to go, and turned nobody away.
        """
        began_s, waited_s = time.monotonic(), 0.0
        with ExitStack() as entered:
            while True:
                try:
                    connection = entered.enter_context(checkout())
                    break
                except AutoReconnect as error:
                    if not _is_closed_at_once(server, error):
                        raise
                    if waited_s >= self.options.server_selection_timeout:
                        error._add_error_label(_TURNED_AWAY)
                        TURNED_AWAY.add(waited_s)
                        raise
                    server.request_check()  # PyMongo looks every 10 s whether it is there
                    time.sleep(_REST_S)
                    waited_s = time.monotonic() - began_s
            TURNED_AWAY.add(waited_s)
            yield connection

    def _conn_from_server(self, preference: Any, server: Any, *others: Any) -> Any:
        return _readable(self._patient(server, partial(super()._conn_from_server, preference, server, *others)))

    def _end_sessions(self, session_ids: list[Any]) -> None:
        """Those of a server that is gone went with it: nobody waits for it only to say good-bye."""
        if self.topology_description.has_readable_server(ReadPreference.PRIMARY_PREFERRED):
            super()._end_sessions(session_ids)


@contextmanager
def _readable(checkout: AbstractContextManager[Any]) -> Iterator[Any]:
    try:
        with checkout as connection:
            yield connection
    except PyMongoError:
        raise
    except Exception as error:
        raise _no_answer(error) from error


def _no_answer(error: Exception) -> Exception:
    """What an error that isn't PyMongo's means: no memory or thread here, or an answer without the form of one."""
    return ResourceError.behind(error) or UnreadableReply(f"the answer can't be read ({type(error).__name__})")


def _read_by_cursor(send: Callable[[Any, Any], None]) -> Any:
    """A cursor's sending of a command, and its taking the answer apart."""

    def send_and_read(self: Any, operation: Any) -> None:
        try:
            send(self, operation)
        except PyMongoError:
            raise
        except Exception as error:
            raise _no_answer(error) from error

    return send_and_read


def _receive_bounded(connection: Any, request_id: int | None, bytes_max: int = REPLY_BYTES_MAX) -> Any:
    return _receive(connection, request_id, min(bytes_max, REPLY_BYTES_MAX))


def _parse_scram_bounded(response: bytes) -> dict[bytes, bytes]:
    parsed: dict[bytes, bytes] = _parse_scram(response)
    if int(parsed.get(b"i", 0)) > ITERATIONS_MAX:
        raise OperationFailure(f"the server asks for more than {ITERATIONS_MAX} iterations")
    return parsed


def _check_readable(self: Any) -> None:
    """One look of PyMongo's own watch over a server, whose thread would end with what it can't compare."""
    try:
        _check(self)
    except Exception as error:
        unreadable = UnreadableReply(f"what the server says of itself can't be read ({type(error).__name__})")
        self._server_description = ServerDescription(self._server_description.address, error=unreadable)
        self._topology.on_change(self._server_description, reset_pool=True)


def _selection_timeout_bounded_s(self: Any) -> float:
    """Work that may take an hour (`pymongo.timeout`) doesn't wait an hour for a server that is gone."""
    settings_s: float = self._settings.server_selection_timeout
    return min(float(_selection_timeout_s(self)), settings_s)


_Cursor, _CommandCursor = cursor.Cursor, command_cursor.CommandCursor
_Cursor._send_message = _read_by_cursor(_Cursor._send_message)  # type: ignore[method-assign]
_CommandCursor._send_message = _read_by_cursor(_CommandCursor._send_message)  # type: ignore[method-assign]
monitor.Monitor._run = _check_readable  # type: ignore[method-assign]
topology.Topology.get_server_selection_timeout = _selection_timeout_bounded_s  # type: ignore[method-assign]
vars(periodic_executor)["threading"] = SimpleNamespace(**{**vars(threading), "Thread": BoundedThread})
vars(pool)["receive_message"] = _receive_bounded
vars(auth)["_parse_scram_response"] = _parse_scram_bounded
