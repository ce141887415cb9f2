"""Owns the page of the options that verbs share: each as its group declares it, and which verbs take it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typer.main import get_command

from brimline.api.options import DataOptions, Group, LoadOptions, ObjectiveOptions, ServerOptions, WorkloadOptions
from brimline.api.options.group import Option, declared
from brimline.cli.app import whole_program
from brimline.cli.gating import GateOptions
from brimline.cli.options import OutputOptions
from tools.reference.languages import Say
from tools.reference.markdown import code, page, plain, table

GROUPS: Sequence[type[Group]] = (
    WorkloadOptions,
    ServerOptions,
    DataOptions,
    LoadOptions,
    ObjectiveOptions,
    GateOptions,
    OutputOptions,
)
TAKEN, OF_ITS_OWN, NOT_TAKEN = "●", "○", "–"
_NOTE = (
    f"Each option is declared once, and means the same for every verb that takes it ({TAKEN}). "
    f"{OF_ITS_OWN}: an option of the verb has this name and another meaning; the page of the verb says which. "
    "An option that a verb doesn't take is refused, and the hint names the verbs that take it."
)


def options_page(say: Say, translation: str) -> str:
    """The text of the page."""
    program: Any = get_command(whole_program())
    verbs = {name: _panels(command) for name, command in program.commands.items()}
    parts = [part for group in GROUPS for part in _parts(group, verbs, say)]
    source = "python/brimline/api/options and cli/options.py"
    return page(say("Options that verbs share"), say(_NOTE), *parts, source=source, translation=translation)


def _panels(command: Any) -> Mapping[str, str]:
    """The part of the help in which each option of a verb is, by its flag; of a group of verbs, of any of them."""
    commands = getattr(command, "commands", {"": command}).values()
    options = [each for one in commands for each in one.params if each.param_type_name == "option"]
    return {flag: each.rich_help_panel or "" for each in options for flag in each.opts}


def _parts(group: type[Group], verbs: Mapping[str, Mapping[str, str]], say: Say) -> Iterator[str]:
    options = {name: each for name, each in declared(group).items() if each.flags}
    yield f"## {say(group.title)}"
    rows = [
        (
            code(each.flags.replace(" ", ", ") + f" {each.metavar}".rstrip()),
            plain(say(each.help)),
            _beside(each, options, say),
        )
        for each in options.values()
    ]
    yield table((say("Option"), say("Meaning"), say("Beside others")), rows)
    taking = {name: panels for name, panels in verbs.items() if group.title in panels.values()}
    marks = [
        (code(each.name), *(_mark(panels.get(each.name), group) for panels in taking.values()))
        for each in options.values()
    ]
    yield table(("", *taking), marks)


def _mark(panel: str | None, group: type[Group]) -> str:
    return NOT_TAKEN if panel is None else TAKEN if panel == group.title else OF_ITS_OWN


def _beside(option: Option, options: Mapping[str, Option], say: Say) -> str:
    """What an option excludes, in either direction, and what it requires."""
    excluded = [each for each in options.values() if each.field in option.excludes or option.field in each.excludes]
    required = [options[name] for name in option.requires]
    told = (("not with {options}", excluded), ("only with {options}", required))
    return say("; ").join(
        say(how).format(options=say(", ").join(code(each.name) for each in many)) for how, many in told if many
    )
