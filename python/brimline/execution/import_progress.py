"""Owns what an import says while it goes on. Who listens decides how it looks."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTick:
    """How far an import is. Rates are of the last seconds; None where something isn't known, as before the first."""

    elapsed_s: float
    documents: int
    rejected: int
    bytes_read: int
    bytes_total: int | None
    documents_per_s: float | None
    bytes_per_s: float | None
    left_s: float | None
    service_p99_ns: int | None


@runtime_checkable
class ImportSink(Protocol):
    """Listens to an import."""

    def step(self, text: str) -> None:
        """Something begins that has no measure."""

    def begin(self, title: str) -> None:
        """Rows begin to go in."""

    def tick(self, tick: ImportTick) -> None:
        """The import goes on."""

    def end(self) -> None:
        """No rows go in any more."""

    def note(self, text: str) -> None:
        """Something to be remembered."""


class ImportSilence:
    """Listens and says nothing."""

    def step(self, text: str) -> None:
        """Nothing."""

    def begin(self, title: str) -> None:
        """Nothing."""

    def tick(self, tick: ImportTick) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""
