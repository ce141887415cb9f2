"""Owns what a ledger of writes shows: acknowledged ones that are missing, ones done twice, ones of unknown fate.

Each write adds its number to a document, so that a write which was lost and one which was done twice can both be told.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brimline.record.ledger import Entries, StaleKind, StaleRead, Write


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of the writes, and which reads of their sessions lacked one."""

    entries: Entries
    stale: Sequence[StaleRead] = ()

    @property
    def acknowledged(self) -> list[Write]:
        """Those that the server said are done."""
        return [each for each in self.entries.writes if each.answer == "acknowledged"]

    @property
    def missing(self) -> list[Write]:
        """Acknowledged, and not there."""
        return [each for each in self.acknowledged if self.entries.times(each) == 0]

    @property
    def twice(self) -> list[Write]:
        """Sent once, and there more often."""
        return [each for each in self.entries.writes if self.entries.times(each) > 1]

    @property
    def unknown(self) -> list[Write]:
        """Never acknowledged."""
        return [each for each in self.entries.writes if each.answer == "unknown"]

    @property
    def unknown_there(self) -> list[Write]:
        """Never acknowledged, and there all the same."""
        return [each for each in self.unknown if self.entries.times(each) > 0]

    def stale_of(self, kind: StaleKind) -> int:
        """How many writes reads lacked in this way; each counts once."""
        return len({(each.session, each.number) for each in self.stale if each.kind == kind})

    def counts(self) -> dict[str, int]:
        """All of it in numbers."""
        return {
            "acknowledged": len(self.acknowledged),
            "missing": len(self.missing),
            "twice": len(self.twice),
            "unknown": len(self.unknown),
            "unknown_there": len(self.unknown_there),
            "strange": len(self.entries.strange),
            "stale_own": self.stale_of("read-your-writes"),
            "stale_monotonic": self.stale_of("monotonic reads"),
        }


def settle(writes: Iterable[Write], there: Iterable[tuple[int, int]], stale: Sequence[StaleRead] = ()) -> Settled:
    """What became of `writes`; `there`: every number that was found, by (session, number), as often as it is there."""
    ordered = sorted(writes, key=lambda each: (each.session, each.number))
    return Settled(entries=Entries(writes=ordered, found=Counter(there)), stale=stale)
