"""Owns reading a scan back from its directory, so that it can be concluded again."""

from pydantic import ValidationError

from brimline.analysis.explained import explained
from brimline.analysis.scan_figures import Execution, Refusal, ScanTrial
from brimline.errors import RecordError
from brimline.experiments.scan.order import ScanMade, ScanProbe, ScanSettings
from brimline.experiments.stored import read_part
from brimline.record import ExperimentRecord, TrialEntry
from brimline.record.scan import read_explanation, read_scan_trial
from brimline.spec.expected_plan import parse_expected_plan
from brimline.spec.scans import ScansSpec


def stored_scans(experiment: ExperimentRecord) -> ScansSpec:
    """What was asked. Raises RecordError."""
    try:
        return ScansSpec.model_validate(experiment.settings.get("scans", {}))
    except ValidationError as error:
        raise RecordError(f"the experiment's settings can't be read: {error.error_count()} problems") from error


def stored_scan_settings(experiment: ExperimentRecord) -> ScanSettings:
    """How it was asked."""
    return ScanSettings(restarts=bool(experiment.settings.get("restarts", True)))


def stored_queries(experiment: ExperimentRecord) -> list[ScanMade]:
    """What was measured, of a scan that is gone on with: without what was cut short."""
    return [
        ScanMade(probe=read_part(ScanProbe, entry.probe, "trial"), took_s=entry.took_s) for entry in experiment.trials
    ]


def stored_scan_trials(experiment: ExperimentRecord) -> list[ScanTrial]:
    """Every scenario that was begun, in the order in which they ran. Raises RecordError."""
    scans = stored_scans(experiment)
    return [_trial(entry, scans) for entry in experiment.trials]


def _trial(entry: TrialEntry, scans: ScansSpec) -> ScanTrial:
    probe, values = read_part(ScanProbe, entry.probe, "trial"), read_scan_trial(entry.directory)
    scenario = scans.scenarios[probe.scenario]
    answer = read_explanation(entry.directory)
    refusal = values.get("refusal")
    return ScanTrial(
        scenario=probe.name,
        width=probe.width,
        question=str(values.get("command", "")),
        executions=[Execution(**each) for each in values.get("executions", ())],
        plan=None if answer is None else explained(answer),
        refusal=None if refusal is None else Refusal(**refusal),
        expected_plan=() if scenario.plan is None else parse_expected_plan(scenario.plan),
        # Shares were made counts when the collection's size was known.
        expected_documents=scenario.documents if isinstance(scenario.documents, int) else None,
        first_touch=str(values.get("first_touch", "")),
        document_bytes=values.get("document_bytes"),
        private=bool(values.get("private", False)),
        ended=values.get("ended_by") == "completed",
    )
