"""Names of operations and steps, which may be labels of other tools."""

from pathlib import Path

import pytest

from brimline.api.options import ObjectiveOptions
from brimline.errors import SpecError
from brimline.spec import load_spec

HEAD = "name: x\nprotocol: http\ntarget: {uri: 'http://h'}\noperations:\n"
LABELS = ["GET /orders/{id}", "首页 (v2)", "01-home", "latest_orders", "read it", "a" * 80]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_names_an_operation_its_steps_and_its_limits(tmp_path: Path, label: str) -> None:
    path = tmp_path / "x.yaml"
    steps = f"[{{name: '{label}', get: /a}}, {{name: '{label[:70]} 2.html', get: /b}}]"
    path.write_text(f"{HEAD}  '{label}': {{steps: {steps}}}\nload: {{kind: constant, rate: 5/s}}\n", encoding="utf-8")
    limits = ObjectiveOptions(slo=[f"{label}.p99=20ms"]).overrides
    spec = load_spec(path, overrides=limits).spec
    assert list(spec.operations.shares) == [label]
    assert list(spec.slo.by_operation) == [label]


@pytest.mark.parametrize("label", ["a.b", "a=b", "a,b", " a", "a ", "-", "a" * 81, "", 'say "a"', "a\\tb"])
def test_what_limits_are_told_apart_by_is_in_no_name_of_an_operation(tmp_path: Path, label: str) -> None:
    path = tmp_path / "x.yaml"
    quoted = label.replace('"', '\\"')
    path.write_text(f'{HEAD}  "{quoted}": {{get: /a}}\n', encoding="utf-8")
    with pytest.raises(SpecError, match="can't name an operation"):
        load_spec(path)
