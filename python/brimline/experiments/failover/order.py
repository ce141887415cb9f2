"""Owns what a failover is asked for: the fault, when it comes, how often, and what must hold; and what comes next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from brimline.analysis.around_fault import FaultFigures
from brimline.analysis.ledger import Settled
from brimline.errors import UsageError
from brimline.experiments.cost import StageCost, TimeEstimate
from brimline.record.fault import FaultFacts
from brimline.servers.faults.fault import Asked, parse_fault
from brimline.servers.faults.site import PRIMARY
from brimline.units import parse_count, parse_duration
from brimline.wording import message

FAILOVER_KIND = "failover"
BEFORE_S, HOLD_S, AFTER_S = 10.0, 20.0, 20.0
"""A set elects after 10 s by default, and takes 2 s for that: both fit."""
WARM_UP_S = 2.0
TIME_S_MAX = 86_400.0
"""Of each of the three times: a record is read as a whole."""
REPEATS_DEFAULT = 3
LEDGER_MOST_PER_S = 200.0
_DURATIONS = {"outage": "time without an answer", "back": "time until 95 % of the rate", "p99": "response p99"}
_COUNTS = {
    "lost": "acknowledged writes missing",
    "twice": "writes done twice",
    "unanswered": "operations never answered or never sent",
}
_HINT = "write it like --slo outage=10s or --slo lost=0; there are outage, back, p99, lost, twice, unanswered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What no trial may exceed: a time in ns, or a count."""

    name: str
    most: int

    @property
    def what(self) -> str:
        """What it limits."""
        return {**_DURATIONS, **_COUNTS}[self.name]

    @property
    def is_time(self) -> bool:
        """Whether it is a time in ns."""
        return self.name in _DURATIONS


def parse_limit(text: str) -> Limit:
    """`outage=10s`, `lost=0`. Raises UsageError."""
    name, separator, value = (part.strip() for part in text.partition("="))
    readers: Mapping[str, Callable[[str], int]] = {
        **dict.fromkeys(_DURATIONS, parse_duration),
        **dict.fromkeys(_COUNTS, parse_count),
    }
    if not separator or name not in readers:
        raise UsageError(f'--slo must be a limit of a failover, but is "{text}"', hint=_HINT)
    try:
        return Limit(name=name, most=readers[name](value))
    except ValueError as error:
        raise UsageError(f"--slo {name}: {error}", hint=_HINT) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverSettings:
    """A fault `before_s` after the warm-up, undone `hold_s` later, and `after_s` more of the run; `repeats` times.

    `undo`: the command that undoes one. `at`: which server is struck. `alone`: it may be the only one.
    `rate_ops_per_s`: what is offered; None: what the workload says, or else a share of what it reaches.
    `ledger_per_s`: writes of the ledger; 0: none, None: as they are answered, up to `LEDGER_MOST_PER_S`.
    `slo`: what must hold. Raises ValueError.
    """

    fault: str
    undo: str = ""
    at: str = PRIMARY
    alone: bool = False
    before_s: float = BEFORE_S
    hold_s: float = HOLD_S
    after_s: float = AFTER_S
    repeats: int = REPEATS_DEFAULT
    rate_ops_per_s: float | None = None
    ledger_per_s: float | None = None
    slo: tuple[Limit, ...] = ()

    def __post_init__(self) -> None:
        if not self.before_s >= 2:
            raise ValueError("what was before a fault is known after 2 s of the run; give --before 2s or more")
        if not (self.hold_s >= 0 and self.after_s >= 2):
            raise ValueError("a run goes on for 2 s or more after a fault; give --after 2s or more")
        if max(self.before_s, self.hold_s, self.after_s) > TIME_S_MAX:
            raise ValueError("--before, --hold and --after take a day each at most")
        if not 1 <= self.repeats <= 1000:
            raise ValueError("a fault is repeated 1 to 1000 times; give --repeats 3")
        if not 0 <= (self.ledger_per_s or 0) <= 10_000:
            raise ValueError("a ledger has 0 to 10000 writes per second; give --ledger 200")

    @property
    def asked(self) -> Asked:
        """The fault. Raises UsageError."""
        asked = parse_fault(self.fault, self.undo)
        if asked.kind is not None and not asked.kind.of_lab and self.at != PRIMARY:
            raise UsageError(f"{asked.name} befalls the primary and no other server", hint="leave --at out")
        return asked

    @property
    def duration_s(self) -> float:
        """The measured window of a run."""
        return self.before_s + self.hold_s + self.after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverProbe:
    """A run with a fault, counted from 1."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverTrial:
    """A run with a fault. `problem`: why it has no figures, "" where it has.

    `settled`: the ledger; None without one.
    """

    probe: FailoverProbe
    ended_by: str
    facts: FaultFacts | None = None
    figures: FaultFigures | None = None
    settled: Settled | None = None
    problem: str = ""
    took_s: float | None = None


class Failover:
    """Asks for runs until there are as many as were wanted; pure."""

    def __init__(self, settings: FailoverSettings) -> None:
        self._settings = settings

    def next_probe(self, trials: Sequence[FailoverTrial]) -> FailoverProbe | None:
        """The next run."""
        if len(trials) >= self._settings.repeats:
            return None
        return FailoverProbe(number=len(trials) + 1)


def failover_time(settings: FailoverSettings) -> TimeEstimate:
    """Time of all runs; how long servers take to be whole again is known by then."""
    cost = StageCost("fault", settings.repeats, WARM_UP_S + settings.duration_s)
    further = (message("and until the servers are whole again after each"),)
    return TimeEstimate(typical_s=cost.total_s, max_s=cost.total_s * 2, stages=(cost,), further=further)
