"""Owns the plan's expressions: how the values of a command are made, as `crates/datagen` reads them.

Tables, columns, collections, values and slots are named by their place, counted from 0, in the lists of the work.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from brimline.plan.base import Number, Part

Operator = Literal[
    "add",
    "subtract",
    "multiply",
    "divide",
    "modulo",
    "min",
    "max",
    "round",
    "abs",
    "between",
    "concat",
    "join",
    "lower",
    "upper",
    "trim",
    "substring",
    "ngrams",
    "element",
    "text",
    "int",
    "long",
    "double",
    "date_add",
    "date_trunc",
    "date_ceil",
    "date_part",
]
Hex = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{2})+$")]
Names = Annotated[tuple[str, ...], Field(strict=False)]


class BsonExpression(Part):
    """A constant: the type byte and the value of a BSON element, in hex. A whole constant document is one."""

    kind: Literal["bson"] = "bson"
    hex: Hex


class FieldExpression(Part):
    """A field of a document."""

    name: str
    value: "Expression"


class DocumentExpression(Part):
    """A document, its fields in order."""

    kind: Literal["document"] = "document"
    fields: Annotated[tuple[FieldExpression, ...], Field(strict=False)]


class ListExpression(Part):
    """An array."""

    kind: Literal["list"] = "list"
    items: Annotated[tuple["Expression", ...], Field(strict=False)]


class ValueExpression(Part):
    """A named value of the work, drawn once for each operation, or what stands at `path` in it."""

    kind: Literal["value"] = "value"
    index: Number
    path: Names = ()


class SavedExpression(Part):
    """What an earlier step of the operation saved, or what stands at `path` in it."""

    kind: Literal["saved"] = "saved"
    slot: Number
    path: Names = ()


class CellExpression(Part):
    """One column of the row that the operation drew of a table."""

    kind: Literal["cell"] = "cell"
    table: Number
    column: Number


class RowExpression(Part):
    """The row that the operation drew of a table, as a document."""

    kind: Literal["row"] = "row"
    table: Number


class GeneratorExpression(Part):
    """A generator of templates, in the engine's own words, which it checks."""

    kind: Literal["generator"] = "generator"
    spec: dict[str, Any]


class NewKeyExpression(Part):
    """The key of the next record beyond those loaded."""

    kind: Literal["new_key"] = "new_key"
    collection: Number


class NewRecordExpression(Part):
    """The document of the next record beyond those loaded, its key included."""

    kind: Literal["new_record"] = "new_record"
    collection: Number


class LatestKeyExpression(Part):
    """The key of the k-th newest record, those of the run included, in proportion to k^-theta."""

    kind: Literal["latest_key"] = "latest_key"
    collection: Number
    theta: float


class NowExpression(Part):
    """The time at which the operation is sent, a date."""

    kind: Literal["now"] = "now"


class RunExpression(Part):
    """The text that names this run."""

    kind: Literal["run"] = "run"


class WorkerExpression(Part):
    """The number of the connection."""

    kind: Literal["worker"] = "worker"


class NumberExpression(Part):
    """The number of the operation."""

    kind: Literal["number"] = "number"


class ObjectIdExpression(Part):
    """An ObjectId that no other run, operation or place has."""

    kind: Literal["object_id"] = "object_id"
    place: Number


class OneOfExpression(Part):
    """One of these, each as often as its weight says."""

    kind: Literal["one_of"] = "one_of"
    values: Annotated[tuple[Annotated[tuple["Expression", float], Field(strict=False)], ...], Field(strict=False)]


class CalculateExpression(Part):
    """What an operator makes of other values.

    `date_add` of date, number and unit, which are milliseconds without one; `date_trunc` and `date_ceil` of date and
    unit, `date_part` of date and part; `between` of two ends and a share of the way; `join` of list and text; `element`
    of list and place; `ngrams` of text, shortest and longest.
    """

    kind: Literal["calculate"] = "calculate"
    operator: Operator
    of: Annotated[tuple["Expression", ...], Field(strict=False)]


class RepeatedExpression(Part):
    """An array of `count` values, each drawn anew."""

    kind: Literal["repeated"] = "repeated"
    count: Number
    of: "Expression"


class SeveralExpression(Part):
    """A list of `count` values, each drawn anew, or with `key` a document of them. Named values are not drawn anew."""

    kind: Literal["several"] = "several"
    count: "Expression"
    count_max: Number
    of: "Expression"
    key: "Expression | None" = None


class MapExpression(Part):
    """A list of what `of` makes of each element of the list `over`."""

    kind: Literal["map"] = "map"
    over: "Expression"
    of: "Expression"


class ItemExpression(Part):
    """What stands at `path` in the element that a map is at, counted from the innermost one."""

    kind: Literal["item"] = "item"
    level: Number
    path: Names = ()


Expression = Annotated[
    BsonExpression
    | DocumentExpression
    | ListExpression
    | ValueExpression
    | SavedExpression
    | CellExpression
    | RowExpression
    | GeneratorExpression
    | NewKeyExpression
    | NewRecordExpression
    | LatestKeyExpression
    | NowExpression
    | RunExpression
    | WorkerExpression
    | NumberExpression
    | ObjectIdExpression
    | OneOfExpression
    | CalculateExpression
    | RepeatedExpression
    | SeveralExpression
    | MapExpression
    | ItemExpression,
    Field(discriminator="kind"),
]

for _model in (
    FieldExpression,
    DocumentExpression,
    ListExpression,
    OneOfExpression,
    CalculateExpression,
    RepeatedExpression,
):
    _model.model_rebuild()
