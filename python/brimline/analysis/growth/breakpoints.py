"""Owns breaks over the volume: volumes with what was measured at each, and the series of it that are looked at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from brimline.analysis.growth.cause import Cause, coincident_causes
from brimline.analysis.growth.figures import LoadFigures, QueryFigures, Signals
from brimline.analysis.growth.speed import IMPORT_TIME_MIN_S, at_typical_speed, import_course
from brimline.plan.pacing import connections_text
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


def break_of(volumes: Sequence[int], values: Sequence[float], connections: int, *, alpha: float = ALPHA) -> Segmented:
    """The break of one series before it is held against the others: a rate breaks downwards, a time upwards."""
    direction = Direction.RISE if connections else Direction.FALL
    return find_break(volumes, values, unit=RECORDS, direction=direction, alpha=alpha)


def import_break(volumes: Sequence[Volume]) -> Breakpoint:
    """The break of the import."""
    course = import_course([(each.records, each.load) for each in volumes])
    result = break_of([records for records, _ in course], [rate for _, rate in course], 0)
    signals = [(each.records, each.load.signals) for each in volumes]
    return Breakpoint(
        name="import rate",
        connections=0,
        volumes=tuple(records for records, _ in course),
        values=tuple(rate for _, rate in course),
        result=result,
        causes=_causes(result, volumes, signals, importing=True),
    )


def query_break(volumes: Sequence[Volume], connections: int, *, batch_count: int) -> Breakpoint:
    """The break of queries over so many connections, which are asked in so many batches at each volume."""
    # Of a volume whose batches were cut short, the least disturbed one is likelier to be a disturbed one.
    whole = [
        volume for volume in volumes if sum(each.connections == connections for each in volume.queries) == batch_count
    ]
    adjusted = at_typical_speed([each.batches(connections) for each in whole])
    times = [
        (each.records, min(batch_times), each) for each, batch_times in zip(whole, adjusted, strict=True) if batch_times
    ]
    result = break_of([records for records, _, _ in times], [time_ns for _, time_ns, _ in times], connections)
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
