"""Owns the part of a spec that says what the data looks like."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, SerializerFunctionWrapHandler, Tag, model_serializer, model_validator

from brimline.spec.base import Part
from brimline.spec.fields import (
    BatchSize,
    CollectionName,
    DatabaseName,
    FieldCount,
    FieldNamePrefix,
    KeyPrefix,
    RecordCount,
    RecordNumber,
    ZeroPadding,
)
from brimline.spec.generator_sizes import fields_bytes_max
from brimline.spec.generators import Template, named_collections
from brimline.spec.lengths import ConstantLength, Length, longest
from brimline.spec.readers import DOCUMENT_BYTES_MAX, MESSAGE_BYTES_MAX

TEMPLATE_TAG = "fields by name"
"""Stands in pydantic's paths where a mapping was given; it is no key."""


def _fields_tag(value: object) -> str:
    return TEMPLATE_TAG if isinstance(value, dict) else "count"


_ONLY_WITHOUT_TEMPLATE = ("field_length", "field_name_prefix")
Fields = Annotated[
    Annotated[FieldCount, Tag("count")] | Annotated[Template, Tag(TEMPLATE_TAG)], Discriminator(_fields_tag)
]


class DataSpec(Part):
    """The records `insert_start … insert_start + records - 1` and where they are.

    `fields` is a number, then they are YCSB's, bytes of `field_length`; or a template, a generator for each field.
    """

    has_others: ClassVar[bool] = False
    """Whether there are other collections, whose keys fields may have."""

    records: RecordCount
    """Number of documents."""
    insert_start: RecordNumber = 0
    """Number of the first record."""
    fields: Fields = 10
    """Fields of a document: how many, or a generator for each by its name."""
    field_length: Length = ConstantLength(length=100)
    """Bytes of each field, where `fields` is a number."""
    field_name_prefix: FieldNamePrefix = "field"
    """What the names of fields begin with, where `fields` is a number: `field0`, `field1` …"""
    key_prefix: KeyPrefix = "user"
    """What each `_id` begins with."""
    insert_order: Literal["hashed", "ordered"] = "hashed"
    """Whether keys are scattered over the index by a hash, or ascend with the record's number."""
    zero_padding: ZeroPadding = 1
    """Digits to which the number in a key is padded with zeros."""
    values: Literal["random", "derived"] = "random"
    """Whether bytes are random, or follow from key and field, so that reads can be verified."""
    database: DatabaseName = "ycsb"
    """The database of the collection."""
    collection: CollectionName = "usertable"
    """The collection that holds the documents."""
    batch_size: BatchSize | None = None
    """Documents per insert command while loading; by default 1000, fewer when documents are large."""

    @property
    def template(self) -> dict[str, Any] | None:
        """The generator of each field by its name; None where fields are YCSB's."""
        return self.fields if isinstance(self.fields, dict) else None

    @property
    def field_count(self) -> int:
        """How many fields a document has beside its key."""
        return len(self.fields) if isinstance(self.fields, dict) else self.fields

    @property
    def field_names(self) -> list[str]:
        """Their names, in order."""
        if isinstance(self.fields, dict):
            return list(self.fields)
        return [f"{self.field_name_prefix}{number}" for number in range(self.fields)]

    def first_fields_bytes_max(self, count: int) -> int:
        """Upper bound of the bytes of the first `count` fields of a document, as a document of their own."""
        if isinstance(self.fields, dict):
            return fields_bytes_max(dict(list(self.fields.items())[:count]))
        return count * longest(self.field_length)

    @property
    def document_bytes_max(self) -> int:
        """Size of the largest document: `_id`, and each field with type, name, length and subtype."""
        key = 15 + len(self.key_prefix.encode()) + max(self.zero_padding, 20)
        if isinstance(self.fields, dict):
            return key + fields_bytes_max(self.fields)
        name = len(self.field_name_prefix.encode()) + len(str(self.fields))
        return key + self.fields * (7 + name + longest(self.field_length))

    @model_serializer(mode="wrap")
    def _without_idle_keys(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = dump(self)
        if self.template is None:
            return values
        return {key: value for key, value in values.items() if key not in _ONLY_WITHOUT_TEMPLATE}

    @model_validator(mode="after")
    def _check_one_kind_of_fields(self) -> Self:
        if self.template is None:
            return self
        if "_id" in self.template:
            raise ValueError(
                "data.fields can't have _id, which is the key: a prefix and the record's number; name it otherwise"
            )
        for name in _ONLY_WITHOUT_TEMPLATE:
            if name in self.model_fields_set:
                raise ValueError(f"data.fields names the fields, so that data.{name} has no effect; leave {name} out")
        return self

    @model_validator(mode="after")
    def _check_named_collections(self) -> Self:
        for path, name in named_collections(self.template or {}) if not self.has_others else ():
            where = ".".join(map(str, ("data.fields", *path)))
            raise ValueError(f"{where} has keys of {name}, but data is the only collection; write both as collections")
        return self

    @model_validator(mode="after")
    def _check_derived_values(self) -> Self:
        if self.values == "random":
            return self
        if self.template is not None:
            raise ValueError("data.values is about fields that are a number; leave data.values out")
        if not isinstance(self.field_length, ConstantLength):
            raise ValueError("derived values have one length; write data.field_length as a number")
        if not (self.key_prefix.isascii() and self.field_name_prefix.isascii()):
            raise ValueError(
                "derived values are ASCII, and so must data.key_prefix and data.field_name_prefix be; write ASCII"
            )
        return self

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        size = self.document_bytes_max
        if size > DOCUMENT_BYTES_MAX:
            raise ValueError(
                f"documents reach {size} bytes, more than MongoDB's {DOCUMENT_BYTES_MAX}; make fields fewer or shorter"
            )
        self.check_batch(self.batch_size or 1)
        return self

    def check_batch(self, count: int) -> None:
        """Raises ValueError where so many documents can be too large for one command."""
        size = count * self.document_bytes_max
        if count > 1 and size > MESSAGE_BYTES_MAX:
            raise ValueError(
                f"{count} documents per command reach {size} bytes, more than a message's {MESSAGE_BYTES_MAX}; "
                f"at most {MESSAGE_BYTES_MAX // self.document_bytes_max} such documents fit"
            )
