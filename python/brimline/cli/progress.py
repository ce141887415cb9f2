"""Owns how long work is said on stderr in plain lines now and then, and the bar of an import on a terminal."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TaskID, TextColumn

from brimline.errors import on_one_line
from brimline.execution import Silence, SoFar, Tick
from brimline.plan import Plan
from brimline.plan.model import LoadWork, records_to_load
from brimline.record.model import Samples
from brimline.report.language import said_in_digits
from brimline.units import NS_PER_S, format_count, format_duration, format_percentage, format_rate
from brimline.wording import joined, message

_PLAIN_EVERY_S = 5.0


_LEFT_S_MIN = 0.5
"""Less is no time left: what follows, draining and reading counters, takes longer."""


def left_words(left_s: float | None) -> list[str]:
    """`4.50 s left`; nothing at the end, and where it isn't known."""
    if left_s is None or left_s < _LEFT_S_MIN:
        return []
    return [message("{time} left", time=format_duration(round(left_s * NS_PER_S)))]


class WithoutProgress(Silence):
    """What is left of it for who wants none (`--quiet`)."""

    def warning(self, text: str) -> None:
        """Something that has to be known."""
        Console(stderr=True, highlight=False).print(on_one_line(text), markup=False, soft_wrap=True)


class ProgressLine:
    """What all work that is shown has in common, whatever it counts."""

    def __init__(self, console: Console | None = None, *, language: str = "en") -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._say = said_in_digits(language)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._title = ""
        self._said_at = 0.0

    def step(self, text: str) -> None:
        """Something short begins."""
        self._console.print(f"{self._say(text)} …", style="dim", markup=False)

    def note(self, text: str) -> None:
        """Something to be remembered, such as the outcome of a probe."""
        self._console.print(self._say(text), markup=False, soft_wrap=True)

    def warning(self, text: str) -> None:
        """Something that has to be known."""
        self.note(text)

    def end(self) -> None:
        """The work is over."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None

    def _open(self, title: str, *columns: ProgressColumn) -> None:
        """Work begins; `columns` are shown behind the bar, with the `state` of `_show`."""
        self._title, self._said_at = self._say(title), time.monotonic()
        if self._console.is_terminal:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                *columns,
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task(self._title, total=1.0, state="")
            self._bar.start()

    def _show(self, share: float, *, state: str, line: Callable[[], str]) -> None:
        """Work goes on: `state` beside the bar, or once in a while `line` behind the title."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=share, state=self._say(state))
        elif time.monotonic() - self._said_at >= _PLAIN_EVERY_S:
            self._said_at = time.monotonic()
            self._console.print(
                self._say(message("{title}: {outcome}", title=self._title, outcome=line())),
                markup=False,
                soft_wrap=True,
            )


@dataclass(frozen=True, slots=True)
class RunShare:
    """How much of a run is done."""

    total_s: float | None = None
    operation_count: int | None = None
    document_count: int | None = None

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """By what `plan` ends."""
        return cls(
            total_s=None if plan.duration_ns is None else (plan.warmup_ns + plan.duration_ns) / NS_PER_S,
            operation_count=plan.operation_count,
            document_count=records_to_load(plan.work, plan.data) if isinstance(plan.work, LoadWork) else None,
        )

    def of_tick(self, tick: Tick) -> float:
        """From 0 to 1, by time or by operations, whichever is further; of a load by documents."""
        by_time = tick.elapsed_s / self.total_s if self.total_s else 0.0
        by_count = tick.finished / self.operation_count if self.operation_count else 0.0
        if self.document_count:
            by_count = tick.documents / self.document_count
        return min(1.0, max(by_time, by_count))


class TerminalProgress(ProgressLine):
    """Says a run as it goes on, in plain lines."""

    def __init__(self, console: Console | None = None, *, language: str = "en") -> None:
        super().__init__(console, language=language)
        self._share = RunShare()
        self._said = (0, 0, 0.0)

    def begin(self, title: str, plan: Plan) -> None:
        """A run begins."""
        self._share, self._said = RunShare.of(plan), (0, 0, 0.0)
        self._title, self._said_at = self._say(title), time.monotonic()

    def tick(self, tick: Tick) -> None:
        """The run goes on."""
        self._show(0.0, state="", line=lambda: self._line(self._since_said(tick)))

    def samples(self, samples: Samples) -> None:
        """Says nothing of them."""

    def outcome(self, text: str) -> None:
        """What a run of an experiment showed."""
        self.note(text)

    def so_far(self, tell: Callable[[], SoFar]) -> None:
        """Says nothing of it."""

    def over(self) -> None:
        """Nothing more is measured."""

    def _line(self, tick: Tick) -> str:
        share = self._share.of_tick(tick)
        left_s = tick.elapsed_s * (1 / share - 1) if share > 0 else None
        return joined(", ", [format_percentage(share, digits=2), self._state(tick), *left_words(left_s)])

    def _since_said(self, tick: Tick) -> Tick:
        """`tick` with the rate since the line before, instead of since the tick before."""
        finished, documents, elapsed_s = self._said
        self._said = (tick.finished, tick.documents, tick.elapsed_s)
        since_s = max(tick.elapsed_s - elapsed_s, 1e-9)
        return replace(
            tick,
            rate_ops_per_s=(tick.finished - finished) / since_s,
            rate_documents_per_s=(tick.documents - documents) / since_s,
        )

    def _state(self, tick: Tick) -> str:
        """Rate and errors; a load is counted in documents, its errors in commands."""
        if tick.stage == "connecting":
            return "connecting"
        if self._share.document_count is None:
            failed = message("{count} failed", count=format_count(tick.failed))
            said: list[str] = [format_rate(tick.rate_ops_per_s)]
        else:
            failed = message("{count} commands failed", count=format_count(tick.failed))
            done, total = format_count(tick.documents), format_count(self._share.document_count)
            said = [
                message("{count} of {total} documents", count=done, total=total),
                format_rate(tick.rate_documents_per_s, unit="documents/s"),
            ]
        return joined(", ", [*said, *([failed] if tick.failed else [])])
