"""Owns what all parts of a spec share: they are frozen, take no unknown key and convert nothing silently."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, create_model
from pydantic_core import CoreSchema

_Model = TypeVar("_Model", bound=BaseModel)
TEXTS: Final = "__texts_of_fields__"
"""Where a model keeps the texts of fields that a table says."""


class Part(BaseModel):
    """A part of a spec. Keys are the fields' aliases: `duration_ns` is `duration`; the value has the unit."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, serialize_by_alias=True)


def with_fields(fields: Mapping[str, tuple[Any, Any, str]]) -> Callable[[type[_Model]], type[_Model]]:
    """Gives a part the fields that a table says: of each its type, its default, and the text that stands behind it."""

    def add(model: type[_Model]) -> type[_Model]:
        typed: dict[str, Any] = {name: (kind, default) for name, (kind, default, _) in fields.items()}
        made = create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **typed)
        texts = {name: text for name, (_, _, text) in fields.items()}
        setattr(made, TEXTS, texts)
        return made

    return add


def kind_only(value: object) -> object:
    """`uniform` is short for `{kind: uniform}`."""
    return {"kind": value} if isinstance(value, str) else value


def one_of(*names: str) -> Callable[[dict[str, Any]], None]:
    """What adds to the JSON schema of a part that one of these keys says something."""

    def add(schema: dict[str, Any]) -> None:
        schema["anyOf"] = [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in names]

    return add


@dataclass(frozen=True, slots=True, eq=False)
class InShort:
    """Stands in an annotation: the JSON schema of what may be written in place of the whole."""

    schema: Mapping[str, Any]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Either form."""
        return {"anyOf": [dict(self.schema), handler(core)]}


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """Stands in an annotation of a mapping whose keys are a person's own: what they match, in its JSON schema."""

    pattern: str

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The mapping with at least one name."""
        return {**handler(core), "propertyNames": {"pattern": self.pattern}, "minProperties": 1}
