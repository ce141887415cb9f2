"""Owns what an SQL server counted up to an instant, as a record holds it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlCounters:
    """Totals since the server's start. `statements` by kind, such as "select"; None: it doesn't count them.

    `rows_written`: rows inserted, updated and deleted, attempts included where `counts_attempts`. `transactions` that
    ended, those of one statement too; None where it counts none.
    """

    engine: str
    uptime_ms: int
    statements: Mapping[str, int] | None
    rows_written: int | None
    transactions: int | None
    counts_attempts: bool

    def to_dict(self) -> dict[str, Any]:
        """For the record."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote."""
        return cls(**values)

    def since(self, earlier: Self, kind: str) -> int | None:
        """How many statements of a kind were counted since `earlier`; None where they aren't counted."""
        if self.statements is None or earlier.statements is None:
            return None
        return self.statements.get(kind, 0) - earlier.statements.get(kind, 0)

    def fell_behind(self, earlier: Self) -> bool:
        """Whether any count is below what it was, or below 0: what is told can't be what was counted."""
        ours, theirs = self.statements or {}, earlier.statements or {}
        counts: list[tuple[int | None, int | None]] = [(ours[kind], theirs.get(kind, 0)) for kind in ours]
        counts += [(self.rows_written, earlier.rows_written), (self.transactions, earlier.transactions)]
        pairs = [(now, before) for now, before in counts if now is not None and before is not None]
        return any(now < before or before < 0 for now, before in pairs)
