"""Owns timers: the pause before a sampler, of all timers in its scope together."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.expressions import Call, parts_of
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.variables import Variables
from brimline.units import NS_PER_MS, duration_text

_RATE: Final = "give --rate, or write load: {kind: constant, rate: …}"
TIMERS: Final = frozenset({"ConstantTimer", "UniformRandomTimer", "GaussianRandomTimer", "PoissonRandomTimer"})
OTHER_TIMERS: Final = {
    "ConstantThroughputTimer": ("paces the threads to a rate", _RATE),
    "PreciseThroughputTimer": ("paces the threads to a rate", _RATE),
    "SyncTimer": ("holds threads until they are many", "let load: {kind: stages} rise at once"),
    "BeanShellTimer": ("is a script", "write a think_time"),
    "JSR223Timer": ("is a script", "write a think_time"),
    "BSFTimer": ("is a script", "write a think_time"),
}
_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Pause:
    """A think time by its mean in ms and its law."""

    mean_ms: float = 0.0
    law: str = "constant"

    def __bool__(self) -> bool:
        return round(self.mean_ms * NS_PER_MS) > 0

    def __add__(self, other: "Pause") -> "Pause":
        if not self or not other:
            return self or other
        law = self.law if self.law == other.law == "exponential" else "constant"
        return Pause(self.mean_ms + other.mean_ms, law)

    def written(self) -> Any:
        """As a workload has it."""
        mean = duration_text(round(min(self.mean_ms, _DAY_MS) * NS_PER_MS))
        return mean if self.law == "constant" else {"mean": mean, "law": self.law}


def pause_of(timers: Iterable[Element], variables: Variables, remarks: Remarks) -> Pause:
    """The pause that timers make together."""
    total = Pause()
    for timer in timers:
        total += _pause(timer, variables, remarks)
    return total


def _pause(timer: Element, variables: Variables, remarks: Remarks) -> Pause:
    if timer.kind not in TIMERS:
        return Pause()
    offset_ms = mean_number(timer.text("ConstantTimer.delay", "0") or "0", variables)
    range_ms = mean_number(timer.text("RandomTimer.range", "0") or "0", variables)
    if offset_ms is None or range_ms is None:
        remarks.lose(timer, "how long it waits is not known beforehand", "write a think_time at the step")
        return Pause()
    if "${__" in timer.text("ConstantTimer.delay"):
        remarks.change(timer, f"its mean, {offset_ms:g} ms, each time")
    match timer.kind:
        case "UniformRandomTimer":
            if range_ms:
                remarks.change(timer, f"its mean, {offset_ms + range_ms / 2:g} ms, each time")
            return Pause(max(0.0, offset_ms + range_ms / 2))
        case "GaussianRandomTimer":
            if range_ms:
                remarks.change(
                    timer, f"its mean, {offset_ms:g} ms, each time, without the deviation of {range_ms:g} ms"
                )
            return Pause(max(0.0, offset_ms))
        case "PoissonRandomTimer":
            # JMeter draws from a Poisson law of that mean, whose deviation is its root.
            remarks.change(timer, f"its mean, {offset_ms + range_ms:g} ms, each time")
            return Pause(max(0.0, offset_ms + range_ms))
    return Pause(max(0.0, offset_ms))


def mean_number(written: str, variables: Variables) -> float | None:
    """A number that is known beforehand, or the mean of `${__Random(low,high)}`; None of all else."""
    number = variables.number(written)
    if number is not None:
        return number if abs(number) < 10**12 else None
    parts = parts_of(written.strip())
    if len(parts) == 1 and isinstance(parts[0], Call) and parts[0].name == "__Random" and len(parts[0].arguments) >= 2:
        low, high = (variables.number(each) for each in parts[0].arguments[:2])
        return None if low is None or high is None else (low + high) / 2
    return None
