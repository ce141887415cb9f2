"""Owns the figures of a soak as a comparison and a design need them: those of a run, and how each drifts in an hour."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from brimline.analysis.figure import Figure
from brimline.analysis.finding import Standing
from brimline.analysis.objective import Slo
from brimline.analysis.observation import Observation, observe
from brimline.analysis.soak import SoakFindings, soak_findings
from brimline.experiments.soak.runner import stored_soak
from brimline.record import ExperimentRecord
from brimline.wording import message


def soak_figures(experiment: ExperimentRecord, *, slo: Slo | None) -> Mapping[str, Figure]:
    """The figures by key; none of a soak that proves nothing, as where nothing was measured. Raises RecordError.

    `slo`: what the workload promises, by which a standstill of the generator may change nothing.
    """
    parts = [part for trial, part in stored_soak(experiment) if trial.counts]
    if not parts:
        return {}
    found = soak_findings(parts)
    observation = taken_for_hours(observe(found.observed.record, objectives=slo.latencies if slo else ()))
    if any(each.verdict is Standing.FAIL for each in observation.findings):
        return {}
    return {each.key: each for each in figures_of(found, observation)}


def taken_for_hours(observation: Observation) -> Observation:
    """What makes a run invalid and is a warning of a soak.

    A part that was cut short counts: what was measured of it is whole, and the soak goes on. So does one beside another
    client, as long as no kind of operation shows that the server did less than it said: for hours a server that others
    use is rarely left alone, and times and failures are what this client saw of it.
    """
    findings = [
        replace(each, verdict=Standing.WARN)
        if each.verdict is Standing.FAIL and (each.name == "ended" or each.another_client)
        else each
        for each in observation.findings
    ]
    return replace(observation, findings=tuple(findings))


def figures_of(found: SoakFindings, observation: Observation) -> Iterator[Figure]:
    """The same of what was found. The run's own figures are those of the longest part."""
    throughput = observation.throughput
    yield Figure(key="throughput", value=observation.throughput_ops_per_s, unit="ops/s", label="Throughput",
                 higher_is_better=True, low=None if throughput is None else throughput.low,
                 high=None if throughput is None else throughput.high)  # fmt: skip
    latency = observation.response or observation.service
    p99 = None if latency is None else latency.quantiles.get(0.99)
    if p99 is not None:
        yield Figure(key="p99", value=float(p99.value_ns), unit="ns", label="p99", higher_is_better=False,
                     low=p99.low_ns, high=p99.high_ns)  # fmt: skip
    for each in found.drifts:
        series = each.series
        yield Figure(key=f"drift.{series.key}", value=each.per_hour, low=each.low, high=each.high, unit=series.unit,
                     label=message("{figure}, drift in an hour", figure=series.label),
                     higher_is_better=series.higher_is_better)  # fmt: skip
    yield Figure(key="stalls", value=len(found.stalls.every) / found.observed.measured_s * 3600, unit="1/h",
                 label="Stalls in an hour", higher_is_better=False)  # fmt: skip
