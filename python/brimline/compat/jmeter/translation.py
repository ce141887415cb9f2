"""Owns the translation as a whole: which workloads a plan becomes, and their text with what was left out."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from brimline.compat.jmeter.csv_files import CsvFiles
from brimline.compat.jmeter.document import Element, read_plan, shown_name
from brimline.compat.jmeter.extractors import EXTRACTORS, saved_variables
from brimline.compat.jmeter.flows import Flow
from brimline.compat.jmeter.functions import FUNCTIONS
from brimline.compat.jmeter.groups import OTHER_GROUPS, Group, load_of, read_group
from brimline.compat.jmeter.left import tell_of_others
from brimline.compat.jmeter.operations import OperationWriter
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.requests import Requests, Step, is_request
from brimline.compat.jmeter.scope import Scope
from brimline.compat.jmeter.texts import written
from brimline.compat.jmeter.timers import Pause
from brimline.compat.jmeter.variables import Variables
from brimline.errors import UsageError
from brimline.init.left_out import LeftOut
from brimline.init.translated import Translated, header_lines, used_values
from brimline.init.words import name_word
from brimline.init.yaml_text import yaml_text
from brimline.spec.document import TEXT_BYTES_MAX
from brimline.spec.own.operations import OPERATIONS_MAX

_HINT: Final = "give a plan with a thread group that sends requests of HTTP"
_REDIRECTS: Final = 20
"""What JMeter follows at most."""
_OF_EACH: Final = frozenset({"content-type"})
"""Headers that stand at each request, with what they are about."""
_ENV_NAME: Final = re.compile(r"[^A-Z0-9]+")
_HTTP_KINDS: Final = frozenset({"HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTranslated:
    """The workloads of a plan by name, and what is left out or another in all of them, each with file and line."""

    workloads: Mapping[str, Translated]
    not_taken: Sequence[str]
    changed: Sequence[str]
    environment: Sequence[str]
    """Names of the variables of the environment that hold what is secret."""
    without_target: frozenset[str]
    """The workloads whose plan doesn't say where its requests go."""


def from_jmeter(path: Path, *, stem: str | None, properties: Mapping[str, str]) -> PlanTranslated:
    """Translates the plan in a file.

    `stem`: what names of files beside a workload begin with, None: none. `properties` are those that functions such as
    `${__P(threads)}` read. Raises UsageError where it can't be read, or nothing of it can be taken over.
    """
    root = read_plan(path)
    return _Translation(path, root, stem, properties).translated()


class _Translation:
    def __init__(self, path: Path, root: Element, stem: str | None, properties: Mapping[str, str]) -> None:
        self._path = path
        self._root = root
        self._remarks = Remarks(shown_name(path.name))
        self._variables = Variables(self._remarks, FUNCTIONS, properties)
        self._csv = CsvFiles(self._variables, self._remarks, path.parent, stem)
        self._environment: dict[str, None] = {}

    def translated(self) -> PlanTranslated:
        plan = next((each for each in self._root.active() if each.kind == "TestPlan"), None)
        if plan is None:
            raise UsageError(f"{self._path} has no test plan that is enabled", hint=_HINT)
        threads = [each for each in plan.active() if each.kind.endswith("ThreadGroup")]
        if not threads:
            raise UsageError(f"{self._path} has no thread group that is enabled", hint=_HINT)
        self._define(plan)
        groups = [each for each in map(self._on_one_host, self._groups(plan, threads)) if each is not None]
        if not groups:
            lost = self._remarks.by_line().lost
            raise UsageError(f"nothing of {self._path} can be taken over", hint="; ".join(lost[:3]) or _HINT)
        tell_of_others(plan, self._remarks)
        keys = {name: self._keys(plan, name, each) for name, each in self._together(groups).items()}
        if len(keys) > 1:
            many = f"its {len(keys)} thread groups are a workload each"
            self._remarks.change(plan, f"{many}, as loads side by side end together, and go to one host")
        left = self._remarks.by_line()
        texts = {name: self._text(each, left) for name, each in keys.items()}
        return PlanTranslated(
            workloads={
                name: Translated(
                    text=text,
                    beside={file: rows for file, rows in self._csv.beside.items() if file in text},
                    operations=len(keys[name]["operations"]),
                    not_taken=left.lost,
                )
                for name, text in texts.items()
            },
            not_taken=left.lost,
            changed=left.changed,
            environment=list(self._environment),
            without_target=frozenset(name for name, each in keys.items() if "target" not in each),
        )

    def _define(self, plan: Element) -> None:
        """Variables of the plan, wherever they stand, columns of its files, and what its requests keep."""
        for variable in saved_variables(plan):
            self._variables.will_save(variable)
        own = plan.items("TestPlan.user_defined_variables", "Arguments.arguments")
        for pair in [*own, *(pair for each in _all(plan, "Arguments") for pair in each.items("Arguments.arguments"))]:
            if isinstance(pair, dict) and isinstance(name := pair.get("Argument.name"), str) and name:
                value = pair.get("Argument.value", "")
                self._variables.constants[name] = value if isinstance(value, str) else ""
        for each in _all(plan, "CSVDataSet"):
            self._csv.add(each)

    def _groups(self, plan: Element, threads: Sequence[Element]) -> list[Group]:
        scope = Scope().inside(plan)
        requests = Requests(self._variables, self._remarks, _reach(plan))
        found: list[Group] = []
        for each in threads:
            if each.kind != "ThreadGroup":
                why, instead = OTHER_GROUPS.get(each.kind, ("is a plugin", "write its load, such as {kind: closed}"))
                self._remarks.lose(each, why, instead)
            elif (group := read_group(each, scope, requests, self._variables, self._remarks)) is not None:
                found.append(group)
        return found

    def _together(self, groups: Sequence[Group]) -> dict[str, list[Group]]:
        """Groups by the workload that they are in: side by side where their loads can be, else one each."""
        ends = {(each.shape.loops, each.shape.duration_s) for each in groups}
        end_together = len(ends) == 1 and groups[0].shape.loops is None and groups[0].shape.duration_s is not None
        is_one_host = len({_host(each) for each in groups}) == 1 and all(len(each.flows) == 1 for each in groups)
        if len(groups) == 1 or (end_together and is_one_host and len(groups) <= OPERATIONS_MAX):
            return {name_word(self._path.stem)[:40]: list(groups)}
        found: dict[str, list[Group]] = {}
        for group in groups:
            word, number = name_word(group.element.name)[:36], 1
            name = word
            while name in found:
                number += 1
                name = f"{word}_{number}"
            found[name] = [group]
        return found

    def _keys(self, plan: Element, name: str, groups: Sequence[Group]) -> dict[str, Any]:
        steps = [step for group in groups for flow in group.flows for step in flow.requests]
        http = self._http(plan, steps)
        writer = OperationWriter(self._remarks, frozenset(http.get("headers", ())))
        keys: dict[str, Any] = {"name": name, "protocol": "http"}
        if base := _host(groups[0]):
            keys["target"] = {"uri": base}
        keys["http"] = http
        operations: dict[str, Any] = {}
        loads = [load_of(group, self._remarks) for group in groups]
        for group, load in zip(groups, loads, strict=True):
            for operation, definition in writer.operations(group).items():
                own = {"load": load["load"], "connections": load["connections"]} if len(groups) > 1 else {}
                operations[operation] = {**own, **definition}
        if values := used_values(self._variables.values, {"operations": operations, "http": http}):
            keys["values"] = values
        keys["operations"] = operations
        ends = ("warmup", "duration") if len(groups) > 1 else tuple(loads[0])
        keys |= {key: value for key, value in loads[0].items() if key in ends}
        timeout_ms = max((each.timeout_ms for each in steps), default=0.0)
        if 1 <= timeout_ms <= 3_600_000:
            keys["operation_timeout"] = f"{timeout_ms:g}ms"
        return keys

    def _on_one_host(self, group: Group) -> Group | None:
        """The group with the requests that go where most do; None where none is left. What goes elsewhere is said."""
        hosts = Counter(step.base.url for flow in group.flows for step in flow.requests if step.base.url)
        if len(hosts) < 2:
            return group
        most = hosts.most_common(1)[0][0]
        flows = []
        for flow in group.flows:
            for step in flow.requests:
                if step.base.url not in (most, ""):
                    why = f"its host is {shown_name(step.base.url)}, and a workload has one: {shown_name(most)}"
                    self._remarks.lose(step.element, why, "give it a workload of its own")
            kept = tuple(each for each in flow.steps if isinstance(each, Pause) or each.base.url in (most, ""))
            flows.append(Flow(flow.weight, kept, flow.names))
        flows = [each for each in flows if each.requests]
        return replace(group, flows=flows) if flows else None

    def _http(self, plan: Element, steps: Sequence[Step]) -> dict[str, Any]:
        http: dict[str, Any] = {}
        secrets = {name: manager for each in steps for name, manager in each.secrets.items()}
        headers: dict[str, Any] = {
            name: written(value)
            for name, value in steps[0].headers.items()
            if name != "content-type"
            and value.constant is not None
            and all(each.headers.get(name) == value for each in steps)
        }
        for name, manager in sorted(secrets.items()):
            headers[name] = {"env": self._variable(plan, name)}
            everywhere = "" if all(name in each.secrets for each in steps) else ", for all requests"
            how = f"the header {name} is {headers[name]['env']} of the environment{everywhere}; no secret is written"
            self._remarks.change(manager, how)
            for step in steps:
                step.headers.pop(name, None)
        if headers:
            http["headers"] = headers
        http["keep_alive"] = self._most(steps, "keep_alive", "its connection is kept, or not, as of most")
        redirects = self._most(steps, "redirects", "its redirects are followed, or not, as of most")
        http["follow_redirects"] = _REDIRECTS if redirects else 0
        managers = [each for each in plan.everything() if each.kind == "CookieManager"]
        http["cookies"] = bool(managers)
        for each in managers:
            self._cookies(each)
        if "authorization" not in headers:
            http |= self._basic(plan)
        return http

    def _most(self, steps: Sequence[Step], name: str, otherwise: str) -> bool:
        values = Counter(bool(getattr(each, name)) for each in steps)
        most = values[True] >= values[False]
        for step in steps:
            if getattr(step, name) is not most:
                self._remarks.change(step.element, otherwise)
        return most

    def _variable(self, plan: Element, what: str) -> str:
        """A name for a secret in the environment."""
        words = f"{plan.name if plan.name != 'Test Plan' else self._path.stem} {what}".upper()
        name = _ENV_NAME.sub("_", words).strip("_") or "SECRET"
        name = name if name[0].isalpha() else f"V_{name}"
        self._environment[name] = None
        return name

    def _cookies(self, manager: Element) -> None:
        if manager.items("CookieManager.cookies"):
            self._remarks.lose(
                manager, "its own cookies are not sent", "write headers: {cookie: …}, or let a login set them"
            )
        if manager.flag("CookieManager.clearEachIteration"):
            self._remarks.change(manager, "cookies are kept by each worker through all of its operations")

    def _basic(self, plan: Element) -> dict[str, Any]:
        for manager in (each for each in plan.everything() if each.kind == "AuthManager"):
            entries = [each for each in manager.items("AuthManager.auth_list") if isinstance(each, dict)]
            if len(entries) > 1:
                self._remarks.lose(manager, "it has several logins", "give each a workload of its own")
            for each in entries[:1]:
                mechanism = str(each.get("Authorization.mechanism", "BASIC"))
                user = self._variables.constant(str(each.get("Authorization.username", "")))
                if "BASIC" not in mechanism or not user:
                    why = f"its mechanism is {shown_name(mechanism)}, or its user is not known beforehand"
                    self._remarks.lose(manager, why, "write http: {basic: …}")
                    continue
                password = {"env": self._variable(plan, "password")}
                how = f"its password is {password['env']} of the environment; none is written"
                self._remarks.change(manager, how)
                return {"basic": {"username": user, "password": password}}
        return {}

    def _text(self, keys: Mapping[str, Any], left: LeftOut) -> str:
        first = [
            f"A workload translated by brimline jmeter from the test plan {shown_name(self._path.name)}.",
            "An operation is an iteration of a thread: its requests one after another, each called by its label.",
        ]
        if self._environment:
            first.append(f"Before it runs, the environment needs {', '.join(self._environment)}.")
        text = yaml_text(keys, header=header_lines(first, left, by="line"))
        if len(text.encode()) > TEXT_BYTES_MAX:
            # The remarks are printed as well.
            text = yaml_text(keys, header=[*first, "What is not taken over is what brimline jmeter prints."])
        if len(text.encode()) > TEXT_BYTES_MAX:
            raise UsageError(
                f"the workload of {self._path} would be larger than {TEXT_BYTES_MAX // 1024} KiB, which is the limit",
                hint="disable what is not needed, or split the plan",
            )
        return text


def _host(group: Group) -> str:
    """Where its requests go; nothing where the plan doesn't say."""
    return next((step.base.url for flow in group.flows for step in flow.requests if step.base.url), "")


def _all(plan: Element, kind: str) -> Iterable[Element]:
    return (each for each in plan.everything() if each.kind == kind)


def _reach(plan: Element) -> dict[int, int]:
    """For how many requests each extractor counts, by its identity."""
    found: dict[int, int] = {}
    for parent in (plan, *plan.everything()):
        own = [each for each in parent.active() if each.kind in EXTRACTORS]
        if own:
            count = 1 if parent.kind in _HTTP_KINDS else sum(is_request(each) for each in parent.everything())
            found |= {id(each): count for each in own}
    return found
