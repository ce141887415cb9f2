"""The first login of a user of MySQL's own kind of password: what is asked before a run, and the run, both get in."""

from pathlib import Path

import pytest

from brimline import _native
from brimline.errors import TargetError
from brimline.plan import SqlTarget, resolve
from brimline.servers.password import PasswordSource
from brimline.servers.sql_client import open_client
from brimline.servers.target_uri import parse_target_uri
from brimline.spec import load_spec
from tests.support.certificates import authority
from tests.support.first_login import PUBLIC_KEY, first_logins

PASSWORD = "geheim-ä-längeres-als-zwanzig-bytes"
WORKLOAD = """
name: first
protocol: sql
operations:
  nothing: {share: 1, sql: "DO 1"}
connections: 2
warmup: 0s
operation_count: 20
"""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return authority(tmp_path, "ca").sign("server")


@pytest.mark.parametrize("is_secure", [False, True], ids=["sealed", "over TLS"])
def test_whoever_logs_in_first_gets_in(tmp_path: Path, certificate: Path, is_secure: bool) -> None:
    (tmp_path / "password").write_text(PASSWORD)
    (tmp_path / "first.yaml").write_text(WORKLOAD)
    options = f"?tls=true&tlsCAFile={tmp_path / 'ca.pem'}" if is_secure else ""
    with first_logins(PASSWORD.encode(), certificate=certificate if is_secure else None) as server:
        where = parse_target_uri(
            f"mysql://u@{server.address}/d{options}", password=PasswordSource(file=tmp_path / "password")
        )
        with open_client(where) as client:
            client.change("DO 2")
        plan = resolve(
            load_spec(tmp_path / "first.yaml").spec,
            target=SqlTarget(kind="mysql", address=server.address, database="d", tls=is_secure),
        )
        summary = _native.start(plan.canonical_json(), where.access.native).join()

    assert summary["ok"] == 20
    # The control plane's; the engine's first alone, which is proof of the login, and two.
    assert server.passwords == [(PASSWORD.encode(), is_secure)] * 4
    assert server.statements.count(b"DO 1") == 20


@pytest.mark.parametrize(
    ("key", "password", "message"),
    [
        (b"no key", PASSWORD, "what the server sends as its public key is none"),
        (b"-----BEGIN PUBLIC KEY-----\nMAMCAQA=\n-----END PUBLIC KEY-----", PASSWORD, "public key is none"),
        (PUBLIC_KEY, "x" * 86, "the password is longer than the server's public key takes"),
    ],
    ids=["no key", "no numbers", "too short"],
)
def test_a_key_that_seals_nothing_is_one_clear_error(tmp_path: Path, key: bytes, password: str, message: str) -> None:
    (tmp_path / "password").write_text(password)
    with first_logins(password.encode(), key=key) as server:
        where = parse_target_uri(f"mysql://u@{server.address}", password=PasswordSource(file=tmp_path / "password"))
        with pytest.raises(TargetError) as caught:
            open_client(where)

    assert message in caught.value.message and "does not answer as" not in caught.value.message
    assert "add tls=true to the address" in (caught.value.hint or "")
    assert server.passwords == []


def test_a_wrong_password_is_refused_as_ever(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("another")
    with first_logins(PASSWORD.encode()) as server:
        where = parse_target_uri(f"mysql://u@{server.address}", password=PasswordSource(file=tmp_path / "password"))
        with pytest.raises(TargetError, match="does not accept the user name and the password"):
            open_client(where)
