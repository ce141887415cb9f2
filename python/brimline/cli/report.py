"""Owns `brimline report`."""

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from brimline.api.export import FILE_NAMES, Format, default_path, exported, formats_of
from brimline.api.reopen import find_record, open_result
from brimline.api.results import Result
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, without
from brimline.cli.output import printing
from brimline.cli.talk import say
from brimline.errors import UsageError
from brimline.record.directory_lock import is_held
from brimline.record.files import make_directory, replace_pieces
from brimline.record.listing import is_record
from brimline.report import render_json
from brimline.report.run.apdex import JMETER_THRESHOLDS, ApdexThresholds, parse_thresholds
from brimline.wording import wanted_language

STDOUT = "-"
_HTML_LANGUAGE, _HEAD_CHARACTERS = re.compile(r'<html lang="(?P<language>[a-z]+)'), 200
_LANGUAGES = {"en": "English", "zh": "Chinese"}


@grouped
def report(
    printed: Annotated[opt.OutputOptions, without("junit", "quiet", "details", "prometheus", "otlp")],
    *,
    record: Annotated[
        str, typer.Argument(metavar="RECORD", help="A record: its directory, a part of its name, or latest.")
    ] = "latest",
    format: Annotated[  # noqa: A002 - the flag's name
        Literal["html", "md", "markdown", "csv", "jtl", "json", "operations", "all"],
        typer.Option(
            "--format",
            help="What to write. csv: the statistics table; jtl: JMeter's results, of a run; "
            "operations: every operation as CSV, of a run with a log of them.",
        ),
    ] = "html",
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File to write, - for standard output; with all, a directory. Default: beside the record.",
            show_default=False,
        ),
    ] = None,
    apdex: Annotated[
        str | None,
        typer.Option(
            "--apdex",
            metavar="T,F",
            help="Apdex thresholds, such as 10ms,40ms; default 500ms,1500ms.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Analyse a stored record again and write its report; prints the report's path."""
    language = wanted_language(printed.language)
    runs_dir, thresholds = printed.runs_dir, _thresholds(apdex)
    directory = find_record(record, runs_dir=runs_dir)
    if output != STDOUT or printed.as_json:
        _require_ended(directory if printed.as_json or output is None else Path(output))
    result = open_result(directory, runs_dir=runs_dir, apdex=thresholds).showing(printed.figures)
    if printed.as_json or (format == "html" and output is None):
        _tell_of_language(result.html, language)
        result.write(language)
        with printing():
            sys.stdout.write(render_json(result.report) if printed.as_json else f"{result.html}\n")
        return 0
    wanted = "md" if format == "markdown" else format
    formats: tuple[Format, ...] = formats_of(result) if wanted == "all" else (wanted,)
    if output == STDOUT:
        _print(result, formats, printed)
    else:
        _write(result, formats, output, printed)
    return 0


def _tell_of_language(html: Path, language: str) -> None:
    """Says that a report which is there is in another language, before one in `language` takes its place."""
    with suppress(OSError), html.open(encoding="utf-8", errors="replace") as file:
        before = _HTML_LANGUAGE.search(file.read(_HEAD_CHARACTERS))
        if before is not None and before["language"] != language:
            was = _LANGUAGES.get(before["language"], before["language"])
            say(f"note: {html} was in {was} until now; with -o FILE both would be there")


def _thresholds(text: str | None) -> ApdexThresholds:
    if text is None:
        return JMETER_THRESHOLDS
    try:
        return parse_thresholds(text)
    except ValueError as error:
        raise UsageError(f"--apdex: {error}", hint="write two times, such as --apdex 10ms,40ms") from error


def _require_ended(place: Path) -> None:
    """A record that is being written gets its report at its end: one from now, written late, would take its place.

    `place` is its directory, or what lies in it or in a trial of it, also where that isn't there yet.
    """
    resolved = place.resolve()
    held = next((each for each in (resolved, *resolved.parents) if is_record(each) and is_held(each)), None)
    if held is not None:
        shown = place if held == resolved else held
        raise UsageError(
            f"{shown} is still being written",
            hint=f"see what there is so far with brimline show {shown}, or write the report elsewhere with -o",
        )


def _print(result: Result, formats: tuple[Format, ...], printed: opt.OutputOptions) -> None:
    if len(formats) > 1:
        raise UsageError("all formats don't go to standard output", hint="give a directory, or one format")
    with printing():
        for piece in exported(result, formats[0], language=wanted_language(printed.language), show=printed.figures):
            sys.stdout.write(piece)


def _write(result: Result, formats: tuple[Format, ...], output: str | None, printed: opt.OutputOptions) -> None:
    """Writes each format to its file and prints where it is. Makes the directory that several of them go to."""
    if output is not None and len(formats) > 1:
        make_directory(Path(output))
    for each in formats:
        path = default_path(result, each) if output is None else Path(output)
        if output is not None and (len(formats) > 1 or path.is_dir()):
            path /= FILE_NAMES[each]
        if each == "html":
            _tell_of_language(path, wanted_language(printed.language))
        replace_pieces(path, exported(result, each, language=wanted_language(printed.language), show=printed.figures))
        with printing():
            sys.stdout.write(f"{path}\n")
