"""Owns text with values in it, between JMeter's `${…}` and a workload's `$name`."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

_GOES_ON_NAME = re.compile(r"[A-Za-z0-9_.{\[]")


@dataclass(frozen=True, slots=True)
class Ref:
    """A value in a text, by its name in the workload.

    `is_saved`: a step before must have saved it. Where none has, `otherwise` stands there; without that, `source`, as
    JMeter wrote it.
    """

    name: str
    source: str
    is_saved: bool = False
    otherwise: "Text | None" = None


@dataclass(frozen=True, slots=True)
class Text:
    """Constant texts and values, in order."""

    parts: tuple[str | Ref, ...] = ()

    @property
    def constant(self) -> str | None:
        """The text, where there is no value in it."""
        return "".join(map(str, self.parts)) if all(isinstance(each, str) for each in self.parts) else None

    @property
    def is_saved(self) -> bool:
        """Whether it takes what a step saves, which a named value can't."""
        return any(not isinstance(each, str) and each.is_saved for each in self.parts)

    def __bool__(self) -> bool:
        return any(self.parts)

    def __add__(self, other: "Text") -> "Text":
        return Text(self.parts + other.parts)

    def map(self, change: Callable[[str], str]) -> "Text":
        """The same with its constant parts changed."""
        return Text(tuple(change(each) if isinstance(each, str) else each for each in self.parts))


def settled(text: Text, saved: Collection[str], missing: Callable[[Ref], None]) -> Text:
    """The text where only `saved` is known of what steps save; `missing` is told of what nothing gives."""
    parts: list[str | Ref] = []
    for each in text.parts:
        if isinstance(each, str) or not each.is_saved or each.name in saved:
            parts.append(each)
        elif each.otherwise is not None:
            parts += settled(each.otherwise, saved, missing).parts
        else:
            missing(each)
            parts.append(each.source)
    return Text(tuple(parts))


def written(text: Text) -> str:
    """The text as a workload has it. Every value of it must be settled."""
    found: list[str] = []
    for place, each in enumerate(text.parts):
        if isinstance(each, str):
            found.append(each.replace("$", "$$"))
            continue
        following = "".join(str(part) if isinstance(part, str) else "$" for part in text.parts[place + 1 :])
        found.append(f"${{{each.name}}}" if _GOES_ON_NAME.match(following) else f"${each.name}")
    return "".join(found)


def operand(text: Text) -> Any:
    """The text as an operand of a value's form: itself, a reference, or a `concat` of both."""
    parts = [each for each in text.parts if each != ""]
    members = [each.replace("$", "$$", 1) if isinstance(each, str) and each.startswith("$") else each for each in parts]
    forms = [f"${each.name}" if isinstance(each, Ref) else each for each in members]
    return {"concat": forms} if len(forms) > 1 else forms[0] if forms else ""
