"""Owns what a growth experiment showed: figures for each volume, breakpoints, and what coincides with them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from brimline.analysis.growth.breakpoints import (
    ALPHA,
    Batch,
    Breakpoint,
    Volume,
    break_of,
    cache_holds,
    import_break,
    query_break,
)
from brimline.experiments.growth.order import Growth, GrowthEnd, GrowthSettings, GrowthTrial, IndexSet
from brimline.stats.multiple import holm
from brimline.wording import joined, message


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSetGrowth:
    """One index set: its volumes ascending, the break of its import and of its queries, fewest connections first."""

    indexes: IndexSet
    volumes: tuple[Volume, ...]
    import_break: Breakpoint
    query_breaks: tuple[Breakpoint, ...]
    stopped: str = ""
    cache_holds_records: float | None = None

    def data_bytes_at(self, records: float) -> int | None:
        """Size of so many documents, uncompressed as in the cache, between volumes in proportion; None: not known."""
        known = [(each.records, each.load.data_bytes) for each in self.volumes if each.load.data_bytes is not None]
        if not known:
            return None
        return round(float(np.interp(records, [count for count, _ in known], [size for _, size in known])))

    @property
    def cache_bytes(self) -> int | None:
        """Size of the server's cache; None where it isn't known."""
        return max(
            (size for each in self.volumes if (size := each.load.signals.cache_bytes_max) is not None), default=None
        )

    @property
    def breaks(self) -> tuple[Breakpoint, ...]:
        """All that was looked for, the queries first."""
        return (*self.query_breaks, self.import_break)

    @property
    def query_break(self) -> Breakpoint:
        """That of the fewest connections: there no query waits for another, which would hide what one takes."""
        return self.query_breaks[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthConclusion:
    """What the trials so far show."""

    ended_by: GrowthEnd
    sets: tuple[IndexSetGrowth, ...]

    @property
    def leading(self) -> tuple[IndexSetGrowth, Breakpoint] | None:
        """The break that comes first: of the queries before the import, of fewest connections, of the first index set.

        Where there is none, the first that was looked for; None where nothing was measured.
        """
        looked_for = [(growth, each) for growth in self.sets for each in growth.breaks]
        found = [(growth, each) for growth, each in looked_for if each.found]
        return next(iter(sorted(found, key=lambda pair: _precedence(pair[1])) or looked_for), None)

    @property
    def others(self) -> tuple[tuple[IndexSetGrowth, Breakpoint], ...]:
        """Beside the leading one all breaks, and of each index set what its import and its queries came to."""
        leading = self.leading
        return tuple(
            (growth, each)
            for growth in self.sets
            for each in growth.breaks
            if (each.found or each in (growth.query_break, growth.import_break))
            and (leading is None or each is not leading[1])
        )

    def named(self, growth: IndexSetGrowth, each: Breakpoint) -> str:
        """The finding in one line, with its index set where there are several."""
        if len(self.sets) == 1:
            return each.text
        return message("{indexes}: {finding}", indexes=growth.indexes.value, finding=each.text)

    @property
    def text(self) -> str:
        """The breakpoints in words."""
        leading = self.leading
        if leading is None:
            return "nothing was measured"
        return joined("; ", [self.named(*each) for each in (leading, *self.others)])


def _precedence(each: Breakpoint) -> tuple[bool, int]:
    return (each.connections == 0, each.connections)


def conclude(settings: GrowthSettings, trials: Sequence[GrowthTrial]) -> GrowthConclusion:
    """What the trials show; also of an experiment that was cut short."""
    machine = Growth(settings)
    sets = []
    for indexes in settings.indexes:
        of_set = [trial for trial in trials if trial.task.indexes is indexes]
        volumes = _volumes(of_set)
        if volumes:
            rule = machine.stopped_by(of_set)
            sets.append(_concluded(indexes, volumes, settings, stopped="" if rule is None else rule[1]))
    return GrowthConclusion(ended_by=machine.ended_by(trials), sets=_corrected(sets))


def _corrected(sets: Sequence[IndexSetGrowth]) -> tuple[IndexSetGrowth, ...]:
    """The sets with the breaks that hold up beside all others that were looked for."""
    looked_for = [each for growth in sets for each in growth.breaks if not each.result.too_few]
    adjusted = holm([each.result.p_value for each in looked_for])
    of = {id(each): p_value for each, p_value in zip(looked_for, adjusted, strict=True)}

    def corrected(each: Breakpoint) -> Breakpoint:
        p_value = of.get(id(each), 1.0)
        if each.found and p_value > ALPHA:
            return replace(each, result=break_of(each.volumes, each.values, each.connections, alpha=0.0), causes=(),
                           adjusted_p=p_value)  # fmt: skip
        return replace(each, adjusted_p=p_value)

    return tuple(
        replace(growth, import_break=corrected(growth.import_break),
                query_breaks=tuple(map(corrected, growth.query_breaks)))
        for growth in sets
    )  # fmt: skip


def _volumes(trials: Sequence[GrowthTrial]) -> list[Volume]:
    found = []
    for trial in trials:
        if trial.load is None:
            continue
        queries = tuple(
            Batch(connections=each.task.connections, queries=each.task.queries, figures=each.query)
            for each in trials
            if each.task.records == trial.task.records and each.query is not None
        )
        found.append(Volume(records=trial.task.records, load=trial.load, queries=queries))
    return found


def _concluded(
    indexes: IndexSet, volumes: Sequence[Volume], settings: GrowthSettings, *, stopped: str
) -> IndexSetGrowth:
    fewest, count = min(settings.connections), settings.repeats * len(settings.queries)
    return IndexSetGrowth(
        indexes=indexes,
        volumes=tuple(volumes),
        import_break=import_break(volumes),
        query_breaks=tuple(query_break(volumes, each, batch_count=count) for each in sorted(settings.connections)),
        stopped=stopped,
        cache_holds_records=cache_holds(volumes, fewest),
    )
