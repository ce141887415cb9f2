"""What opens a server travels to a node whole, and apart from everything that is shown or stored."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from brimline.errors import UsageError
from brimline.execution.cluster.access import PortableAccess
from brimline.execution.cluster.link import ANSWER_WITHIN_S
from brimline.execution.cluster.node import NodeEngine
from brimline.execution.cluster.shared_run import SharedRun
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
    (order,) = share_orders(plan(), 1, identity=None)
    assert SECRET not in repr(access) + repr(order) + order.plan.canonical_json()
    assert "content of" not in repr(access) + repr(order)


class _Heard:
    """A node that takes note of what it is told, and refuses to start."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.within_s: dict[str, float] = {}

    def call(self, name: str, *arguments: Any, within_s: float = ANSWER_WITHIN_S) -> Any:
        self.calls.append((name, arguments))
        self.within_s[name] = within_s
        return "not here" if name == "start" else None

    def close(self) -> None: ...


def _told(access: PortableAccess, *, rows_bytes: int = 0) -> _Heard:
    (order,) = share_orders(plan(), 1, identity=None)
    heard = _Heard()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(order), "rows_bytes", property(lambda _: rows_bytes))
        run = SharedRun([order], [(heard, {"host": "there"})], access=access, held=False, on_lost=lambda _: None)
        with pytest.raises(UsageError, match=r"node 0 \(there\) can't perform the plan: not here"):
            run.join()
    return heard


def test_what_is_secret_travels_in_a_call_of_its_own_and_is_small(tmp_path: Path) -> None:
    """What carries calls may lay down large arguments on a disk: neither rows nor a bundle of authorities go along."""
    _access(tmp_path)
    (tmp_path / "ca.pem").write_text(200_000 * "c")
    tls = Tls(ca_file=tmp_path / "ca.pem", certificate_key_file=tmp_path / "key.pem")
    access = PortableAccess.of(Access(login=Login(username="u", password=SECRET, source="admin"), tls=tls))
    heard = _told(access)
    assert [name for name, _ in heard.calls] == ["admit", "start"]
    sizes = [
        len(sent)
        for _, arguments in heard.calls
        for each in arguments
        if SECRET.encode() in (sent := pickle.dumps(each))
    ]
    assert len(sizes) == 1 and sizes[0] < 10_000
    engine = NodeEngine()
    assert engine.admit(*heard.calls[0][1]) is None
    opened = engine._access
    assert opened.login is not None and opened.login.password == SECRET
    assert opened.tls is not None and opened.tls.ca_file is not None
    assert opened.tls.ca_file.read_text() == 200_000 * "c"
    engine.admit(*heard.calls[0][1])
    assert engine._access is opened, "the same is not opened again"


def test_a_plan_with_many_rows_may_take_long_to_arrive() -> None:
    assert _told(PortableAccess.of(Access())).within_s["start"] == ANSWER_WITHIN_S
    assert _told(PortableAccess.of(Access()), rows_bytes=10**9).within_s["start"] > 60.0


def test_a_certificate_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="be read"):
        PortableAccess.of(Access(tls=Tls(ca_file=tmp_path / "gone.pem")))


def test_a_server_that_is_open_to_all_needs_nothing() -> None:
    access = Access()
    assert PortableAccess.of(access).opened() == access
