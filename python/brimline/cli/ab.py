"""Owns `brimline ab`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import typer

from brimline.api.ab import ABResult, ab_loaded, resumed_ab
from brimline.api.options import DataOptions, LoadOptions, ServerOptions, WorkloadOptions
from brimline.api.reopen import find_record
from brimline.cli import gating
from brimline.cli import options as opt
from brimline.cli.grouped import going_on_with, grouped, without
from brimline.cli.junit import write_cases
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.paired.ab import PAIRS_DEFAULT, ABSettings

Changes = list[str] | None


@grouped
def ab(
    workload: Annotated[WorkloadOptions, without("workload")],
    server: ServerOptions,
    data: DataOptions,
    load: LoadOptions,
    gates: gating.GateOptions,
    output: opt.OutputOptions,
    *,
    spec_a: Annotated[
        str | None,
        typer.Argument(metavar="SPEC_A", help="Workload A: a shipped one or a YAML file.", show_default=False),
    ] = None,
    spec_b: Annotated[
        str | None,
        typer.Argument(metavar="SPEC_B", help="Workload B; without it A, changed by --b.", show_default=False),
    ] = None,
    pairs: Annotated[
        int, typer.Option("--pairs", metavar="COUNT", help="Runs of each; fewer than 2 prove nothing.")
    ] = PAIRS_DEFAULT,
    only_a: Annotated[
        Changes,
        typer.Option(
            "--a", metavar="KEY=VALUE", help="Change of A alone, by spec path; repeatable.", show_default=False
        ),
    ] = None,
    only_b: Annotated[
        Changes,
        typer.Option("--b", metavar="KEY=VALUE", help="Change of B alone, such as connections=64.", show_default=False),
    ] = None,
    floor: Annotated[
        bool,
        typer.Option("--aa", help="Also run A against itself, for the differences that this machine shows anyway."),
    ] = False,
    resume: Annotated[str | None, going_on_with("a comparison", "gate")] = None,
) -> int:
    """Run two workloads in turns on one server, and say what differs between them."""
    limits = gates.limits
    gating.require_gate(output.junit, gated=bool(limits))
    options = opt.surroundings(server, output, data)
    if resume is not None:
        directory = find_record(resume, runs_directory=options.runs_directory)
        return _shown(resumed_ab(directory, options, limits=limits), output)
    if spec_a is None and not workload.given:
        raise UsageError("no workload is given", hint="name A and B, or A and a change such as --b connections=64")
    if spec_b is None and not only_b and not floor:
        raise UsageError(
            "there is no B to compare with A", hint="name a second workload, or a change such as --b connections=64"
        )
    a, b = (replace(workload, workload=spec) for spec in (spec_a, spec_b or spec_a))
    loaded_a = opt.loaded(a, load, changes=_assignments(only_a, "--a"))
    loaded_b = opt.loaded(b, load, changes=_assignments(only_b, "--b"))
    settings = _settings(pairs, floor, gates.margin_share)
    return _shown(ab_loaded(loaded_a, loaded_b, settings, options, limits=limits), output)


def _shown(result: ABResult, output: opt.OutputOptions) -> int:
    write_cases(result.cases, output.junit, suite="ab")
    return show_result(result, details=output.details, as_json=output.as_json, lang=output.language)


def _settings(pairs: int, floor: bool, margin: float) -> ABSettings:
    try:
        return ABSettings(pairs=pairs, floor=floor, margin=margin)
    except ValueError as error:
        raise UsageError(str(error), hint="--pairs 5 finds a change of 5 % where runs vary by 1.5 %") from error


def _assignments(texts: Sequence[str] | None, option: str) -> Mapping[str, object]:
    """`connections=64` by spec path. Raises UsageError."""
    pairs = [text.partition("=") for text in texts or ()]
    for path, separator, value in pairs:
        if not (path.strip() and separator and value.strip()):
            raise UsageError(
                f'{option} takes KEY=VALUE, but is "{path}"', hint=f"write it like {option} connections=64"
            )
    return {path.strip(): value.strip() for path, _, value in pairs}
