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
