"""Owns commands of one shape taken together: how often they came, and what was in their holes. Bounded in memory."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brimline.init.holes import Hole, NotTranslated
from brimline.init.observed import Observed
from brimline.init.request import Request, request_of
from brimline.init.value_shape import ValueShape, milliseconds, type_name

GROUPS_MAX = 2_000
_ITEMS_MAX = 1_000


@dataclass(slots=True)
class HoleValues:
    """What filled a hole. `ages_ms`: how much earlier than the command dates were."""

    shape: ValueShape = field(default_factory=ValueShape)
    ages_ms: list[float] = field(default_factory=list)

    def add(self, value: Any, at_s: float | None) -> None:
        """One more value."""
        self.shape.add(value)
        if at_s is not None and type_name(value) == "date" and len(self.ages_ms) < _ITEMS_MAX:
            self.ages_ms.append(at_s * 1000 - milliseconds(value))


@dataclass(slots=True)
class CommandGroup:
    """Commands of one shape. `pairs` are two bounds of a field each, `spans` their distances by the holes' numbers."""

    request: Request
    pairs: Sequence[tuple[Hole, Hole]]
    times: int = 0
    duration_ms: float = 0.0
    timed: int = 0
    documents: int = 0
    summaries: Counter[str] = field(default_factory=Counter)
    in_transaction: int = 0
    holes: list[HoleValues] = field(default_factory=list)
    spans: dict[tuple[int, int], list[float]] = field(default_factory=dict)

    def add(self, command: Observed, request: Request) -> None:
        """One more of the same shape."""
        self.times += command.times
        if command.duration_ms is not None:
            self.duration_ms += command.duration_ms * command.times
            self.timed += command.times
        if command.summary:
            self.summaries[command.summary] += command.times
        self.documents += (command.documents or 0) * command.times
        self.in_transaction += command.times if command.in_transaction else 0
        if not self.holes:
            self.holes = [HoleValues() for _ in request.values]
        for hole, value in zip(self.holes, request.values, strict=True):
            hole.add(value, command.at_s)
        for low, high in self.pairs:
            span = _span(request.values[low.number], request.values[high.number])
            kept = self.spans.setdefault((low.number, high.number), [])
            if span is not None and len(kept) < _ITEMS_MAX:
                kept.append(span)

    @property
    def mean_ms(self) -> float | None:
        """How long one took on the server on average."""
        return self.duration_ms / self.timed if self.timed else None


@dataclass(slots=True)
class CommandGroups:
    """The commands of a source by shape; `not_translated` counts what no step can say, by its reason."""

    groups: dict[str, CommandGroup] = field(default_factory=dict)
    not_translated: Counter[str] = field(default_factory=Counter)

    def add(self, command: Observed) -> None:
        """One more command."""
        try:
            request = request_of(command)
            key = request.key
        except NotTranslated as reason:
            self.not_translated[f"{reason} on {command.collection}"] += command.times
            return
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError):
            self.not_translated[f"{command.kind} on {command.collection} of an unknown form"] += command.times
            return
        group = self.groups.get(key)
        if group is None:
            if len(self.groups) >= GROUPS_MAX:
                self.not_translated[f"further shapes of {command.kind} on {command.collection}"] += command.times
                return
            group = self.groups[key] = CommandGroup(request, bound_pairs(request.arguments))
        group.add(command, request)

    @property
    def times(self) -> int:
        """How many commands there are."""
        return sum(each.times for each in self.groups.values())


def bound_pairs(arguments: Any) -> list[tuple[Hole, Hole]]:
    """Pairs of a lower and an upper bound of one field."""
    found: list[tuple[Hole, Hole]] = []
    if isinstance(arguments, Mapping):
        holes = [each for each in arguments.values() if isinstance(each, Hole) and each.role == "bound"]
        lower = [each for each in holes if each.operator.startswith("$g")]
        upper = [each for each in holes if each.operator.startswith("$l")]
        found += list(zip(lower[:1], upper[:1], strict=False))
        for each in arguments.values():
            found += bound_pairs(each)
    elif isinstance(arguments, list):
        for each in arguments:
            found += bound_pairs(each)
    return found


def _span(low: Any, high: Any) -> float | None:
    """How far two bounds are apart: milliseconds of dates."""
    kinds = {type_name(low), type_name(high)}
    if kinds == {"date"}:
        return float(milliseconds(high) - milliseconds(low))
    if kinds <= {"int", "long", "double"}:
        span = float(high) - float(low)
        return span if math.isfinite(span) else None
    return None
