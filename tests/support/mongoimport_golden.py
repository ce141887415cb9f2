"""Owns the recorded behaviour of the real mongoimport: its cases, their input, and comparing what a collection holds.

`tests/golden/mongoimport/README.md` says what the files mean and where mongoimport itself varies from run to run.
"""

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bson
from bson.codec_options import CodecOptions
from bson.json_util import CANONICAL_JSON_OPTIONS, dumps
from bson.raw_bson import RawBSONDocument
from pymongo.collection import Collection

GOLDEN = Path(__file__).parents[1] / "golden" / "mongoimport" / "cases.jsonl"
_OVERSIZE_CSV = b"_id,pad\n1," + b"x" * 17_000_000 + b"\n2,ok\n"
_OVERSIZE_MIDDLE = b'{"_id":1}\n{"_id":2,"pad":"' + b"x" * 20_000_000 + b'"}\n{"_id":3}\n'
_GENERATED = {
    "oversize-csv": _OVERSIZE_CSV,
    "oversize-exact-limit": b'{"_id":1,"pad":"' + b"x" * 16_777_192 + b'"}\n',
    "oversize-in-the-middle": _OVERSIZE_MIDDLE,
    "oversize-in-the-middle-stoponerror": _OVERSIZE_MIDDLE,
}

Documents = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Case:
    """What was asked of mongoimport, and what came of it, as `cases.jsonl` has it."""

    recorded: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.recorded["name"])

    @property
    def options(self) -> list[str]:
        return list(self.recorded["args"])

    @property
    def outcomes(self) -> list[Mapping[str, Any]]:
        """The recorded outcome, and the others that were seen: exit code, counts, documents."""
        others = [each for each in self.recorded.get("unstable", []) if each["documents"] is not None]
        return [self.recorded, *others]

    def prepare(self, directory: Path) -> None:
        """Puts the input files into `directory`."""
        for name, content in self.recorded["inputs"].items():
            (directory / name).write_bytes(_bytes(content))
        if (generated := _GENERATED.get(self.name)) is not None:
            (directory / f"input.{'csv' if 'csv' in self.name else 'json'}").write_bytes(generated)

    def prepare_collection(self, collection: Collection[Any]) -> None:
        """What the collection holds before: documents, an index, a validator."""
        collection.drop()
        if (validator := self.recorded.get("collection_validator_before")) is not None:
            collection.database.create_collection(collection.name, validator=validator)
        if (index := self.recorded.get("unique_index_before")) is not None:
            collection.create_index(list(index.items()), unique=True)
        if (seed := self.recorded.get("seed")) is not None:
            lines = _bytes(self.recorded["inputs"][seed]).decode().splitlines()
            collection.insert_many([bson.json_util.loads(line) for line in lines if line.strip()])

    def documents_in(self, collection: Collection[Any]) -> Documents:
        """What the collection holds, in the form and order of the recorded documents."""
        raw = collection.with_options(CodecOptions(document_class=RawBSONDocument))
        order = [("_id", 1)] if self.recorded["sort"] == "_id" else [("$natural", 1)]
        texts = [_text(each.raw) for each in raw.find().sort(order)]
        return self.comparable([json.loads(text, object_pairs_hook=_Pairs) for text in texts])

    def comparable(self, documents: Sequence[Any]) -> Documents:
        """Documents as nested pairs, so that the order of fields counts; without generated _ids if the case says so."""
        paired = [_pairs(each) for each in documents]
        if not self.recorded["generated_ids_dropped"]:
            return paired
        return sorted((_without_generated_id(each) for each in paired), key=repr)


def cases() -> list[Case]:
    """Every case, in the order of their names."""
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    return [Case(_plain_keys(json.loads(line, object_pairs_hook=_Pairs))) for line in lines]


def raw_documents(collection: Collection[Any]) -> set[str]:
    """The bytes of every document, as `comparable_bytes`."""
    raw = collection.with_options(CodecOptions(document_class=RawBSONDocument))
    return {comparable_bytes(each.raw.hex()) for each in raw.find()}


def comparable_bytes(hexadecimal: str) -> str:
    """Bytes with every NaN written the same way: mongoimport's has a bit set that says nothing."""
    return hexadecimal.replace("010000000000f87f", "000000000000f87f")


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON with its fields in order, twice where they are there twice."""


def _plain_keys(case: "_Pairs") -> dict[str, Any]:
    """The members of a case by name; what is no document is made a mapping again."""
    named = dict(case)
    for name in ("inputs", "unique_index_before", "collection_validator_before"):
        if name in named:
            named[name] = _mapping(named[name])
    named["unstable"] = [dict(each) for each in named.get("unstable", [])]
    return named


def _mapping(value: Any) -> Any:
    return {name: _mapping(inner) for name, inner in value} if isinstance(value, _Pairs) else value


def _bytes(content: str | Mapping[str, str]) -> bytes:
    """An input as text, or as `{"base64": …}`."""
    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])


def _text(raw: bytes) -> str:
    options: CodecOptions[Any] = CodecOptions(document_class=bson.SON, unicode_decode_error_handler="replace")
    document = bson.decode(raw, options)
    pad = document.get("pad")
    if isinstance(pad, str) and len(pad) > 1000:
        document = bson.SON(
            [(name, value) for name, value in document.items() if name != "pad"] + [("#pad_length", len(pad))]
        )
    return dumps(document, json_options=CANONICAL_JSON_OPTIONS)


def _pairs(value: Any) -> Any:
    """Doubles by value, since their text differs; everything else as it is written."""
    if isinstance(value, _Pairs):
        if len(value) == 1 and value[0][0] == "$numberInt":
            return int(value[0][1])  # as the notes about long values have it
        if len(value) == 1 and value[0][0] == "$numberDouble":
            number = float(value[0][1])
            return ("double", "nan" if math.isnan(number) else number, math.copysign(1, number))
        return tuple((name, _pairs(inner)) for name, inner in value)
    return [_pairs(inner) for inner in value] if isinstance(value, list) else value


def _without_generated_id(document: Any) -> Any:
    return tuple((name, value) for name, value in document if not (name == "_id" and _is_object_id(value)))


def _is_object_id(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 1 and value[0][0] == "$oid"
