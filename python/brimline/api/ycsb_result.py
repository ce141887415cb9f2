"""Owns what a load in the form of YCSB's client shows once it is over; see `run_result`."""

from dataclasses import dataclass

from brimline.analysis.never_succeeded import likely_cause
from brimline.analysis.observation import observe
from brimline.api.results import LoadResult
from brimline.errors import BrimlineError, Interrupted, InvalidRun
from brimline.execution import documents_inserted
from brimline.record import RunRecord
from brimline.record.model import ErrorRow
from brimline.report import run_report
from brimline.units import counted, format_count

_DUPLICATE_KEY = 11000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class YcsbLoadResult(LoadResult):
    """One load as YCSB makes it: into whatever is there. `document_count` is what was inserted."""

    intended_count: int
    may_end_early: bool

    @property
    def error(self) -> BrimlineError | None:
        """Interrupted, target lost, or documents that were not inserted."""
        if self.interrupted or self._target_lost:
            return self.interrupted or self._target_lost
        attempted_again = self.record.summary.get("attempted_again", 0) if self.record.summary else 0
        given_up = sum(row["count"] for row in self.record.errors) - attempted_again
        if given_up <= 0 and (self.may_end_early or self.document_count == self.intended_count):
            return None
        worst = max(self.record.errors, key=lambda row: row["count"], default=None)
        said = f": {worst['example']}" if worst is not None else ""
        return InvalidRun(
            f"{format_count(self.document_count)} of {counted(self.intended_count, 'document')} went into "
            f"{self.namespace}{said}",
            hint=self.where_to_look if worst is None else _hint(worst) or self.where_to_look,
        )


def _hint(refusal: ErrorRow) -> str:
    """What to do about the most frequent refusal; "" where nothing is known of it."""
    if refusal["code"] == _DUPLICATE_KEY:
        return "drop the collection first if it holds them already, or give insertstart for further ones"
    return likely_cause(refusal)


def ycsb_load_result(record: RunRecord, *, interrupted: Interrupted | None, may_end_early: bool) -> YcsbLoadResult:
    """What the record of a load shows; with `may_end_early` fewer documents than intended are no failure."""
    plan = record.plan
    observation = observe(record)
    return YcsbLoadResult(
        report=run_report(record, observation),
        directory=record.directory,
        interrupted=interrupted,
        record=record,
        observation=observation,
        slo=None,
        judgement=None,
        document_count=documents_inserted(record),
        namespace=f"{plan.namespace.database}.{plan.namespace.collection}",
        intended_count=plan.data.record_count,
        may_end_early=may_end_early,
    )
