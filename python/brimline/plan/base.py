"""Owns what all parts of a plan share: they are frozen, take no unknown key and convert nothing silently."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    """A part of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """`values` without those of `names` that say nothing."""
    return {name: value for name, value in values.items() if name not in names or not _says_nothing(value)}


def _says_nothing(value: Any) -> bool:
    return value is None or value is False or value == ()


Count = Annotated[int, Field(ge=0, le=2**64 - 1)]
Number = Annotated[int, Field(ge=0, le=2**32 - 1)]
