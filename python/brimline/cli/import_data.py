"""Owns `brimline import`: mongoimport's flags, by the same names, beside brimline's own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, cast

import typer

from brimline.api.import_data import import_data as import_api
from brimline.api.import_data import require_there, resume_import
from brimline.api.options import DataOptions, Group, ServerOptions, option
from brimline.api.options.server import OF_A_HOST
from brimline.api.reopen import find_record
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, resumed_design
from brimline.cli.grouped import grouped, without
from brimline.cli.import_progress import ImportTerminalProgress
from brimline.cli.output import finish
from brimline.compat.mongo_tools.flags import refuse_address
from brimline.errors import UsageError
from brimline.execution.import_inputs import type_of_file
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


@dataclass(frozen=True, kw_only=True)
class ImportOptions(Group):
    """Mongoimport's options, by its names."""

    files: Sequence[str] = option(
        "",
        "FILES",
        "Files, patterns in quotes, or the directory of a mongodump; - or nothing: standard input.",
        default=(),
    )
    database: str | None = option("-d --db", "", "Database; default: the one in --uri, else test.")
    collection: str | None = option("-c --collection", "", "Collection; default: the file's name.")
    file: str | None = option("--file", "", "A file, as mongoimport has it.")
    type_: str | None = option("--type", "csv|tsv|json|bson", "Default: by the file's name, else json.")
    gzip: bool = option("--gzip", "", "The input is compressed; files named .gz always are.", default=False)
    headerline: bool = option("--headerline", "", "The first line names the columns.", default=False)
    fields: str | None = option("-f --fields", "", "Names of the columns, separated by commas.")
    field_file: Path | None = option("--fieldFile", "", "File with one column name per line.")
    columns_have_types: bool = option(
        "--columnsHaveTypes", "", "Columns are named like age.int32() or at.date(2006-01-02).", default=False
    )
    parse_grace: str = option(
        "--parseGrace", "GRACE", "Value of a wrong type: autoCast, skipField, skipRow or stop.", default="stop"
    )
    json_array: bool = option("--jsonArray", "", "The input is one array of documents.", default=False)
    legacy: bool = option("--legacy", "", "Extended JSON version 1, and the shell's syntax.", default=False)
    use_array_index_fields: bool = option(
        "--useArrayIndexFields", "", "Columns a.0, a.1 become an array.", default=False
    )
    ignore_blanks: bool = option("--ignoreBlanks", "", "Empty cells become no field.", default=False)
    drop: bool = option(
        "--drop",
        "",
        "Empty the collection first; its indexes and options stay. Without it documents are added.",
        default=False,
    )
    connections: int | None = option(
        "-j --numInsertionWorkers", "", f"Connections that insert; default {WORKERS_DEFAULT}."
    )
    mode: str | None = option("--mode", "MODE", "insert, upsert, merge or delete; default: insert.")
    upsert: bool = option("--upsert", "", "The same as --mode upsert.", default=False)
    upsert_fields: str | None = option(
        "--upsertFields", "", "Fields that say which stored document is meant; default: _id."
    )
    stop_on_error: bool = option("--stopOnError", "", "Stop at the first document that is refused.", default=False)
    maintain_insertion_order: bool = option(
        "--maintainInsertionOrder",
        "",
        "In the order of the input, over one connection, to the first error.",
        default=False,
    )
    write_concern: str = option(
        "--writeConcern", "", "majority, a number, or a document like '{w: 1, j: true}'.", default="majority"
    )
    bypass_document_validation: bool = option(
        "--bypassDocumentValidation", "", "Pass the collection's validator by.", default=False
    )
    batch_size: int = option("--batchSize", "", "Most documents in one command.", default=BATCH_SIZE_DEFAULT)
    resume: str | None = option("--resume", "RECORD", "Go on with an import that did not end: its record, or latest.")
    wait_for_server: str | None = option(
        "--wait-for-server", "TIME", "Wait so long for a server that goes away, such as 5m."
    )
    throw_away: bool = option(
        "--throw-away", "", "Into a mongod of brimline's own that is gone afterwards: a measurement.", default=False
    )


@grouped
def import_data(
    server: Annotated[
        ServerOptions,
        without(
            "null",
            "mariadb",
            "postgres",
            *OF_A_HOST,
            "profiler",
            uri="Server, as mongodb://HOST:PORT[/DATABASE]; or set BRIMLINE_URI.",
        ),
    ],
    output: Annotated[opt.OutputOptions, without("show", "prometheus", "otlp")],
    said: ImportOptions,
    design: DesignOptions,
    *,
    _verbose: Annotated[
        int, typer.Option("-v", "--verbose", count=True, help="Taken as mongoimport's; all of it is in the record.")
    ] = 0,
) -> int:
    """Import CSV, TSV, JSON or BSON into a collection and have the server count it, or at each level of factors."""
    named = [*(said.files or ()), *([said.file] if said.file is not None else ())]
    refuse_address(named)
    options = opt.surroundings(server, replace(output, quiet=True), DataOptions(drop=said.drop))
    progress = ImportSilence() if output.quiet else ImportTerminalProgress(language=output.language)
    wait_s = 0.0 if said.wait_for_server is None else _seconds(said.wait_for_server)
    if said.resume is not None:
        _refuse_with_resume(named, said.database, said.collection, drop=said.drop)
        if (gone_on := resumed_design(said.resume, "import", options)) is not None:
            return finish(gone_on, output, suite="import")
        directory = find_record(said.resume, runs_dir=options.runs_dir)
        result = resume_import(
            directory, workers=said.connections, wait_for_server_s=wait_s, options=options, progress=progress
        )
        return finish(result, output, suite="import")
    try:
        settings = _settings(said, named)
        design.require_asked()
        if design.is_asked:
            return _import_varied(named, said, settings, design, server, output)
        result = import_api(
            named,
            settings=settings,
            database=said.database,
            collection=said.collection,
            gzip=said.gzip,
            throw_away=said.throw_away,
            wait_for_server_s=wait_s,
            options=options,
            progress=progress,
        )
    except UsageError:
        require_there(named, gzip=said.gzip, collection=said.collection)
        raise
    return finish(result, output, suite="import")


def _import_varied(
    files: list[str],
    said: ImportOptions,
    settings: ImportSettings,
    design: DesignOptions,
    server: ServerOptions,
    output: opt.OutputOptions,
) -> int:
    """The import at each level of factors. Raises BrimlineError."""
    if said.wait_for_server is not None:
        raise UsageError("--wait-for-server has no effect with --vary", hint="leave it out")
    from brimline.api.measured_import import vary_import  # not before: an import has the memory to itself

    result = vary_import(
        files,
        factors=design.vary,
        levels=design.levels,
        settings=settings,
        database=said.database,
        collection=said.collection,
        gzip=said.gzip,
        throw_away=said.throw_away,
        design=design.settings,
        options=opt.surroundings(server, output, DataOptions(drop=said.drop)),
    )
    return finish(result, output, suite="import")


def _settings(said: ImportOptions, files: list[str]) -> ImportSettings:
    """Raises UsageError."""
    keys = tuple(name for name in (said.upsert_fields or "").split(",") if name)
    return ImportSettings(
        type=cast(FileType, said.type_.lower() if said.type_ else _type_of(files)),
        headerline=said.headerline,
        fields=said.fields,
        field_file_text=None if said.field_file is None else _text(said.field_file),
        columns_have_types=said.columns_have_types,
        parse_grace=cast(ParseGrace, said.parse_grace),
        json_array=said.json_array,
        legacy=said.legacy,
        use_array_index_fields=said.use_array_index_fields,
        ignore_blanks=said.ignore_blanks,
        workers=WORKERS_DEFAULT if said.connections is None else said.connections,
        mode=cast(Mode, _mode(said.mode, upsert=said.upsert, keys=keys)),
        upsert_fields=keys,
        stop_on_error=said.stop_on_error,
        maintain_insertion_order=said.maintain_insertion_order,
        write_concern=parse_write_concern(said.write_concern),
        bypass_document_validation=said.bypass_document_validation,
        batch_size=said.batch_size,
    )


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
    """By the first file's name."""
    return "json" if not files or files == ["-"] else type_of_file(files[0])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"--fieldFile {path} can't be read: {error}", hint="it is UTF-8 with one name per line"
        ) from error


def _seconds(text: str) -> float:
    try:
        return parse_duration(text) / 1e9
    except ValueError as error:
        raise UsageError(f"--wait-for-server: {error}", hint="write a time such as 30s or 5m") from error
