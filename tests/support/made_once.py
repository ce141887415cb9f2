"""Owns what all workers of a run of the tests share: the first that needs it makes it, the others read it."""

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

Value = TypeVar("Value")


def made_once(directories: pytest.TempPathFactory, name: str, make: Callable[[], Value]) -> Value:
    """What `make` gives, made once for all workers (pytest-xdist): plain values, which a pickle keeps.

    Files that it names stay until the run is over. One who needs it while another makes it waits.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return make()
    return _made_once(directories.getbasetemp().parent / f"{name}.pickle", make)


def _made_once(kept: Path, make: Callable[[], Value]) -> Value:
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            whole = kept.with_suffix(".new")
            whole.write_bytes(pickle.dumps(make()))
            whole.rename(kept)
    value: Value = pickle.loads(kept.read_bytes())
    return value
