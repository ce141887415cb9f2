"""Owns how the page says a record: words, figures and colours."""

from dataclasses import dataclass
from typing import Final

from brimline.errors import ExitCode
from brimline.record import RecordEntry
from brimline.report import said_in
from brimline.ui.live import Progress
from brimline.ui.shelf import outcome_of
from brimline.units import NS_PER_S, format_count, format_duration, format_percentage, format_rate
from brimline.wording import message

_TONES: Final = {
    "pass": "pass",
    "sustained": "pass",
    "completed": "muted",
    "fail": "fail",
    "error": "fail",
    "damaged": "fail",
    "killed": "fail",
    "target lost": "fail",
    "invalid": "warn",
    "inconclusive": "warn",
    "interrupt": "warn",
    "stopped": "warn",
}
"""Colours of outcomes; all else has none."""


_ENDS: Final[dict[int | None, tuple[str, str]]] = {
    None: ("running", "muted"),
    ExitCode.DONE: ("completed", "pass"),
    ExitCode.USAGE: ("could not begin", "fail"),
    ExitCode.MISSED: ("missed its objective", "fail"),
    ExitCode.INCONCLUSIVE: ("proves nothing", "warn"),
    ExitCode.TARGET: ("no server", "fail"),
    ExitCode.INTERRUPTED: ("stopped", "warn"),
}
"""By exit code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A record in the list."""

    directory: str
    kind: str
    name: str
    started: str
    outcome: str
    tone: str


def line_of(entry: RecordEntry, language: str) -> Line:
    """A record in a language; its own name and its directory's are as they are."""
    outcome = outcome_of(entry)
    return Line(
        directory=entry.directory.name,
        kind=said_in(language, entry.kind or "unknown"),
        name=entry.name or entry.problem,
        started=entry.started_at.strftime("%Y-%m-%d %H:%M:%S") if entry.started_at else "",
        outcome=said_in(language, outcome),
        tone=_TONES.get(outcome, "muted"),
    )


def ended_words(exit_code: int | None, language: str) -> tuple[str, str]:
    """How a process ended, and its colour; that it is at work where it has not."""
    said, tone = _ENDS.get(exit_code, (message("ended with {code}", code=str(exit_code)), "fail"))
    return said_in(language, said), tone


def progress_words(progress: Progress, language: str) -> list[str]:
    """What is known of how far something has come, a few words each."""
    found: list[str] = []
    if progress.trials is not None:
        found.append(message("run {number}", number=format_count(max(progress.trials, 1))))
    if progress.share is not None:
        found.append(format_percentage(progress.share, digits=2))
    if progress.elapsed_s is not None:
        found.append(format_duration(round(progress.elapsed_s * NS_PER_S)))
    if progress.rate_ops_per_s is not None:
        found.append(format_rate(progress.rate_ops_per_s))
    if progress.failed:
        found.append(message("{count} failed", count=format_count(progress.failed)))
    return [said_in(language, each) for each in found]
