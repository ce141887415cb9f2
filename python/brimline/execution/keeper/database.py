"""Owns who keeps tables: looked at before anything is changed, loaded, put back after runs.

Of a person's own statements it is known which tables they name, and whether they insert under keys that follow those
that were loaded. Whatever else writes makes a table another one, so that it is copied aside before and put back.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from brimline import _native
from brimline.dataset import Manifest, require_nobody_at_work, tables
from brimline.dataset.gaps import Gaps
from brimline.dataset.inspection import State
from brimline.dataset.ownership import keys_plan
from brimline.dataset.tables.store import statements_of
from brimline.errors import BrimlineError, InvalidRun, RecordError, TargetError, UsageError
from brimline.execution.data import RESUME_HINT, LoadReport, MakeDirectory, goes_on
from brimline.execution.data_events import (
    changed_text,
    tell_copying,
    tell_data_event,
    tell_loading_again,
    tell_putting_back,
)
from brimline.execution.descriptors import allow_descriptors
from brimline.execution.effects import Effect
from brimline.execution.ensure import DataPolicy, refusal_of
from brimline.execution.execute import Change, execute
from brimline.execution.keeper.base import Keeper
from brimline.execution.statement_effects import effects_on, require_statements_allowed
from brimline.execution.statement_trials import refuse_no_statements, try_statements
from brimline.execution.table_samples import read_table_samples
from brimline.execution.unrecorded import execute_unrecorded
from brimline.execution.wanted import WantedData
from brimline.plan import Plan, SqlTarget, rest_of_load
from brimline.plan.tables import SqlTable
from brimline.record import read_record
from brimline.units import counted, format_count
from brimline.wording import Verbatim, message


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """One table as it was found."""

    wanted: WantedData
    seen: tables.TableInspection

    @property
    def table(self) -> SqlTable:
        return table_of(self.wanted)


def table_of(wanted: WantedData) -> SqlTable:
    """The table of data that are one."""
    assert wanted.table is not None  # noqa: S101 - the workload's data on this target
    return wanted.table


class TableKeeper(Keeper):
    """Of an SQL database."""

    def check(self, plan: Plan, wanted: Sequence[WantedData], *, policy: DataPolicy, are_writes_allowed: bool) -> None:
        """What is written is ours, or may be."""
        if not are_writes_allowed:
            refuse_no_statements(plan, self.context)
            ours = [
                name
                for each in wanted
                if policy is not DataPolicy.AS_IS or self._look(each).seen.found.state is not State.FOREIGN
                for name in names_of(table_of(each))
            ]
            require_statements_allowed(plan, ours)

    def ensure(
        self, wanted: Sequence[WantedData], *, policy: DataPolicy, make_directory: MakeDirectory, drop: bool
    ) -> list[LoadReport]:
        """All tables are looked at before anything is changed in one. A load that did not end begins anew."""
        if policy is DataPolicy.AS_IS:
            return []
        looks = [self._look(each) for each in wanted]
        for look in [] if drop else looks:
            require_nobody_at_work(look.wanted.namespace, look.seen.found.manifest)
        if policy is DataPolicy.CHECK:
            _require_right([look for look in looks if look.seen.found.state is not State.CHANGED])
        looks = [self._restored(look, drop=drop) for look in looks]
        if policy is DataPolicy.CHECK:
            _require_right(looks)
            return []
        return self.load(
            [look.wanted for look in looks if not look.seen.ready], make_directory=make_directory, drop=drop
        )

    def load(
        self,
        wanted: Sequence[WantedData],
        *,
        make_directory: MakeDirectory,
        drop: bool,
        going_on: Collection[WantedData] = (),
    ) -> list[LoadReport]:
        """Makes each table anew and fills it, once all of them may be. What is there already of `going_on` stays."""
        for each in wanted:
            allow_descriptors(each.load)
        looks = [self._look(each) for each in wanted]
        for look in looks:
            if look.wanted in going_on:
                require_nobody_at_work(look.wanted.namespace, look.seen.found.manifest)
                if goes_on(look.seen.found, drop=drop):
                    continue
            self._require_replaceable(look, drop=drop)
        reports: list[LoadReport] = []
        for look in looks:
            if look.wanted in going_on and look.seen.ready:
                count = look.seen.found.document_count
                reports.append(
                    LoadReport(record=None, document_count=count, namespace=look.wanted.namespace, resumed_count=count)
                )
                continue
            gaps = self._gaps(look) if look.wanted in going_on else None
            reports.append(self._filled(look, make_directory, gaps))
            if not reports[-1].is_whole or self.context.stop.requested:
                break
        return reports

    def read_values(self, plan: Plan) -> None:
        """Rows of tables."""
        read_table_samples(plan, self.context)

    def try_steps(self, plan: Plan) -> None:
        """By `EXPLAIN`, which executes nothing, or by preparing them."""
        try_statements(plan, self.context)

    @contextmanager
    def kept(self, plan: Plan) -> Iterator[None]:
        """What was changed by an earlier run is put back; what this one inserts is taken away."""
        begun: list[WantedData] = []
        try:
            for each in self.context.wanted:
                self._begin(plan, each)
                begun.append(each)
            yield
        finally:
            for each in begun:
                self._end(plan, each)

    def _look(self, wanted: WantedData) -> _Look:
        with self._store(wanted.load) as store:
            return _Look(wanted=wanted, seen=tables.inspect_table(store, table_of(wanted), wanted.manifest))

    def _restored(self, look: _Look, *, drop: bool) -> _Look:
        """The same without what runs inserted and changed."""
        if look.seen.found.state is not State.CHANGED:
            return look
        try:
            self._put_right(look)
        except UsageError:
            if not drop:
                raise
        return self._look(look.wanted)

    def _put_right(self, look: _Look) -> None:
        """Makes changed data what was loaded. Raises UsageError where they may hold what others wrote."""
        began = time.monotonic()
        manifest, table = look.seen.found.manifest, look.table
        assert manifest is not None  # noqa: S101 - its state is "changed"
        with self._store(look.wanted.load) as store:
            if manifest.state == "complete":
                self._take_away(store, table, manifest, look.seen.found.document_count)
                return
            self._require_ours(store, look)
            has_copy = tables.has_copy(store, table)
            tables.require_nothing_given(store, table, look.seen, stays=has_copy)
            if has_copy:
                tell_putting_back(self.context, look.wanted.namespace)
                tables.put_copy_back(store, table)
                put_back = replace(manifest.unchanged(), collection_uuid=store.identity(table.name))
                store.write_manifest(put_back, statements_of(table))
                tell_data_event(
                    self.context, look.wanted.namespace, "put back from its copy", "data_put_back", began_s=began
                )
                return
            tables.require_makable(store, table)
        tell_loading_again(self.context, look.wanted.namespace)
        execute_unrecorded(look.wanted.load, context=self.context, change=partial(self._make_empty, look))
        self.context.stop.raise_if_requested()
        with self._store(look.wanted.load) as store:
            tables.complete(store, table, look.wanted.manifest)
        tell_data_event(self.context, look.wanted.namespace, "loaded again", "data_loaded_again", began_s=began)

    def _take_away(self, store: tables.Store, table: SqlTable, manifest: Manifest, count: int) -> None:
        """Deletes the rows of records that runs inserted behind the loaded ones."""
        tables.without_new_records(
            store,
            table,
            manifest,
            surplus=count - len(manifest.records),
            keys_of=_keys_of(manifest),
            is_given_up=lambda: self.context.stop.urgent,
        )

    def _require_replaceable(self, look: _Look, *, drop: bool) -> None:
        """Raises UsageError where it isn't ours and `drop` is False; TargetError where the server wouldn't make it."""
        with self._store(look.wanted.load) as store:
            if not drop:
                self._require_ours(store, look)
                tables.require_nothing_given(store, look.table, look.seen)
            if look.seen.found.state is not State.ABSENT:
                tables.require_makable(store, look.table)

    def _require_ours(self, store: tables.Store, look: _Look) -> None:
        """Raises UsageError where the table may hold what others wrote."""

        def count_known() -> int:
            self.context.progress.step(
                message("looking whose rows {namespace} holds", namespace=Verbatim(look.wanted.namespace))
            )
            manifest = look.seen.found.manifest or look.wanted.manifest
            look_up = self.context.stop.raise_if_requested
            return tables.count_known(store, look.table, manifest, _keys_of(manifest), look_up=look_up)

        require_nobody_at_work(look.wanted.namespace, look.seen.found.manifest)
        tables.require_ours(store, look.table, look.seen, count_known=count_known)

    def _gaps(self, look: _Look) -> Gaps | None:
        """What an unfinished load has left out; None where it begins anew, as one does whose indexes were begun."""
        manifest, namespace = look.wanted.manifest, look.wanted.namespace
        if look.seen.found.state is not State.UNFINISHED:
            return None
        with self._store(look.wanted.load) as store:
            if tables.is_being_indexed(store, look.table):
                self.context.progress.note(f"the indexes of {namespace} were begun: it is loaded anew")
                return None
            self.context.progress.step("looking which rows are there")
            look_up = self.context.stop.raise_if_requested
            gaps = tables.find_missing(store, look.table, manifest, _keys_of(manifest), look_up=look_up)
        there, all_of_them = format_count(gaps.present_count), counted(len(manifest.records), "row")
        self.context.progress.note(f"{there} of {all_of_them} of {namespace} are there already")
        return gaps

    def _filled(self, look: _Look, make_directory: MakeDirectory, gaps: Gaps | None) -> LoadReport:
        """Loads a table anew, or what is missing of it."""
        if gaps is None:
            return self._loaded(look, look.wanted.load, make_directory, change=partial(self._make_empty, look))
        there = gaps.present_count
        if gaps.missing:
            rest = rest_of_load(look.wanted.load, gaps.missing)
            return replace(self._loaded(look, rest, make_directory, change=None), resumed_count=there)
        self._finish(look)
        return LoadReport(record=None, document_count=there, namespace=look.wanted.namespace, resumed_count=there)

    def _loaded(self, look: _Look, plan: Plan, make_directory: MakeDirectory, *, change: Change | None) -> LoadReport:
        namespace = look.wanted.namespace
        changed = False

        def make_change() -> None:
            nonlocal changed
            if change is not None:
                change()
            changed = True

        if change is not None and look.seen.found.document_count:
            self.context.progress.note(
                f"replaced {counted(look.seen.found.document_count, 'row')} that {namespace} held"
            )
        directory = make_directory(plan)
        try:
            record = execute(
                plan,
                directory=directory,
                title=message("loading {namespace}", namespace=Verbatim(namespace)),
                context=self.context,
                change=make_change,
                finish=partial(self._finish, look),
            )
        except RecordError as error:
            if changed:
                error.hint = f"the load of {namespace} lost its record: {RESUME_HINT}; {error.hint}"
            raise
        except InvalidRun as error:
            record = read_record(directory)
            said = [row["example"] for row in (record.summary["errors"] if record.summary else [])]
            shortfall = InvalidRun(error.message, hint=f"the server said: {said[0]}" if said else error.hint)
            return LoadReport(record=record, document_count=0, namespace=namespace, shortfall=shortfall)
        count = len(look.wanted.manifest.records) if record.complete else 0
        return LoadReport(record=record, document_count=count, namespace=namespace)

    def _finish(self, look: _Look) -> None:
        self.context.progress.step("counting the rows and making the indexes")
        with self._store(look.wanted.load) as store:
            tables.complete(store, look.table, look.wanted.manifest)

    def _make_empty(self, look: _Look) -> None:
        with self._store(look.wanted.load) as store:
            lost = tables.lost_with(store, look.table, look.seen)
            tables.make_empty(store, look.table, look.wanted.manifest)
        if lost:
            self.context.progress.note(f"dropped with {look.wanted.namespace}: {', '.join(lost)}")

    def _begin(self, plan: Plan, wanted: WantedData) -> None:
        """Sees to one table before a run that makes another one of it; what is only inserted goes again by its key."""
        if Effect.CHANGE not in effects_on(plan, wanted):
            return
        look = self._look(wanted)
        if look.seen.found.state is State.CHANGED:
            self._put_right(look)
            look = self._look(wanted)
        if not look.seen.ready:
            return
        manifest, table = look.seen.found.manifest, look.table
        assert manifest is not None  # noqa: S101 - it is ready
        with self._store(wanted.load) as store:
            if not tables.has_copy(store, table):
                tell_copying(self.context, wanted.namespace)
                began = time.monotonic()
                try:
                    tables.make_copy(store, table)
                except TargetError as error:
                    self._say_once(
                        f"{wanted.namespace} has no copy, and is loaded again before the next run: {error.message}"
                    )
                else:
                    tell_data_event(self.context, wanted.namespace, "copied aside", "data_copied", began_s=began)
                self.context.stop.raise_if_requested()  # nothing is changed yet
            store.write_manifest(manifest.changed(), statements_of(table))

    def _end(self, plan: Plan, wanted: WantedData) -> None:
        """Sees to one table after a run. Raises nothing of the target's."""
        effects = effects_on(plan, wanted)
        goes_on = "the next run of this workload puts it back before it begins"
        if not effects:
            return
        if self.context.stop.urgent:
            self.context.progress.warning(f"{wanted.namespace} may hold what the run wrote: {goes_on}")
            return
        try:
            self._settle(wanted, effects)
        except BrimlineError as error:
            if not self._is_own:
                self.context.progress.warning(
                    f"{wanted.namespace} may hold what the run wrote ({error.message}): {goes_on}"
                )

    def _settle(self, wanted: WantedData, effects: frozenset[Effect]) -> None:
        look = self._look(wanted)
        manifest, count = look.seen.found.manifest, look.seen.found.document_count
        if manifest is None or look.seen.found.state not in (State.CHANGED, State.READY):
            return
        with self._store(wanted.load) as store:
            if manifest.state == "changed":
                store.write_manifest(replace(manifest, left_ids=str(count)), statements_of(look.table))
                if not self._is_own:
                    self._say_once(changed_text(wanted.namespace))
                return
            if Effect.KEYS in effects:
                self._take_away(store, look.table, manifest, count)
                left = store.count(look.table.name) - len(manifest.records)
                if left:
                    more = "more" if left > 0 else "less"
                    self.context.progress.warning(
                        f"{wanted.namespace} holds {counted(abs(left), 'row')} {more} than were loaded"
                    )

    @property
    def _is_own(self) -> bool:
        return self.context.deployment is not None and self.context.deployment.is_own

    @contextmanager
    def _store(self, plan: Plan) -> Iterator[tables.Store]:
        deployment = self.context.deployment
        assert deployment is not None  # noqa: S101 - see `keeper`
        assert deployment.of_uri is not None  # noqa: S101 - it was found by one
        assert isinstance(plan.target, SqlTarget)  # noqa: S101 - as its deployment is
        with tables.open_store(deployment.of_uri, plan.target) as store:
            yield store

    def _say_once(self, text: str) -> None:
        if text not in self.context.carried.told:
            self.context.carried.told.add(text)
            self.context.progress.note(text)


def _keys_of(manifest: Manifest) -> tables.KeysOf:
    plan_json = keys_plan(manifest)
    return lambda records: _native.generate_keys(plan_json, records.start, len(records))


def names_of(table: SqlTable) -> list[str]:
    """The table and its children."""
    return [table.name, *(child.name for child in table.children)]


def _require_right(looks: Sequence[_Look]) -> None:
    for look in looks:
        if not look.seen.ready:
            raise refusal_of(look.seen.found)
