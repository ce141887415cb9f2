"""Owns which headers a request of a person's own may have."""

import re
from typing import Final

from brimline.spec.document import Path
from brimline.spec.own.problems import Problem
from brimline.spec.readers import shown

TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""Words of HTTP: methods and names of headers (RFC 9110)."""
_ADDED_BY_BRIMLINE: Final = {
    "host": "the address of the target says it",
    "content-length": "it follows from the body",
    "transfer-encoding": "a body has its length",
    "upgrade": "brimline stays with HTTP/1.1",
    "connection": "write http: {keep_alive: false} at the top",
}


def check_header_name(name: str, path: Path) -> None:
    """Refuses what names no header, and what brimline adds itself. Raises Problem."""
    if not TOKEN.fullmatch(name):
        raise Problem(path, f"{shown(name)} can't name a header", "take letters, digits and -")
    if name.lower() in _ADDED_BY_BRIMLINE:
        raise Problem(path, "is added by brimline", _ADDED_BY_BRIMLINE[name.lower()])
