"""Owns `brimline completion`: the script of a shell, and what it is told when somebody presses Tab.

The words of a command line come back as `brimline completion SHELL -- WORDS…`, the last of them unfinished. The answer
is a line for each that may stand there, and `:files` where a file may.
"""

import sys
from importlib.resources import files
from typing import Annotated, Literal

import typer

from brimline.cli.output import printing


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    words: Annotated[list[str] | None, typer.Argument(metavar="[-- WORDS...]", help="What is typed so far.")] = None,
) -> int:
    """Print the script with which a shell completes verbs, options, workloads, labs and levels."""
    with printing():
        if words is None:
            sys.stdout.write((files("brimline.cli") / "completions" / f"brimline.{shell}").read_text(encoding="utf-8"))
        else:
            from brimline.cli.candidates import candidates, lines_for  # which know every verb

            sys.stdout.write(lines_for(candidates(words), shell))
    return 0
