"""Owns the pages of the verbs: what each takes, as its own help says it."""

from collections.abc import Iterator, Mapping
from typing import Any

from typer.main import get_command

from brimline.cli.app import whole_program
from tools.reference.markdown import code, page, plain, table

_SOURCE = "python/brimline/cli"


def verb_pages() -> Mapping[str, str]:
    """The text of each page by its name below docs/reference: an overview, and one page a verb."""
    program: Any = get_command(whole_program())
    root = program.make_context("brimline", [], resilient_parsing=True)
    verbs = {name: program.get_command(root, name) for name in program.list_commands(root)}
    lines = [
        (f"[`brimline {name}`](verbs/{name}.md)", plain(verb.get_short_help_str(200))) for name, verb in verbs.items()
    ]
    overview = page(
        "Verbs",
        "`brimline VERB --help` prints the same. `brimline --version` prints the version.",
        table(("Verb", "What it does"), lines),
        source=_SOURCE,
    )
    return {"verbs.md": overview} | {
        f"verbs/{name}.md": page(f"brimline {name}", *_parts(verb, root, name), source=_SOURCE)
        for name, verb in verbs.items()
    }


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
