"""Owns the page of the kinds of steps, as the tables of `brimline.spec.own` have them."""

from collections.abc import Iterator

from brimline.spec.own.protocols import STEPS, Steps
from brimline.spec.own.step_kind import ProtocolName, StepKind
from tools.reference.markdown import code, page, plain, table

_HEADINGS: dict[ProtocolName, str] = {"mongodb": "MongoDB", "http": "HTTP", "sql": "SQL"}


def steps_page() -> str:
    """The text of the page."""
    return page(
        "Kinds of steps",
        "A step of an [operation of your own](../guides/own-operations.md) is one of these. Which of them a workload "
        "has follows from its `protocol`: without it a command of MongoDB's, with `http` a [request of "
        "HTTP](../guides/http.md), with `sql` an [SQL statement](../guides/sql.md). An option that is not on this page "
        "is an error, which names the line and the nearest option.",
        *(part for protocol, steps in STEPS.items() for part in _of_protocol(protocol, steps)),
        source="python/brimline/spec/own/protocols.py",
    )


def _of_protocol(protocol: ProtocolName, steps: Steps) -> Iterator[str]:
    yield f"## {_HEADINGS[protocol]}"
    kinds = [(kind.name, kind.words, kind.command) for kind in steps.kinds.values()]
    others = [(name, words, "") for name, words in steps.others.items()]
    last = {"mongodb": "Command", "http": "Method"}.get(protocol)
    heads = ("Step", "What it does") if last is None else ("Step", "What it does", last)
    own = [kind for kind in steps.kinds.values() if kind.request is None]
    rows = [
        (f"[{name}](#{name})" if own and name in steps.kinds else code(name), plain(words), code(sent))[: len(heads)]
        for name, words, sent in (*kinds, *others)
    ]
    yield table(heads, rows)
    for kind in own:
        yield from _section(kind)
    if not own:
        yield _options_of_all(steps)


def _options_of_all(steps: Steps) -> str:
    """The options of kinds that have most of them in common, and which kinds have each."""
    kinds = steps.kinds.values()
    words = {name: each for kind in kinds for name, each in kind.made_from.items()}
    rows = []
    for name, each in words.items():
        having = [kind for kind in kinds if name in kind.made_from]
        of = "all" if len(having) == len(kinds) else ", ".join(code(kind.name) for kind in having)
        needed = "required" if all(name in kind.required for kind in having) else ""
        rows.append((code(name), plain(each), of, needed))
    return table(("Option", "Meaning", "Of", "Needed"), rows)


def _section(kind: StepKind) -> Iterator[str]:
    yield f"### {kind.name}"
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
