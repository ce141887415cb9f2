"""A server that only plays at knowing the password is named so at first contact, by control plane and engine alike."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from brimline import _native
from brimline.errors import TargetError
from brimline.plan import resolve, wire_target
from brimline.servers.access import Access, Login
from brimline.servers.external import external
from brimline.spec import load_spec
from tests.support import fake_mongos

_SALT = "c2FsdHNhbHRzYWx0c2FsdA=="
_NO_SIGNATURE = b"v=" + b"A" * 43 + b"="


@contextmanager
def _lying(nonce: str | None, iterations: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that answers every authentication; `nonce` None: the right one."""

    def answer(command: dict[str, Any]) -> dict[str, Any]:
        name = next(iter(command))
        if name.lower() in {"hello", "ismaster"}:
            versions = {"minWireVersion": 0, "maxWireVersion": 17}
            return {"ok": 1, "isWritablePrimary": True, "saslSupportedMechs": ["SCRAM-SHA-256"], **versions}
        if name == "saslStart":
            right = bytes(command["payload"]).rpartition(b"r=")[2].decode() + "more"
            payload = f"r={nonce or right},s={_SALT},i={iterations}".encode()
            return {"ok": 1, "conversationId": 1, "done": False, "payload": payload}
        if name == "saslContinue":
            return {"ok": 1, "conversationId": 1, "done": True, "payload": _NO_SIGNATURE}
        return {"ok": 1}

    monkeypatch.setattr(fake_mongos, "_answer", answer)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), fake_mongos.Connection) as server:
        server.daemon_threads, server.block_on_close = True, False
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    ("nonce", "iterations", "words", "engine_words"),
    [
        (None, 15_000, "does not prove that it knows the user's password", "does not prove that it knows"),
        ("another", 15_000, "answers another authentication than this one", "answers another authentication"),
        (None, 1, "asks for fewer iterations than 4096", "asks for 1 iterations"),
        (None, 99_999_999, "or more than 1000000", "asks for 99999999 iterations"),
    ],
)
def test_a_server_that_does_not_know_the_password_is_not_believed(
    nonce: str | None, iterations: int, words: str, engine_words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _lying(nonce, iterations, monkeypatch) as address:
        with pytest.raises(TargetError, match="is not believed") as raised:
            external(f"mongodb://bob:secret@{address}/", connect_timeout_s=2)
        assert words in raised.value.message and "secret" not in raised.value.message
        assert raised.value.exit_code == 5
        spec = load_spec("ycsb-c", overrides={"connections": 1}).spec.model_copy(update={"connect_timeout_ns": 10**9})
        plan = resolve(spec, target=wire_target(spec, address=address))
        login = Login(username="bob", password="secret", source="admin")
        run = _native.start(plan.canonical_json(), Access(login=login).native)
        with pytest.raises(_native.TargetError, match=engine_words):
            run.join()
