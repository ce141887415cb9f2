"""Owns what each combination of levels comes to: its workload, its collection, its index, the server it needs."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from brimline.api.options import URI_VARIABLE, Options
from brimline.api.own_lab import idle_router, lab_spec_of, refuse_over_shards, router_of, sockets_per_connection
from brimline.api.targets import driver_needs_one_server, require_client
from brimline.api.workplace import given_uri
from brimline.errors import UsageError
from brimline.execution import DataPolicy, allow_connections
from brimline.experiments.runner import probe_plan
from brimline.experiments.trial import Probe
from brimline.experiments.vary.factors import (
    CACHE,
    COMPRESSION,
    INDEXES,
    JOURNAL,
    MONGOD,
    NETWORK,
    PROTOCOL,
    READ_PREFERENCE,
    SERVER,
    SERVER_VERSION,
    TOPOLOGY,
    WORKLOAD,
    WRITE_CONCERN,
    Factor,
    Scope,
    index_sets,
)
from brimline.experiments.vary.order import Levels, VarySettings
from brimline.plan import NullTarget, Plan, TargetPlan, resolve
from brimline.plan.operations import OperationsWork
from brimline.servers import find_mongod
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.servers.compression import NONE
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
    `compression`: its compressor or "none", likewise.
    """

    loaded: LoadedSpec
    options: Options
    index: tuple[str, ...] | None
    reads: Mode | None = None
    compression: str | None = None


def placed(
    settings: VarySettings, workloads: Workloads, options: Options
) -> tuple[VarySettings, dict[Levels, Variant]]:
    """What is loaded apart, what needs servers apart, and every combination. Raises UsageError and SpecError."""
    variants = {levels: _variant(settings, levels, workloads, options) for levels in settings.combinations}
    uri = next((uri for each in variants.values() if (uri := given_uri(each.loaded.spec, options))), None)
    _check_surroundings(settings.factors, options, uri)
    variants = {
        levels: replace(each, options=_options(settings.named(levels), options)) for levels, each in variants.items()
    }
    for variant in variants.values():
        _check_routing(variant)
        _check_client(variant)
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
    """The plan of one run: the workload in a closed loop over its connections."""
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
    if spec.target.kind != "wire" or given_uri(spec, options) is not None:
        return 1
    return sockets_per_connection(options, reads=variant.reads)


def check_overrides(factors: Sequence[Factor], overrides: Mapping[str, object]) -> None:
    """A factor's levels leave no place for an option that says the same. Raises UsageError."""
    for factor in factors:
        path = factor.kind.path
        if path and overrides.get(path) is not None:
            raise UsageError(
                f"--vary {factor.name} and an option that sets {path} contradict each other", hint="give one of them"
            )


def _variant(settings: VarySettings, levels: Levels, workloads: Workloads, options: Options) -> Variant:
    named = settings.named(levels)
    load = workloads[named.get(WORKLOAD, next(iter(workloads)))]
    loaded = load(_changes(settings.factors, named, load))
    index: tuple[str, ...] | None = None
    if INDEXES in named:
        name, fields = _indexed(loaded.spec, named[INDEXES])
        if name is None:
            index = fields
        else:  # the rest of it stays as it is, and so do its documents
            indexes = [dict.fromkeys(fields, 1)] if fields else []
            changes = {**_changes(settings.factors, named, load), f"collections.{name}.indexes": indexes}
            loaded = load(changes)
    reads = next((mode for mode in MODES if mode == named.get(READ_PREFERENCE)), None)
    return Variant(
        loaded=loaded,
        options=options,
        index=index,
        reads=reads,
        compression=named.get(COMPRESSION),
    )


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


def _changes(factors: Sequence[Factor], named: Mapping[str, str], load: LoadSpec) -> dict[str, object]:
    """What the levels change of the workload, by spec path."""
    changes: dict[str, object] = {each.kind.path: named[each.name] for each in factors if each.kind.path}
    if named.get(PROTOCOL) == "mongodb" and load({}).spec.target.effective_write_concern is None:
        # What the other databases do by themselves: nothing is acknowledged before a crash would keep it.
        changes["target.write_concern"] = {"w": 1, "journal": True}
    if WRITE_CONCERN in named or JOURNAL in named:
        stands = load({}).spec.target.effective_write_concern
        journal = None if stands is None else stands.journal
        changes["target.write_concern"] = {
            "w": named.get(WRITE_CONCERN, 1 if stands is None else stands.w),
            "journal": named[JOURNAL] == "true" if JOURNAL in named else journal,
            "timeout_ms": None if stands is None else stands.timeout_ms,
        }
    return changes


def _options(named: Mapping[str, str], options: Options) -> Options:
    if CACHE in named:
        options = replace(options, cache_gb=float(named[CACHE]))
    if MONGOD in named:
        options = replace(options, mongod=Path(named[MONGOD]))
    if TOPOLOGY in named:
        mongos = options.mongos if is_sharded(named[TOPOLOGY]) else None
        options = replace(options, topology=named[TOPOLOGY], mongos=mongos)
    if NETWORK in named:
        options = replace(options, network=named[NETWORK])
    if PROTOCOL in named:
        options = replace(options, mariadb=named[PROTOCOL] == "mariadb", postgres=named[PROTOCOL] == "postgres")
    if SERVER in named:
        options = replace(options, uri=named[SERVER])
    return replace(options, server_version=named[SERVER_VERSION]) if SERVER_VERSION in named else options


def _check_surroundings(factors: Sequence[Factor], options: Options, uri: str | None) -> None:
    """What the factors need is what the options leave them. Raises UsageError."""
    names = {factor.name for factor in factors}
    own = [factor.name for factor in factors if factor.kind.scope is Scope.SERVER and factor.name != SERVER]
    if SERVER in names:
        _check_addresses(names, own, options)
    if own and (uri is not None or options.null):
        other = "the null target is none" if options.null else "an address names another server"
        raise UsageError(f"--vary {own[0]} needs servers that brimline starts, and {other}",
                         hint="leave --null out" if options.null else
                         "leave --uri, BRIMLINE_URI and target.uri out, or vary something else")  # fmt: skip
    if READ_PREFERENCE in names:
        _check_reads(names, options, uri)
    if COMPRESSION in names:
        _check_compression(options, uri)
    if INDEXES in names and options.null:
        raise UsageError("--vary indexes needs a server, and the null target is none", hint="leave --null out")
    if any(factor.kind.scope is Scope.DATA for factor in factors) and options.data is DataPolicy.AS_IS:
        raise UsageError("--data as-is takes what is there, and the factors need other data",
                         hint="give --data load, or vary something else")  # fmt: skip
    version = options.server_version
    clashes = [
        (MONGOD in names and SERVER_VERSION in names, "--vary mongod and --vary server-version"),
        (MONGOD in names and options.mongod is not None, "--vary mongod and --mongod"),
        (MONGOD in names and version is not None, "--vary mongod and --server-version"),
        (SERVER_VERSION in names and options.mongod is not None, "--vary server-version and --mongod"),
        (SERVER_VERSION in names and version is not None, "--vary server-version and --server-version"),
        (CACHE in names and options.cache_gb != CACHE_GB_DEFAULT, "--vary cache-gb and --cache-gb"),
        (TOPOLOGY in names and options.topology is not None, "--vary topology and --topology"),
        (NETWORK in names and options.network is not None, "--vary network and --network"),
        (PROTOCOL in names and options.mariadb, "--vary protocol and --mariadb"),
        (PROTOCOL in names and options.postgres, "--vary protocol and --postgres"),
        (PROTOCOL in names and bool(names & _OF_MONGODB), "--vary protocol and a factor of MongoDB's servers"),
    ]
    for clash, what in clashes:
        if clash:
            raise UsageError(f"{what} contradict each other", hint="give one of them")
    topologies = next(
        (factor.levels for factor in factors if factor.name == TOPOLOGY), (options.topology or STANDALONE,)
    )
    if options.mongos is not None and not any(map(is_sharded, topologies)):
        raise idle_router()
    for factor in factors:
        if factor.name == MONGOD:
            for level in factor.levels:
                find_mongod(flag=Path(level))
        if factor.name == SERVER_VERSION:
            for level in factor.levels:
                find_mongod(server_version=level, say=options.progress.step)


_OF_MONGODB = frozenset(
    {MONGOD, SERVER_VERSION, TOPOLOGY, NETWORK, READ_PREFERENCE, COMPRESSION, WRITE_CONCERN, JOURNAL}
)
"""Factors that other databases don't have."""


def _check_addresses(names: Set[str], own: Sequence[str], options: Options) -> None:
    """The servers of `--vary server` are all there is. Raises UsageError."""
    if own:
        raise UsageError(
            f"--vary {own[0]} needs servers that brimline starts, and --vary server names others",
            hint="vary one of them",
        )
    if options.uri is not None or options.null or os.environ.get(URI_VARIABLE):
        raise UsageError(
            "--vary server and another target contradict each other",
            hint="leave --uri, BRIMLINE_URI and --null out; the first level is what the others are compared with",
        )
    if names & _OF_MONGODB:
        raise UsageError(
            f"--vary server and {sorted(names & _OF_MONGODB)[0]} contradict each other",
            hint="say it in the options of each address",
        )


def _check_reads(names: Set[str], options: Options, uri: str | None) -> None:
    """Somebody must be there to prefer. Raises UsageError."""
    if options.null or (uri is None and TOPOLOGY not in names and options.topology is None):
        raise UsageError(
            "--vary read-preference needs a replica set, and brimline starts one server unless told otherwise",
            hint="add --topology replica-set-3, or give --uri of a replica set",
        )
    if uri is not None and "readpreference" in uri.lower():
        raise UsageError(
            "--vary read-preference and the readPreference of the address contradict each other",
            hint="give one of them",
        )


def _check_compression(options: Options, uri: str | None) -> None:
    """There must be messages, and nothing else that says how they are. Raises UsageError."""
    if options.null:
        raise UsageError("--vary compression needs a server, and the null target is none", hint="leave --null out")
    if uri is not None and "compressors" in uri.lower():
        raise UsageError(
            "--vary compression and the compressors of the address contradict each other", hint="give one of them"
        )


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


def _check_client(variant: Variant) -> None:
    """What the official driver isn't measured on. Raises UsageError, before anything is started."""
    spec, options = variant.loaded.spec, variant.options
    require_client(spec)
    plain = options.topology in (None, STANDALONE) and variant.reads is None and variant.compression in (None, NONE)
    if spec.target.kind == "driver" and not plain:
        raise driver_needs_one_server()


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
