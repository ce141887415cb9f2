"""Each verb writes its report in the language that its options name."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brimline import api
from brimline.api.kinds import Kind, conduct
from brimline.api.options import Options
from brimline.spec import LoadedSpec
from tests.support.simulation import read_only

SOURCES = sorted(Path(api.__file__).parent.glob("*.py"))


@dataclass(frozen=True)
class Written:
    """A result that only knows how it was written."""

    languages: list[str | None]
    interrupted: None = None

    def write(self, language: str | None = None) -> None:
        self.languages.append(language)


def test_an_experiment_is_written_in_the_language_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    languages: list[str | None] = []
    nothing: Any = Kind(
        kind="nothing",
        verb="nothing",
        made_in=lambda _place, _settings, *, directory=None, resume=False: tmp_path,
        stored=lambda experiment: experiment,
        result=lambda _experiment: Written(languages),  # type: ignore[arg-type,return-value]
        estimate=None,
    )
    monkeypatch.setattr("brimline.api.kinds.read_experiment", lambda directory: directory)
    conduct(nothing, LoadedSpec(read_only(), "", ""), None, Options(language="zh", null=True, runs_dir=tmp_path))
    assert languages == ["zh"]


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
