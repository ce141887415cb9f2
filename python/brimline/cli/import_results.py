"""Owns `brimline import-results`."""

from pathlib import Path
from typing import Annotated

import typer

from brimline.api.import_results import import_results as import_results_api
from brimline.cli import options as opt
from brimline.cli.output import show_result
from brimline.wording import wanted_language


def import_results(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="JTL files of JMeter, what one run of YCSB left (output, .hdr files …), or a histogram log.",
        ),
    ],
    runs_dir: opt.RunsDir = None,
    lang: opt.Lang = None,
    details: opt.Details = False,
    as_json: opt.Json = False,
) -> int:
    """Turn results of JMeter, YCSB and others into a record and a report."""
    result = import_results_api(files, runs_directory=runs_dir, language=wanted_language(lang))
    return show_result(result, details=details, as_json=as_json, lang=lang)
