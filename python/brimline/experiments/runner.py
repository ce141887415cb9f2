"""Owns making an experiment's probes happen: the one place where experiments have effects."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from brimline.analysis.observation import Observation, observe
from brimline.analysis.quantile_text import p99_text
from brimline.execution import RunContext, execute, restore_data
from brimline.experiments.cooldown import cool_down, cool_down_limit_s
from brimline.experiments.trial import CoolDown, Probe, Trial, of_stage
from brimline.plan import NullTarget, Plan, TargetPlan, resolve
from brimline.record import ExperimentWriter
from brimline.spec import Spec
from brimline.spec.load_models import ClosedLoad, ConstantLoad
from brimline.units import NS_PER_S, format_duration, format_rate

_INTERVALS_PER_WINDOW = 16
_INTERVAL_NS_MIN = NS_PER_S // 10
_INTERVAL_NS_MAX = NS_PER_S
_WAIT_S_WORTH_SAYING = 2.0


class Experiment(Protocol):
    """A pure state machine: which probe comes next follows from the trials alone."""

    def next_probe(self, trials: Sequence[Trial]) -> Probe | None:
        """The next probe, or None when there is nothing more to ask."""


def run_trials(
    experiment: Experiment, *, spec: Spec, target: TargetPlan, writer: ExperimentWriter, context: RunContext
) -> list[Trial]:
    """Executes probes until `experiment` has no more, or something ends it early; returns the trials so far.

    A trial whose run was cut short is the last one. Raises what `execute` raises.
    """
    trials: list[Trial] = []
    while not _stopped(context) and (probe := experiment.next_probe(trials)) is not None:
        plan = probe_plan(probe, spec=spec, target=target)
        cooled = _cool_down(probe, trials, context)
        if _stopped(context):
            break
        directory = writer.begin_trial(
            asdict(probe),
            stage=probe.stage,
            label=probe.label,
            cool_down=None if cooled is None else asdict(cooled),
        )
        record = execute(plan, directory=directory, title=describe_probe(probe), context=context)
        observation = observe(record, null_ceiling_ops_per_s=null_ceiling(trials))
        trial = Trial(probe=probe, observation=observation, cool_down=cooled)
        trials.append(trial)
        writer.event(
            "trial",
            directory=directory.name,
            throughput_ops_per_s=trial.observation.throughput_ops_per_s,
        )
        context.progress.note(f"{describe_probe(probe)}: {describe_outcome(trial.observation)}")
        if not record.complete:
            break
        if probe.target == "server":
            restore_data(plan, deployment=context.deployment)
    return trials


def _stopped(context: RunContext) -> bool:
    return context.stop.requested


def _cool_down(probe: Probe, trials: Sequence[Trial], context: RunContext) -> CoolDown | None:
    """Waits until the server is calm again; says so where that took a while."""
    if probe.target != "server" or context.deployment is None:
        return None
    seen = [trial.cool_down.dirty_share for trial in trials if trial.cool_down is not None]
    cooled = cool_down(
        context.deployment,
        limit_s=cool_down_limit_s(probe),
        dirty_floor=min((share for share in seen if share is not None), default=None),
        stop=context.stop,
    )
    if cooled.waited_s >= _WAIT_S_WORTH_SAYING:
        waited = format_duration(cooled.waited_s * NS_PER_S)
        context.progress.note(f"waited {waited} for the server to become calm: {'; '.join(cooled.waiting_for)}")
    return cooled


def probe_plan(probe: Probe, *, spec: Spec, target: TargetPlan) -> Plan:
    """The plan of one probe: the spec's operations with the probe's load and window."""
    rate = probe.rate_ops_per_s
    duration_ns = round(probe.duration_s * NS_PER_S)
    varied = spec.model_copy(
        update={
            "load": ClosedLoad() if rate is None else ConstantLoad(rate=rate),
            "in_flight": None if spec.in_flight is None else min(spec.in_flight, probe.connections),
            "connections": probe.connections,
            "warmup_ns": round(probe.warmup_s * NS_PER_S),
            "duration_ns": duration_ns,
            "operation_count": None,
            "interval_ns": min(max(duration_ns // _INTERVALS_PER_WINDOW, _INTERVAL_NS_MIN), _INTERVAL_NS_MAX),
        }
    )
    return resolve(varied, target=NullTarget() if probe.target == "null" else target)


def null_ceiling(trials: Sequence[Trial]) -> float | None:
    """Throughput of the null target, once it was measured."""
    calibrations = of_stage(trials, "calibrate")
    return calibrations[0].observation.throughput_ops_per_s if calibrations else None


def describe_probe(probe: Probe) -> str:
    """One line: what is asked."""
    if probe.target == "null":
        return f"{probe.stage}: encode and record, without a server"
    if probe.rate_ops_per_s is None:
        return f"{probe.stage}: {probe.connections} connections, closed loop"
    return f"{probe.stage}: {format_rate(probe.rate_ops_per_s)} offered"


def describe_outcome(observation: Observation) -> str:
    """One line: what came of it."""
    throughput = format_rate(observation.throughput_ops_per_s)
    latency = observation.response or observation.service
    if latency is None:
        return throughput
    clock = "service" if observation.closed_loop else "response"
    return f"{throughput}, {clock} p99 {p99_text(latency)}"
