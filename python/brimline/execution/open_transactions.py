"""Owns the end of transactions that a run left open at the server.

One that was under way when its run was broken off, or whose answer never came, keeps its documents until the server
gives it up, a minute by default: what is done there meanwhile would meet it, or wait for it.
"""

from collections.abc import Sequence
from contextlib import suppress

from bson.binary import UUID_SUBTYPE, Binary
from pymongo.errors import PyMongoError

from brimline.errors import TargetError
from brimline.servers import Deployment, control_client, primary_now

_SESSIONS_AT_ONCE = 1000


def end_transactions(deployment: Deployment, sessions: Sequence[bytes]) -> None:
    """Ends `sessions`, by their ids, and what they left open. A server that refuses or is gone keeps them: no error."""
    if not sessions:
        return
    with suppress(PyMongoError, TargetError):
        primary = primary_now(deployment)
        with control_client(primary.address, access=primary.access) as client:
            for first in range(0, len(sessions), _SESSIONS_AT_ONCE):
                ids = [{"id": Binary(each, UUID_SUBTYPE)} for each in sessions[first : first + _SESSIONS_AT_ONCE]]
                client.admin.command({"killSessions": ids})
