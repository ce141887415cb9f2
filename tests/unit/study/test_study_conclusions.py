"""What weighs against figures is said beside them, the worst first."""

from types import SimpleNamespace

from brimline.report.view import Badge, Verdict
from brimline.study.document.conclusions import _reservations


def reservations(*badges: Badge) -> str:
    verdict = Verdict(tone="fail", caption="", figure="", unit="", interval="", sentence="", badges=badges)
    return str(_reservations(SimpleNamespace(report=SimpleNamespace(verdict=verdict), missing="")))  # type: ignore[arg-type]


def test_the_worst_is_a_reservation_too() -> None:
    found = reservations(
        Badge(text="noisy", tone="warn"),
        Badge(text="fine", tone="pass"),
        Badge(text="invalid", tone="fail"),
        Badge(text="seen", tone="muted"),
    )
    assert found == "invalid; noisy"


def test_without_any_there_is_no_reservation() -> None:
    assert reservations(Badge(text="fine", tone="pass")) == ""
