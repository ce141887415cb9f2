"""Owns the mongods of other versions: fetched once into the user's cache, or the test is skipped and says why."""

from pathlib import Path

import pytest

from brimline.errors import TargetError
from brimline.servers import ServerBinary, find_mongod
from brimline.servers.versions import binaries_directory

VERSIONS = ("4.4.2", "5.0.4", "6.0.5", "6.0.27")


def required_version(version: str) -> ServerBinary:
    """The mongod of a version. Skips the test where it can't be fetched."""
    try:
        return find_mongod(server_version=version)
    except TargetError as error:
        if "can't be fetched" in error.message:
            pytest.skip(f"mongod {version} can't be had here: {error.message}")
        raise


def share_binaries(cache: Path) -> None:
    """Lets a command line with a cache of its own use what was fetched already."""
    there = cache / "brimline" / "binaries"
    there.parent.mkdir(parents=True, exist_ok=True)
    there.symlink_to(binaries_directory())
