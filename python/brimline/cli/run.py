"""Owns `brimline run`."""

from brimline import api
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.servers.bundled import CACHE_GB_DEFAULT


def run(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.Uri = None,
    connections: opt.Connections = None,
    rate: opt.Rate = None,
    duration: opt.Duration = None,
    warmup: opt.Warmup = None,
    operation_count: opt.OperationCount = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    response_p99: opt.ResponseP99 = None,
    error_rate: opt.ErrorRate = None,
    data: opt.Data = None,
    drop: opt.Drop = False,
    null: opt.Null = False,
    mongod: opt.Mongod = None,
    cache_gb: opt.CacheGb = CACHE_GB_DEFAULT,
    runs_dir: opt.RunsDir = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Run a workload once and report it."""
    result = api.run(
        workload,
        property_files=property_files or (),
        properties=properties or (),
        overrides=opt.spec_overrides(
            records=records,
            connections=connections,
            threads=threads,
            rate=rate,
            duration=duration,
            warmup=warmup,
            operation_count=operation_count,
            seed=seed,
            response_p99=response_p99,
            error_rate=error_rate,
        ),
        options=opt.surroundings(
            uri=uri, mongod=mongod, cache_gb=cache_gb, data=data, drop=drop, null=null, runs_dir=runs_dir, quiet=quiet
        ),
    )
    return show_result(result, as_json=as_json, full=True)
