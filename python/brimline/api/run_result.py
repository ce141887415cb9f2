"""Owns what a run or a load that is over shows: its record analysed and reported.

Verbs import it once the load is over. Analysis and report, with the libraries under them, take more memory than the
load itself, and importing them takes most of a second.
"""

from dataclasses import replace

from brimline.analysis.loads import judgeable
from brimline.analysis.objective import Slo, interval_quantiles
from brimline.analysis.observation import observe
from brimline.analysis.steady import counted, steady_state
from brimline.analysis.verdict import judge
from brimline.api.results import LoadResult, RunResult
from brimline.errors import Interrupted
from brimline.execution import LoadReport
from brimline.record import RunRecord
from brimline.report import run_report
from brimline.report.run.apdex import JMETER_THRESHOLDS, ApdexThresholds


def run_result(
    record: RunRecord,
    slo: Slo | None,
    *,
    interrupted: Interrupted | None = None,
    apdex: ApdexThresholds = JMETER_THRESHOLDS,
) -> RunResult:
    """What a record shows, now or years later."""
    limits = slo.latencies if slo else ()
    steady = steady_state(record, interval_quantiles(limits))
    told_apart = counted(record, steady)  # here, so that observation and report don't each do it
    observation = observe(told_apart, objectives=limits, steady=steady)
    judged = None if slo is None else judgeable(told_apart, slo)
    judgement = None if judged is None else judge(observation, judged)
    return RunResult(
        report=run_report(told_apart, observation, slo=judged or slo, judgement=judgement, apdex=apdex),
        directory=record.directory,
        interrupted=interrupted,
        record=record,
        observation=observation,
        slo=slo,
        judgement=judgement,
    )


def load_result(report: LoadReport, record: RunRecord, *, interrupted: Interrupted | None) -> LoadResult:
    """What a load shows that sent something; `record` is that of `report`."""
    observation = observe(record)
    counts = {
        "document_count": report.document_count if record.complete and report.shortfall is None else None,
        "resumed_document_count": report.resumed_count,
        "kept": report.kept.names_by_kind,
    }
    shown = run_report(record, observation)
    return LoadResult(
        report=replace(shown, data={**shown.data, **counts}),
        directory=record.directory,
        interrupted=interrupted,
        record=record,
        observation=observation,
        slo=None,
        judgement=None,
        document_count=report.document_count,
        namespace=report.namespace,
        shortfall=report.shortfall,
        kept=report.kept.names_by_kind,
    )
