"""Owns what all parts of a plan share: they are frozen, take no unknown key and convert nothing silently."""

from collections.abc import Collection
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field

from brimline.spec.own.protocols import protocol_of_target


class Part(BaseModel):
    """A part of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _of_another_protocol(kind: str) -> str:
    """Without this a damaged plan, whose kind is misspelt, would be taken for that of a protocol not known here."""
    if protocol_of_target(kind) == "mongodb":
        raise ValueError(f'"{kind}" is of no protocol')
    return kind


class Link(Part):
    """A target or a request of a protocol without a type here: its crate reads what stands beside `kind`.

    The kind of both is that of the protocol's targets.
    """

    model_config = ConfigDict(extra="allow")

    kind: Annotated[str, AfterValidator(_of_another_protocol)]


def kind_among(kinds: Collection[str]) -> Discriminator:
    """Tells values of these kinds ("typed") from those of any other ("other"), in a union tagged so."""

    def tag(value: Any) -> str | None:
        kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
        return None if kind is None else "typed" if kind in kinds else "other"

    return Discriminator(tag, custom_error_type="no_kind", custom_error_message="should be an object that has a kind")


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """`values` without those of `names` that say nothing."""
    return {name: value for name, value in values.items() if name not in names or not _says_nothing(value)}


def _says_nothing(value: Any) -> bool:
    return value is None or value is False or value == ()


Count = Annotated[int, Field(ge=0, le=2**64 - 1)]
Number = Annotated[int, Field(ge=0, le=2**32 - 1)]
