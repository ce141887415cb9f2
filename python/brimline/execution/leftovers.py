"""Owns what an interference experiment leaves on a server when it is killed: found by its own mark, and removed.

A background's collection has a manifest that names the process it belongs to. Only a collection with the background's
name, such a manifest, and a process that is known to have ended is removed; everything else is left alone.
"""

from dataclasses import dataclass

from pymongo.errors import OperationFailure

from brimline.dataset.access import collection_exists, target_errors
from brimline.dataset.manifest import MANIFEST_COLLECTION
from brimline.errors import UsageError
from brimline.execution.background import BACKGROUND_COLLECTION
from brimline.servers import Deployment, control_client
from brimline.servers.deployment import Client
from brimline.servers.owner import Owner, Scope

_NAMES = {"$regex": rf"^{BACKGROUND_COLLECTION}(_\d+)?$"}
_SYSTEM_DATABASES = frozenset({"admin", "config", "local"})


@dataclass(frozen=True, slots=True)
class Leftover:
    """A collection that a process left."""

    namespace: str
    pid: int


def remove_leftovers(deployment: Deployment, *, database: str) -> list[Leftover]:
    """Removes the collections of backgrounds whose process was killed, in all databases that can be read.

    Raises UsageError when another process is using the one in `database`, TargetError when the server refuses.
    """
    here, removed = Scope.current(), []
    with (
        control_client(deployment.address, access=deployment.access, purpose="background") as client,
        target_errors("looking for leftovers"),
    ):
        for name in sorted({*_databases(client), database} - _SYSTEM_DATABASES):
            manifests = client[name][MANIFEST_COLLECTION]
            for marked in list(manifests.find({"_id": _NAMES, "owner": {"$exists": True}})):
                collection, owner = str(marked["_id"]), Owner.from_document(marked["owner"])
                if owner is None:
                    continue
                if owner.is_gone(here):
                    client[name].drop_collection(collection)
                    manifests.delete_one({"_id": collection, "owner": marked["owner"]})
                    removed.append(Leftover(f"{name}.{collection}", owner.process.pid))
                elif name == database and collection_exists(client[name], collection):
                    raise UsageError(
                        f"{name}.{collection} belongs to the brimline of process {owner.process.pid} on "
                        f"{owner.scope.host}, which may still be at work",
                        hint="wait until it has ended, or take another database; if it is gone, drop the collection",
                    )
    return removed


def _databases(client: Client) -> list[str]:
    """Names of databases; none where the user may not list them."""
    try:
        return client.list_database_names()
    except OperationFailure:
        return []
