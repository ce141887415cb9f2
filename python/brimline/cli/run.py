"""Owns `brimline run`."""

from brimline.api.run import run_loaded
from brimline.api.workload import load_workload
from brimline.cli import junit as junit_file
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.errors import UsageError
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.spec.load_models import is_closed


def run(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.Uri = None,
    target: opt.Target = None,
    password_file: opt.PasswordFile = None,
    connections: opt.Connections = None,
    in_flight: opt.InFlight = None,
    rate: opt.Rate = None,
    arrivals: opt.Arrivals = None,
    think_time: opt.ThinkTime = None,
    tlr: opt.Tlr = None,
    duration: opt.Duration = None,
    warmup: opt.Warmup = None,
    operation_count: opt.OperationCount = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    response_p99: opt.ResponseP99 = None,
    error_rate: opt.ErrorRate = None,
    limits: opt.Limits = None,
    data: opt.Data = None,
    drop: opt.Drop = False,
    null: opt.Null = False,
    mongod: opt.Mongod = None,
    server_version: opt.ServerVersion = None,
    cache_gb: opt.CacheGb = CACHE_GB_DEFAULT,
    topology: opt.TopologyName = None,
    mongos: opt.Mongos = None,
    network: opt.NetworkName = None,
    cpu_share: opt.CpuShare = None,
    runs_dir: opt.RunsDir = None,
    junit: junit_file.OutcomeJunit = None,
    lang: opt.Lang = None,
    details: opt.Details = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Run a workload once and report it."""
    loaded = load_workload(
        workload,
        property_files=property_files or (),
        properties=properties or (),
        overrides=opt.spec_overrides(
            records=records,
            connections=connections,
            threads=threads,
            in_flight=in_flight,
            load=opt.load_model(rate=rate, arrivals=arrivals, think_time=think_time, tlr=tlr),
            duration=duration,
            warmup=warmup,
            operation_count=operation_count,
            seed=seed,
            target=target,
            response_p99=response_p99,
            error_rate=error_rate,
            limits=limits,
        ),
    )
    if (response_p99 or error_rate or limits) and is_closed(loaded.spec.load):
        raise UsageError(
            "a closed loop has no response time, so an objective has no effect on it",
            hint="offer a rate, such as --rate 5000/s, or leave --p99, --error-rate and --slo out",
        )
    options = opt.surroundings(
        uri=uri,
        password_file=password_file,
        mongod=mongod,
        server_version=server_version,
        cache_gb=cache_gb,
        topology=topology,
        mongos=mongos,
        network=network,
        cpu_share=cpu_share,
        data=data,
        drop=drop,
        null=null,
        runs_dir=runs_dir,
        quiet=quiet,
        lang=lang,
    )
    result = run_loaded(loaded, options)
    junit_file.write_outcome(result, junit, suite="run")
    return show_result(result, details=details, as_json=as_json, lang=lang)
