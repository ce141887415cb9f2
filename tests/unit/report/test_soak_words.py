"""How a soak's findings are told."""

from dataclasses import replace

import numpy as np
import pytest

from brimline.analysis.drift import Series, drifts
from brimline.analysis.soak import SoakFindings, soak_findings
from brimline.report.soak.view import _drifts
from brimline.report.soak.words import amount_text, drift_text, pace_text, signed
from tests.unit.analysis.test_soak_stretches import part

HOUR_S = 3600.0
BLOCK_S = 6.0


def findings(length_s: float, *series: Series) -> SoakFindings:
    """Those of a soak of that length with these figures, whatever else it had."""
    last = part(0.0, None)
    found = soak_findings([last])
    return replace(found, parts=((length_s - last.measured_s, last),), drifts=drifts(series))


def line(key: str, *, begin: float, per_hour: float, length_s: float, block_s: float = BLOCK_S) -> Series:
    """A figure that grows by that share of its first value in an hour, in the middles of blocks of a time."""
    at_s = np.arange(block_s / 2, length_s, block_s)
    return Series(key=key, label=key, unit="ns", kind="flow", times_s=at_s,
                  values=begin * (1 + per_hour * (at_s - at_s[0]) / HOUR_S))  # fmt: skip


@pytest.mark.parametrize(("share", "said"), [(0.012, "+1.2 %"), (-0.03, "-3 %"), (0.0, "0 %")])
def test_a_change_has_its_sign(share: float, said: str) -> None:
    assert signed(share) == said


def test_an_amount_has_its_sign_and_its_unit() -> None:
    assert (amount_text(2e6, "ns"), amount_text(-2.5e6, "ns")) == ("+2.000 ms", "-2.500 ms")


def test_a_soak_of_an_hour_is_told_as_one() -> None:
    """From the middle of its first block to that of its last it is 59.9 min."""
    found = findings(HOUR_S, line("mean", begin=1e6, per_hour=0.01, length_s=HOUR_S))
    assert pace_text(found.drifts[0], found.told_s).startswith("+1 % in an hour (95 % interval ")
    assert _drifts(found).columns[3].label == "In an hour"


def test_a_change_is_told_for_no_longer_than_the_soak() -> None:
    """Of a soak of 18 s it said -14 800 % in an hour: nothing falls by more than all of it."""
    found = findings(18.0, line("mean", begin=5e6, per_hour=-0.6 * HOUR_S / 18, length_s=18.0, block_s=1.0))
    assert pace_text(found.drifts[0], found.told_s).startswith("-60 % in 18.0 s (95 % interval -60 % to -60 %)")


def test_all_figures_are_told_for_the_time_of_the_title() -> None:
    """A server that was seen for 20 minutes of two hours had a third of its change below "in an hour"."""
    found = findings(
        2 * HOUR_S,
        line("mean", begin=1e6, per_hour=0.01, length_s=2 * HOUR_S),
        line("memory", begin=2e8, per_hour=0.3, length_s=HOUR_S / 3),
    )
    table = _drifts(found)
    assert table.columns[3].label == "In an hour"
    assert [[cell.text for cell in row][0::3][:2] for row in table.rows] == [
        ["mean", "+1 %"],
        ["memory, seen for 20 min", "+30 %"],
    ]
    assert drift_text(found.drifts[1], found.told_s).startswith("memory, seen for 20 min drifts: +30 % in an hour")
