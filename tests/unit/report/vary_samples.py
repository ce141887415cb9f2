"""A factor sweep on servers in numbers: B has a fifth more capacity than A, and one combination proves nothing."""

from dataclasses import replace
from functools import cache

from brimline.analysis.figure import Figure
from brimline.experiments.trial import Probe
from brimline.experiments.vary.conclusion import conclude_vary
from brimline.experiments.vary.order import RunOutcome, Vary, VaryLoad, VaryProbe, VarySettings, VaryTrial
from brimline.report import Report
from brimline.report.vary.view import vary_report
from brimline.wording import message
from tests.unit.experiments.queue_simulator import Law, QueueSimulator
from tests.unit.experiments.vary_simulator import settings_of
from tests.unit.report.report_samples import ENVIRONMENT, ended_experiment

SETTINGS = settings_of("server-version=4.4,6.0", "connections=1,4,16,32", apart=("server-version",),
                       loads=("server-version",), blocks=3, blocks_max=4, duration_s=12.0, warmup_s=0.2)  # fmt: skip
GATES = {"4.4": 2000.0, "6.0": 2400.0}
DIRECTORY = "runs/20261122t080000z-vary-order-service-0059a198"
SPOILT = ("4.4", "32")


@cache
def trials_of(*, equal: bool = False, spoilt: bool = True) -> tuple[VaryTrial, ...]:
    """All runs of the sweep. `spoilt`: those of one combination were limited by the generator in the first block."""
    machine, made = Vary(SETTINGS, 1), list[VaryTrial]()
    while (probe := machine.next_probe(made)) is not None:
        made.append(_run(probe, len(made), equal=equal, spoilt=spoilt))
    return tuple(made)


def _run(probe: VaryProbe, place: int, *, equal: bool, spoilt: bool) -> VaryTrial:
    version, connections = probe.levels
    law = Law(gate_ops_per_s=GATES["4.4" if equal else version], service_s=0.001, drift=0.01)
    asked = Probe(
        stage="sweep", label=probe.label, target="server", connections=int(connections), rate_ops_per_s=None,
        warmup_s=SETTINGS.warmup_s, duration_s=SETTINGS.duration_s,
    )  # fmt: skip
    seen = QueueSimulator(law, seed=place).execute(asked).observation
    assert seen.service is not None
    server = 2 * probe.block - (probe.levels[0] == Vary(SETTINGS, 1).order(probe.block)[0][0])
    trial = VaryTrial(
        probe=probe,
        figures={"throughput": seen.throughput_ops_per_s, "p95": seen.service.p95_ns, "p99": seen.service.p99_ns},
        server=server,
        server_version=f"{version}.1",
        took_s=3.0,
        observation=seen,
    )
    if not spoilt or probe.levels != SPOILT or probe.block > 1:
        return trial
    reason = message("busiest generator thread {share} of a CPU", share="97 %")
    return replace(trial, figures={}, outcome=RunOutcome.CLIENT_LIMITED, reasons=(reason,))


def loads() -> list[VaryLoad]:
    """One a server; 6.0 loads a tenth faster."""
    return [
        VaryLoad(block=block, levels=(version,), server=2 * block - 1 + place,
                 figures={"throughput": (40_000 + 200 * block) * factor, "p95": 8e6, "p99": 20e6})
        for block in (1, 2, 3)
        for place, (version, factor) in enumerate((("4.4", 1.0), ("6.0", 1.1)))
    ]  # fmt: skip


def varied(
    *, equal: bool = False, spoilt: bool = True, first: int | None = None, settings: VarySettings = SETTINGS
) -> Report:
    """The report; of the `first` runs alone where that is given."""
    trials = trials_of(equal=equal, spoilt=spoilt)[:first]
    experiment = ended_experiment("vary", DIRECTORY)
    made = loads()[: None if first is None else 1]
    conclusion = conclude_vary(settings, trials, made, seed=1)
    return vary_report(experiment, trials, made, conclusion, settings, environment=ENVIRONMENT)  # type: ignore[arg-type]


def measured() -> Report:
    """A design over `capacity`: one cell has a bound, and one failed."""
    settings = settings_of("topology=standalone,replica-set-3", "connections=8,64", blocks=1, blocks_max=1)
    settings = replace(settings, measure="capacity", said={"preset": "quick"}, cell_s=86.0)
    machine, made = Vary(settings, 1), list[VaryTrial]()
    while (probe := machine.next_probe(made)) is not None:
        topology, connections = probe.levels
        rate = {"8": 9_000.0, "64": 14_000.0}[connections] * (1.0 if topology == "standalone" else 0.7)
        bound = probe.levels == ("replica-set-3", "8")
        plateau = Figure(key="saturation", value=1.1 * rate, low=rate, high=1.2 * rate, unit="ops/s", label="Plateau",
                         higher_is_better=True)  # fmt: skip
        figures = [Figure(key="sustained", value=rate, low=0.95 * rate, high=None if bound else 1.04 * rate,
                          unit="ops/s", label="Sustained load", higher_is_better=True), plateau]  # fmt: skip
        trial = VaryTrial(probe=probe, figures={each.key: each.value for each in figures}, took_s=86.0,
                          measured={each.key: each for each in figures}, name=f"0{len(made) + 1}-capacity")  # fmt: skip
        if probe.levels == ("replica-set-3", "64"):
            trial = replace(trial, figures={}, measured={}, outcome=RunOutcome.FAILED,
                            reasons=("it has no figure",))  # fmt: skip
        made.append(trial)
    conclusion = conclude_vary(settings, made, [], seed=1)
    experiment = ended_experiment("vary", DIRECTORY)
    return vary_report(experiment, made, [], conclusion, settings, environment=ENVIRONMENT)  # type: ignore[arg-type]
