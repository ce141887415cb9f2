"""Owns what a user may do, by what the server says of its privileges, so that it is known before anything is done.

Source: MongoDB's manual on `connectionStatus` and on the resources of privileges. Without access control there is no
user, and a server that doesn't tell is taken at its later word: then nothing is known to be missing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymongo.database import Database
from pymongo.errors import OperationFailure

OF_THE_SERVER = "system."
"""How names of collections begin that a privilege on a whole database doesn't cover."""
BUCKETS = "system.buckets."
"""How those begin that hold the documents of time series; they have a kind of resource of their own."""
_EVERYTHING = "anyAction"


@dataclass(frozen=True, slots=True)
class Rights:
    """Of the user of a connection. `privileges`: None where nobody is logged in, or the server doesn't say."""

    privileges: Sequence[Mapping[str, Any]] | None

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
            for privilege in self.privileges
            if privilege["resource"].get("anyResource") or covers(privilege["resource"])
            for action in privilege["actions"]
        }
        return [] if _EVERYTHING in granted else sorted(set(actions) - granted)


def rights_of(database: Database[dict[str, Any]]) -> Rights:
    """Those of the user of its client. Raises PyMongoError where the server doesn't answer."""
    try:
        status = database.command({"connectionStatus": 1, "showPrivileges": True})
    except OperationFailure:
        return Rights(None)
    known = status.get("authInfo") or {}
    privileges = known.get("authenticatedUserPrivileges")
    return Rights(privileges if known.get("authenticatedUsers") and isinstance(privileges, list) else None)


def _covers(resource: Mapping[str, Any], database: str, collection: str) -> bool:
    if resource.get("db", "") not in ("", database):
        return False
    if "system_buckets" in resource:
        return collection.startswith(BUCKETS) and resource["system_buckets"] in ("", collection.removeprefix(BUCKETS))
    of = resource.get("collection")
    return of == collection or (of == "" and not collection.startswith(OF_THE_SERVER))
