"""Owns looking at a server again and again, as mongostat does: an interval between two looks at `serverStatus`."""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from pymongo.errors import OperationFailure, PyMongoError

from brimline.compat.mongostat.columns import StatInterval
from brimline.errors import TargetError
from brimline.servers import PasswordSource, reached
from brimline.servers.deployment import refusal
from brimline.servers.refusal import NOT_ALLOWED_CODES
from brimline.servers.uri import ServerUri
from brimline.units import NS_PER_S, format_duration

CONNECT_TIMEOUT_S = 3.0
"""How long a server that has stopped answering is tried before that is said."""
STILL_S_MIN = 0.25
"""How much too late a look is at least where it is said that brimline itself did not run."""


def intervals(
    uri: str,
    *,
    password: PasswordSource | None,
    interval_s: float,
    rows: int | None,
    notice: Callable[[str], None],
) -> Iterator[StatInterval]:
    """What the server at `uri` did, interval by interval; `rows` of them, None: without an end.

    A server that stops answering is waited for, which `notice` is told. Raises UsageError and TargetError.
    """
    row_count = 0
    with reached(uri, password=password, purpose="stat", connect_timeout_s=CONNECT_TIMEOUT_S) as (client, server):
        before: Mapping[str, Any] | None = _first_status(client.admin.command, server)
        seen_s = next_s = _now_s()
        silent = False
        while rows is None or row_count < rows:
            next_s = max(next_s + interval_s, _now_s())
            time.sleep(max(0.0, next_s - _now_s()))
            late_s = _now_s() - next_s
            if late_s >= STILL_S_MIN and before is not None:
                notice(f"brimline itself did not run for {format_duration(late_s * NS_PER_S)}: "
                       "the next line is over that time as well")  # fmt: skip
            if late_s > interval_s / 2:  # no line is over what is left of an interval
                next_s += late_s
            try:
                after = _status(client.admin.command, server)
            except PyMongoError as error:
                if not silent:
                    notice(f"{server.address} does not answer ({type(error).__name__}): waiting for it")
                before, silent = None, True
                continue
            now_s = _now_s()
            if silent:
                notice(f"{server.address} answers again")
                silent = False
            if before is not None:
                yield StatInterval(
                    host=server.address,
                    before=before,
                    after=after,
                    elapsed_s=now_s - seen_s,
                    at=datetime.now().astimezone(),
                )
                row_count += 1
            before, seen_s = after, now_s


def _now_s() -> float:
    """On a clock that nobody sets, and that goes on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _first_status(command: Callable[[str], dict[str, Any]], server: ServerUri) -> Mapping[str, Any]:
    try:
        return _status(command, server)
    except PyMongoError as error:
        raise TargetError(
            f"the server at {server.redacted} does not show its state: {type(error).__name__}",
            hint="check that it is a MongoDB server, and that it still runs",
        ) from error


def _status(command: Callable[[str], dict[str, Any]], server: ServerUri) -> Mapping[str, Any]:
    """Raises PyMongoError when the server doesn't answer, TargetError when it refuses."""
    try:
        return command("serverStatus")
    except OperationFailure as error:
        if error.code in NOT_ALLOWED_CODES:
            if server.access.login is None:
                raise refusal(error, server.redacted, server.access) from error
            raise TargetError(
                "the server does not show its state to this user",
                hint="grant the role clusterMonitor, or use another user",
            ) from error
        raise
