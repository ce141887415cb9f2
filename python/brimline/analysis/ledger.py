"""Owns what a ledger of writes shows: acknowledged ones that are missing, ones done twice, ones of unknown fate.

Each write adds its number to a document, so that a write which was lost and one which was done twice can both be told.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from brimline.record.ledger import Entries, StaleKind, StaleRead, Write
from brimline.units import NS_PER_S

SLOW_SHARE = 0.5
"""Of the rate that was asked for: a ledger that wrote less has far fewer writes to look for than was asked for."""


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

    @property
    def reached_per_s(self) -> float:
        """Acknowledged writes per second; 0 of fewer than two, which have no pace.

        The longest time without an acknowledgement is left out: that is the fault's, and no pace of the ledger.
        """
        times = sorted(each.done_unix_ns for each in self.acknowledged)
        if len(times) < 2:
            return 0.0
        first = min(each.sent_unix_ns for each in self.acknowledged)
        longest = max(after - before for before, after in pairwise(times))
        writing_ns = times[-1] - first - longest
        # The write that came after the longest time belongs to that.
        return (len(times) - 1) * NS_PER_S / writing_ns if writing_ns > 0 else 0.0

    def is_slow(self, asked_per_s: float) -> bool:
        """Whether the writes came far more slowly than was asked for."""
        return self.reached_per_s < SLOW_SHARE * asked_per_s

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
