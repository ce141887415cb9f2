"""Owns what can be judged where two sides were not under the same load.

With more operations in flight each of them waits longer, whatever the server does (Little 1961, "A proof for the
queuing formula L = λW"): in a closed loop latency follows from the load that was asked for, and so does throughput
where a rate was offered. Such figures are shown, and no verdict comes of them.
"""

import re
import shlex
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from brimline.analysis.compared_run import ComparedRun, Metric
from brimline.analysis.configuration import Difference
from brimline.units import rate_text, round_significant
from brimline.wording import Verbatim, joined, message

_NAMES = {
    "connections": "connections",
    "threads": "threads",
    "target_ops_per_s": "rate",
    "in_flight_max": "operations in flight",
    "pacer.think_time": "think time",
    "pacer.think_time.mean_ns": "think time",
    "pacer.rate_ops_per_s": "rate",
    "pacer.stages": "stages of the rate",
    "pacer.ramp_up_ns": "ramp-up",
    "pacer.loops": "loops",
}
_IN_FLIGHT = frozenset({"connections", "in_flight_max"})
"""What bounds an open loop and doesn't set its load."""
_NO_LOAD = ("follows_replies",)
_PACER = re.compile(r"(operations\..*\.load\.)?pacer\.")
_CPU = frozenset({"client_cpu", "server_cpu"})
_AT_ONE_RATE_SHARE = 0.7
"""Of what the slower side did: a rate that both bear."""
_OF_THE_LOAD = frozenset({"--rate", "--think-time", "--tlr"})
_OF_RUNS = _OF_THE_LOAD | {"--duration", "--operations", "--pairs", "--warmup"}
"""What a search finds or decides by itself."""
_OF_CLIENTS = frozenset({"connections", "in_flight_max"})
"""Settings that a server's capacity may depend on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlikeLoads:
    """In what the loads of two sides differ. `closed`: they are closed loops."""

    differences: tuple[Difference, ...]
    closed: bool

    def judges(self, metric: Metric) -> bool:
        """Whether a difference in the metric can be more than what was asked for."""
        if metric.unit in ("ops/s", "documents/s"):
            return self.closed
        return metric.unit != "ns" or metric.key in _CPU

    @property
    def text(self) -> str:
        """What differs, and what follows from it."""
        what = joined(", ", (_difference_text(each) for each in self.differences))
        return unlike_loads_text(what, closed=self.closed)


def unlike_loads(kind: str, found: Iterable[Difference]) -> UnlikeLoads | None:
    """How the loads of records of this kind differ; None where they don't. `found`: all that differs."""
    if not kind.endswith(("closed loop", "open loop")):
        return None
    closed = kind.endswith("closed loop")
    of_load = tuple(each for each in found if each.where in ("plan", "tool") and _sets_load(each, closed=closed))
    return UnlikeLoads(differences=of_load, closed=closed) if of_load else None


def unlike_loads_text(what: str, *, closed: bool) -> str:
    """What is said where the loads differ in `what`."""
    return message(
        "The loads differ ({what}). In a closed loop latency follows from what is in flight, by Little's law: it is "
        "shown, and throughput, errors and CPU per operation are judged."
        if closed
        else "The loads differ ({what}). Throughput is what was offered, and latency follows from it: they are shown, "
        "and errors and CPU per operation are judged.",
        what=what,
    )


def same_load_commands(a: Sequence[ComparedRun], b: Sequence[ComparedRun], *, typed: str = "") -> tuple[str, ...]:
    """Commands that put both sides under one rate: that of `typed`, which made both, or one for each side.

    Empty where throughput isn't known, or another tool made the runs.
    """
    known = [run.figures["throughput"] for run in (*a, *b) if run.figures.get("throughput", 0.0) > 0]
    if not known or a[0].kind.startswith("imported"):
        return ()
    rate = rate_text(float(round_significant(_AT_ONE_RATE_SHARE * min(known), 2)))
    if typed:
        return (_at_rate(typed, rate),)
    return tuple(dict.fromkeys(_at_rate(_typed(run), rate) for run in (a[0], b[0])))


def capacity_commands(
    loads: UnlikeLoads, a: Sequence[ComparedRun], b: Sequence[ComparedRun], *, typed: str = ""
) -> tuple[str, ...]:
    """Commands that find the capacity of both sides: that of `typed`, which made both, or one for each side.

    Empty where the sides differ in what a search takes the place of, such as a rate, or another tool made the runs.
    """
    of_clients = loads.closed and all(each.name in _OF_CLIENTS for each in loads.differences)
    if not of_clients or a[0].kind.startswith("imported"):
        return ()
    if typed.startswith("brimline ab "):
        return (shlex.join([*_without(typed, _OF_RUNS), "--measure", "capacity"]),)
    return tuple(dict.fromkeys(_capacity_of(_typed(run)) for run in (a[0], b[0])))


def _capacity_of(typed: str) -> str:
    _, _, *words = _without(typed, _OF_RUNS)
    return shlex.join(["brimline", "capacity", *words])


def _typed(run: ComparedRun) -> str:
    command = str(run.environment.get("command") or "")
    if command.startswith("brimline run "):
        return command
    return f"brimline run {shlex.quote(run.title)} --connections {run.settings[('plan', 'connections')]}"


def _at_rate(typed: str, rate: str) -> str:
    """The command with this rate instead of what it says of the load."""
    return shlex.join([*_without(typed, _OF_THE_LOAD), "--rate", rate])


def _without(typed: str, options: Set[str]) -> list[str]:
    """The words of a command but for these options and their values."""
    words: list[str] = []
    skip = False
    for word in shlex.split(typed):
        if not skip and word.partition("=")[0] not in options:
            words.append(word)
        skip = not skip and word in options
    return words


def _sets_load(each: Difference, *, closed: bool) -> bool:
    if each.where == "tool":
        return each.name == "target_ops_per_s" or (closed and each.name == "threads")
    if each.name in _IN_FLIGHT:
        return closed
    return _PACER.match(each.name) is not None and not each.name.endswith(_NO_LOAD)


def _difference_text(each: Difference) -> str:
    return message("{name} {a} → {b}", name=_NAMES.get(each.name, Verbatim(each.name)),
                   a=joined(", ", each.a), b=joined(", ", each.b))  # fmt: skip
