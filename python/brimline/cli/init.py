"""Owns `brimline init`."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from rich.console import Console

from brimline.api.init import InitResult
from brimline.api.init import init as init_api
from brimline.api.options import Group, ServerOptions, option
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import printing
from brimline.errors import UsageError
from brimline.init.live_collection import SAMPLE_MAX
from brimline.units import counted

_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class InitOptions(Group):
    """What a workload is written from, and what may be in it."""

    words: Sequence[str] = option(
        "", "FILE|COLLECTION", "File to write (FILE.yaml), else standard output; and live collections, as shop.orders.",
        factory=tuple,
    )  # fmt: skip
    from_uri: str | None = option("--from", "URI", "Look at the collections of this server.", excludes=("simrunner",))
    simrunner: Path | None = option("--from-simrunner", "FILE", "Translate this SimRunner configuration.")
    logs: Sequence[Path] = option(
        "--log",
        "FILE",
        "Operations from the slow queries of a mongod's log (JSON, also .gz); repeatable.",
        factory=tuple,
    )
    operations: Literal["auto", "profile", "query-stats", "log", "indexes"] = option(
        "--operations",
        "SOURCE",
        "Where operations come from: profile, query-stats, log, indexes; auto takes the first that has some.",
        default="auto",
    )
    sample: str | None = option("--sample", "N", "Documents of each collection to look at, up to 100k; default: 1000.")
    with_values: bool = option(
        "--with-values", "", "Values of the data may be in the file: choices with their weights.", default=False
    )
    existing: bool = option("--existing", "", "Use the live collections as they are: nothing is loaded.", default=False)
    force: bool = option("--force", "", "Replace a file that is there.", default=False)


@grouped
def init(
    said: InitOptions,
    server: Annotated[ServerOptions, only("password_file")],
    output: Annotated[opt.OutputOptions, only(quiet="Say nothing but errors.")],
) -> int:
    """Write a workload: to start from, from a live deployment, from a server's log, or from SimRunner's settings."""
    console = Console(stderr=True, highlight=False)

    def say(text: str) -> None:
        if not output.quiet:
            console.print(text, markup=False, soft_wrap=True)

    file, collections = _sorted(said)
    result = init_api(
        file,
        from_uri=said.from_uri,
        collections=collections,
        password=opt.password_source(server.password_file),
        sample=opt.whole_number("--sample", said.sample, maximum=SAMPLE_MAX, example="10k") or 1000,
        with_values=said.with_values,
        existing=said.existing,
        operations=said.operations,
        logs=said.logs,
        simrunner=said.simrunner,
        overwrite=said.force,
        say=say,
    )
    if result.path is None:
        with printing():
            sys.stdout.write(result.text)
    for line in _summary(result, server.password_file):
        say(line)
    return 0


def _sorted(said: InitOptions) -> tuple[str | None, list[str]]:
    """The file, which is the one word without a source, or the first that ends as YAML does; and the collections."""
    words = list(said.words)
    has_source = said.from_uri is not None or bool(said.logs)
    if words and (words[0].lower().endswith(_SUFFIXES) or not has_source):
        file, words = words[0], words[1:]
    else:
        file = None
    if words and not has_source:
        raise UsageError(f"{words[0]} is a second file", hint="give --from URI for collections, or one file")
    return file, words


def _summary(result: InitResult, password_file: str | Path | None = None) -> list[str]:
    lines = [f"warning: {each}" for each in result.warnings]
    if result.not_taken:
        lines += ["not taken over:", *(f"  {each}" for each in result.not_taken)]
    lines += [f"{path} goes with it" for path in result.beside]
    if result.path is not None:
        guesses = f', {counted(result.guesses, "guess", "guesses")} marked with "guess:"' if result.guesses else ""
        what = f"{counted(result.collections, 'collection')}, {counted(result.operations, 'operation')}"
        lines.append(f"{result.path}: {what}{guesses}")
        lines.append(f"next: brimline run {result.path}{_on_server(result, password_file)}")
    return lines


def _on_server(result: InitResult, password_file: str | Path | None) -> str:
    """The options that run it where it was written from; on a server of brimline's own it needs none."""
    if result.from_uri is None and not result.existing:
        return ""
    password = "" if password_file is None else f" --password-file {shlex.quote(str(password_file))}"
    return f" --uri {result.uri_word}{password}{'' if result.existing else ' --data load'}"
