"""Owns what every verb can be told about its surroundings: which server, where records go, who listens."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from brimline.errors import UsageError
from brimline.execution import DataPolicy, ProgressSink, Silence
from brimline.servers import PasswordSource
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.wording import wanted_language

RUNS_DIRECTORY_VARIABLE = "BRIMLINE_RUNS_DIR"
URI_VARIABLE = "BRIMLINE_URI"


def named_uri(given: str | None, *others: str | None) -> str | None:
    """The address that was given, else the first of `others` that there is.

    Raises UsageError for one that was given and is empty: a variable without a value is no wish for another server.
    """
    if given is not None and not given.strip():
        raise UsageError("the address that was given is empty", hint="write --uri mongodb://HOST:PORT, or leave it out")
    return next((each for each in (given, *others) if each), None)


def default_runs_directory() -> Path:
    """`runs` below the working directory, unless the environment names another."""
    return Path(os.environ.get(RUNS_DIRECTORY_VARIABLE) or "runs")


def path_given(name: str, given: object) -> Path | None:
    """A path that was given as text or as a path. Raises UsageError that names the parameter for anything else."""
    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        return Path(os.fspath(given))
    raise UsageError(f"{name} is a path, not {_kind(given)}", hint=f'write {name}="DIRECTORY"')


def _kind(given: object) -> str:
    return f"{type(given).__name__} ({given!r:.40})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Surroundings of a run. Paths may be text; what is of another type is refused by name (UsageError).

    `uri`: the server to use; None: the spec's, the environment's (BRIMLINE_URI), else the bundled mongod.
    `password`: where it comes from when the connection string names a user alone; else BRIMLINE_PASSWORD. `mongod`: the
    binary to start instead of the bundled one; `server_version`: the version to start, such as "4.4", fetched once.
    `topology`: what to start instead of one server, such as "replica-set-3"; `mongos`: the router of a sharded one,
    else that of PATH; `network`: how far away, such as "5ms";
    `cpu_share`: how many CPUs each server may use (root).
    `data`: what to do about missing data; None: `load` on a server that brimline starts, `check` on any other. `drop`:
    replace documents that brimline did not load. `resume`: a load goes on where one of the same data ended. `null`: no
    server at all, which shows the generator's own ceiling. `command`: the command line, for the record. `language`: of
    the report, "en" or "zh"; BRIMLINE_LANG, else English.
    """

    uri: str | None = None
    password: PasswordSource = field(default_factory=PasswordSource)
    mongod: Path | None = None
    server_version: str | None = None
    cache_gb: float = CACHE_GB_DEFAULT
    topology: str | None = None
    mongos: Path | None = None
    network: str | None = None
    cpu_share: float | None = None
    data: DataPolicy | Literal["check", "load", "as-is"] | None = None
    drop: bool = False
    resume: bool = False
    null: bool = False
    runs_directory: Path = field(default_factory=default_runs_directory)
    progress: ProgressSink = field(default_factory=Silence)
    command: tuple[str, ...] | None = None
    language: str = field(default_factory=wanted_language)

    def __post_init__(self) -> None:
        self._check_types()
        for name in ("mongod", "mongos", "runs_directory"):
            object.__setattr__(
                self, name, path_given(name, getattr(self, name)) or _PATH_DEFAULTS.get(name, lambda: None)()
            )
        named_uri(self.uri)
        if self.drop and self.resume:
            raise UsageError("--drop loads anew and --resume goes on", hint="give one of the two")
        if self.data is not None:
            try:
                object.__setattr__(self, "data", DataPolicy(self.data))
            except ValueError:
                choices = ", ".join(DataPolicy)
                raise UsageError(
                    f'data is one of {choices}, not "{self.data}"',
                    hint="leave it out: data is loaded on a server of brimline's own and checked elsewhere",
                ) from None

    def _check_types(self) -> None:
        for name, (types, told) in _TYPES.items():
            given = getattr(self, name)
            right = isinstance(given, types) and (bool in types or not isinstance(given, bool))
            if given is not None and not right:
                raise UsageError(
                    f"{name} is {told}, not {_kind(given)}", hint="brimline.Options says what each one takes"
                )


_PATH_DEFAULTS = {"runs_directory": default_runs_directory}
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys(("uri", "server_version", "topology", "network", "language", "data"), ((str,), "text")),
    **dict.fromkeys(("cache_gb", "cpu_share"), ((int, float), "a number")),
    **dict.fromkeys(("drop", "resume", "null"), ((bool,), "True or False")),
}
