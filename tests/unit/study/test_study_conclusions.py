"""What weighs against figures is said beside them, the worst first."""

from collections.abc import Sequence
from types import SimpleNamespace

from brimline.report.language import said_in
from brimline.report.view import Badge, Verdict
from brimline.study.document.conclusions import _reservations
from brimline.wording import message


def reservations(*badges: Badge, missing: str = "", reasons: Sequence[str] = ()) -> str:
    verdict = Verdict(tone="fail", caption="", figure="", unit="", interval="", sentence="", badges=badges)
    made = SimpleNamespace(report=SimpleNamespace(verdict=verdict), missing=missing, reasons=reasons)
    return _reservations(made)  # type: ignore[arg-type]


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


def test_why_a_result_is_not_good_enough_is_said_in_the_documents_language() -> None:
    told = "the objective was missed: the run went to its planned end"
    reason = message("the run went to its planned end")
    said = reservations(missing=told, reasons=[reason])
    assert said == "the run went to its planned end"
    assert said_in("zh", said) == said_in("zh", reason) != reason


def test_an_error_without_a_result_is_told_as_it_was() -> None:
    assert reservations(missing="there is no server") == "there is no server"
