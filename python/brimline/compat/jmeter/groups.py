"""Owns thread groups: how many threads, how long, and the load that a workload has for them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.flows import STEPS_MAX, Flow, FlowReader, Turn, period_of
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.requests import Requests
from brimline.compat.jmeter.scope import Scope
from brimline.compat.jmeter.timers import Pause
from brimline.compat.jmeter.variables import Variables
from brimline.spec.readers import CONNECTION_COUNT_MAX
from brimline.units import NS_PER_S, duration_text

_DAY_S: Final = 86_400
_UNROLLED_MAX: Final = 100
"""Iterations, and requests, of one operation that is several iterations."""
_LOOPS_MAX: Final = 10**12
OTHER_GROUPS: Final = {
    "SetupThreadGroup": ("runs before the test", "run its requests by hand, or make them a workload of their own"),
    "PostThreadGroup": ("runs after the test", "run its requests by hand, or make them a workload of their own"),
    "OpenModelThreadGroup": ("has a schedule of rates", "write load: {kind: stages, …}, or ramp"),
    "UltimateThreadGroup": ("is a plugin with a schedule of threads", "write load: {kind: stages, …} of rates"),
    "SteppingThreadGroup": ("is a plugin with steps of threads", "use brimline sweep, or load: {kind: steps, …}"),
    "ConcurrencyThreadGroup": ("is a plugin that holds so many threads", "write load: {kind: closed} with connections"),
    "ArrivalsThreadGroup": ("is a plugin with a rate of arrivals", "write load: {kind: poisson, rate: …}"),
    "FreeFormArrivalsThreadGroup": ("is a plugin with rates of arrivals", "write load: {kind: stages, …}"),
}
"""Groups that are not taken over, why, and what to do instead."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A group's numbers. `loops` None: without an end. `ramp_up_s`, `duration_s`: in seconds, None: none is said."""

    threads: int
    loops: int | None
    ramp_up_s: float
    duration_s: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """A thread group: its shape and what its iterations send; `turns` of them are one operation."""

    element: Element
    shape: Shape
    flows: Sequence[Flow]
    turns: int

    @property
    def first_pause(self) -> Pause:
        """The pause before the first request of an operation, the mean of all ways that it may come."""
        pauses = [(each.weight, _before_first(each)) for each in self.flows]
        total = math.fsum(weight for weight, _ in pauses)
        if not any(pause for _, pause in pauses):
            return Pause()
        laws = {pause.law for _, pause in pauses}
        mean_ms = math.fsum(weight * pause.mean_ms for weight, pause in pauses) / total
        return Pause(mean_ms, laws.pop() if len(laws) == 1 else "constant")


def _before_first(flow: Flow) -> Pause:
    """What is waited before the first request, and behind the last, where the next iteration begins."""
    total = Pause()
    for each in flow.steps:
        if not isinstance(each, Pause):
            total += each.pause
            break
        total += each
    for each in reversed(flow.steps):
        if not isinstance(each, Pause):
            break
        total += each
    return total


def read_group(
    group: Element, scope: Scope, requests: Requests, variables: Variables, remarks: Remarks
) -> Group | None:
    """A thread group; None where nothing of it can be taken over, which is said."""
    shape = _shape(group, variables, remarks)
    if shape is None:
        return None
    turns = _turns(group, shape)
    reader = FlowReader(requests, remarks, variables, shape.loops, shape.threads)
    flows = None
    if turns is not None and _can_be_one(turns, variables):
        flows = _counted_out(reader, group, scope, turns)
    if flows is None:
        reader = FlowReader(requests, remarks, variables, shape.loops, shape.threads, counts_out=False)
        flows, turns = reader.flows(group, scope, Turn()), 1
    if reader.is_cut:
        remarks.lose(group, f"an iteration has more than {STEPS_MAX} requests", "split it; the first are taken")
    flows = _without_nothing(flows, group, remarks)
    if not flows:
        remarks.lose(group, "sends no request of HTTP that can be taken over", "see what is said of its requests")
        return None
    if turns is not None and turns > 1:
        why = "so that what comes once, or in turn, comes as often as in JMeter; values are drawn once for all of them"
        remarks.change(group, f"{turns} iterations are one operation, {why}")
    return Group(group, shape, flows, turns or 1)


def _turns(group: Element, shape: Shape) -> int | None:
    """How many iterations are one operation where all is counted out; None: none is, without an end."""
    period = period_of(group)
    if period is None or (shape.loops is not None and shape.loops % period):
        return shape.loops
    return period


def _can_be_one(turns: int, variables: Variables) -> bool:
    """Whether so many iterations may be one operation: not where rows of a file end in between."""
    return turns == 1 or (turns <= _UNROLLED_MAX and not variables.ends)


def _counted_out(reader: FlowReader, group: Element, scope: Scope, turns: int) -> list[Flow] | None:
    """So many turns one after another; None where that is too much for one operation."""
    found = [Flow()]
    for turn in range(turns):
        further = reader.flows(group, scope, Turn(turn, turn == 0))
        if turns > 1 and (len(found) * len(further) > 1 or len(found[0].steps + further[0].steps) > _UNROLLED_MAX):
            return None
        found = further if turns == 1 else [found[0] + further[0]]
    return found


def _without_nothing(flows: Sequence[Flow], group: Element, remarks: Remarks) -> list[Flow]:
    """The flows that send something; equal ones are one."""
    found: dict[tuple[int, ...], Flow] = {}
    for each in flows:
        if each.requests and each.weight > 0:
            key = tuple(id(step) if not isinstance(step, Pause) else hash(step) for step in each.steps)
            known = found.get(key)
            found[key] = Flow(each.weight + (known.weight if known else 0.0), each.steps, each.names)
    sent = math.fsum(each.weight for each in found.values())
    if found and sent < 0.999:
        remarks.change(group, f"{1 - sent:.3g} of its iterations send nothing, and are left out of the loops")
    return list(found.values())


def _shape(group: Element, variables: Variables, remarks: Remarks) -> Shape | None:
    threads = variables.number(group.text("ThreadGroup.num_threads", "1") or "1")
    if threads is None or not 1 <= threads <= CONNECTION_COUNT_MAX:
        known = "not known beforehand" if threads is None else f"{threads:g}"
        remarks.lose(
            group, f"its number of threads is {known}", f"give 1 to {CONNECTION_COUNT_MAX}; -J sets a property"
        )
        return None
    loops = _loops(group, variables, remarks)
    if loops == 0:
        remarks.lose(group, "it has no iteration", "give it loops")
        return None
    duration_s = None
    if group.flag("ThreadGroup.scheduler"):
        duration_s = _seconds(group, "ThreadGroup.duration", variables, remarks) or None
        delay_s = _seconds(group, "ThreadGroup.delay", variables, remarks)
        if delay_s:
            remarks.change(group, f"begins at once, and not after {delay_s:g} s")
    ramp_up_s = _seconds(group, "ThreadGroup.ramp_time", variables, remarks)
    _on_error(group, remarks)
    return Shape(int(threads), loops, ramp_up_s, duration_s)


def _loops(group: Element, variables: Variables, remarks: Remarks) -> int | None:
    """Iterations of each thread; None: without an end."""
    controller = group.properties.get("ThreadGroup.main_controller")
    given = controller if isinstance(controller, dict) else {}
    written = str(given.get("LoopController.loops", "-1" if _is_true(given, "continue_forever") else "1"))
    loops = variables.number(written)
    if loops is None or not math.isfinite(loops):
        remarks.lose(group, "how often it loops is not known beforehand", "-J sets a property; one loop is taken")
        return 1
    return None if loops < 0 else int(min(loops, _LOOPS_MAX))


def _is_true(given: dict[str, Any], name: str) -> bool:
    return str(given.get(f"LoopController.{name}", "false")).strip().lower() == "true"


def _seconds(group: Element, name: str, variables: Variables, remarks: Remarks) -> float:
    written = group.text(name).strip()
    known = variables.number(written) if written else 0.0
    if known is None or not 0 <= known <= 30 * _DAY_S:
        remarks.lose(group, f"{name.partition('.')[2]} is no time that is known beforehand", "-J sets a property")
        return 0.0
    return known


def _on_error(group: Element, remarks: Remarks) -> None:
    match group.text("ThreadGroup.on_sample_error", "continue"):
        case "startnextloop":
            return
        case "continue":
            remarks.change(group, "a request that fails ends its operation, where JMeter sends the next one")
        case other:
            remarks.change(group, f"after a request that fails the next operation comes ({other} there)")


def load_of(group: Group, remarks: Remarks) -> dict[str, Any]:
    """The keys of a workload that say its load."""
    shape, pause = group.shape, group.first_pause
    ends: dict[str, Any] = {"warmup": "0s"}
    if shape.duration_s:
        ends["duration"] = duration_text(round(min(shape.duration_s, 30 * _DAY_S) * NS_PER_S))
    loops = None if shape.loops is None else _loops_sent(group, shape.loops)
    if loops is not None and not pause:
        ramp_up = duration_text(round(min(shape.ramp_up_s, _DAY_S) * NS_PER_S)) if shape.ramp_up_s else "1ms"
        load: dict[str, Any] = {"kind": "tlr", "threads": shape.threads, "loops": loops, "ramp_up": ramp_up}
        return {"load": load, **ends}
    load = {"kind": "closed"}
    if pause:
        load["think_time"] = pause.written() if pause.law == "constant" else pause.written()["mean"]
        if pause.law != "constant":
            load["think_time_law"] = pause.law
    if shape.ramp_up_s:
        remarks.change(group.element, f"all threads begin at once, and not over {shape.ramp_up_s:g} s")
    keys = {"load": load, "connections": shape.threads, **ends}
    if loops is not None:
        keys["operation_count"] = shape.threads * loops
    elif not shape.duration_s:
        remarks.lose(group.element, "it runs until it is stopped", "give --duration; without, it is 10 s")
    return keys


def _loops_sent(group: Group, loops: int) -> int:
    """Operations of each thread: iterations that send something, by so many as are one operation."""
    sent = math.fsum(each.weight for each in group.flows)
    return max(1, round(loops / group.turns * min(1.0, sent)))
