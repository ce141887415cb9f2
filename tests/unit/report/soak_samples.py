"""A soak with known answers: service times that grow, and a stall every minute, on a virtual clock."""

from dataclasses import replace
from pathlib import Path

from brimline.api.options import Options
from brimline.api.soak import soak_in
from brimline.api.workload import load_workload
from brimline.api.workplace import workplace
from brimline.experiments.soak.order import SoakSettings
from brimline.record import ExperimentRecord, read_experiment
from tests.support.simulation import target

MS, S = 1_000_000, 1_000_000_000
LENGTH_S = 900.0
SCRIPT = {
    "service": {"kind": "exponential", "mean_ns": 2 * MS},
    "service_growth_per_hour": 4.0,
    "stalls": [{"at_ns": 7 * S, "length_ns": S // 2, "every_ns": 60 * S}],
    "seed": 1,
}


def make_soak(runs_dir: Path) -> ExperimentRecord:
    """A quarter of an hour at 50 reads a second."""
    loaded = load_workload("ycsb-c", overrides={"data.records": 1000, "load": {"kind": "constant", "rate": 50.0}})
    with workplace(loaded, Options(null=True, runs_dir=runs_dir)) as place:
        return read_experiment(soak_in(replace(place, target=target(SCRIPT)), SoakSettings(duration_s=LENGTH_S)))
