"""Owns controllers: which requests an iteration of a thread sends, one after another, and how often it is so."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from brimline.compat.jmeter.conditions import share_of
from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.quotas import quota_of
from brimline.compat.jmeter.requests import Requests, Step, is_request
from brimline.compat.jmeter.scope import CONTROLLERS, PAUSES, Scope, is_step
from brimline.compat.jmeter.timers import Pause, mean_number
from brimline.compat.jmeter.variables import Variables
from brimline.spec.own.operations import OPERATIONS_MAX

STEPS_MAX: Final = 400
"""Requests of one operation, whose text has to fit into a workload."""
_IN_ORDER: Final = frozenset(
    {"GenericController", "RecordingController", "TransactionController", "TestFragmentController"}
)
_BY_STEP: Final = "write the steps by hand"
_LOST: Final = {
    "WhileController": ("repeats as long as a condition holds", "write its steps as often as they are needed"),
    "ForeachController": ("repeats for each of several matches", "write its steps as often as they are needed"),
    "RunTime": ("repeats for a time", "give it an operation with a load of its own"),
    "IncludeController": ("is in another file", "translate that file too, and add its steps"),
    "ModuleController": ("is elsewhere in the plan", "copy what it points to into its place"),
    "CriticalSectionController": ("holds other threads back", _BY_STEP),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """Which visit of a controller it is, counted from 0, and whether it is the first of its thread, or of its loop."""

    visit: int = 0
    is_first: bool = True


@dataclass(frozen=True, slots=True)
class Flow:
    """Requests one after another, and pauses between them.

    `weight` is how often of 1 it is these, `names` are those of what was chosen.
    """

    weight: float = 1.0
    steps: tuple[Step | Pause, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def requests(self) -> list[Step]:
        """The requests alone."""
        return [each for each in self.steps if isinstance(each, Step)]

    def __add__(self, other: "Flow") -> "Flow":
        return Flow(self.weight * other.weight, self.steps + other.steps, self.names + other.names)


@dataclass
class FlowReader:
    """Reads the controllers of one thread group.

    `counts_out`: what is in turn, or once, is known by the number of the turn. Else it is a matter of chance, or each
    time. `loops`: iterations of each thread, `threads` of them; None where they don't end.
    """

    requests: Requests
    remarks: Remarks
    variables: Variables
    loops: int | None
    threads: int
    counts_out: bool = True
    is_cut: bool = False
    _steps: dict[int, Step] = field(default_factory=dict)

    def flows(self, parent: Element, scope: Scope, turn: Turn) -> list[Flow]:
        """What one turn of `parent` sends, in all ways that it may come."""
        inside, found = scope.inside(parent), [Flow()]
        for child in parent.active():
            if is_step(child):
                found = self._joined(found, self._of(child, inside, turn), child)
        return found

    def _joined(self, flows: Sequence[Flow], further: Sequence[Flow], element: Element) -> list[Flow]:
        if len(flows) * len(further) > OPERATIONS_MAX:
            self.remarks.lose(element, f"more than {OPERATIONS_MAX} ways through the plan", "write operations by hand")
            further = further[:1]
        found = [one + other for one in flows for other in further]
        if any(len(each.steps) > STEPS_MAX for each in found):
            self.is_cut = True
            found = [Flow(each.weight, each.steps[:STEPS_MAX], each.names) for each in found]
        return found

    def _of(self, element: Element, scope: Scope, turn: Turn) -> list[Flow]:
        if is_request(element):
            return [Flow(steps=(self._step(element, scope),))]
        if element.kind == PAUSES:
            return self._pause(element)
        if element.kind in _IN_ORDER:
            return self.flows(element, scope, turn)
        match element.kind:
            case "LoopController":
                return self._loop(element, scope, turn)
            case "OnceOnlyController":
                return self._once(element, scope, turn)
            case "IfController":
                return self._if(element, scope, turn)
            case "RandomController":
                return self._one_of(element, scope, turn)
            case "InterleaveControl":
                return self._in_turn(element, scope, turn)
            case "RandomOrderController":
                self.remarks.change(element, "in the order of the plan, and not in a random one")
                return self.flows(element, scope, turn)
            case "CriticalSectionController":
                self.remarks.change(element, "its requests are sent, and other threads don't wait for them")
                return self.flows(element, scope, turn)
            case "ThroughputController":
                return self._throughput(element, scope, turn)
            case "SwitchController":
                return self._switch(element, scope, turn)
        why, instead = _LOST.get(element.kind, ("is no request of HTTP", "send it by another tool, or leave it out"))
        return self._lose(element, why, instead)

    def _lose(self, element: Element, why: str, instead: str) -> list[Flow]:
        count = sum(is_request(each) for each in element.everything())
        within = f", with {count} request{'s' if count > 1 else ''}" if count else ""
        self.remarks.lose(element, f"{why}{within}", instead)
        return [Flow()]

    def _step(self, element: Element, scope: Scope) -> Step:
        if id(element) not in self._steps:
            self._steps[id(element)] = self.requests.step(element, scope)
        return self._steps[id(element)]

    def _pause(self, element: Element) -> list[Flow]:
        if element.text("ActionProcessor.action", "1") != "1":
            return self._lose(element, "stops a thread, the test or the loop", "give --duration or operation_count")
        mean_ms = mean_number(element.text("ActionProcessor.duration", "0") or "0", self.variables)
        if mean_ms is None:
            return self._lose(element, "how long it waits is not known beforehand", "write a think_time")
        return [Flow(steps=(Pause(max(0.0, mean_ms)),))] if mean_ms > 0 else [Flow()]

    def _loop(self, element: Element, scope: Scope, turn: Turn) -> list[Flow]:
        loops = self.variables.number(element.text("LoopController.loops", "1") or "1")
        if loops is None or not math.isfinite(loops):
            return self._lose(element, "how often it repeats is not known beforehand", "write the number into the plan")
        if loops < 0 or (element.flag("LoopController.continue_forever") and loops != loops // 1):
            return self._lose(element, "repeats for ever within an iteration", "let the thread group do so")
        count, found = int(loops), [Flow()]
        for number in range(count):
            before = len(found[0].steps)
            found = self._joined(
                found, self.flows(element, scope, Turn(turn.visit * count + number, number == 0)), element
            )
            if len(found[0].steps) == before or self.is_cut:
                break
        return found

    def _once(self, element: Element, scope: Scope, turn: Turn) -> list[Flow]:
        if turn.is_first or not self.counts_out:
            if not self.counts_out and self.loops != 1:
                self.remarks.change(element, "in each operation, and not once for each thread")
            return self.flows(element, scope, turn)
        return [Flow()]

    def _if(self, element: Element, scope: Scope, turn: Turn) -> list[Flow]:
        share = share_of(element.text("IfController.condition"), self.variables)
        if share is None:
            return self._lose(element, "its condition is not known beforehand", "make it an operation with a share")
        return self._with_share(element, scope, turn, share)

    def _with_share(self, element: Element, scope: Scope, turn: Turn, share: float) -> list[Flow]:
        """What stands in it, and nothing."""
        if share <= 0:
            return [Flow()]
        inner = self.flows(element, scope, turn)
        if share >= 1:
            return inner
        name = (element.name,)
        return [*(Flow(each.weight * share, each.steps, name + each.names) for each in inner), Flow(1 - share)]

    def _children(self, element: Element) -> list[Element]:
        return [each for each in element.active() if is_step(each)]

    def _one_of(self, element: Element, scope: Scope, turn: Turn) -> list[Flow]:
        """Each child as often as the others."""
        children, inside = self._children(element), scope.inside(element)
        found: list[Flow] = []
        for child in children[:OPERATIONS_MAX]:
            for each in self._of(child, inside, turn):
                found.append(Flow(each.weight / len(children), each.steps, (child.name, *each.names)))
        return found[:OPERATIONS_MAX] or [Flow()]

    def _in_turn(self, element: Element, scope: Scope, turn: Turn) -> list[Flow]:
        children = self._children(element)
        if element.text("InterleaveControl.style", "1") == "0" and any(each.kind in CONTROLLERS for each in children):
            self.remarks.change(element, "a controller in it comes as a whole, and not one of its requests")
        if not self.counts_out:
            if len(children) > 1:
                self.remarks.change(element, "its children come by chance, each as often, and not in turn")
            return self._one_of(element, scope, turn)
        return self._of(children[turn.visit % len(children)], scope.inside(element), turn) if children else [Flow()]

    def _throughput(self, element: Element, scope: Scope, turn: Turn) -> list[Flow]:
        quota = quota_of(element, self.variables)
        if quota is None:
            return self._lose(element, "how often it comes is not known beforehand", "give the operation a share")
        if self.counts_out and (comes := quota.comes(turn.visit, self.threads, self.loops)) is not None:
            return self.flows(element, scope, turn) if comes else [Flow()]
        share = quota.share(self.threads, self.loops)
        if share is None:
            return self._lose(element, "comes so many times in an endless test", "give the operation a share")
        if 0 < share < 1:
            self.remarks.change(element, f"in {100 * share:.3g} % of the operations, by chance and not counted out")
        return self._with_share(element, scope, turn, share)

    def _switch(self, element: Element, scope: Scope, turn: Turn) -> list[Flow]:
        value = self.variables.constant(element.text("SwitchController.value"))
        children = self._children(element)
        if value is None:
            return self._lose(element, "what it takes is not known beforehand", "make each child an operation")
        place = int(value) if value.isdecimal() and len(value) < 9 else 0 if not value else None
        if place is None:
            names = [each.name for each in children]
            place = next((names.index(each) for each in (value, "default") if each in names), len(children))
        elif place >= len(children):
            place = 0
        return self._of(children[place], scope.inside(element), turn) if place < len(children) else [Flow()]


def period_of(parent: Element) -> int | None:
    """After how many turns what is in turn begins again; None where something is counted from the first turn on."""
    period = 1
    for child in parent.active():
        if child.kind not in CONTROLLERS or (child.kind in _LOST and child.kind != "CriticalSectionController"):
            continue
        if child.kind in ("OnceOnlyController", "ThroughputController"):
            return None
        inner = 1 if child.kind == "LoopController" and _is_once_in(child) else period_of(child)
        if inner is None:
            return None
        own = sum(is_step(each) for each in child.active()) if child.kind == "InterleaveControl" else 1
        period = math.lcm(period, inner, max(1, own))
    return period


def _is_once_in(loop: Element) -> bool:
    """Whether a loop has what comes once in each of its rounds."""
    return any(each.kind == "OnceOnlyController" for each in loop.active())
