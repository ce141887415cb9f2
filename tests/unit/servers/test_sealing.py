"""A password that is sealed for a server's key: who has the key reads it, and what is no key is refused."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimline.servers.sealing import SealingError, sealed
from tests.support.first_login import NONCE, PUBLIC_KEY, opened


@pytest.mark.parametrize("password", [b"secret", b"", "pässwörd of more than twenty bytes".encode(), b"x" * 85])
def test_a_password_is_read_by_who_has_the_key(password: bytes) -> None:
    first, second = (sealed(password, NONCE, PUBLIC_KEY) for _ in range(2))

    assert opened(first) == opened(second) == password + b"\0"
    assert first != second, "the seed is drawn anew"


def test_a_server_without_a_nonce_reads_the_password_as_it_is() -> None:
    mixed_by_the_reader = opened(sealed(b"secret", b"", PUBLIC_KEY))
    assert bytes(one ^ other for one, other in zip(mixed_by_the_reader, NONCE, strict=False)) == b"secret\0"


def test_a_password_that_the_key_does_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than the server's public key takes"):
        sealed(b"x" * 86, NONCE, PUBLIC_KEY)


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        (b"\x02\3\1\0\1", b"\x02\3\1\0\2"),
        (b"\xd7\x02\3", b"\xd6\x02\3"),
        (b"\x03\x81\x8d\0", b"\x03\x81\x8d\1"),
        (b"\x30\x81\x9f", b"\x30\x83\0\0\x9f"),
    ],
    ids=["an even exponent", "an even modulus", "bits that are no bytes", "a length of three bytes"],
)
def test_a_key_that_the_engine_refuses_is_refused(there: bytes, instead: bytes) -> None:
    der = base64.b64decode(b"".join(PUBLIC_KEY.splitlines()[1:-1]))
    assert der.count(there) == 1
    changed = base64.b64encode(der.replace(there, instead))
    with pytest.raises(SealingError, match="public key is none"):
        sealed(b"secret", NONCE, b"-----BEGIN PUBLIC KEY-----\n" + changed + b"\n-----END PUBLIC KEY-----")


@given(st.binary(max_size=300))
def test_what_is_no_key_is_refused(data: bytes) -> None:
    pem = b"-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(data) + b"\n-----END PUBLIC KEY-----"
    for key in (data, pem):
        with pytest.raises(ValueError, match="public key is none"):
            sealed(b"secret", NONCE, key)
