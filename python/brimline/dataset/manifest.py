"""Owns the manifest: what was loaded into a collection, written down in the same database.

One document per loaded collection in `brimline_manifest`, `_id` = the collection's name. `data` is JSON text:
a seed may be larger than the largest integer of BSON, and text keeps it exact.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, Self

from bson import json_util

from brimline.dataset.access import DataDatabase, target_errors
from brimline.errors import UsageError
from brimline.plan import Plan
from brimline.record import brimline_version
from brimline.servers.owner import Owner

MANIFEST_COLLECTION = "brimline_manifest"
_FORMAT_VERSION = 1
_CHANGED_FORMAT_VERSION = 2
"""Of data that was changed: a brimline that doesn't know of it takes such a manifest for none, and the data for
somebody else's."""

_WORDS = {
    "seed": "the seed",
    "record_count": "the number of records",
    "insert_start": "the first record",
    "field_count": "the number of fields",
    "field_length": "the length of a field",
    "field_name_prefix": "the prefix of field names",
    "key_prefix": "the prefix of keys",
    "insert_order": "the order of keys",
    "zero_padding": "the zero padding of keys",
    "template": "the template of fields",
    "values": "where values come from",
}
_STATES: Mapping[int, Callable[[object], Literal["loading", "complete", "changed"]]] = {
    _FORMAT_VERSION: lambda state: "complete" if state == "complete" else "loading",
    _CHANGED_FORMAT_VERSION: lambda _: "changed",
}
# Data without a template, and with values at random, has no such entries.
_OPTIONAL = {"template", "values"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a collection holds, or is being loaded with.

    `data` is what the documents are a function of: the seed and the fields of the plan's `DocumentPlan`.
    `count` is the proven number of documents, None while loading. Times are ISO 8601 in UTC. `owner` is the process
    that removes the collection when it has ended, None for data that stay. `collection_uuid` is what the server knew
    the collection by when the count was proven, None where it didn't tell and in manifests of older versions.
    `own_indexes`: fields, with their order, of the indexes that brimline makes, and `asked_indexes` what it asked for
    where it knows: another index over the same fields is somebody else's. `own_options`: names of the options that it
    gives. `copy_uuid`: what the server knows the copy by that was made of complete data, so that they can be put back.

    In state "changed" it held just this once, until a run whose operations changed it. `only_ids_added`: they only
    inserted documents, under object ids. `identities`: what the object ids begin with that runs since then gave, 6
    bytes in hex. `left_ids`: a digest of the ids of all documents that the last run left, None while it goes on.
    `at_work`: the process that wrote it, where it was at work then; written, and read, by itself.
    """

    collection: str
    data: dict[str, Any]
    state: Literal["loading", "complete", "changed"]
    count: int | None
    loaded_at: str | None
    brimline_version: str
    owner: dict[str, Any] | None = None
    collection_uuid: str | None = None
    own_indexes: Sequence[Mapping[str, Any]] = ()
    asked_indexes: Sequence[Mapping[str, Any]] = ()
    own_options: Sequence[str] = ()
    copy_uuid: str | None = None
    only_ids_added: bool = False
    identities: Sequence[str] = ()
    left_ids: str | None = None
    at_work: Mapping[str, Any] | None = field(default=None, compare=False)

    @property
    def is_at_work(self) -> bool:
        """Whether it is as a load or a run has it that goes on, or that was killed."""
        return self.state == "loading" or (self.state == "changed" and self.left_ids is None)

    @property
    def seed(self) -> int:
        """Seed of keys and documents."""
        return int(self.data["seed"])

    @property
    def records(self) -> range:
        """Indices of the records, `insert_start .. insert_start + record_count`."""
        first = int(self.data["insert_start"])
        return range(first, first + int(self.data["record_count"]))

    def completed(self, *, count: int, collection_uuid: str | None = None) -> Self:
        """The same manifest once all documents are proven to be there."""
        return replace(self, state="complete", count=count, loaded_at=_now(), collection_uuid=collection_uuid)

    def changed(self, *, only_ids_added: bool = False, identity: str | None = None) -> Self:
        """The same manifest when operations begin to change the data; `identity`: of the run that does."""
        identities = self.identities if identity is None else (*self.identities, identity)
        return replace(self, state="changed", only_ids_added=only_ids_added, identities=identities, left_ids=None)

    def unchanged(self) -> Self:
        """The same manifest when the data are again what was loaded."""
        return replace(self, state="complete", only_ids_added=False, identities=(), left_ids=None)

    def to_document(self) -> dict[str, Any]:
        """The document that is stored."""
        document: dict[str, Any] = {
            "_id": self.collection,
            "format_version": _CHANGED_FORMAT_VERSION if self.state == "changed" else _FORMAT_VERSION,
            "state": self.state,
            "data": json.dumps(self.data, sort_keys=True),
            "count": self.count,
            "loaded_at": self.loaded_at,
            "brimline_version": self.brimline_version,
        }
        known: dict[str, Any] = {
            "owner": self.owner,
            "collection_uuid": self.collection_uuid,
            "copy_uuid": self.copy_uuid,
            "only_ids_added": self.only_ids_added or None,
            "identities": list(self.identities) or None,
            "left_ids": self.left_ids,
            "at_work": Owner.current().to_document() if self.is_at_work else None,
        }
        if self.own_indexes:  # as text: names of fields may have points
            known["own_indexes"] = json.dumps([dict(index) for index in self.own_indexes])
        if self.asked_indexes:
            known["asked_indexes"] = json_util.dumps(
                list(self.asked_indexes), json_options=json_util.CANONICAL_JSON_OPTIONS
            )
        if self.own_options:
            known["own_options"] = json.dumps(list(self.own_options))
        return document | {name: value for name, value in known.items() if value is not None}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self | None:
        """Reads a stored manifest; None when it is of another format or damaged."""
        try:
            data = json.loads(document["data"])
            state = _STATES[document["format_version"]](document["state"])
            if set(data) | _OPTIONAL != set(_WORDS):
                return None
            return cls(
                collection=document["_id"],
                data=data,
                state=state,
                count=document["count"],
                loaded_at=document["loaded_at"],
                brimline_version=document["brimline_version"],
                owner=document.get("owner"),
                collection_uuid=document.get("collection_uuid"),
                own_indexes=tuple(json.loads(document.get("own_indexes", "[]"))),
                asked_indexes=tuple(json_util.loads(document.get("asked_indexes", "[]"))),
                own_options=tuple(json.loads(document.get("own_options", "[]"))),
                copy_uuid=document.get("copy_uuid"),
                only_ids_added=bool(document.get("only_ids_added")),
                identities=tuple(bytes.fromhex(each).hex() for each in document.get("identities", ())),
                left_ids=document.get("left_ids"),
                at_work=document.get("at_work"),
            )
        except (KeyError, TypeError, ValueError):
            return None


def manifest_for(plan: Plan, *, own_indexes: Sequence[Mapping[str, Any]] = ()) -> Manifest:
    """The manifest of the data that `plan` loads or expects, in state "loading"; `own_indexes`: those made with it."""
    return Manifest(
        collection=plan.namespace.collection,
        data={"seed": plan.seed, **plan.data.model_dump(mode="json")},
        state="loading",
        count=None,
        loaded_at=None,
        brimline_version=brimline_version(),
        own_indexes=tuple(own_indexes),
    )


def read_manifest(database: DataDatabase, collection: str) -> Manifest | None:
    """The manifest of a collection; None when it has none that can be read. Raises TargetError."""
    with target_errors("reading the manifest"):
        document = database[MANIFEST_COLLECTION].find_one({"_id": collection})
    return None if document is None else Manifest.from_document(document)


def write_manifest(database: DataDatabase, manifest: Manifest) -> None:
    """Stores the manifest in place of an older one. Raises TargetError."""
    with target_errors("writing the manifest"):
        database[MANIFEST_COLLECTION].replace_one({"_id": manifest.collection}, manifest.to_document(), upsert=True)


def require_nobody_at_work(namespace: str, manifest: Manifest | None) -> None:
    """Raises UsageError where another process of this machine loads or changes the data, and lives.

    Of a process on another machine nothing is known: what it began may be what a killed one left.
    """
    if manifest is None or not manifest.is_at_work or not isinstance(manifest.at_work, Mapping):
        return
    other, own = Owner.from_document(manifest.at_work), Owner.current()
    if other is None or other == own or other.scope != own.scope or other.is_gone(own.scope):
        return
    raise UsageError(
        f"{namespace} is in use: another brimline command, process {other.process.pid}, loads or changes it",
        hint="wait until that has ended, or name another collection in the workload",
    )


def differences(found: Manifest, wanted: Manifest) -> tuple[str, ...]:
    """In words, each way in which `found` is other data than `wanted`; empty when it is the same."""
    return tuple(
        f"{words} is {_text(found.data.get(key))} there and {_text(wanted.data.get(key))} in the plan"
        for key, words in _WORDS.items()
        if found.data.get(key) != wanted.data.get(key)
    )


def _text(value: Any) -> str:
    if isinstance(value, dict):
        details = ", ".join(f"{key} {_text(part)}" for key, part in value.items() if key != "kind")
        return f"{value.get('kind', '')} ({details})" if details else str(value.get("kind", ""))
    if isinstance(value, list):
        # Two templates may have the same fields with other generators; the digest tells them apart.
        digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        return f"{', '.join(str(field['name']) for field in value)} ({digest[:6]})"
    return "none" if value is None else str(value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
