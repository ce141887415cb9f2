"""A password that is sealed for a server's key: who has the key reads it, and what is no key is refused."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimline.servers.sealing import sealed
from tests.support.first_login import NONCE, PUBLIC_KEY, opened


@pytest.mark.parametrize("password", [b"secret", b"", "pässwörd of more than twenty bytes".encode(), b"x" * 85])
def test_a_password_is_read_by_who_has_the_key(password: bytes) -> None:
    first, second = (sealed(password, NONCE, PUBLIC_KEY) for _ in range(2))

    assert opened(first) == opened(second) == password + b"\0"
    assert first != second, "the seed is drawn anew"


def test_a_password_that_the_key_does_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than the server's public key takes"):
        sealed(b"x" * 86, NONCE, PUBLIC_KEY)


@given(st.binary(max_size=300))
def test_what_is_no_key_is_refused(data: bytes) -> None:
    pem = b"-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(data) + b"\n-----END PUBLIC KEY-----"
    for key in (data, pem):
        with pytest.raises(ValueError, match="public key is none"):
            sealed(b"secret", NONCE, key)
