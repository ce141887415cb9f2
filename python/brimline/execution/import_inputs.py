"""Owns which files an import reads, and knowing them again when it goes on."""

import csv
import glob
import hashlib
import json
import re
import shlex
import stat
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from gzip import decompress as gunzip
from gzip import open as open_gzip
from pathlib import Path
from urllib.parse import unquote

from brimline.errors import UsageError
from brimline.record.data_import import InputFile
from brimline.spec.import_settings import FileType, ImportSettings

STDIN = "-"
_HEAD_BYTES = 1 << 20
_LINES_BYTES = 1 << 16
_SEPARATORS = ",;\t|"
_NAMES_OF_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_COLUMN_TYPE = re.compile(r"\.\w+\([^()]*\)$")
_GZIP_SUFFIX = ".gz"
_TEXT_ENDING = re.compile(r"\.(?:csv|tsv|json)(?:\.gz)?$", re.IGNORECASE)
_ANNEX = "annex/objects/"
_SYSTEM = "system."
_COMPRESSIONS = {".br": "brotli", ".snappy": "snappy", ".sz": "snappy", ".deflate": "deflate", ".zz": "zlib"}
_DUMP_SUFFIXES = (".bson", ".bson.gz")
_CUT_MARK = "%24"
"""Stands between the beginning of a name that was too long for a file and its hash; a name's own $ is not encoded."""


_TYPES: Mapping[str, FileType] = {".csv": "csv", ".tsv": "tsv", ".bson": "bson"}


def type_of_file(name: str) -> FileType:
    """What a file holds, by its name; a directory holds dumps."""
    suffix = Path(name.lower().removesuffix(_GZIP_SUFFIX)).suffix
    return "bson" if Path(name).is_dir() else _TYPES.get(suffix, "json")


def find_inputs(names: Sequence[str], *, gzip: bool, collection: str | None) -> list[InputFile]:
    """The files that `names` mean: paths, patterns, the directory of a mongodump, `-` for standard input.

    Raises UsageError for what isn't there, can't be read, or is a directory without a dump of one collection.
    """
    if not names or list(names) == [STDIN]:
        return [InputFile(path=None, gzip=gzip)]
    if STDIN in names:
        raise UsageError("- is standard input, and files are named beside it", hint="import them one after the other")
    paths = [path for name in names for path in _paths(name, collection)]
    _require_once(paths)
    return [_described(path, gzip=gzip) for path in paths]


def _require_once(paths: Sequence[Path]) -> None:
    """Raises UsageError for a file that is named twice, by whatever paths: its records would be imported twice."""
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        with suppress(OSError):  # told with its reason when the file is looked at
            status = path.stat()
            first = seen.setdefault((status.st_dev, status.st_ino), path)
            if first is not path:
                also = "" if first == path else f", also as {first}"
                raise UsageError(f"{path} is named twice{also}", hint="name each file once; check patterns for overlap")


def _paths(name: str, collection: str | None) -> list[Path]:
    path = Path(name)
    if path.is_dir():
        return [_dumped_collection(path, collection)]
    if path.exists() or not glob.has_magic(name):
        return [path]
    found = sorted(glob.glob(name))  # noqa: PTH207 - of any path, absolute or not
    if not found:
        raise UsageError(f"no file fits {name}", hint="check the pattern; quote it so that the shell leaves it alone")
    return [Path(each) for each in found]


def _dumped_collection(directory: Path, collection: str | None) -> Path:
    """The one dump below a directory that is meant."""
    dumps = sorted(path for path in directory.rglob("*") if path.name.lower().endswith(_DUMP_SUFFIXES))
    # What the server keeps for itself is dumped beside the collections, and is meant only where it is named.
    of_people = [path for path in dumps if not path.name.startswith(_SYSTEM)] if collection is None else dumps
    wanted = [path for path in of_people if collection in (None, collection_of(path))]
    if len(wanted) == 1:
        return wanted[0]
    if not dumps:
        raise UsageError(f"{directory} is a directory without a BSON dump in it", hint=_files_hint(directory))
    names = ", ".join(sorted({collection_of(path) for path in dumps})[:8])
    if wanted and len({collection_of(path) for path in wanted}) == 1:
        files = ", ".join(shlex.quote(str(path)) for path in wanted[:8])
        raise UsageError(
            f"{directory} holds more than one dump of {collection_of(wanted[0])}",
            hint=f"give one of its files: {files}",
        )
    if wanted:
        raise UsageError(
            f"{directory} holds dumps of more than one collection",
            hint=f"give one of its files, or --collection; there are: {names}",
        )
    # --collection says which dump of a directory is meant; beside a file it says what the collection is called.
    missing = "a collection" if collection is None else collection
    raise UsageError(
        f"{directory} has no dump of {missing}, but of: {names}",
        hint="to import one under this name, give its file: brimline import "
        f"{shlex.quote(str(dumps[0]))} --collection {shlex.quote(collection or 'NAME')}",
    )


def _files_hint(directory: Path) -> str:
    """How the files in a directory without a dump are named: by the first that could be an input."""
    for path in sorted(directory.rglob("*")):
        if (ending := _TEXT_ENDING.search(path.name)) is not None:
            return f"name its files: {shlex.quote(f'{path.parent}/*{ending[0]}')}"
    return "name its files, such as 'DIRECTORY/*.csv'"


def collection_of(path: Path) -> str:
    """The collection that a file is called after: its name without what says how it is written.

    mongodump writes some characters as %XX, and cuts names too long for a file: those are whole in the file beside it.
    """
    name = path.name[: -len(_GZIP_SUFFIX)] if _is_gzip(path) else path.name
    stem = name.rpartition(".")[0] or name
    if not path.name.lower().endswith(_DUMP_SUFFIXES):
        return stem
    return _name_in_metadata(path, stem) or _percent_decoded(stem)


def _name_in_metadata(dump: Path, stem: str) -> str | None:
    """The collection of a dump whose name was cut, as its `.metadata.json` has it; None where the name is whole."""
    if _CUT_MARK not in stem:
        return None
    plain = dump.with_name(f"{stem}.metadata.json")
    packed = dump.with_name(f"{stem}.metadata.json.gz")
    with suppress(OSError, EOFError, zlib.error, ValueError, LookupError, TypeError):
        text = plain.read_bytes() if plain.exists() else gunzip(packed.read_bytes())
        return str(json.loads(text)["collectionName"])
    return None


def _percent_decoded(name: str) -> str:
    try:
        return unquote(name, errors="strict")
    except UnicodeDecodeError:
        return name


def _described(path: Path, *, gzip: bool) -> InputFile:
    if not _is_utf8(path):
        raise UsageError(
            f"{str(path)!a} has a name that is not UTF-8", hint="rename it, or import it as standard input"
        )
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            # What is read of a pipe here would be missing later, and its name may mean something to this process only.
            return InputFile(path=str(path.absolute()), gzip=gzip or _is_gzip(path))
        with path.open("rb") as file:
            head = hashlib.sha256(file.read(_HEAD_BYTES)).hexdigest()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        hint = "git annex get fetches it" if _leads_to_annex(path) else "check the path and who may read it"
        raise UsageError(f"{path} can't be read: {reason}", hint=hint) from error
    return InputFile(
        path=str(path.resolve()),
        gzip=gzip or _is_gzip(path),
        size_bytes=status.st_size,
        modified_ns=status.st_mtime_ns,
        head_sha256=head,
    )


def _leads_to_annex(path: Path) -> bool:
    """Whether it is a link of git-annex: that leads nowhere before the file was fetched."""
    return path.is_symlink() and _ANNEX in str(path.readlink())


def compression_by_name(path: str | None) -> str | None:
    """What a file is compressed with, as its name says; of those whose first bytes don't tell."""
    return None if path is None else _COMPRESSIONS.get(Path(path).suffix.lower())


def tables_of_cr(inputs: Sequence[InputFile]) -> tuple[str, ...]:
    """The tables all of whose lines end with CR alone: each is one header and no row, as mongoimport reads it too."""
    return tuple(each.path for each in inputs if each.path is not None and _ends_lines_with_cr(each))


def _ends_lines_with_cr(table: InputFile) -> bool:
    if table.path is None or table.gzip or not table.is_file:
        return False
    with suppress(OSError), Path(table.path).open("rb") as file:
        head = file.read(_LINES_BYTES)
        return b"\n" not in head and b"\r" in head.rstrip(b"\r")
    return False


def other_separators(inputs: Sequence[InputFile], kind: str) -> list[str]:
    """What to say of tables whose header or first row seems to be separated by another character than its `kind` is."""
    separator = {"csv": ",", "tsv": "\t"}.get(kind)
    return [said for each in inputs if separator and (said := _other_separator(each, separator)) is not None]


def _other_separator(table: InputFile, separator: str) -> str | None:
    header, row = [*(line for line in _first_lines(table) if line.strip()), "", ""][:2]
    for other in _SEPARATORS.replace(separator, ""):
        columns = max(header.count(other), header.count(separator))
        if columns and any(line.count(other) >= columns and separator not in line for line in (header, row)):
            named = [_NAMES_OF_SEPARATORS[each] for each in (other, separator)]
            name = Path(str(table.path)).name
            return f"{name} seems to be separated by {named[0]}, and is read as separated by {named[1]}"
    return None


def _first_lines(table: InputFile) -> list[str]:
    if table.path is not None and table.is_file:
        path = Path(table.path)
        with suppress(OSError, EOFError, zlib.error), open_gzip(path) if table.gzip else path.open("rb") as file:
            return file.read(_LINES_BYTES).decode("utf-8-sig", errors="replace").splitlines()
    return []


def column_names(first: InputFile, settings: ImportSettings) -> list[str]:
    """The columns of a table but `_id`, as options or its first line have them; documents have none."""
    if settings.type not in ("csv", "tsv"):
        return []
    lines = (settings.field_file_text or "").splitlines()
    if not lines:
        separator = "\t" if settings.type == "tsv" and settings.headerline else ","
        head = [settings.fields] if settings.fields is not None else _first_lines(first)
        lines = next(csv.reader(head, delimiter=separator), [])
    names = [_COLUMN_TYPE.sub("", each) if settings.columns_have_types else each for each in map(str.strip, lines)]
    return [each for each in names if each not in ("", "_id")]


def _is_gzip(path: Path) -> bool:
    return path.name.lower().endswith(_GZIP_SUFFIX)


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def require_unchanged(inputs: Sequence[InputFile]) -> None:
    """Raises UsageError when a file is not what it was: its places would mean other records."""
    for known in inputs:
        if known.path is None:
            continue
        differences = _differences(known, _described(Path(known.path), gzip=known.gzip))
        if differences:
            raise UsageError(
                f"{known.path} was changed since the import began: {', '.join(differences)}",
                hint="restore the file, or import anew; what was imported so far is in the collection",
            )


def changed_inputs(inputs: Sequence[InputFile]) -> tuple[str, ...]:
    """The files that are not what they were when the import began; one that is gone was read all the same."""
    changed = []
    for known in inputs:
        if known.path is None or not known.is_file:
            continue
        try:
            differences = _differences(known, _described(Path(known.path), gzip=known.gzip))
        except UsageError:
            continue
        if differences:
            changed.append(f"{known.path} ({', '.join(differences)})")
    return tuple(changed)


def _differences(known: InputFile, now: InputFile) -> list[str]:
    values = (
        ("size", known.size_bytes, now.size_bytes),
        ("content", known.head_sha256, now.head_sha256),
        ("time of the last change", known.modified_ns, now.modified_ns),
    )
    return [name for name, then, here in values if then != here]
