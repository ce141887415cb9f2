"""Owns how large the data of a collection is, on all servers that hold a part of it, after a checkpoint or without.

What a server says of files is what they were at its last checkpoint: a collection of megabytes that was loaded a second
ago takes 4 kB by it. So whoever wants sizes that are true has one taken first.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pymongo.errors import OperationFailure, PyMongoError

from brimline.monitor.namespace import namespace_document
from brimline.monitor.part_counts import PartCounts
from brimline.servers import page_cache
from brimline.servers.answers import refusal_name
from brimline.servers.deployment import Client, Deployment, control_client

CHECKPOINT_TAKEN = "taken"
"""What `checkpoint` says where one was; else it says why there was none."""
CHECKPOINT_NOT_NEEDED = "at once"
"""What it says of a database whose files have their size when something is written, not at its next checkpoint."""
_CHECKPOINT_TIMEOUT_S = 600.0
_ADDED = {
    "dbStats": ("objects", "dataSize", "storageSize", "indexSize", "totalSize"),
    "collStats": ("size", "count", "storageSize", "freeStorageSize", "numOrphanDocs", "totalIndexSize", "totalSize"),
}
"""What several servers have together; all else is said as the first one has it."""
_PART_SIZES = {
    "documents": "count",
    "data_bytes": "size",
    "storage_bytes": "storageSize",
    "index_bytes": "totalIndexSize",
}
"""Of one server, by the names of `collStats`."""


def data_sizes(
    deployment: Deployment,
    *,
    database: str,
    collection: str,
    checkpoint: bool,
    counts: Sequence[PartCounts] = (),
    purpose: str = "monitor",
) -> dict[str, Any]:
    """What `namespace_document` says, of client-routed shards added up.

    `checkpoint`: "taken", or why there was none; missing where none was asked for. `files_bytes`: what all files below
    the servers' data directories take on the disk, where these can be looked into from here. `parts`: of each server
    that `counts` are of these and its sizes, where several have the data.

    Raises nothing: what isn't known is a reason in `absent`.
    """

    def of_server(address: str) -> dict[str, Any]:
        with control_client(
            address, access=deployment.access, purpose=purpose, command_timeout_s=_CHECKPOINT_TIMEOUT_S
        ) as client:
            asked = {"checkpoint": take_checkpoint(client)} if checkpoint else {}
            files_bytes = server_files_bytes(client)
            return {
                **namespace_document(client, database=database, collection=collection),
                **asked,
                **({} if files_bytes is None else {"files_bytes": files_bytes}),
            }

    fronts = {address: of_server(address) for address in (deployment.address, *deployment.shards)}
    whole = fronts[deployment.address] if len(fronts) == 1 else _together(fronts)
    if not counts:
        return whole
    of_shards = whole.pop("shards", {})  # as a router tells them
    parts = []
    for each in counts:
        found = fronts.get(each.part.address) or (of_server(each.part.address) if each.role else {})
        if "collStats" not in found:
            found = of_shards.get(each.part.shard, {})
        parts.append(each.to_dict() | _part_sizes(found))
    return {**whole, "parts": parts}


def _part_sizes(found: Mapping[str, Any]) -> dict[str, int | None]:
    sizes = {key: found.get("collStats", {}).get(name) for key, name in _PART_SIZES.items()}
    known = {key: None if size is None else int(size) for key, size in sizes.items()}
    return {**known, "files_bytes": found.get("files_bytes")}


def take_checkpoint(client: Client) -> str:
    """Has the server write all that it holds in memory: `CHECKPOINT_TAKEN`, or why it did not."""
    try:
        client.admin.command("fsync")
    except OperationFailure as error:
        return f"refused: {refusal_name(error)}"
    except PyMongoError as error:
        return f"not answered: {type(error).__name__}"
    return CHECKPOINT_TAKEN


def server_files_bytes(client: Client) -> int | None:
    """What a server's files take on the disk; None where they are elsewhere or closed to this user.

    A directory of the same name may be another server's: whose it is, its lock says.
    """
    with suppress(PyMongoError, OSError, LookupError, TypeError, ValueError):
        directory = Path(client.admin.command("getCmdLineOpts")["parsed"]["storage"]["dbPath"])
        status = client.admin.command({"serverStatus": 1, "wiredTiger": 0, "metrics": 0, "locks": 0, "tcmalloc": 0})
        if int((directory / "mongod.lock").read_text()) == int(status["pid"]):
            return page_cache.disk_bytes(directory)
    return None


def _together(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    servers = list(parts.values())
    document: dict[str, Any] = {}
    for name, added in _ADDED.items():
        told = [part[name] for part in servers if name in part]
        if len(told) == len(servers):
            document[name] = {**told[0], **_sums(told, added)}
    if "collStats" in document:
        whole = document["collStats"]
        if whole.get("count") and "size" in whole:
            whole["avgObjSize"] = whole["size"] / whole["count"]
        whole.pop("indexSizes", None)
    checkpoints = [part["checkpoint"] for part in servers if "checkpoint" in part]
    if checkpoints:
        document["checkpoint"] = next((said for said in checkpoints if said != CHECKPOINT_TAKEN), CHECKPOINT_TAKEN)
    if all("files_bytes" in part for part in servers):
        document["files_bytes"] = sum(part["files_bytes"] for part in servers)
    absent = {
        f"{name} of {address}": why for address, part in parts.items() for name, why in part.get("absent", {}).items()
    }
    return {**document, "absent": absent} if absent else document


def _sums(told: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    return {name: sum(each[name] for each in told) for name in names if all(name in each for each in told)}
