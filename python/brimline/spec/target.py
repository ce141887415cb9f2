"""Owns the part of a spec that says which server, and keeps its password out of what is printed or stored."""

import re
from typing import Annotated, Final, Literal, Self, get_args
from urllib.parse import parse_qsl, unquote

from pydantic import BeforeValidator, Field, PlainSerializer, SecretStr, WithJsonSchema, model_validator

from brimline.errors import redact_uri
from brimline.spec.base import InShort, Part
from brimline.spec.own.protocols import STEPS, schemes
from brimline.spec.own.step_kind import ProtocolName
from brimline.spec.readers import shown, whole

Isolation = Literal["read committed", "repeatable read", "serializable"]
_TAG_LENGTH_MAX = 128
_LIKE_A_CONCERN = "write it like 1 or majority"
_CONCERN_IN_FULL = re.compile(r"\{?\s*[\"']?(?:[wWjJ]|journal|wtimeout(?:MS)?)[\"']?\s*[:=]")
_MEMBER_COUNT_MAX = 50
_TIMEOUT_MS_MAX = 2**31 - 1


def _read_uri(value: object) -> SecretStr:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {shown(value)}; write it like mongodb://localhost:27017")
    if "://***@" in value:
        raise ValueError(
            "has no password: it was left out when this spec was stored; give the address with --uri or BRIMLINE_URI"
        )
    scheme, separator, _ = value.partition("://")
    if not separator or scheme not in schemes():
        if separator and scheme.isalnum():
            known = ", ".join(f"{name}://" for name in schemes())
            raise ValueError(f'has the scheme "{scheme}"; write one of {known}')
        raise ValueError("has no scheme; write mongodb://HOST:PORT")
    if any(character.isspace() for character in value):
        raise ValueError("has a space in it; take it out, or write it as %20")
    return SecretStr(value)


Uri = Annotated[
    SecretStr,
    BeforeValidator(_read_uri),
    PlainSerializer(lambda uri: redact_uri(uri.get_secret_value()), return_type=str),
    WithJsonSchema(
        {
            "type": "string",
            "description": "mongodb://, http://, mysql://, postgresql://",
            "pattern": rf"^(?:{'|'.join(map(re.escape, schemes()))})://(?!\*\*\*@)\S*$",
        }
    ),
]


def read_acknowledgement(value: object) -> int | str:
    """Reads what a write waits for: a number of members, "majority" or a tag. Raises ValueError."""
    if isinstance(value, str) and not value.isdigit():
        if value.lstrip("+-").isdigit():
            raise ValueError(f"must be a number of members from 1 on, not {value}; {_LIKE_A_CONCERN}")
        if not 0 < len(value) <= _TAG_LENGTH_MAX:
            raise ValueError(f'must be a number of members, "majority" or a tag; {_LIKE_A_CONCERN}')
        if _CONCERN_IN_FULL.match(value):
            # A server would look for a tag of that name, and refuse every write.
            raise ValueError(f'must be a number of members, "majority" or a tag, not {value}; {_LIKE_A_CONCERN}')
        return value
    if value in (0, "0") and not isinstance(value, bool):
        raise ValueError("must not be 0: an unacknowledged write has no answer that could be timed; write 1 or more")
    return whole(1, _MEMBER_COUNT_MAX)(value)


_ACKNOWLEDGEMENT: Final = {
    "type": ["integer", "string"],
    "description": 'members, "majority" or a tag',
    "minimum": 1,
    "maximum": _MEMBER_COUNT_MAX,
    "maxLength": _TAG_LENGTH_MAX,
    "pattern": r"^(?!0+$|[+-]+[0-9]+$|\{?\s*[\"']?(?:[wWjJ]|journal|wtimeout(?:MS)?)[\"']?\s*[:=])[\s\S]",
}
Acknowledgement = Annotated[
    int | str,
    BeforeValidator(read_acknowledgement),
    WithJsonSchema(_ACKNOWLEDGEMENT),
]


class WriteConcernSpec(Part):
    """What every write waits for."""

    w: Acknowledgement = 1
    """How many members must have the write, `majority`, or a tag."""
    journal: bool | None = None
    """Whether the write must be in the journal; by default what the server decides."""
    timeout_ms: int | None = Field(default=None, ge=0, le=_TIMEOUT_MS_MAX, exclude_if=lambda value: value is None)
    """Milliseconds that a write may wait for its members; 0 or none: without a limit."""


def _plain_write_concern(value: object) -> object:
    """`majority` is short for `{w: majority}`."""
    return {"w": value} if isinstance(value, int | str) and not isinstance(value, bool) else value


WriteConcern = Annotated[
    WriteConcernSpec,
    BeforeValidator(_plain_write_concern),
    InShort(_ACKNOWLEDGEMENT),
]


Client = Literal["wire", "pymongo", "pymongo-async", "java-sync", "java-reactive", "node", "go", "rust", "jdbc"]
"""What operations are sent by: brimline's own client, a driver of MongoDB, or JDBC for SQL."""
CLIENTS: Final[tuple[Client, ...]] = get_args(Client)


class TargetSpec(Part):
    """A server; without `uri` brimline's own is started."""

    client: Client = Field(default="wire", exclude_if=lambda value: value == "wire")
    """What operations are sent by: `wire`, brimline's own client, a driver of MongoDB, or JDBC for SQL."""
    uri: Uri | None = None
    """The server; `--uri` and BRIMLINE_URI say the same."""
    write_concern: WriteConcern | None = None
    """What every write waits for; by default what the server decides."""

    @property
    def effective_write_concern(self) -> WriteConcernSpec | None:
        """The spec's write concern, else that of the address's options, else none: the server's default."""
        return self.write_concern or self._write_concern_of_uri()

    @model_validator(mode="after")
    def _check_agreement(self) -> Self:
        asked = self._write_concern_of_uri()
        if self.write_concern is not None and self.uri is not None:
            protocol = protocol_of_uri(self.uri.get_secret_value())
            if protocol != "mongodb":
                raise ValueError(f"write_concern is MongoDB's, and uri names {STEPS[protocol].target}; leave it out")
        if self.write_concern is not None and asked is not None and asked != self.write_concern:
            raise ValueError("write_concern and the options of uri ask for different write concerns; give one of them")
        return self

    def _write_concern_of_uri(self) -> WriteConcernSpec | None:
        return None if self.uri is None else write_concern_of_uri(self.uri.get_secret_value())


def protocol_of_uri(uri: str) -> ProtocolName:
    """What the target behind an address speaks, by its scheme; whatever is no other one's is MongoDB's to read."""
    scheme, separator, _ = uri.strip().partition("://")
    found = schemes().get(scheme.lower()) if separator else None
    return "mongodb" if found is None else found[0]


def write_concern_of_uri(uri: str) -> WriteConcernSpec | None:
    """The write concern that a connection string's `w`, `journal` and `wtimeoutMS` ask for; None without them.

    Raises ValueError when they ask for one that can't be measured; it quotes them, so that only what may be shown of
    the string is read.
    """
    if protocol_of_uri(uri) != "mongodb":
        return None
    options = {key.lower(): value for key, value in parse_qsl(redact_uri(uri).partition("?")[2].replace(";", "&"))}
    w, journal = options.get("w"), options.get("journal", options.get("j"))
    timeout = options.get("wtimeoutms", options.get("wtimeout"))
    if w is None and journal is None and timeout is None:
        return None
    if timeout is not None and not (timeout.isdecimal() and int(timeout) <= _TIMEOUT_MS_MAX):
        raise ValueError(
            "uri has an option wtimeoutMS that is no number of milliseconds; write it like wtimeoutMS=5000"
        )
    if journal not in (None, "true", "false"):
        raise ValueError(f"uri has the option journal={journal}; it is true or false")
    try:
        acknowledgement = read_acknowledgement(1 if w is None else w)
    except ValueError as error:
        raise ValueError(f"uri has the option w={w}; it {error}") from None
    return WriteConcernSpec(
        w=acknowledgement,
        journal=None if journal is None else journal == "true",
        timeout_ms=None if timeout is None else int(timeout),
    )


def database_of_uri(uri: str) -> str | None:
    """The database that the path of a connection string names; None where a wrong string has a password in its place.

    What isn't shown of a string isn't read from it either: errors quote the name.
    """
    if not STEPS[protocol_of_uri(uri)].names_a_database:
        return None
    path = redact_uri(uri).partition("://")[2].partition("?")[0].partition("/")[2]
    return unquote(path) or None
