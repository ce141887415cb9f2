"""Owns `brimline import`: mongoimport's flags, by the same names, beside brimline's own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from brimline.api.import_data import import_data as import_api
from brimline.api.import_data import resume_import
from brimline.api.options import DataOptions, ServerOptions
from brimline.api.reopen import find_record
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, without
from brimline.cli.import_progress import ImportTerminalProgress
from brimline.cli.output import finish
from brimline.errors import UsageError
from brimline.execution.import_progress import ImportSilence
from brimline.spec.import_settings import (
    BATCH_SIZE_DEFAULT,
    WORKERS_DEFAULT,
    FileType,
    ImportSettings,
    Mode,
    ParseGrace,
    parse_write_concern,
)
from brimline.units import parse_duration

_SUFFIXES: dict[str, FileType] = {".csv": "csv", ".tsv": "tsv", ".bson": "bson"}


@grouped
def import_data(
    server: Annotated[
        ServerOptions,
        without("null", uri="Server, as mongodb://HOST:PORT[/DATABASE]; or set BRIMLINE_URI."),
    ],
    output: opt.OutputOptions,
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, patterns in quotes, or the directory of a mongodump; - or nothing: standard input.",
            show_default=False,
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option("-d", "--db", help="Database; default: the one in --uri, else test.", show_default=False),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option("-c", "--collection", help="Collection; default: the file's name.", show_default=False),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--file", help="A file, as mongoimport has it.", show_default=False)
    ] = None,
    type_: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="csv|tsv|json|bson", help="Default: by the file's name, else json.", show_default=False
        ),
    ] = None,
    gzip: Annotated[bool, typer.Option("--gzip", help="The input is compressed; files named .gz always are.")] = False,
    headerline: Annotated[bool, typer.Option("--headerline", help="The first line names the columns.")] = False,
    fields: Annotated[
        str | None,
        typer.Option("-f", "--fields", help="Names of the columns, separated by commas.", show_default=False),
    ] = None,
    field_file: Annotated[
        Path | None, typer.Option("--fieldFile", help="File with one column name per line.", show_default=False)
    ] = None,
    columns_have_types: Annotated[
        bool, typer.Option("--columnsHaveTypes", help="Columns are named like age.int32() or at.date(2006-01-02).")
    ] = False,
    parse_grace: Annotated[
        str,
        typer.Option(
            "--parseGrace", metavar="GRACE", help="Value of a wrong type: autoCast, skipField, skipRow or stop."
        ),
    ] = "stop",
    json_array: Annotated[bool, typer.Option("--jsonArray", help="The input is one array of documents.")] = False,
    legacy: Annotated[bool, typer.Option("--legacy", help="Extended JSON version 1, and the shell's syntax.")] = False,
    use_array_index_fields: Annotated[
        bool, typer.Option("--useArrayIndexFields", help="Columns a.0, a.1 become an array.")
    ] = False,
    ignore_blanks: Annotated[bool, typer.Option("--ignoreBlanks", help="Empty cells become no field.")] = False,
    drop: Annotated[
        bool, typer.Option("--drop", help="Drop the collection first; without it documents are added.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "-j",
            "--numInsertionWorkers",
            help=f"Connections that insert; default {WORKERS_DEFAULT}.",
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode", metavar="MODE", help="insert, upsert, merge or delete; default: insert.", show_default=False
        ),
    ] = None,
    upsert: Annotated[bool, typer.Option("--upsert", help="The same as --mode upsert.")] = False,
    upsert_fields: Annotated[
        str | None,
        typer.Option(
            "--upsertFields", help="Fields that say which stored document is meant; default: _id.", show_default=False
        ),
    ] = None,
    stop_on_error: Annotated[
        bool, typer.Option("--stopOnError", help="Stop at the first document that is refused.")
    ] = False,
    maintain_insertion_order: Annotated[
        bool,
        typer.Option(
            "--maintainInsertionOrder", help="In the order of the input, over one connection, to the first error."
        ),
    ] = False,
    write_concern: Annotated[
        str, typer.Option("--writeConcern", help="majority, a number, or a document like '{w: 1, j: true}'.")
    ] = "majority",
    bypass_document_validation: Annotated[
        bool, typer.Option("--bypassDocumentValidation", help="Pass the collection's validator by.")
    ] = False,
    batch_size: Annotated[int, typer.Option("--batchSize", help="Most documents in one command.")] = BATCH_SIZE_DEFAULT,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="RECORD",
            help="Go on with an import that did not end: its record, or latest.",
            show_default=False,
        ),
    ] = None,
    wait_for_server: Annotated[
        str | None,
        typer.Option(
            "--wait-for-server",
            metavar="TIME",
            help="Wait so long for a server that goes away, such as 5m.",
            show_default=False,
        ),
    ] = None,
    throw_away: Annotated[
        bool,
        typer.Option("--throw-away", help="Into a mongod of brimline's own that is gone afterwards: a measurement."),
    ] = False,
    _verbose: Annotated[
        int, typer.Option("-v", "--verbose", count=True, help="Taken as mongoimport's; all of it is in the record.")
    ] = 0,
) -> int:
    """Import CSV, TSV, JSON or BSON into a collection, and have the server count it."""
    named = [*(files or ()), *([file] if file is not None else ())]
    options = opt.surroundings(server, replace(output, quiet=True), DataOptions(drop=drop))
    progress = ImportSilence() if output.quiet else ImportTerminalProgress()
    wait_s = 0.0 if wait_for_server is None else _seconds(wait_for_server)
    if resume is not None:
        _refuse_with_resume(named, database, collection, drop=drop)
        directory = find_record(resume, runs_directory=options.runs_directory)
        result = resume_import(directory, workers=workers, wait_s=wait_s, options=options, progress=progress)
        return finish(result, output, suite="import")
    keys = tuple(name for name in (upsert_fields or "").split(",") if name)
    settings = ImportSettings(
        type=cast(FileType, type_.lower() if type_ else _type_of(named)),
        headerline=headerline,
        fields=fields,
        field_file_text=None if field_file is None else _text(field_file),
        columns_have_types=columns_have_types,
        parse_grace=cast(ParseGrace, parse_grace),
        json_array=json_array,
        legacy=legacy,
        use_array_index_fields=use_array_index_fields,
        ignore_blanks=ignore_blanks,
        workers=WORKERS_DEFAULT if workers is None else workers,
        mode=cast(Mode, _mode(mode, upsert=upsert, keys=keys)),
        upsert_fields=keys,
        stop_on_error=stop_on_error,
        maintain_insertion_order=maintain_insertion_order,
        write_concern=parse_write_concern(write_concern),
        bypass_document_validation=bypass_document_validation,
        batch_size=batch_size,
    )
    result = import_api(
        named,
        settings=settings,
        database=database,
        collection=collection,
        gzip=gzip,
        throw_away=throw_away,
        wait_s=wait_s,
        options=options,
        progress=progress,
    )
    return finish(result, output, suite="import")


def _refuse_with_resume(files: list[str], database: str | None, collection: str | None, *, drop: bool) -> None:
    given = (
        ["a file"] * bool(files) + ["--db"] * bool(database) + ["--collection"] * bool(collection) + ["--drop"] * drop
    )
    if given:
        raise UsageError(
            f"--resume goes on with what its record says, and {given[0]} is given as well",
            hint="leave it out, or import anew without --resume",
        )


def _mode(mode: str | None, *, upsert: bool, keys: Sequence[str]) -> str:
    """Fields that say which document is meant ask for upsert as `--upsert` does: an insert looks for none."""
    if upsert and mode not in (None, "upsert"):
        raise UsageError(f"--upsert is --mode upsert, and --mode {mode} is given as well", hint="give one of them")
    return mode or ("upsert" if upsert or keys else "insert")


def _type_of(files: list[str]) -> FileType:
    """By the first file's name; a directory holds dumps."""
    if not files or files == ["-"]:
        return "json"
    path = Path(files[0].lower().removesuffix(".gz"))
    return "bson" if Path(files[0]).is_dir() else _SUFFIXES.get(path.suffix, "json")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--fieldFile {path} can't be read: {error}", hint="it is UTF-8 with one name per line"
        ) from error


def _seconds(text: str) -> float:
    try:
        return parse_duration(text) / 1e9
    except ValueError as error:
        raise UsageError(f"--wait-for-server: {error}", hint="write a time such as 30s or 5m") from error
