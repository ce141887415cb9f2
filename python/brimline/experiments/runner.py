"""Owns making the runs of a search happen: a probe as a plan, the pause before it, the run itself."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Protocol

from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.quantile_text import p99_text
from brimline.errors import NotAllConnected
from brimline.execution import RunContext, SoFar, execute, putting_back
from brimline.execution.cool_down import CoolDown, cool_down, cool_down_limit_s
from brimline.experiments.conductor import Machine, Made, conduct_trials
from brimline.experiments.trial import Probe, Trial, connections_below, null_ceiling
from brimline.plan import NullTarget, Plan, SimulatedTarget, TargetPlan, resolve
from brimline.plan.model import ClosedPacer
from brimline.plan.pacing import connections_text
from brimline.record import ExperimentWriter, RunRecord, read_record
from brimline.record.events import put_back_s
from brimline.spec import Spec
from brimline.spec.load_models import ClosedLoad, ConstantLoad, Load, TlrLoad
from brimline.units import NS_PER_S, duration_text, format_duration, format_rate
from brimline.wording import message

TLR_OVERRUN_MAX = 3.0
"""T-L-R is cut short when it has taken so many times its ramp-up."""
_INTERVALS_PER_WINDOW = 16
_INTERVAL_NS_MIN = NS_PER_S // 10
_INTERVAL_NS_MAX = NS_PER_S
_WAIT_S_WORTH_SAYING = 2.0


class Experiment(Machine[Probe, Trial], Protocol):
    """A search: a machine that asks for runs, and says what they show until now."""

    def so_far(self, trials: Sequence[Trial]) -> SoFar:
        """What the trials show until now, for those who look on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The effects of a search: one run of the workload a probe. `slo` says which figures of it are needed."""

    experiment: Experiment
    spec: Spec
    target: TargetPlan
    writer: ExperimentWriter
    context: RunContext
    slo: Slo | None = None

    def perform(self, probe: Probe, trials: Sequence[Trial]) -> Sequence[Made[Trial]]:
        """Waits for a calm server, runs, and puts the data back.

        A probe that can't have all of its connections has no figure, and where fewer could be had, that is no end.
        """
        context = self.context
        context.progress.so_far(partial(self.experiment.so_far, list(trials)))
        plan = probe_plan(probe, spec=self.spec, target=self.target)
        cooled = _cool_down(probe, trials, context)
        if context.stop.requested:
            return ()
        directory = self.writer.begin_trial(
            asdict(probe),
            stage=probe.stage,
            label=probe.label,
            cool_down=None if cooled is None else asdict(cooled),
        )
        connections_up = None
        try:
            with putting_back(plan, context):
                record = execute(plan, directory=directory, title=describe_probe(probe), context=context)
        except NotAllConnected as error:
            if connections_below(trials, probe.connections) is None:
                raise
            connections_up = error.up
            self.writer.note_connections(directory, error.up)
            record = read_record(directory)
        trial = Trial(
            probe=probe,
            observation=_observe(record, self.slo, trials),
            cool_down=cooled,
            put_back_s=put_back_s(record.events),
            connections_up=connections_up,
        )
        if trial.put_back_s >= _WAIT_S_WORTH_SAYING > max((each.put_back_s for each in trials), default=0.0):
            tell_put_back(context, trial.put_back_s, left_s=self.experiment.so_far([*trials, trial]).left_s)
        return (
            Made(
                trial=trial,
                directory=directory,
                title=describe_probe(probe),
                outcome=trial.failed or (describe_outcome(trial.observation) if record.complete else "cut short"),
                ended=record.complete or bool(trial.failed),
                took_s=_virtual_s(record),
                failed=trial.failed,
            ),
        )


def tell_put_back(context: RunContext, took_s: float, *, left_s: float | None) -> bool:
    """Says how long putting the data back takes here, and what that makes of the time that is left; whether it was.

    `took_s`: what it took before a run; before the first, the data are only copied aside, which takes about as long.
    """
    if took_s < _WAIT_S_WORTH_SAYING or left_s is None:
        return False
    context.progress.note(
        message(
            "putting the data back takes about {time} before each run: {left} are left with it; a search's budget does "
            "not count it, and fewer records in the workload's collections take less",
            time=format_duration(took_s * NS_PER_S),
            left=format_duration(left_s * NS_PER_S),
        )
    )
    return True


def _virtual_s(record: RunRecord) -> float | None:
    """What a simulated run took, by its own clock: however busy this machine is, the search goes on alike."""
    if record.summary is None or record.plan.target.kind != "simulated":
        return None
    return record.summary["elapsed_ns"] / NS_PER_S


def run_trials(
    experiment: Experiment,
    *,
    spec: Spec,
    target: TargetPlan,
    writer: ExperimentWriter,
    context: RunContext,
    slo: Slo | None = None,
    done: Sequence[Trial] = (),
) -> list[Trial]:
    """Conducts a search whose probes are runs of `spec`; see `conduct_trials`. Raises what `execute` raises."""
    effects = Runs(experiment=experiment, spec=spec, target=target, writer=writer, context=context, slo=slo)
    return conduct_trials(experiment, effects, writer=writer, stop=context.stop, progress=context.progress, done=done)


def _cool_down(probe: Probe, trials: Sequence[Trial], context: RunContext) -> CoolDown | None:
    """Waits until the server is calm again; says so where that took a while."""
    if probe.target != "server" or context.deployment is None:
        return None
    seen = [trial.cool_down.dirty_share for trial in trials if trial.cool_down is not None]
    cooled = cool_down(
        context.deployment,
        limit_s=cool_down_limit_s(probe.duration_s),
        dirty_floor=min((share for share in seen if share is not None), default=None),
        stop=context.stop,
    )
    if cooled is not None and cooled.waited_s >= _WAIT_S_WORTH_SAYING:
        waited = format_duration(cooled.waited_s * NS_PER_S)
        context.progress.note(f"waited {waited} for the server to become calm: {'; '.join(cooled.waiting_for)}")
    return cooled


def _observe(record: RunRecord, slo: Slo | None, trials: Sequence[Trial]) -> Observation:
    return observe(
        record, null_ceiling_ops_per_s=null_ceiling(trials), objectives=slo.latencies if slo is not None else ()
    )


def probe_plan(probe: Probe, *, spec: Spec, target: TargetPlan) -> Plan:
    """The plan of one probe: the spec's operations with the probe's load and window."""
    duration_ns = round(probe.duration_s * NS_PER_S)
    is_tlr = probe.loops is not None
    varied = spec.model_copy(
        update={
            "load": _load(probe),
            "in_flight": None if spec.in_flight is None or is_tlr else min(spec.in_flight, probe.connections),
            "connections": probe.connections,
            "warmup_ns": round(probe.warmup_s * NS_PER_S),
            # T-L-R ends when its loops are done; far beyond the limit that would take for ever.
            "duration_ns": round(TLR_OVERRUN_MAX * duration_ns) if is_tlr else duration_ns,
            "operation_count": None,
            "interval_ns": min(max(duration_ns // _INTERVALS_PER_WINDOW, _INTERVAL_NS_MIN), _INTERVAL_NS_MAX),
        }
    )
    if probe.target == "null":  # a log would be millions of rows a second about nobody
        return resolve(varied.model_copy(update={"operation_log": False}), target=_without_server(target))
    plan = resolve(varied, target=target)
    if probe.follows_replies and isinstance(plan.pacer, ClosedPacer):
        return plan.model_copy(update={"pacer": plan.pacer.model_copy(update={"follows_replies": True})})
    return plan


def _without_server(target: TargetPlan) -> TargetPlan:
    """Nothing to wait for. A simulated generator is known by its own clock: its server answers at once."""
    return target.model_copy(update={"script": {}}) if isinstance(target, SimulatedTarget) else NullTarget()


def _load(probe: Probe) -> Load:
    if probe.loops is not None:
        ramp_up = duration_text(round((probe.ramp_up_s or 0.0) * NS_PER_S))
        return TlrLoad.model_validate({"threads": probe.connections, "loops": probe.loops, "ramp_up": ramp_up})
    return ClosedLoad() if probe.rate_ops_per_s is None else ConstantLoad(rate=probe.rate_ops_per_s)


def describe_probe(probe: Probe) -> str:
    """One line: what is asked."""
    if probe.target == "null":
        return message("{stage}: encode and record, without a server", stage=probe.stage)
    if probe.loops is not None:
        return message(
            "{stage}: {threads} threads, {loops} loops, started over {ramp_up:g} s",
            stage=probe.stage,
            threads=probe.connections,
            loops=probe.loops,
            ramp_up=probe.ramp_up_s,
        )
    if probe.rate_ops_per_s is None:
        connections = connections_text(probe.connections)
        return message("{stage}: {connections}, closed loop", stage=probe.stage, connections=connections)
    return message("{stage}: {rate} offered", stage=probe.stage, rate=format_rate(probe.rate_ops_per_s))


def describe_outcome(observation: Observation) -> str:
    """One line: what came of it.

    The null target answers while it is asked, so that its service time is the time between two looks at the clock.
    """
    throughput = format_rate(observation.throughput_ops_per_s)
    latency = observation.response or observation.service
    if latency is None or observation.target == "null":
        return throughput
    clock = "service p99" if observation.closed_loop else "response p99"
    return message("{throughput}, {clock} {p99}", throughput=throughput, clock=clock, p99=p99_text(latency))
