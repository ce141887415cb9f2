"""Owns brimline's connections to SQL databases for what is not measured: statements in, rows out, bounded waits.

Both libraries follow their server's protocol and nothing else here; what differs between them ends in this file.
"""

import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Protocol, Self

import pg8000.native
import pymysql
import pymysql._auth
from pg8000.exceptions import DatabaseError, InterfaceError

from brimline.errors import BrimlineError, TargetError, on_one_line
from brimline.servers.access import Tls
from brimline.servers.connecting import connect, connection_error, in_time
from brimline.servers.contact import tls_context
from brimline.servers.deployment import COMMAND_TIMEOUT_S, CONNECT_TIMEOUT_S
from brimline.servers.sealing import SealingError, sealed
from brimline.servers.sql_reading import (
    LOGIN_BYTES_MAX,
    AnswerTooLong,
    AnswerTooSlow,
    Connection,
    ConnectionLost,
    TimelySocket,
    TimelyTls,
    await_answer,
)
from brimline.servers.target_uri import TargetUri

pymysql._auth.sha2_rsa_encrypt = sealed
Row = tuple[Any, ...]
CONTROL_SESSION = "brimline-control"
"""How a PostgreSQL server names the sessions of these connections; all others of brimline are a run's."""


class SqlError(Exception):
    """The server answered a statement with an error. `state` is the SQLSTATE, `code` MySQL's number, 0 elsewhere."""

    def __init__(self, message: str, *, state: str, code: int = 0) -> None:
        super().__init__(on_one_line(message))
        self.state, self.code = state, code

    @property
    def words(self) -> str:
        """What the server said, and under which code."""
        return f"{self} ({self.code or self.state})"


class SqlClient(Protocol):
    """One connection. Parameters stand as `%s` in statements of MySQL's dialect, and as `$1` in PostgreSQL's.

    `refused` is for its user to remember which statements the server doesn't understand.
    """

    refused: set[str]

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def rows(self, text: str, *parameters: Any) -> list[Row]:
        """The rows of one statement. Raises SqlError and ConnectionLost; so does `change`."""

    def named_rows(self, text: str, *parameters: Any) -> list[dict[str, Any]]:
        """The same by the names of their columns, in lower case."""

    def change(self, text: str, *parameters: Any) -> int:
        """Executes a statement and commits; how many rows it was about."""

    def prepare(self, text: str) -> None:
        """Has a statement read, which executes nothing. Parameters stand as the server's protocol has them."""

    @property
    def thread(self) -> int:
        """What the server calls the connection: MySQL's thread id, or the pid of PostgreSQL's process."""


class MysqlClient:
    """By PyMySQL; every statement commits by itself."""

    def __init__(self, target: TargetUri, connection: socket.socket, *, database: str | None, timeout_s: float) -> None:
        self.refused: set[str] = set()
        self._timeout_s = timeout_s
        login = target.access.login
        made: Any = Connection
        self._connection: Any = made(
            host=target.host,
            port=target.port,
            user="" if login is None else login.username,
            password=b"" if login is None else (login.password or "").encode(),  # text it would take for Latin-1
            database=database,
            ssl=None if target.tls is None else _timely(target.tls),
            ssl_disabled=target.tls is None,
            charset="utf8mb4",
            read_timeout=CONNECT_TIMEOUT_S,  # of the greeting: other servers wait for ours
            write_timeout=timeout_s,
            autocommit=True,
            defer_connect=True,
        )
        self._connection.connect(connection)
        self._connection._read_timeout = timeout_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(pymysql.MySQLError, OSError):
            self._connection.close()

    def rows(self, text: str, *parameters: Any) -> list[Row]:
        """See `SqlClient`."""
        return self._executed(text, parameters)[1]

    def named_rows(self, text: str, *parameters: Any) -> list[dict[str, Any]]:
        """See `SqlClient`."""
        names, rows, _ = self._executed(text, parameters)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def change(self, text: str, *parameters: Any) -> int:
        """See `SqlClient`."""
        return self._executed(text, parameters)[2]

    def prepare(self, text: str) -> None:
        """See `SqlClient`."""
        try:
            self.change("PREPARE brimline FROM %s", text)
        except SqlError as error:
            if error.code != _NOT_PREPARED:
                raise
        else:
            self.change("DEALLOCATE PREPARE brimline")

    @property
    def thread(self) -> int:
        """See `SqlClient`."""
        return int(self._connection.thread_id())

    def _executed(self, text: str, parameters: Sequence[Any]) -> tuple[list[str], list[Row], int]:
        await_answer(within_s=self._timeout_s)
        try:
            with self._connection.cursor() as cursor:
                count = cursor.execute(text, parameters or None)
                names = [str(column[0]).lower() for column in cursor.description or ()]
                return names, list(cursor.fetchall()) if names else [], count
        except pymysql.err.InterfaceError as error:
            raise ConnectionLost from error
        except pymysql.MySQLError as error:
            told = _of_mysql(error)
            raise (ConnectionLost if told.code in _NOT_REACHED else told) from error
        except ConnectionLost:
            raise
        except Exception as error:  # whatever the library makes of bytes that are no answer
            raise ConnectionLost from error


class PostgresClient:
    """By pg8000; every statement commits by itself."""

    def __init__(self, target: TargetUri, connection: socket.socket, *, database: str | None, timeout_s: float) -> None:
        self.refused: set[str] = set()
        self._timeout_s = timeout_s
        login = target.access.login
        made: Any = pg8000.native.Connection
        self._connection: Any = made(
            "postgres" if login is None else login.username,
            host=target.host,
            port=target.port,
            database=database or "postgres",
            password=None if login is None else login.password,
            ssl_context=False if target.tls is None else _timely(target.tls),
            sock=connection,
            application_name=CONTROL_SESSION,
        )
        self._connection._usock.settimeout(timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(InterfaceError, OSError):
            self._connection.close()

    def rows(self, text: str, *parameters: Any) -> list[Row]:
        """See `SqlClient`."""
        return self._executed(text, parameters)[1]

    def named_rows(self, text: str, *parameters: Any) -> list[dict[str, Any]]:
        """See `SqlClient`."""
        names, rows, _ = self._executed(text, parameters)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def change(self, text: str, *parameters: Any) -> int:
        """See `SqlClient`."""
        return self._executed(text, parameters)[2]

    def prepare(self, text: str) -> None:
        """See `SqlClient`."""
        with self._errors():
            name, *_ = self._connection.prepare_statement(text, ())
            self._connection.close_prepared_statement(name)

    @property
    def thread(self) -> int:
        """See `SqlClient`."""
        return int(self.rows("SELECT pg_backend_pid()")[0][0])

    def _executed(self, text: str, parameters: Sequence[Any]) -> tuple[list[str], list[Row], int]:
        connection = self._connection
        with self._errors():
            done = connection.execute_unnamed(text, vals=parameters) if parameters else connection.execute_simple(text)
        names = [str(column["name"]).lower() for column in done.columns or ()]
        return names, [tuple(row) for row in done.rows or ()], max(int(done.row_count), 0)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        await_answer(within_s=self._timeout_s)
        try:
            yield
        except DatabaseError as error:
            raise _of_postgres(error) from error
        except ConnectionLost:
            raise
        except Exception as error:  # whatever the library makes of bytes that are no answer
            raise ConnectionLost from error


_NOT_PREPARED = 1295
"""ER_UNSUPPORTED_PS: a statement that was read, and is one that MySQL doesn't prepare."""
_CLIENTS: dict[str, Callable[..., SqlClient]] = {"mysql": MysqlClient, "postgres": PostgresClient}


def open_client(target: TargetUri, *, database: str | None = None, timeout_s: float = COMMAND_TIMEOUT_S) -> SqlClient:
    """A connection to `database`, else to the address' own, else to none.

    Raises:
        TargetError: nothing answers, no TLS connection can be had, or the server refuses the login or the database.
    """
    connection = TimelySocket(fileno=connect(target).detach())
    connection.settimeout(CONNECT_TIMEOUT_S)
    await_answer(LOGIN_BYTES_MAX)
    database = database or target.database or None
    try:
        with ExitStack() as opened, in_time(connection, limit_s=COMMAND_TIMEOUT_S):
            opened.push(connection)
            client = _CLIENTS[target.protocol](target, connection, database=database, timeout_s=timeout_s)
            opened.pop_all()
        return client
    except BrimlineError:
        raise
    except SealingError as error:
        raise TargetError(
            f"no password can be given to the server at {target.redacted} without TLS: {error}",
            hint="set tls for this server: add tls=true to the address",
        ) from error
    except pymysql.MySQLError as error:
        raise _refused(_of_mysql(error), target) from error
    except DatabaseError as error:
        raise _refused(_of_postgres(error), target) from error
    except InterfaceError as error:
        raise _not_opened(str(error), target) from error
    except OSError as error:
        raise connection_error(error, target) from error
    except Exception as error:
        # What the server asks for the library hasn't, such as a way of logging in; or it makes nothing of the bytes.
        raise _not_opened(str(error), target) from error


@contextmanager
def sql_errors(doing: str) -> Iterator[None]:
    """Turns trouble with the server into a TargetError that says what was being done."""
    try:
        yield
    except SqlError as error:
        raise TargetError(
            f"{doing}: the server refuses: {error.words}",
            hint="check what the user may do, and that the server's disk isn't full",
        ) from error
    except AnswerTooLong as error:
        raise TargetError(f"{doing}: {error}", hint="ask for fewer rows, or for fewer columns") from error
    except AnswerTooSlow as error:
        raise TargetError(f"{doing}: {error}", hint="check the server's load, and the network to it") from error
    except ConnectionLost as error:
        raise TargetError(f"{doing}: the server doesn't answer", hint="check that it still runs") from error


def _timely(tls: Tls) -> ssl.SSLContext:
    """How a connection is secured whose reads end in time."""
    context = tls_context(tls)
    context.sslsocket_class = TimelyTls
    return context


def _of_mysql(error: pymysql.MySQLError) -> SqlError:
    code, *words = error.args or (0, "")
    message = str(words[0]) if words else str(code)
    return SqlError(message, state="", code=code if isinstance(code, int) else 0)


def _of_postgres(error: DatabaseError) -> SqlError:
    told = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    return SqlError(str(told.get("M", error)), state=str(told.get("C", "")))


_DENIED = {1045, 1698, 3118, "28000", "28P01"}
_NO_RIGHTS = {1044, "42501"}
"""A login that was taken, and a database that is not this user's."""
_WANTS_TLS = {3159}
"""ER_SECURE_TRANSPORT_REQUIRED."""
_NO_DATABASE = {1049, "3D000"}
_TOO_MANY = {1040, 1203, "53300"}
_NO_SUCH_LOGIN = {2059}
"""PyMySQL's code for a way of logging in that it hasn't."""
_NOT_REACHED = {2002, 2003, 2006, 2013, 2026}
"""Codes that PyMySQL gives itself: no connection, it broke, no TLS."""


def _refused(error: SqlError, target: TargetUri) -> TargetError:
    code = error.code or error.state
    login = target.access.login
    if target.tls is None and (code in _WANTS_TLS or "no encryption" in str(error)):
        return TargetError(f"the server at {target.redacted} wants TLS", hint="add tls=true to the address")
    if code in _DENIED | _NO_RIGHTS and login is None:
        return TargetError(
            f"the server at {target.redacted} wants a user name and a password",
            hint="name the user in the address, USER@ before the host, and give the password by BRIMLINE_PASSWORD or "
            "--password-file FILE",
        )
    if code in _DENIED:
        return TargetError(
            f"the server at {target.redacted} does not accept the user name and the password: {error}",
            hint="check both, and from where the user may connect"
            + ("; one that has to use TLS needs tls=true in the address" if target.tls is None else ""),
        )
    if code in _NO_RIGHTS and login is not None:
        return TargetError(
            f"the server at {target.redacted} does not let this user into the database: {error}",
            hint="grant the user rights there, or name another database in the address",
        )
    if code in _NO_DATABASE:
        return TargetError(
            f"the server at {target.redacted} has no database of that name",
            hint="create it, or name another in the address or by database in the workload",
        )
    if code in _TOO_MANY:
        return TargetError(
            f"the server at {target.redacted} takes no more connections: {error}", hint="raise its max_connections"
        )
    if code in _NO_SUCH_LOGIN:
        return _no_such_login(str(error), target)
    if code in _NOT_REACHED or "SSL" in str(error):
        return _not_opened(str(error), target)
    return TargetError(f"the server at {target.redacted} refuses: {error.words}", hint="check what its log says")


def _no_such_login(words: str, target: TargetUri) -> TargetError:
    named = re.search(r"plugin '(?:b')?([^']+)'", words)
    way = named[1] if named else "client_ed25519"
    return TargetError(
        f"the server at {target.redacted} wants this user to log in by {way}, which brimline does not have",
        hint="let the user log in by mysql_native_password or caching_sha2_password; in MariaDB: ALTER USER NAME "
        "IDENTIFIED VIA mysql_native_password USING PASSWORD('…')",
    )


def _not_opened(words: str, target: TargetUri) -> TargetError:
    if "ed25519" in words:  # PyMySQL wants a library of its own for it
        return _no_such_login(words, target)
    plain = connection_error(OSError(words), target)
    if plain.message.startswith("no TLS connection"):
        return plain
    lower = words.lower()
    if target.tls is not None and ("refuses ssl" in lower or "support ssl" in lower or "ssl" in lower):
        return TargetError(
            f"no TLS connection to {target.redacted}: the server has no TLS",
            hint="leave tls=true out, or start the server with TLS",
        )
    if target.tls is None and ("secure" in lower or "cryptography" in lower or "ssl" in lower or "encrypt" in lower):
        return TargetError(
            f"the server at {target.redacted} wants TLS: {on_one_line(words)}", hint="add tls=true to the address"
        )
    name = {"mysql": "MariaDB or MySQL", "postgres": "PostgreSQL"}[target.protocol]
    return TargetError(
        f"the server at {target.redacted} does not answer as {name}: {on_one_line(words)}",
        hint="check scheme, host and port",
    )
