"""Owns the pause before a probe: until the server is done with what the load or the probe before it left behind.

Without it a probe pays for another one's checkpoint or dirty pages, and the order of the probes shows in the figures.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pymongo.errors import PyMongoError

from brimline.errors import TargetError
from brimline.execution.stop import StopToken
from brimline.monitor.server_status import COMMAND, read_status
from brimline.monitor.sql import DIALECTS
from brimline.servers import Deployment, control_client
from brimline.servers.sql_client import SqlError, open_client
from brimline.servers.sql_reading import ConnectionLost
from brimline.units import format_percentage
from brimline.wording import message

LIMIT_S_MIN = 10.0
LIMIT_S_MAX = 60.0
"""The time between WiredTiger's checkpoints: what isn't over by then comes from elsewhere."""
DIRTY_SHARE_CALM = 0.05
"""Dirty share of the cache up to which WiredTiger leaves it to the next checkpoint (`eviction_dirty_target`)."""
DIRTY_SHARE_MARGIN = 0.01
"""How far above the lowest dirty share that was seen the share counts as back there."""
_POLL_S = 0.25
_CONNECT_TIMEOUT_S = 2.0

Columns = Mapping[str, int | None]
Look = Callable[[], Columns]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolDown:
    """The pause before a probe, which no probe time counts. `waiting_for`: what kept the server from being calm."""

    waited_s: float
    calm: bool
    waiting_for: tuple[str, ...] = ()
    dirty_share: float | None = None


def cool_down_limit_s(window_s: float) -> float:
    """How long to wait at most before a window of this length: as long as itself, within bounds."""
    return min(max(window_s, LIMIT_S_MIN), LIMIT_S_MAX)


def cool_down(deployment: Deployment, *, limit_s: float, dirty_floor: float | None, stop: StopToken) -> CoolDown | None:
    """Waits until the server is calm, at most `limit_s`, or until `stop`; None where it doesn't show that it is.

    `dirty_floor` is the lowest dirty share at the end of earlier pauses, None at the first. A server that can't be
    asked is not waited for: whether it is there is the probe's own question.
    """
    if deployment.protocol in DIALECTS:
        return _cool_database_down(deployment, limit_s=limit_s, stop=stop)
    if deployment.protocol != "mongodb":
        return None
    try:
        with control_client(
            deployment.address,
            access=deployment.access,
            purpose="cool-down",
            connect_timeout_s=_CONNECT_TIMEOUT_S,
            command_timeout_s=limit_s,
        ) as client:
            return wait_until_calm(
                lambda: read_status(client.admin.command(dict(COMMAND))),
                limit_s=limit_s,
                dirty_floor=dirty_floor,
                stop=stop,
            )
    except PyMongoError as error:
        reason = message("the server doesn't say whether it is calm ({error})", error=type(error).__name__)
        return CoolDown(waited_s=0.0, calm=False, waiting_for=(reason,))


def _cool_database_down(deployment: Deployment, *, limit_s: float, stop: StopToken) -> CoolDown:
    """Until nobody is at work in an SQL database."""
    assert deployment.of_uri is not None  # noqa: S101 - it was found by one
    dialect = DIALECTS[deployment.protocol]
    try:
        with open_client(deployment.of_uri, database=dialect.home) as client:
            name = deployment.of_uri.database
            return wait_until_calm(
                lambda: _at_work(dialect.look(client, name), own=dialect.counts_itself),
                limit_s=limit_s,
                dirty_floor=None,
                stop=stop,
            )
    except (SqlError, ConnectionLost, TargetError) as error:
        reason = message("the server doesn't say whether it is calm ({error})", error=type(error).__name__)
        return CoolDown(waited_s=0.0, calm=False, waiting_for=(reason,))


def _at_work(columns: Columns, *, own: int) -> Columns:
    """Sessions as the operations that they are."""
    active = columns.get("connections_active")
    working = None if active is None else max(active - own, 0)
    return {"read_queue": columns.get("lock_waiters"), "read_tickets_out": working}


def wait_until_calm(
    look: Look,
    *,
    limit_s: float,
    dirty_floor: float | None,
    stop: StopToken,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> CoolDown:
    """Looks until nothing disturbs; `waiting_for` says what did last."""
    began_s = clock()
    waited_for: tuple[str, ...] = ()
    while True:
        columns = look()
        waited_s = clock() - began_s
        dirty = dirty_share(columns)
        disturbing = disturbances(columns, dirty_floor=dirty_floor)
        if not disturbing:
            return CoolDown(waited_s=waited_s, calm=True, waiting_for=waited_for, dirty_share=dirty)
        waited_for = disturbing
        if waited_s >= limit_s or stop.requested:
            return CoolDown(waited_s=waited_s, calm=False, waiting_for=disturbing, dirty_share=dirty)
        sleep(min(_POLL_S, limit_s - waited_s))


def disturbances(columns: Columns, *, dirty_floor: float | None) -> tuple[str, ...]:
    """What keeps a server from being calm, as far as it shows: a checkpoint, operations, dirty pages."""
    found: list[str] = []
    if columns.get("checkpoint_running"):
        found.append("a checkpoint runs")
    waiting = (columns.get("read_queue") or 0) + (columns.get("write_queue") or 0)
    if waiting:
        found.append(message("{count} operations wait for their turn", count=waiting))
    working = (columns.get("read_tickets_out") or 0) + (columns.get("write_tickets_out") or 0)
    if working:
        found.append(message("{count} operations are at work", count=working))
    dirty = dirty_share(columns)
    if dirty is not None and dirty > max(DIRTY_SHARE_CALM, (dirty_floor or 0.0) + DIRTY_SHARE_MARGIN):
        found.append(message("{share} of the cache is dirty", share=format_percentage(dirty)))
    return tuple(found)


def dirty_share(columns: Columns) -> float | None:
    """Dirty part of the cache; None where the server doesn't show it."""
    dirty, whole = columns.get("cache_bytes_dirty"), columns.get("cache_bytes_max")
    return dirty / whole if dirty is not None and whole else None
