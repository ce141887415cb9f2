"""Owns how a result is printed: JSON for programs on stdout, or the verdict and the report's path for people."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console

from brimline.cli import told
from brimline.errors import BrimlineError
from brimline.wording import wanted_language

if TYPE_CHECKING:
    from brimline.api.results import Result

RECORD_KEPT = "the record is kept"
_WIDTH_WITHOUT_TERMINAL = 120


def console() -> Console:
    """Where data for people goes. Without a terminal there is no width to keep to, and tables are not squeezed."""
    plain = _Console(highlight=False, markup=False, emoji=False)
    if not plain.is_terminal:
        plain.width = _WIDTH_WITHOUT_TERMINAL
    return plain


class _Console(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        """As rich does, but without the blanks that fill cells up to the end of a line where nobody sees a screen."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        lines = captured.get().split("\n")
        self.file.write("\n".join(line.rstrip(" ") for line in lines))
        self.file.flush()

    def on_broken_pipe(self) -> None:
        """Leaves it to `app` what a reader who has had enough means; rich would end the process with 1."""
        raise BrokenPipeError


def show_result(result: "Result", *, as_json: bool, full: bool = False, lang: str | None = None) -> int:
    """Prints a result and returns its exit code; raises the result's error after what was measured is printed.

    `lang` is the language asked for; JSON has none.
    """
    from brimline.report import in_language, print_report, said_in  # a load has no use for them

    language, error = wanted_language(lang), result.error
    with printing(hint=RECORD_KEPT):
        if as_json:
            sys.stdout.write(json_text(result.report.data, error))
        else:
            out = console()
            print_report(in_language(result.report, language), out, full=full)
            out.print(f"{said_in(language, 'report')}: {result.html}", soft_wrap=True)
    if error is not None:
        raise error
    return 0


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
    told.note(told.DOCUMENT)
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # What the interpreter flushes at its end must not meet the broken pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BrimlineError(f"can't print the result: {reason}", hint=hint) from error
