"""Owns which elements count for a sampler: those below it, beside it, and beside what it stands in; nearest first."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from brimline.compat.jmeter.assertions import ASSERTIONS
from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.extractors import EXTRACTORS
from brimline.compat.jmeter.timers import TIMERS

SAMPLERS: Final = frozenset({"HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2"})
PAUSES: Final = "TestAction"
CONTROLLERS: Final = frozenset(
    {
        "GenericController", "RecordingController", "TransactionController", "LoopController", "OnceOnlyController",
        "IfController", "RandomController", "RandomOrderController", "InterleaveControl", "ThroughputController",
        "CriticalSectionController", "TestFragmentController", "WhileController", "ForeachController",
        "SwitchController", "RunTime", "IncludeController", "ModuleController",
    }
)  # fmt: skip
DEFAULTS: Final = "ConfigTestElement"
HEADERS: Final = "HeaderManager"
_SETTINGS: Final = ASSERTIONS | EXTRACTORS | TIMERS | {DEFAULTS, HEADERS}


def is_step(element: Element) -> bool:
    """Whether it is sent or holds what is sent, and so is no setting of what stands beside it."""
    kind = element.kind
    return kind in SAMPLERS or kind == PAUSES or kind in CONTROLLERS or kind.endswith(("ThreadGroup", "Sampler"))


@dataclass(frozen=True, slots=True)
class Scope:
    """The settings that count at one place of the tree, nearest first."""

    settings: tuple[Element, ...] = ()

    def inside(self, parent: Element) -> "Scope":
        """The scope of what stands below `parent`."""
        return Scope((*(each for each in parent.active() if each.kind in _SETTINGS), *self.settings))

    def of(self, *kinds: str) -> Iterator[Element]:
        """Those of some kinds, nearest first."""
        return (each for each in self.settings if each.kind in kinds)

    def of_sampler(self, sampler: Element, *kinds: str) -> Iterator[Element]:
        """Likewise for a sampler, whose own children are nearest."""
        return self.inside(sampler).of(*kinds)
