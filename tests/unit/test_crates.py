"""The tables of crates name what each crate depends on, as its Cargo.toml says."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = {each.parent.name: tomllib.loads(each.read_text()) for each in (ROOT / "crates").glob("*/Cargo.toml")}


def declared(crate: str) -> set[str]:
    """The crates of this workspace that `crate` uses, its tests apart."""
    return {name.removeprefix("brimline-") for name in CRATES[crate]["dependencies"] if name.startswith("brimline-")}


@pytest.mark.parametrize(
    ("page", "row"),
    [
        ("ARCHITECTURE.md", r"^\| `(?P<crate>\w+)`(?: → (?P<uses>[^|]*))? \|"),
        ("crates/README.md", r"^\| \[`(?P<crate>\w+)`\].*\| (?:→ (?P<uses>[^|]*) )?\|$"),
    ],
)
def test_tables_of_crates_are_true(page: str, row: str) -> None:
    rows = re.finditer(row, (ROOT / page).read_text(), re.MULTILINE)
    told = {each["crate"]: set(re.findall(r"\w+", each["uses"] or "")) & CRATES.keys() for each in rows}
    assert {crate: uses for crate, uses in told.items() if crate in CRATES} == {each: declared(each) for each in CRATES}


def without(kind: str) -> list[str]:
    """The crates in whose sources cargo looks for no tests of a kind."""
    return [name for name, each in CRATES.items() if not each.get("lib", {}).get(kind, True)]


@pytest.mark.parametrize("crate", without("doctest"))
def test_no_example_is_where_none_is_run(crate: str) -> None:
    """To look for examples is a start of rustdoc for each crate: only those which have some are looked through."""
    for file in (ROOT / "crates" / crate / "src").rglob("*.rs"):
        fences = re.findall(r"^ *//[/!] *```(.*)$", file.read_text(), re.MULTILINE)
        assert set(fences[::2]) <= {"text"}, f"{file}: `doctest = false` in Cargo.toml, and yet an example"


@pytest.mark.parametrize("crate", without("test"))
def test_no_test_is_where_none_is_run(crate: str) -> None:
    for file in (ROOT / "crates" / crate / "src").rglob("*.rs"):
        assert "#[test]" not in file.read_text(), f"{file}: `test = false` in Cargo.toml, and yet a test"
