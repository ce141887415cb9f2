"""Owns `brimline load`."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from brimline.api.load import load as load_api
from brimline.cli import options as opt
from brimline.cli.output import print_said, printing, show_result
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.units import format_count
from brimline.wording import message

if TYPE_CHECKING:
    from brimline.api.results import AlreadyLoaded, LoadResult


def load(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.LoadUri = None,
    target: opt.Target = None,
    password_file: opt.PasswordFile = None,
    connections: opt.Connections = None,
    in_flight: opt.InFlight = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    drop: opt.Drop = False,
    resume: opt.Resume = False,
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    details: opt.Details = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> int:
    """Load a workload's records into a server and have it count them."""
    result = load_api(
        workload,
        property_files=property_files or (),
        properties=properties or (),
        overrides=opt.spec_overrides(
            records=records, connections=connections, in_flight=in_flight, threads=threads, seed=seed, target=target
        ),
        options=opt.surroundings(
            uri=uri,
            password_file=password_file,
            mongod=None,
            cache_gb=CACHE_GB_DEFAULT,
            drop=drop,
            resume=resume,
            runs_dir=runs_dir,
            quiet=quiet,
            lang=lang,
        ),
    )
    from brimline.api.results import AlreadyLoaded  # not before: the load has the memory to itself

    if isinstance(result, AlreadyLoaded):
        return _say(result, as_json=as_json, lang=lang)
    return show_result(result, details=details, as_json=as_json, lang=lang, closing=list(_counted(result)))


def _counted(result: "LoadResult") -> Iterator[str]:
    """What the server counted after a load, and what stayed of the collection; nothing where it fell short."""
    if result.error is not None:
        return
    yield message(
        "counted: {count} documents in {namespace}, as intended",
        count=format_count(result.document_count),
        namespace=result.namespace,
    )
    if names := [name for kind in result.kept.values() for name in kind]:
        yield message(
            "kept: indexes and options of {namespace} are as they were: {names}",
            namespace=result.namespace,
            names=", ".join(names),
        )


def _say(result: "AlreadyLoaded", *, as_json: bool, lang: str | None) -> int:
    with printing():
        if as_json:
            sys.stdout.write(json.dumps(result.to_dict(), indent=2) + "\n")
        else:
            nothing_to_do = message(
                "{namespace} holds all {count} documents already: nothing was sent",
                namespace=result.namespace,
                count=format_count(result.document_count),
            )
            print_said(nothing_to_do, lang)
    return 0
