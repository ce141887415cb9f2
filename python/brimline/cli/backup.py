"""Owns `brimline backup` and `brimline restore`."""

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from brimline.api.backup import backup as backup_api
from brimline.api.backup import restore as restore_api
from brimline.api.options import ServerOptions
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import printing
from brimline.cli.talk import say
from brimline.dataset.backup import Backup, BackupProgress, Restored, backup_document, restore_document
from brimline.errors import UsageError, on_one_line
from brimline.units import NS_PER_S, counted, format_bytes, format_duration, format_percentage

_SAID_EVERY_S = 2.0

_SERVER_AND = "The server, unless --uri or BRIMLINE_URI says it, and"
_URI = "Server to use, as mongodb://HOST:PORT; or set BRIMLINE_URI."

Places = Annotated[
    list[str],
    typer.Argument(
        metavar="[URI] DIR", help=f"{_SERVER_AND} a directory that is empty or not there yet.", show_default=False
    ),
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="[URI] DIR", help=f"{_SERVER_AND} what brimline backup or mongodump --out wrote.", show_default=False
    ),
]
Databases = Annotated[
    list[str] | None,
    typer.Option(
        "--db", metavar="NAME", help="Only this database; repeatable. Default: all but admin, config and local.",
        show_default=False,
    ),
]  # fmt: skip
Gzip = Annotated[bool, typer.Option("--gzip", help="Compress the files.")]
Drop = Annotated[bool, typer.Option("--drop", help="Drop collections that are there; else they are refused.")]


@grouped
def backup(
    places: Places,
    server: Annotated[ServerOptions, only("password_file", uri=_URI)],
    printed: Annotated[opt.OutputOptions, only("as_json", "quiet")],
    *,
    databases: Databases = None,
    gzip: Gzip = False,
) -> int:
    """Write every collection of a server as BSON and metadata, as mongodump does; as of one instant where it can."""
    uri, directory = _places("backup", places, server.uri)
    said = _Said(quiet=printed.quiet)
    made = backup_api(
        directory,
        uri=uri,
        password=opt.password_source(server.password_file),
        databases=databases or (),
        gzip=gzip,
        progress=said.seen,
        notice=said.note,
    )
    with printing():
        text = json.dumps(backup_document(made), indent=2) + "\n" if printed.as_json else _told(made, directory)
        sys.stdout.write(text)
    return 0


@grouped
def restore(
    places: Sources,
    server: Annotated[ServerOptions, only("password_file", uri=_URI)],
    printed: Annotated[opt.OutputOptions, only("as_json", "quiet")],
    *,
    databases: Databases = None,
    drop: Drop = False,
) -> int:
    """Put back a backup: documents, options and indexes, counted and compared by hash."""
    uri, directory = _places("restore", places, server.uri)
    said = _Said(quiet=printed.quiet)
    password = opt.password_source(server.password_file)
    made = restore_api(directory, uri=uri, password=password, databases=databases or (), drop=drop,
                       progress=said.seen, notice=said.note)  # fmt: skip
    with printing():
        sys.stdout.write(json.dumps(restore_document(made), indent=2) + "\n" if printed.as_json else _put_back(made))
    return 0


def _places(verb: str, places: list[str], uri: str | None) -> tuple[str | None, Path]:
    """The server, if it is named among them, and the directory. Raises UsageError."""
    named = [place for place in places if "://" in place]
    others = [place for place in places if "://" not in place]
    if len(named) > 1 or len(others) != 1:
        raise UsageError(f"{verb} takes one server and one directory",
                         hint=f"write: brimline {verb} mongodb://HOST:PORT DIR")  # fmt: skip
    if named and uri is not None:
        raise UsageError("the server is named twice", hint="leave --uri out")
    return (named[0] if named else uri), Path(others[0])


class _Said:
    """Tells how far it is, now and then."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._at_s = time.monotonic()

    def note(self, text: str) -> None:
        """Something that is to be known."""
        say(f"note: {text}")

    def seen(self, seen: BackupProgress) -> None:
        """Of a backup or a restore: what of the collection at work is done, then of all."""
        all_ = [format_bytes(seen.bytes)]
        if seen.bytes_expected:
            all_.append(format_percentage(min(1.0, seen.bytes / seen.bytes_expected)))
        self._say(f"{seen.namespace}: {counted(seen.documents, 'document')}; in all {', '.join(all_)}")

    def _say(self, text: str) -> None:
        now_s = time.monotonic()
        if not self._quiet and now_s - self._at_s >= _SAID_EVERY_S:
            self._at_s = now_s
            say(text)


def _told(made: Backup, directory: Path) -> str:
    lines = [
        f"{on_one_line(each.namespace)}: {counted(each.documents, 'document')}, {format_bytes(each.bytes)}"
        for each in made.collections
    ]
    lines.append(
        f"{counted(made.documents, 'document')}, {format_bytes(made.bytes)}, {format_bytes(made.files_bytes)} of "
        f"files in {format_duration(made.elapsed_s * NS_PER_S)}: {directory}"
    )
    lines.append("all as of one instant" if not made.not_consistent else "collections may be of different instants")
    return "\n".join(lines) + "\n"


def _put_back(made: Restored) -> str:
    lines = [
        f"{on_one_line(each.namespace)}: {counted(each.documents, 'document')}, "
        f"{counted(each.indexes, 'index', 'indexes')}; the same by hash"
        for each in made.collections
    ]
    lines += [counted(made.views, "view")] if made.views else []
    lines.append(f"{counted(made.documents, 'document')} in {format_duration(made.elapsed_s * NS_PER_S)}")
    return "\n".join(lines) + "\n"
