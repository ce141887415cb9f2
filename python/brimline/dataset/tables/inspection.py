"""Owns the look before a run: whether a table holds the data that the plan expects, and whose it is."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from brimline.dataset.inspection import Inspection, State, judge
from brimline.dataset.manifest import Manifest
from brimline.dataset.tables.store import Store, Stored, statements_of
from brimline.errors import UsageError
from brimline.plan.tables import SqlTable


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInspection:
    """What is there. `stored`: its manifest; `is_same`: it is the very table of that."""

    found: Inspection
    stored: Stored | None
    is_same: bool

    @property
    def ready(self) -> bool:
        """Whether a run may use the table as it is."""
        return self.found.ready


def inspect_table(store: Store, table: SqlTable, wanted: Manifest) -> TableInspection:
    """Compares a table with `wanted`, row counts by counting. Raises TargetError."""
    name = f"{store.database}.{table.name}"
    stored = store.read_manifest(table.name)
    is_there = store.exists(table.name)
    count = store.count(table.name) if is_there else 0
    manifest = None if stored is None else stored.manifest
    is_same = is_there and stored is not None and stored.manifest.collection_uuid in (None, store.identity(table.name))
    whose = [] if stored is None or not is_same else stored.statements
    foreign = [] if not is_there or whose else [table.name]
    foreign += [child.name for child in table.children if child.create not in whose and store.exists(child.name)]
    if foreign:
        words = f"the table {store.database}.{foreign[0]} is there, and brimline did not make it"
        state = State.FOREIGN
    elif not is_there:
        gone = manifest is not None and manifest.state != "loading"
        words = f"{name}, which brimline loaded, is no longer there" if gone else f"{name} isn't there"
        state = State.ABSENT
    else:
        assert stored is not None  # noqa: S101 - else it is foreign
        state, words = judge(name, stored.manifest, wanted, count, noun="rows")
        if state not in (State.OTHER, State.UNFINISHED) and list(stored.statements) != statements_of(table):
            state, words = State.OTHER, f"{name} is made otherwise than the workload says: columns, keys or indexes"
    found = Inspection(state=state, explanation=words, document_count=count, manifest=manifest)
    return TableInspection(found=found, stored=stored, is_same=is_same)


def require_ours(
    store: Store, table: SqlTable, looked: TableInspection, *, count_known: Callable[[], int] | None = None
) -> None:
    """Raises UsageError where a table, whose rows are to go, isn't known to hold brimline's rows alone.

    What a load that did not end left is, and what the last run left where no row came or went since. Of a run that was
    killed `count_known` says how many rows are under keys that only brimline makes: where all are, they are its own.
    """
    if looked.found.state is State.ABSENT:
        return
    stored, name = looked.stored, f"{store.database}.{table.name}"
    if stored is None or looked.found.state is State.FOREIGN:
        message = looked.found.explanation
    else:
        manifest = stored.manifest
        known = {"complete": manifest.count, "changed": _left(manifest)}.get(manifest.state)
        if manifest.state == "loading" or known == looked.found.document_count:
            return
        was_killed = manifest.state == "changed" and manifest.left_ids is None
        if was_killed and count_known is not None and count_known() == looked.found.document_count:
            return
        message = f"{name} was changed since brimline loaded it, and may hold rows that brimline did not load"
    raise UsageError(message, hint="name another database in the workload, or give --drop to have it replaced")


def require_nothing_given(store: Store, table: SqlTable, looked: TableInspection, *, stays: bool = False) -> None:
    """Raises UsageError where a table has an index, a column, a trigger or a foreign key that others gave it.

    It would be lost as a row of theirs is. Where the table itself `stays` and only its rows go, a column is.
    """
    made = [] if looked.stored is None or not looked.is_same else looked.stored.statements
    if given := _given(store, table, made, kinds=("column",) if stays else None):
        raise UsageError(
            f"{store.database}.{table.name} would lose what brimline did not make: {', '.join(given)}",
            hint="take it away first, name another database in the workload, or give --drop to lose it",
        )


def lost_with(store: Store, table: SqlTable, looked: TableInspection) -> list[str]:
    """What others gave a table that is dropped: `the index NAME of TABLE`. Its columns go with its rows."""
    made = [] if looked.stored is None else looked.stored.statements
    return _given(store, table, made, kinds=("index", "trigger", "foreign key"))


def _given(store: Store, table: SqlTable, made: Sequence[str], *, kinds: Collection[str] | None) -> list[str]:
    """What a table and its children have that no statement of `made` makes, of these kinds or of all."""
    return [
        f"the {kind} {name} of {each}"
        for each in (table.name, *(child.name for child in table.children))
        for kind, name in store.beside(each)
        if (kinds is None or kind in kinds) and not any(_is_made_by(text, kind, store.quoted(name)) for text in made)
    ]


def _is_made_by(statement: str, kind: str, name: str) -> bool:
    """Whether a statement of brimline's makes the index or the column of that quoted name."""
    made = {"index": f" INDEX {name} ON ", "column": f"\n  {name} "}.get(kind)
    return made is not None and made in statement


def _left(manifest: Manifest) -> int | None:
    """How many rows the last run left; None while it goes on."""
    return None if manifest.left_ids is None else int(manifest.left_ids)
