"""Owns how a test plan of JMeter is read: a JMX file into its tree of elements, each with its line and properties.

An element and what stands below it are neighbours in the file: `<ThreadGroup/>`, then `<hashTree>` with its children.
Nothing outside of the file is ever looked at, and a file with a document type, which could define entities, is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

from brimline.errors import UsageError, visible
from brimline.wording import shortened

BYTES_MAX: Final = 100 * 10**6
NODES_MAX: Final = 2_000_000
DEPTH_MAX: Final = 400
_CHUNK_BYTES: Final = 1 << 16
_ROOT: Final = "jmeterTestPlan"
_TREE: Final = "hashTree"
_HINT: Final = "give the .jmx file that JMeter saves"
_TEXT_MAX: Final = 60

Properties = dict[str, Any]
"""Values by their name: text, further properties, or a list of either."""


@dataclass(slots=True)
class Element:
    """One element of a plan. `kind` is its class without the package, `line` where it begins."""

    kind: str
    name: str
    line: int
    enabled: bool
    properties: Properties = field(default_factory=dict)
    children: list["Element"] = field(default_factory=list)

    def text(self, name: str, default: str = "") -> str:
        """A property that is text, as it stands."""
        value = self.properties.get(name, default)
        return value if isinstance(value, str) else default

    def flag(self, name: str, default: bool = False) -> bool:
        """A property that is true or false."""
        return self.text(name, "true" if default else "false").strip().lower() == "true"

    def items(self, *path: str) -> list[Any]:
        """The members of a list that stands at `path`; none where there is no list."""
        value: Any = self.properties
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value if isinstance(value, list) else []

    def active(self) -> list["Element"]:
        """The children that are enabled."""
        return [each for each in self.children if each.enabled]

    def everything(self) -> Iterator["Element"]:
        """What is enabled below it, in the order of the file."""
        for each in self.active():
            yield each
            yield from each.everything()


def read_plan(path: Path) -> Element:
    """The tree of the file: an element whose children are those at its top, of which one is the TestPlan.

    Raises UsageError, which says the line and no value of the file.
    """
    try:
        # What is no file may never end, or wait for its writer for ever, also when it is opened.
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file", hint=_HINT)
        with path.open("rb") as opened:
            return _Reader(path).read(opened)
    except OSError as error:
        raise UsageError(f"can't read {path}: {(error.strerror or str(error)).lower()}", hint=_HINT) from error


@dataclass(slots=True)
class _Frame:
    """An XML element that is open. `element` is its own, or for a hashTree the one whose children stand in it."""

    tag: str
    name: str | None
    element: Element | None = None
    values: list[tuple[str | None, Any]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._root = Element("root", path.name, 1, enabled=True)
        self._frames: list[_Frame] = []
        self._nodes = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    def read(self, opened: Any) -> Element:
        size = 0
        try:
            while chunk := opened.read(_CHUNK_BYTES):
                size += len(chunk)
                if size > BYTES_MAX:
                    raise UsageError(f"{self._path} is larger than {BYTES_MAX // 10**6} MB", hint=_HINT)
                self._parser.Parse(chunk, False)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code) or "unknown"
            raise UsageError(f"{self._path}:{error.lineno}: is no XML: {reason}", hint=_HINT) from None
        except (ValueError, LookupError) as error:  # an encoding that there is none of
            raise self._refused(f"is no XML: {error}") from None
        return self._root

    def _refused(self, why: str, hint: str = _HINT) -> UsageError:
        return UsageError(f"{self._path}:{self._parser.CurrentLineNumber}: {why}", hint=hint)

    def _doctype(self, *_: Any) -> None:
        raise self._refused("has a DOCTYPE, which JMeter writes none of", "take the DOCTYPE and its entities out")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._nodes += 1
        if self._nodes > NODES_MAX or len(self._frames) >= DEPTH_MAX:
            raise self._refused("has more, or deeper, elements than a test plan has", f"at most {NODES_MAX} are read")
        if not self._frames:
            if tag != _ROOT:
                raise self._refused(f"is no test plan of JMeter: it begins with <{visible(tag[:_TEXT_MAX])}>")
            self._frames.append(_Frame(tag, None, self._root))
            return
        around = self._frames[-1]
        if around.tag not in (_ROOT, _TREE) or around.element is None:
            self._frames.append(_Frame(tag, attributes.get("name")))
        elif tag == _TREE:
            owner = around.element.children[-1] if around.element.children else around.element
            self._frames.append(_Frame(tag, None, self._root if around.tag == _ROOT else owner))
        else:
            self._frames.append(_Frame(tag, None, self._element(tag, attributes, around.element)))

    def _element(self, tag: str, attributes: Mapping[str, str], parent: Element) -> Element:
        made = Element(
            (attributes.get("testclass") or tag).rpartition(".")[2],
            attributes.get("testname", ""),
            self._parser.CurrentLineNumber,
            attributes.get("enabled", "true").lower() != "false",
        )
        parent.children.append(made)
        return made

    def _characters(self, text: str) -> None:
        if self._frames:
            self._frames[-1].text.append(text)

    def _end(self, tag: str) -> None:
        frame = self._frames.pop()
        if not self._frames or tag == _TREE:
            return
        if frame.element is not None:
            frame.element.properties = _properties(frame.values)
            # Before version 2.2 and in some plugins the name is a property.
            frame.element.name = frame.element.name or frame.element.text("TestElement.name")
            if frame.element.text("TestElement.enabled", "true").lower() == "false":
                frame.element.enabled = False
            return
        self._frames[-1].values.append(_value(frame))


def _value(frame: _Frame) -> tuple[str | None, Any]:
    """The name and the value of a property."""
    if frame.tag in ("collectionProp", "mapProp"):
        return frame.name, [value for _, value in frame.values]
    if frame.tag == "elementProp" or frame.values:
        found = _properties(frame.values)
        if frame.name is None and isinstance(found.get("name"), str) and "value" in found:
            return found["name"], found["value"]
        return frame.name, found
    text = "".join(frame.text)
    # Such as <name> within a <doubleProp>.
    return (frame.name if frame.name is not None else frame.tag), text


def _properties(values: Sequence[tuple[str | None, Any]]) -> Properties:
    return {name: value for name, value in values if name is not None}


def shown_name(text: str) -> str:
    """A name of the plan in a message: on one line, and not longer than a line can bear."""
    return shortened(re.sub(r"\s+", " ", visible(text)).strip(), _TEXT_MAX)
