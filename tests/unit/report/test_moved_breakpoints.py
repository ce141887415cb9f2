"""A design over growths says whether the breakpoint moves with the shards."""

from dataclasses import replace

from brimline.analysis.figure import Figure
from brimline.experiments.vary.order import RunOutcome, Vary, VaryTrial
from brimline.report.vary.breakpoints import MOVED, moved_section
from brimline.report.view import Text
from tests.unit.experiments.vary_simulator import settings_of

AT = {"standalone": 150e6, "client-routed-2": 300e6, "client-routed-4": 310e6}
SETTINGS = replace(
    settings_of(f"topology={','.join(AT)}", blocks=1, blocks_max=1), measure="grow", said={}, cell_s=60.0
)


def trials(*, failed: str = "") -> list[VaryTrial]:
    """Each growth once, its breakpoint known within a tenth."""
    machine, made = Vary(SETTINGS, 1), list[VaryTrial]()
    while (probe := machine.next_probe(made)) is not None:
        (topology,) = probe.levels
        found = Figure(key="import_break", value=AT[topology], low=0.9 * AT[topology], high=1.1 * AT[topology],
                       unit="records", label="Breakpoint of import rate", higher_is_better=True)  # fmt: skip
        trial = VaryTrial(probe=probe, figures={found.key: found.value}, measured={found.key: found}, took_s=60.0)
        if topology == failed:
            trial = replace(trial, figures={}, measured={}, outcome=RunOutcome.FAILED, reasons=("gone",))
        made.append(trial)
    return made


def told(made: list[VaryTrial]) -> list[str]:
    return [block.text for block in moved_section(made, SETTINGS).blocks if isinstance(block, Text)]


def test_twice_the_records_is_a_move_up() -> None:
    first, second = told(trials())
    assert "it moves up with topology client-routed-2, 2.0 times as many (95 % CI 1.7–2.3)" in first
    assert "150 000 000 records with topology standalone, 300 000 000 with topology client-routed-2." in first
    assert "it moves up with topology client-routed-4" in second


def test_a_growth_that_failed_says_nothing_of_the_others() -> None:
    (only,) = told(trials(failed="client-routed-4"))
    assert "client-routed-2" in only


def test_other_measures_have_no_such_section() -> None:
    section = moved_section(trials(), replace(SETTINGS, measure="capacity"))
    assert section.id == MOVED and section.blocks == []
