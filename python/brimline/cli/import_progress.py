"""Owns how an import looks on stderr: its rates, what was rejected, and the time left."""

from rich.progress import TextColumn

from brimline.cli.progress import ProgressLine, left_words
from brimline.execution.import_progress import ImportTick
from brimline.units import format_bytes, format_count, format_duration, format_percentage, format_rate
from brimline.wording import joined, message


class ImportTerminalProgress(ProgressLine):
    """Shows an import as it goes on."""

    def begin(self, title: str) -> None:
        """Rows begin to go in."""
        self._open(title, TextColumn("{task.fields[state]}"))

    def tick(self, tick: ImportTick) -> None:
        """The import goes on."""
        state = _state(tick)
        self._show(_share(tick) or 0.0, state=state, line=lambda: state)


def _share(tick: ImportTick) -> float | None:
    return min(1.0, tick.bytes_read / tick.bytes_total) if tick.bytes_total else None


def _state(tick: ImportTick) -> str:
    share = _share(tick)
    parts: list[str] = [] if share is None else [format_percentage(share, digits=2)]
    parts.append(message("{count} documents", count=format_count(tick.documents)))
    if tick.documents_per_s is not None:
        parts.append(format_rate(tick.documents_per_s, unit="documents/s"))
    if tick.bytes_per_s is not None:
        parts.append(f"{format_bytes(tick.bytes_per_s)}/s")
    if tick.service_p99_ns is not None:
        parts.append(f"p99 {format_duration(tick.service_p99_ns)}")
    if tick.rejected:
        parts.append(message("{count} rejected", count=format_count(tick.rejected)))
    return joined(", ", [*parts, *left_words(tick.left_s)])
