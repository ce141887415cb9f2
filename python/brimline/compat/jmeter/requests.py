"""Owns HTTP samplers: a request with the defaults, headers, pauses, assertions and extractors of its scope."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote_plus

from brimline.compat.jmeter.assertions import ASSERTIONS, Expectation, expectation_of
from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.extractors import EXTRACTORS, Save, saves_of
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.scope import DEFAULTS, HEADERS, SAMPLERS, Scope
from brimline.compat.jmeter.texts import Text
from brimline.compat.jmeter.timers import TIMERS, Pause, pause_of
from brimline.compat.jmeter.variables import Variables

WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
_URL: Final = re.compile(r"(?i)(https?)://([^/?#:]+)(?::(\d+))?(.*)", re.DOTALL)
_FORM: Final = "application/x-www-form-urlencoded"
_SAFE: Final = "/:@!$&'()*+,;=-._~?%[]"
"""What a path and its query may have as it is."""
_SECRET: Final = re.compile(r"(?i)authorization|cookie|api-?key|token|secret|password")
_ASCII: Final = "".join(map(chr, range(32, 127)))
_CONNECTION: Final = frozenset({"host", "content-length", "connection", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Base:
    """Where requests go: `http://host:port`. Empty: the plan doesn't say."""

    url: str = ""


@dataclass(slots=True)
class Step:
    """A sampler's request. `form` are pairs of names and values, `body` is text; a request has one of them or none."""

    element: Element
    label: str
    base: Base
    method: str
    path: Text
    query: list[tuple[str, Text]] = field(default_factory=list)
    headers: dict[str, Text] = field(default_factory=dict)
    form: list[tuple[str, Text]] | None = None
    body: Text | None = None
    expect: Expectation = field(default_factory=Expectation)
    saves: list[Save] = field(default_factory=list)
    pause: Pause = field(default_factory=Pause)
    redirects: bool = False
    keep_alive: bool = True
    timeout_ms: float = 0.0
    secrets: dict[str, Element] = field(default_factory=dict)
    """Headers whose values are secrets, which are never written, and where each stands."""


@dataclass
class Requests:
    """Reads samplers. `reach`: for how many requests an element counts, by its identity."""

    variables: Variables
    remarks: Remarks
    reach: dict[int, int]

    def step(self, sampler: Element, scope: Scope) -> Step:
        """The request of a sampler in its scope."""
        defaults = [each for each in scope.of_sampler(sampler, DEFAULTS) if _has_http(each)]
        given = _Merged([sampler, *defaults])
        base, path = self._target(sampler, given)
        step = Step(
            element=sampler,
            label=sampler.name.strip() or "HTTP Request",
            base=base,
            method=(self.variables.constant(given.text("HTTPSampler.method")) or "GET").upper(),
            path=path,
            redirects=given.flag("HTTPSampler.follow_redirects") or given.flag("HTTPSampler.auto_redirects"),
            keep_alive=given.flag("HTTPSampler.use_keepalive", True),
            timeout_ms=self.variables.number(given.text("HTTPSampler.response_timeout")) or 0.0,
        )
        if not re.fullmatch(r"[A-Z]{1,20}", step.method):
            self.remarks.lose(sampler, "its method is no word", "write the method; GET is taken")
            step.method = "GET"
        self._headers(step, scope.of_sampler(sampler, HEADERS))
        self._content(step, sampler, defaults)
        step.pause = pause_of(scope.of_sampler(sampler, *TIMERS), self.variables, self.remarks)
        # JMeter asks those of the outermost first.
        assertions = list(scope.of_sampler(sampler, *ASSERTIONS))
        step.expect = expectation_of(assertions, self.variables, self.remarks)
        extractors = list(scope.of_sampler(sampler, *EXTRACTORS))
        own = [each for each in extractors if self.reach.get(id(each), 0) == 1]
        step.saves = saves_of(own, self.variables, self.remarks)
        for each in extractors:
            if self.reach.get(id(each), 0) != 1:
                self.remarks.lose(each, "it looks at the replies of several requests", "put it below one request")
        self._also(sampler, given)
        return step

    def _also(self, sampler: Element, given: "_Merged") -> None:
        """What a sampler may ask for besides."""
        if given.flag("HTTPSampler.image_parser"):
            self.remarks.lose(sampler, "images, styles and scripts of the page are not fetched", "add their requests")
        if given.flag("HTTPSampler.DO_MULTIPART_POST"):
            self.remarks.lose(sampler, "its body is sent as a form, not as multipart", "write headers and body")
        if any(isinstance(each, dict) and each.get("File.path") for each in _files(sampler)):
            self.remarks.lose(sampler, "files are not sent", "write what they hold as body")
        if given.text("HTTPSampler.proxyHost"):
            self.remarks.lose(sampler, "its proxy is not used", "give the server's own address")

    def _target(self, sampler: Element, given: "_Merged") -> tuple[Base, Text]:
        host = self._known(sampler, given.text("HTTPSampler.domain"), "host")
        port = self._known(sampler, given.text("HTTPSampler.port"), "port")
        scheme = (self._known(sampler, given.text("HTTPSampler.protocol"), "protocol") or "http").lower()
        path = self.variables.text(given.text("HTTPSampler.path").strip(), sampler)
        first = path.parts[0] if path.parts and isinstance(path.parts[0], str) else ""
        if found := _URL.fullmatch(first):
            scheme, host, port = found[1].lower(), found[2], found[3] or ""
            path = Text((found[4], *path.parts[1:]))
        elif host and (found := _URL.fullmatch(host)):
            scheme, host, port = found[1].lower(), found[2], found[3] or port
        if scheme not in ("http", "https"):
            self.remarks.lose(sampler, f"its protocol is {scheme[:20]}", "http is taken; give --uri")
            scheme = "http"
        if not re.fullmatch(r"[1-9]\d{0,4}", port or "") or port == {"http": "80", "https": "443"}[scheme]:
            port = ""
        is_host = re.fullmatch(r"[\w.-]+|\[[0-9A-Fa-f:.]+\]", host or "") is not None
        base = Base(f"{scheme}://{host}{f':{port}' if port else ''}") if is_host else Base()
        path = path.map(lambda text: re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", quote(text, safe=_SAFE)))
        if not (path.parts and isinstance(path.parts[0], str) and path.parts[0].startswith("/")):
            path = Text(("/",)) + path
        return base, Text(_joined(path))

    def _known(self, sampler: Element, written: str, what: str) -> str:
        if not written:
            return ""
        known = self.variables.constant(written)
        if known is None:
            self.remarks.lose(sampler, f"its {what} is not known beforehand", "give it by --uri")
        return known or ""

    def _headers(self, step: Step, managers: Iterator[Element]) -> None:
        for manager in managers:
            for each in manager.items("HeaderManager.headers"):
                if not isinstance(each, dict):
                    continue
                name = (self.variables.constant(str(each.get("Header.name", ""))) or "").lower()
                if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9a-z-]+", name) or name in step.headers:
                    continue
                if name in _CONNECTION:
                    self.remarks.lose(manager, f"the header {name} is brimline's own", "leave it out")
                    continue
                value = self.variables.text(str(each.get("Header.value", "")), manager)
                value = value.map(lambda text: re.sub(r"[\r\n]+", " ", text))
                if value.constant is not None and value.constant.strip() and _SECRET.search(name):
                    step.secrets[name] = manager
                else:
                    step.headers[name] = value.map(lambda text: quote(text, safe=_ASCII))

    def _content(self, step: Step, sampler: Element, defaults: list[Element]) -> None:
        arguments = [pair for each in (sampler, *defaults) for pair in _arguments(each)]
        is_raw = sampler.flag("HTTPSampler.postBodyRaw") or (
            bool(arguments) and all(not each.get("Argument.name") for each in arguments) and step.method in WITH_BODY
        )
        if is_raw and arguments:
            step.body = Text()
            for each in arguments:
                step.body += self.variables.text(str(each.get("Argument.value", "")), sampler)
            step.body = Text(_joined(step.body))
            return
        pairs = [self._pair(each, sampler) for each in arguments]
        if step.method in WITH_BODY:
            if pairs:
                self._form(step, pairs)
        else:
            self._query(step, pairs)

    def _pair(self, argument: dict[str, Any], sampler: Element) -> tuple[Text, Text, bool]:
        """Name and value, and whether they are encoded as a URL has them."""
        encodes = str(argument.get("HTTPArgument.always_encode", "false")).lower() == "true"
        name, value = (
            self.variables.text(str(argument.get(f"Argument.{each}", "")), sampler) for each in ("name", "value")
        )
        return name, value, encodes

    def _form(self, step: Step, pairs: list[tuple[Text, Text, bool]]) -> None:
        # Of a form JMeter takes what is not to be encoded for encoded already, and encodes it anew.
        known = [(n, v, True) if e else (n.map(unquote_plus), v.map(unquote_plus), True) for n, v, e in pairs]
        if (plain := _plain(known)) is not None:
            step.form = plain
            return
        step.body = _encoded(known)
        step.headers.setdefault("content-type", Text((_FORM,)))

    def _query(self, step: Step, pairs: list[tuple[Text, Text, bool]]) -> None:
        has_query = any(isinstance(each, str) and "?" in each for each in step.path.parts)
        plain = None if has_query else _plain(pairs)
        if plain is not None:
            step.query = plain
        elif pairs:
            step.path = Text(_joined(step.path + Text(("&" if has_query else "?",)) + _encoded(pairs)))


@dataclass(frozen=True, slots=True)
class _Merged:
    """Properties of a sampler, and where it has none those of the nearest defaults that have one."""

    elements: list[Element]

    def text(self, name: str) -> str:
        return next((found for each in self.elements if (found := each.text(name)).strip()), "")

    def flag(self, name: str, default: bool = False) -> bool:
        found = next((each.text(name) for each in self.elements if each.text(name).strip()), "")
        return found.strip().lower() == "true" if found else default


def _has_http(element: Element) -> bool:
    """Whether a configuration element is HTTP Request Defaults."""
    return any(name.startswith(("HTTPSampler.", "HTTPsampler.")) for name in element.properties)


def _arguments(element: Element) -> list[dict[str, Any]]:
    found = element.items("HTTPsampler.Arguments", "Arguments.arguments")
    return [each for each in found if isinstance(each, dict)]


def _files(element: Element) -> list[Any]:
    return element.items("HTTPsampler.Files", "HTTPFileArgs.files")


def _plain(pairs: list[tuple[Text, Text, bool]]) -> list[tuple[str, Text]] | None:
    """Pairs as a mapping can have them; None where a name isn't constant, is there twice, or a value stays as it is."""
    names = [name.constant for name, _, _ in pairs]
    if len(set(names)) < len(names) or not all(names):
        return None
    if not all(encodes or _needs_none(value) for _, value, encodes in pairs):
        return None
    return [(name, value) for name, (_, value, _) in zip(names, pairs, strict=True) if name]


def _encoded(pairs: list[tuple[Text, Text, bool]]) -> Text:
    """Names and values one behind another, as a query or a form has them."""
    found = Text()
    for name, value, encodes in pairs:
        change: Callable[[str], str] = quote_plus if encodes else (lambda text: quote(text, safe=_SAFE))
        found += Text(("&",) if found else ()) + name.map(change) + Text(("=",)) + value.map(change)
    return Text(_joined(found))


def _needs_none(value: Text) -> bool:
    """Whether encoding changes nothing of a constant value."""
    return value.constant is not None and quote_plus(value.constant) == value.constant


def _joined(text: Text) -> tuple[Any, ...]:
    """Parts with neighbouring constants as one."""
    parts: list[Any] = []
    for each in text.parts:
        if isinstance(each, str) and parts and isinstance(parts[-1], str):
            parts[-1] += each
        elif each != "":
            parts.append(each)
    return tuple(parts)


def is_request(element: Element) -> bool:
    """Whether it is a sampler of HTTP."""
    return element.kind in SAMPLERS
