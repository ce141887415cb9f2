"""Owns what PyMongo takes a server's word for and brimline doesn't.

PyMongo makes room for as many bytes as a server announces, up to a length that the server chose itself, and derives
keys with as many iterations as it is told to. It has no setting for either, so both are bounded where it reads them,
for every client of the process: no server that means well comes near. An answer of another form than it expects leaves
it as whatever error its own code met; here that becomes an error of the server's.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pymongo
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.synchronous import auth, pool

REPLY_BYTES_MAX = 48_000_000
"""What every server announces as its longest message."""
ITERATIONS_MAX = 1_000_000
"""The engine's bound as well (`crates/wire/src/scram.rs`). MongoDB's default is 15 000."""

_receive = vars(pool)["receive_message"]
_parse_scram = vars(auth)["_parse_scram_response"]


class UnreadableReply(PyMongoError):
    """A server answered with something that has not the form of an answer."""


class ControlClient(pymongo.MongoClient[dict[str, Any]]):
    """A client that knows no errors but PyMongo's, whatever a server sends."""

    # Every command is sent and its answer read within one of these.

    def _checkout(self, *arguments: Any) -> Any:
        return _readable(super()._checkout(*arguments))

    def _conn_from_server(self, *arguments: Any) -> Any:
        return _readable(super()._conn_from_server(*arguments))


@contextmanager
def _readable(checkout: AbstractContextManager[Any]) -> Iterator[Any]:
    try:
        with checkout as connection:
            yield connection
    except PyMongoError:
        raise
    except Exception as error:
        raise UnreadableReply(f"the answer can't be read ({type(error).__name__})") from error


def _receive_bounded(connection: Any, request_id: int | None, bytes_max: int = REPLY_BYTES_MAX) -> Any:
    return _receive(connection, request_id, min(bytes_max, REPLY_BYTES_MAX))


def _parse_scram_bounded(response: bytes) -> dict[bytes, bytes]:
    parsed: dict[bytes, bytes] = _parse_scram(response)
    if int(parsed.get(b"i", 0)) > ITERATIONS_MAX:
        raise OperationFailure(f"the server asks for more than {ITERATIONS_MAX} iterations")
    return parsed


vars(pool)["receive_message"] = _receive_bounded
vars(auth)["_parse_scram_response"] = _parse_scram_bounded
