"""Owns `brimline scan`."""

from typing import Annotated

import typer

from brimline.api.reopen import find_record
from brimline.api.resume import resumption
from brimline.api.scan import scan_loaded
from brimline.api.workload import load_workload
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.experiments.scan.order import SCAN_KIND
from brimline.servers.bundled import CACHE_GB_DEFAULT


def scan(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.Uri = None,
    password_file: opt.PasswordFile = None,
    within: Annotated[
        str | None,
        typer.Option("--within", help="Time to answer in that the rule is about, such as 10s.", show_default=False),
    ] = None,
    warm: Annotated[
        bool, typer.Option("--warm", help="Don't restart brimline's own server before each first touch.")
    ] = False,
    resume: Annotated[str | None, opt.going_on_with("a scan")] = None,
    records: opt.Records = None,
    seed: opt.Seed = None,
    data: opt.Data = None,
    drop: opt.Drop = False,
    mongod: opt.Mongod = None,
    server_version: opt.ServerVersion = None,
    cache_gb: opt.CacheGb = CACHE_GB_DEFAULT,
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    details: opt.Details = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Measure single queries: plan, entries, time cold and warm, and how many entries fit a time to answer."""
    options = opt.surroundings(
        uri=uri,
        password_file=password_file,
        mongod=mongod,
        server_version=server_version,
        cache_gb=cache_gb,
        data=data,
        drop=drop,
        runs_dir=runs_dir,
        quiet=quiet,
        lang=lang,
    )
    overrides = {**opt.spec_overrides(records=records, seed=seed), "scans.answer_within": within}
    if resume is None:
        loaded = load_workload(
            workload, property_files=property_files or (), properties=properties or (), overrides=overrides
        )
        return show_result(scan_loaded(loaded, options, restarts=not warm), details=details, as_json=as_json, lang=lang)
    if any(each is not None for each in (workload, property_files, properties, *overrides.values())) or warm:
        raise UsageError(
            "--resume goes on with the scan as it was begun", hint="give --resume and the server's options alone"
        )
    directory = find_record(resume, runs_directory=options.runs_directory)
    found = resumption(directory, kinds=(SCAN_KIND,))
    restarts = bool(found.experiment.settings.get("restarts", True))
    result = scan_loaded(found.loaded, options, restarts=restarts, resume=directory)
    return show_result(result, details=details, as_json=as_json, lang=lang)
