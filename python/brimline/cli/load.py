"""Owns `brimline load`."""

from brimline import api
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.servers.bundled import CACHE_GB_DEFAULT


def load(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.LoadUri = None,
    connections: opt.Connections = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    drop: opt.Drop = False,
    runs_dir: opt.RunsDir = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Load a workload's records into a server and have it count them."""
    result = api.load(
        workload,
        property_files=property_files or (),
        properties=properties or (),
        overrides=opt.spec_overrides(records=records, connections=connections, threads=threads, seed=seed),
        options=opt.surroundings(
            uri=uri, mongod=None, cache_gb=CACHE_GB_DEFAULT, drop=drop, runs_dir=runs_dir, quiet=quiet
        ),
    )
    return show_result(result, as_json=as_json, full=True)
