"""Owns what an error of a TLS connection means, and what to do about it."""

from brimline.errors import TargetError
from brimline.servers.access import Tls


def tls_trouble(text: str, redacted: str, tls: Tls | None) -> TargetError | None:
    """The error that `text`, a library's, stands for; None where it says nothing of TLS, or none was wanted."""
    text = text.lower()
    for pattern, words, hint in _TLS_REASONS:
        if tls is not None and pattern in text:
            if words is _CLOSED and tls.certificate_key_file is not None:
                words, hint = _CLOSED_ON_CERTIFICATE
            if redacted.startswith("https://"):
                hint = hint.replace(_WITHOUT, "write http://")
            return TargetError(f"no TLS connection to {redacted}: {words}", hint=hint)
    return None


_WITHOUT = "leave tls=true out"
_CLOSED = "the server closed the connection during the TLS handshake: it may have no TLS"
_CLOSED_ON_CERTIFICATE = (
    "the server closed the connection during the TLS handshake: it may not trust the client's certificate, or "
    "have no TLS",
    "check tlsCertificateKeyFile=FILE: the server trusts what its own authority has signed; its log says why",
)
"""A mongod ends the connection without a word when the certificate is of an authority that it doesn't know."""

_TLS_REASONS = (
    (
        "certificate has expired",
        "the server's certificate has expired",
        "have it renewed; tlsInsecure=true connects all the same",
    ),
    (
        "certificate is not yet valid",
        "the server's certificate is not valid yet",
        "check the clocks of both machines",
    ),
    (
        "hostname mismatch",
        "the server's certificate is for another host name",
        "use the name in the certificate; tlsAllowInvalidHostnames=true connects all the same",
    ),
    (
        "ip address mismatch",
        "the server's certificate is for another host name",
        "use the name in the certificate; tlsAllowInvalidHostnames=true connects all the same",
    ),
    (
        "certificate verify failed",
        "the server's certificate is not signed by an authority that is trusted here",
        "name the authority's certificate by tlsCAFile=FILE; tlsInsecure=true connects all the same",
    ),
    (
        "certificate required",
        "the server wants a certificate of the client",
        "add tlsCertificateKeyFile=FILE",
    ),
    (
        "handshake failure",
        "the server refuses the client's certificate, or wants one",
        "check tlsCertificateKeyFile=FILE",
    ),
    ("unknown ca", "the server does not trust the client's certificate", "check tlsCertificateKeyFile=FILE"),
    (
        "protocol version",
        "the server speaks TLS 1.0 or 1.1 only, which are not secure any more",
        "let the server speak TLS 1.2 or newer",
    ),
    (
        "unsupported protocol",
        "the server speaks TLS 1.0 or 1.1 only, which are not secure any more",
        "let the server speak TLS 1.2 or newer",
    ),
    (
        "wrong version number",
        "what listens there does not speak TLS",
        f"{_WITHOUT}, or start the server with TLS",
    ),
    (
        "connection closed",
        _CLOSED,
        f"{_WITHOUT}, or look into the server's log",
    ),
    (
        "eof occurred",
        _CLOSED,
        f"{_WITHOUT}, or look into the server's log",
    ),
    (
        "connection reset",
        _CLOSED,
        f"{_WITHOUT}, or look into the server's log",
    ),
)
"""What is found in the texts of PyMongo and OpenSSL, what it means, and what to do about it; the first counts."""
