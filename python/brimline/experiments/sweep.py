"""Owns the closed-loop sweep: throughput over connections, its plateau and its knee."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from brimline.analysis.bottleneck import Bottleneck, BottleneckKind, bottleneck, generator_limits
from brimline.analysis.finding import Standing
from brimline.analysis.knee import REPEATS_MIN, Band, Knee, Level, find_knee, recommended_band
from brimline.analysis.metrics import Known, closed_kind, figures_over
from brimline.analysis.observation import Observation
from brimline.execution import SoFar
from brimline.experiments.cost import sweep_time
from brimline.experiments.settings import SweepSettings
from brimline.experiments.trial import Probe, Trial, broken_off, lacking, of_stage, put_back_each_s, spent_s
from brimline.plan.pacing import connections_text
from brimline.record.layout import TARGET_LOST
from brimline.stats.batch_means import mean_interval
from brimline.stats.estimate import Estimate
from brimline.units import format_percentage, format_rate
from brimline.wording import joined, message

ERROR_RATE_STOP = 0.05
"""More connections are not tried when this share of the operations fails."""
CEILING_TEXT = "generator's ceiling (encode and record, without sockets)"
"""What the throughput of the null target is."""


class SweepEnd(StrEnum):
    """Why no further level was tried; `client_limited`, `invalid`, `disturbed`: why those that were prove nothing.

    `connections_not_had`: the next level could not have all of its connections. `disturbed`: where throughput stopped
    rising, other programs had filled the server's host. `exceeded`: a later run of the same search did clearly more.
    """

    PLATEAU = "plateau"
    CONNECTIONS_MAX = "connections_max"
    CONNECTIONS_NOT_HAD = "connections_not_had"
    ERRORS = "errors"
    CLIENT_LIMITED = "client_limited"
    INVALID = "invalid"
    DISTURBED = "disturbed"
    EXCEEDED = "exceeded"
    BROKEN_OFF = "broken_off"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepLevel:
    """One number of connections: mean throughput of its repeats, and their worst service time quantiles.

    `problems` say why the level shows nothing of the target: failed checks, or a generator that was the limit.
    `figures` are all that its repeats have, by metric key: of all operations, and of each.
    """

    connections: int
    throughput_ops_per_s: float
    service_p50_ns: int | None
    service_p99_ns: int | None
    error_rate: float
    trial_count: int
    problems: tuple[str, ...] = ()
    figures: Mapping[str, Known] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepConclusion:
    """What a sweep showed. Without a plateau there is neither a saturation throughput nor a knee.

    `saturation_ops_per_s` is the highest mean of a level; `saturation` has its interval where that level ran at least
    3 times. `generator_ceiling_ops_per_s` is what a sweep against the
    null target shows instead. `reason` says why the levels prove nothing, or which of them could not be had; else it is
    "".
    """

    ended_by: SweepEnd
    levels: tuple[SweepLevel, ...]
    highest_ops_per_s: float | None
    saturation_ops_per_s: float | None
    saturation: Estimate | None
    knee: Knee | None
    band: Band | None
    generator_ceiling_ops_per_s: float | None
    bottleneck: Bottleneck | None
    reason: str
    text: str

    @property
    def knee_connections(self) -> int | None:
        """The fewest connections with 95 % of the plateau."""
        return None if self.knee is None else self.knee.connections

    @property
    def exit_code(self) -> int:
        """0 with a plateau of the target itself, 5 when the target went away, else 4."""
        return {SweepEnd.PLATEAU: 0, SweepEnd.BROKEN_OFF: 5}.get(self.ended_by, 4)


def withdrawn(sweep: SweepConclusion, reason: str) -> SweepConclusion:
    """The sweep without its saturation throughput, knee and band, because a later run did more: `reason`."""
    return replace(
        sweep,
        ended_by=SweepEnd.EXCEEDED,
        saturation_ops_per_s=None,
        saturation=None,
        knee=None,
        band=None,
        reason=reason,
        text=_no_figure_text(SweepEnd.EXCEEDED, reason, sweep.levels),
    )


class Sweep:
    """Asks for 1, 2, 4 … connections until throughput gains less than 5 % twice in a row.

    Further repeats take the same levels in an order drawn from the seed, so that drift of the machine isn't
    mistaken for an effect of the connections.
    """

    def __init__(self, settings: SweepSettings, seed: int) -> None:
        self._settings = settings
        self._seed = seed

    def next_probe(self, trials: Sequence[Trial]) -> Probe | None:
        """The next level to measure, or None when the sweep is over."""
        done = of_stage(trials, "sweep")
        if broken_off(done):
            return None
        left = Counter(trial.probe.connections for trial in done)
        for connections in self._order(done):
            # Not by position: a trial that failed is dropped on resume, wherever it stood.
            if not left[connections]:
                return self.probe(connections)
            left[connections] -= 1
        return None

    def so_far(self, trials: Sequence[Trial]) -> SoFar:
        """What those who look on are told after `trials`."""
        done, time = of_stage(trials, "sweep"), sweep_time(self._settings)
        put_back_s = max(time.probe_count - len(done), 0) * put_back_each_s(done)
        return SoFar(
            unit="connections",
            probes=[(trial.probe.connections, "measured") for trial in done if not trial.failed],
            left_s=max(time.typical_s - spent_s(done), 0.0) + put_back_s,
            left_max_s=max(time.max_s - spent_s(done), 0.0) + put_back_s,
        )

    def conclude(self, trials: Sequence[Trial], *, null_ceiling_ops_per_s: float | None = None) -> SweepConclusion:
        """What the trials so far show; also of a sweep that was broken off."""
        done = of_stage(trials, "sweep")
        completed = [trial for trial in done if trial.observation.ended_by == "completed"]
        levels = sweep_levels(completed, null_ceiling_ops_per_s=null_ceiling_ops_per_s)
        best = max(levels, key=lambda level: level.throughput_ops_per_s, default=None)
        highest = None if best is None else best.throughput_ops_per_s
        ended_by = self._ended_by(done)
        reason = lacked_text(done) if ended_by is SweepEnd.CONNECTIONS_NOT_HAD else ""
        limit = _limit(done, highest, null_ceiling_ops_per_s, flat=ended_by is SweepEnd.PLATEAU)
        if best is not None and best.problems and ended_by not in (SweepEnd.BROKEN_OFF, SweepEnd.INCOMPLETE):
            limited = limit is not None and limit.kind is BottleneckKind.GENERATOR
            ended_by = SweepEnd.CLIENT_LIMITED if limited else SweepEnd.INVALID
            reason = message(
                "with {connections}: {problems}",
                connections=connections_text(best.connections),
                problems=joined("; ", best.problems),
            )
        if ended_by is SweepEnd.PLATEAU and (disturbed := self._disturbed(completed, levels, null_ceiling_ops_per_s)):
            ended_by, limit, reason = SweepEnd.DISTURBED, *disturbed
        reached = ended_by is SweepEnd.PLATEAU
        of_null = any(trial.observation.target == "null" for trial in done)
        measured = _measured(levels, completed)
        knee = find_knee(measured, seed=self._seed) if reached and not of_null else None
        saturation = None if knee is None or best is None else _saturation(completed, best)
        ceiling = highest if reached and of_null else None
        return SweepConclusion(
            ended_by=ended_by,
            levels=tuple(levels),
            highest_ops_per_s=highest,
            saturation_ops_per_s=None if knee is None else highest,
            saturation=saturation,
            knee=knee,
            band=None if knee is None else recommended_band(measured, knee),
            generator_ceiling_ops_per_s=ceiling,
            bottleneck=limit,
            reason=reason,
            text=_found_text(ceiling, best, saturation, knee) or _no_figure_text(ended_by, reason, levels),
        )

    def _disturbed(
        self, done: Sequence[Trial], levels: Sequence[SweepLevel], null_ceiling_ops_per_s: float | None
    ) -> tuple[Bottleneck, str] | None:
        """What other programs took in a run that the plateau rests on, and in which; None where they took too little.

        It rests on the best level, and on the last ones, which gained nothing: on a host that others had filled the
        target may have been kept from gaining.
        """
        best = max(levels, key=lambda level: level.throughput_ops_per_s)
        first = min(best.connections, levels[-self._settings.flat_levels :][0].connections)
        for trial in (each for each in done if each.probe.connections >= first):
            limit = bottleneck(
                trial.observation,
                null_ceiling_ops_per_s=null_ceiling_ops_per_s,
                plateau_connections=first,
            )
            if limit.kind is BottleneckKind.HOST:
                where = message(
                    "with {connections}: {problems}",
                    connections=connections_text(trial.probe.connections),
                    problems=limit.text,
                )
                return limit, where
        return None

    def _first_round(self, done: Sequence[Trial]) -> list[Trial]:
        """The first trial of each level, ascending, as far as they have come.

        Repeats of those below stand before a level that lacked connections at first and was tried again on resume.
        """
        first = {trial.probe.connections: trial for trial in reversed(done)}
        return [first[connections] for connections in self._settings.levels if connections in first]

    def _order(self, done: Sequence[Trial]) -> list[int]:
        """The connections of all probes in order; they are known as far as the first round has come."""
        levels = repeated = self._settings.levels
        first_round = self._first_round(done)
        for count in range(1, len(first_round) + 1):
            if first_round[count - 1].failed:
                levels, repeated = levels[:count], levels[: count - 1]
                break
            if self._flat(first_round[:count]) or _failing(first_round[count - 1]):
                levels = repeated = levels[:count]
                break
        order = list(levels)
        rng = np.random.default_rng(self._seed)
        for _ in range(1, self._settings.repeats):
            order += [int(connections) for connections in rng.permutation(repeated)]
        return order

    def _flat(self, first_round: Sequence[Trial]) -> bool:
        """Whether the last levels gained less than `gain_min` each over the best before them."""
        flat_levels = self._settings.flat_levels
        if len(first_round) <= flat_levels:
            return False
        rates = [trial.observation.throughput_ops_per_s for trial in first_round]
        gains = [rates[index] / max(max(rates[:index]), 1e-9) - 1 for index in range(1, len(rates))]
        return all(gain < self._settings.gain_min for gain in gains[-flat_levels:])

    def probe(self, connections: int) -> Probe:
        """A closed loop with so many connections."""
        return Probe(
            stage="sweep",
            label=f"{connections}-connections",
            target="server",
            connections=connections,
            rate_ops_per_s=None,
            warmup_s=self._settings.warmup_s,
            duration_s=self._settings.duration_s,
        )

    def _ended_by(self, done: Sequence[Trial]) -> SweepEnd:
        broken = broken_off(done)
        if broken is not None:
            # One that was killed or interrupted says nothing of the target.
            lost = broken.observation.ended_by == TARGET_LOST
            return SweepEnd.BROKEN_OFF if lost else SweepEnd.INCOMPLETE
        if self.next_probe(done) is not None:
            return SweepEnd.INCOMPLETE
        first_round = self._first_round(done)
        if first_round[-1].failed:
            return SweepEnd.CONNECTIONS_NOT_HAD
        if any(_failing(trial) for trial in first_round):
            return SweepEnd.ERRORS
        return SweepEnd.PLATEAU if self._flat(first_round) else SweepEnd.CONNECTIONS_MAX


def _slowest(quantiles_ns: Sequence[int | None]) -> int | None:
    """The largest; None without any, or where one lies among what never completed."""
    known = [each for each in quantiles_ns if each is not None]
    return max(known) if known and len(known) == len(quantiles_ns) else None


def sweep_levels(done: Sequence[Trial], *, null_ceiling_ops_per_s: float | None = None) -> list[SweepLevel]:
    """The trials by connections, ascending."""
    levels = []
    for connections in sorted({trial.probe.connections for trial in done}):
        seen = [trial.observation for trial in done if trial.probe.connections == connections]
        services = [observation.service for observation in seen if observation.service is not None]
        levels.append(
            SweepLevel(
                connections=connections,
                throughput_ops_per_s=float(np.mean([observation.throughput_ops_per_s for observation in seen])),
                service_p50_ns=_slowest([service.p50_ns for service in services]),
                service_p99_ns=_slowest([service.p99_ns for service in services]),
                error_rate=max(observation.error_rate for observation in seen),
                trial_count=len(seen),
                problems=tuple(
                    dict.fromkeys(
                        problem for observation in seen for problem in _problems(observation, null_ceiling_ops_per_s)
                    )
                ),
                figures=figures_over(seen, closed_kind(seen)),
            )
        )
    return levels


def _failing(trial: Trial) -> bool:
    return trial.observation.error_rate > ERROR_RATE_STOP


def _problems(observation: Observation, null_ceiling_ops_per_s: float | None) -> tuple[str, ...]:
    """Why a run shows nothing of the target."""
    failed = [each.evidence for each in observation.findings if each.verdict is Standing.FAIL]
    limits = generator_limits(observation, null_ceiling_ops_per_s=null_ceiling_ops_per_s)
    return tuple(dict.fromkeys([*failed, *limits]))


def _measured(levels: Sequence[SweepLevel], done: Sequence[Trial]) -> list[Level]:
    """The levels as the knee looks at them; one that shows nothing of the target has no say."""
    return [
        Level(
            connections=level.connections,
            runs=[trial.observation for trial in done if trial.probe.connections == level.connections],
            throughput_ops_per_s=level.throughput_ops_per_s,
            service_p99_ns=level.service_p99_ns,
            usable=not level.problems,
        )
        for level in levels
    ]


def _saturation(done: Sequence[Trial], best: SweepLevel) -> Estimate | None:
    """Mean of the runs at the highest level with Student's interval; None without enough of them.

    Runs with other connections don't count as repeats: they measure something else, and those on the plateau were
    chosen for being near the highest, so that their spread is too small. The knee's own mean would be up to 5 % low by
    the knee's definition; the highest of several levels that are alike is high by a part of their spread.
    """
    if best.trial_count < REPEATS_MIN:
        return None
    rates = [trial.observation.throughput_ops_per_s for trial in done if trial.probe.connections == best.connections]
    mean = mean_interval(rates, unit="ops/s", independent=True)
    return Estimate(value=mean.value, low=max(mean.low, 0.0), high=mean.high, unit="ops/s")


def _limit(
    done: Sequence[Trial], highest: float | None, null_ceiling_ops_per_s: float | None, *, flat: bool
) -> Bottleneck | None:
    """What was full in the run with the highest throughput; not its connections where more gained nothing (`flat`)."""
    if not done or not highest:
        return None
    best = max(done, key=lambda trial: trial.observation.throughput_ops_per_s).observation
    found = bottleneck(
        best,
        null_ceiling_ops_per_s=null_ceiling_ops_per_s,
        plateau_connections=best.connections if flat else None,
    )
    if best.target == "null":
        return replace(found, kind=BottleneckKind.GENERATOR, text="the generator (there was no server)")
    return found


def lacked_text(trials: Sequence[Trial]) -> str:
    """Which probe could not have all of its connections, the one that asked for fewest; "" where all could."""
    lacks = lacking(trials)
    return "" if lacks is None else message("{probe} {failed}", probe=lacks.probe.text, failed=lacks.failed)


def runs_text(levels: Sequence[SweepLevel]) -> str:
    """How often each level was measured: "one run per level"."""
    count = min((level.trial_count for level in levels), default=0)
    return "one run per level" if count == 1 else message("{count} runs per level", count=count)


def _found_text(ceiling: float | None, best: SweepLevel | None, saturation: Estimate | None, knee: Knee | None) -> str:
    """The figure in words, "" without one."""
    if ceiling is not None:
        return message("{what}: {rate}", what=CEILING_TEXT, rate=format_rate(ceiling))
    if knee is None or best is None:
        return ""
    figure = (
        joined(", ", [format_rate(best.throughput_ops_per_s), runs_text([best])])
        if saturation is None
        else saturation.text
    )
    return message(
        "saturation throughput {figure}; knee at {connections}",
        figure=figure,
        connections=connections_text(knee.connections),
    )


def _no_figure_text(ended_by: SweepEnd, reason: str, levels: Sequence[SweepLevel]) -> str:
    highest = max((level.throughput_ops_per_s for level in levels), default=0.0)
    most = message(", at most {rate} seen", rate=format_rate(highest)) if highest else ""
    if ended_by is SweepEnd.CLIENT_LIMITED:
        return message("no saturation throughput: the generator was the limit {reason}", reason=reason)
    if ended_by is SweepEnd.INVALID:
        return message("no saturation throughput: the runs are invalid {reason}", reason=reason)
    if ended_by is SweepEnd.DISTURBED:
        return message(
            "no saturation throughput: other programs were the limit {reason}{most}", reason=reason, most=most
        )
    if ended_by is SweepEnd.EXCEEDED:
        return message("no saturation throughput: {reason}", reason=reason)
    if ended_by is SweepEnd.CONNECTIONS_MAX:
        reached = connections_text(levels[-1].connections)
        return message("no plateau up to {connections}{most}", connections=reached, most=most)
    if ended_by is SweepEnd.CONNECTIONS_NOT_HAD:
        reached = connections_text(levels[-1].connections)
        return message("no plateau up to {connections}{most}; {reason}", connections=reached, most=most, reason=reason)
    if ended_by is SweepEnd.ERRORS:
        failing = levels[-1]
        return message(
            "{share} of the operations failed with {connections}{most}",
            share=format_percentage(failing.error_rate),
            connections=connections_text(failing.connections),
            most=most,
        )
    return message("the sweep did not finish{most}", most=most)
