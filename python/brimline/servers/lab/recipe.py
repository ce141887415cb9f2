"""Owns what a lab is made by: a recipe says what is started, and how what was started becomes a lab."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from brimline.servers.lab.fleet import Fleet
from brimline.servers.lab.spec import LabSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How a lab is reached, and what it says about itself. `facts` go to its settings."""

    uris: tuple[str, ...]
    uris_with_password: tuple[str, ...] = field(repr=False)
    facts: Mapping[str, object]


class Recipe(ABC):
    """What a lab is made by."""

    @property
    @abstractmethod
    def described(self) -> str:
        """What is started, for the user."""

    @property
    @abstractmethod
    def version(self) -> str:
        """The version of the servers. Raises TargetError where they can't be run."""

    def check(self, spec: LabSpec) -> None:  # noqa: B027 (most have nothing to refuse)
        """Raises UsageError where what `spec` asks for can't be had."""

    @abstractmethod
    def make(self, fleet: Fleet) -> Made:
        """Starts the servers and makes of them what the fleet's spec is. Raises TargetError, OSError."""
