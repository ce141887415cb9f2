"""Owns what a server of a lab that is wanted has to say: the program, its command line, how it is run."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from brimline.servers.lab.spec import MemberSpec
from brimline.servers.lab.state import Lab, Role
from brimline.servers.launch import Manner


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish(ABC):
    """A server that is wanted. `set_name` and `member` are of a member of a replica set."""

    role: Role
    set_name: str | None = None
    member: MemberSpec | None = None

    @property
    @abstractmethod
    def program(self) -> Path:
        """What is executed, for errors."""

    @property
    def cache_entry(self) -> Path | None:
        """Where brimline keeps the program that it fetched itself; None: it comes from elsewhere."""
        return None

    @property
    def serves_clients(self) -> bool:
        """Whether clients connect to it, and not another server of the lab alone."""
        return True

    @abstractmethod
    def start(self, lab: Lab, directory: Path, port: int) -> tuple[list[str], Manner]:
        """The command line, and how it is run; its data is to be in `directory`/data."""
