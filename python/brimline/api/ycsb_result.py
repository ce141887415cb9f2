"""Owns what a load in the form of YCSB's client shows once it is over; see `run_result`."""

from dataclasses import dataclass

from brimline.analysis.observation import observe
from brimline.api.results import LoadResult
from brimline.errors import BrimlineError, Interrupted, InvalidRun
from brimline.execution import documents_inserted
from brimline.record import RunRecord
from brimline.report import run_report


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
        said = next((f": {row['example']}" for row in self.record.errors), "")
        return InvalidRun(
            f"{self.document_count} of {self.intended_count} documents were inserted into {self.namespace}{said}",
            hint="drop the collection first if it holds them already, or give insertstart for further ones",
        )


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
