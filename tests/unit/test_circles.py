"""No files import each other in a circle: neither in Python, wherever the import stands, nor within a crate.

A package or module that hands a name on isn't where that name is taken from. In Rust a file may use what is declared
above it: `worker/trouble.rs` is a part of `worker`.
"""

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOKED_UP = {"brimline.execution.protocols"}
"""Tables that are asked by name, as a program runs, by those whose classes stand in them."""
Place = tuple[str, ...]
"""The names of a module, from the crate on."""
CRATES = sorted(path.parent for path in ROOT.glob("crates/*/src"))


def circle(arrows: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return [str(each) for each in error.args[1]]
    return []


def python_arrows(package: Path) -> dict[str, set[str]]:
    texts = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): path.read_text()
        for path in package.rglob("*.py")
    }
    taken = {name: list(_imports(text)) for name, text in texts.items() if name != package.name}

    def home(module: str, name: str) -> str:
        if f"{module}.{name}" in taken:
            return f"{module}.{name}"
        return next((home(*each) for each in taken.get(module, ()) if each[1] == name and each[0] != module), module)

    return {name: {home(*each) for each in its} & taken.keys() - {name} - LOOKED_UP for name, its in taken.items()}


def _imports(text: str) -> Iterator[tuple[str, str]]:
    for module, names in re.findall(r"^ *from (brimline[.\w]*) import (\([^)]*\)|.*)", text, re.MULTILINE):
        yield from ((module, name) for name in re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", names)))


def rust_arrows(source: Path) -> dict[str, set[str]]:
    files: dict[Place, str] = {}
    for path in source.rglob("*.rs"):
        place = path.relative_to(source).with_suffix("").parts
        text = re.sub(r"//.*", "", path.read_text().partition("#[cfg(test)]\nmod tests")[0])
        files[place[:-1] if place[-1] in ("lib", "main", "mod") else place] = text
    uses = {place: list(_uses(text, place, files)) for place, text in files.items()}

    def home(path: Place) -> Place:
        depth = next(length for length in range(len(path), -1, -1) if path[:length] in files)
        module, item = path[:depth], path[depth : depth + 1]
        handed_on = (each for is_public, each in uses[module] if is_public and each[-1:] == item and each != path)
        return next((home(each) for each in handed_on if each[: len(module)] == module), module)

    arrows: dict[str, set[str]] = {"/".join(place): set() for place in files}
    for place, its in uses.items():
        for is_public, used in its:
            found = home(used)
            is_face = is_public and found[: len(place)] == place
            if found != place[: len(found)] and not is_face:
                arrows["/".join(place)].add("/".join(found))
    return arrows


def _uses(text: str, place: Place, files: Mapping[Place, str]) -> Iterator[tuple[bool, Place]]:
    """Paths within the crate that a file names, and whether it hands them on."""

    def absolute(path: str) -> Place | None:
        first, *rest = path.split("::")
        if first == "super":
            ups = 1 + next((at for at, name in enumerate(rest) if name != "super"), len(rest))
            return (*place[: len(place) - ups], *rest[ups - 1 :])
        if first in ("crate", "self"):
            return tuple(rest) if first == "crate" else (*place, *rest)
        return (*place, first, *rest) if (*place, first) in files else None

    use = re.compile(r"^[ \t]*(pub(?:\([a-z]+\))? )?use ([^;]+);", re.MULTILINE)
    for public, tree in use.findall(text):
        yield from (
            (bool(public), path) for each in _leaves(re.sub(r"\s+|\bas \w+", "", tree)) if (path := absolute(each))
        )
    for each in re.findall(r"\b(?:crate|super|self)(?:::\w+)+", use.sub("", text)):
        yield False, absolute(each) or ()


def _leaves(tree: str) -> Iterator[str]:
    head, brace, inner = tree.partition("{")
    if not brace:
        yield head.removesuffix("::self")
        return
    depth, part = 0, ""
    for character in inner[:-1] + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and not depth:
            yield from _leaves(head + part) if part else ()
            part = ""
        else:
            part += character


def test_no_file_of_python_is_in_a_circle() -> None:
    assert not circle(python_arrows(ROOT / "python/brimline"))


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_no_file_of_a_crate_is_in_a_circle(crate: Path) -> None:
    assert not circle(rust_arrows(crate / "src"))
