"""Owns the program: its verbs, and the one place where errors become text and exit codes."""

import os
import sys
import traceback
from collections.abc import Callable, Sequence

import typer

from brimline.cli import (
    ab,
    capacity,
    compare,
    doctor,
    generate,
    grow,
    import_data,
    import_results,
    interfere,
    lab,
    lint,
    list_,
    load,
    report,
    run,
    scan,
    show,
    stat,
    sweep,
    trend,
    workloads,
    ycsb,
)
from brimline.cli.process_list import hide_secrets_from_process_list
from brimline.cli.words import hide_secrets
from brimline.errors import BrimlineError, redact_text
from brimline.record import brimline_version

EXIT_INTERNAL = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="brimline",
    help="Finds how much load a MongoDB deployment can take, why it stops there, and how sure that is.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
_VERBS: dict[str, Callable[..., int]] = {
    "capacity": capacity.capacity,
    "run": run.run,
    "load": load.load,
    "import": import_data.import_data,
    "generate": generate.generate,
    "sweep": sweep.sweep,
    "scan": scan.scan,
    "grow": grow.grow,
    "ab": ab.ab,
    "interfere": interfere.interfere,
    "compare": compare.compare,
    "trend": trend.trend,
    "report": report.report,
    "show": show.show,
    "list": list_.list_runs,
    "stat": stat.stat,
    "import-results": import_results.import_results,
    "lint": lint.lint,
    "workloads": workloads.workloads,
    "doctor": doctor.doctor,
}
_IN_THE_LIST = {
    "capacity": "Find the highest load that meets an objective.",
    "run": "Run a workload once and report it.",
    "load": "Load a workload's records into a server.",
    "sweep": "Measure throughput over connections, or over other factors.",
    "ab": "Run two workloads in turns; say what differs.",
    "compare": "Compare runs: what changed, and how sure that is.",
    "trend": "Find where the figures of many runs changed.",
    "report": "Analyse a stored record again, in any format.",
    "list": "List stored runs and experiments.",
    "import-results": "Make a report of JMeter's or YCSB's results.",
    "doctor": "Check what this machine can do.",
    "ycsb": "Load or run as YCSB does: same flags and output.",
}
"""One line each where all verbs are listed, short enough for 80 columns; the others' first sentences are."""
for _name, _verb in _VERBS.items():
    app.command(_name, short_help=_IN_THE_LIST.get(_name))(_verb)
app.add_typer(lab.app, name="lab")
app.command("ycsb", context_settings=ycsb.SETTINGS, short_help=_IN_THE_LIST["ycsb"])(ycsb.ycsb)


@app.callback()
def _root(
    _version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=lambda asked: _print_version(asked)
    ),
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and ends the process with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    hide_secrets_from_process_list(words)
    sys.exit(_exit_code(words))


def _exit_code(arguments: list[str]) -> int:
    """Data goes to stdout, talk and errors to stderr; nothing but a bug prints a traceback."""
    try:
        result = app(args=arguments or ["--help"], prog_name="brimline", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except typer.Exit as error:
        return error.exit_code
    except BrimlineError as error:
        return _fail(hide_secrets(error.message, arguments), hint=error.hint, exit_code=error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", hint=None, exit_code=EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has enough, as in `brimline list | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        # Errors of the command line's own parser: their class is private to typer, their methods are not.
        if hasattr(error, "format_message"):
            message = hide_secrets(error.format_message(), arguments)
            return _fail(_lower_first(message), hint=_help_of(error), exit_code=EXIT_USAGE)
        trace = hide_secrets("".join(traceback.format_exception(error)), arguments)
        print(redact_text(trace), file=sys.stderr)  # noqa: T201
        text = hide_secrets(f"{type(error).__name__}: {error}", arguments)
        return _fail(
            f"internal: {text}", hint="this is a defect of brimline: please report it", exit_code=EXIT_INTERNAL
        )


def _fail(message: str, *, hint: str | None, exit_code: int) -> int:
    print(f"error: {redact_text(message).rstrip('.')}", file=sys.stderr)  # noqa: T201
    if hint:
        print(f"\nhint: {redact_text(hint)}", file=sys.stderr)  # noqa: T201
    return exit_code


def _help_of(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f"see {context.command_path if context is not None else 'brimline'} --help"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _print_version(asked: bool) -> None:
    if asked:
        print(f"brimline {brimline_version()}")  # noqa: T201
        raise typer.Exit
