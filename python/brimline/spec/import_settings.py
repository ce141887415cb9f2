"""Owns what an import is told: mongoimport's options, their defaults, and which of them contradict each other.

The names and their meaning are mongoimport's; `docs/guides/import.md` says where brimline differs and why.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from brimline.errors import UsageError

FileType = Literal["csv", "tsv", "json", "bson"]
Mode = Literal["insert", "upsert", "merge", "delete"]
ParseGrace = Literal["autoCast", "skipField", "skipRow", "stop"]

WORKERS_DEFAULT = 4
BATCH_SIZE_DEFAULT = 1000
_WORKERS_MAX = 256
_BATCH_SIZE_MAX = 100_000
_MEMBERS_MAX = 50
_TIMEOUT_MS_MAX = 2**31 - 1
_FLAGS = {
    "headerline": "--headerline",
    "fields": "--fields",
    "field_file_text": "--fieldFile",
    "columns_have_types": "--columnsHaveTypes",
    "ignore_blanks": "--ignoreBlanks",
    "json_array": "--jsonArray",
    "legacy": "--legacy",
}
_OF_COLUMNS = ("headerline", "fields", "field_file_text", "columns_have_types", "ignore_blanks")
_UNQUOTED = re.compile(r"""\"[^"]*"|'([^'"\\]*)'|\b([A-Za-z]\w*)(?=\s*:)""")
"""What of a document in a shell's syntax is written otherwise in JSON; what stands in double quotes is passed over."""
_OF_JSON = ("json_array", "legacy")


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteConcernSettings:
    """What the server waits for before it acknowledges; None: its own default."""

    w: int | str | None = "majority"
    journal: bool | None = None
    timeout_ms: int | None = None

    @property
    def document(self) -> dict[str, Any]:
        """As a command of MongoDB has it; empty: the server's own default."""
        asked = {"w": self.w, "j": self.journal, "wtimeout": self.timeout_ms}
        return {name: value for name, value in asked.items() if value is not None}

    @property
    def text(self) -> str:
        """As reports show it."""
        parts = [f"w: {self.w}"] if self.w is not None else []
        parts += [f"j: {str(self.journal).lower()}"] if self.journal is not None else []
        parts += [f"wtimeout: {self.timeout_ms} ms"] if self.timeout_ms is not None else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSettings:
    """How the inputs become documents and how those get into the collection.

    `field_file_text` is the content of the file that `--fieldFile` names. Raises UsageError for options that contradict
    each other.
    """

    type: FileType = "json"
    headerline: bool = False
    fields: str | None = None
    field_file_text: str | None = None
    columns_have_types: bool = False
    parse_grace: ParseGrace = "stop"
    json_array: bool = False
    legacy: bool = False
    use_array_index_fields: bool = False
    ignore_blanks: bool = False
    workers: int = WORKERS_DEFAULT
    mode: Mode = "insert"
    upsert_fields: tuple[str, ...] = ()
    stop_on_error: bool = False
    maintain_insertion_order: bool = False
    write_concern: WriteConcernSettings = WriteConcernSettings()
    bypass_document_validation: bool = False
    batch_size: int = BATCH_SIZE_DEFAULT

    def __post_init__(self) -> None:
        _one_of("--type", self.type, get_args(FileType))
        _one_of("--mode", self.mode, get_args(Mode))
        _one_of("--parseGrace", self.parse_grace, get_args(ParseGrace))
        _in_range("--numInsertionWorkers", self.workers, _WORKERS_MAX)
        _in_range("--batchSize", self.batch_size, _BATCH_SIZE_MAX)
        if self.mode == "insert" and self.upsert_fields:
            raise UsageError(
                "--upsertFields says which stored document is meant, and --mode insert looks for none",
                hint="give --mode upsert, merge or delete, or leave --upsertFields out",
            )
        if self.type in ("csv", "tsv"):
            self._check_columns()
            self._refuse(("legacy",), "json")
        else:
            self._refuse(_OF_COLUMNS, "csv and tsv")
        if self.type == "bson":
            self._refuse(_OF_JSON, "json")

    def _check_columns(self) -> None:
        given = [_FLAGS[name] for name in ("headerline", "fields", "field_file_text") if getattr(self, name)]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} both name the columns", hint="give one of them")
        if not given:
            raise UsageError(
                f"nothing says what the columns of a {self.type} file are called",
                hint="give --headerline when the first line names them, else --fields or --fieldFile",
            )

    def _refuse(self, names: Sequence[str], types: str) -> None:
        for name in names:
            if getattr(self, name):
                raise UsageError(f"{_FLAGS[name]} is for {types}, and the type is {self.type}",
                                 hint="leave it out, or give another --type")  # fmt: skip

    @property
    def connections(self) -> int:
        """Connections that insert: where order counts there is one."""
        return 1 if self.maintain_insertion_order else self.workers

    @property
    def format_document(self) -> dict[str, Any]:
        """The part that the engine's formats read."""
        columns: object = None
        if self.headerline:
            columns = "headerline"
        elif self.fields is not None:
            columns = {"fields": self.fields}
        elif self.field_file_text is not None:
            columns = {"field_file": self.field_file_text}
        return {
            "format": self.type,
            "columns": columns,
            "columns_have_types": self.columns_have_types,
            "parse_grace": self.parse_grace,
            "ignore_blanks": self.ignore_blanks,
            "use_array_index_fields": self.use_array_index_fields,
            "json_array": self.json_array and self.type == "json",
            "legacy": self.legacy,
        }

    def to_document(self) -> dict[str, Any]:
        """For the record."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "ImportSettings":
        """What a record holds. Raises TypeError, KeyError and UsageError for what is none."""
        concern = WriteConcernSettings(**document["write_concern"])
        fields = tuple(document["upsert_fields"])
        return cls(**{**document, "write_concern": concern, "upsert_fields": fields})


def parse_write_concern(text: str) -> WriteConcernSettings:
    """`majority`, a number, or a document such as `{w: 1, j: true, wtimeout: 500}`. Raises UsageError."""
    text = text.strip()
    document: dict[str, Any] = {"w": int(text) if text.isdigit() else text}
    if text.startswith("{"):
        try:
            document = json.loads(_as_json(text))
        except ValueError:
            raise _bad_concern(text) from None
    known = {"w", "j", "journal", "wtimeout", "fsync"}
    if not document.get("w", 1) or document.keys() - known or "fsync" in document:
        raise _bad_concern(text)
    w, journal = document.get("w"), document.get("j", document.get("journal"))
    timeout_ms = document.get("wtimeout")
    if isinstance(w, bool) or not isinstance(w, int | str | None) or not isinstance(timeout_ms, int | None):
        raise _bad_concern(text)
    if (isinstance(w, int) and not 1 <= w <= _MEMBERS_MAX) or not 0 <= (timeout_ms or 0) <= _TIMEOUT_MS_MAX:
        raise _bad_concern(text)
    return WriteConcernSettings(w=w, journal=None if journal is None else bool(journal), timeout_ms=timeout_ms)


def _as_json(text: str) -> str:
    """A document as shells are given it: names without quotes, names and words in single quotes."""
    return _UNQUOTED.sub(lambda found: found[0] if found[0][0] == '"' else f'"{found[1] or found[2] or ""}"', text)


def _bad_concern(text: str) -> UsageError:
    return UsageError(
        f'--writeConcern can\'t be "{text}"',
        hint="write majority, a number above 0, or a document such as '{w: 1, j: true, wtimeout: 500}'; "
        "an unacknowledged write can't be counted",
    )


def _one_of(flag: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(f'{flag} can\'t be "{value}"', hint=f"it is one of: {', '.join(known)}")


def _in_range(flag: str, value: int, highest: int) -> None:
    if not 1 <= value <= highest:
        raise UsageError(f"{flag} is {value}", hint=f"it is from 1 to {highest}")
