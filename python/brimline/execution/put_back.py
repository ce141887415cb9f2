"""Owns that runs of a person's own operations find each collection as it was loaded, and what they leave behind.

What a run inserted under keys or ids of its own is taken away when it is over. What it changed otherwise the manifest
says before it begins, so that an interruption hides nothing; the data are put back before the next run: from a copy
that was made of the whole data, or by loading them again.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from brimline import dataset
from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, collection_exists, target_errors
from brimline.dataset.inspection import State
from brimline.dataset.ownership import ids_digest, ids_of, keys_plan
from brimline.errors import BrimlineError, TargetError
from brimline.execution.data import complete, replace_collection, require_taken
from brimline.execution.data_events import (
    changed_text,
    tell_copying,
    tell_data_event,
    tell_loading_again,
    tell_putting_back,
)
from brimline.execution.database import ANSWERS_WITHIN_S, database_named
from brimline.execution.effects import Effect, effects_on, live_collections
from brimline.execution.execute import RunContext
from brimline.execution.restoring import restored
from brimline.execution.unrecorded import execute_unrecorded
from brimline.execution.wanted import WantedData
from brimline.plan import Plan, collection_plan
from brimline.plan.operations import OperationsWork
from brimline.units import counted
from brimline.wording import Verbatim, message

_GOES_ON = "the next run of this workload puts it back before it begins"
IS_GONE = "is no longer there: it was dropped, and --data load has it loaded again"
_HEAD = 6
"""Bytes of a run's identity that its object ids begin with."""


@contextmanager
def own_data_kept(plan: Plan, work: OperationsWork, context: RunContext) -> Iterator[None]:
    """Around a run: before it the data are put back, after it what it inserted is taken away, however it ended.

    Raises TargetError and Interrupted where the data can't be put back.
    """
    begun: list[int] = []
    # Before the run, so that the manifests have it if it is killed.
    identity = (int(time.time()) & 0xFFFF_FFFF).to_bytes(4, "big") + os.urandom(8)
    context.carried.identity = identity
    try:
        for place in range(len(work.collections)):
            _begin(collection_plan(plan, place), _effects(plan, work, place, context), context)
            begun.append(place)
        yield
    finally:
        only_read = []
        for place in begun:
            if effects := _effects(plan, work, place, context):
                _at_the_end(collection_plan(plan, place), context, effects)
            else:
                only_read.append(collection_plan(plan, place))
        _tell_which_are_gone(only_read, context)
        _tidy_live_collections(plan, context)
        context.carried.identity = None


def put_right(database: DataDatabase, wanted: WantedData, manifest: dataset.Manifest, context: RunContext) -> None:
    """Makes changed data what was loaded.

    Raises UsageError where they may hold what others wrote, BrimlineError, Interrupted where `context` stops it.
    """
    began = time.monotonic()
    dataset.require_nobody_at_work(wanted.namespace, manifest)
    if dataset.inspect(database, wanted.manifest).is_gone:
        context.progress.step(
            message("loading {namespace} again, which is no longer there", namespace=Verbatim(wanted.namespace))
        )
        _load_again(database, wanted, context)
        tell_data_event(context, wanted.namespace, "loaded again", "data_loaded_again", began_s=began)
        return
    dataset.require_same_collection(database, manifest)
    if manifest.only_ids_added and _without_ids(database, wanted, manifest, context):
        return
    dataset.require_only_ours(database, manifest)
    if dataset.has_copy(database, manifest):
        tell_putting_back(context, wanted.namespace)
        try:
            dataset.put_copy_back(database, manifest)
        except TargetError as error:
            context.progress.note(f"{error.message}: it is loaded again")
        else:
            tell_data_event(context, wanted.namespace, "put back from its copy", "data_put_back", began_s=began)
            return
    tell_loading_again(context, wanted.namespace)
    _load_again(database, wanted, context)
    tell_data_event(context, wanted.namespace, "loaded again", "data_loaded_again", began_s=began)


def _without_ids(database: DataDatabase, wanted: WantedData, manifest: dataset.Manifest, context: RunContext) -> bool:
    """Takes away what runs inserted that did not come to their end; whether the data are what they were then."""
    context.progress.step(
        message(
            "removing the documents that an earlier run inserted into {namespace}", namespace=Verbatim(wanted.namespace)
        )
    )
    with target_errors("removing the documents of an earlier run", within_s=WORK_WITHIN_S):
        for identity in manifest.identities:
            database[manifest.collection].delete_many({"_id": ids_of(bytes.fromhex(identity))})
    found = restored(database, wanted.load, dataset.inspect(database, wanted.manifest), stop=context.stop)
    if found.document_count != manifest.count:
        return False
    dataset.write_manifest(database, manifest.unchanged())
    return True


def _begin(plan: Plan, effects: frozenset[Effect], context: RunContext) -> None:
    """Sees to the data of one collection before a run. `plan` is of that collection."""
    name = plan.namespace.collection
    wanted = context.wanted_in(plan.namespace.database, name)
    with database_named(plan.namespace.database, context.deployment) as database:
        manifest = dataset.read_manifest(database, name)
        if manifest is not None and manifest.state == "changed" and wanted is not None:
            put_right(database, wanted, manifest, context)
            manifest = dataset.read_manifest(database, name)
        if manifest is None or manifest.state == "loading" or not effects:
            return
        if manifest.state == "changed":  # and taken as it is
            only_ids_added = manifest.only_ids_added and Effect.CHANGE not in effects
            dataset.write_manifest(database, manifest.changed(only_ids_added=only_ids_added, identity=_head(context)))
            return
        if effects == {Effect.KEYS}:
            return  # they are taken away by key, also by the next run
        is_whole = wanted is not None and dataset.inspect(database, wanted.manifest).ready
        if Effect.CHANGE in effects and is_whole and not dataset.has_copy(database, manifest):
            manifest = _with_copy(database, manifest, context)
            context.stop.raise_if_requested()  # nothing is changed yet
        only_ids_added = Effect.CHANGE not in effects
        dataset.write_manifest(database, manifest.changed(only_ids_added=only_ids_added, identity=_head(context)))


def _with_copy(database: DataDatabase, manifest: dataset.Manifest, context: RunContext) -> dataset.Manifest:
    """The manifest, with a copy of the data where one can be made."""
    namespace = f"{database.name}.{manifest.collection}"
    reason = dataset.reason_against_copy(database, manifest.collection)
    began = time.monotonic()
    if not reason:
        tell_copying(context, namespace)
        try:
            manifest = dataset.make_copy(database, manifest)
        except TargetError as error:
            reason = error.message
    if reason:
        _say_once(context, f"{namespace} has no copy, and is loaded again before the next run: {reason}")
    else:
        tell_data_event(context, namespace, "copied aside", "data_copied", began_s=began)
    return manifest


def _load_again(database: DataDatabase, wanted: WantedData, context: RunContext) -> None:
    replacement = dataset.replacement(database, wanted.manifest, wanted=wanted.definition)
    require_taken(wanted.load, replacement)

    def change() -> None:
        replace_collection(replacement, context)

    execute_unrecorded(wanted.load, context=context, change=change)
    context.stop.raise_if_requested()
    complete(wanted.load, replacement.manifest, context, wanted.definition)


def _at_the_end(plan: Plan, context: RunContext, effects: frozenset[Effect]) -> None:
    """Takes away what a run inserted into one collection, and says what is left. Raises nothing of the target's."""
    namespace = f"{plan.namespace.database}.{plan.namespace.collection}"
    if context.stop.urgent:
        context.progress.warning(f"{namespace} may hold what the run wrote: {_GOES_ON}")
        return
    _while_it_answers(context, namespace, lambda: _settle(plan, namespace, context, effects))


def _tell_which_are_gone(plans: Sequence[Plan], context: RunContext) -> None:
    """Says which loaded collections are no longer there; nothing where the server doesn't answer."""
    if context.stop.urgent:
        return
    with suppress(TargetError):
        for plan in plans:
            where = plan.namespace
            with database_named(where.database, context.deployment, connect_timeout_s=ANSWERS_WITHIN_S) as database:
                if dataset.inspect(database, dataset.manifest_for(plan)).is_gone:
                    context.progress.warning(f"{where.database}.{where.collection} {IS_GONE}")


def _settle(plan: Plan, namespace: str, context: RunContext, effects: frozenset[Effect]) -> None:
    with database_named(plan.namespace.database, context.deployment, connect_timeout_s=ANSWERS_WITHIN_S) as database:
        if Effect.IDS in effects and Effect.CHANGE not in effects:
            _delete_ids(database, plan.namespace.collection, context)
        found = dataset.inspect(database, dataset.manifest_for(plan))
        if found.is_gone:
            context.progress.warning(f"{namespace} {IS_GONE}")
            return
        if found.manifest is None or found.state in (State.OTHER, State.UNFINISHED):
            _say_once(context, f"what the run wrote stays in {namespace}, whose documents its workload did not load")
            return
        manifest = found.manifest
        if Effect.CHANGE in effects:
            if manifest.state != "changed":
                return  # it ended before the first operation
            _note_ids(database, manifest, context)
            if context.deployment is not None and not context.deployment.is_own:  # else it goes with its data
                _say_once(context, changed_text(namespace))
            return
        if Effect.KEYS in effects and found.state is State.CHANGED:
            found = restored(database, _keys_plan(plan, manifest, context), found, stop=context.stop)
        if manifest.only_ids_added and set(manifest.identities) <= {_head(context)}:
            dataset.write_manifest(database, manifest.unchanged())  # all else that is there is somebody else's
        else:
            _note_ids(database, manifest, context)
        if left := found.document_count - plan.data.record_count:
            more = "more" if left > 0 else "less"
            context.progress.warning(f"{namespace} holds {counted(abs(left), 'document')} {more} than were loaded")


def _note_ids(database: DataDatabase, manifest: dataset.Manifest, context: RunContext) -> None:
    """Writes down which documents a run left, so that those that others put there afterwards are told from them."""
    if manifest.state != "changed":
        return
    with target_errors("noting which documents are there", within_s=WORK_WITHIN_S):
        digest = ids_digest(database, manifest.collection, is_given_up=lambda: context.stop.urgent)
    dataset.write_manifest(database, replace(manifest, left_ids=digest))


def _head(context: RunContext) -> str:
    return (context.carried.identity or b"")[:_HEAD].hex()


def _keys_plan(plan: Plan, manifest: dataset.Manifest, context: RunContext) -> Plan:
    """A plan by which the keys of a collection's records are made."""
    wanted = context.wanted_in(plan.namespace.database, plan.namespace.collection)
    return Plan.from_json(keys_plan(manifest)) if wanted is None else wanted.load


def _tidy_live_collections(plan: Plan, context: RunContext) -> None:
    """Takes away what is surely the run's from collections that brimline did not load, and says which are gone."""
    for database_name, name in live_collections(plan):
        effects = effects_on(plan, database_name, name)
        if context.stop.urgent:
            return
        try:
            _tidy_live(database_name, name, effects, context)
        except TargetError as error:
            if Effect.IDS in effects and context.deployment is not None and not context.deployment.is_own:
                context.progress.warning(
                    f"{database_name}.{name} may hold documents that the run inserted ({error.message})"
                )


def _tidy_live(database_name: str, name: str, effects: frozenset[Effect], context: RunContext) -> None:
    namespace = f"{database_name}.{name}"
    with database_named(database_name, context.deployment, connect_timeout_s=ANSWERS_WITHIN_S) as database:
        with target_errors("looking for the collection"):
            is_there = collection_exists(database, name)
        if not is_there:
            context.progress.warning(f"{namespace} is no longer there: it was dropped while the run went on")
        elif Effect.IDS in effects:
            _delete_ids(database, name, context)
    if effects - {Effect.IDS}:
        _say_once(context, f"what the run changed in {namespace} stays: brimline did not load it")


def _delete_ids(database: DataDatabase, name: str, context: RunContext) -> None:
    """Deletes the documents that the run inserted under ids of its own."""
    with target_errors("removing the documents that the run inserted", within_s=WORK_WITHIN_S):
        database[name].delete_many({"_id": ids_of(bytes.fromhex(_head(context)))})


def _while_it_answers(context: RunContext, namespace: str, do: Callable[[], None]) -> None:
    try:
        do()
    except TargetError as error:
        if context.deployment is not None and not context.deployment.is_own:
            context.progress.warning(f"{namespace} may hold what the run wrote ({error.message}): {_GOES_ON}")
    except BrimlineError as error:
        context.progress.warning(f"{namespace}: {error.message}")


def _say_once(context: RunContext, text: str) -> None:
    if text not in context.carried.told:
        context.carried.told.add(text)
        context.progress.note(text)


def _effects(plan: Plan, work: OperationsWork, place: int, context: RunContext) -> frozenset[Effect]:
    """What becomes of one collection during a run."""
    collection = work.collections[place]
    effects = effects_on(plan, collection.database, collection.collection)
    wanted = context.wanted_in(collection.database, collection.collection)
    if wanted is None:
        return effects
    # Of such a collection nothing is taken away by key.
    is_lasting = bool(effects) and (wanted.is_time_series or wanted.is_capped)
    return effects | {Effect.CHANGE} if is_lasting or wanted.expires else effects
