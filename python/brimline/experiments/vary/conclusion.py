"""Owns what a factor sweep shows: each combination, each factor's differences, each curve over the connections."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from brimline.analysis.compared_run import LoadKind, Metric, metrics
from brimline.analysis.factorial import Design, FactorRun, LevelDifference, Mean, differences, mean_of, stated_by_all
from brimline.analysis.judged_change import CLAIMS, ChangeVerdict
from brimline.analysis.knee import Band, Knee, Level, find_knee, recommended_band
from brimline.analysis.metrics import kind_of_all, metrics_among
from brimline.analysis.unlike_loads import UnlikeLoads
from brimline.experiments.settings import SweepSettings
from brimline.experiments.vary.factor_kinds import CLIENT, CONNECTIONS, WORKLOAD
from brimline.experiments.vary.factors import Factor
from brimline.experiments.vary.order import (
    COMPARED_KEYS,
    THROUGHPUT,
    Levels,
    RunOutcome,
    Vary,
    VaryEnd,
    VaryLoad,
    VarySettings,
    VaryTrial,
    main_key,
    narrow,
)
from brimline.units import format_count
from brimline.wording import Message, Verbatim, joined, message

COMBINATION = "combination"
"""What stands in place of a factor where combinations are listed."""
NAMED_MAX = 4
"""Differences that the headline names; more are a table."""
CURVE_LEVELS_MIN = 3
"""Numbers of connections below which nothing is said about where throughput stops rising."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One combination, or one load: means by metric key over the runs that count.

    `left_out` are the blocks that gave it no value, each with the reason, `spoilt` those that count and of which single
    figures are left out or only a bound; of loads those over too few connections, where there are no others.
    `main`: what the design is about, None where that isn't known, `precise`: it is known as well as was asked for.
    `run_count`: how many runs or loads count. `took_s`: how long each load took.
    """

    levels: Levels
    means: Mapping[str, Mean]
    left_out: tuple[str, ...]
    precise: bool
    run_count: int = 0
    main: Mean | None = None
    took_s: tuple[float, ...] = ()
    spoilt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Throughput over the connections at one combination of the other factors.

    `knee` and `band` are None where throughput rose up to the most connections, or too few were tried; see `reason`.
    """

    at: Mapping[str, str]
    cells: tuple[Cell, ...]
    best: Cell | None
    knee: Knee | None
    band: Band | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VaryConclusion:
    """All of it. `everywhere`: differences over all combinations of the other factors; `within`: at each of them.

    `metrics` are those that levels are compared in, `every_metric` all that the combinations have figures of. `costs`:
    by how much clients differ, over all combinations, in what an operation takes of time, processor and memory.
    `main`: what the design is about.
    """

    main: Metric
    ended_by: VaryEnd
    blocks: int
    metrics: tuple[Metric, ...]
    every_metric: tuple[Metric, ...]
    cells: tuple[Cell, ...]
    everywhere: tuple[LevelDifference, ...]
    within: tuple[LevelDifference, ...]
    curves: tuple[Curve, ...]
    loads: tuple[Cell, ...]
    load_metrics: tuple[Metric, ...]
    load_differences: tuple[LevelDifference, ...]
    load_factors: tuple[Factor, ...]
    text: str
    costs: tuple[LevelDifference, ...] = ()

    @property
    def main_differences(self) -> tuple[LevelDifference, ...]:
        """Every difference of it that a table shows, that of loading among them."""
        return tuple(each for each in (*self.everywhere, *self.within, *self.load_differences)
                     if each.metric.key == self.main.key)  # fmt: skip

    @property
    def claims(self) -> tuple[LevelDifference, ...]:
        """Those of them that are shown."""
        return tuple(each for each in self.main_differences if each.verdict in CLAIMS)


def conclude_vary(
    settings: VarySettings, trials: Sequence[VaryTrial], loads: Sequence[VaryLoad], *, seed: int
) -> VaryConclusion:
    """What the runs and loads so far show; also of a design that was broken off."""
    kinds = _kinds(trials)
    runs = stated_by_all([FactorRun(levels=each.probe.levels, block=each.probe.block, figures=each.figures,
                                    ends={key: (figure.low, figure.high) for key, figure in each.measured.items()})
                          for each in trials if each.counts])  # fmt: skip
    kind = "" if settings.is_nested else _kind(trials)
    everywhere, within = _differences(settings, runs, kinds, kind)
    loading = _load_differences(settings, loads)
    every = kinds if settings.is_nested else metrics_among([run.figures for run in runs], _kind(trials))
    main = next(each for each in kinds if each.key == main_key(trials))
    cells = tuple(_cell(settings, levels, trials, runs, every, main) for levels in settings.combinations)
    is_curve = not settings.measure and not settings.listed
    return VaryConclusion(
        main=main,
        ended_by=Vary(settings, seed).ended_by(trials),
        blocks=max((each.probe.block for each in trials), default=0),
        metrics=kinds,
        every_metric=every,
        cells=cells,
        everywhere=everywhere,
        within=within,
        curves=tuple(_curves(settings, cells, trials, seed)) if is_curve else (),
        loads=tuple(_load_cells(settings, loads)),
        load_metrics=_metrics("load"),
        load_differences=loading,
        load_factors=load_factors(settings, loads),
        text=_text(cells, main, everywhere, within, loading) if runs else "no run counts",
        costs=_costs(settings, runs, every),
    )


LOAD_FACTORS = {
    "closed loop": ("connections", "in-flight", "think-time", "tlr-threads", "loops", "ramp-up"),
    "open loop": ("rate",),
}
"""By kind of run the factors that set its load: what follows from it is no verdict."""


def _differences(
    settings: VarySettings, runs: Sequence[FactorRun], kinds: Sequence[Metric], kind: str
) -> tuple[tuple[LevelDifference, ...], tuple[LevelDifference, ...]]:
    """Over all combinations of the other factors, and at each of them; of listed ones each from the first of all."""
    if settings.listed:
        texts = {levels: combination_text(settings, levels) for levels in settings.listed}
        named = [replace(run, levels=(texts[run.levels],)) for run in runs]
        return differences(named, {COMBINATION: tuple(texts.values())}, kinds, margin=settings.margin), ()
    design = {factor.name: factor.levels for factor in settings.factors}
    strata = _strata(design)
    others = {name for name in design if name not in strata and (settings.is_nested or name != CONNECTIONS)}
    load = UnlikeLoads(differences=(), closed=kind == "closed loop")

    def follows(factor: str, metric: Metric) -> bool:
        return factor in LOAD_FACTORS.get(kind, ()) and not load.judges(metric)

    everywhere = differences(runs, design, kinds, margin=settings.margin, strata=strata, follows=follows)
    crossed = len(design) - len(strata) > 1
    within = (
        differences(runs, design, kinds, margin=settings.margin, strata=strata, within=True, follows=follows)
        if crossed
        else ()
    )
    return everywhere, tuple(each for each in within if each.factor in others)


def _strata(design: Design) -> tuple[str, ...]:
    """The factors that nothing is averaged over."""
    return (WORKLOAD,) if WORKLOAD in design else ()


def cost_metrics(every: Sequence[Metric]) -> tuple[Metric, ...]:
    """Those of `every` that clients are compared in beside throughput and percentiles."""
    names = ("server_connections", "connections", "client_cpu", "server_cpu", "driver_memory")
    by_key = {each.key: each for each in every}
    return (
        *(each for each in every if each.operation is not None and each.key.endswith(".mean")),
        *(by_key[name] for name in names if name in by_key),
    )


def _costs(settings: VarySettings, runs: Sequence[FactorRun], every: Sequence[Metric]) -> tuple[LevelDifference, ...]:
    """Of each client against the first. How many connections are good nobody says: they are not judged."""
    design = {factor.name: factor.levels for factor in settings.factors}
    if CLIENT not in design or settings.listed or settings.is_nested:
        return ()
    found = differences(
        runs,
        design,
        cost_metrics(every),
        margin=settings.margin,
        strata=_strata(design),
        follows=lambda _, metric: metric.unit == "connections",
    )
    return tuple(each for each in found if each.factor == CLIENT)


def combination_text(settings: VarySettings, levels: Levels) -> str:
    """`connections 8, records 1M`, as it stands in tables."""
    return ", ".join(f"{name} {level}" for name, level in settings.named(levels).items())


def _kinds(trials: Sequence[VaryTrial]) -> tuple[Metric, ...]:
    """The metrics of the runs, or of the measure that was made in their place."""
    found: dict[str, Metric] = {}
    for figure in (each for trial in trials for each in trial.measured.values()):
        metric = Metric(key=figure.key, label=figure.label, unit=figure.unit, decides=not found,
                        higher_is_better=figure.higher_is_better,
                        document_key=f"{figure.key}_{figure.unit.replace('/', '_per_')}")  # fmt: skip
        found.setdefault(figure.key, metric)
    return tuple(found.values()) or _metrics(_kind(trials))


def _kind(trials: Sequence[VaryTrial]) -> LoadKind:
    """What the figures of the runs are figures of."""
    return kind_of_all(each.kind for each in trials)


def _metrics(kind: LoadKind) -> tuple[Metric, ...]:
    return tuple(each for each in metrics(kind) if each.key in COMPARED_KEYS)


def _cell(
    settings: VarySettings,
    levels: Levels,
    trials: Sequence[VaryTrial],
    runs: Sequence[FactorRun],
    kinds: Sequence[Metric],
    main: Metric,
) -> Cell:
    own = [run for run in runs if run.levels == levels]
    made = [trial for trial in trials if trial.probe.levels == levels and trial.ended_by == "completed"]
    counting = {run.block for run in own}
    last = {trial.probe.block: trial for trial in made if trial.probe.block not in counting}
    means = {each.key: mean for each in kinds if (mean := mean_of(own, each)) is not None}
    return Cell(
        levels=levels,
        means=means,
        main=means.get(main.key),
        run_count=len(own),
        left_out=tuple(
            message(
                "block {block}, {outcome}: {reason}",
                block=format_count(block),
                outcome=trial.outcome.value.replace("_", " "),
                reason=joined("; ", trial.reasons),
            )
            for block, trial in sorted(last.items())
        ),
        spoilt=tuple(
            message("block {block}: {reason}", block=format_count(each.probe.block), reason=joined("; ", each.reasons))
            for each in made
            if each.outcome is RunOutcome.COUNTS and each.reasons
        ),
        precise=settings.is_narrow([trial for trial in made if trial.counts], main.key),
    )


def _curves(settings: VarySettings, cells: Sequence[Cell], trials: Sequence[VaryTrial], seed: int) -> Iterator[Curve]:
    """One for each combination of the factors beside the connections; none where these aren't varied."""
    names = [factor.name for factor in settings.factors]
    if CONNECTIONS not in names:
        return
    place = names.index(CONNECTIONS)
    rests = dict.fromkeys(levels[:place] + levels[place + 1 :] for levels in settings.combinations)
    for rest in rests:
        own = sorted(
            (cell for cell in cells if cell.levels[:place] + cell.levels[place + 1 :] == rest),
            key=lambda cell: int(cell.levels[place]),
        )
        at = dict(zip([name for name in names if name != CONNECTIONS], rest, strict=True))
        yield _curve(at, own, place, trials, seed)


def _curve(at: Mapping[str, str], cells: Sequence[Cell], place: int, trials: Sequence[VaryTrial], seed: int) -> Curve:
    known = [(cell, mean.value) for cell in cells if (mean := cell.means.get(THROUGHPUT)) is not None]
    best = max(known, key=lambda each: each[1], default=(None, 0.0))[0]
    reason = _no_plateau([value for _, value in known], cells)
    knee = band = None
    if not reason:
        levels = [_level(cell, int(cell.levels[place]), value, trials) for cell, value in known]
        knee = find_knee(levels, seed=seed)
        band = None if knee is None else recommended_band(levels, knee)
    return Curve(at=at, cells=tuple(cells), best=best, knee=knee, band=band, reason=reason)


def _no_plateau(values: Sequence[float], cells: Sequence[Cell]) -> str:
    """Why nothing is said of the best number of connections; "" where throughput stopped rising."""
    if len(cells) < CURVE_LEVELS_MIN:
        return message(
            "too few to tell: fewer than {count} numbers of connections were measured",
            count=format_count(CURVE_LEVELS_MIN),
        )
    if len(values) < len(cells):
        return "not every number of connections has a run that counts"
    if values[-1] > (1 + SweepSettings().gain_min) * max(values[:-1]):
        return "throughput still rises at the most connections"
    return ""


def _level(cell: Cell, connections: int, throughput: float, trials: Sequence[VaryTrial]) -> Level:
    p99 = cell.means.get("p99")
    return Level(
        connections=connections,
        runs=[
            trial.observation
            for trial in trials
            if trial.probe.levels == cell.levels and trial.counts and trial.observation is not None
        ],
        throughput_ops_per_s=throughput,
        service_p99_ns=None if p99 is None else round(p99.value),
        usable=not cell.left_out,
    )


def _load_cells(settings: VarySettings, loads: Sequence[VaryLoad]) -> Iterator[Cell]:
    kinds, factors = _metrics("load"), load_factors(settings, loads)
    every = (settings.named(each) for each in settings.combinations)
    for levels in dict.fromkeys(tuple(named[factor.name] for factor in factors) for named in every):
        own = [each for each in loads if load_levels(each, settings, factors) == levels]
        known = [each for each in own if each.figures]
        counting = [each for each in known if each.fewer_connections is None] or known
        runs = stated_by_all([FactorRun(levels=levels, block=each.block, figures=each.figures) for each in counting])
        if own:
            yield Cell(
                levels=levels,
                run_count=len(counting),
                means={each.key: mean for each in kinds if (mean := mean_of(runs, each)) is not None},
                left_out=tuple(_load_text(each) for each in own if each not in counting),
                spoilt=tuple(_load_text(each) for each in counting if each.fewer_connections is not None),
                precise=narrow([run.figures[THROUGHPUT] for run in runs], settings.precision),
                took_s=tuple(each.took_s for each in counting if each.took_s is not None),
            )


def _load_text(load: VaryLoad) -> Message:
    """Why a load is left out, or in no difference."""
    block = format_count(load.block)
    if load.fewer_connections is None or not load.figures:
        return message("block {block}: {reason}", block=block, reason=joined("; ", load.reasons))
    connections, wanted = map(format_count, load.fewer_connections)
    return message("block {block}: over {connections} of {wanted} connections, and so in no difference",
                   block=block, connections=connections, wanted=wanted)  # fmt: skip


def _load_differences(settings: VarySettings, loads: Sequence[VaryLoad]) -> tuple[LevelDifference, ...]:
    """Of loads over all of their connections: with fewer it would be these that are compared, and not the levels."""
    factors = load_factors(settings, loads)
    design = {factor.name: factor.levels for factor in factors}
    if not design:
        return ()
    runs = [FactorRun(levels=load_levels(each, settings, factors), block=each.block, figures=each.figures)
            for each in loads if each.figures and each.fewer_connections is None]  # fmt: skip
    return differences(runs, design, _metrics("load")[:1], margin=settings.margin, strata=_strata(design))


def load_factors(settings: VarySettings, loads: Sequence[VaryLoad]) -> tuple[Factor, ...]:
    """The factors that make a load another one: those of the data and the server, and those of how all were loaded."""

    def is_known(name: str) -> bool:
        return bool(loads) and all(name in each.loaded_with for each in loads)

    return tuple(each for each in settings.factors if each.name in settings.loads or is_known(each.name))


def load_levels(load: VaryLoad, settings: VarySettings, factors: Sequence[Factor]) -> Levels:
    """The levels of a load in each of `factors` (`load_factors`)."""
    names = [factor.name for factor in settings.factors if factor.name in settings.loads]
    own = {**dict(zip(names, load.levels, strict=True)), **load.loaded_with}
    return tuple(own[factor.name] for factor in factors)


def at_text(at: Mapping[str, str]) -> str:
    """`workload ycsb-a, connections 8`; "" where nothing is fixed."""
    return joined(", ", [message("{factor} {level}", factor=name, level=Verbatim(level)) for name, level in at.items()])


def difference_name(each: LevelDifference) -> Message:
    """`server-version 6.0 against 4.4, workload ycsb-a`."""
    level, base = Verbatim(each.level), Verbatim(each.base)
    name = message("{factor} {level} against {base}", factor=each.factor, level=level, base=base)
    return joined(", ", [name, at_text(each.at)]) if each.at else name


def _text(
    cells: Sequence[Cell],
    main: Metric,
    everywhere: Sequence[LevelDifference],
    within: Sequence[LevelDifference],
    loading: Sequence[LevelDifference],
) -> str:
    """The differences that the tables show, in words: of what the design is about first."""
    if not (everywhere or within or loading):
        known = sum(cell.run_count > 0 for cell in cells)
        if known < len(cells):
            return message("{count} of {all} combinations measured",
                           count=format_count(known), all=format_count(len(cells)))  # fmt: skip
        return message("{count} combinations measured", count=format_count(known))
    told = [*_told(everywhere), *_told(loading, loading=True)]
    told += [each for each in _told(within) if not _implied(each, everywhere)]
    of_main = [each for each in told if each.of.metric.key == main.key]
    of_others = [each for each in told if each.of.metric.key != main.key]
    words = [each.words for each in (*of_main, *of_others)]
    if not of_main:
        words.insert(0, _no_difference(main, [*everywhere, *within, *loading]))
    if len(words) > NAMED_MAX:
        more = message("{count} more differences are in the tables", count=format_count(len(words) - NAMED_MAX))
        words = [*words[:NAMED_MAX], more]
    return joined("; ", words)


@dataclass(frozen=True, slots=True)
class _Told:
    """A difference that is shown, and how it is said."""

    of: LevelDifference
    words: str


def _told(found: Sequence[LevelDifference], *, loading: bool = False) -> list[_Told]:
    shown = [each for each in found if each.verdict in CLAIMS]
    return [_Told(each, _words(each, loading=loading)) for each in sorted(shown, key=_smallness)]


def _smallness(each: LevelDifference) -> float:
    """The largest first."""
    return 0.0 if each.change is None else -abs(math.log1p(each.change.value))


def _words(each: LevelDifference, *, loading: bool) -> str:
    higher, what = each.b > each.a, difference_name(each)
    if loading:
        return message("loading is faster with {what}" if higher else "loading is slower with {what}", what=what)
    if each.metric.key == "throughput":
        return message("throughput is higher with {what}" if higher else "throughput is lower with {what}", what=what)
    if each.metric.unit == "ns":
        return message("{metric} is longer with {what}" if higher else "{metric} is shorter with {what}",
                       metric=each.metric.label, what=what)  # fmt: skip
    return message("{metric} is higher with {what}" if higher else "{metric} is lower with {what}",
                   metric=each.metric.label, what=what)  # fmt: skip


def _implied(told: _Told, everywhere: Sequence[LevelDifference]) -> bool:
    """Whether the same is shown over all combinations, so that one of them adds nothing."""
    own = told.of
    return any(
        (each.factor, each.level, each.metric.key, each.verdict) == (own.factor, own.level, own.metric.key, own.verdict)
        and each.at.items() <= own.at.items()
        for each in everywhere
    )


def _no_difference(main: Metric, found: Sequence[LevelDifference]) -> str:
    of_main = [each for each in found if each.metric.key == main.key]
    equal = bool(of_main) and all(each.verdict is ChangeVerdict.EQUIVALENT for each in of_main)
    if main.key == THROUGHPUT:
        return (
            "every difference of throughput is surely too small to matter"
            if equal
            else "no difference of throughput is shown"
        )
    return message("{metric}: every difference is surely too small to matter" if equal else
                   "{metric}: no difference is shown", metric=main.label)  # fmt: skip
