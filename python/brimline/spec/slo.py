"""Owns the objective of a spec: limits on percentiles and the mean of the response time, on shares of failures."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from brimline.operations import KINDS, kinds_of_a_mix
from brimline.spec import fields
from brimline.spec.base import Part, with_fields

_RESPONSE_LIMIT = re.compile(r"response_(mean|p(?:[5-9]\d)(?:\.\d{1,4})?)")


def _others_by_name(schema: dict[str, Any]) -> None:
    """Other percentiles are limits, and what else has a name is an operation where there are such."""
    others = schema["additionalProperties"]
    limit, operation = others.get("oneOf", (others, False))
    schema["patternProperties"] = {f"^(?!response_p99$){_RESPONSE_LIMIT.pattern}$": limit}
    schema["additionalProperties"] = operation


class ObjectiveSpec(Part):
    """Limits on all operations, or on one kind: `response_p95: 5ms`, `response_p99.9: 40ms`, `error_rate: 0.1%`.

    Any percentile from p50 up to p99.9999 may have a limit, and the mean: `response_mean: 5ms`.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_others_by_name)
    __pydantic_extra__: dict[str, fields.LatencyLimit] = Field(init=False)  # the other percentiles

    response_p99_ns: fields.LatencyLimit | None = Field(default=None, alias="response_p99")
    """Limit on the 99th percentile of the response time; `response_p95`, `response_mean` and others likewise."""
    error_share: fields.ErrorShare | None = Field(default=None, alias="error_rate")
    """Limit on the share of failed operations."""

    @property
    def response_limits_ns(self) -> Mapping[str, int]:
        """Limits on the response time by percentile, called `p99`, or `mean`."""
        given = {"response_p99": self.response_p99_ns, **self.__pydantic_extra__}
        return {name.removeprefix("response_"): limit for name, limit in given.items() if isinstance(limit, int)}

    @model_validator(mode="before")
    @classmethod
    def _refuse_other_keys(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        known = {field.alias or name for name, field in cls.model_fields.items()}
        unknown = [
            InitErrorDetails(type="extra_forbidden", loc=(str(key),), input=given)
            for key, given in value.items()
            if key not in known and not _RESPONSE_LIMIT.fullmatch(str(key)) and not cls._names_an_operation(given)
        ]
        if unknown:
            raise ValidationError.from_exception_data(cls.__name__, unknown)
        return value

    @classmethod
    def _names_an_operation(cls, given: object) -> bool:  # noqa: ARG003
        """Whether an unknown key can be an operation's name, which only the whole spec knows."""
        return False


LIMIT_TAG, OBJECTIVE_TAG = "a limit", "limits of an operation"
"""Stand in pydantic's paths where an objective has a key of the person's own; they are no keys."""


def _tag(value: object) -> str:
    return OBJECTIVE_TAG if isinstance(value, dict | ObjectiveSpec) else LIMIT_TAG


_LimitOrObjective = Annotated[
    Annotated[fields.LatencyLimit, Tag(LIMIT_TAG)] | Annotated[ObjectiveSpec, Tag(OBJECTIVE_TAG)], Discriminator(_tag)
]


@with_fields({kind.name: (ObjectiveSpec | None, None, f"Limits on {kind.plural} alone.") for kind in kinds_of_a_mix()})
class SloSpec(ObjectiveSpec):
    """What the users of the database are promised: limits on all operations together, and on single kinds.

    As soon as one limit is given, the others have their defaults: an error rate of 0.1 %, and a response p99 of
    10 ms where no percentile is limited.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_others_by_name)
    __pydantic_extra__: dict[str, _LimitOrObjective] = Field(init=False)  # type: ignore[assignment]

    @property
    def by_operation(self) -> Mapping[str, ObjectiveSpec]:
        """The operations that have limits of their own, those of the person's own by their names."""
        built_in = {kind: part for kind in KINDS if (part := getattr(self, kind, None)) is not None}
        return built_in | {
            name: part for name, part in self.__pydantic_extra__.items() if isinstance(part, ObjectiveSpec)
        }

    @classmethod
    def _names_an_operation(cls, given: object) -> bool:
        return isinstance(given, dict | ObjectiveSpec)
