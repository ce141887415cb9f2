"""Owns a person's own operations as a spec has them: their shares, their loads, and their steps as written."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final, Self

from pydantic import ConfigDict, Field, model_validator

from brimline.operations import KINDS
from brimline.spec import fields
from brimline.spec.base import Part
from brimline.spec.document import Path
from brimline.spec.load_models import ClosedLoad, Load, UnlimitedLoad, rate_stages
from brimline.spec.own.keys import check_keys
from brimline.spec.own.problems import Problem, checked, nearest
from brimline.spec.own.protocols import FORMS, STEPS, all_kinds, unknown_kind
from brimline.spec.own.step_kind import BESIDE_COMMAND, BESIDE_KIND, ProtocolName
from brimline.spec.readers import shown

OPERATIONS_MAX: Final = 64
_NAME_LENGTH_MAX: Final = 80
_NOT_IN_A_NAME: Final = frozenset('.=,"')
"""What limits and settings on the command line separate names by."""
_OWN_CONNECTIONS_MAX: Final = 32
# Shares typed as fractions may be rounded: 0.33 + 0.33 + 0.33.
SHARE_SUM_TOLERANCE: Final = 0.0101


class OwnOperation(Part):
    """One operation: a step, or `steps`; and its share of the workload's load, or a load of its own."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Any] = Field(init=False)  # its steps, which are read with the values that they name

    share: fields.OperationShare | None = None
    """Its share of the workload's load; without any share all operations come equally often."""
    load: Load | None = None
    """A load of its own: when it is due, beside the workload's load."""
    connections: fields.ConnectionCount | None = None
    """Connections of a load of its own; by default as many as come due in a second, at most 32."""

    @property
    def definition(self) -> dict[str, Any]:
        """What was written beside share and load: the list `steps`, one step, or the same work in several forms."""
        return self.__pydantic_extra__

    @property
    def has_forms(self) -> bool:
        """Whether it says the same work in the words of several protocols."""
        return any(name in self.definition for name in FORMS if name != "sql")

    def form_of(self, default: ProtocolName) -> ProtocolName:
        """The protocol of its words, where it has no several forms: `default`, unless it is a statement alone."""
        return "sql" if default == "mongodb" and "sql" in self.definition else default

    def form(self, protocol: ProtocolName, *, default: ProtocolName) -> tuple[Any, Path] | None:
        """Its steps for a protocol, `steps` or one step, and where they stand in it; None where it has none.

        An operation without several forms is in the words of `default`.
        """
        if not self.has_forms:
            return (self.definition, ()) if self.form_of(default) == protocol else None
        if protocol not in self.definition:
            return None
        given = self.definition[protocol]
        is_statement = isinstance(given, str) or (isinstance(given, dict) and not _STEPS_OF_SQL & given.keys())
        if protocol == "sql" and is_statement:
            return {"sql": given}, ()
        return given, (protocol,)

    def has_transaction(self, protocol: ProtocolName = "mongodb", *, default: ProtocolName = "mongodb") -> bool:
        """Whether one of its steps is a transaction."""
        form = self.form(protocol, default=default)
        steps = form[0].get("steps", [form[0]]) if form is not None and isinstance(form[0], dict) else []
        return any("transaction" in step for step in steps if isinstance(step, dict))

    @property
    def effective_connections(self) -> int:
        """Connections of a load of its own."""
        if self.connections is not None or self.load is None:
            return self.connections or 1
        if isinstance(self.load, ClosedLoad | UnlimitedLoad):
            return 1
        rates = [getattr(self.load, "rate_ops_per_s", 0.0)]
        if not rates[0]:
            rates = [rate for begin, end, _ in rate_stages(self.load) for rate in (begin, end)]
        return max(1, min(_OWN_CONNECTIONS_MAX, math.ceil(max(rates))))

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, value: Any) -> Any:
        return checked(value, _check_load_alone)

    @model_validator(mode="after")
    def _check_load(self) -> Self:
        if self.connections is not None and self.load is None:
            raise ValueError("connections are those of a load of its own; add load, or leave connections out")
        if self.load is not None and self.load.kind == "tlr":
            raise ValueError("a load of its own can't be tlr, whose loops end by themselves; write {kind: closed}")
        return self


_STEPS_OF_SQL: Final = frozenset({"sql", "steps", "transaction"})
"""What the form `sql` begins with where it isn't the statement itself."""
_OWN: Final = ("share", "load", "connections")


def _check_load_alone(value: dict[str, Any]) -> None:
    if "share" in value and "load" in value:
        raise Problem(("load",), "has no place beside share: it is a load of its own", "leave one of them out")


def check_definition(operation: OwnOperation, path: Path, protocol: ProtocolName) -> None:
    """Refuses what no operation says, whose protocol is `protocol` unless it has several forms. Raises Problem."""
    given = operation.definition
    if not operation.has_forms:
        _check_steps(given, path, operation.form_of(protocol), beside=_OWN)
        return
    for name in given:
        if name in BESIDE_KIND:
            hint = f"write it in each form: {{mongodb: {{find: {{…}}, {name}: …}}, sql: {{sql: …, {name}: …}}}}"
            raise Problem((*path, name), "has no place beside forms", hint)
        if name not in FORMS:
            hint = "write it in one of them" if name in (*all_kinds(), "steps") else nearest(name, (*_OWN, *FORMS))
            raise Problem((*path, name), "has no place beside forms", hint)
        form = operation.form(name, default=protocol)
        assert form is not None  # noqa: S101 - its name was found
        if not isinstance(form[0], dict):
            hint = f"write {name}: {STEPS[name].example}, or {name}: {{steps: [{STEPS[name].example}]}}"
            raise Problem((*path, name), f"must be a step, not {shown(form[0])}", hint)
        _check_steps(form[0], (*path, *form[1]), name)


def _check_steps(value: dict[str, Any], path: Path, protocol: ProtocolName, *, beside: tuple[str, ...] = ()) -> None:
    names = all_kinds(protocol)
    kinds = [key for key in value if key in names]
    if "steps" in value:
        if kinds:
            raise Problem((*path, kinds[0]), "is a step beside steps", "make it one of the steps")
        check_keys(value, path, (*beside, "steps"))
    elif not kinds:
        unknown = [key for key in value if key not in (*beside, *BESIDE_KIND)]
        if not unknown:
            raise Problem((*path, "steps"), "is missing", f"add steps, or one of {', '.join(names)}")
        near = [key for key in unknown if key[:2] == "st"]
        if near:
            check_keys(value, path, (*beside, "steps", *names, *BESIDE_KIND))
        raise unknown_kind(unknown, path, protocol)
    elif len(kinds) > 1:
        hint = "write steps: [{…}, {…}] for several"
        raise Problem((*path, kinds[1]), f"is a second step beside {kinds[0]}", hint)
    else:
        check_keys(value, path, (*beside, kinds[0], *BESIDE_KIND, *BESIDE_COMMAND.get(kinds[0], ())))


def _with_names(schema: dict[str, Any]) -> None:
    separators = re.escape("".join(sorted(_NOT_IN_A_NAME)))
    schema["minProperties"], schema["maxProperties"] = 1, OPERATIONS_MAX
    schema["propertyNames"] = {
        "pattern": rf"^(?!(?:{'|'.join(KINDS)})$)(?!\s)[^{separators}]+$",
        "maxLength": _NAME_LENGTH_MAX,
    }


class OwnOperations(Part):
    """A person's own operations by name, each with a share of the load or a load of its own."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_with_names)
    __pydantic_extra__: dict[str, OwnOperation] = Field(init=False)

    @property
    def by_name(self) -> Mapping[str, OwnOperation]:
        """The operations, in order."""
        return self.__pydantic_extra__

    @property
    def sent(self) -> Mapping[str, OwnOperation]:
        """Those that come at all, in order: not one whose share is 0."""
        return {name: each for name, each in self.by_name.items() if each.load is not None or self.shares[name]}

    @property
    def shares(self) -> dict[str, float]:
        """Every operation's share, as typed; 0 of those with a load of their own."""
        is_equal = all(operation.share is None for operation in self.by_name.values())
        return {
            name: 0.0 if each.load is not None else 1.0 if is_equal else each.share or 0.0
            for name, each in self.by_name.items()
        }

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, value: Any) -> Any:
        return checked(value, _check_names)

    @model_validator(mode="after")
    def _check_shares(self) -> Self:
        given = {name: each.share for name, each in self.by_name.items() if each.load is None}
        if not given or all(share is None for share in given.values()):
            return self
        for name, share in given.items():
            if share is None:
                hint = "add share, or load for a load of its own"
                raise Problem((name,), "has no share, while others have one", hint).as_validation_error()
        shares = [share for share in given.values() if share is not None]
        total = math.fsum(shares)
        if total == 0:
            raise ValueError("have shares that add up to 0; give at least one operation a share, such as share: 1")
        if any(share != int(share) for share in shares) and abs(total - 1) > SHARE_SUM_TOLERANCE:
            raise ValueError(
                f"have shares that add up to {total:.6g}; "
                "fractions must add up to 1 and percentages to 100% (whole numbers are weights)"
            )
        return self


def can_name_operation(name: str) -> bool:
    """Whether an operation may be called so: text on one line, such as a label of another tool."""
    return (
        0 < len(name) <= _NAME_LENGTH_MAX
        and name == name.strip()
        and name.isprintable()
        and any(map(str.isalnum, name))
        and not _NOT_IN_A_NAME & set(name)
    )


def _check_names(value: dict[str, Any]) -> None:
    if not value:
        raise Problem((), "names no operation", "write it like {latest: {find: {collection: orders}}}")
    if len(value) > OPERATIONS_MAX:
        raise Problem((), f"are {len(value)}, and a workload has at most {OPERATIONS_MAX}", "make them fewer")
    percentages = []
    for name, given in value.items():
        if name in KINDS:
            hint = f"choose another name, such as my_{name}"
            raise Problem((name,), f"{name} is one of brimline's own operations", hint)
        if not can_name_operation(name):
            hint = f"take at most {_NAME_LENGTH_MAX} characters on one line, without points, commas, = and quotes"
            raise Problem((name,), f"{shown(name)} can't name an operation", hint)
        if not isinstance(given, dict):
            hint = "write {share: 50%, find: {collection: orders}}"
            raise Problem((name,), f"must be an operation, not {shown(given)}", hint)
        share = given.get("share")
        if share not in (None, 0) and "load" not in given:
            percentages.append(isinstance(share, str) and share.rstrip().endswith("%"))
    if any(percentages) and not all(percentages):
        raise Problem((), "mix percentages and plain numbers", "write all shares the same way")
