"""Owns the question whether the user may do all that is about to be done, before the first of it is done.

Source: MongoDB's manual on `connectionStatus` and on the resources of privileges. Without access control there is no
user, and a server that doesn't tell is taken at its later word.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pymongo.errors import OperationFailure

from brimline.dataset.access import DataDatabase, target_errors
from brimline.errors import TargetError

_EVERYTHING = "anyAction"
_OF_ADMINS = frozenset({"bypassDocumentValidation", "collMod"})
"""Beyond readWrite."""


def require_rights(database: DataDatabase, collection: str, actions: Iterable[str]) -> None:
    """Raises TargetError where the user may not do all of `actions`, by MongoDB's names, to the collection."""
    granted = _granted(database, collection)
    if granted is None or _EVERYTHING in granted:
        return
    if missing := sorted(set(actions) - granted):
        roles = "the roles readWrite and dbAdmin" if not _OF_ADMINS.isdisjoint(missing) else "the role readWrite"
        raise TargetError(
            f"the user may not do all that {database.name}.{collection} needs: {', '.join(missing)} isn't granted",
            hint=f"nothing was changed; grant it, as {roles} on {database.name} would",
        )


def _granted(database: DataDatabase, collection: str) -> set[str] | None:
    """The actions that the user may do there; None where nobody is logged in, or the server doesn't say."""
    with target_errors("asking for the user's rights"):
        try:
            status = database.command({"connectionStatus": 1, "showPrivileges": True})
        except OperationFailure:
            return None
        known = status.get("authInfo") or {}
        privileges = known.get("authenticatedUserPrivileges")
        if not known.get("authenticatedUsers") or not isinstance(privileges, list):
            return None
        return {
            action
            for privilege in privileges
            if _covers(privilege["resource"], database.name, collection)
            for action in privilege["actions"]
        }


def _covers(resource: Mapping[str, Any], database: str, collection: str) -> bool:
    if resource.get("anyResource"):
        return True
    return resource.get("db") in ("", database) and resource.get("collection") in ("", collection)
