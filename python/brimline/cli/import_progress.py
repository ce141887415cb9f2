"""Owns how an import looks on stderr: a bar with rates and ETA on a terminal, a line now and then elsewhere."""

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from brimline.execution.import_progress import ImportTick
from brimline.units import NS_PER_S, format_bytes, format_count, format_duration, format_rate

_PLAIN_EVERY_S = 5.0


class ImportTerminalProgress:
    """Shows an import as it goes on."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._title = ""
        self._said_at = 0.0

    def step(self, text: str) -> None:
        """Something short begins."""
        self._console.print(f"[dim]{text} …[/dim]", markup=True)

    def begin(self, title: str) -> None:
        """Rows begin to go in."""
        self._title, self._said_at = title, time.monotonic()
        if self._console.is_terminal:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[state]}"),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task(title, total=1.0, state="")
            self._bar.start()

    def tick(self, tick: ImportTick) -> None:
        """The import goes on."""
        if self._bar is not None and self._task is not None:
            share = _share(tick)
            self._bar.update(self._task, completed=share or 0.0, state=_state(tick))
        elif time.monotonic() - self._said_at >= _PLAIN_EVERY_S:
            self._said_at = time.monotonic()
            self._console.print(f"{self._title}: {_state(tick)}", soft_wrap=True, markup=False)

    def end(self) -> None:
        """No rows go in any more."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None

    def note(self, text: str) -> None:
        """Something to be remembered."""
        self._console.print(text, markup=False, soft_wrap=True)


def _share(tick: ImportTick) -> float | None:
    return min(1.0, tick.bytes_read / tick.bytes_total) if tick.bytes_total else None


def _state(tick: ImportTick) -> str:
    share = _share(tick)
    parts = [] if share is None else [f"{share * 100:.0f} %"]
    parts += [
        f"{format_count(tick.documents)} documents",
        format_rate(tick.documents_per_s, unit="documents/s"),
        f"{format_bytes(tick.bytes_per_s)}/s",
    ]
    if tick.service_p99_ns is not None:
        parts.append(f"p99 {format_duration(tick.service_p99_ns)}")
    if tick.rejected:
        parts.append(f"{format_count(tick.rejected)} rejected")
    if tick.left_s is not None:
        parts.append(f"{format_duration(round(tick.left_s * NS_PER_S))} left")
    return ", ".join(parts)
