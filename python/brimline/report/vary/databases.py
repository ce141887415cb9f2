"""Owns what is said of a factor sweep over several databases: whether they keep writes alike, and what they take."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from brimline.analysis.compared_run import SERVER_CPU
from brimline.analysis.durability import is_equal
from brimline.experiments.vary.factor_kinds import PROTOCOL, SERVER
from brimline.experiments.vary.order import VarySettings, VaryTrial
from brimline.report.view import Block, Cell, Column, Section, Table, Text
from brimline.spec.own.protocols import STEPS
from brimline.spec.target import protocol_of_uri
from brimline.units import UNKNOWN_TEXT, format_bytes, format_duration
from brimline.wording import Verbatim, joined, message

_WITH_FIGURES = frozenset({"level-differences", "best-connections", "combinations", "loading"})
_KEPT = {
    True: "on disk before it is acknowledged",
    False: "acknowledged before it is on disk",
    None: "not known",
}


def compares_databases(settings: VarySettings) -> bool:
    """Whether other databases are what is varied: not services, of which nobody knows what they keep."""
    return any(
        factor.name == PROTOCOL
        or (factor.name == SERVER and all(STEPS[protocol_of_uri(each)].has_records for each in factor.levels))
        for factor in settings.factors
    )


def durability_remark(settings: VarySettings, trials: Sequence[VaryTrial]) -> str:
    """Why figures of several databases don't compare, for the foot of every table; "" where they keep writes alike."""
    if not compares_databases(settings) or not trials or is_equal(trial.durability for trial in trials):
        return ""
    each = joined("; ", _each(settings, trials))
    if any(trial.durability.on_disk is None for trial in trials):
        return message("Whether durability is equal is not known: {each}.", each=each)
    return message("Durability differs: {each}.", each=each)


def remarked(section: Section, remark: str) -> Section:
    """A section with `remark` at the foot of each table of figures."""
    if not remark or section.id not in _WITH_FIGURES:
        return section
    blocks = [
        replace(block, caption=joined(" ", [remark, *([block.caption] if block.caption else [])]))
        if isinstance(block, Table)
        else block
        for block in section.blocks
    ]
    return replace(section, blocks=blocks)


def database_blocks(settings: VarySettings, trials: Sequence[VaryTrial]) -> list[Block]:
    """Durability of each, size on disk, and CPU per operation; nothing of a sweep on one database."""
    if not compares_databases(settings) or not trials:
        return []
    remark = durability_remark(settings, trials)
    alike = message("Durability is equal: every write is {kept}.", kept=_KEPT[trials[0].durability.on_disk])
    table = Table(
        columns=[
            Column(label=_factor(settings), numeric=False, leading=True),
            Column(label="Server", numeric=False),
            Column(label="A write is", numeric=False),
            Column(label="By its settings", numeric=False),
            Column(label="Size on disk"),
            Column(label=SERVER_CPU.label),
        ],
        rows=[_row(level, own) for level, own in _by_level(settings, trials).items()],
        caption="Size: of the data and its indexes after the last run. CPU: mean over the runs that count, where the "
        "server runs on this machine.",
    )
    return [Text(text=remark, tone="warn") if remark else Text(text=alike), table]


def _row(level: str, own: Sequence[VaryTrial]) -> list[Cell]:
    last = own[-1]
    cpu = [trial.figures[SERVER_CPU.key] for trial in own if trial.counts and SERVER_CPU.key in trial.figures]
    return [
        Cell(text=Verbatim(level)),
        Cell(text=Verbatim(f"{last.engine} {last.server_version}".strip())),
        Cell(text=_KEPT[last.durability.on_disk], tone="" if last.durability.on_disk else "warn"),
        Cell(text=Verbatim(last.durability.words) or UNKNOWN_TEXT),
        Cell(text=UNKNOWN_TEXT if last.size_bytes is None else format_bytes(last.size_bytes)),
        Cell(text=format_duration(fmean(cpu)) if cpu else UNKNOWN_TEXT),
    ]


def _each(settings: VarySettings, trials: Sequence[VaryTrial]) -> list[str]:
    return [
        message(
            "{level}: {kept} ({settings})",
            level=Verbatim(level),
            kept=_KEPT[own[-1].durability.on_disk],
            settings=Verbatim(own[-1].durability.words or UNKNOWN_TEXT),
        )
        for level, own in _by_level(settings, trials).items()
    ]


def _factor(settings: VarySettings) -> str:
    return next(factor.name for factor in settings.factors if factor.name in (PROTOCOL, SERVER))


def _by_level(settings: VarySettings, trials: Sequence[VaryTrial]) -> dict[str, list[VaryTrial]]:
    """The trials of each level that has any, in the order in which the levels were given."""
    name = _factor(settings)
    levels = next(factor.levels for factor in settings.factors if factor.name == name)
    own = {level: [trial for trial in trials if settings.named(trial.probe.levels)[name] == level] for level in levels}
    return {level: those for level, those in own.items() if those}
