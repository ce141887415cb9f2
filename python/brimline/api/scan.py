"""Owns the verb `scan`: queries measured one by one, what the server says of each, and the rule that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.scan_figures import ScanTrial, agreement, client_share
from brimline.analysis.scan_rule import RangeFit, range_fits
from brimline.api.kinds import Kind, MeasureInPlace, conduct
from brimline.api.options import Options, typed
from brimline.api.protocols import require_mongodb
from brimline.api.recording import recording
from brimline.api.results import Result
from brimline.api.resume import require_same
from brimline.api.workload import WorkloadWords, load_workload
from brimline.api.workplace import Workplace, given_uri
from brimline.errors import BrimlineError, GateFailed, InvalidRun, UsageError
from brimline.execution.database import database_named
from brimline.experiments.conductor import conduct_trials
from brimline.experiments.measure import Measure
from brimline.experiments.scan.figures import scan_figures
from brimline.experiments.scan.order import SCAN_KIND, Scan, ScanProbe, ScanSettings, assumed_time, probes, scan_time
from brimline.experiments.scan.runner import Queries, ScanPlace
from brimline.experiments.scan.setting import (
    check_scenarios,
    collection_size,
    indexes_in_place,
    range_bounds,
    require_mergeable,
)
from brimline.experiments.scan.stored import stored_queries, stored_scan_settings, stored_scan_trials, stored_scans
from brimline.plan import resolve
from brimline.record import ExperimentRecord, ExperimentWriter, read_experiment
from brimline.record.layout import KILLED
from brimline.report.scan.view import scan_report
from brimline.servers.lab.names import is_client_routed
from brimline.spec import LoadedSpec, Spec
from brimline.spec.scans import ScansSpec


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanResult(Result):
    """One scan. `fits` are those of its ranges."""

    experiment: ExperimentRecord
    trials: Sequence[ScanTrial]
    fits: Sequence[RangeFit]
    findings: Sequence[Finding]

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, a query that was refused, counts that disagree, or an expectation that isn't met."""
        if self.interrupted is not None:
            return self.interrupted
        for trial in self.trials:
            if trial.refusal is not None:
                refusal = trial.refusal
                return InvalidRun(
                    f"{trial.scenario}: the server refuses the query: {refusal.text} "
                    f"(code {refusal.code} {refusal.code_name})",
                    hint="correct the scenario; the others were measured",
                )
        for finding in self.findings:
            if finding.verdict is Standing.FAIL:
                return InvalidRun(f"the figures contradict the server's: {finding.evidence}", hint=self.where_to_look)
        broken = [f"{trial.scenario}: {problem}" for trial in self.trials for problem in trial.broken]
        return GateFailed("; ".join(dict.fromkeys(broken)), hint=self.where_to_look) if broken else None


@typed
def scan(
    workload: str | Path | None = None,
    *,
    restarts: bool = True,
    options: Options | None = None,
    **words: Unpack[WorkloadWords],
) -> ScanResult:
    """Measures the scenarios of a spec's `scans`, each drained to its end and explained.

    `restarts`: a server of brimline's own is started again before each first touch.

    Raises BrimlineError where nothing was measured; for the rest see `ScanResult.error`.
    """
    loaded = load_workload(workload, **words)
    return scan_loaded(loaded, ScanSettings(restarts=restarts), options or Options())


def scan_loaded(
    loaded: LoadedSpec, settings: ScanSettings, options: Options, *, resume: Path | None = None
) -> ScanResult:
    """`scan` for a spec that is read already. `resume`: the directory of one to go on with."""
    return conduct(SCAN, loaded, settings, options, resume=resume)


def _check(loaded: LoadedSpec, _settings: ScanSettings, options: Options) -> None:
    scans = _scans_of(loaded.spec)
    if options.topology is not None and is_client_routed(options.topology):
        require_mergeable(scans)  # before anything is started
    require_mongodb("scan", given_uri(loaded.spec, options), options)


def scan_result(experiment: ExperimentRecord) -> ScanResult:
    """What the scenarios show, now or years later."""
    scans, trials = stored_scans(experiment), stored_scan_trials(experiment)
    fits = range_fits(trials, answer_within_ns=scans.answer_within_ns)
    findings = [agreement(trials), client_share(trials)]
    return ScanResult(
        report=scan_report(experiment, scans, trials, fits, findings),
        directory=experiment.directory,
        experiment=experiment,
        trials=trials,
        fits=fits,
        findings=findings,
    )


def _scans_of(spec: Spec) -> ScansSpec:
    if spec.scans is None:
        raise UsageError(
            f"{spec.name} has no scans", hint="add them to the spec: scans: {scenarios: [{name: …, filter: {…}}]}"
        )
    return spec.scans


def scan_in(place: Workplace, settings: ScanSettings, *, directory: Path | None = None, resume: bool = False) -> Path:
    """A scan in a place that is up; returns its directory. Raises BrimlineError; what was measured is kept."""
    scans, deployment = _scans_of(place.spec), place.context.deployment
    if deployment is None:
        raise UsageError("the null target has no documents to scan", hint="leave --null out")
    if deployment.reads is not None or deployment.read_concern is not None:
        raise UsageError(
            "a scan asks the primary alone, and the connection string sets a read preference or a read concern",
            hint="leave readPreference and readConcernLevel out; give a secondary's address alone to measure it",
        )
    if deployment.shards:
        require_mergeable(scans)
    plan = resolve(place.spec, target=place.target)
    before = require_same(directory if resume else None, plan_hash=plan.hash8(), environment=place.context.environment)
    left = before.settings.get("indexes_built", ()) if before is not None and before.ended_by == KILLED else ()
    place.prepare()
    place.stop.raise_if_requested()
    data = place.spec.data
    restarts = settings.restarts and deployment.own is not None
    with database_named(data.database, deployment, purpose="scan") as database:
        collection = data.collection
        size = collection_size(database, collection)
        scans = scans.sized(size.count)
        check_scenarios(database, collection, scans, entry_count=size.count)
        with indexes_in_place(database, collection, scans, place.context, left=left) as built:
            asked = probes(scans, entry_count=size.count)
            bounds = range_bounds(asked, database, collection, scans, entry_count=size.count)
            scan_place = ScanPlace(
                deployment=deployment,
                database=data.database,
                collection=data.collection,
                scans=scans,
                context=place.context,
                restarts=restarts,
                document_bytes=size.document_bytes,
                bounds=bounds,
            )
            stored = {
                "scans": scans.model_dump(mode="json", exclude_none=True),
                "document_count": size.count,
                "restarts": restarts,
                "indexes_built": built,
            }
            with recording(place, plan, kind=SCAN_KIND, settings=stored, directory=directory, resume=resume) as writer:
                _ask(asked, scan_place, writer, resume=resume)
    return writer.directory


def _ask(asked: Sequence[ScanProbe], place: ScanPlace, writer: ExperimentWriter, *, resume: bool) -> None:
    """Measures what is not measured yet."""
    done = stored_queries(read_experiment(writer.directory)) if resume else []
    rest = [probe for probe in asked if probe not in {each.probe for each in done}]
    place.context.progress.note(scan_time(rest, place.scans, restarts=place.restarts).text)
    conduct_trials(
        Scan(asked),
        Queries(place=place, writer=writer, count=len(asked)),
        writer=writer,
        stop=place.context.stop,
        progress=place.context.progress,
        done=done,
    )


SCAN = Kind(
    kind=SCAN_KIND,
    verb="scan",
    made_in=scan_in,
    stored=stored_scan_settings,
    result=scan_result,
    estimate=None,  # how many queries there are follows from the collection
    check=_check,
)


def _said(spec: Spec, said: Mapping[str, Any]) -> ScanSettings:
    _scans_of(spec)
    return ScanSettings(**said)


MEASURE = MeasureInPlace(
    measure=Measure(
        name="scan",
        kind=SCAN_KIND,
        figures=scan_figures,
        meaningless=dict.fromkeys(
            (
                "connections",
                "in-flight",
                "max-pool-size",
                "threads",
                "rate",
                "tlr-threads",
                "loops",
                "ramp-up",
                "keys",
                "target",
            ),
            "a scan asks one query at a time",
        ),
    ),
    made_in=scan_in,
    settings=_said,
    estimate=lambda spec, settings: assumed_time(_scans_of(spec), spec.data.records, settings),
)
"""A scan as a design crosses it; said to it are `ScanSettings`."""
