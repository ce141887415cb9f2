"""Owns how flows of a thread group are written: operations by name, their steps, what is kept and expected."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from brimline.compat.jmeter.document import shown_name
from brimline.compat.jmeter.flows import Flow
from brimline.compat.jmeter.groups import Group
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.requests import Step
from brimline.compat.jmeter.scope import is_step
from brimline.compat.jmeter.texts import Ref, Text, settled, written
from brimline.compat.jmeter.timers import Pause
from brimline.errors import visible
from brimline.operations import KINDS
from brimline.spec.own.operations import can_name_operation

_NAME_MAX: Final = 76
"""Leaves room for a number behind a name."""
_NOT_IN_A_NAME: Final = re.compile(r"[.=,\"\x00-\x1f\x7f-\x9f]+")
_KINDS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


class OperationWriter:
    """Writes operations, whose names it keeps apart. `common` are headers that all requests have."""

    def __init__(self, remarks: Remarks, common: frozenset[str]) -> None:
        self._remarks = remarks
        self._common = common
        self._taken: set[str] = set()

    def operations(self, group: Group) -> dict[str, Any]:
        """The operations of a group by name; with shares where there are several."""
        found: dict[str, Any] = {}
        shares = _shares(group.flows)
        for flow, share in zip(group.flows, shares, strict=True):
            name = self._name(self._wanted(group, flow), flow)
            found[name] = {**({"share": share} if len(shares) > 1 else {}), **self._operation(flow)}
        return found

    def _wanted(self, group: Group, flow: Flow) -> str:
        """What an operation is called: its one request, the one transaction, what was chosen, or the group."""
        if len(flow.requests) == 1:
            return flow.requests[0].label
        if len(group.flows) > 1 and flow.names:
            return " ".join(flow.names)
        steps = [each for each in group.element.active() if is_step(each)]
        is_whole = len(steps) == 1 and group.turns == 1 and steps[0].kind == "TransactionController"
        return steps[0].name if is_whole and steps[0].name else group.element.name

    def _name(self, wanted: str, flow: Flow) -> str:
        word = _NOT_IN_A_NAME.sub("_", " ".join(wanted.split()))[:_NAME_MAX].strip()
        word = word if can_name_operation(word) else "requests"
        word = f"{word}_" if word in KINDS else word
        name, number = word, 1
        while name in self._taken:
            number += 1
            name = f"{word}_{number}"
        self._taken.add(name)
        if len(flow.requests) == 1 and name != wanted:
            self._remarks.change(flow.requests[0].element, f"its operation is called {name}")
        return name

    def _operation(self, flow: Flow) -> dict[str, Any]:
        names, saved = Counter[str](), set[str]()
        pause, steps, is_first = Pause(), [], True
        for each in flow.steps:
            if isinstance(each, Pause):
                pause += each
                continue
            made = self._step(each, saved)
            # The pause before the first one is the load's.
            waits = Pause() if is_first else each.pause + pause
            pause, is_first = Pause(), False
            saved |= {save.name for save in each.saves}
            steps.append({**({"think_time": waits.written()} if waits else {}), **made})
        if len(steps) == 1:
            return steps[0]
        return {
            "steps": [
                {"name": _step_name(each, names), **made} for each, made in zip(flow.requests, steps, strict=True)
            ]
        }

    def _step(self, step: Step, saved: set[str]) -> dict[str, Any]:
        def text(given: Text) -> str:
            return written(settled(given, saved, lambda ref: self._missing(step, ref)))

        request: dict[str, Any] = {"path": text(step.path)}
        if step.query:
            request["query"] = _pairs(step.query, text)
        headers = {name: text(value) for name, value in step.headers.items() if name not in self._common}
        if headers:
            request["headers"] = headers
        if step.form is not None:
            request["form"] = _pairs(step.form, text)
        elif step.body is not None:
            request["body"] = text(step.body)
        if step.method in _KINDS and (step.method in _WITH_BODY or (step.body is None and step.form is None)):
            made: dict[str, Any] = {step.method.lower(): request}
        else:
            made = {"request": {"method": step.method, **request}}
        if expect := self._expect(step, text):
            made["expect"] = expect
        if save := self._save(step):
            made["save"] = save
        return made

    def _missing(self, step: Step, ref: Ref) -> None:
        why = f"{shown_name(ref.source)} is kept by no request before it, and is sent as it stands"
        self._remarks.lose(step.element, why, "let a request before it save it")

    def _expect(self, step: Step, text: Any) -> dict[str, Any]:
        expect, found = step.expect, {}
        if expect.has_status:
            found["status"] = expect.status()
        if step.method == "HEAD":
            return found
        if expect.contains or expect.matches:
            found["text"] = expect.text()
        if expect.json:
            found["json"] = {
                path: wanted if isinstance(wanted, dict) else _number_or_text(text(wanted))
                for path, wanted in expect.json.items()
            }
        return found

    def _save(self, step: Step) -> dict[str, Any]:
        if step.method == "HEAD":
            return {}
        found = {save.name: save.form for save in step.saves}
        for path in step.expect.present:
            # What isn't there can't be kept, and the operation fails.
            found[f"has_{re.sub(r'[^A-Za-z0-9]+', '_', path)}"] = f"json.{path}"
        return found


def _step_name(step: Step, names: Counter[str]) -> str:
    """A request's label; the second of a label in an operation has its number."""
    label = " ".join(visible(step.label).split())[:_NAME_MAX].strip() or "request"
    names[label] += 1
    return label if names[label] == 1 else f"{label} {names[label]}"


def _pairs(pairs: Sequence[tuple[str, Text]], text: Any) -> dict[str, Any]:
    return {name: text(value) for name, value in pairs}


def _number_or_text(text: str) -> Any:
    """A number, true or false where it is written as JSON has it: a reply rather has that than its text."""
    if re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text)


def _shares(flows: Sequence[Flow]) -> list[int]:
    """Whole numbers in proportion to the weights."""
    total = sum(each.weight for each in flows)
    return [max(1, round(each.weight / total * 10_000)) for each in flows]
