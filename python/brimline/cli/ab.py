"""Owns `brimline ab`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal

from brimline.api.ab import ABResult, ab_loaded, resumed_ab
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
from brimline.api.search_settings import SearchWords
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.grouped import going_on_with, grouped, without
from brimline.cli.junit import write_cases
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.paired.ab import ABSettings
from brimline.experiments.paired.order import PAIRS_DEFAULT, SEARCH_PAIRS_DEFAULT

Measured = Literal["run", "capacity", "sweep"]


@dataclass(frozen=True, kw_only=True)
class ABOptions(Group):
    """What differs between A and B, and how often each runs."""

    spec_a: str | None = option("", "SPEC_A", "Workload A: a shipped one or a YAML file.")
    spec_b: str | None = option("", "SPEC_B", "Workload B; without it A, changed by --b.")
    pairs: int | None = option(
        "--pairs",
        "COUNT",
        f"Runs of each; fewer than 2 prove nothing. Default: {PAIRS_DEFAULT}, of searches {SEARCH_PAIRS_DEFAULT}.",
    )
    measure: Measured = option(
        "--measure", "", "What is compared: runs, or whole searches of each, in turns on one server.", default="run"
    )
    quick: bool = option("--quick", "", "Of searches: a look in under two minutes each.", default=False)
    only_a: Sequence[str] = option("--a", "KEY=VALUE", "Change of A alone, by spec path; repeatable.", default=())
    only_b: Sequence[str] = option("--b", "KEY=VALUE", "Change of B alone, such as connections=64.", default=())
    floor: bool = option(
        "--aa", "", "Also run A against itself, for the differences that this machine shows anyway.", default=False
    )


@grouped
def ab(
    workload: Annotated[WorkloadOptions, without("workload")],
    server: ServerOptions,
    data: DataOptions,
    load: LoadOptions,
    objective: ObjectiveOptions,
    gates: gating.GateOptions,
    output: opt.OutputOptions,
    said: ABOptions,
    *,
    resume: Annotated[str | None, going_on_with("a comparison", "gate")] = None,
) -> int:
    """Run two workloads in turns on one server, and say what differs between them."""
    searches = said.measure != "run"
    limits = gates.limits_of_records if searches or resume is not None else gates.limits
    gating.require_gate(output.junit, gated=bool(limits))
    options = opt.surroundings(server, output, data)
    if resume is not None:
        directory = find_record(resume, runs_dir=options.runs_dir)
        return _shown(resumed_ab(directory, options, limits=limits), output)
    if said.spec_a is None and not workload.given:
        raise UsageError("no workload is given", hint="name A and B, or A and a change such as --b connections=64")
    if said.spec_b is None and not said.only_b and not said.floor:
        raise UsageError(
            "there is no B to compare with A", hint="name a second workload, or a change such as --b connections=64"
        )
    if any(each is not None for each in objective.overrides.values()) and said.measure != "capacity":
        raise UsageError(
            "an objective has no effect on runs that are compared",
            hint="give --measure capacity as well; a gate such as --gate p99=10% says how much worse B may be",
        )
    a, b = (replace(workload, workload=spec) for spec in (said.spec_a, said.spec_b or said.spec_a))
    loaded_a = opt.loaded(a, load, objective, changes=_assignments(said.only_a, "--a"))
    loaded_b = opt.loaded(b, load, objective, changes=_assignments(said.only_b, "--b"))
    settings = _settings(said, gates.margin_share)
    return _shown(ab_loaded(loaded_a, loaded_b, settings, options, limits=limits), output)


def _shown(result: ABResult, output: opt.OutputOptions) -> int:
    write_cases(result.cases, output.junit, suite="ab")
    return show_result(result, details=output.details, as_json=output.as_json, lang=output.language)


def _settings(said: ABOptions, margin: float) -> ABSettings:
    is_run = said.measure == "run"
    if said.quick and said.measure != "capacity":
        raise UsageError("--quick is of searches", hint="give --measure capacity as well, or leave --quick out")
    pairs = said.pairs if said.pairs is not None else PAIRS_DEFAULT if is_run else SEARCH_PAIRS_DEFAULT
    words = {**asdict(SearchWords()), "preset": "quick" if said.quick else "standard"}
    try:
        return ABSettings(
            pairs=pairs,
            floor=said.floor,
            margin=margin,
            measure="" if is_run else said.measure,
            said=words if said.measure == "capacity" else {},
        )
    except ValueError as error:
        raise UsageError(str(error), hint="--pairs 5 finds a change of 5 % where runs vary by 1.5 %") from error


def _assignments(texts: Sequence[str], option: str) -> Mapping[str, object]:
    """`connections=64` by spec path. Raises UsageError."""
    pairs = [text.partition("=") for text in texts]
    for path, separator, value in pairs:
        if not (path.strip() and separator and value.strip()):
            raise UsageError(
                f'{option} takes KEY=VALUE, but is "{path}"', hint=f"write it like {option} connections=64"
            )
    return {path.strip(): value.strip() for path, _, value in pairs}
