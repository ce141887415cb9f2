"""The reference says what the code says: its generated pages are not stale, and nothing in them lacks a meaning."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from brimline.cli.output import error_document
from brimline.report.lint_section import lint_document
from brimline.report.result_schema import result_schema
from brimline.report.run.as_json import run_document
from tests.support.command_line import CommandLine
from tools.reference import json_keys
from tools.reference.json_documents import Keys, keys_of
from tools.reference.languages import sentences
from tools.reference.page_figures import FIGURES, PageFigure
from tools.reference.pages import IN_BOTH_LANGUAGES, PAGES_DIRECTORY, generated_pages
from tools.reference.result_schema import result_schema_text
from tools.reference.spec_keys import undescribed

ROOT = Path(__file__).parents[2]
DIRECTORY = ROOT / PAGES_DIRECTORY
MARK = "<!-- Written by `make docs-reference`"


@pytest.fixture(scope="module")
def pages() -> Mapping[str, str]:
    return generated_pages()


def test_no_page_is_stale(pages: Mapping[str, str]) -> None:
    stale = [
        name
        for name, text in pages.items()
        if not (DIRECTORY / name).exists() or (DIRECTORY / name).read_text(encoding="utf-8") != text
    ]
    assert not stale, "run make docs-reference"


def test_a_page_in_both_languages_says_all_of_it_in_chinese() -> None:
    said: set[str] = set()

    def heard(text: str) -> str:
        said.add(text)
        return text

    for write in IN_BOTH_LANGUAGES.values():
        write(heard, "")
    assert sorted(said - set(sentences())) == [], "add to tools/reference/chinese.json"
    assert sorted(set(sentences()) - said) == [], "left over in tools/reference/chinese.json"


def test_the_schema_of_results_is_not_stale() -> None:
    assert result_schema() == json.loads(result_schema_text()), "run make docs-reference"


@pytest.mark.parametrize("figure", FIGURES, ids=lambda each: Path(each.file).stem)
def test_a_figure_shows_the_tables_of_its_page(figure: PageFigure) -> None:
    page = (ROOT / figure.page).read_text(encoding="utf-8")
    assert figure.draw(page) == (ROOT / figure.file).read_text(encoding="utf-8"), "run make docs-reference"
    assert f"]({Path('..', *Path(figure.file).parts[1:])})" in page


def test_the_tables_of_drivers_are_the_same_in_both_languages() -> None:
    """So their pictures show the same marks in the same places."""
    shapes = [re.findall(r"<(?:path|circle|rect)[^>]*>", (ROOT / figure.file).read_text(encoding="utf-8"))
              for figure in FIGURES if "drivers" in figure.file]  # fmt: skip
    assert len(shapes) == 2 and shapes[0] == shapes[1]
    assert sum(mark.startswith("<circle") for mark in shapes[0]) == 2 * 3 * 11 + 2 * (2 + 1 + 1)


def test_nothing_is_left_over(pages: Mapping[str, str]) -> None:
    marked = {
        str(file.relative_to(DIRECTORY)) for file in DIRECTORY.rglob("*.md") if MARK in file.read_text(encoding="utf-8")
    }
    assert marked == set(pages), "run make docs-reference"


def test_every_key_of_a_spec_has_a_meaning() -> None:
    assert undescribed() == [], "write a docstring behind the field"


def test_every_row_says_what_it_means(pages: Mapping[str, str]) -> None:
    empty = {
        name: rows for name, text in pages.items() if (rows := re.findall(r"^\|[^|]*\|  \|.*$", text, re.MULTILINE))
    }
    assert empty == {}


def test_every_key_of_json_has_a_meaning() -> None:
    assert json_keys.without_meaning() == [], "say what it means in tools.reference.meanings"
    assert json_keys.left_over() == [], "no document has this key any more"


def unknown(document: Any, held: list[Any], path: str = "") -> Iterator[str]:
    """Keys of a document that aren't among those that were read from the code; what holds none is free."""
    for each in document if isinstance(document, list) else [document]:
        if not isinstance(each, dict) or not held:
            continue
        keys = dict(pair for one in held for pair in all_keys(one))
        for name, value in each.items():
            known = name if name in keys else next((key for key in keys if matches(key, name)), None)
            if known is None:
                yield f"{path}{name}"
            else:
                yield from unknown(value, keys[known], f"{path}{name}.")


def all_keys(one: Keys | Callable[..., Any] | type) -> Iterator[tuple[str, list[Any]]]:
    keys = one if isinstance(one, Keys) else keys_of(one)
    for other in keys.also:
        yield from all_keys(other)
    yield from keys.held.items()


def matches(key: str, name: str) -> bool:
    """`<name>_ns` stands for any name."""
    return re.fullmatch(re.sub(r"<\w+>", ".+", key), name) is not None


def test_real_documents_have_no_other_keys(brimline_cli: CommandLine) -> None:
    words = ["--null", "--records", "1000", "--json", "-q"]
    run = brimline_cli.run("run", "ycsb-f", "--rate", "5000/s", "--duration", "200ms", "--warmup", "0s", *words)
    document = json.loads(run.stdout)
    assert "p99_ns" in document["response"] and "read_modify_write" in document["operations"]
    assert list(unknown(document, [run_document, lint_document, error_document])) == []
    schema = Draft202012Validator(result_schema())
    assert list(schema.iter_errors(document)) == []
    assert not schema.is_valid({**document, "format_version": 2})
    assert list(unknown({"response": {"nonsense": 1}}, [run_document])) == ["response.nonsense"]
