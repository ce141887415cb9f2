"""Owns the surroundings of a verb, whichever it is: which server, its data, where records go, who listens."""

from dataclasses import dataclass, field, fields
from typing import Any, Self

from brimline.api.options.data import DataOptions
from brimline.api.options.group import Group
from brimline.api.options.record import RecordOptions
from brimline.api.options.server import ServerOptions
from brimline.errors import UsageError
from brimline.execution import ProgressSink, Silence
from brimline.execution.telemetry import telemetry_beside
from brimline.servers import PasswordSource

URI_VARIABLE = "BRIMLINE_URI"


def named_uri(given: str | None, *others: str | None) -> str | None:
    """The address that was given, else the first of `others` that there is.

    Raises UsageError for one that was given and is empty: a variable without a value is no wish for another server.
    """
    if given is not None and not given.strip():
        raise UsageError("the address that was given is empty", hint="write --uri mongodb://HOST:PORT, or leave it out")
    return next((each for each in (given, *others) if each), None)


@dataclass(frozen=True, kw_only=True)
class Options(ServerOptions, DataOptions, RecordOptions):
    """Surroundings of a verb: the options of these groups. Paths may be text.

    `password`: where it comes from when the connection string names a user alone; else `password_file`, else
    BRIMLINE_PASSWORD. `command`: the command line, for the record. `disk_bytes`: the size of a disk of its own for each
    server of a lab that is started. What is of another type is refused by name
    (UsageError).
    """

    password: PasswordSource = field(default_factory=PasswordSource)
    progress: ProgressSink = field(default_factory=Silence)
    command: tuple[str, ...] | None = None
    disk_bytes: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        named_uri(self.uri)
        if self.password_file is not None and self.password.file is None:
            object.__setattr__(self, "password", PasswordSource(file=self.password_file, ask=self.password.ask))
        told = telemetry_beside(self.progress, prometheus=self.prometheus, otlp=self.otlp)
        object.__setattr__(self, "progress", told)

    @classmethod
    def of(cls, *groups: Group, **rest: Any) -> Self:
        """The surroundings that several groups say, each as far as it has to do with them."""
        names = {each.name for each in fields(cls)}
        said = {each.name: getattr(group, each.name) for group in groups for each in fields(group)}
        return cls(**{name: value for name, value in said.items() if name in names}, **rest)
