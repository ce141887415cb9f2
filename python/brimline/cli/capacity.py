"""Owns `brimline capacity`."""

from dataclasses import asdict, dataclass
from typing import Annotated

from brimline.api.capacity import resume_search, search_loaded
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
from brimline.api.search_settings import Preset, SearchWords, frontier_settings, settings_for
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed_design
from brimline.cli.grouped import going_on_with, grouped, only, without
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.experiments.axis import On
from brimline.experiments.capacity.frontier import FrontierSettings
from brimline.experiments.settings import CapacitySettings, Grade
from brimline.spec import readers
from brimline.units import NS_PER_S, parse_duration, parse_percentage


@dataclass(frozen=True, kw_only=True)
class SearchOptions(Group):
    """What is searched, how long, and how well it must be known."""

    quick: bool = option("--quick", "", "A look in under two minutes, marked as not quotable.", default=False)
    budget: str | None = option(
        "--budget", "TIME", "End within this time, such as 20m, without server starts, loading and putting data back."
    )
    on: On = option(
        "--on", "", "What is searched: a rate, connections of a closed loop, or T of T-L-R.", default=On.RATE
    )
    connections: str | None = option(
        "--connections", "COUNT", "Of every probe at a rate; default: twice the knee's, 64 to 512."
    )
    loops: int | None = option("--loops", "COUNT", "L of T-L-R: operations of each thread.")
    ramp_up: str | None = option("--ramp-up", "TIME", "R of T-L-R: in which the threads start, such as 10s.")
    frontier: str | None = option("--frontier", "TIME,...", "Search for each of several limits, such as 5ms,10ms,20ms.")
    hold: str | None = option(
        "--hold", "SHARE", "Share of the windows that meet the objective at the sustained load; default: 90%."
    )
    max_width: str | None = option(
        "--max-width",
        "SHARE",
        "For CI: exit code 4 where the interval is wider than this share of the figure, such as 5%.",
    )
    require: Grade | None = option("--require", "", "For CI: exit code 4 where the figure is known less well.")

    @property
    def budget_s(self) -> float | None:
        """Raises UsageError."""
        return _seconds(self.budget, "--budget")

    @property
    def words(self) -> SearchWords:
        """As settings have them. Raises UsageError."""
        maximum = readers.CONNECTION_COUNT_MAX
        return SearchWords(
            on=self.on,
            loops=self.loops,
            ramp_up_s=_seconds(self.ramp_up, "--ramp-up"),
            budget_s=self.budget_s,
            connections=opt.whole_number("--connections", self.connections, maximum=maximum, example="128"),
            hold=_share(self.hold, "--hold", "90%"),
            width_max=_share(self.max_width, "--max-width", "5%"),
            require=self.require,
        )

    @property
    def preset(self) -> Preset:
        """Which settings all others are beside."""
        return "quick" if self.quick else "standard"

    @property
    def limits_ns(self) -> list[int] | None:
        """Of a frontier. Raises UsageError."""
        return None if self.frontier is None else _limits_ns(self.frontier)


@grouped
def capacity(
    workload: WorkloadOptions,
    server: ServerOptions,
    data: Annotated[DataOptions, without("resume")],
    load: Annotated[LoadOptions, only("records", "seed", "client", "max_pool_size", "threads", "in_flight")],
    objective: ObjectiveOptions,
    output: opt.OutputOptions,
    design: DesignOptions,
    said: SearchOptions,
    *,
    resume: Annotated[str | None, going_on_with("a search", "budget")] = None,
) -> int:
    """Find the highest load that the server sustains within the objective, and why it stops there."""
    options = opt.surroundings(server, output, data)
    budget_s = said.budget_s
    if resume is not None and (gone_on := resumed_design(resume, "capacity", options)) is not None:
        return finish(gone_on, output, suite="capacity")
    if resume is not None:
        directory = find_record(resume, runs_dir=options.runs_dir)
        return finish(resume_search(directory, budget_s=budget_s, options=options), output, suite="capacity")
    design.require_asked()
    words = said.words
    if design.is_asked:
        of_cells = {**asdict(words), "preset": said.preset, "limits_ns": said.limits_ns}
        varied = designed(design, "capacity", of_cells, workload, options, load=load, objective=objective)
        return finish(varied, output, suite="capacity")
    loaded = opt.loaded(workload, load, objective)
    settings: CapacitySettings | FrontierSettings
    if (limits_ns := said.limits_ns) is not None:
        settings = frontier_settings(loaded.spec, said.preset, limits_ns, words)
    else:
        settings = settings_for(loaded.spec, said.preset, words)
    return finish(search_loaded(loaded, settings, options), output, suite="capacity")


def _seconds(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    try:
        seconds = parse_duration(text) / NS_PER_S
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint=f"write it like {option} 20m") from error
    if seconds <= 0:
        raise UsageError(f"{option} must be longer than nothing", hint=f"write it like {option} 20m")
    return seconds


def _share(text: str | None, option: str, example: str) -> float | None:
    if text is None:
        return None
    try:
        return parse_percentage(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint=f"write it like {option} {example}") from error


def _limits_ns(text: str) -> list[int]:
    try:
        return [parse_duration(part.strip()) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--frontier: {error}", hint="write it like --frontier 5ms,10ms,20ms") from error
