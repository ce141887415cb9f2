"""Owns the recorded behaviour of the real mongoimport: its cases, their input, and comparing what a collection holds.

`tests/golden/mongoimport/README.md` says what the files mean and where mongoimport itself varies from run to run.
"""

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bson
from bson.codec_options import CodecOptions
from bson.json_util import CANONICAL_JSON_OPTIONS, dumps
from bson.raw_bson import RawBSONDocument
from pymongo.collection import Collection

GOLDEN = Path(__file__).parents[1] / "golden" / "mongoimport"
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
    """What was asked of mongoimport, and what came of it."""

    name: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]

    @property
    def directory(self) -> Path:
        return GOLDEN / self.name

    @property
    def options(self) -> list[str]:
        return list(self.arguments["args"])

    @property
    def exit_code(self) -> int:
        return int(self.result["exit_code"])

    @property
    def outcomes(self) -> list[Mapping[str, Any]]:
        """The recorded outcome, and the others that were seen: exit code, counts, documents."""
        recorded = {**self.result, "expected": (self.directory / "expected.jsonl").read_text("utf-8").splitlines()}
        others = self.result.get("unstable", {}).get("others", [])
        return [recorded, *others]

    def prepare(self, directory: Path) -> None:
        """Puts the input files into `directory`."""
        shutil.copytree(self.directory, directory, dirs_exist_ok=True)
        if (content := _GENERATED.get(self.name)) is not None:
            suffix = "csv" if "csv" in self.name else "json"
            (directory / f"input.{suffix}").write_bytes(content)

    def prepare_collection(self, collection: Collection[Any]) -> None:
        """What the collection holds before: documents, an index, a validator."""
        collection.drop()
        if (validator := self.arguments.get("collection_validator_before")) is not None:
            collection.database.create_collection(collection.name, validator=validator)
        if (index := self.arguments.get("unique_index_before")) is not None:
            collection.create_index(list(index.items()), unique=True)
        if (seed := self.arguments.get("seed")) is not None:
            lines = (self.directory / seed).read_text("utf-8").splitlines()
            collection.insert_many([bson.json_util.loads(line) for line in lines if line.strip()])

    def documents_in(self, collection: Collection[Any]) -> Documents:
        """What the collection holds, in the form and order of the recorded documents."""
        raw = collection.with_options(CodecOptions(document_class=RawBSONDocument))
        order = [("_id", 1)] if self.arguments["sort"] == "_id" else [("$natural", 1)]
        return self.comparable([_text(each.raw) for each in raw.find().sort(order)])

    def comparable(self, lines: Sequence[str]) -> Documents:
        """Documents as nested pairs, so that the order of fields counts; without generated _ids if the case says so."""
        documents = [_pairs(json.loads(line, object_pairs_hook=_Pairs)) for line in lines]
        if not self.arguments["generated_ids_dropped"]:
            return documents
        return sorted((_without_generated_id(each) for each in documents), key=repr)


def cases() -> list[Case]:
    """Every case, in the order of their names."""
    return [
        Case(path.name, json.loads((path / "args.json").read_text()), json.loads((path / "result.json").read_text()))
        for path in sorted(GOLDEN.iterdir())
        if path.is_dir()
    ]


def raw_documents(collection: Collection[Any]) -> set[str]:
    """The bytes of every document, as `comparable_bytes`."""
    raw = collection.with_options(CodecOptions(document_class=RawBSONDocument))
    return {comparable_bytes(each.raw.hex()) for each in raw.find()}


def comparable_bytes(hexadecimal: str) -> str:
    """Bytes with every NaN written the same way: mongoimport's has a bit set that says nothing."""
    return hexadecimal.replace("010000000000f87f", "000000000000f87f")


class _Pairs(list[tuple[str, Any]]):
    """An object of JSON with its fields in order, twice where they are there twice."""


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
