"""The guide to operations of one's own says all that there is, and what it shows is accepted."""

import re
from pathlib import Path

import pytest

from brimline.errors import SpecError
from brimline.plan import NullTarget, resolve
from brimline.spec import load_spec, spec_schema
from brimline.spec.own.expressions import BUILT_IN
from brimline.spec.own.kinds import KINDS
from brimline.spec.own.protocols import all_kinds
from brimline.spec.own.values import FORMS

GUIDE = (Path(__file__).parents[4] / "docs" / "guides" / "own-operations.md").read_text(encoding="utf-8")


def test_what_it_shows_resolves(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)[0], encoding="utf-8")
    plan = resolve(load_spec(file).spec, target=NullTarget())
    assert plan.work.kind == "operations"


def test_the_error_that_it_shows_is_the_one_that_comes(tmp_path: Path) -> None:
    file = tmp_path / "shop.yaml"
    text = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)[0]
    file.write_text(text.replace("filter: {customer: $customer}", "filter: {customer: $custmer}"), encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        load_spec(file)
    said = f"error: {raised.value.message}\nhint: {raised.value.hint}".replace(f"{tmp_path}/", "")
    assert said in GUIDE


@pytest.mark.parametrize("name", [*(f"`{kind}`" for kind in all_kinds()), *(f"`${name}`" for name in BUILT_IN)])
def test_every_kind_of_step_and_every_built_in_value_has_a_line(name: str) -> None:
    assert name in GUIDE


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_value_has_a_line(form: str) -> None:
    assert f"{{{form}: " in GUIDE or f"`{form}`" in GUIDE


def test_the_schema_knows_every_option_of_every_kind() -> None:
    definitions = spec_schema()["$defs"]
    properties = definitions["OwnOperation"]["properties"]
    assert {"share", "load", "connections", "steps", *all_kinds()} <= set(properties)
    for kind in KINDS.values():
        assert {"collection", *(option.name for option in kind.all_options)} <= set(properties[kind.name]["properties"])
    assert set(definitions["Step"]["properties"]) >= set(all_kinds())
