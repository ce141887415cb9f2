"""Owns `brimline load`."""

import json
import sys

from brimline import api
from brimline.cli import options as opt
from brimline.cli.output import RECORD_KEPT, console, printing, show_result
from brimline.report import said_in, wanted_language
from brimline.servers.bundled import CACHE_GB_DEFAULT
from brimline.units import format_count
from brimline.wording import message


def load(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.LoadUri = None,
    password_file: opt.PasswordFile = None,
    connections: opt.Connections = None,
    records: opt.Records = None,
    threads: opt.Threads = None,
    seed: opt.Seed = None,
    drop: opt.Drop = False,
    resume: opt.Resume = False,
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
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
    if isinstance(result, api.AlreadyLoaded):
        return _say(result, as_json=as_json, lang=lang)
    code = show_result(result, as_json=as_json, full=True, lang=lang)
    if not as_json:
        with printing(hint=RECORD_KEPT):
            counted = message(
                "counted: {count} documents in {namespace}, as intended",
                count=format_count(result.document_count),
                namespace=result.namespace,
            )
            console().print(said_in(wanted_language(lang), counted))
    return code


def _say(result: api.AlreadyLoaded, *, as_json: bool, lang: str | None) -> int:
    with printing():
        if as_json:
            sys.stdout.write(json.dumps(result.to_dict(), indent=2) + "\n")
        else:
            nothing_to_do = message(
                "{namespace} holds all {count} documents already: nothing was sent",
                namespace=result.namespace,
                count=format_count(result.document_count),
            )
            console().print(said_in(wanted_language(lang), nothing_to_do))
    return 0
