from pathlib import Path

import pytest

from brimline.api.options import ObjectiveOptions
from brimline.api.workload import objective
from brimline.errors import SpecError, UsageError
from brimline.spec import LoadedSpec, load_spec
from brimline.spec.operations import OperationsSpec
from brimline.spec.slo import SloSpec

BASE = "data: {records: 10}\noperations: {read: 0.9, update: 0.1}\n"


def load(tmp_path: Path, slo: str, *limits: str) -> LoadedSpec:
    path = tmp_path / "w.yaml"
    path.write_text(f"{BASE}{slo}\n")
    return load_spec(path, overrides=ObjectiveOptions(slo=limits).overrides)


def texts(loaded: LoadedSpec) -> list[str]:
    slo = objective(loaded.spec)
    return [] if slo is None else [each.text for each in (*slo.latencies, *slo.errors)]


@pytest.mark.parametrize(
    ("slo", "limits", "expected"),
    [
        ("", [], []),
        ("slo: {response_p95: 5ms}", [], ["response p95 ≤ 5 ms", "errors ≤ 0.1 %"]),
        ("slo: {error_rate: 1%}", [], ["response p99 ≤ 10 ms", "errors ≤ 1 %"]),
        (
            "slo: {response_p99.9: 40ms, read: {response_p99: 3ms, error_rate: 0%}}",
            [],
            ["response p99.9 ≤ 40 ms", "read response p99 ≤ 3 ms", "errors ≤ 0.1 %", "read errors ≤ 0 %"],
        ),
        ("slo: {response_mean: 5ms}", [], ["response mean ≤ 5 ms", "errors ≤ 0.1 %"]),
        (
            "",
            ["mean=5ms", "update.mean=8ms"],
            ["response mean ≤ 5 ms", "update response mean ≤ 8 ms", "errors ≤ 0.1 %"],
        ),
        (
            "slo: {response_p95: 5ms}",
            ["p95=6ms", "p99.9=40ms", "update.p97.5=9ms", "update.error_rate=1%"],
            [
                "response p95 ≤ 6 ms",
                "response p99.9 ≤ 40 ms",
                "update response p97.5 ≤ 9 ms",
                "errors ≤ 0.1 %",
                "update errors ≤ 1 %",
            ],
        ),
    ],
)
def test_limits(slo: str, limits: list[str], expected: list[str], tmp_path: Path) -> None:
    loaded = load(tmp_path, slo, *limits)
    assert sorted(texts(loaded)) == sorted(expected)
    # What is stored with a record reads back as the same objective.
    (tmp_path / "stored.yaml").write_text(loaded.text)
    assert texts(load_spec(tmp_path / "stored.yaml")) == texts(loaded)


@pytest.mark.parametrize(
    ("slo", "message", "hint"),
    [
        ("slo: {response_p9: 5ms}", "slo.response_p9: unknown key", 'did you mean "response_p99"'),
        ("slo: {p95: 5ms}", "slo.p95: unknown key", 'did you mean "slo.response_p95"'),
        ("slo: {response_p95: 5}", "slo.response_p95: 5 has no unit", 'write "5s" or "5ms"'),
        ("slo: {read: {response_p95: 5}}", "slo.read.response_p95: 5 has no unit", 'write "5s" or "5ms"'),
        ("slo: {read: {response_p0.5: 5ms}}", "slo.read.response_p0.5: unknown key", None),
        ("slo: {scan: {response_p95: 5ms}}", "slo.scan is about an operation", "leave slo.scan out"),
        ("slo: {reed: {response_p95: 5ms}}", "slo.reed: unknown key", 'did you mean "read"'),
        ("slo: {response_p99.99999: 5ms}", "slo.response_p99.99999: unknown key", None),
    ],
)
def test_slips(slo: str, message: str, hint: str | None, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, slo)
    assert message in caught.value.message
    if hint is not None:
        assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["p95", "p95=", "=5ms", "95=5ms", "read.=5ms", "errors=1%"])
def test_slips_on_the_command_line(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        _ = ObjectiveOptions(slo=[text]).overrides
    assert "--slo" in caught.value.message and "--slo p95=5ms" in (caught.value.hint or "")


@pytest.mark.parametrize("kind", list(OperationsSpec.model_fields))
def test_each_kind_of_operation_can_have_limits_that_are_looked_at(kind: str) -> None:
    slo = SloSpec.model_validate({kind: {"response_p99": "1ms"}})
    assert {name: part.response_limits_ns for name, part in slo.by_operation.items()} == {kind: {"p99": 1_000_000}}
