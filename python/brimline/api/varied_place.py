"""Owns the server of a combination while it is up: its data, its client, and what is measured there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from brimline.api.kinds import measure_named
from brimline.api.opened import opened
from brimline.api.resume import require_same_server
from brimline.api.variants import Variant, run_plan
from brimline.api.workplace import Workplace, workplace
from brimline.errors import NotAllConnected, NotPutBack, TargetError, UsageError
from brimline.execution import Executor, MakeDirectory, StopToken, allow_descriptors
from brimline.execution.carried import Carried
from brimline.execution.indexed_data import ensure_indexed_data
from brimline.experiments.trial import fewer_connections, not_had_text
from brimline.experiments.vary.factor_kinds import Scope
from brimline.experiments.vary.order import Levels, VarySettings
from brimline.experiments.vary.runner import LOAD_STAGE, Setup
from brimline.plan import Plan, load_plan
from brimline.plan.pacing import connections_text
from brimline.record import ExperimentRecord
from brimline.record.events import FEWER_CONNECTIONS
from brimline.record.experiment import TrialEntry
from brimline.record.files import is_there
from brimline.record.layout import ENVIRONMENT_FILE, EXPERIMENT_FILE
from brimline.record.reader import read_environment
from brimline.wording import message


@contextmanager
def open_place(
    settings: VarySettings,
    variants: Mapping[Levels, Variant],
    stop: StopToken,
    before: ExperimentRecord,
    executor: Executor | None,
    levels: Levels,
) -> Iterator["_Place"]:
    """Brings the server of a combination up for the length of the `with` block; `before`: what was measured so far.

    `executor`: the nodes of all combinations, None: this process. Raises BrimlineError, UsageError among them where it
    isn't the server that was measured before.
    """
    variant = variants[levels]
    with workplace(variant.loaded, variant.options, stop=stop, executor=executor) as place:
        wanted = kind_of_server(settings, levels)
        files = (each.directory / ENVIRONMENT_FILE for each in before.trials if _served(each, settings) == wanted)
        earlier = next(filter(is_there, files), None)  # which a combination that failed at once doesn't have
        if earlier is not None:
            require_same_server(before.directory, read_environment(earlier), place.context.environment)
        here = [each for its, each in variants.items() if settings.server_levels(its) == settings.server_levels(levels)]
        for each in here:  # now it is known how many servers a connection leads to
            target = place.reading(each.reads).sharing(each.workers).beside(each.loaded).target
            allow_descriptors(run_plan(each.loaded.spec, settings, target))
        yield _Place(place, settings, variants)


class _Place:
    """A server that is up; see `vary_runner.Place`."""

    def __init__(self, place: Workplace, settings: VarySettings, variants: Mapping[Levels, Variant]) -> None:
        self._place = place
        self._settings = settings
        self._variants = variants
        self._carried: dict[Levels, Carried] = {}

    def measure(self, levels: Levels, directory: Path, make_directory: MakeDirectory) -> str:
        made, variant = measure_named(self._settings.measure), self._variants[levels]
        if made is None:
            raise UsageError("a run is no measure of its own", hint="it has a plan, which is executed")
        place = self._there(variant).beside(variant.loaded)
        if made.on_data:
            self._load(levels, make_directory)
        settings = made.settings(place.spec, {**self._settings.said, **variant.said})
        made.made_in(place, settings, directory=directory, resume=is_there(directory / EXPERIMENT_FILE))
        result = opened(directory)
        result.write(place.options.language)
        if isinstance(result.error, NotPutBack):
            raise result.error
        return "" if result.error is None else result.error.message

    def _there(self, variant: Variant) -> Workplace:
        place = self._place.reading(variant.reads).compressing(variant.compression).retrying(variant.retries)
        return place.sharing(variant.workers)

    def _index(self, loading: Workplace, fields: Sequence[str], make_directory: MakeDirectory) -> None:
        """Sees to the data with an index over `fields`. Raises TargetError where its load broke off."""
        record = ensure_indexed_data(
            load_plan(loading.spec, target=loading.target),
            fields=fields,
            policy=loading.policy,
            make_directory=make_directory,
            context=loading.context,
            drop=loading.options.drop,
        )
        loading.stop.request_if_lost()
        loading.stop.raise_if_requested()
        if record is not None and not record.complete:
            raise TargetError(f"the load broke off: {record.message}", hint=f"its record: {record.directory}")

    def prepare(self, levels: Levels, make_directory: MakeDirectory) -> Setup:
        variant = self._variants[levels]
        place = self._there(variant).beside(variant.loaded)
        plan = run_plan(place.spec, self._settings, place.target)
        return Setup(plan=plan, context=replace(place.context, carried=self._load(levels, make_directory)))

    def _load(self, levels: Levels, make_directory: MakeDirectory) -> Carried:
        """Sees to the data of a combination; returns what that leaves for its runs."""
        variant, loaded_as = self._variants[levels], self._settings.loading_combination(levels)
        loading = self._there(variant).beside(self._variants[loaded_as].loaded)
        carried = self._carried.setdefault(loaded_as, loading.context.carried)
        loading = replace(loading, context=replace(loading.context, carried=carried))
        try:
            self._see_to(loading, variant, make_directory)
        except NotAllConnected as error:
            # Loading takes the most connections of all levels: who can't have them measures the other levels still.
            fewer = fewer_connections(error.up)
            loading.context.progress.note(
                message(
                    "loading: {reason}; it goes on with {connections}",
                    reason=not_had_text(error.up, error.wanted),
                    connections=connections_text(fewer),
                )
            )
            told = {"kind": FEWER_CONNECTIONS, "connections": fewer, "up": error.up, "wanted": error.wanted}

            def make_told(plan: Plan) -> Path:
                """Each record says so, since its load rate is comparable with no other one."""
                carried.events.append(told)
                return make_directory(plan)

            loading = loading.with_spec(loading.spec.model_copy(update={"connections": fewer}))
            loading = replace(loading, context=replace(loading.context, carried=carried))
            self._see_to(loading, variant, make_told)
        return carried

    def _see_to(self, loading: Workplace, variant: Variant, make_directory: MakeDirectory) -> None:
        """Sees to the data, with the index that the combination has."""
        if variant.index and loading.context.deployment is not None:
            self._index(loading, variant.index, make_directory)
        else:
            loading.prepare(make_directory=make_directory)


def _served(entry: TrialEntry, settings: VarySettings) -> Levels | None:
    """Which kind of server a run had; None of a load, which says less."""
    return None if entry.probe.get("stage") == LOAD_STAGE else kind_of_server(settings, tuple(entry.probe["levels"]))


def kind_of_server(settings: VarySettings, levels: Levels) -> Levels:
    """The levels by which servers differ: fresh ones for other data are all of one kind."""
    return tuple(
        level
        for factor, level in zip(settings.factors, levels, strict=True)
        if factor.name in settings.apart and factor.kind.scope is Scope.SERVER
    )
