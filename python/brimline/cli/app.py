"""Owns the program: its verbs, and the one place where errors become text and exit codes."""

import inspect
import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import typer

from brimline.cli import told
from brimline.cli.help import GroupedCommand
from brimline.cli.talk import let_talk_be_lost
from brimline.compat.mongo_tools.flags import hint_for, refuse_host, without_levels
from brimline.errors import BrimlineError, ExitCode, ResourceError, UsageError, redact_text
from brimline.process_list import show


@dataclass(frozen=True, slots=True)
class _Verb:
    """Where a verb is, and its line where all are listed, short enough for 80 columns.

    `name` is that of its function or, of a group of verbs, its program.
    """

    module: str
    name: str
    line: str
    settings: dict[str, Any] = field(default_factory=dict)

    def imported(self) -> Callable[..., int] | typer.Typer:
        found: Callable[..., int] | typer.Typer = getattr(import_module(f"brimline.cli.{self.module}"), self.name)
        return found


_WORDS_OF_ITS_OWN = {"allow_interspersed_args": False, "ignore_unknown_options": True}
"""What comes after `ycsb` is YCSB's, dashes and all."""
VERBS = {
    "init": _Verb("init", "init", "Write a workload: to start from, or from a live deployment."),
    "capacity": _Verb("capacity", "capacity", "Find the highest load that meets an objective."),
    "run": _Verb("run", "run", "Run a workload once and report it."),
    "load": _Verb("load", "load", "Load a workload's records into a server."),
    "import": _Verb("import_data", "import_data", "Import CSV, TSV, JSON or BSON into a collection."),
    "backup": _Verb("backup", "backup", "Write every collection as files, as mongodump does."),
    "restore": _Verb("backup", "restore", "Put a backup back, and compare it by hash."),
    "generate": _Verb("generate", "generate", "Write a workload's documents as rows of CSV, JSON or BSON."),
    "sweep": _Verb("sweep", "sweep", "Measure throughput over connections, or over other factors."),
    "scan": _Verb("scan", "scan", "Measure single queries: plan, entries, time cold and warm."),
    "grow": _Verb("grow", "grow", "Grow a collection step by step; find where times break."),
    "ab": _Verb("ab", "ab", "Run two workloads in turns; say what differs."),
    "interfere": _Verb("interfere", "interfere", "Run a workload alone and beside another; say what differs."),
    "failover": _Verb("failover", "failover", "Take servers away during a run; say what that costs."),
    "soak": _Verb("soak", "soak", "Run a workload for hours; say what drifts and stalls."),
    "study": _Verb("study", "app", "Make experiments in order, and the document they end in."),
    "compare": _Verb("compare", "compare", "Compare runs: what changed, and how sure that is."),
    "trend": _Verb("trend", "trend", "Find where the figures of many runs changed."),
    "report": _Verb("report", "report", "Analyse a stored record again, in any format."),
    "show": _Verb("show", "show", "Show a stored record on the terminal."),
    "list": _Verb("list_", "list_runs", "List stored runs and experiments."),
    "ui": _Verb("ui", "ui", "Show records as a page in the browser; start runs, stop them."),
    "stat": _Verb("stat", "stat", "Watch a server live, in mongostat's columns."),
    "watch": _Verb("watch", "watch", "Tell a run elsewhere how this server's host is doing."),
    "import-results": _Verb("import_results", "import_results", "Make a report of JMeter's or YCSB's results."),
    "jmeter": _Verb("jmeter", "jmeter", "Write a workload from a test plan of JMeter."),
    "lint": _Verb("lint", "lint", "Recompute what a report claims."),
    "workloads": _Verb("workloads", "workloads", "List the shipped workloads."),
    "schema": _Verb("schema", "schema", "Print the JSON Schema of workloads and studies, for editors."),
    "completion": _Verb("completion", "completion", "Print the script for Tab in bash, zsh or fish."),
    "doctor": _Verb("doctor", "doctor", "Check what this machine can do."),
    "ycsb": _Verb("ycsb", "ycsb", "Load or run as YCSB does: same flags and output.", _WORDS_OF_ITS_OWN),
    "lab": _Verb("lab", "app", "Start servers of a topology on this machine."),
}
_TELL_COST = frozenset(
    ["run", "load", "import", "capacity", "sweep", "scan", "grow", "ab", "interfere", "failover", "soak"]
)
"""Verbs that measure. Any other does at once what it is for, also when it is only asked what it would take."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and ends the process with its exit code."""
    let_talk_be_lost()
    threading.excepthook = _tell_of_thread
    told.forget()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if _called(words) is not None:
        from brimline.cli.words import redact_words  # knows every spec, as below

        show(words, list(redact_words(words)))
    sys.exit(_exit_code(words))


def _tell_of_thread(failed: threading.ExceptHookArgs) -> None:
    """A library's thread that ends for want of memory or of another thread says so in a line."""
    scarce = None if failed.exc_value is None else ResourceError.behind(failed.exc_value)
    if scarce is None:
        threading.__excepthook__(failed)
    else:
        print(f"warning: {scarce.message}", file=sys.stderr)  # noqa: T201


def import_verb(arguments: Sequence[str]) -> None:
    """Imports the verb that `arguments` call, if they call one."""
    if (called := _called(arguments)) is not None:
        VERBS[called].imported()


def _called(arguments: Sequence[str]) -> str | None:
    """The verb: the first word that is no option of the program itself, which have no values."""
    first = next((word for word in arguments if not word.startswith("-")), None)
    return first if first in VERBS else None


def whole_program() -> typer.Typer:
    """The program with all its verbs imported, for what reads every option, as the reference does."""
    return _program(VERBS)


def _program(wanted: Container[str | None]) -> typer.Typer:
    """The program with the verbs that are wanted. The others are listed: to import them takes most of a second."""
    program = typer.Typer(
        name="brimline",
        help="Finds how much load a MongoDB deployment can take, why it stops there, and how sure that is.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    program.callback()(_root)
    for name, verb in VERBS.items():
        found = verb.imported() if name in wanted else _not_called
        if isinstance(found, typer.Typer):
            program.add_typer(found, name=name)
        else:
            program.command(name, cls=GroupedCommand, short_help=verb.line, context_settings=verb.settings)(found)
    return program


def _root(
    _version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=lambda asked: _print_version(asked)
    ),
) -> None:
    pass


def _not_called() -> int:
    raise AssertionError("a verb that is called is imported")


def _exit_code(arguments: list[str]) -> int:
    """Data goes to stdout, talk and errors to stderr; nothing but a bug prints a traceback."""
    try:
        refuse_host(_called(arguments), arguments)
        program = _program([_called(arguments)])
        arguments = without_levels(_called(arguments), arguments)
        result = program(args=arguments or ["--help"], prog_name="brimline", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except typer.Exit as error:
        return error.exit_code
    except BrimlineError as error:
        message = _without_secrets(error.message, arguments)
        return _fail(arguments, message, hint=error.hint, exit_code=error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _fail(arguments, "interrupted", hint=None, exit_code=ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has enough, as in `brimline list | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        # Errors of the command line's own parser: their class is private to typer, their methods are not.
        if type(error).__name__ == "NoArgsIsHelpError":
            print(str(error.format_message()), file=sys.stderr)  # type: ignore[attr-defined]  # noqa: T201
            return ExitCode.USAGE
        if hasattr(error, "format_message"):
            if (of_one := _of_one_client(error)) is not None:
                return _fail(arguments, of_one[0], hint=of_one[1], exit_code=ExitCode.USAGE)
            message = _without_secrets(_parser_says(error), arguments)
            hint = _of_mongo_tools(error) or _of_drivers(error, arguments) or _verbs_with(error) + _help_of(error)
            return _fail(arguments, message, hint=hint, exit_code=ExitCode.USAGE)
        if (scarce := ResourceError.behind(error)) is not None:
            message = _without_secrets(scarce.message, arguments)
            return _fail(arguments, message, hint=scarce.hint, exit_code=scarce.exit_code)
        trace = _without_secrets("".join(traceback.format_exception(error)), arguments)
        print(redact_text(trace), file=sys.stderr)  # noqa: T201
        text = _without_secrets(f"{type(error).__name__}: {error}", arguments)
        hint = "this is a defect of brimline: please report it"
        return _fail(arguments, f"internal: {text}", hint=hint, exit_code=ExitCode.DEFECT)


def is_verb(name: str) -> bool:
    """Whether the program has a verb of this name."""
    return name in VERBS


def tells_cost(name: str) -> bool:
    """Whether it is a verb that says what it would take when it is asked under `planning`, and begins nothing then."""
    return name in _TELL_COST


def performed(arguments: Sequence[str]) -> int:
    """Does what these words say, for a program that is at work already; its exit code. Raises BrimlineError.

    What the parser refuses is a UsageError, like what a verb refuses.
    """
    try:
        result = _program([_called(arguments)])(args=list(arguments), prog_name="brimline", standalone_mode=False)
    except typer.Exit as error:
        return error.exit_code
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        raise UsageError(_parser_says(error).rstrip("."), hint=_help_of(error)) from error
    return result if isinstance(result, int) else 0


def _without_secrets(text: str, arguments: Sequence[str]) -> str:
    from brimline.cli.words import hide_secrets  # knows YCSB's properties, and with them every spec

    return hide_secrets(text, arguments)


def _fail(arguments: Sequence[str], message: str, *, hint: str | None, exit_code: int) -> int:
    """Says why a command ended: to people, and to programs that asked and were told nothing yet."""
    said, hint = redact_text(message).rstrip("."), redact_text(hint) if hint else None
    print(f"error: {said}", file=sys.stderr)  # noqa: T201
    if hint:
        print(f"hint: {hint}", file=sys.stderr)  # noqa: T201
    _tell_programs(arguments, said, hint=hint, exit_code=exit_code)
    return exit_code


def _tell_programs(arguments: Sequence[str], message: str, *, hint: str | None, exit_code: int) -> None:
    """The same as JSON on standard output, and in the JUnit file, where the verb has these options."""
    verb = _called(arguments)
    functions = [] if verb is None else _functions_of(VERBS[verb].imported())
    options = {name for each in functions for name in inspect.signature(each).parameters}
    if "--json" in arguments and "as_json" in options and not told.is_told(told.DOCUMENT):
        from brimline.cli.output import error_document  # with rich, which a load must not find in memory

        with suppress(OSError, AttributeError):  # nobody reads
            document = error_document(message, hint=hint, exit_code=exit_code)
            # One line, as each row of `stat` is.
            sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
            sys.stdout.flush()
    file = _value_of("--junit", arguments)
    if verb is not None and file and "junit" in options and not told.is_told(told.JUNIT):
        from brimline.cli.junit import write_error

        name = next((word for word in arguments[arguments.index(verb) + 1 :] if not word.startswith("-")), verb)
        with suppress(BrimlineError):  # the error that is on its way says more
            write_error(message, Path(file), suite=verb, name=redact_text(name), exit_code=exit_code)


def _functions_of(verb: Callable[..., int] | typer.Typer) -> list[Callable[..., Any]]:
    """That of a verb; of a group of verbs, each of theirs."""
    if not isinstance(verb, typer.Typer):
        return [verb]
    return [each.callback for each in verb.registered_commands if each.callback is not None]


def _value_of(option: str, arguments: Sequence[str]) -> str:
    """What is given as `--option VALUE` or `--option=VALUE`; "" without it."""
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if word == option:
            return following
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return ""


def _of_mongo_tools(error: Exception) -> str | None:
    """What a flag of MongoDB's own tools would be here; None for other errors, and for verbs without a server."""
    option = _unknown(error)
    return hint_for(option) if option and "--uri" in _options_of(error) else None


def _of_drivers(error: Exception, arguments: Sequence[str]) -> str | None:
    """What a word of a driver's pool would be here, as an option, or a binding of YCSB's as a client."""
    from brimline.compat.ycsb.words import BINDINGS
    from brimline.servers.uri_options import hint_for_option

    if getattr(getattr(error, "param", None), "name", None) == "client":
        binding = BINDINGS.get(_value_of("--client", arguments))
        return None if binding is None else f"that is a binding of YCSB's; here it is --client {binding.client}"
    option = _unknown(error)
    return hint_for_option(option) if option and "--max-pool-size" in _options_of(error) else None


def _options_of(error: Exception) -> list[str]:
    """The options of the verb that an error of the parser is about."""
    context = getattr(error, "ctx", None)
    return [] if context is None else [option for each in context.command.params for option in each.opts]


_MORE_WORDS: Final = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)
_OF_ONE_CLIENT: Final = {
    "scan": (
        "it asks one query at a time, which one client does",
        "leave it out; brimline load --workers loads the data by several",
    ),
    "study": (
        "each of its experiments says itself how many clients it has",
        'write `workers: "local:2"` below the options of an experiment',
    ),
}
"""Verbs that measure and that several nodes don't share: why, and what to do."""


def _of_one_client(error: Exception) -> tuple[str, str] | None:
    """What is said where such a verb is given nodes."""
    option, verb = _unknown(error), _verb_of(error)
    if option not in ("--workers", "--workers-per-node") or verb not in _OF_ONE_CLIENT:
        return None
    why, hint = _OF_ONE_CLIENT[verb]
    return f"{verb} has no {option}: {why}", hint


def _verbs_with(error: Exception) -> str:
    """Which verbs have an option that the one called has not; "" where none has it, and for other errors."""
    option = _unknown(error)
    if not option:
        return ""
    from brimline.cli.grouped import flags_of  # knows every option, as in `_without_secrets`

    if option == "--details" and _verb_of(error) == "report":
        return "brimline show prints every table of a record; "
    functions = [(name, each) for name, verb in VERBS.items() for each in _functions_of(verb.imported())]
    verbs = list(dict.fromkeys(name for name, each in functions if option in flags_of(each)))
    if option == "--workers":
        verbs.remove("lab")  # which has so many processes of the order service
    return f"{option} is an option of {', '.join(verbs)}; " if verbs else ""


def _unknown(error: Exception) -> str:
    """The option that the parser does not know; "" of other errors."""
    return str(getattr(error, "option_name", "")) if type(error).__name__ == "NoSuchOption" else ""


def _verb_of(error: Exception) -> str:
    """The verb that an error of the parser is about; "" where it is about none."""
    context = getattr(error, "ctx", None)
    return "" if context is None else next(iter(context.command_path.split()[1:]), "")


def _help_of(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f"see {context.command_path if context is not None else 'brimline'} --help"


def _parser_says(error: Exception) -> str:
    """What an error of the parser is about, in our words where its own are a riddle."""
    if _unknown(error) and (known := getattr(error, "possibilities", None)):
        # Theirs are in brackets right behind the option, where its value would be: of a secret it would be masked.
        return f"{_lower_first(str(error.message))}; possible options: {', '.join(sorted(known))}"  # type: ignore[attr-defined]
    text = str(error.format_message())  # type: ignore[attr-defined]  # their class is private to typer
    if more := _MORE_WORDS.fullmatch(text):
        context = getattr(error, "ctx", None)
        verb = "brimline" if context is None else context.command_path
        return f"{verb} has no use for {more[1]}"
    # The parser names the class of what a check of a value raised.
    return _lower_first(text.replace(": Value error, ", ": ", 1))


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _print_version(asked: bool) -> None:
    if asked:
        from brimline.record import brimline_version

        print(f"brimline {brimline_version()}")  # noqa: T201
        raise typer.Exit
