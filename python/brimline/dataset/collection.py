"""Owns the collection around a load: emptied and created before, counted after.

The collection is created before the engine starts, because servers serialise the implicit creation by
concurrent first inserts, which would be measured as slow inserts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, collection_exists, holds_documents, target_errors
from brimline.dataset.anew import make_anew, shard_key_wanted, with_left
from brimline.dataset.definition import (
    Definition,
    find_misfit,
    fit_indexes,
    has_option,
    is_same,
    listed_key,
    own_names,
    takes_the_place,
)
from brimline.dataset.manifest import (
    MANIFEST_COLLECTION,
    Manifest,
    read_manifest,
    require_nobody_at_work,
    write_manifest,
)
from brimline.dataset.ownership import all_our_own, collection_uuid
from brimline.dataset.pristine import drop_copy
from brimline.dataset.rights import require_rights
from brimline.dataset.shape import Shape, read_shape
from brimline.dataset.sharding import ShardKey, is_behind_router, shard_key_of
from brimline.errors import InvalidRun, UsageError
from brimline.units import counted

_ACTIONS = ("find", "insert", "remove", "dropCollection", "createCollection")
"""What emptying a collection and filling it takes, by MongoDB's names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountProof:
    """How many documents were intended, and how many the server counted one by one."""

    intended: int
    counted: int

    @property
    def holds(self) -> bool:
        """Whether the collection holds exactly the intended number."""
        return self.counted == self.intended


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A collection that may be made empty, with what it has besides its documents; nothing is changed yet.

    `held`: about how many documents it holds. `kept`: what is there and stays. `wanted`: what it is made with besides;
    its indexes come after the documents. `lost`: names of what others gave it and `wanted` has otherwise. `shard_key`:
    behind a mongos, what it is sharded by afterwards. `stays`: it is empty, and left as it is. `before`: the
    manifest that is there, whose copy goes as well. `behind_router`: a mongos answers.
    """

    database: DataDatabase
    manifest: Manifest
    held: int
    kept: Shape
    wanted: Shape = field(default_factory=Shape)
    lost: Sequence[str] = ()
    shard_key: ShardKey | None = None
    stays: bool = False
    before: Manifest | None = None
    behind_router: bool = False

    @property
    def made(self) -> Shape:
        """All that it has in the end besides documents."""
        there = [index for index in self.wanted.indexes if not any(is_same(index, kept) for kept in self.kept.indexes)]
        return Shape(options={**self.kept.options, **self.wanted.options}, indexes=[*self.kept.indexes, *there])

    def carry_out(self) -> None:
        """Makes it empty and existing, with a manifest in state "loading". Raises TargetError."""
        database, name = self.database, self.manifest.collection
        # First the word that the data is not whole: whoever looks after an interruption here finds it.
        write_manifest(database, self.manifest)
        with target_errors("preparing the collection"):
            if self.before is not None:
                drop_copy(database, self.before)
            if not self.stays:
                make_anew(database, name, replace(self.kept, options=self.made.options), self.shard_key)


def replacement(
    database: DataDatabase, manifest: Manifest, *, drop: bool = False, wanted: Definition | None = None
) -> Replacement:
    """Sees to it that `manifest.collection` may be emptied and filled, and changes nothing.

    What brimline loaded before, whole or in part, is replaced, with what runs inserted behind it. Where there is
    anything else, or something is gone, it is only dropped when told so. Options and indexes stay, but for those
    that brimline made, and `wanted` says what it has besides. Behind a mongos an empty collection that is there stays
    as it is where that is `wanted`, one that holds documents is sharded again as it was, and one that is new is sharded
    by its hashed `_id`, unless `wanted` says by what.

    Raises:
        UsageError: it holds documents that aren't known to be brimline's, or has what `wanted` has otherwise, and
            `drop` is False; or is a view.
        TargetError: the server doesn't answer, or the user may not do what is needed.
    """
    wanted = wanted or Definition()
    name = manifest.collection
    if not drop:
        _require_our_own(database, name)
    before = read_manifest(database, name)
    with target_errors("looking at the collection"):
        held = database[name].estimated_document_count()
        there = read_shape(database, name)
        behind_router = is_behind_router(database)
        kept = with_left(database, name, there)
        stays = behind_router and there == kept and not _holds_documents(database, name)
        if stays and _is_otherwise(database, name, wanted, kept):
            stays = False
        key = (wanted.shard_key or shard_key_wanted(database, name)) if behind_router and not stays else None
    if before is not None:
        kept = kept.without(own_names(before, kept), before.own_options)
    kept, lost = _settled(kept, wanted.shape)
    if lost and not drop:
        raise UsageError(
            f"{database.name}.{name} has what the workload has otherwise, and brimline did not make it: "
            + ", ".join(lost),
            hint="name another collection in the workload, or give --drop to have it replaced",
        )
    made = [index for index in wanted.shape.indexes if not any(is_same(index, each) for each in kept.indexes)]
    own: list[Mapping[str, Any]] = [listed_key(index) for index in made]
    if wanted.shard_key is not None:
        own.append(wanted.shard_key.fields)
    manifest = replace(
        manifest,
        own_indexes=[*manifest.own_indexes, *own],
        asked_indexes=made,
        own_options=[option for option in wanted.shape.options if option not in kept.options],
    )
    actions = [*_ACTIONS, *(["createIndex"] if kept.indexes or manifest.own_indexes else [])]
    require_rights(database, name, actions)
    return Replacement(
        database=database,
        manifest=manifest,
        held=held,
        kept=kept,
        wanted=wanted.shape,
        lost=lost,
        shard_key=key,
        stays=stays,
        before=before,
        behind_router=behind_router,
    )


def _is_otherwise(database: DataDatabase, name: str, wanted: Definition, there: Shape) -> bool:
    """Whether an empty collection behind a mongos can't stay. Raises PyMongoError."""
    options = any(not has_option(there.options, option, value) for option, value in wanted.shape.options.items())
    return options or (wanted.shard_key is not None and shard_key_of(database, name) != wanted.shard_key)


def _settled(kept: Shape, wanted: Shape) -> tuple[Shape, list[str]]:
    """What of `kept` can stay beside `wanted`, and the names of what can't."""
    indexes = [
        index
        for index in kept.indexes
        if any(is_same(each, index) for each in wanted.indexes)
        or not any(takes_the_place(index, each) for each in wanted.indexes)
    ]
    options = {
        option: value
        for option, value in kept.options.items()
        if option not in wanted.options or has_option(kept.options, option, wanted.options[option])
    }
    stays = Shape(options=options, indexes=indexes)
    lost = [name for name in kept.names if name not in stays.names]
    return stays, [*lost, *(option for option in kept.options if option not in options)]


def prepare(database: DataDatabase, manifest: Manifest, *, drop: bool = False) -> None:
    """`replacement`, carried out at once. Raises as that."""
    replacement(database, manifest, drop=drop).carry_out()


def _require_our_own(database: DataDatabase, name: str) -> None:
    if not _holds_documents(database, name):
        return
    found = read_manifest(database, name)
    require_nobody_at_work(f"{database.name}.{name}", found)
    if found is None:
        message = f"the collection {database.name}.{name} holds documents that brimline did not load"
    elif not all_our_own(database, found):
        message = (
            f"the collection {database.name}.{name} was changed since brimline loaded it, and may hold documents that "
            "brimline did not load"
        )
    else:
        return
    raise UsageError(message, hint="name another collection in the workload, or give --drop to have them deleted")


def prepare_addition(database: DataDatabase, manifest: Manifest) -> bool:
    """Makes `manifest.collection` exist and leaves what it holds. Returns whether it holds nothing yet.

    An empty collection gets `manifest`, in state "loading". One that holds documents loses the manifest it has: with
    more documents in it, it is no longer what that says. Raises TargetError.
    """
    name = manifest.collection
    if _holds_documents(database, name):
        with target_errors("removing the manifest"):
            database[MANIFEST_COLLECTION].delete_one({"_id": name})
        return False
    write_manifest(database, manifest)
    with target_errors("preparing the collection"):
        if not collection_exists(database, name):
            database.create_collection(name)
    return True


def prove_count(database: DataDatabase, manifest: Manifest) -> CountProof:
    """Has the server count every document; takes time in proportion to their number. Raises TargetError."""
    with target_errors("counting the documents", within_s=WORK_WITHIN_S):
        counted = database[manifest.collection].count_documents({})
    return CountProof(intended=len(manifest.records), counted=counted)


def complete(database: DataDatabase, manifest: Manifest, *, wanted: Definition | None = None) -> Manifest:
    """Proves the count, makes the indexes that `wanted` has and that aren't there, and writes the manifest as complete.

    Raises:
        InvalidRun: the collection does not hold exactly the intended documents; the manifest stays "loading".
        TargetError: the server doesn't answer or refuses.
    """
    proof = prove_count(database, manifest)
    if not proof.holds:
        raise InvalidRun(
            f"the collection {database.name}.{manifest.collection} holds {counted(proof.counted, 'document')} "
            f"and not the intended {proof.intended}",
            hint="load again; if another client writes there, name another collection",
        )
    if wanted is not None:
        lacks = find_misfit(database, replace(manifest, own_indexes=()), wanted)
        fit_indexes(database, manifest.collection, lacks)
    with target_errors("looking for the collection"):
        uuid = collection_uuid(database, manifest.collection)
    finished = manifest.completed(count=proof.counted, collection_uuid=uuid)
    write_manifest(database, finished)
    return finished


def _holds_documents(database: DataDatabase, name: str) -> bool:
    with target_errors("looking into the collection"):
        return holds_documents(database, name)
