"""Owns a lab's certificates: an authority that signs two certificates and is forgotten, made by the `openssl` command.

The command is asked for instead of a library, because nothing else in brimline makes certificates. Elliptic keys: they
are made in an instant, and every mongod and client here reads them.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from brimline.errors import TargetError

CLIENT_SUBJECT = "CN=brimline-client,OU=clients,O=brimline lab"
"""The name of the x.509 user, as MongoDB writes it (RFC 2253). Its unit differs from that of the servers, who would
take it for one of their own otherwise."""

_DAYS = "365"
_DEADLINE_S = 30.0
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Certificate:
    """`extensions` are lines of an openssl configuration."""

    name: str
    subject: str
    extensions: str


_SERVER = _Certificate(
    name="server",
    subject="/O=brimline lab/OU=servers/CN=localhost",
    extensions="subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n",
)
_CLIENT = _Certificate(
    name="client",
    subject="/O=brimline lab/OU=clients/CN=brimline-client",
    extensions="extendedKeyUsage=clientAuth\n",
)


def make_certificates(directory: Path) -> None:
    """Writes ca.pem, server.pem and client.pem (certificate and key together) into `directory`, 0600 each.

    Raises TargetError where there is no `openssl` command or it fails.
    """
    openssl = shutil.which("openssl")
    if openssl is None:
        raise TargetError(
            "a lab with TLS needs certificates, and there is no openssl command to make them with",
            hint="install openssl (Debian, Ubuntu: apt-get install openssl), or leave --tls out",
        )
    key = directory / "ca.key"
    authority = ["-subj", "/O=brimline lab/CN=brimline lab authority", "-keyout", str(key), "-days", _DAYS]
    _run(openssl, "req", "-x509", *_NEW_KEY, *authority, "-out", str(directory / "ca.pem"))
    for certificate in (_SERVER, _CLIENT):
        _sign(openssl, certificate, directory)
    key.unlink()
    for name in ("ca", "server", "client"):
        (directory / f"{name}.pem").chmod(0o600)


def _sign(openssl: str, certificate: _Certificate, directory: Path) -> None:
    key, request, signed, extensions = (
        directory / f"{certificate.name}.{suffix}" for suffix in ("key", "csr", "crt", "ext")
    )
    extensions.write_text(certificate.extensions)
    _run(openssl, "req", "-new", *_NEW_KEY, "-subj", certificate.subject, "-keyout", str(key), "-out", str(request))
    authority = ["-CA", str(directory / "ca.pem"), "-CAkey", str(directory / "ca.key"), "-CAcreateserial"]
    wanted = ["-days", _DAYS, "-extfile", str(extensions), "-in", str(request), "-out", str(signed)]
    _run(openssl, "x509", "-req", *authority, *wanted)
    together = directory / f"{certificate.name}.pem"
    together.touch(mode=0o600)
    together.write_bytes(signed.read_bytes() + key.read_bytes())
    for file in (key, request, signed, extensions, *directory.glob("*.srl")):
        file.unlink()


def _run(openssl: str, *arguments: str) -> None:
    try:
        done = subprocess.run(  # noqa: S603 (no shell; nothing in it comes from a user)
            [openssl, *arguments], capture_output=True, text=True, errors="replace", timeout=_DEADLINE_S
        )
        reason = (
            "" if done.returncode == 0 else (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = str(error)
    if reason:
        raise TargetError(f"openssl can't make a certificate: {reason}", hint="see what `openssl version` says")
