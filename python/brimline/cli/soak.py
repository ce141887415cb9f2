"""Owns `brimline soak`."""

from dataclasses import dataclass
from typing import Annotated

from brimline.api.kinds import go_on
from brimline.api.options import (
    DataOptions,
    Group,
    LoadOptions,
    ObjectiveOptions,
    ServerOptions,
    WorkloadOptions,
    option,
)
from brimline.api.reopen import find_record
from brimline.api.soak import SOAK, soak_loaded
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed_design
from brimline.cli.grouped import going_on_with, grouped, without
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.soak.order import SoakSettings
from brimline.units import NS_PER_S, parse_duration

_HINT = "write it like --duration 30m or --duration 3d"


@dataclass(frozen=True, kw_only=True)
class SoakOptions(Group):
    """How long it takes."""

    duration: str = option("--duration", "TIME", "How long is measured, such as 30m or 3d.", default="30m")
    warmup: str | None = option(
        "--warmup", "TIME", "Warm-up of each part; default: a twentieth of the duration, 60 s at most."
    )

    @property
    def seconds(self) -> dict[str, float | None]:
        """As settings have them. Raises UsageError."""
        try:
            warmup_s = None if self.warmup is None else parse_duration(self.warmup) / NS_PER_S
            return {"duration_s": parse_duration(self.duration) / NS_PER_S, "warmup_s": warmup_s}
        except ValueError as error:
            raise UsageError(str(error), hint=_HINT) from error


@grouped
def soak(
    workload: WorkloadOptions,
    server: ServerOptions,
    data: DataOptions,
    load: Annotated[LoadOptions, without("operations", "tlr", "duration", "warmup")],
    objective: ObjectiveOptions,
    design: DesignOptions,
    output: opt.OutputOptions,
    said: SoakOptions,
    *,
    resume: Annotated[str | None, going_on_with("a soak")] = None,
) -> int:
    """Run a workload at one rate for minutes to days, and say what drifts, what changes, and what stalls."""
    options = opt.surroundings(server, output, data)
    if resume is not None and (gone_on := resumed_design(resume, "soak", options)) is not None:
        return finish(gone_on, output, suite="soak")
    if resume is not None:
        return finish(go_on(find_record(resume, runs_dir=options.runs_dir), options, SOAK), output, suite="soak")
    design.require_asked()
    if design.is_asked:
        varied = designed(design, "soak", said.seconds, workload, options, load=load, objective=objective)
        return finish(varied, output, suite="soak")
    try:
        settings = SoakSettings(**said.seconds)  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError(str(error), hint=_HINT) from error
    return finish(soak_loaded(opt.loaded(workload, load, objective), settings, options), output, suite="soak")
