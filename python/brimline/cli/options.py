"""Owns the options of the command line itself, and the way from a verb's groups to surroundings and a workload."""

import errno
import getpass
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType

from brimline.api.options import (
    DataOptions,
    Group,
    Options,
    RecordOptions,
    ServerOptions,
    WorkloadOptions,
    option,
)
from brimline.api.workload import load_workload
from brimline.cli.live import progress_console, progress_on
from brimline.cli.progress import WithoutProgress
from brimline.cli.words import redact_words
from brimline.errors import UsageError
from brimline.record.layout import unwritable
from brimline.servers import PasswordSource
from brimline.spec import LoadedSpec, readers
from brimline.units import parse_count


@dataclass(frozen=True, kw_only=True)
class OutputOptions(RecordOptions):
    """What a verb writes, prints and says."""

    junit: Path | None = option("--junit", "FILE", "Write the outcome as JUnit XML; of a gate a test case per metric.")
    details: bool = option(
        "--details", "", "Print every table of the report, not a summary of 15 lines.", default=False
    )
    as_json: bool = option("--json", "", "Print the result as JSON on stdout.", default=False)
    quiet: bool = option("-q --quiet", "", "No progress on stderr.", default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.junit is not None:
            _require_place_for(self.junit)


def _require_place_for(file: Path) -> None:
    """Before anything is measured: a verdict that finds no place at the end is lost to whom it was for."""
    if file.exists() and not file.is_file() and not file.is_dir():
        return  # such as /dev/stdout
    try:
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with TemporaryFile(dir=file.parent):
            pass
    except OSError as error:
        told = unwritable(file, error, elsewhere="give --junit a file in a directory that is there")
        raise UsageError(told.message, hint=told.hint) from error


def surroundings(server: ServerOptions, output: OutputOptions, data: DataOptions | None = None) -> Options:
    """The surroundings of a verb as the API takes them."""
    listening = {
        "progress": WithoutProgress() if output.quiet else progress_on(progress_console(), language=output.language)
    }
    return Options.of(
        server,
        output,
        data or DataOptions(),
        password=password_source(server.password_file),
        command=redact_words(("brimline", *sys.argv[1:])),
        **listening,
    )


def loaded(
    workload: WorkloadOptions,
    *groups: Group,
    changes: Mapping[str, object] = MappingProxyType({}),
    loads_only: bool = False,
) -> LoadedSpec:
    """The workload with what the groups say of it, and `changes` by spec path. Raises UsageError and SpecError."""
    said = [*(group.overrides for group in groups), changes]
    return load_workload(
        workload.workload,
        property_files=workload.property_files,
        properties=workload.properties,
        overrides={path: value for each in said for path, value in each.items()},
        loads_only=loads_only,
    )


def password_source(file: Path | None) -> PasswordSource:
    """Where passwords come from: the file, else the environment, else whoever sits at the terminal."""
    at_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    return PasswordSource(file=file, ask=getpass.getpass if at_terminal else None)


def whole_number(
    option: str, text: str | None, *, maximum: int, example: str, parse: Callable[[str], int] = parse_count
) -> int | None:
    """The value of `option`, from 1 to `maximum`; None when it isn't given. Raises UsageError."""
    if text is None:
        return None
    try:
        return readers.whole(1, maximum, parse)(text)
    except ValueError as error:
        problem = str(error).partition("; write ")[0]
        raise UsageError(f"{option}: {problem}", hint=f"write it like {option} {example}") from None
