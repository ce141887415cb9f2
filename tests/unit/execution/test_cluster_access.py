"""What opens a server travels to a node whole, and apart from everything that is shown or stored."""

import pickle
from pathlib import Path

import pytest

from brimline.errors import UsageError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.shares import share_orders
from brimline.servers.access import Access, Login, Tls
from tests.support.run_sets import plan

SECRET = "correct horse"


def _access(directory: Path) -> Access:
    for name in ("ca.pem", "key.pem"):
        (directory / name).write_text(f"content of {name}")
    tls = Tls(ca_file=directory / "ca.pem", certificate_key_file=directory / "key.pem")
    return Access(login=Login(username="u", password=SECRET, source="admin"), tls=tls)


def test_a_password_and_files_arrive_and_are_on_no_disk(tmp_path: Path) -> None:
    sent = pickle.dumps(PortableAccess.of(_access(tmp_path)))
    for path in tmp_path.iterdir():
        path.unlink()  # the node has none of them
    opened = pickle.loads(sent).opened()
    assert opened.login is not None and opened.login.password == SECRET
    assert opened.tls is not None and opened.tls.ca_file is not None and opened.tls.certificate_key_file is not None
    assert opened.tls.ca_file.read_text() == "content of ca.pem"
    assert opened.tls.certificate_key_file.read_text() == "content of key.pem"
    assert "memfd" in str(opened.tls.ca_file.readlink()) and list(tmp_path.iterdir()) == []


def test_nothing_secret_is_shown(tmp_path: Path) -> None:
    access = PortableAccess.of(_access(tmp_path))
    (order,) = share_orders(plan(), 1, access=access, identity=None)
    assert SECRET not in repr(access) + repr(order) + order.plan.canonical_json()
    assert "content of" not in repr(access) + repr(order)


def test_a_certificate_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="be read"):
        PortableAccess.of(Access(tls=Tls(ca_file=tmp_path / "gone.pem")))


def test_a_server_that_is_open_to_all_needs_nothing() -> None:
    access = Access()
    assert PortableAccess.of(access).opened() == access
