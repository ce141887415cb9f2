"""Owns the factor sweep behind the verb `sweep`: crossed factors in blocks, and what each level changes."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from statistics import fmean
from typing import Any, Unpack

from brimline.api.kinds import MeasureInPlace, measure_named
from brimline.api.options import Options, typed
from brimline.api.planning import Cost, is_planning, run_s, spec_bytes, tell
from brimline.api.put_back_cost import put_back_of
from brimline.api.results import Result
from brimline.api.resume import as_begun, resuming_verb, resumption, tell_way_on
from brimline.api.row_files import ROW_FILES, require_same_rows, row_files
from brimline.api.run import interruption
from brimline.api.variants import (
    Variant,
    Workloads,
    check_meaning,
    check_overrides,
    placed,
    require_descriptors,
    run_plan,
)
from brimline.api.varied_place import open_place
from brimline.api.workload import (
    PropertyWords,
    WorkloadWords,
    check_no_think_time,
    load_workload,
    overrides_of,
    properties_of,
)
from brimline.api.workplace import environment_of, given_uri, nodes_of
from brimline.doctor.check import Status
from brimline.doctor.disk import free_below, server_disk
from brimline.errors import BrimlineError, GateFailed, Interrupted, InvalidRun, TargetError, UsageError, redact_text
from brimline.execution import interruptible
from brimline.execution.telemetry import at_work
from brimline.experiments.cost import NOTHING_PUT_BACK, PutBack
from brimline.experiments.measure import BLOCKS_DEFAULT, BLOCKS_MAX_DEFAULT
from brimline.experiments.stored import stored_seed
from brimline.experiments.vary.conclusion import VaryConclusion, conclude_vary
from brimline.experiments.vary.cost import vary_cost_text
from brimline.experiments.vary.factor_kinds import SERVER, WORKLOAD
from brimline.experiments.vary.factors import parse_factors, parse_listed
from brimline.experiments.vary.order import (
    VARY_KIND,
    Levels,
    RunOutcome,
    Vary,
    VaryEnd,
    VaryLoad,
    VarySettings,
    VaryTrial,
)
from brimline.experiments.vary.runner import VaryWork, describe_levels, run_vary
from brimline.experiments.vary.stored import (
    begun,
    servers_started,
    settings_document,
    stored_vary_loads,
    stored_vary_settings,
    stored_vary_trials,
)
from brimline.plan import NullTarget
from brimline.record import ExperimentRecord, ExperimentWriter, create_run_directory, read_experiment
from brimline.record.damage import damage_told
from brimline.record.files import is_there, make_directory, replace_text
from brimline.record.layout import ENVIRONMENT_FILE, EXPERIMENT_FILE, SPEC_FILE, TRIALS_DIRECTORY, slug
from brimline.record.model import Environment
from brimline.record.reader import read_environment, read_state
from brimline.report.vary.view import vary_report
from brimline.servers.state import servers_directory
from brimline.spec import LoadedSpec
from brimline.spec.document import dump_document

WORKLOADS_DIRECTORY = "workloads"
"""Below the sweep's directory: each workload as it was before a level changed it, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VaryResult(Result):
    """One factor sweep. Levels that don't differ are an answer too."""

    experiment: ExperimentRecord
    trials: Sequence[VaryTrial]
    loads: Sequence[VaryLoad]
    settings: VarySettings
    conclusion: VaryConclusion

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, target lost, no run that counts, or an objective that was missed."""
        if self.interrupted is not None:
            return self.interrupted
        if self.conclusion.ended_by is VaryEnd.BROKEN_OFF:
            return TargetError(
                f"the sweep broke off: {self.trials[-1].ended_by.replace('_', ' ')}",
                hint=self.where_to_go_on(resuming_verb(VARY_KIND, self.experiment.settings)),
            )
        if not any(trial.counts for trial in self.trials):
            reasons = next((trial.reasons for trial in self.trials if trial.reasons), ("nothing was measured",))
            return InvalidRun(f"no run counts: {'; '.join(reasons)}", hint=self.where_to_look)
        if missed := [trial for trial in self.trials if trial.missed]:
            first = f"{describe_levels(self.settings, missed[0].probe.levels)}: {missed[0].missed}"
            return GateFailed(
                f"an objective was missed in {len(missed)} of {len(self.trials)}; the first is {first}",
                hint=self.where_to_look,
            )
        if failed := self._failed:
            first = f"{describe_levels(self.settings, failed[0].probe.levels)}: {'; '.join(failed[0].reasons)}"
            levels, every = {each.probe.levels for each in failed}, {each.probe.levels for each in self.trials}
            return InvalidRun(
                f"combinations that failed: {len(levels)} of {len(every)}; the first is {first}",
                hint=self.where_to_look,
            )
        return None

    @property
    def _failed(self) -> list[VaryTrial]:
        """The last trial of each cell that failed, and of each combination whose runs all prove nothing."""
        last = {(each.probe.block, each.probe.levels): each for each in self.trials}
        known = {each.probe.levels for each in self.trials if each.counts}
        unproven = {levels: each for (_, levels), each in last.items()
                    if each.outcome is RunOutcome.INVALID and levels not in known}  # fmt: skip
        return [*(each for each in last.values() if each.outcome is RunOutcome.FAILED), *unproven.values()]


@typed
def vary(
    workload: str | Path | None = None,
    *,
    factors: Sequence[str] = (),
    levels: Sequence[str] = (),
    measure: str = "",
    said: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> VaryResult:
    """Runs every combination of the levels of `factors`, such as "connections=1,8", in interleaved blocks.

    `levels` lists combinations instead, such as "connections=1,records=1k". `measure`: the verb that is measured at
    each of them, with what is `said` to it by the words of its settings; "" is a run in a closed loop. `settings` are
    fields of `VarySettings` besides these. Without `workload` it is itself a factor, or comes from YCSB properties.
    Raises BrimlineError, before anything starts where a factor can't be.
    """
    options = options or Options()
    changes = overrides_of(words)
    if factors and levels:
        raise UsageError("factors are crossed, or combinations are listed", hint="give --vary or --levels, not both")
    parsed, listed = parse_listed(levels) if levels else (parse_factors(factors), ())
    made = measure_named(measure)
    load_of = _load if measure else _load_kept_busy
    check_meaning(parsed, measure, made)
    check_overrides(parsed, changes)
    properties = properties_of(words)
    named = next((factor.levels for factor in parsed if factor.name == WORKLOAD), None)
    if named is not None:
        if workload is not None or any(properties.values()):
            raise UsageError("the workload is given, and varied as well", hint=f"leave {workload or '-P and -p'} out")
        workloads: Workloads = {name: partial(load_of, name, changes=changes) for name in named}
        if len({slug(Path(name).stem) for name in named}) < len(named):
            raise UsageError("two of the workloads have the same name", hint="name their files differently")
    else:
        load = partial(load_of, workload, changes=changes, **properties)
        workloads = {load({}).spec.name: load}
    try:
        times = how_often(settings or {}, once=made is not None and made.measure.has_interval)
        wanted = VarySettings(factors=parsed, listed=listed, measure=measure, said=said or {}, **times)
    except ValueError as error:
        raise UsageError(str(error), hint=f"see brimline {measure or 'sweep'} --help") from error
    wanted, variants = placed(wanted, workloads, options, made)
    cells = {} if made is None else _settings_of(made, wanted, variants)
    bytes_of = made.data_bytes if made is not None else lambda spec, _settings: spec_bytes(spec)
    sizes = {levels: bytes_of(each.loaded.spec, cells.get(levels)) for levels, each in variants.items()}
    if made is not None:
        times_of = [made.estimate(variants[levels].loaded.spec, each) for levels, each in cells.items()]
        cell_s = math.fsum(each.typical_s for each in times_of) / len(times_of)
        most_s = math.fsum(each.max_s for each in times_of) / len(times_of)
        wanted = replace(wanted, cell_s=0.0 if math.isnan(cell_s) else cell_s, cell_most_s=most_s)
    elif measure:
        wanted = replace(wanted, cell_s=sum(run_s(each.loaded.spec) for each in variants.values()) / len(variants))
    if is_planning():
        tell(_cost(wanted, sizes, made))
    addresses = [given_uri(each.loaded.spec, each.options) for each in variants.values()]
    if not options.null and all(uri is None for uri in addresses):
        _require_room(wanted, sizes)
    return _conduct(wanted, variants, workloads, options)


def _cost(settings: VarySettings, sizes: Mapping[Levels, int], made: MeasureInPlace | None) -> Cost:
    times = settings.blocks * len(settings.combinations)
    loads = len(settings.groups) * (settings.blocks if settings.apart else 1)
    return Cost(
        seconds=settings.blocks * settings.block_s if settings.run_s else math.nan,
        data_bytes=max(sizes.values()),
        times=times,
        loads=loads if made is None or made.on_data else 0,
    )


def is_design(directory: Path, verb: str) -> bool:
    """Whether the record in `directory` is one of factors that are crossed with this verb. Raises RecordError."""
    if not is_there(directory / EXPERIMENT_FILE):
        return False
    with damage_told(directory):
        state = read_state(directory, EXPERIMENT_FILE)
        return state.get("kind") == VARY_KIND and resuming_verb(VARY_KIND, state.get("settings", {})) == verb


def resumed_vary(directory: Path, options: Options) -> VaryResult:
    """Goes on with the sweep in `directory`. Raises UsageError where it can't be."""
    found = resumption(directory, kinds=(VARY_KIND,))
    experiment, options = found.experiment, as_begun(found, options)
    stored = stored_vary_settings(experiment)
    names: Sequence[str] = experiment.settings.get("workloads", ())
    load_of = _load if stored.measure else _load_kept_busy
    workloads: Workloads = {name: partial(load_of, _stored_path(directory, name), changes={}) for name in names}
    settings, variants = placed(stored, workloads, options, measure_named(stored.measure))
    if settings != stored:
        raise UsageError(
            f"{directory} was measured on {'servers of its own' if stored.apart else 'one server'}",
            hint="give the same options as at first, or begin anew",
        )
    return _conduct(settings, variants, workloads, options, resume=experiment)


def vary_result(
    experiment: ExperimentRecord,
    *,
    trials: Sequence[VaryTrial] | None = None,
    interrupted: Interrupted | None = None,
) -> VaryResult:
    """What the runs show, now or years later."""
    settings = stored_vary_settings(experiment)
    made = measure_named(settings.measure)
    measure = None if made is None else made.measure
    runs = stored_vary_trials(experiment, measure) if trials is None else trials
    if made is not None:
        place = experiment.directory / TRIALS_DIRECTORY
        runs = [replace(each, missed=made.missed(place / each.name)) if each.counts else each for each in runs]
    loads = stored_vary_loads(experiment)
    conclusion = conclude_vary(settings, runs, loads, seed=stored_seed(experiment))
    return VaryResult(
        report=vary_report(experiment, runs, loads, conclusion, settings, environment=_first_environment(experiment)),
        directory=experiment.directory,
        interrupted=interrupted,
        experiment=experiment,
        trials=runs,
        loads=loads,
        settings=settings,
        conclusion=conclusion,
    )


def _require_room(settings: VarySettings, sizes: Mapping[Levels, int]) -> None:
    """The disk of brimline's own servers takes the largest combination, by bytes. Raises UsageError."""
    largest, place = max(sizes, key=sizes.__getitem__), servers_directory()
    check = server_disk(f"below {place}", free_bytes=free_below(place), planned_bytes=sizes[largest])
    if check.status is Status.FAIL:
        raise UsageError(
            f"{describe_levels(settings, largest)} won't fit: {check.evidence}", hint="vary less, or free some"
        )


def how_often(settings: Mapping[str, Any], *, once: bool) -> Mapping[str, Any]:
    """With how often each combination is measured; `once` where a figure has an interval of its own.

    A number of repeats alone is meant exactly: it is the least where a precision is asked for as well.
    """
    blocks = settings.get("blocks", min(1 if once else BLOCKS_DEFAULT, settings.get("blocks_max", BLOCKS_DEFAULT)))
    exact = once or ("blocks" in settings and "precision" not in settings)
    most = blocks if exact else max(BLOCKS_MAX_DEFAULT, blocks)
    return {"blocks": blocks, "blocks_max": most, **settings}


def _put_back(settings: VarySettings, variants: Mapping[Levels, Variant]) -> PutBack:
    """What is put back before a run, on average over the combinations; of other measures their own estimates say it."""
    if settings.is_nested:
        return NOTHING_PUT_BACK
    sizes = [put_back_of(each.loaded.spec).size_bytes for each in variants.values()]
    return PutBack(round(fmean(sizes)))


def _settings_of(
    made: MeasureInPlace, settings: VarySettings, variants: Mapping[Levels, Variant]
) -> Mapping[Levels, Any]:
    """What is measured at each combination. Raises UsageError where that can't be."""
    found = {
        levels: made.settings(each.loaded.spec, {**settings.said, **each.said}) for levels, each in variants.items()
    }
    for levels, each in found.items():
        made.fits(each, variants[levels].options)
    return found


def _load(
    workload: str | Path | None,
    levels: Mapping[str, object],
    *,
    changes: Mapping[str, object],
    **properties: Unpack[PropertyWords],
) -> LoadedSpec:
    return load_workload(workload, overrides={**changes, **levels}, **properties)


def _load_kept_busy(
    workload: str | Path | None,
    levels: Mapping[str, object],
    *,
    changes: Mapping[str, object],
    **properties: Unpack[PropertyWords],
) -> LoadedSpec:
    """For a closed loop over all connections. Raises UsageError also where they pause."""
    loaded = _load(workload, levels, changes=changes, **properties)
    check_no_think_time(loaded.spec)
    return loaded


def _conduct(
    settings: VarySettings,
    variants: Mapping[Levels, Variant],
    workloads: Workloads,
    options: Options,
    *,
    resume: ExperimentRecord | None = None,
) -> VaryResult:
    """Makes the runs that are not there yet. Raises BrimlineError; what was measured is kept."""
    seed = variants[settings.combinations[0]].loaded.spec.seed
    stored = {**settings_document(settings), "seed": seed, "workloads": list(workloads)}
    writer = _opened(settings, variants, workloads, options, stored=stored, resume=resume)
    directory = writer.directory
    with writer, interruptible() as stop, at_work(options.progress):
        before = read_experiment(directory)
        made = measure_named(settings.measure)
        measure = None if made is None else made.measure
        try:
            with nodes_of(options, stop) as executor:
                work = VaryWork(
                    settings=settings,
                    writer=writer,
                    open_place=partial(open_place, settings, variants, stop, before, executor),
                    progress=options.progress,
                    stop=stop,
                    measure=measure,
                    begun=begun(before),
                )
                trials = run_vary(
                    Vary(settings, seed),
                    work,
                    done=[each for each in stored_vary_trials(before, measure) if each.ended_by == "completed"],
                    servers_before=servers_started(before),
                )
        except BrimlineError as error:
            writer.seal(ended_by=stop.how_ended if stop.requested else "error", message=error.message)
            keep_or_remove(directory, error, begun=resume is not None)
            raise
        writer.seal(ended_by=stop.how_ended)
        verb = resuming_verb(VARY_KIND, stored)
        interrupted = interruption(stop, directory, resumed_by=verb)
    result = vary_result(read_experiment(directory), trials=trials, interrupted=interrupted)
    result.write(options.language)
    return result


def _opened(
    settings: VarySettings,
    variants: Mapping[Levels, Variant],
    workloads: Workloads,
    options: Options,
    *,
    stored: Mapping[str, Any],
    resume: ExperimentRecord | None,
) -> ExperimentWriter:
    """The record, begun or gone on with. Raises BrimlineError where runs can't be made, or would be others now."""
    unchanged = {name: load({}) for name, load in workloads.items()}  # which are stored, so have to be right as well
    if not options.null:
        require_descriptors(variants.values())
    specs = {
        SPEC_FILE: next(iter(unchanged.values())).spec,
        **{_stored_name(name): each.spec for name, each in unchanged.items()},
    }
    plan_hash = _plan_hash(settings, variants)
    if resume is not None:
        require_same_rows(resume.directory, resume.environment.get(ROW_FILES) or {}, row_files(specs))
        if resume.plan_hash != plan_hash:
            raise UsageError(
                f"the workloads of {resume.directory} now make other plans",
                hint="they were changed, or another version of brimline wrote them; begin anew",
            )
        return ExperimentWriter.reopen(resume.directory, settings=stored)
    starts_servers = bool(settings.apart) and SERVER not in settings.apart
    options.progress.note(vary_cost_text(settings, own_server=starts_servers, put_back=_put_back(settings, variants)))
    name = variants[settings.combinations[0]].loaded.spec.name
    directory = create_run_directory(options.runs_dir, name=name, plan_hash=plan_hash, kind=VARY_KIND)
    writer = ExperimentWriter(
        directory,
        kind=VARY_KIND,
        name=name,
        settings=stored,
        spec_text=next(iter(unchanged.values())).text,
        environment=environment_of(None, options, specs),
        plan_hash=plan_hash,
    )
    make_directory(directory / WORKLOADS_DIRECTORY)
    for named, each in unchanged.items():
        replace_text(_stored_path(directory, named), redact_text(dump_document(each.spec.to_document())))
    return writer


def _stored_path(directory: Path, name: str) -> Path:
    return directory / _stored_name(name)


def _stored_name(name: str) -> str:
    return f"{WORKLOADS_DIRECTORY}/{slug(Path(name).stem)}.yaml"


_SENT = "commands in sessions"
"""What plans over the null target don't show of what is sent: a sweep that was begun otherwise doesn't go on."""


def _plan_hash(settings: VarySettings, variants: Mapping[Levels, Variant]) -> str:
    """8 hex digits over the plans of all combinations."""
    plans = (run_plan(each.loaded.spec, settings, NullTarget()).hash8() for each in variants.values())
    return hashlib.sha256(" ".join((*plans, _SENT)).encode()).hexdigest()[:8]


def keep_or_remove(directory: Path, error: BrimlineError, *, begun: bool) -> None:
    """A sweep that failed before its first run or load leaves nothing behind, unless it had been `begun` before."""
    experiment = read_experiment(directory)
    if begun or experiment.trials:
        tell_way_on(error, resuming_verb(experiment.kind, experiment.settings), directory)
    else:
        rmtree(directory, ignore_errors=True)


def _first_environment(experiment: ExperimentRecord) -> Environment:
    """Where it happened, of the first run; the design's own says nothing of servers that it started later."""
    files = [each.directory / ENVIRONMENT_FILE for each in experiment.trials]
    return next((read_environment(path) for path in files if is_there(path)), experiment.environment)
