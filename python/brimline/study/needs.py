"""Owns the optional parts that experiments need: whether each is here, and how to get it where it is not."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from brimline.errors import BrimlineError, UsageError
from brimline.runners.catalogue import CATALOGUE, require_ready
from brimline.servers.binary import find_mongod, find_mongos
from brimline.servers.lab.order_service import find_order_service
from brimline.servers.sql_programs import find_sql_program


@dataclass(frozen=True, slots=True)
class Lacking:
    """What isn't here: its name, why it can't be used, and how to get it."""

    name: str
    why: str
    how: str


NEEDS: Mapping[str, Callable[[], object]] = {
    "mariadb": lambda: find_sql_program("mariadb"),
    "mongodump": lambda: _required_mongodump(),
    "mongos": lambda: _required_mongos(),
    "order-service": find_order_service,
    "postgres": lambda: find_sql_program("postgres"),
}
"""What an experiment may need: it is looked for, and BrimlineError says that it isn't there."""


def _required_mongodump() -> object:
    if (found := shutil.which("mongodump")) is None:
        raise UsageError("there is no mongodump on the PATH", hint="install MongoDB's database tools")
    return found


def _required_mongos() -> object:
    if (found := find_mongos()) is None:
        raise UsageError("there is no mongos on the PATH", hint="install MongoDB's mongos, or name its folder in PATH")
    return found


def require_known(name: str) -> None:
    """Raises ValueError for a part that nobody knows."""
    if name not in NEEDS:
        raise ValueError(f"there is no optional part {name}; there are {', '.join(NEEDS)}")


def lacking(names: Sequence[str]) -> Lacking | None:
    """The first of these parts that isn't here."""
    for name in names:
        try:
            NEEDS[name]()
        except BrimlineError as error:
            return Lacking(name, error.message, error.hint or "")
    return None


def level_lacking(factor: str, level: str) -> Lacking | None:
    """What this level of a factor lacks here; None where it can be had, or where only trying tells."""
    try:
        if factor == "client" and level in CATALOGUE:
            why = "its runner is not ready; brimline doctor says more"
            require_ready(level)
        elif factor == "server-version":
            why = "no such server is here, and none can be fetched"
            find_mongod(server_version=level)
    except BrimlineError as error:
        return Lacking(f"{factor} {level}", why, error.hint or "")  # the document has it in any language
    return None
