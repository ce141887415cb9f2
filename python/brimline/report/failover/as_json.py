"""Everything that the report of a failover says, for machines: stable keys, units last."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brimline.analysis.figure import Figure
from brimline.analysis.finding import Finding
from brimline.experiments.failover.figures import Judged
from brimline.experiments.failover.order import FailoverSettings, FailoverTrial
from brimline.record.experiment import ExperimentRecord
from brimline.record.layout import TRIALS_DIRECTORY
from brimline.record.ledger import LEDGER_FILE, Write
from brimline.report.run_nodes import nodes_document, nodes_in


def failover_document(
    experiment: ExperimentRecord,
    settings: FailoverSettings,
    trials: Sequence[FailoverTrial],
    figures: Mapping[str, Figure],
    judged: Sequence[Judged],
    findings: Sequence[Finding],
) -> dict[str, Any]:
    """The keys of a failover beside those that every report has."""
    return {
        "kind": "failover",
        "fault": settings.asked.name,
        "settings": asdict(settings),
        "figures": {key: _figure(each) for key, each in figures.items()},
        "objectives": [
            {"name": each.limit.name, "most": each.limit.most, "worst": each.worst, "held": each.held}
            for each in judged
        ],
        "trials": [_trial(each, settings) for each in trials],
        "nodes": nodes_document(nodes_in(experiment)),
        "ledger_file": f"{TRIALS_DIRECTORY}/*/{LEDGER_FILE}",
        "findings": [{"name": each.name, "result": each.verdict, "evidence": each.evidence} for each in findings],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {"value": figure.value, "low": figure.low, "high": figure.high, "unit": figure.unit}


def _trial(trial: FailoverTrial, settings: FailoverSettings) -> dict[str, Any]:
    facts, figures, settled = trial.facts, trial.figures, trial.settled
    document: dict[str, Any] = {"number": trial.probe.number, "ended_by": trial.ended_by, "problem": trial.problem}
    if facts is not None:
        document["fault"] = {
            name: value for name, value in asdict(facts).items() if name not in ("said", "stale", "ledger")
        }
        document["said"] = [asdict(each) for each in facts.said]
    if figures is not None:
        document["figures"] = {
            "begun_ns": figures.begun_ns,
            "undone_ns": figures.undone_ns,
            "outage_from_ns": figures.gap.from_ns,
            "outage_to_ns": figures.gap.to_ns if figures.gap.ended else None,
            "outage_ns": figures.gap.length_ns,
            "outage_ended": figures.gap.ended,
            "outage_resolution_ns": figures.resolution_ns,
            "outage_ns_by_operation": {kind: gap.length_ns for kind, gap in figures.gaps.items()},
            "rate_before_ops_per_s": figures.rate_before_ops_per_s,
            "back_ns": figures.back_ns,
            "p99_around_ns": figures.p99_ns,
            "around": figures.around,
            "around_unanswered": figures.around_unanswered,
            "due": figures.due,
            "failed": figures.failed,
            "unfinished": figures.unfinished,
            "overdue": figures.overdue,
            "unanswered": figures.unanswered,
            "repeated": figures.repeated,
            "errors": dict(figures.errors),
        }
    if settled is not None and facts is not None:
        document["ledger"] = {
            **(facts.ledger or {}),
            "asked_writes_per_s": settings.ledger_per_s,
            "reached_writes_per_s": settled.reached_per_s,
            **settled.counts(),
            "missing_writes": [_write(each) for each in settled.missing],
            "twice_writes": [_write(each) for each in settled.twice],
            "stale_reads": [asdict(each) for each in settled.stale],
        }
    return document


def _write(write: Write) -> dict[str, Any]:
    return {"session": write.session, "number": write.number, "sent_unix_ns": write.sent_unix_ns,
            "done_unix_ns": write.done_unix_ns}  # fmt: skip
