"""Owns `brimline ycsb`: the command line of YCSB's client. Its long flags have one dash, so it is parsed apart."""

import sys
from contextlib import suppress
from typing import Annotated

import typer

from brimline.api.options import Options
from brimline.api.ycsb import ycsb as ycsb_api
from brimline.cli.output import RECORD_KEPT, printing
from brimline.cli.words import redact_words
from brimline.compat.ycsb.words import USAGE, client_words, parse_words, phase_of, wants_help


def ycsb(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="load or run, mongodb or mongodb-async, and YCSB's flags: -P -p -threads -target -s -l.",
            show_default=False,
        ),
    ] = None,
) -> int:
    """Load or run as YCSB does: same flags, same properties, same output."""
    given = words or []
    if wants_help(given):
        typer.echo(f"Usage: {USAGE}\n\ndocs/ycsb.md says what is the same and what differs on purpose.")
        return 0
    phase, binding, flags = phase_of(given)
    parsed = parse_words(flags, phase)
    _talk(f"Command line: {' '.join(client_words(phase, binding, redact_words(flags)))}")
    options = Options(command=redact_words(("brimline", "ycsb", *given)))
    result = ycsb_api(
        phase,
        client=binding.client,
        property_files=parsed.property_files,
        properties=parsed.properties,
        options=options,
        say=_say,
        talk=_talk,
    )
    if result.error is not None:
        raise result.error
    return 0


def _say(text: str) -> None:
    with printing(hint=RECORD_KEPT):
        sys.stdout.write(text)


def _talk(line: str) -> None:
    with suppress(BrokenPipeError):  # nobody listens any more, which is no reason to stop measuring
        print(line, file=sys.stderr, flush=True)  # noqa: T201
