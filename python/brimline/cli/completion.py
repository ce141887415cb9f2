"""Owns `brimline completion`: the script of a shell, and what it is told when somebody presses Tab.

The words of a command line come back as `brimline completion SHELL -- WORDS…`, the last of them unfinished. The answer
is a line for each that may stand there, and `:files` where a file may.
"""

import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Final, Literal

import typer

from brimline.cli.output import printing

FILES: Final = ":files"
_LENGTH_MAX: Final = 60
"""Characters of a description, so that it stays on its line."""


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    words: Annotated[list[str] | None, typer.Argument(metavar="[-- WORDS...]", help="What is typed so far.")] = None,
) -> int:
    """Print the script with which a shell completes verbs, options, workloads, labs and levels."""
    with printing():
        if words is None:
            sys.stdout.write((files("brimline.cli") / "completions" / f"brimline.{shell}").read_text(encoding="utf-8"))
        else:
            from brimline.cli.candidates import candidates  # knows every verb

            sys.stdout.write(lines_for(candidates(words), shell))
    return 0


def lines_for(found: Mapping[str, str], shell: str) -> str:
    """What may stand there, with what each is, as the script of a shell reads it."""
    lines = []
    for word, said in found.items():
        short = said if len(said) <= _LENGTH_MAX else f"{said[: _LENGTH_MAX - 1]}…"
        if word == FILES or shell == "bash":
            lines.append(word)
        elif shell == "zsh":
            name = word.replace(":", "\\:")
            lines.append(f"{name}:{short}" if short else name)
        else:
            lines.append(f"{word}\t{short}")
    return "".join(f"{line}\n" for line in lines)
