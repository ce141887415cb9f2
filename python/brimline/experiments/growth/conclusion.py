"""Owns what a growth experiment showed: figures for each volume, breakpoints, and what coincides with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from brimline.experiments.growth.cause import Cause, coincident_causes
from brimline.experiments.growth.figures import LoadFigures, QueryFigures, Signals
from brimline.experiments.growth.order import (
    Growth,
    GrowthEnd,
    GrowthSettings,
    GrowthTrial,
    IndexSet,
)
from brimline.experiments.growth.speed import IMPORT_TIME_MIN_S, at_typical_speed, import_course
from brimline.plan.pacing import connections_text
from brimline.stats.multiple import holm
from brimline.stats.segmented import RATIO_MIN, Direction, Segmented, find_break
from brimline.units import NS_PER_S, format_count, format_duration, format_number, format_percentage
from brimline.wording import joined, message

RECORDS = "records"
ALPHA = 0.05
"""Chance of any break in an experiment that has none: of the import and of the queries of all index sets, by Holm."""
TELLING_VOLUMES = 3
MISS_SHARE_MIN = 0.05
"""Misses per query below which chance says more than the cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """So many queries over so many connections, as they were asked for, and what they showed."""

    connections: int
    queries: int
    figures: QueryFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One volume of one index set: its load, and its batches, each as often as it was repeated."""

    records: int
    load: LoadFigures
    queries: tuple[Batch, ...]

    def batches(self, connections: int, queries: int | None = None) -> list[QueryFigures]:
        """The batches over so many connections, of so many queries or of any number, that show something."""
        return [
            each.figures
            for each in self.queries
            if each.connections == connections and queries in (None, each.queries) and not each.figures.problem
        ]

    def time_ns(self, connections: int, queries: int | None = None) -> float | None:
        """Time per query: of the batches the one that was disturbed least, as whatever disturbs only adds to it."""
        return min((each.time_ns for each in self.batches(connections, queries)), default=None)

    def service_ns(self, connections: int, queries: int | None = None) -> float | None:
        """The same as the client saw it."""
        return min((each.service_mean_ns for each in self.batches(connections, queries)), default=None)

    def query_signal(self, connections: int, of: Callable[[Signals], float | None]) -> float | None:
        """A signal while queries ran, the median of the batches."""
        seen = [value for each in self.batches(connections) if (value := of(each.signals)) is not None]
        return median(seen) if seen else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakpoint:
    """What a series over the volume shows: a break with what coincides with it, or none. `connections` 0: the import.

    `values` are those that were looked at, one for each of `volumes`; of the import documents/s, else ns. `adjusted_p`:
    Holm's, over all breaks that the experiment looks for.
    """

    name: str
    connections: int
    volumes: tuple[int, ...]
    values: tuple[float, ...]
    result: Segmented
    causes: tuple[Cause, ...] = ()
    adjusted_p: float = 1.0

    @property
    def found(self) -> bool:
        """Whether there is a break."""
        return self.result.found is not None

    @property
    def cause_text(self) -> str:
        """What coincides, "undetermined" when nothing does."""
        return joined("; ", [cause.text for cause in self.causes]) if self.causes else "undetermined"

    @property
    def text(self) -> str:
        """The finding in one line."""
        if self.result.too_few and not self.connections:
            return message(
                "{name}: too few stretches of {time} of importing to look for a breakpoint; larger steps make more",
                name=self.name,
                time=format_duration(IMPORT_TIME_MIN_S * NS_PER_S),
            )
        if self.result.too_few:
            return message("{name}: too few volumes to look for a breakpoint", name=self.name)
        if self.result.found is None:
            return message(
                "{name}: none found up to {volume} records; looked for {share} off its course there, beyond chance",
                name=self.name,
                volume=format_count(round(self.result.volumes[-1])),
                share=format_percentage(RATIO_MIN - 1),
            )
        return message(
            "{name}: at {position}; {change} at the last volume",
            name=self.name,
            position=self.result.found.position.text,
            change=self.change_text,
        )

    @property
    def change_text(self) -> str:
        """How far the figure is off the course before: "1.8 times as much"."""
        if self.result.found is None:
            return "unchanged"
        return message("{ratio} times the course before", ratio=format_number(self.result.found.ratio))


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
            return replace(each, result=_result(each.volumes, each.values, each.connections, alpha=0.0), causes=(),
                           adjusted_p=p_value)  # fmt: skip
        return replace(each, adjusted_p=p_value)

    return tuple(
        replace(growth, import_break=corrected(growth.import_break),
                query_breaks=tuple(map(corrected, growth.query_breaks)))
        for growth in sets
    )  # fmt: skip


def _result(volumes: Sequence[int], values: Sequence[float], connections: int, *, alpha: float = ALPHA) -> Segmented:
    """The break of one series before it is held against the others: a rate breaks downwards, a time upwards."""
    direction = Direction.RISE if connections else Direction.FALL
    return find_break(volumes, values, unit=RECORDS, direction=direction, alpha=alpha)


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
    fewest = min(settings.connections)
    return IndexSetGrowth(
        indexes=indexes,
        volumes=tuple(volumes),
        import_break=_import_break(volumes),
        query_breaks=tuple(_query_break(volumes, each, settings) for each in sorted(settings.connections)),
        stopped=stopped,
        cache_holds_records=cache_holds(volumes, fewest),
    )


def _import_break(volumes: Sequence[Volume]) -> Breakpoint:
    course = import_course([(each.records, each.load) for each in volumes])
    result = _result([records for records, _ in course], [rate for _, rate in course], 0)
    signals = [(each.records, each.load.signals) for each in volumes]
    return Breakpoint(
        name="import rate",
        connections=0,
        volumes=tuple(records for records, _ in course),
        values=tuple(rate for _, rate in course),
        result=result,
        causes=_causes(result, volumes, signals, importing=True),
    )


def _query_break(volumes: Sequence[Volume], connections: int, settings: GrowthSettings) -> Breakpoint:
    # Of a volume whose batches were cut short, the least disturbed one is likelier to be a disturbed one.
    count = settings.repeats * len(settings.queries)
    whole = [volume for volume in volumes if sum(each.connections == connections for each in volume.queries) == count]
    adjusted = at_typical_speed([each.batches(connections) for each in whole])
    times = [
        (each.records, min(batch_times), each) for each, batch_times in zip(whole, adjusted, strict=True) if batch_times
    ]
    result = _result([records for records, _, _ in times], [time_ns for _, time_ns, _ in times], connections)
    signals = [(each.records, _typical(each, connections)) for _, _, each in times]
    return Breakpoint(
        name=message("time per query over {connections}", connections=connections_text(connections)),
        connections=connections,
        volumes=tuple(records for records, _, _ in times),
        values=tuple(time_ns for _, time_ns, _ in times),
        result=result,
        causes=_causes(result, volumes, signals, importing=False),
    )


def _causes(
    result: Segmented, volumes: Sequence[Volume], signals: Sequence[tuple[int, Signals]], *, importing: bool
) -> tuple[Cause, ...]:
    if result.found is None:
        return ()
    index_bytes = [(each.records, each.load.index_bytes) for each in volumes]
    return coincident_causes(result.found.position, signals, index_bytes=index_bytes, importing=importing)


def _typical(volume: Volume, connections: int) -> Signals:
    """Each signal's median over the batches."""
    return Signals(
        cache_pages_read=volume.query_signal(connections, lambda each: each.cache_pages_read),
        evictions_by_application=volume.query_signal(connections, lambda each: each.evictions_by_application),
        eviction_time_ns=volume.query_signal(connections, lambda each: each.eviction_time_ns),
        cache_fill=volume.query_signal(connections, lambda each: each.cache_fill),
        cache_bytes_max=volume.load.signals.cache_bytes_max,
        checkpoint_share=volume.query_signal(connections, lambda each: each.checkpoint_share),
        disk_busy_share=volume.query_signal(connections, lambda each: each.disk_busy_share),
        server_cpu_ns=volume.query_signal(connections, lambda each: each.server_cpu_ns),
    )


def cache_holds(volumes: Sequence[Volume], connections: int) -> float | None:
    """How many records the cache holds by what its misses say; None where it never missed much.

    With uniform keys and a cache that holds H of V records, a query misses with probability 1 - H/V, so that each
    volume past H tells H; the first ones are taken, as the index takes more and more of the cache. It knows nothing of
    how long a query took, so that it can vouch for the breakpoint.
    """
    told = []
    for volume in volumes:
        misses = volume.query_signal(connections, lambda each: each.cache_pages_read)
        if misses is not None and MISS_SHARE_MIN < misses < 1:
            told.append(volume.records * (1 - misses))
    return median(told[:TELLING_VOLUMES]) if told else None
