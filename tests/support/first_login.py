"""Owns a server of MySQL's that wants each login's whole password, as a real one at a user's first since its start.

It reads the password sealed for its key (by openssl, for this alone), or in clear over TLS; any statement is done.
"""

import hashlib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PUBLIC_KEY: Final = b"""-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCZhxZP2u5qL+B6UySyflRzN4pW
uPmPYThBUcGP1WCCylFZZrcrCjLuX4WJfYdkAYMCh2F4xgBjfBg6u+9FrjJUsH4j
bEgMoOBsL9W4zJEzdMTkQy6Wn9ZQcC+52uM4IEPU2aCqY3YmgqRX1w2n8yp1zJoE
2Pn42sj4hudFtc9m1wIDAQAB
-----END PUBLIC KEY-----
"""
_MODULUS: Final = int(
    "9987164fdaee6a2fe07a5324b27e5473378a56b8f98f61384151c18fd56082ca515966b72b0a32ee5f85897d87640183028761"
    "78c600637c183abbef45ae3254b07e236c480ca0e06c2fd5b8cc913374c4e4432e969fd650702fb9dae3382043d4d9a0aa6376"
    "2682a457d70da7f32a75cc9a04d8f9f8dac8f886e745b5cf66d7",
    16,
)
_PRIVATE_EXPONENT: Final = int(
    "2bc58d01f57c75fff2734dd32fa4bef51e87ad940d6ae89ffe578de53143d3e654ed3550d1cf9597cada2aca0458e9e96d4625"
    "ef261ca4409433e2b3245db6f1674f6672c6a54556320d981adca168fa8e82f00b25547d89d88205ed8342e493fea7675fe915"
    "6e46d4d4048bb415e41ad73fd15e460059c546f067fa0f56c219",
    16,
)
NONCE: Final = b"ABCDEFGHIJKLMNOPQRST"
_CAPABILITIES: Final = 0x81FF_F7FF
_SSL: Final = 0x800
_SSL_REQUEST_BYTES: Final = 32
_KEY_WANTED: Final = b"\2"
_OK: Final = b"\0\0\0\2\0\0\0"
_HASH_BYTES: Final = 20
_HEAD_BYTES: Final = 4
"""Of a packet: its length and number."""


@dataclass
class FirstLogins:
    """What the server was told: whole passwords, in the order of the logins, each with whether it came over TLS."""

    address: str = ""
    passwords: list[tuple[bytes, bool]] = field(default_factory=list)
    statements: list[bytes] = field(default_factory=list)


@contextmanager
def first_logins(password: bytes, *, certificate: Path | None = None, key: bytes = PUBLIC_KEY) -> Iterator[FirstLogins]:
    """Such a server, which lets in who knows `password`; with TLS where it has a certificate."""
    seen = FirstLogins()
    secured = None
    if certificate is not None:
        secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secured.load_cert_chain(certificate)

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=attend, args=(connection,), daemon=True).start()

    def attend(connection: socket.socket) -> None:
        conversation = _Conversation(connection, seen, password, secured, key)
        with suppress(OSError, EOFError):
            conversation.hold()
        conversation.close()

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        seen.address = f"127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=serve, daemon=True).start()
        yield seen
        listener.shutdown(socket.SHUT_RDWR)


def greeting(*, is_secure: bool = False) -> bytes:
    """What a server of MySQL's says first, as a packet."""
    can = _CAPABILITIES | (_SSL if is_secure else 0)
    low, high = (can & 0xFFFF).to_bytes(2, "little"), (can >> 16).to_bytes(2, "little")
    head = b"\x0a8.0.36\0\5\0\0\0" + NONCE[:8] + b"\0" + low + b"\xff\2\0" + high + b"\x15" + bytes(10)
    payload = head + NONCE[8:] + b"\0caching_sha2_password\0"
    return len(payload).to_bytes(3, "little") + b"\0" + payload


class _Conversation:
    def __init__(
        self, connection: socket.socket, seen: FirstLogins, password: bytes, secured: ssl.SSLContext | None, key: bytes
    ) -> None:
        self._socket, self._seen, self._password, self._secured, self._key = connection, seen, password, secured, key
        self._number = 0

    def hold(self) -> None:
        """From the greeting to the end."""
        self._say(greeting(is_secure=self._secured is not None)[_HEAD_BYTES:])
        login = self._hear()
        is_secure = len(login) == _SSL_REQUEST_BYTES
        if is_secure:
            assert self._secured is not None
            self._socket = self._secured.wrap_socket(self._socket, server_side=True)
            self._hear()
        self._say(b"\1\4")
        said = self._hear()
        if said == _KEY_WANTED:
            self._say(b"\1" + self._key)
            said = opened(self._hear())
        self._seen.passwords.append((said.rstrip(b"\0"), is_secure))
        if said != self._password + b"\0":
            self._say(b"\xff\x15\4#28000Access denied for user 'u'")
            return
        self._say(_OK)
        while (statement := self._hear()) != b"\1":
            self._seen.statements.append(statement[1:])
            self._say(_OK)

    def close(self) -> None:
        """Closes the connection, which may be another one since TLS began."""
        self._socket.close()

    def _say(self, payload: bytes) -> None:
        self._socket.sendall(len(payload).to_bytes(3, "little") + bytes([self._number]) + payload)
        self._number = (self._number + 1) % 256

    def _hear(self) -> bytes:
        head = self._exactly(_HEAD_BYTES)
        self._number = (head[3] + 1) % 256
        return self._exactly(int.from_bytes(head[:3], "little"))

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data


def opened(sealed: bytes) -> bytes:
    """What was sealed for the key, with the nonce taken out of it."""
    encoded = pow(int.from_bytes(sealed), _PRIVATE_EXPONENT, _MODULUS).to_bytes(128)
    assert encoded[0] == 0
    masked_seed, masked = encoded[1 : 1 + _HASH_BYTES], encoded[1 + _HASH_BYTES :]
    seed = _mixed(masked_seed, masked)
    block = _mixed(masked, seed)
    assert block[:_HASH_BYTES] == hashlib.sha1(b"").digest()
    rest = block[_HASH_BYTES:].lstrip(b"\0")
    assert rest[0] == 1
    return bytes(each ^ NONCE[place % len(NONCE)] for place, each in enumerate(rest[1:]))


def _mixed(data: bytes, seed: bytes) -> bytes:
    hashes = (hashlib.sha1(seed + each.to_bytes(4)).digest() for each in range(len(data) // _HASH_BYTES + 1))
    return bytes(one ^ other for one, other in zip(data, b"".join(hashes), strict=False))
