"""Owns `brimline ab`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from brimline.api.ab import ABResult, ab_loaded, resumed_ab
from brimline.api.options import DataOptions, Group, LoadOptions, ServerOptions, WorkloadOptions, option
from brimline.api.reopen import find_record
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.grouped import going_on_with, grouped, without
from brimline.cli.junit import write_cases
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.paired.ab import ABSettings
from brimline.experiments.paired.order import PAIRS_DEFAULT


@dataclass(frozen=True, kw_only=True)
class ABOptions(Group):
    """What differs between A and B, and how often each runs."""

    spec_a: str | None = option("", "SPEC_A", "Workload A: a shipped one or a YAML file.")
    spec_b: str | None = option("", "SPEC_B", "Workload B; without it A, changed by --b.")
    pairs: int = option("--pairs", "COUNT", "Runs of each; fewer than 2 prove nothing.", default=PAIRS_DEFAULT)
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
    gates: gating.GateOptions,
    output: opt.OutputOptions,
    said: ABOptions,
    *,
    resume: Annotated[str | None, going_on_with("a comparison", "gate")] = None,
) -> int:
    """Run two workloads in turns on one server, and say what differs between them."""
    limits = gates.limits
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
    a, b = (replace(workload, workload=spec) for spec in (said.spec_a, said.spec_b or said.spec_a))
    loaded_a = opt.loaded(a, load, changes=_assignments(said.only_a, "--a"))
    loaded_b = opt.loaded(b, load, changes=_assignments(said.only_b, "--b"))
    settings = _settings(said.pairs, said.floor, gates.margin_share)
    return _shown(ab_loaded(loaded_a, loaded_b, settings, options, limits=limits), output)


def _shown(result: ABResult, output: opt.OutputOptions) -> int:
    write_cases(result.cases, output.junit, suite="ab")
    return show_result(result, details=output.details, as_json=output.as_json, lang=output.language)


def _settings(pairs: int, floor: bool, margin: float) -> ABSettings:
    try:
        return ABSettings(pairs=pairs, floor=floor, margin=margin)
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
