"""Owns going on with an experiment that did not end: whether it can be, and what of it counts."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from brimline.api.options import URI_VARIABLE, Options
from brimline.api.row_files import ROW_FILES, require_same_rows, rows_directory
from brimline.errors import AnotherServer, BrimlineError, RecordError, UsageError
from brimline.execution import DataPolicy
from brimline.execution.stop import KEPT
from brimline.experiments.vary.factor_kinds import SERVER
from brimline.record import ExperimentRecord, brimline_version, read_experiment
from brimline.record.damage import damage_told
from brimline.record.directory_lock import being_written
from brimline.record.layout import ENVIRONMENT_FILE, EXPERIMENT_FILE, RUNNING, SPEC_FILE
from brimline.record.reader import read_environment
from brimline.record.redaction import REDACTED
from brimline.servers.lab.lookup import lab_uri
from brimline.spec import LoadedSpec, load_spec

_HOSTNAME = ("hostInfo", "system", "hostname")
_IDENTITY = (
    ("engine",),
    ("kind",),
    ("version",),
    ("git_version",),
    ("started_by_brimline",),
    ("lab",),
    _HOSTNAME,
    ("hostInfo", "system", "numCores"),
)
"""What of `environment.json`'s server must be the same for trials to be put together."""
_NAMES = (("hello", "setName"), ("hello", "me"))
"""The same of a server that runs by itself; one that brimline starts has other names each time."""

_UNNAMED = SPEC_FILE.removesuffix(".yaml")
"""The name of a stored workload without a name, as an older brimline left it: that of its file was meant."""
_RESUMED_BY = {"load": "--resume-design"}
"""The option that goes on with a design, where it has another name."""
_VERBS = {"frontier": "capacity", "growth": "grow", "vary": "sweep"}
"""The verb of an experiment, where it has another name."""


def resuming_verb(kind: str, settings: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The verb that goes on with an experiment of this kind; a design names the one that it crosses."""
    return (settings.get("measure") if kind == "vary" else None) or _VERBS.get(kind, kind)


def resuming_option(verb: str) -> str:
    """The option that goes on with an experiment of this verb."""
    return _RESUMED_BY.get(verb, "--resume")


def resuming_command(verb: str, directory: Path) -> str:
    """The command that goes on with an experiment of this verb."""
    return f"brimline {verb} {resuming_option(verb)} {directory}"


def uri_again(environment: Mapping[str, Any]) -> str | None:
    """The connection string of a record, where what is masked in it is found again: the user of brimline's own lab."""
    uri = environment.get("uri")
    if not isinstance(uri, str) or REDACTED not in uri:
        return uri if isinstance(uri, str) else None
    return lab_uri(uri) if (environment.get("server") or {}).get("user_of_lab") is True else None


def uri_option(environment: Mapping[str, Any]) -> str:
    """What a command that goes on with a record says besides: the connection string, where it can't be found again."""
    is_missing = environment.get("uri") is not None and uri_again(environment) is None
    return ' --uri "$URI"' if is_missing and not os.environ.get(URI_VARIABLE) else ""


def way_on(verb: str, directory: Path) -> str:
    """What every hint about an experiment that ended early says: where its record is, and what goes on with it."""
    environment: Mapping[str, Any] = {}
    with suppress(RecordError):
        environment = read_environment(directory / ENVIRONMENT_FILE)
        if (directory / EXPERIMENT_FILE).exists():
            environment = _of_given_server(read_experiment(directory))
    return f"{KEPT} {directory}; {resuming_command(verb, directory)}{uri_option(environment)} goes on with it"


def tell_way_on(error: BrimlineError, verb: str, directory: Path) -> None:
    """Adds it to the hint of what ended an experiment, in place of that of an experiment within it."""
    own = (error.hint or "").partition(KEPT)[0].removesuffix("; ")
    error.hint = "; ".join(filter(None, (own, way_on(verb, directory))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """An experiment to go on with, and the workload it was begun with."""

    experiment: ExperimentRecord
    loaded: LoadedSpec


def resumption(directory: Path, *, kinds: tuple[str, ...]) -> Resumption:
    """The experiment in `directory`. Raises UsageError and RecordError where there is none that can be resumed."""
    if not (directory / EXPERIMENT_FILE).exists():
        raise UsageError(
            f"{directory} holds no experiment to go on with", hint=f"give the directory of a {' or '.join(kinds)}"
        )
    experiment = read_experiment(directory)
    if experiment.kind not in kinds:
        raise UsageError(
            f"{directory} holds {_named(experiment.kind)}, not {' or '.join(map(_named, kinds))}",
            hint=resuming_command(resuming_verb(experiment.kind, experiment.settings), directory),
        )
    if experiment.brimline_version != brimline_version():
        # What is sent and how it is judged may differ, whatever the plans are.
        raise UsageError(
            f"brimline {experiment.brimline_version} measured {directory}, and this is {brimline_version()}: the "
            "trials of one experiment are of one version",
            hint=f"go on with brimline {experiment.brimline_version}, or begin anew; `brimline compare` holds the two "
            "against each other",
        )
    if experiment.ended_by == RUNNING:
        # Asked for once more where it is written; told here before a server is started or given data for nothing.
        raise being_written(directory)
    loaded = stored_workload(directory, SPEC_FILE)
    with damage_told(directory):
        spec = loaded.spec
        if spec.name == _UNNAMED:
            spec = spec.model_copy(update={"name": experiment.name})
    return Resumption(experiment=experiment, loaded=LoadedSpec(spec, experiment.spec_text, loaded.source))


def stored_workload(directory: Path, name: str) -> LoadedSpec:
    """A spec of an experiment, with the files that it names. Raises SpecError, UsageError and RecordError."""
    return load_spec(directory / name, directory=rows_directory(directory / name))


def as_begun(found: Resumption, options: Options) -> Options:
    """The options with what was said at first beside the workload, and isn't now: the server, the data, the workers.

    Raises UsageError, as `on_its_server`.
    """
    options, experiment = on_its_server(found, options), found.experiment
    with damage_told(experiment.directory):
        data = _first_told(experiment, "data")
        workers = _first_told(experiment, "workers") or {}
        if options.data is None and data is not None:
            options = replace(options, data=DataPolicy(data))
        if options.workers is None and "where" in workers:
            options = replace(options, workers=workers["where"], workers_per_node=workers["per_node"])
    return options


def _first_told(experiment: ExperimentRecord, name: str) -> Any:
    """A part of its environment; a design knows its workers by its trials."""
    environments = (experiment.environment, *map(read_environment, _environments(experiment)))
    return next((each[name] for each in environments if name in each), None)


def _environments(experiment: ExperimentRecord) -> list[Path]:
    """The files of its trials, of those that were killed as well."""
    return sorted(experiment.directory.glob(f"*/*/{ENVIRONMENT_FILE}"))


def on_its_server(found: Resumption, options: Options) -> Options:
    """The options with the address that was given at first beside the workload, where it is somebody else's server.

    Raises UsageError where that was stored without its secrets and is not given anew: before any server is started.
    """
    named = options.null or any((options.uri, found.loaded.spec.target.uri, os.environ.get(URI_VARIABLE)))
    experiment = found.experiment
    with damage_told(experiment.directory):
        environment = {} if named else _of_given_server(experiment)
        uri = uri_again(environment) or environment.get("uri")
    if uri is None:
        return options
    if REDACTED in uri:
        directory, verb = experiment.directory, resuming_verb(experiment.kind, experiment.settings)
        raise UsageError(
            f"{directory} was measured on {uri}, and a record holds no user and no password",
            hint=f"give that address anew, with its user: {resuming_command(verb, directory)} --uri ADDRESS",
        )
    return replace(options, uri=uri)


def _of_given_server(experiment: ExperimentRecord) -> Mapping[str, Any]:
    """What names the one server that somebody else runs, else nothing.

    A design knows it by its trials, unless its servers are a factor. So does a trial that was killed, though it doesn't
    count.
    """
    if any(factor.get("name") == SERVER for factor in experiment.settings.get("factors", ())):
        return {}
    for environment in (experiment.environment, *map(read_environment, _environments(experiment))):
        if isinstance(environment.get("uri"), str):
            is_others = (environment.get("server") or {}).get("started_by_brimline") is False
            return environment if is_others else {}
    return {}


def _named(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def require_same(directory: Path | None, *, plan_hash: str, environment: Mapping[str, Any]) -> ExperimentRecord | None:
    """Refuses to put trials together that don't belong together. Raises UsageError.

    `directory` holds the experiment that is gone on with, which is returned; None: none is, so that all is new.
    """
    if directory is None:
        return None
    experiment = read_experiment(directory)
    # First, because another server can make another plan, and so do other rows.
    require_same_server(experiment.directory, experiment.environment, environment)
    before, now = (each.get(ROW_FILES) or {} for each in (experiment.environment, environment))
    require_same_rows(experiment.directory, before, now)
    if experiment.plan_hash != plan_hash:
        raise UsageError(
            f"the workload of {experiment.directory} now makes another plan: {plan_hash}, not {experiment.plan_hash}",
            hint="its spec.yaml was changed, or the address names another database; begin a new one",
        )
    return experiment


def require_same_server(directory: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuses to go on in `directory` on another server; both are environments of records. Raises UsageError."""
    server_before, server_now = before.get("server") or {}, now.get("server") or {}
    started = server_now.get("started_by_brimline")
    if not started:
        _require_same_primary(directory, server_before.get("hello") or {}, server_now.get("hello") or {})
    for path in _IDENTITY if started else (*_IDENTITY, *_NAMES):
        was, is_ = _at(server_before, path), _at(server_now, path)
        if path == _HOSTNAME and started:
            was, is_ = _without_port(was), _without_port(is_)
        if was != is_:
            raise AnotherServer(
                f"this is not the server that {directory} was measured on: {'.'.join(path)} is {is_}, and was {was}",
                hint="give the same server as at first, by --uri or by what says which one to start, or begin anew",
            )


def _require_same_primary(directory: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Members of a set can differ in what they bear, and its primary is what was measured."""
    was, is_ = before.get("me"), now.get("me")
    of_one_set = before.get("setName") == now.get("setName") and was in (now.get("hosts") or ())
    if of_one_set and was != is_:
        raise AnotherServer(
            f"the primary of {now.get('setName')} is {is_} now, and was {was} when {directory} was measured",
            hint=f"make {was} primary again: let {is_} step down by rs.stepDown(), or give {was} the highest priority; "
            "or begin anew",
        )


def _at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document


def _without_port(hostname: Any) -> Any:
    """Mongod tells its host with its port; one that brimline starts has another port each time."""
    return hostname.partition(":")[0] if isinstance(hostname, str) else hostname
