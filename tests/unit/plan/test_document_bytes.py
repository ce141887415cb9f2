"""The size of a document before there is one: what laws of lengths come to on average."""

import pytest

from brimline.plan import resolve, wire_target
from brimline.plan.document_bytes import mean_document_bytes
from brimline.spec import load_spec

_FIELDS = 10
_BESIDE_THE_VALUE_BYTES = 7 + len("field") + 1
_KEY_BYTES = 35


def mean_length(**length: object) -> float:
    """What the lengths of a field's values come to, by the size of a document."""
    spec = load_spec("ycsb-a", overrides={"data.field_length": length, "data.fields": _FIELDS}).spec
    plan = resolve(spec, target=wire_target(spec, address="127.0.0.1:1"))
    return (mean_document_bytes(plan.data, seed=1) - _KEY_BYTES) / _FIELDS - _BESIDE_THE_VALUE_BYTES


def test_a_constant_and_an_even_law() -> None:
    assert mean_length(kind="constant", length=100) == pytest.approx(100)
    assert mean_length(kind="uniform", min=1, max=300) == pytest.approx(150.5)


@pytest.mark.parametrize(("least", "most"), [(5, 5), (1, 100), (50, 1000)])
def test_a_zipfian_law_is_near_its_sum(least: int, most: int) -> None:
    weights = {length: (length - least + 1) ** -0.99 for length in range(least, most + 1)}
    mean = sum(length * weight for length, weight in weights.items()) / sum(weights.values())
    assert mean_length(kind="zipfian", min=least, max=most) == pytest.approx(mean, rel=0.15)
