"""Owns the table of runners: what each needs, and the command that starts it.

Python's lie in the sources. Those of other languages are built into `target/runners` (`make runners`), or lie in the
folder that BRIMLINE_RUNNERS names.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from brimline.errors import UsageError
from brimline.spec.own.step_kind import ProtocolName

VARIABLE = "BRIMLINE_RUNNERS"
_OWN_VARIABLES = "BRIMLINE_"
"""How brimline's own variables begin, passwords among them. A runtime and a runner have no need of any."""
_VERSION_WITHIN_S = 20.0
_SOURCES = Path(__file__).parents[3]
_MONGODB: Final = frozenset({"mongodb"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A runner. `command` gives the words that start it, or says by ValueError what is missing.

    `driver` and `language` are what people call them, `how` says how to get it. `servers` are those that it speaks to,
    by protocol.
    """

    name: str
    driver: str
    language: str
    how: str
    command: Callable[[], list[str]]
    servers: frozenset[ProtocolName] = _MONGODB

    def missing(self) -> str | None:
        """What it lacks here; None when it can be started."""
        try:
            self.command()
        except ValueError as error:
            return str(error)
        return None


def built() -> Path:
    """Where runners are that were built."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else _SOURCES / "target" / "runners"


def _python(program: str) -> Callable[[], list[str]]:
    def command() -> list[str]:
        file = _SOURCES / "runners" / "python" / program
        if not file.exists():
            raise ValueError(f"the sources are not here: {file} is not there")
        return [sys.executable, "-u", str(file)]

    return command


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ValueError(f"there is no {name} on the PATH")
    return found


def _runtime(name: str, asked: str, *least: int) -> str:
    """The program `name`, which says by `asked` that it is of `least` or later."""
    program = _program(name)
    said = _version_words(program, asked)
    found = re.search(r"(\d+(?:\.\d+)*)", said)
    if found is None:
        raise ValueError(f"{program} {asked} says no version: {said[:200] or 'nothing'}")
    if tuple(map(int, found[1].split("."))) < least:
        raise ValueError(f"{program} is {found[1]}, and it needs {'.'.join(map(str, least))} or later")
    return program


@cache
def _version_words(program: str, asked: str) -> str:
    """The first line of what a runtime says of its version. A JVM takes a moment for it."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(_OWN_VARIABLES)}
    try:
        done = subprocess.run(  # noqa: S603 - found on the PATH
            [program, asked], capture_output=True, text=True, errors="replace", timeout=_VERSION_WITHIN_S,
            check=False, env=others,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ValueError(f"{program} {asked} gives no answer: {type(error).__name__}") from error
    lines = (done.stdout + done.stderr).strip().splitlines()
    return next((line for line in lines if "Picked up " not in line), "")  # which options a JVM was given


def _built(path: str) -> Path:
    file = built() / path
    if not file.exists():
        raise ValueError(f"it is not built: {file} is not there")
    return file


def _java(kind: str) -> Callable[[], list[str]]:
    def command() -> list[str]:
        java, jars = _runtime("java", "-version", 17), _built("java/runner.jar").parent
        classes = f"{jars / 'runner.jar'}{os.pathsep}{jars / 'lib' / '*'}"
        # Its logging warns that nobody listens: that is no reason for its end, and would be told as one.
        return [java, "-Dslf4j.internal.verbosity=ERROR", "-cp", classes, "runner.Main", kind]

    return command


def _node() -> list[str]:
    return [_runtime("node", "--version", 20, 19), str(_built("node/runner.mjs"))]


def _go() -> list[str]:
    return [str(_built("go/runner"))]


def _rust() -> list[str]:
    return [str(_built("rust/release/runner"))]


CATALOGUE: Mapping[str, Runner] = {
    each.name: each
    for each in (
        Runner(
            name="pymongo",
            driver="PyMongo",
            language="Python",
            how="run brimline from its sources",
            command=_python("blocking.py"),
        ),
        Runner(
            name="pymongo-async",
            driver="PyMongo, asynchronous",
            language="Python",
            how="run brimline from its sources",
            command=_python("asynchronous.py"),
        ),
        Runner(
            name="java-sync",
            driver="mongodb-driver-sync",
            language="Java",
            how="a JDK from 17 on, then make runners, in the sources",
            command=_java("sync"),
        ),
        Runner(
            name="java-reactive",
            driver="mongodb-driver-reactivestreams",
            language="Java",
            how="a JDK from 17 on, then make runners, in the sources",
            command=_java("reactive"),
        ),
        Runner(
            name="node",
            driver="mongodb",
            language="Node.js",
            how="Node.js from 20.19 on, then make runners, in the sources",
            command=_node,
        ),
        Runner(
            name="go",
            driver="mongo-driver",
            language="Go",
            how="Go from 1.25 on, then make runners, in the sources",
            command=_go,
        ),
        Runner(
            name="rust",
            driver="mongodb",
            language="Rust",
            how="Rust from 1.88 on, then make runners, in the sources",
            command=_rust,
        ),
        Runner(
            name="jdbc",
            driver="MariaDB Connector/J, pgJDBC",
            language="Java",
            how="a JDK from 17 on, then make runners, in the sources",
            command=_java("jdbc"),
            servers=frozenset({"mysql", "postgres"}),
        ),
    )
}
"""Every runner by its name."""


def servers_of(client: str) -> frozenset[ProtocolName]:
    """What `client`, which is not brimline's own, speaks to."""
    return CATALOGUE[client].servers if client in CATALOGUE else _MONGODB


def clients_for(protocol: ProtocolName) -> list[str]:
    """The runners that speak to servers of `protocol`."""
    return [name for name, runner in CATALOGUE.items() if protocol in runner.servers]


def command_of(name: str) -> list[str]:
    """The words that start the runner `name`. Raises UsageError where it can't be started here."""
    require_ready(name)
    return CATALOGUE[name].command()


def require_ready(name: str) -> None:
    """Raises UsageError where the runner `name` can't be started here."""
    runner = CATALOGUE[name]
    missing = runner.missing()
    if missing is not None:
        raise UsageError(f"the client {name} is not ready: {missing}", hint=runner.how)
