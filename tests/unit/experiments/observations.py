"""Trials with a chosen outcome, for tests of the state machines alone."""

from dataclasses import replace

import numpy as np

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.latency import Latency
from brimline.analysis.observation import Observation, observe
from brimline.experiments.capacity.outcome import TrialOutcome
from brimline.experiments.trial import Probe, Trial

from .queue_simulator import record_of

MS = 1_000_000


def _template(closed: bool) -> Observation:
    probe = Probe(
        stage="sweep" if closed else "search",
        label="template",
        target="server",
        connections=8,
        rate_ops_per_s=None if closed else 1000.0,
        warmup_s=0.0,
        duration_s=10.0,
    )
    due = np.arange(10_000) / 1000 + 1e-4
    return observe(record_of(probe, due=due, sent=due, done=due + 1e-3))


_OPEN, _CLOSED = _template(closed=False), _template(closed=True)


def with_p99(latency: Latency, p99_ns: int) -> Latency:
    """The same with another p99, its interval left as it is."""
    return replace(latency, quantiles={**latency.quantiles, 0.99: replace(latency.p99, value_ns=p99_ns)})


def closed_trial(probe: Probe, throughput_ops_per_s: float, **changes: object) -> Trial:
    """A closed-loop trial; `changes` are fields of its observation."""
    fields = {
        "throughput_ops_per_s": throughput_ops_per_s,
        "throughput": None,
        "connections": probe.connections,
    }
    return Trial(probe=probe, observation=replace(_CLOSED, **(fields | changes)))


def open_trial(probe: Probe, outcome: TrialOutcome, *, ended_by: str = "completed") -> Trial:
    """An open-loop trial that is judged as `outcome`."""
    assert _OPEN.response is not None
    p99_ns = {TrialOutcome.PASS: 2 * MS, TrialOutcome.INCONCLUSIVE: 10 * MS}.get(outcome, 50 * MS)
    findings = _OPEN.findings
    if outcome is TrialOutcome.INVALID:
        findings = (Finding("opcounters", Standing.FAIL, "server and generator disagree"),)
    if outcome is TrialOutcome.CLIENT_LIMITED:
        findings = (Finding("generator_cpu", Standing.FAIL, "busiest engine thread 99 % of a CPU"),)
    rate = probe.rate_ops_per_s or 0.0
    observation = replace(
        _OPEN,
        connections=probe.connections,
        offered_ops_per_s=rate,
        throughput_ops_per_s=rate,
        response=with_p99(_OPEN.response, p99_ns),
        backlog_growth=None,
        findings=findings,
        ended_by=ended_by,
    )
    return Trial(probe=probe, observation=observation)


def not_had(probe: Probe, *, up: int) -> Trial:
    """A trial of a probe of which only `up` connections could be had: nothing was sent."""
    nothing = replace(_CLOSED, connections=probe.connections, throughput_ops_per_s=0.0, throughput=None, service=None)
    return Trial(
        probe=probe,
        observation=replace(nothing, ended_by="error"),
        connections_up=up,
    )
