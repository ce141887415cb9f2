"""What a design over growths says first: whether a breakpoint moves, such as with the number of shards."""

from collections.abc import Sequence

from brimline.analysis.growth.moved import breaks_moved
from brimline.experiments.vary.conclusion import at_text
from brimline.experiments.vary.order import VarySettings, VaryTrial
from brimline.report.view import Section, Text
from brimline.wording import message

MOVED = "moved-breakpoints"


def moved_section(trials: Sequence[VaryTrial], settings: VarySettings) -> Section:
    """Each breakpoint of each combination against the first; empty of what is no growth."""
    last = {trial.probe.levels: trial for trial in trials if trial.counts} if settings.measure == "grow" else {}
    growths = [(at_text(settings.named(levels)), last[levels].measured)
               for levels in settings.combinations if levels in last]  # fmt: skip
    return Section(
        id=MOVED,
        title="Whether a breakpoint moves",
        short="Breakpoints",
        intro="Against the first combination, with the ratio of both positions and its interval; where none was found, "
        "it lies beyond the last volume.",
        blocks=[Text(text=message("{text}.", text=told)) for told in breaks_moved(growths)],
    )
