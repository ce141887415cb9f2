"""Owns the look before a run: whether the collection holds the data that the plan expects."""

from dataclasses import dataclass
from enum import StrEnum

from brimline.dataset.access import DataDatabase, collection_exists, target_errors
from brimline.dataset.manifest import Manifest, differences, read_manifest


class State(StrEnum):
    """What was found in place of the wanted data."""

    READY = "ready"  # just that
    ABSENT = "absent"  # nothing, or not even the collection that a manifest tells of
    FOREIGN = "foreign"  # documents without a manifest
    UNFINISHED = "unfinished"  # that data in part: a load that did not end
    OTHER = "other"  # data of another seed or shape
    CHANGED = "changed"  # that data once; documents came or went since, or the operations of a run changed them


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What a collection holds compared with what a plan expects. `explanation` is for people."""

    state: State
    explanation: str
    document_count: int
    manifest: Manifest | None

    @property
    def changed_by_operations(self) -> bool:
        """Whether taking away what came to it does not make it what it was."""
        return self.state is State.CHANGED and self.manifest is not None and self.manifest.state == "changed"

    @property
    def is_gone(self) -> bool:
        """Whether brimline loaded it, and the collection is no longer there."""
        return self.state is State.ABSENT and self.manifest is not None

    @property
    def ready(self) -> bool:
        """Whether a run may use the collection as it is."""
        return self.state is State.READY


def inspect(database: DataDatabase, wanted: Manifest) -> Inspection:
    """Compares a collection with `wanted`; quick at any size.

    The number of documents comes from the server's metadata. It is exact unless a server crashed or a sharded
    cluster holds orphans; `prove_count` counts one by one.

    Raises:
        TargetError: the server doesn't answer or refuses.
    """
    name = f"{database.name}.{wanted.collection}"
    found = read_manifest(database, wanted.collection)
    with target_errors("looking into the collection"):
        count = database[wanted.collection].estimated_document_count()
        is_there = count > 0 or collection_exists(database, wanted.collection)
    state, explanation = judge(name, found, wanted, count)
    if not is_there and found is not None:
        state = State.ABSENT
        if found.state != "loading":
            explanation = f"{name}, which brimline loaded, is no longer there"
    return Inspection(state=state, explanation=explanation, document_count=count, manifest=found)


def judge(
    name: str, found: Manifest | None, wanted: Manifest, count: int, *, noun: str = "documents"
) -> tuple[State, str]:
    """What `count` documents or rows beside the manifest `found` are, where `wanted` is looked for."""
    if found is None:
        if count == 0:
            return State.ABSENT, f"{name} is empty"
        return State.FOREIGN, f"{name} holds {count} {noun} that brimline did not load"
    if others := differences(found, wanted):
        what = "an unfinished load of other data" if found.state == "loading" else "other data"
        return State.OTHER, f"{name} holds {what}: " + "; ".join(others)
    if found.state == "loading":
        return State.UNFINISHED, f"loading {name} did not end: {count} {noun} of {len(found.records)}"
    if found.state == "changed":
        return State.CHANGED, f"the operations of a run changed {name} since it was loaded"
    if count != found.count:
        return State.CHANGED, f"{name} held {found.count} {noun} after loading and holds {count} now"
    return State.READY, f"{name} holds the expected {count} {noun}, loaded {found.loaded_at}"
