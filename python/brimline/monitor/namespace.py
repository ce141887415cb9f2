"""Owns how large a collection and its database are at an instant: `dbStats` and `collStats`, for the run record.

They are asked before a run and after it, never during it: on many collections, and with a cold cache, they read from
disk.
"""

from collections.abc import Mapping
from typing import Any

from pymongo.errors import OperationFailure, PyMongoError

from brimline.servers.answers import Unkeepable, plain, refusal_name
from brimline.servers.deployment import Client

_DATABASE_FIGURES = (
    "collections",
    "views",
    "objects",
    "avgObjSize",
    "dataSize",
    "storageSize",
    "indexes",
    "indexSize",
    "totalSize",
    "fsUsedSize",
    "fsTotalSize",
)
_COLLECTION_FIGURES = (
    "size",
    "count",
    "avgObjSize",
    "storageSize",
    "freeStorageSize",
    "numOrphanDocs",
    "capped",
    "sharded",
    "nindexes",
    "totalIndexSize",
    "totalSize",
    "indexSizes",
)


def namespace_document(client: Client, *, database: str, collection: str) -> dict[str, Any]:
    """Sizes in bytes under the server's own names: `dbStats`, `collStats`; and `absent`, why one of them is not there.

    Of a cluster a router tells as well what each shard has: `shards`, each with its `collStats` by the shard's name.
    Raises nothing: a server that refuses or is gone is a reason in `absent`.
    """
    document: dict[str, Any] = {}
    absent: dict[str, str] = {}
    for name, command, figures in (
        ("dbStats", {"dbStats": 1}, _DATABASE_FIGURES),
        ("collStats", {"collStats": collection}, _COLLECTION_FIGURES),
    ):
        try:
            answer = client[database].command(command)
            document[name] = _chosen(answer, figures)
            if name == "collStats" and isinstance(shards := answer.get("shards"), Mapping):
                document["shards"] = {str(key): {name: _chosen(each, figures)} for key, each in shards.items()}
        except OperationFailure as error:
            absent[name] = f"refused: {refusal_name(error)}"
        except PyMongoError as error:
            absent[name] = f"not answered: {type(error).__name__}"
            break  # a server that keeps silent would be waited for again
        except Unkeepable as error:
            absent[name] = f"not kept: {error}"
    return {**document, "absent": absent} if absent else document


def _chosen(answer: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    chosen = {name: answer[name] for name in names if name in answer}
    return dict(plain(chosen))
