"""Owns what each combination of levels comes to: its workload, its collection, its index, the server it needs."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from brimline.api.kinds import MeasureInPlace
from brimline.api.options import Options
from brimline.api.own_lab import lab_spec_of, refuse_over_shards, router_of, sockets_per_connection
from brimline.api.varied_surroundings import check_surroundings
from brimline.api.workplace import given_uri
from brimline.errors import UsageError
from brimline.execution import allow_connections
from brimline.execution.targets import require_client
from brimline.experiments.runner import probe_plan
from brimline.experiments.trial import Probe
from brimline.experiments.vary.factor_kinds import (
    COMPRESSION,
    INDEXES,
    NODES,
    READ_PREFERENCE,
    RETRYABLE_WRITES,
    SERVER,
    WORKLOAD,
    Change,
    Scope,
)
from brimline.experiments.vary.factors import Factor, index_sets
from brimline.experiments.vary.order import RUN, Levels, VarySettings
from brimline.plan import NullTarget, Plan, TargetPlan, resolve
from brimline.plan.operations import OperationsWork
from brimline.servers import find_mongod
from brimline.servers.lab.names import STANDALONE, is_client_routed, is_sharded
from brimline.servers.lab.sharding import require_mongos
from brimline.servers.selection import MODES, Mode
from brimline.spec import LoadedSpec, Spec
from brimline.spec.own import CollectionSpec

LoadSpec = Callable[[Mapping[str, object]], LoadedSpec]
"""Reads a workload with these changes by spec path."""
Workloads = Mapping[str, LoadSpec]
"""By their names; one, unless the workload is a factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One combination.

    `index`: fields of its secondary index; None where indexes are no factor. `reads`: its read preference, likewise.
    `compression`: its compressor or "none", `retries`: "on" or "off", `workers`: how many nodes take part, likewise.
    `said`: what its levels say to the measure.
    """

    loaded: LoadedSpec
    options: Options
    index: tuple[str, ...] | None
    reads: Mode | None = None
    compression: str | None = None
    retries: str | None = None
    workers: int | None = None
    said: Mapping[str, object] = field(default_factory=dict)


def placed(
    settings: VarySettings, workloads: Workloads, options: Options, measure: MeasureInPlace | None = None
) -> tuple[VarySettings, dict[Levels, Variant]]:
    """What is loaded apart, what needs servers apart, and every combination. Raises UsageError and SpecError."""
    uri = next((uri for load in workloads.values() if (uri := given_uri(load({}).spec, options))), None)
    check_surroundings(settings.factors, options, uri, told=frozenset() if measure is None else measure.words)
    variants: dict[Levels, Variant] = {}
    failed: dict[Levels, UsageError] = {}
    for levels in settings.combinations:
        try:
            variants[levels] = _variant(settings, levels, workloads, options, measure)
        except UsageError as error:
            failed[levels] = error
    if failed:
        raise _together(settings, failed)
    loads = tuple(
        factor.name
        for factor in settings.factors
        if factor.kind.scope is not Scope.RUN or (factor.name == WORKLOAD and _data_differs(settings, variants))
    )
    loads_of_factors = tuple(name for name in loads if name != WORKLOAD)
    named_by_level = any(factor.name == SERVER for factor in settings.factors)
    apart = loads_of_factors if (uri is None or named_by_level) and not options.null else ()
    return replace(settings, apart=apart, loads=loads), _with_collections(variants)


def run_plan(spec: Spec, settings: VarySettings, target: TargetPlan) -> Plan:
    """The plan of one run: the workload in a closed loop over its connections, unless its own load is measured."""
    if settings.measure == RUN:
        return resolve(spec, target=target)
    probe = Probe(
        stage="sweep",
        label="",
        target="null" if isinstance(target, NullTarget) else "server",
        connections=spec.effective_connections,
        rate_ops_per_s=None,
        warmup_s=settings.warmup_s,
        duration_s=settings.duration_s,
    )
    return probe_plan(probe, spec=spec, target=target)


def require_descriptors(variants: Collection[Variant]) -> None:
    """Every combination may open its sockets, as far as it is known before a server is reached. Raises UsageError."""
    allow_connections(max(each.loaded.spec.effective_connections * _sockets(each) for each in variants))


def _sockets(variant: Variant) -> int:
    """Of each connection: exact on servers of brimline's own, at least one on a server elsewhere."""
    spec, options = variant.loaded.spec, variant.options
    if spec.target.client != "wire" or given_uri(spec, options) is not None:
        return 1
    return sockets_per_connection(options, reads=variant.reads)


def check_overrides(factors: Sequence[Factor], overrides: Mapping[str, object]) -> None:
    """A factor's levels leave no place for an option that says the same. Raises UsageError."""
    for factor in factors:
        for path in factor.kind.change(factor.levels[0]).spec:
            if overrides.get(path) is not None:
                raise UsageError(
                    f"--vary {factor.name} and an option that sets {path} contradict each other",
                    hint="give one of them",
                )


def check_meaning(factors: Sequence[Factor], verb: str, measure: MeasureInPlace | None) -> None:
    """Each factor changes something of what is measured. Raises UsageError."""
    for factor in factors:
        change, why = factor.kind.change(factor.levels[0]), None
        if measure is not None:
            why = measure.measure.refuses(factor.name)
            if why is None and not (
                change.spec or change.options or change.place or change.said.keys() & measure.words
            ):
                why = f"there is no {factor.name} in it" if factor.name != WORKLOAD else None
        elif not (change.spec or change.options or change.place or factor.name == WORKLOAD):
            why = f"there is no {factor.name} in it"
        elif not verb and any(path == "load" or path.startswith("load.") for path in change.spec):
            why = "its runs are in a closed loop; brimline run has a load of its own"
        if why is not None:
            verb = verb or "sweep"
            raise UsageError(f"--vary {factor.name} has no meaning for {verb}: {why}", hint="vary something else")


def _changes(settings: VarySettings, levels: Levels) -> list[Change]:
    return [factor.kind.change(level) for factor, level in zip(settings.factors, levels, strict=True)]


def _variant(
    settings: VarySettings, levels: Levels, workloads: Workloads, options: Options, measure: MeasureInPlace | None
) -> Variant:
    named, changes = settings.named(levels), _changes(settings, levels)
    load = workloads[named.get(WORKLOAD, next(iter(workloads)))]
    words = frozenset[str]() if measure is None else measure.words
    said = {word: value for each in changes for word, value in each.said.items() if word in words}
    in_spec = [each for each in changes if not each.said or not each.said.keys() <= words]
    loaded, of_spec = _changed(load, in_spec)
    index: tuple[str, ...] | None = None
    if INDEXES in named and "indexes" not in said:
        name, fields = _indexed(loaded.spec, named[INDEXES])
        if name is None:
            index = fields
        else:  # the rest of it stays as it is, and so do its documents
            indexes = [dict.fromkeys(fields, 1)] if fields else []
            loaded = load({**of_spec, f"collections.{name}.indexes": indexes})
    variant = Variant(
        loaded=loaded,
        options=_options(changes, options),
        index=index,
        reads=next((mode for mode in MODES if mode == named.get(READ_PREFERENCE)), None),
        compression=named.get(COMPRESSION),
        retries=named.get(RETRYABLE_WRITES),
        workers=None if NODES not in named else int(named[NODES]),
        said=said,
    )
    _check_routing(variant)
    require_client(variant.loaded.spec)
    return variant


def _together(settings: VarySettings, failed: Mapping[Levels, UsageError]) -> UsageError:
    """Why the first combination that can't be can't be; where others can, it names the levels that don't go together.

    A level is part of it where another one in its place would do.
    """
    levels, error = next(iter(failed.items()))
    works = [each for each in settings.combinations if each not in failed]
    parts = [
        name
        for place, name in enumerate(settings.named(levels))
        if any(each[:place] + each[place + 1 :] == levels[:place] + levels[place + 1 :] for each in works)
    ]
    if not works or len(levels) < 2:
        return error
    named = {name: level for name, level in settings.named(levels).items() if len(parts) < 2 or name in parts}
    told = " and ".join(f"{name} {level}" for name, level in named.items())
    return UsageError(f"{told} can't be had together: {error.message}", hint=error.hint or "leave one of them out")


def _changed(load: LoadSpec, changes: Sequence[Change]) -> tuple[LoadedSpec, dict[str, object]]:
    """The workload with these changes, and what they come to by spec path."""
    every = [(path, value) for each in changes for path, value in each.spec.items()]
    known = {path: value for path, value in every if not callable(value)}
    loaded = load(known)
    for path, of_spec in every:
        if callable(of_spec) and (value := of_spec(loaded.spec)) is not None:
            known[path] = value
            loaded = load(known)
    return loaded, known


def _indexed(spec: Spec, level: str) -> tuple[str | None, tuple[str, ...]]:
    """Whose index a level asks for, and its fields; None: of the one collection that there is. Raises UsageError.

    Of several collections it is the first with a shape, unless the level begins with the name of another.
    """
    shapes = spec.shapes if spec.is_own else {}
    name = next((each for each in shapes if level.startswith(f"{each}.")), next(iter(shapes), None))
    data = spec.data if name is None else shapes[name]
    try:
        return name, tuple(index_sets(level.removeprefix(f"{name}."), data.field_names))
    except ValueError as error:
        whose = "" if name is None else f" of {name}"
        raise UsageError(f"--vary indexes{whose}: {error}", hint=_index_hint(name, shapes)) from error


def _index_hint(name: str | None, shapes: Mapping[str, CollectionSpec]) -> str:
    if name is None:
        return "name fields of the workload's documents"
    others = [each for each in shapes if each != name]
    other = f"; of another collection they are written {others[0]}.FIELD or {others[0]}.none" if others else ""
    return f"name fields of {name}, whose indexes these are{other}"


def _options(changes: Sequence[Change], options: Options) -> Options:
    said: dict[str, Any] = {name: value for each in changes for name, value in each.options.items()}
    if not is_sharded(said.get("topology", options.topology) or STANDALONE) and "topology" in said:
        said["mongos"] = None  # which another level has
    return replace(options, **said) if said else options


def _check_routing(variant: Variant) -> None:
    """What shards need, and what client-routed ones can't do. Raises UsageError, before anything is started."""
    options = variant.options
    spec = lab_spec_of(options)  # what its options ask for can be had
    if is_sharded(options.topology or STANDALONE):
        mongod = find_mongod(flag=options.mongod, server_version=options.server_version)
        require_mongos(router_of(options), mongod=mongod)
    if options.topology is None or not is_client_routed(options.topology):
        return
    refuse_over_shards(variant.loaded.spec, options)
    if variant.reads is not None and spec.members:
        raise UsageError(
            f"reads of {options.topology} go where writes go", hint="vary read-preference on a replica set"
        )


def _data_differs(settings: VarySettings, variants: Mapping[Levels, Variant]) -> bool:
    """Whether workloads have data of their own."""
    seen: dict[Levels, set[str]] = {}
    for levels, variant in variants.items():
        rest = tuple(level for factor, level in zip(settings.factors, levels, strict=True) if factor.name != WORKLOAD)
        seen.setdefault(rest, set()).add(_identity(variant))
    return any(len(each) > 1 for each in seen.values())


def _with_collections(variants: Mapping[Levels, Variant]) -> dict[Levels, Variant]:
    """Data that differs goes into collections that differ; the first keeps the workload's."""
    taken: dict[tuple[str, str], list[str]] = {}
    found = {}
    for levels, variant in variants.items():
        data = variant.loaded.spec.data
        name = f"{data.collection}_by_{'_'.join(variant.index)}" if variant.index else data.collection
        identities = taken.setdefault((data.database, name), [])
        identity = _identity(variant)
        if identity not in identities:
            identities.append(identity)
        number = identities.index(identity) + 1
        if number > 1 and variant.loaded.spec.is_own:
            raise UsageError(
                f"the levels need other data in {data.database}.{data.collection}, which the operations name",
                hint="vary it with workloads that have databases of their own",
            )
        own = data.model_copy(update={"collection": name if number == 1 else f"{name}_{number}"})
        spec = variant.loaded.spec.model_copy(update={"data": own})
        found[levels] = replace(variant, loaded=replace(variant.loaded, spec=spec))
    return found


def _identity(variant: Variant) -> str:
    """The same for the same documents under the same index."""
    plan = resolve(variant.loaded.spec, target=NullTarget())
    if isinstance(plan.work, OperationsWork):
        return f"{plan.seed} {[each.model_dump_json() for each in plan.work.collections]}"
    return f"{plan.namespace} {plan.seed} {plan.data.model_dump_json()} {variant.index or ()}"
