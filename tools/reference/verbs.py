"""Owns the pages of the verbs: what each takes, as its own help says it."""

from collections.abc import Iterator, Mapping
from typing import Any

from typer.main import get_command

from brimline.cli.app import whole_program
from tools.reference.languages import Say
from tools.reference.markdown import code, page, plain, table

_SOURCE = "python/brimline/cli"


def verbs_page(say: Say, translation: str) -> str:
    """The text of the overview."""
    _, verbs = _program()
    lines = [
        (f"[`brimline {name}`](verbs/{name}.md)", plain(say(verb.get_short_help_str(200))))
        for name, verb in verbs.items()
    ]
    return page(
        say("Verbs"),
        say("`brimline VERB --help` prints the same. `brimline --version` prints the version."),
        table((say("Verb"), say("What it does")), lines),
        source=_SOURCE,
        translation=translation,
    )


def verb_pages() -> Mapping[str, str]:
    """The text of one page a verb, by its name below docs/reference."""
    root, verbs = _program()
    return {
        f"verbs/{name}.md": page(f"brimline {name}", *_parts(verb, root, name), source=_SOURCE)
        for name, verb in verbs.items()
    }


def _program() -> tuple[Any, Mapping[str, Any]]:
    """The context of the whole program, and its verbs."""
    program: Any = get_command(whole_program())
    root = program.make_context("brimline", [], resilient_parsing=True)
    return root, {name: program.get_command(root, name) for name in program.list_commands(root)}


def _parts(command: Any, parent: Any, name: str, *, heading: str = "##") -> Iterator[str]:
    context = command.context_class(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield plain(command.help or "")
    yield f"    {usage}"
    shown = [(each, *record) for each in command.params if (record := each.get_help_record(context)) is not None]
    tables: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for each, words, meaning in shown:
        title = (
            "Arguments" if each.param_type_name == "argument" else getattr(each, "rich_help_panel", None) or "Options"
        )
        tables.setdefault(title, []).append((code(words), plain(meaning)))
    yield from (table((title, "Meaning"), rows) for title, rows in tables.items())
    for below, sub in getattr(command, "commands", {}).items():
        yield f"{heading} {context.command_path} {below}"
        yield from _parts(sub, context, below, heading=f"{heading}#")
