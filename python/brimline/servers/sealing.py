"""Owns sealing a password for a MySQL server's public key: RSAES-OAEP with SHA-1, RFC 8017, 7.1.1.

The engine does the same in `crates/mysql/src/rsa.rs`. PyMySQL would take a library of several megabytes for it.
"""

import base64
import hashlib
import os
import re
from typing import Final

_HASH_BYTES: Final = 20
_MODULUS_BYTES: Final = range(128, 1025)
_EXPONENT_BYTES_MAX: Final = 4
_INTEGER, _BIT_STRING, _SEQUENCE = 0x02, 0x03, 0x30
_LONG_LENGTHS: Final = (0x81, 0x82)
"""What says that one or two bytes with the length follow: no key is longer."""
_PEM: Final = re.compile(rb"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----")


class SealingError(ValueError):
    """No password can be sealed for this key."""


def sealed(password: bytes, nonce: bytes, public_key: bytes) -> bytes:
    """`password` as only the server can read it, mixed with the `nonce` that it sent.

    Raises SealingError when the key is none, or shorter than the password takes.
    """
    try:
        modulus, exponent = _read(public_key)
    except (ValueError, IndexError):
        raise SealingError("what the server sends as its public key is none") from None
    mask = nonce or b"\0"
    message = bytes(each ^ mask[place % len(mask)] for place, each in enumerate(password + b"\0"))
    length = len(modulus)
    zeros = length - 2 - 2 * _HASH_BYTES - len(message)
    if zeros < 0:
        raise SealingError("the password is longer than the server's public key takes")
    seed = os.urandom(_HASH_BYTES)
    block = _masked(hashlib.sha1(b"").digest() + bytes(zeros) + b"\1" + message, seed)  # noqa: S324 - the server's law
    encoded = b"\0" + _masked(seed, block) + block
    number = pow(int.from_bytes(encoded), int.from_bytes(exponent), int.from_bytes(modulus))
    return number.to_bytes(length)


def _masked(data: bytes, seed: bytes) -> bytes:
    """MGF1: `data` mixed with hashes of `seed` and a counter."""
    count = -(-len(data) // _HASH_BYTES)
    mask = b"".join(hashlib.sha1(seed + each.to_bytes(4)).digest() for each in range(count))  # noqa: S324
    return bytes(one ^ other for one, other in zip(data, mask, strict=False))


def _read(pem: bytes) -> tuple[bytes, bytes]:
    """Modulus and exponent. Raises ValueError, IndexError."""
    found = _PEM.search(pem)
    if found is None:
        raise ValueError
    info, _ = _element(_SEQUENCE, base64.b64decode(found[1]))
    _, rest = _element(_SEQUENCE, info)
    bits, _ = _element(_BIT_STRING, rest)
    if bits[0] != 0:
        raise ValueError
    key, _ = _element(_SEQUENCE, bits[1:])
    modulus, rest = _element(_INTEGER, key)
    exponent, _ = _element(_INTEGER, rest)
    modulus, exponent = modulus.lstrip(b"\0"), exponent.lstrip(b"\0")
    if len(modulus) not in _MODULUS_BYTES or not 0 < len(exponent) <= _EXPONENT_BYTES_MAX:
        raise ValueError  # no protection, or work without end
    if not modulus[-1] & exponent[-1] & 1:
        raise ValueError  # nobody could read what is sealed: even ones have no inverse
    return modulus, exponent


def _element(tag: int, data: bytes) -> tuple[bytes, bytes]:
    """What the element of this tag holds with which `data` begins, and what follows. Raises ValueError, IndexError."""
    begin, length = 2, data[1]
    if length >= 0x80:
        if length not in _LONG_LENGTHS:
            raise ValueError
        begin = 2 + length - 0x80
        length = int.from_bytes(data[2:begin])
    end = begin + length
    if data[0] != tag or end > len(data):
        raise ValueError
    return data[begin:end], data[end:]
