"""Owns what opens a server on its way to another node: apart from every plan, and never on a disk."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from brimline.errors import UsageError
from brimline.servers import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableAccess:
    """An access with the content of its files, which are not on the other node."""

    access: Access = field(repr=False)
    ca: bytes | None = field(default=None, repr=False)
    certificate_key: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, access: Access) -> "PortableAccess":
        """`access` with its files. Raises UsageError where one can't be read."""
        plain = replace(access)  # without what was prepared for the engine of this process
        if access.tls is None:
            return cls(access=plain)
        return cls(
            access=plain, ca=_content(access.tls.ca_file), certificate_key=_content(access.tls.certificate_key_file)
        )

    def in_parts(self) -> "tuple[PortableAccess, bytes | None]":
        """What is secret, which is small, and the authority's certificate, which is neither."""
        return replace(self, ca=None), self.ca

    def opened(self) -> Access:
        """The access as it is here: its files are in memory, and gone with this process."""
        tls = self.access.tls
        if tls is None:
            return self.access
        tls = replace(
            tls,
            ca_file=_in_memory("ca", self.ca),
            certificate_key_file=_in_memory("certificate-key", self.certificate_key),
        )
        return replace(self.access, tls=tls)


def _content(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}", hint="correct the connection string") from error


def _in_memory(name: str, content: bytes | None) -> Path | None:
    if content is None:
        return None
    descriptor = os.memfd_create(f"brimline-{name}")
    os.write(descriptor, content)
    return Path(f"/proc/self/fd/{descriptor}")
