"""Owns certificates for servers on loopback, made anew by the openssl command: authorities and what they sign."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_SUBJECT = "/O=brimline tests"


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates. `certificate` is what those trust who trust it."""

    directory: Path
    name: str

    @property
    def certificate(self) -> Path:
        """Its own certificate, PEM."""
        return self.directory / f"{self.name}.pem"

    @property
    def _key(self) -> Path:
        return self.directory / f"{self.name}.key"

    def sign(
        self, name: str, *, names: str = "IP:127.0.0.1,DNS:localhost", days: int = 2, unit: str = "server"
    ) -> Path:
        """A file with a certificate for `names` and its key. `days` below 0: it has expired."""
        key, request, extensions = (self.directory / f"{name}.{kind}" for kind in ("key", "csr", "ext"))
        extensions.write_text(
            f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n"
        )
        _openssl(
            "req",
            "-new",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            key,
            "-out",
            request,
            "-subj",
            f"{_SUBJECT}/OU={unit}/CN={name}",
        )
        validity = ["-days", str(days)]
        if days < 0:
            validity = ["-not_before", "20200101000000Z", "-not_after", "20200102000000Z"]
        certificate = self.directory / f"{name}.crt"
        if days < 0:
            self._sign_with_dates(request, certificate, extensions, validity)
        else:
            _openssl(
                "x509",
                "-req",
                "-in",
                request,
                "-CA",
                self.certificate,
                "-CAkey",
                self._key,
                "-CAcreateserial",
                "-extfile",
                extensions,
                "-out",
                certificate,
                *validity,
            )
        both = self.directory / f"{name}.pem"
        both.write_text(certificate.read_text() + key.read_text())
        return both

    def _sign_with_dates(self, request: Path, certificate: Path, extensions: Path, validity: list[str]) -> None:
        """`openssl x509` takes no dates in the past before version 3.4; `openssl ca` does."""
        database = self.directory / "index.txt"
        database.write_text("")
        settings = self.directory / "ca.cnf"
        settings.write_text(
            f"[ca]\ndefault_ca=own\n[own]\ndatabase={database}\nserial={self.directory / 'serial'}\n"
            f"new_certs_dir={self.directory}\ndefault_md=sha256\npolicy=any\ncopy_extensions=none\n"
            "[any]\norganizationName=optional\norganizationalUnitName=optional\ncommonName=supplied\n"
        )
        begin, end = validity[1].removeprefix("20"), validity[3].removeprefix("20")
        _openssl(
            "ca",
            "-batch",
            "-config",
            settings,
            "-rand_serial",
            "-in",
            request,
            "-cert",
            self.certificate,
            "-keyfile",
            self._key,
            "-extfile",
            extensions,
            "-out",
            certificate,
            "-notext",
            "-startdate",
            begin,
            "-enddate",
            end,
        )


def authority(directory: Path, name: str) -> Authority:
    """A new one; its files are below `directory`."""
    made = Authority(directory, name)
    _openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        directory / f"{name}.key",
        "-out",
        made.certificate,
        "-days",
        "2",
        "-subj",
        f"{_SUBJECT}/CN={name}",
        "-addext",
        "basicConstraints=critical,CA:TRUE",
        "-addext",
        "keyUsage=keyCertSign,cRLSign",
    )
    return made


def _openssl(*words: str | Path) -> None:
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@contextmanager
def tls_listener(certificate: Path) -> Iterator[str]:
    """The address of what shows `certificate` and says nothing: mongod doesn't start with one that has expired."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)

        def serve() -> None:
            while not over.is_set():
                with suppress(OSError):
                    peer = listener.accept()[0]
                    peer.settimeout(1)
                    with context.wrap_socket(peer, server_side=True) as secured:
                        secured.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            over.set()
            thread.join()
