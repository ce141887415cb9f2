"""Owns the workloads that come with brimline.

They are package data beside this module, so that they are found in the same way in a source tree, an editable
install, a wheel and a zip file; the repository's `workloads/` is a link to that directory.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable


def _directory() -> Traversable:
    return files("brimline.spec") / "workloads"


def shipped_workloads() -> list[str]:
    """Their names, sorted."""
    return sorted(entry.name.removesuffix(".yaml") for entry in _directory().iterdir() if entry.name.endswith(".yaml"))


def read_shipped(name: str) -> bytes | None:
    """The text of the workload called `name`; None when there is none."""
    return (_directory() / f"{name}.yaml").read_bytes() if name in shipped_workloads() else None
