"""Owns names in a workload that is written: of operations and values, made of the live names."""

import re
from collections.abc import Iterable

from brimline.operations import KINDS

_NAME_MAX = 44
"""Leaves room for a number behind a name; a spec takes 48 characters."""


def name_word(text: str) -> str:
    """A part of a name: letters, digits and "_", a letter first where it begins one."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()
    return word or "x"


def can_name_field(name: str) -> bool:
    """Whether a field of that name can have a generator and be named in a path."""
    return bool(name) and "." not in name and not name.startswith("$") and "\0" not in name


def operation_name(parts: Iterable[str], taken: set[str]) -> str:
    """A name that none of `taken` is, and becomes one of them."""
    wanted = "_".join(name_word(part) for part in parts if part)[:_NAME_MAX].rstrip("_")
    wanted = wanted if wanted[:1].isalpha() and wanted not in KINDS else f"op_{wanted}"
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name
