"""Each verb writes its report in the language that its options name."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from brimline import api
from brimline.api.options import Options
from brimline.api.search_settings import frontier_settings
from brimline.spec import LoadedSpec
from tests.support.simulation import read_only

SOURCES = sorted(Path(api.__file__).parent.glob("*.py"))


class Written:
    """A result that only knows how it was written."""

    def __init__(self) -> None:
        self.languages: list[str | None] = []

    def write(self, language: str | None = None) -> None:
        self.languages.append(language)


def test_a_frontier_is_written_in_the_language_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    verb = import_module("brimline.api.capacity")
    written = Written()
    monkeypatch.setattr(verb, "conduct", lambda *_args, **_named: None)
    monkeypatch.setattr(verb, "frontier_result", lambda *_args: written)
    loaded = LoadedSpec(read_only(), "", "")
    settings = frontier_settings(loaded.spec, "quick", [20_000_000, 5_000_000])
    verb.search_loaded(loaded, settings, Options(language="zh"))
    assert written.languages == ["zh"]


def test_no_verb_drops_the_language() -> None:
    bare = [
        f"{path.name}:{call.lineno}"
        for path in SOURCES
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "write"
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "result"
        and not call.args
    ]
    assert bare == []
