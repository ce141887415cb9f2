"""Owns JMeter's failures: by label and response code, each with the first message seen."""

from brimline.errors import redact_text, visible
from brimline.record.model import ErrorRow

KINDS_MAX = 64
_EXAMPLE_LENGTH_MAX = 300


class ErrorTally:
    """Failures by kind; at most `KINDS_MAX` are told apart."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], ErrorRow] = {}

    def add(self, operation: str, *, code: str, message: str, count: int) -> None:
        """Counts failures of one kind. `code` is a number, a text, or ""."""
        if (operation, code) not in self._rows and len(self._rows) >= KINDS_MAX:
            operation, code, message = "", "", "further kinds of failure"
        row = self._rows.get((operation, code))
        if row is not None:
            row["count"] += count
            return
        is_number = code.isdecimal() and len(code) < 10
        self._rows[operation, code] = ErrorRow(
            operation=visible(operation),
            outcome="failed",
            code=int(code) if is_number else 0,
            label="" if is_number else visible(redact_text(code[:_EXAMPLE_LENGTH_MAX])),
            count=count,
            example=visible(redact_text(message[:_EXAMPLE_LENGTH_MAX])),
        )

    def rows(self) -> list[ErrorRow]:
        """Every kind, the most frequent first."""
        return sorted(self._rows.values(), key=lambda row: -row["count"])
