"""Owns where a password comes from when the connection string names a user alone: a file, the environment, a prompt."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from brimline.errors import UsageError
from brimline.process_list import PASSWORD_VARIABLE

WATCH_TOKEN_VARIABLE = "BRIMLINE_WATCH_TOKEN"  # noqa: S105 (the name of a variable)
"""Where the token of `brimline watch` may come from, besides a file."""
_SECRET_VARIABLES = (PASSWORD_VARIABLE, WATCH_TOKEN_VARIABLE, "BRIMLINE_URI")
_FILE_BYTES_MAX = 64 * 1024
_TOKEN = re.compile(r"[ -~]*")
"""What a header of HTTP carries as it stands, whoever reads it: printable ASCII."""
_TOKEN_LENGTH_MAX = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordSource:
    """`file` holds nothing but the password; `ask` prompts for it, None where nobody can be asked."""

    file: Path | None = None
    ask: Callable[[str], str] | None = field(default=None, repr=False, compare=False)

    def password(self, username: str, environ: Mapping[str, str] = os.environ, *, lab_file: Path | None = None) -> str:
        """The password of `username`: the file's, else the environment's, else the lab's, else what is typed.

        Raises UsageError when there is none.
        """
        found = secret_of_file(self.file) if self.file is not None else environ.get(PASSWORD_VARIABLE, "")
        if not found and lab_file is not None:
            found = secret_of_file(lab_file)
        if not found and self.ask is not None:
            found = self.ask(f"password of {username}: ")
        if not found:
            raise UsageError(
                "the connection string names a user, and there is no password",
                hint=f"set {PASSWORD_VARIABLE}, or give --password-file FILE",
            )
        return found


def watch_token(file: Path | None, environ: Mapping[str, str] = os.environ, *, option: str) -> str:
    """What is to be known by who asks `brimline watch`: the file's, else the environment's, "" where there is none.

    A line end behind it is none of it. Raises UsageError for a file that `option` names and that can't be used, and for
    a token that can't be sent.
    """
    if file is None:
        where, token = WATCH_TOKEN_VARIABLE, _without_line_end(environ.get(WATCH_TOKEN_VARIABLE, ""))
    else:
        where, token = str(file), secret_of_file(file, what="token", option=option)
    if not _TOKEN.fullmatch(token):
        raise UsageError(
            f"the token of {where} has a character that is no printable ASCII",
            hint="take letters, digits and signs of ASCII, on one line; on both sides the same",
        )
    if len(token) > _TOKEN_LENGTH_MAX:
        raise UsageError(
            f"the token of {where} is longer than {_TOKEN_LENGTH_MAX} characters",
            hint="take a shorter one, on both sides",
        )
    return token


def secret_of_file(path: Path, *, what: str = "password", option: str = "--password-file") -> str:
    """What the file holds, without the line end that editors add. Raises UsageError."""
    try:
        with path.open("rb") as file:
            content = file.read(_FILE_BYTES_MAX + 1)
        if len(content) > _FILE_BYTES_MAX:
            raise UsageError(
                f"the {what} file {path} is longer than {_FILE_BYTES_MAX} bytes", hint=f"write the {what} alone into it"
            )
        text = content.decode()
    except UnicodeDecodeError:
        raise UsageError(f"the {what} file {path} is not UTF-8", hint=f"write the {what} as text") from None
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise UsageError(f"the {what} file {path} can't be read: {reason}", hint=f"check {option}") from None
    secret = _without_line_end(text)
    if "\n" in secret:
        raise UsageError(f"the {what} file {path} has more than one line", hint=f"write the {what} alone into it")
    if not secret:
        raise UsageError(f"the {what} file {path} is empty", hint=f"write the {what} into it")
    return secret


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")


def environment_without_secrets(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a program that brimline starts gets of its environment: a lab's server may live for days."""
    return {name: value for name, value in environ.items() if name not in _SECRET_VARIABLES}
