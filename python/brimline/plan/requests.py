"""Owns the plan's types of requests that are none of MongoDB's: HTTP's, and SQL statements.

The slots of a request are the items of its step's `body`, counted from 0: the engine draws them, the protocol renders
them.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, Tag, model_validator

from brimline.plan.base import Link, Number, Part, kind_among
from brimline.spec.own.http_replies import ANY_STATUS

Rendering = Literal["text", "url", "json", "form", "cookie"]


class Piece(Part):
    """A part of a request: text as it is, or a slot, written as it must be where it stands."""

    model_config = ConfigDict(serialize_by_alias=True)

    text: str | None = Field(default=None, exclude_if=lambda value: value is None)
    slot: Number | None = Field(default=None, exclude_if=lambda value: value is None)
    rendering: Rendering | None = Field(default=None, alias="as", exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _is_one_of_both(self) -> "Piece":
        if (self.text is None) == (self.slot is None) or (self.slot is None) != (self.rendering is None):
            raise ValueError("is text, or a slot and how it is written")
        return self


Pieces = Annotated[tuple[Piece, ...], Field(strict=False)]


class Header(Part):
    """A header, its name in lower case."""

    name: str
    value: Pieces


class HttpRequest(Part):
    """One HTTP request. `target` is path and query; replies whose status is in none of the ranges are failures."""

    kind: Literal["http"] = "http"
    method: str
    target: Pieces
    headers: Annotated[tuple[Header, ...], Field(strict=False)] = ()
    body: Pieces | None = None
    status: Annotated[tuple[Annotated[tuple[Number, Number], Field(strict=False)], ...], Field(strict=False)] = (
        ANY_STATUS,
    )


class StatementRequest(Part):
    """One SQL statement, its parameters as the protocol has them: `?`, or `$1`.

    "prepared": the slots are the parameters, in order. "text": it has none. "rows": the text ends with VALUES, and the
    one slot is a list of lists. `texts` are several of which the first slot, an int, says which.
    """

    kind: Literal["statement"] = "statement"
    text: str | None = Field(default=None, exclude_if=lambda value: value is None)
    texts: Annotated[tuple[str, ...], Field(strict=False)] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    mode: Literal["prepared", "text", "rows"]

    @model_validator(mode="after")
    def _is_one_of_both(self) -> "StatementRequest":
        if (self.text is None) == (self.texts is None):
            raise ValueError("has one text, or several")
        return self


_Typed = Annotated[HttpRequest | StatementRequest, Field(discriminator="kind")]
Request = Annotated[
    Annotated[_Typed, Tag("typed")] | Annotated[Link, Tag("other")],
    kind_among(("http", "statement")),
]
