"""Owns what all parts of a spec share: they are frozen, take no unknown key and convert nothing silently."""

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A part of a spec. Keys are the fields' aliases: `duration_ns` is `duration`; the value has the unit."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, serialize_by_alias=True)


def kind_only(value: object) -> object:
    """`uniform` is short for `{kind: uniform}`."""
    return {"kind": value} if isinstance(value, str) else value
