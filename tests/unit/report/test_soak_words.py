"""How a soak's findings are told."""

import pytest

from brimline.report.soak.words import amount_text, signed


@pytest.mark.parametrize(("share", "said"), [(0.012, "+1.2 %"), (-0.03, "-3 %"), (0.0, "0 %")])
def test_a_change_has_its_sign(share: float, said: str) -> None:
    assert signed(share) == said


def test_an_amount_has_its_sign_and_its_unit() -> None:
    assert (amount_text(2e6, "ns"), amount_text(-2.5e6, "ns")) == ("+2.000 ms", "-2.500 ms")
