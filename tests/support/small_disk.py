"""Owns a file system of a few megabytes, so that a test can fill it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """Mounts a file system of `size`, as mount takes it, at `place` during the block; skips where that is refused."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "brimline-test", str(place)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        # Lazily: a command that ran in this process and failed may hold a file there for a moment.
        subprocess.run(["umount", "--lazy", str(place)], check=True)
