"""Owns the lies a server can tell: what becomes of an honest reply, drawn from a seed. Pure but for the draws.

A lie is told about the replies to one command (or to all), from the n-th on, once or always. It changes the message's
bytes, the document in it, what `hello` says of the server, or how the reply is sent: slowly, in part, twice, never.
"""

import struct
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.raw_bson import RawBSONDocument

SECRET = "hunter2-S3cr3t"
"""What nobody may ever see again, although the server says it too."""

_HEADER = struct.Struct("<iiii")
_OP_MSG = 2013
_BODY_AT = 21
"""A header, four bytes of flags and the kind of the first section come before the body of an OP_MSG."""
_CODEC = CodecOptions(document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_MS)
_SOME_BYTES = 64
_LENGTHS = (0, -1, 1, 4, 15, 16, 17, 2**16, 48_000_000, 48_000_001, 2**31 - 1, -(2**31))

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sending:
    """How a reply goes out: `data` in pieces of `piece_bytes`, each `pause_s` after the last, and what comes then."""

    data: bytes
    piece_bytes: int = 1 << 20
    pause_s: float = 0.0
    then: Literal["go on", "close", "silence"] = "go on"


Spoil = Callable[[Random, bytes, bytes], Sending]
"""From an honest request and its honest reply, whole messages, to what is sent."""


@dataclass(frozen=True, slots=True)
class Lie:
    """What is told. `command`: about replies to which; None: to all. `keeps_waiting`: the client has to wait it out."""

    name: str
    spoil: Spoil
    command: str | None = None
    first: int = 0
    always: bool = False
    keeps_waiting: bool = False

    def is_told(self, command: str, number: int) -> bool:
        """Whether the reply to `command`, the `number`-th of those that this lie is about, is spoiled."""
        about = self.command is None or self.command == command
        return about and (number >= self.first if self.always else number == self.first)


def drawn(seed: int, commands: Sequence[str]) -> Lie:
    """The lie of a seed, about one of `commands` or about all."""
    random = Random(seed)
    name = random.choice(sorted(_SPOILS))
    return Lie(
        name=name,
        spoil=_SPOILS[name],
        command=random.choice([None, *commands]),
        first=random.choice((0, 0, 0, 1, 2, 5, 12)),
        always=random.random() < 0.6,
        keeps_waiting=name in _KEEP_WAITING,
    )


def told_of(request: bytes) -> str:
    """The name of the command in a request, `hello` by any name."""
    name = next(iter(told_in(request)), "")
    return "hello" if name.lower() in {"hello", "ismaster"} else name


def told_in(request: bytes) -> Document:
    """The command in a request."""
    # An OP_QUERY has flags, the name of a collection and two numbers before its document.
    start = _BODY_AT if _is_op_msg(request) else request.index(b"\0", _HEADER.size + 4) + 9
    size = struct.unpack_from("<i", request, start)[0]
    return bson.decode(request[start : start + size], _CODEC)


def edited(reply: bytes, edit: Callable[[Document], object]) -> bytes:
    """`reply` with `edit` made to the document in it; header and length fit."""
    start = _start_of_body(reply)
    document = bson.decode(reply[start:], _CODEC)
    edit(document)
    return _framed(reply[:start] + bson.encode(document, codec_options=_CODEC))


def says(command: str, told: Mapping[str, Any], *, name: str = "", keeps_waiting: bool = False) -> Lie:
    """The lie that every reply to `command` has these fields; a field that is told as `...` is left out."""

    def edit(document: Document) -> None:
        document.update(told)
        for field in [field for field, value in told.items() if value is ...]:
            del document[field]

    return Lie(
        name=name or f"{command} says {told}",
        spoil=lambda _random, _request, reply: Sending(edited(reply, edit)),
        command=command,
        always=True,
        keeps_waiting=keeps_waiting,
    )


def none() -> Lie:
    """No lie at all."""
    return Lie("none", _silent, first=-1)


def silence(command: str, *, first: int = 0) -> Lie:
    """The lie that there never is an answer, from one of the requests on."""
    return Lie("silent", _silent, command=command, first=first, always=True)


def deep(depth: int) -> RawBSONDocument:
    """A document of so many around each other."""
    inside = b"\x05\0\0\0\0"
    for _ in range(depth):
        inside = struct.pack("<i", len(inside) + 8) + b"\x03d\0" + inside + b"\0"
    return RawBSONDocument(inside)


def _is_op_msg(message: bytes) -> bool:
    return bool(_HEADER.unpack_from(message)[3] == _OP_MSG)


def _start_of_body(reply: bytes) -> int:
    return _BODY_AT if _is_op_msg(reply) else 36  # OP_REPLY: 20 bytes of flags and numbers


def _framed(message: bytes) -> bytes:
    return struct.pack("<i", len(message)) + message[4:]


# The message's bytes


def _flipped(random: Random, _request: bytes, reply: bytes) -> Sending:
    spoiled = bytearray(reply)
    for _ in range(random.randint(1, 8)):
        spoiled[random.randrange(len(spoiled))] ^= 1 << random.randrange(8)
    return _not_waited_for(bytes(spoiled))


def _flipped_inside(random: Random, _request: bytes, reply: bytes) -> Sending:
    """The header stays, so that what reads it goes on to the body."""
    spoiled = bytearray(reply)
    for _ in range(random.randint(1, 8)):
        spoiled[random.randrange(_HEADER.size, len(spoiled))] ^= 1 << random.randrange(8)
    return Sending(bytes(spoiled))


def _wrong_number(random: Random, _request: bytes, reply: bytes) -> Sending:
    at = random.randrange(_HEADER.size, max(_HEADER.size + 1, len(reply) - 4))
    return Sending(reply[:at] + struct.pack("<i", random.choice(_LENGTHS)) + reply[at + 4 :])


def _wrong_header(random: Random, _request: bytes, reply: bytes) -> Sending:
    at = 4 * random.randrange(4)
    return _not_waited_for(reply[:at] + struct.pack("<i", random.choice(_LENGTHS)) + reply[at + 4 :])


def _not_waited_for(message: bytes) -> Sending:
    """Nobody has to wait for the rest of a message that announces more than it is."""
    return Sending(message, then="close" if struct.unpack_from("<i", message)[0] > len(message) else "go on")


def _wrong_flags(random: Random, _request: bytes, reply: bytes) -> Sending:
    return Sending(reply[:16] + struct.pack("<I", random.choice((1, 2, 3, 1 << 15, 1 << 16, 2**32 - 1))) + reply[20:])


def _cut(random: Random, _request: bytes, reply: bytes) -> Sending:
    return Sending(_framed(reply[: random.randrange(_HEADER.size, len(reply))]))


def _lengthened(random: Random, _request: bytes, reply: bytes) -> Sending:
    extra = random.randbytes(random.randint(1, _SOME_BYTES))
    return Sending(_framed(reply + extra) if random.random() < 0.5 else reply + extra)


def _noise(random: Random, _request: bytes, _reply: bytes) -> Sending:
    return Sending(random.randbytes(random.randint(1, 4096)), then="close")


# The document


def _odd_values() -> list[Any]:
    return [
        None,
        True,
        "",
        "x" * 70_000,
        f"\x1b[31m\nerror: a lie\nhint: mongodb://user:{SECRET}@host",
        f"<script>alert('{'y' * 10}')</script>",
        0,
        -1,
        2**31 - 1,
        -(2**31),
        2**63 - 1,
        -(2**63),
        float("nan"),
        float("inf"),
        -1e308,
        [],
        {},
        [[], {}, None],
        {"": {"": 1}, "$where": "1"},
        b"\xff" * 100,
        bson.DatetimeMS(2**62),
        bson.DatetimeMS(0),
        bson.ObjectId(b"0" * 12),
        bson.Regex("("),
        bson.MaxKey(),
        bson.Timestamp(0, 0),
        bson.Decimal128("NaN"),
        bson.Binary.from_uuid(uuid.UUID(int=0)),
        list(range(20_000)),
        {f"k{number}": number for number in range(20_000)},
        deep(50),
        deep(5_000),
    ]


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys: Sequence[Any] = ()
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = range(min(len(value), 20))
    return [deeper for key in keys for deeper in ((*place, key), *_places(value[key], (*place, key)))]


def _at_a_place(random: Random, reply: bytes, change: Callable[[Any, Any], None]) -> Sending:
    def edit(document: Document) -> None:
        for _ in range(random.choice((1, 1, 2, 6))):
            if not (places := _places(document)):
                return
            *path, last = random.choice(places)
            inside: Any = document
            for key in path:
                inside = inside[key]
            change(inside, last)

    return Sending(edited(reply, edit))


def _odd_value(random: Random, _request: bytes, reply: bytes) -> Sending:
    return _at_a_place(random, reply, lambda inside, key: inside.__setitem__(key, random.choice(_odd_values())))


def _left_out(random: Random, _request: bytes, reply: bytes) -> Sending:
    return _at_a_place(random, reply, lambda inside, key: inside.__delitem__(key))


def _odd_top(random: Random, _request: bytes, reply: bytes) -> Sending:
    """A value directly in the reply: those that everybody reads."""

    def edit(document: Document) -> None:
        document[random.choice(list(document) or ["ok"])] = random.choice(_odd_values())

    return Sending(edited(reply, edit))


def _refused(random: Random, _request: bytes, reply: bytes) -> Sending:
    odd = _odd_values()

    def edit(document: Document) -> None:
        document.clear()
        document["ok"] = 0
        for field in ("errmsg", "code", "codeName", "errorLabels"):
            if random.random() < 0.8:
                document[field] = random.choice((18, 13, "no", *odd))

    return Sending(edited(reply, edit))


def _partly_refused(random: Random, _request: bytes, reply: bytes) -> Sending:
    odd = _odd_values()

    def edit(document: Document) -> None:
        error = {field: random.choice((0, 11000, "no", *odd)) for field in ("index", "code", "errmsg")}
        document["writeErrors"] = [error] * random.choice((1, 3, 5_000))
        if random.random() < 0.5:
            document["writeConcernError"] = random.choice(odd)
        document["n"] = random.choice((-1, 0, 2**31 - 1, 2**62))

    return Sending(edited(reply, edit))


def _endless(random: Random, request: bytes, reply: bytes) -> Sending:
    """A cursor without an end, with documents or without."""
    named = "nextBatch" if told_of(request) == "getMore" else "firstBatch"
    documents = random.choice(([], [{"_id": 1}], [{"_id": "x" * 1000, "name": "x", "key": {"_id": 1}}] * 100))

    def edit(document: Document) -> None:
        document.clear()
        document |= {"ok": 1, "cursor": {named: documents, "id": bson.Int64(77), "ns": "ycsb.usertable"}}

    return Sending(edited(reply, edit))


def _giant(random: Random, _request: bytes, reply: bytes) -> Sending:
    """As long as a message may be."""
    few = random.random() < 0.5

    def edit(document: Document) -> None:
        document["pad"] = b"x" * 46_000_000 if few else [None] * 3_500_000

    return Sending(edited(reply, edit))


# The way


def _silent(_random: Random, _request: bytes, _reply: bytes) -> Sending:
    return Sending(b"", then="silence")


def _closed(random: Random, _request: bytes, reply: bytes) -> Sending:
    return Sending(reply[: random.randrange(len(reply))], then="close")


def _stuck(random: Random, _request: bytes, reply: bytes) -> Sending:
    return Sending(reply[: random.randrange(len(reply))], then="silence")


def _trickled(_random: Random, _request: bytes, reply: bytes) -> Sending:
    return Sending(reply, piece_bytes=7, pause_s=0.005)


def _twice(_random: Random, _request: bytes, reply: bytes) -> Sending:
    return Sending(reply + reply)


def _announced(random: Random, _request: bytes, reply: bytes) -> Sending:
    """Much is announced and little comes."""
    length = random.choice((48_000_000, 100_000, 2**31 - 1))
    return Sending(struct.pack("<i", length) + reply[4:] + b"x" * 10_000, then=random.choice(("close", "silence")))


_SPOILS: Mapping[str, Spoil] = {
    "flipped": _flipped,
    "flipped inside": _flipped_inside,
    "wrong number": _wrong_number,
    "wrong header": _wrong_header,
    "wrong flags": _wrong_flags,
    "cut": _cut,
    "lengthened": _lengthened,
    "noise": _noise,
    "odd value": _odd_value,
    "odd value, again": _odd_value,
    "odd top": _odd_top,
    "odd top, again": _odd_top,
    "left out": _left_out,
    "refused": _refused,
    "partly refused": _partly_refused,
    "endless": _endless,
    "giant": _giant,
    "silent": _silent,
    "closed": _closed,
    "stuck": _stuck,
    "trickled": _trickled,
    "twice": _twice,
    "announced": _announced,
}
_KEEP_WAITING = frozenset({"silent", "stuck", "announced"})
