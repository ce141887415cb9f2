"""Owns what a user may do, by what the server says of its privileges, so that it is known before anything is done.

Source: MongoDB's manual on `connectionStatus` and on the resources of privileges. Without access control there is no
user, and a server that doesn't tell is taken at its later word: then nothing is known to be missing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymongo.database import Database
from pymongo.errors import OperationFailure

from brimline.servers.deployment import engine_of
from brimline.servers.distrust import UnreadableReply

OF_THE_SERVER = "system."
"""How names of collections begin that a privilege on a whole database doesn't cover."""
BUCKETS = "system.buckets."
"""How those begin that hold the documents of time series; they have a kind of resource of their own."""
_EVERYTHING = "anyAction"
_NOT_OF_ALL = ("config", "local")
"""Databases that what is granted on every database doesn't cover."""

Privilege = tuple[Mapping[str, Any], frozenset[str]]
"""A resource, and what may be done to it by MongoDB's names of actions."""


@dataclass(frozen=True, slots=True)
class Rights:
    """Of the user of a connection. `privileges`: None where nobody is logged in, or the server doesn't say."""

    privileges: Sequence[Privilege] | None

    def lacking(self, actions: Iterable[str], *, database: str, collection: str = "") -> list[str]:
        """Which of `actions`, by MongoDB's names, may not be done to a collection, "": to the database; sorted."""
        return self._lacking(actions, lambda resource: _covers(resource, database, collection))

    def lacking_of_cluster(self, actions: Iterable[str]) -> list[str]:
        """Likewise of what is done to the server or the set itself."""
        return self._lacking(actions, lambda resource: bool(resource.get("cluster")))

    def _lacking(self, actions: Iterable[str], covers: Callable[[Mapping[str, Any]], bool]) -> list[str]:
        if self.privileges is None:
            return []
        granted = {
            action
            for resource, actions in self.privileges
            if resource.get("anyResource") or covers(resource)
            for action in actions
        }
        return [] if _EVERYTHING in granted else sorted(set(actions) - granted)


def rights_of(database: Database[dict[str, Any]]) -> Rights:
    """Those of the user of its client. Raises PyMongoError where the server doesn't answer, or not in that form."""
    try:
        status = database.command({"connectionStatus": 1, "showPrivileges": True})
    except OperationFailure:
        return Rights(None)
    try:
        known = status.get("authInfo") or {}
        told = known.get("authenticatedUserPrivileges")
        if not known.get("authenticatedUsers") or not isinstance(told, list):
            return Rights(None)
        if not told and engine_of(database.command("buildInfo"), {}) == "FerretDB":
            return Rights(None)  # 1.x knows users, and tells of no privilege
        return Rights([(dict(each["resource"]), frozenset(each["actions"])) for each in told])
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise UnreadableReply(f"the user's rights can't be read ({type(error).__name__})") from error


def _covers(resource: Mapping[str, Any], database: str, collection: str) -> bool:
    if resource.get("db", "") not in ("", database):
        return False
    if resource.get("db") == resource.get("collection") == "" and database in _NOT_OF_ALL:
        return False
    if "system_buckets" in resource:
        return collection.startswith(BUCKETS) and resource["system_buckets"] in ("", collection.removeprefix(BUCKETS))
    of = resource.get("collection")
    return of == collection or (of == "" and not collection.startswith(OF_THE_SERVER))
