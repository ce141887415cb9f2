"""Owns the surroundings of a verb while it works: the server that is up, the stop token, the environment."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from brimline.api.options import URI_VARIABLE, Options, named_uri
from brimline.api.options.server import BY_NODE
from brimline.api.own_lab import fitted, refuse_over_shards
from brimline.api.own_server import own_server, refuse_own, require_target
from brimline.api.profiler import profiler_share, require_profiled
from brimline.api.row_files import ROW_FILES, row_files
from brimline.api.wanted import wanted_data
from brimline.errors import TargetError, UsageError
from brimline.execution import (
    DataPolicy,
    Executor,
    LoadReport,
    MakeDirectory,
    RunContext,
    StopToken,
    WantedData,
    interruptible,
    keeper,
)
from brimline.execution.carried import Carried
from brimline.execution.import_progress import ImportSink
from brimline.execution.progress import ProgressSink
from brimline.execution.protocols import found, opened_for, target_on
from brimline.execution.scratch import sweep_scratch
from brimline.execution.step_profile import require_profiler
from brimline.execution.targets import require_client, server_of
from brimline.execution.telemetry import at_work
from brimline.monitor.host.source import HostSource
from brimline.monitor.host.sources import host_source
from brimline.operations import KINDS
from brimline.plan import NullTarget, Plan, TargetPlan, resolve
from brimline.plan.operations import OperationsWork
from brimline.record import RunRecord, capture_environment, create_run_directory
from brimline.record.layout import SPEC_FILE, require_room_for_records
from brimline.servers import Deployment, compressing_by, reading_by
from brimline.servers.deployment import WITH_SESSIONS, split_address
from brimline.servers.password import watch_token
from brimline.servers.selection import Mode
from brimline.spec import LoadedSpec, Spec
from brimline.spec.data import DataSpec
from brimline.spec.document import dotted
from brimline.spec.own import OwnOperations
from brimline.spec.readers import check_database, split_advice
from brimline.spec.target import TargetSpec, database_of_uri
from brimline.spec.validation import in_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """A target that is ready, and everything a run needs besides its plan. `uri`: the server, unless it is our own."""

    spec: Spec
    target: TargetPlan
    context: RunContext
    options: Options
    policy: DataPolicy
    uri: str | None = field(default=None, repr=False)
    loaded: LoadedSpec | None = field(default=None, repr=False)

    @property
    def stop(self) -> StopToken:
        """The request to end."""
        return self.context.stop

    def nodes_for(self, plan: Plan) -> int:
        """How many nodes share `plan`; 1: this process performs it."""
        if self.context.executor is None:
            return 1
        from brimline.execution.cluster.shares import taking_part  # of no use to whoever measures alone

        return taking_part(plan, self.context.executor.facts["count"])

    def beside(self, loaded: LoadedSpec) -> "Workplace":
        """The same server for another workload. Raises UsageError when that one names a server of its own.

        Likewise where it has nothing that the profiler would be asked about.
        """
        named = None if loaded.spec.target.uri is None else loaded.spec.target.uri.get_secret_value()
        if self.options.uri is None and named not in (None, self.uri):
            raise UsageError(
                f"{loaded.source} names another server",
                hint="both specs run on one server: name it with --uri; for two servers, compare records of each",
            )
        require_profiled(loaded.spec, self.options)
        spec = loaded.spec if self.uri is None else _with_uri(loaded.spec, self.uri)
        deployment = self.context.deployment
        if deployment is not None:
            spec.require_protocol(deployment.uri_redacted)
        target = self.target if deployment is None else target_on(spec, deployment)
        there = replace(self, target=target, loaded=loaded, context=replace(self.context, spec_text=loaded.text))
        return there.with_spec(spec).naming({SPEC_FILE: spec})

    def naming(self, specs: Mapping[str, Spec]) -> "Workplace":
        """The same with the files of rows in its environment that `specs` name, by the specs' names in the record."""
        environment = {name: value for name, value in self.context.environment.items() if name != ROW_FILES}
        if files := row_files(specs):
            environment[ROW_FILES] = files
        return replace(self, context=replace(self.context, environment=environment))

    def with_spec(self, spec: Spec) -> "Workplace":
        """The same server and client for another spec."""
        wanted = _kept(spec, self.target, self.policy)
        deployment = None if self.context.deployment is None else opened_for(spec, self.context.deployment)
        context = replace(self.context, wanted=wanted, carried=Carried(), deployment=deployment)
        return replace(self, spec=spec, context=context)

    def reading(self, mode: Mode | None) -> "Workplace":
        """The same servers with reads by another preference; None: as it is. Raises TargetError where nobody fits."""
        deployment = self.context.deployment
        if mode is None or deployment is None:
            return self
        return replace(self, context=replace(self.context, deployment=reading_by(deployment, mode)))

    def compressing(self, level: str | None) -> "Workplace":
        """The same servers with messages compressed by this; None: as it is. Raises TargetError: it isn't taken."""
        deployment = self.context.deployment
        if level is None or deployment is None:
            return self
        deployment = compressing_by(deployment, level)
        server = {**(self.context.environment.get("server") or {}), "compressor": deployment.compressor}
        environment = {**self.context.environment, "server": server}
        return replace(self, context=replace(self.context, deployment=deployment, environment=environment))

    def retrying(self, level: str | None) -> "Workplace":
        """The same servers with writes sent once more, `on`, or once, `off`; None: as it is. Raises UsageError."""
        deployment = self.context.deployment
        if level is None or deployment is None:
            return self
        if level == "on" and deployment.kind not in WITH_SESSIONS:
            raise UsageError(
                f"a {deployment.kind} server has no writes that are retried",
                hint="take a replica set or a sharded cluster: --topology replica-set-3",
            )
        return replace(self, context=replace(self.context, deployment=replace(deployment, retry_writes=level == "on")))

    def sharing(self, nodes: int | None) -> "Workplace":
        """The same with so many of the nodes of `--workers`; None: all of them. Raises UsageError: there are fewer."""
        executor = self.context.executor
        if nodes is None or executor is None:
            return self
        part = executor.of(nodes)
        environment = {**self.context.environment, "workers": part.facts}
        return replace(self, context=replace(self.context, executor=part, environment=environment))

    def directory(self, plan: Plan, *, kind: str = "") -> Path:
        """A new directory for a record of `plan`."""
        return create_run_directory(self.options.runs_dir, name=self.spec.name, plan_hash=plan.hash8(), kind=kind)

    @property
    def wanted(self) -> tuple[WantedData, ...]:
        """The data of each collection that the workload has a shape for."""
        return wanted_data(self.spec, target=self.target)

    def prepare(self, *, make_directory: MakeDirectory | None = None) -> None:
        """Sees to it that a run has all that it needs: its data, rows for its values, and steps that the server takes.

        What only looks comes first, and nothing is changed before. `make_directory` says where the record of a load
        goes, unless beside those of other verbs. Raises BrimlineError.
        """
        plan = resolve(self.spec, target=self.target)
        try:
            self._prepare(plan, make_directory)
        except UsageError as error:
            if self.loaded is None or not isinstance(plan.work, OperationsWork):
                raise
            named = [("operations", each.name) for each in plan.work.operations]
            named += [("values", each.name) for each in plan.work.tables]
            parts = {
                "operations": [each.name for each in plan.work.operations],
                "values": [each.name for each in plan.work.values],
            }
            by_engine = {
                f"work.{part}.{place}": (part, name)
                for part, names in parts.items()
                for place, name in enumerate(names)
            }
            raise self.loaded.placed(error, {dotted(path): path for path in named} | by_engine) from error

    def _prepare(self, plan: Plan, make_directory: MakeDirectory | None) -> None:
        own, data = plan.work.kind == "operations", keeper(self.context)
        if own:
            data.check(plan, self.wanted, policy=self.policy, are_writes_allowed=self.options.allow_writes)
        self._ensure_data(make_directory)
        if own:
            data.read_values(plan)
            self.stop.raise_if_requested()
            if not self.context.carried.is_tried:
                data.try_steps(plan)
                self.context.carried.is_tried = True

    def _ensure_data(self, make_directory: MakeDirectory | None) -> list[LoadReport]:
        if self.context.deployment is None:
            return []
        self.context.progress.step("looking for the data")
        reports = keeper(self.context).ensure(
            self.wanted,
            policy=self.policy,
            make_directory=make_directory or (lambda load: self.directory(load, kind="load")),
            drop=self.options.drop,
        )
        record = reports[-1].record if reports else None
        self.stop.request_if_lost()
        if self.stop.requested:
            interrupted = self.stop.error()
            interrupted.hint = None if record is None else self._after_broken_load(record)
            raise interrupted
        if record is not None and not record.complete:
            raise TargetError(f"the load broke off: {record.message}", hint=self._after_broken_load(record))
        if reports and reports[-1].shortfall is not None:
            raise reports[-1].shortfall
        return reports

    def _after_broken_load(self, record: RunRecord) -> str:
        kept = f"its record is kept in {record.directory}"
        stays = not record.complete and self.context.deployment is not None and not self.context.deployment.is_own
        return f"{kept}; the same command goes on with the load" if stays else kept


def _check_figures(spec: Spec, options: Options) -> None:
    """Refuses a figure to show of an operation that no workload has, before anything is measured."""
    if options.figures:
        from brimline.analysis.metric_names import check_names  # of no use to a load, which has memory to itself

        own = spec.operations.by_name if isinstance(spec.operations, OwnOperations) else ()
        check_names(options.figures, [*KINDS, *own])


@contextmanager
def workplace(
    loaded: LoadedSpec,
    options: Options,
    *,
    stop: StopToken | None = None,
    executor: Executor | None = None,
    resume: Path | None = None,
) -> Iterator[Workplace]:
    """Brings the target up for the length of the `with` block. Raises UsageError, TargetError and RecordError.

    `stop`: the request to end of a verb that has several targets one after the other, and listens to signals itself;
    `executor`: the nodes that it has reached, if any.
    `resume`: the record that is gone on with, if one is.
    """
    uri = given_uri(loaded.spec, options)
    _check_figures(loaded.spec, options)
    require_client(loaded.spec)
    require_target(loaded.spec, options, uri)
    share = profiler_share(loaded.spec, options, uri)
    sweep_scratch(options.runs_dir, say=options.progress.note)
    require_room_for_records(options.runs_dir, *([] if resume is None else [resume]))
    if uri is None:
        refuse_over_shards(loaded.spec, options)
        options = fitted(loaded.spec, options)
    is_alone = stop is None
    with (
        interruptible() if stop is None else nullcontext(stop) as stop,
        at_work(options.progress),
        nodes_of(options, stop) if is_alone else nullcontext(executor) as executor,
        _deployment(uri, options, stop) as deployment,
    ):
        stop.raise_if_requested()
        spec = loaded.spec if uri is None else _with_uri(loaded.spec, uri)
        target: TargetPlan = NullTarget()
        if deployment is not None:
            target, deployment = target_on(spec, deployment), opened_for(spec, deployment)
            if share is not None:
                require_profiler(deployment)
        own_server = deployment is not None and deployment.is_own
        policy = DataPolicy(options.data or (DataPolicy.LOAD if own_server else DataPolicy.CHECK))
        try:
            yield Workplace(
                spec=spec,
                target=target,
                context=RunContext(
                    profiler_share=share,
                    deployment=deployment,
                    spec_text=loaded.text,
                    environment=environment_of(deployment, options, {SPEC_FILE: spec}, executor),
                    progress=options.progress,
                    stop=stop,
                    executor=executor,
                    wanted=_kept(spec, target, policy),
                    host=_host(deployment, options, executor),
                ),
                options=options,
                uri=uri,
                loaded=loaded,
                policy=policy,
            )
        finally:
            options.progress.over()


def _kept(spec: Spec, target: TargetPlan, policy: DataPolicy) -> tuple[WantedData, ...]:
    """The data that is kept as it was loaded: not where whatever is there is taken."""
    return () if policy is DataPolicy.AS_IS else wanted_data(spec, target=target)


def _host(deployment: Deployment | None, options: Options, executor: Executor | None) -> HostSource | None:
    where = options.host_metrics
    if where is None or deployment is None:
        return None
    if where == BY_NODE and executor is not None:
        where, token = executor.watch(split_address(deployment.address)[0])
    else:
        token = watch_token(options.host_token_file, option="--host-token-file")
    return host_source(where, deployment=deployment, token=token, disk=options.host_disk)


def given_uri(spec: Spec, options: Options) -> str | None:
    """The connection string that was given, the nearest first: option, spec, environment."""
    if options.null:
        if options.uri is not None:
            raise UsageError("the null target has no address", hint="give --uri or --null, not both")
        if (client := spec.target.client) != "wire":
            raise UsageError(
                f"the null target is brimline's own client without a server, and {client} is a driver",
                hint="leave out the client, or --null",
            )
        return None
    in_spec = None if spec.target.uri is None else spec.target.uri.get_secret_value()
    return named_uri(options.uri, in_spec, os.environ.get(URI_VARIABLE))


def _with_uri(spec: Spec, uri: str) -> Spec:
    """`spec` with what the connection string in use says: write concern and database, held to the spec's own rules."""
    try:
        target = TargetSpec.model_validate({**dict(spec.target), "uri": uri})
        database = database_of_uri(uri) or spec.data.database
        if spec.is_own:
            check_database(database)
            data = spec.data.model_copy(update={"database": database})
        else:
            data = DataSpec.model_validate({**spec.data.model_dump(exclude_none=True), "database": database})
    except ValueError as error:  # of which pydantic's are
        said = in_words(error.errors()[0]) if isinstance(error, ValidationError) else split_advice(str(error))
        raise UsageError(
            f"the connection string can't be honoured: {said[0]}", hint=said[1] or "correct the address of the server"
        ) from None
    changed = {"target": target, "data": data, **({"database": database} if spec.is_own else {})}
    return spec.model_copy(update=changed)


@contextmanager
def nodes_of(options: Options, stop: StopToken, progress: ImportSink | None = None) -> Iterator[Executor | None]:
    """Who performs the runs: the nodes of `--workers`, or this process.

    `progress`: who is told, None: that of the options. Raises UsageError and TargetError, and Interrupted where `stop`
    is requested before they are there.
    """
    where = options.where_workers_are()
    if where is None:
        yield None
        return
    from brimline.execution.cluster.cluster import opened  # of no use to whoever measures alone

    listener: ProgressSink | ImportSink = options.progress if progress is None else progress
    listener.step("reaching the workers")
    with opened(where, stop) as cluster:
        listener.note(cluster.described)
        yield cluster


@contextmanager
def _deployment(uri: str | None, options: Options, stop: StopToken) -> Iterator[Deployment | None]:
    if options.null:
        refuse_own(options)
        yield None
        return
    with server_in_use(uri, options, say=options.progress.step, stop=stop) as deployment:
        yield deployment


@contextmanager
def server_in_use(
    uri: str | None, options: Options, *, say: Callable[[str], None], stop: StopToken
) -> Iterator[Deployment]:
    """The server at `uri`; without one a mongod of brimline's own for the length of the `with` block.

    `say` is told what is fetched and started. Raises UsageError and TargetError.
    """
    if uri is not None:
        refuse_own(options)
        yield found(uri, password=options.password, say=options.progress.note)
        return
    with own_server(options, say=say, stop=stop) as deployment:
        yield deployment


def environment_of(
    deployment: Deployment | None,
    options: Options,
    specs: Mapping[str, Spec] = MappingProxyType({}),
    executor: Executor | None = None,
) -> dict[str, Any]:
    """Where it happens, for the record: this machine, what the server says about itself, and files that specs name.

    `specs` are by their names in the record. `executor`: who performs the runs, where this process doesn't.
    """
    server = None if deployment is None else server_of(deployment)
    uri = None if deployment is None else deployment.uri_redacted
    return capture_environment(
        uri=uri,
        server=server,
        command=options.command,
        row_files=row_files(specs),
        workers=None if executor is None else executor.facts,
        data=None if options.data is None else str(options.data),
    )
