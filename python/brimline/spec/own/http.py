"""Owns the part of a spec that says how a service is spoken to: headers of all requests, connections, secrets."""

import base64
import os
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from brimline.errors import UsageError
from brimline.spec.base import Part
from brimline.spec.own.headers import check_header_name
from brimline.spec.own.problems import Problem, told_to_pydantic
from brimline.spec.readers import shown, whole
from brimline.units import PATTERNS

_REDIRECTS_MAX: Final = 20
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
AUTHORIZATION: Final = "authorization"


class Secret(Part):
    """What a variable of the environment holds; it is stored nowhere."""

    env: Annotated[str, WithJsonSchema({"type": "string", "pattern": f"^{_VARIABLE.pattern}$"})]
    """The variable's name."""

    @model_validator(mode="after")
    def _check_name(self) -> Self:
        if not _VARIABLE.fullmatch(self.env):
            raise ValueError(f"{shown(self.env)} can't name a variable; take letters, digits and _")
        return self

    def read(self, environ: Mapping[str, str]) -> str:
        """What the variable holds. Raises UsageError where there is nothing in it, or what no header may have."""
        found = environ.get(self.env, "")
        if not found:
            raise UsageError(
                f"the workload takes a secret from the environment, and {self.env} is empty or isn't set",
                hint=f"export {self.env}=…",
            )
        if any(sign < " " or sign == "\x7f" for sign in found):
            raise UsageError(
                f"the variable {self.env} of the environment has a line end in it", hint="take what is on one line"
            )
        return found


def _read_secret(value: object) -> object:
    if isinstance(value, str):
        with told_to_pydantic():
            raise Problem(
                (), "is a secret, which would be stored with each run", "write {env: NAME}, and export NAME=…"
            )
    return value


FromEnvironment = Annotated[Secret, BeforeValidator(_read_secret)]


class Basic(Part):
    """Basic authentication: a user, and where the password is."""

    username: Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[^:]+$"})]
    """The user."""
    password: FromEnvironment
    """The password, as `{env: NAME}`."""

    @model_validator(mode="after")
    def _check_username(self) -> Self:
        if ":" in self.username or not self.username:
            raise ValueError("username is empty or has a :, which ends the user's name; take another one")
        return self


def _read_headers(value: object) -> object:
    """Text with `$values`, or `{env: NAME}`; the names are looked at where the headers are read."""
    if not isinstance(value, dict):
        raise ValueError(f"must be headers by name, not {shown(value)}; write it like {{accept: application/json}}")
    folded = [name.lower() for name in value]
    for name, each in value.items():
        with told_to_pydantic():
            if folded.count(name.lower()) > 1:
                raise Problem((name,), "is there twice, as small and capital letters mean the same", "leave one out")
            _check_header(name, each)
    return value


def _check_header(name: str, value: object) -> None:
    check_header_name(name, (name,))
    if isinstance(value, dict):
        if set(value) != {"env"}:
            raise Problem((name,), f"must be text or {{env: NAME}}, not {shown(value)}", "write {env: NAME}")
        if not isinstance(value["env"], str) or not _VARIABLE.fullmatch(value["env"]):
            raise Problem((name, "env"), f"{shown(value['env'])} can't name a variable", "take letters, digits and _")
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Problem((name,), f"must be text, not {shown(value)}", f'write {name}: "…"')


Headers = Annotated[
    dict[str, Any],
    BeforeValidator(_read_headers),
    WithJsonSchema(
        {
            "type": "object",
            "description": "text by name, or {env: NAME}",
            "additionalProperties": {
                "type": ["string", "number", "object"],
                "properties": {"env": {"type": "string", "pattern": f"^{_VARIABLE.pattern}$"}},
                "required": ["env"],
                "additionalProperties": False,
            },
        }
    ),
]


Redirects = Annotated[
    int,
    BeforeValidator(whole(0, _REDIRECTS_MAX)),
    WithJsonSchema(
        {
            "type": ["integer", "string"],
            "description": f"0 to {_REDIRECTS_MAX}",
            "minimum": 0,
            "maximum": _REDIRECTS_MAX,
            "pattern": PATTERNS["count"],
        }
    ),
]


class HttpSpec(Part):
    """How a service is spoken to."""

    headers: Headers = Field(default={}, exclude_if=lambda value: not value)
    """Headers of every request, by name: text with `$values`, or `{env: NAME}` for a secret."""
    keep_alive: bool = True
    """Whether a connection stays for the next request; else each request has one of its own."""
    connect: Literal["before", "on_demand"] = "before"
    """Whether connections are made before the run, or with the first request that needs one, as a part of its time."""
    follow_redirects: Redirects = 0
    """How many redirects of one request are followed, on the same host; one that is not is a reply as any other."""
    cookies: bool = True
    """Whether each worker keeps the cookies that it was given, and sends them."""
    bearer: FromEnvironment | None = None
    """A token that every request has, as `{env: NAME}`."""
    basic: Basic | None = None
    """A user and a password that every request has."""

    @property
    def plain_headers(self) -> dict[str, Any]:
        """Headers that are no secret."""
        return {name: value for name, value in self.headers.items() if not isinstance(value, dict)}

    @property
    def secret_header_names(self) -> frozenset[str]:
        """Headers whose values come from the environment, in small letters."""
        own = {name.lower() for name, value in self.headers.items() if isinstance(value, dict)}
        return frozenset(own | ({AUTHORIZATION} if self.bearer or self.basic else set()))

    def secret_headers(
        self, environ: Mapping[str, str] = os.environ, *, login: tuple[str, str] | None = None
    ) -> list[tuple[str, str]]:
        """Headers with the secrets of the environment. `login` is the user and the password that an address has.

        Raises UsageError for a variable that isn't set.
        """
        made = [
            (name.lower(), Secret(env=value["env"]).read(environ))
            for name, value in self.headers.items()
            if isinstance(value, dict)
        ]
        if self.bearer is not None:
            made.append((AUTHORIZATION, f"Bearer {self.bearer.read(environ)}"))
        elif self.basic is not None:
            login = (self.basic.username, self.basic.password.read(environ))
        if login is not None and AUTHORIZATION not in dict(made):
            words = base64.b64encode(":".join(login).encode()).decode()
            made.append((AUTHORIZATION, f"Basic {words}"))
        return made

    @model_validator(mode="after")
    def _check_one_authorization(self) -> Self:
        own = [name for name in self.headers if name.lower() == AUTHORIZATION]
        given = [name for name, value in (("bearer", self.bearer), ("basic", self.basic)) if value is not None]
        if len(own) + len(given) > 1:
            raise Problem((given[-1],), "is a second authorization", "leave one of them out").as_validation_error()
        return self
