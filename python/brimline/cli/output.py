"""Owns how a result is printed: JSON for programs on stdout, or the verdict and the report's path for people."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from brimline.cli import told
from brimline.cli.junit import write_outcome
from brimline.errors import BrimlineError, UsageError, on_one_line, visible
from brimline.wording import wanted_language

if TYPE_CHECKING:
    from brimline.api.results import Result
    from brimline.cli.options import OutputOptions

RECORD_KEPT = "the record is kept"
LINES_MAX = 15
"""Lines that a measurement says at its end: its summary, and the error that it ends with."""
_WIDTH_WITHOUT_TERMINAL = 120


def console() -> Console:
    """Where data for people goes. Without a terminal there is no width to keep to, and tables are not squeezed."""
    plain = _Console(highlight=False, markup=False, emoji=False)
    if not plain.is_terminal:
        plain.width = _WIDTH_WITHOUT_TERMINAL
    return plain


class _Console(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        """As rich does, but without blanks that fill cells where nobody sees a screen."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        lines = captured.get().split("\n")
        self.file.write("\n".join(line.rstrip(" ") for line in lines))
        self.file.flush()

    def render_str(self, text: str, **options: Any) -> Text:
        """Every text passes here, those in cells as well: nothing in it steers the terminal."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Leaves it to `app` what a reader who has had enough means; rich would end the process with 1."""
        raise BrokenPipeError


def finish(result: "Result", output: "OutputOptions", *, suite: str, closing: Sequence[str] = ()) -> int:
    """How a verb that measured ends: its outcome goes into the JUnit file that was asked for, and is shown."""
    write_outcome(result, output.junit, suite=suite)
    if not output.figures:
        return show_result(
            result, details=output.details, as_json=output.as_json, lang=output.language, closing=closing
        )
    try:
        shown = result.showing(output.figures)
    except UsageError as error:
        error.hint = f"{error.hint}; what was measured is kept: brimline report {result.directory} --show …"
        show_result(result, as_json=output.as_json, lang=output.language, closing=closing)
        raise
    shown.write(output.language)
    return show_result(
        shown, details=output.details, as_json=output.as_json, lang=output.language, closing=closing, tables=True
    )


def show_result(
    result: "Result",
    *,
    as_json: bool,
    details: bool = False,
    lang: str | None = None,
    closing: Sequence[str] = (),
    tables: bool = False,
) -> int:
    """Prints a result and returns its exit code; raises the result's error after what was measured is printed.

    A summary, or with `details` the tables; `closing` are lines behind it. `lang` is the language asked for; JSON has
    none. `tables`: the figures that were asked for come before the summary.
    """
    from brimline.report import (  # a load has no use for them
        in_language,
        print_figures,
        print_report,
        print_summary,
        said_in,
        summarised,
    )

    language, error = wanted_language(lang), result.error
    with printing(hint=RECORD_KEPT):
        if as_json:
            sys.stdout.write(json_text(result.report.data, error))
        else:
            out = console()
            last = [
                f"{said_in(language, 'report')}: {result.html}",
                *(on_one_line(said_in(language, each)) for each in closing),
            ]
            if details:
                print_report(in_language(result.report, language), out)
                for line in last:
                    out.print(line, soft_wrap=True)
            else:
                said = error.message if error is not None and language == "en" else ""  # errors are English
                if tables:
                    print_figures(in_language(result.report, language), out)
                shown = summarised(result.report, has_hint=error is not None and bool(error.hint), said=said)
                print_summary(
                    in_language(shown, language), out, closing=last, lines_max=LINES_MAX - _line_count(error, out.width)
                )
    if error is not None:
        raise error
    return 0


def _line_count(error: BrimlineError | None, width: int) -> int:
    """Lines that an error takes on a terminal when the command ends with it."""
    if error is None:
        return 0
    told = [f"error: {error.message}", *([f"hint: {error.hint}"] if error.hint else [])]
    return sum(max(1, -(-len(line) // width)) for line in told)


def json_text(data: Mapping[str, Any], error: BrimlineError | None) -> str:
    """A document for programs; with `error`, `hint` and `exit_code` where the command ends with an error."""
    ended = {} if error is None else error_document(error.message, hint=error.hint, exit_code=error.exit_code)
    return json.dumps({**data, **ended}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def error_document(message: str, *, hint: str | None, exit_code: int) -> dict[str, Any]:
    """How a command ended, for programs."""
    return {"error": message, "hint": hint, "exit_code": exit_code}


def print_said(text: str, lang: str | None) -> None:
    """Prints a sentence in the language asked for."""
    from brimline.report import said_in  # as in `show_result`

    console().print(said_in(wanted_language(lang), text))


@contextmanager
def printing(*, hint: str | None = None) -> Iterator[None]:
    """Around what goes to stdout. A reader who has had enough, as in `| head`, is no error and changes no exit code.

    Raises BrimlineError when stdout can't be written for any other reason; `hint` is `RECORD_KEPT` after a measurement.
    """
    if sys.stdout is None:
        raise BrimlineError("can't print the result: standard output is closed", hint=hint)
    try:
        yield
        sys.stdout.flush()
        told.note(told.DOCUMENT)
    except BrokenPipeError:
        told.note(told.DOCUMENT)
        # What the interpreter flushes at its end must not meet the broken pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        told.note(told.DOCUMENT)
        reason = (error.strerror or str(error)).lower()
        raise BrimlineError(f"can't print the result: {reason}", hint=hint) from error
