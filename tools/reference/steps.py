"""Owns the page of the kinds of steps, as the table of `brimline.spec.own` has them."""

from collections.abc import Iterator

from brimline.spec.own.kinds import KINDS, OTHER_KINDS, StepKind
from tools.reference.markdown import code, page, plain, table


def steps_page() -> str:
    """The text of the page."""
    kinds = [(kind.name, kind.words, kind.command) for kind in KINDS.values()]
    others = [(name, words, "") for name, words in OTHER_KINDS.items()]
    rows = [
        (f"[{name}](#{name})" if name in KINDS else code(name), plain(words), code(sent))
        for name, words, sent in (*kinds, *others)
    ]
    return page(
        "Kinds of steps",
        "A step of an [operation of your own](../guides/own-operations.md) is one of these. An option that is not on "
        "this page is an error, which names the line and the nearest option.",
        table(("Step", "What it does", "Command"), rows),
        *(part for kind in KINDS.values() for part in _section(kind)),
        source="python/brimline/spec/own/kinds.py",
    )


def _section(kind: StepKind) -> Iterator[str]:
    yield f"## {kind.name}"
    yield plain(kind.words)
    required = {*kind.required, "collection"}
    rows = [(code("collection"), "The collection, by its name in the workload.", "", "required")]
    rows += [(code(name), plain(words), "", _one_of(kind, name)) for name, words in kind.made_from.items()]
    rows += [
        (
            code(option.name),
            plain(option.words),
            code(option.field),
            "required" if option.name in required else _one_of(kind, option.name),
        )
        for option in kind.all_options
    ]
    yield table(("Option", "Meaning", "In the command", "Needed"), rows)


def _one_of(kind: StepKind, name: str) -> str:
    """Of which options one is needed."""
    group = next((names for names in kind.one_of if name in names), ())
    return f"one of {', '.join(map(code, group))}" if group else ""
