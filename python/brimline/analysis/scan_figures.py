"""Owns the figures of a scan: from single executions and the server's explanation to rates, shares and agreement.

Every rate is computed here and nowhere else, as a count over a time of the same execution.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from brimline.analysis.explained import Explained, broken_expectations
from brimline.analysis.finding import Finding, Standing
from brimline.spec.expected_plan import ExpectedStage
from brimline.stats.line import Bounds, Place, mean_bounds
from brimline.units import NS_PER_S, format_count, format_percentage
from brimline.wording import joined, message

CLIENT_SHARE_MAX = 0.5
"""Above it draining took the client more than half of the time, so that the server alone would be faster."""

Touch = Literal["first", "steady"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One query, sent, and its cursor drained. The counters are what the whole server added meanwhile."""

    touch: Touch
    documents: int
    bytes: int
    batches: int
    first_reply_ns: int
    elapsed_ns: int
    client_cpu_ns: int
    keys_examined: int | None = None
    documents_examined: int | None = None
    cache_read_bytes: int | None = None
    cache_pages_read: int | None = None
    cache_pages_requested: int | None = None

    @property
    def cache_read_share(self) -> float | None:
        """Of the pages that were needed, the share that the cache didn't have."""
        if self.cache_pages_read is None or not self.cache_pages_requested:
            return None
        return min(self.cache_pages_read / self.cache_pages_requested, 1.0)

    @property
    def client_share(self) -> float:
        """CPU time of the client over the time of the execution."""
        return self.client_cpu_ns / self.elapsed_ns if self.elapsed_ns else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A query that the server answered with an error."""

    code: int
    code_name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTrial:
    """One scenario, or one width of a range: what was asked, each execution, and what the server says about it.

    `first_touch` says what the caches held before the first execution. `document_bytes` is the mean size of the
    collection's documents.
    """

    scenario: str
    width: int | None = None
    question: str = ""
    executions: Sequence[Execution] = ()
    plan: Explained | None = None
    refusal: Refusal | None = None
    expected_plan: tuple[ExpectedStage, ...] = ()
    expected_documents: int | None = None
    first_touch: str = ""
    document_bytes: float | None = None
    private: bool = False
    ended: bool = True

    @property
    def first(self) -> Execution | None:
        """The execution before anything was warm."""
        return next((each for each in self.executions if each.touch == "first"), None)

    @property
    def steady(self) -> list[Execution]:
        """The executions after it."""
        return [each for each in self.executions if each.touch == "steady"]

    @property
    def time_ns(self) -> Bounds | None:
        """Mean time of the steady executions."""
        times = [float(each.elapsed_ns) for each in self.steady]
        return mean_bounds(times) if times else None

    @property
    def documents(self) -> int | None:
        """What was drained; None where executions differ."""
        counts = {each.documents for each in self.executions}
        return counts.pop() if len(counts) == 1 else None

    @property
    def entries(self) -> int | None:
        """What was gone through, by the server's word."""
        return None if self.plan is None else self.plan.entries

    @property
    def entries_per_s(self) -> Bounds | None:
        """Entries gone through per second of the steady executions."""
        return self._rate(self.entries)

    @property
    def documents_per_s(self) -> Bounds | None:
        """Documents examined per second of the steady executions."""
        return self._rate(None if self.plan is None else self.plan.documents_examined)

    @property
    def bytes_per_s(self) -> Bounds | None:
        """Bytes of documents examined per second, by the mean size of a document."""
        examined = None if self.plan is None else self.plan.documents_examined
        if examined is None or self.document_bytes is None:
            return None
        return self._rate(examined * self.document_bytes)

    @property
    def received_bytes_per_s(self) -> Bounds | None:
        """Bytes that came to the client per second."""
        return self._rate(self.steady[-1].bytes) if self.steady else None

    @property
    def first_to_steady(self) -> float | None:
        """How many times as long the first touch took."""
        time = self.time_ns
        return None if self.first is None or time is None or not time.value else self.first.elapsed_ns / time.value

    @property
    def client_limited(self) -> bool:
        """Whether the client was busy for most of the time."""
        return any(each.client_share > CLIENT_SHARE_MAX for each in self.steady)

    @property
    def broken(self) -> list[str]:
        """What the spec expects and is not so."""
        found = [] if self.plan is None else broken_expectations(self.plan, self.expected_plan)
        problems: list[str] = [
            message("the plan is {plan}, which is not {expected}", plan=self.plan.summary, expected=stage.text)
            for stage in found
            if self.plan is not None
        ]
        counted = self.documents
        if self.expected_documents is not None and counted is not None and counted != self.expected_documents:
            problems.append(
                message(
                    "{counted} documents came, not {expected}",
                    counted=format_count(counted),
                    expected=format_count(self.expected_documents),
                )
            )
        return problems

    def _rate(self, count: float | None) -> Bounds | None:
        time = self.time_ns
        if count is None or time is None or time.value <= 0:
            return None
        return Bounds(
            value=count / time.value * NS_PER_S,
            low=None if time.high is None else count / time.high * NS_PER_S,
            high=None if time.low is None or time.low <= 0 else count / time.low * NS_PER_S,
        )


def line_places(trials: Sequence[ScanTrial]) -> list[Place]:
    """Time over entries of the widths of one range, where both are known; widths that hold nothing are left out."""
    places: dict[int, list[float]] = {}
    for trial in trials:
        if trial.entries:
            places.setdefault(trial.entries, []).extend(float(each.elapsed_ns) for each in trial.steady)
    return [Place(x=float(entries), y=tuple(times)) for entries, times in sorted(places.items()) if times]


def agreement(trials: Sequence[ScanTrial]) -> Finding:
    """Whether what was drained, what explain says and what the server counted are the same, to the document."""
    differences: list[str] = []
    compared = 0
    private = all(trial.private for trial in trials)
    for trial in trials:
        if trial.plan is None:
            continue
        for each in trial.executions:
            pairs: list[tuple[str, int | None, int | None]] = [
                ("documents drained", each.documents, trial.plan.returned)
            ]
            if trial.private:
                pairs += [
                    ("keys examined", each.keys_examined, trial.plan.keys_examined),
                    ("documents examined", each.documents_examined, trial.plan.documents_examined),
                ]
            known = [(what, counted, said) for what, counted, said in pairs if counted is not None and said is not None]
            compared += len(known)
            differences += [
                message(
                    "{scenario}: {what} {counted}, by explain {said}",
                    scenario=trial.scenario,
                    what=what,
                    counted=format_count(counted),
                    said=format_count(said),
                )
                for what, counted, said in known
                if counted != said
            ]
    if not compared:
        return Finding(
            name="scan_counts",
            verdict=Standing.UNKNOWN,
            evidence="the server explains no counts that could be compared",
        )
    if differences:
        shown = list(dict.fromkeys(differences))[:3]
        return Finding(name="scan_counts", verdict=Standing.FAIL, evidence=joined("; ", shown))
    evidence = (
        message("{count} counts of documents and keys are the same as the server's", count=format_count(compared))
        if private
        else message("{count} counts of documents are the same as explain's", count=format_count(compared))
    )
    return Finding(name="scan_counts", verdict=Standing.PASS, evidence=evidence)


def client_share(trials: Sequence[ScanTrial]) -> Finding:
    """Whether the client left the server time to be what was measured."""
    shares = [each.client_share for trial in trials for each in trial.steady]
    if not shares:
        return Finding(name="scan_client", verdict=Standing.UNKNOWN, evidence="nothing was drained")
    limited = sorted({trial.scenario for trial in trials if trial.client_limited})
    if limited:
        return Finding(
            name="scan_client",
            verdict=Standing.WARN,
            evidence=message(
                "draining took the client more than half of the time in {scenarios}", scenarios=joined(", ", limited)
            ),
        )
    return Finding(
        name="scan_client",
        verdict=Standing.PASS,
        evidence=message("draining took the client at most {share} of the time", share=format_percentage(max(shares))),
    )
