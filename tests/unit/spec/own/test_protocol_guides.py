"""The guides to HTTP and SQL show what is accepted, and the errors that come; they name every option."""

import re
from pathlib import Path

import pytest

from brimline.errors import SpecError
from brimline.plan import HttpTarget, TargetPlan, resolve, sql_target
from brimline.spec import load_spec
from brimline.spec.own.http import HttpSpec
from brimline.spec.own.protocols import STEPS

DOCS = Path(__file__).parents[4] / "docs" / "guides"
PAGES: dict[str, tuple[str, tuple[TargetPlan, ...]]] = {
    "http.md": ("orders.yaml", (HttpTarget(address="h:1", authority="h"),)),
    "sql.md": (
        "shop.yaml",
        tuple(sql_target(kind=kind, address="h:1", database="d") for kind in ("mysql", "postgres")),
    ),
}


def shown(page: str) -> str:
    return re.findall(r"```yaml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)[0]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_guide_shows_resolves(tmp_path: Path, page: str) -> None:
    name, targets = PAGES[page]
    file = tmp_path / name
    file.write_text(shown(page), encoding="utf-8")
    for target in targets:
        assert resolve(load_spec(file).spec, target=target).work.kind == "operations"


@pytest.mark.parametrize(
    ("page", "right", "wrong"),
    [("http.md", "/orders/$id, query", "/orders/$idd, query"), ("sql.md", "= $customer ORDER", "= $custmer ORDER")],
)
def test_the_error_that_a_guide_shows_is_the_one_that_comes(tmp_path: Path, page: str, right: str, wrong: str) -> None:
    file = tmp_path / PAGES[page][0]
    file.write_text(shown(page).replace(right, wrong), encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load_spec(file)
    said = f"error: {raised.value.message}\nhint: {raised.value.hint}".replace(f"{tmp_path}/", "")
    assert said in (DOCS / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_kind_and_every_option_is_named(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    steps = STEPS["http" if page == "http.md" else "sql"]
    options = {option for kind in steps.kinds.values() for option in kind.made_from}
    settings = set(HttpSpec.model_fields) if page == "http.md" else set()
    assert [name for name in (*steps.names, *options, *settings) if name not in text] == []
