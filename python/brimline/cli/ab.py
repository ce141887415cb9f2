"""Owns `brimline ab`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from brimline.api.ab import ABResult, ab_loaded, resumed_ab
from brimline.api.reopen import find_record
from brimline.api.workload import load_workload
from brimline.cli import gating
from brimline.cli import junit as junit_file
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.paired.ab import PAIRS_DEFAULT, ABSettings
from brimline.servers.bundled import CACHE_GB_DEFAULT

Changes = list[str] | None


def ab(
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
    resume: Annotated[str | None, opt.going_on_with("a comparison")] = None,
    margin: gating.Margin = gating.MARGIN_TEXT,
    gate: gating.Gate = None,
    junit: junit_file.Junit = None,
    uri: opt.Uri = None,
    password_file: opt.PasswordFile = None,
    connections: opt.Connections = None,
    rate: opt.Rate = None,
    duration: opt.Duration = None,
    warmup: opt.Warmup = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    data: opt.Data = None,
    drop: opt.Drop = False,
    null: opt.Null = False,
    mongod: opt.Mongod = None,
    server_version: opt.ServerVersion = None,
    cache_gb: opt.CacheGb = CACHE_GB_DEFAULT,
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    details: opt.Details = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Run two workloads in turns on one server, and say what differs between them."""
    limits = gating.limits_of(gate)
    gating.require_gate(junit, gated=bool(limits))
    both = opt.spec_overrides(
        records=records,
        connections=connections,
        threads=threads,
        load=opt.load_model(rate=rate),
        duration=duration,
        warmup=warmup,
        seed=seed,
    )
    options = opt.surroundings(
        uri=uri,
        password_file=password_file,
        mongod=mongod,
        server_version=server_version,
        cache_gb=cache_gb,
        data=data,
        drop=drop,
        null=null,
        runs_dir=runs_dir,
        quiet=quiet,
        lang=lang,
    )
    if resume is not None:
        if spec_a is not None or only_a or only_b or floor or any(value is not None for value in both.values()):
            raise UsageError("--resume goes on with the comparison as it was begun", hint="leave the workloads out")
        directory = find_record(resume, runs_directory=options.runs_directory)
        result = resumed_ab(directory, options, limits=limits)
        return _shown(result, junit, details=details, as_json=as_json, lang=lang)
    if spec_a is None:
        raise UsageError("no workload is given", hint="name A and B, or A and a change such as --b connections=64")
    if spec_b is None and not only_b and not floor:
        raise UsageError(
            "there is no B to compare with A", hint="name a second workload, or a change such as --b connections=64"
        )
    loaded_a = load_workload(spec_a, overrides={**both, **_assignments(only_a, "--a")})
    loaded_b = load_workload(spec_b or spec_a, overrides={**both, **_assignments(only_b, "--b")})
    settings = _settings(pairs, floor, gating.share_of(margin, "--margin"))
    result = ab_loaded(loaded_a, loaded_b, settings, options, limits=limits)
    return _shown(result, junit, details=details, as_json=as_json, lang=lang)


def _shown(result: ABResult, junit: Path | None, *, details: bool, as_json: bool, lang: str | None) -> int:
    junit_file.write_cases(result.cases, junit, suite="ab")
    return show_result(result, details=details, as_json=as_json, lang=lang)


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
