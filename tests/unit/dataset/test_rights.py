"""Which rights a user has, by what the server says of its privileges."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from brimline.dataset.rights import require_rights
from brimline.errors import TargetError
from brimline.servers.faults import kinds
from brimline.servers.faults.kinds import KINDS


class Database:
    """Answers `connectionStatus` with these privileges."""

    def __init__(self, privileges: object, *, users: object = ({"user": "u"},), name: str = "shop") -> None:
        self.name = name
        self._answer = {"authInfo": {"authenticatedUsers": list(users), "authenticatedUserPrivileges": privileges}}

    def command(self, _command: object) -> dict[str, Any]:
        return self._answer


def _privilege(*actions: str, **resource: object) -> dict[str, object]:
    return {"resource": resource, "actions": list(actions)}


@pytest.mark.parametrize(
    "privileges",
    [
        [_privilege("insert", "remove", db="shop", collection="orders")],
        [_privilege("insert", db="shop", collection=""), _privilege("remove", db="", collection="orders")],
        [_privilege("insert", "remove", db="", collection="")],
        [_privilege("anyAction", anyResource=True)],
    ],
)
def test_rights_that_are_granted(privileges: object) -> None:
    require_rights(Database(privileges), "orders", ["insert", "remove"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "privileges",
    [
        [_privilege("remove", db="shop", collection="orders")],
        [
            _privilege("remove", "insert", db="shop", collection="others"),
            _privilege("remove", db="shop", collection=""),
        ],
        [_privilege("insert", db="else", collection=""), _privilege("remove", db="", collection="orders")],
        [_privilege("insert", cluster=True), _privilege("remove", db="shop", collection="orders")],
    ],
)
def test_rights_that_are_missing(privileges: object) -> None:
    with pytest.raises(TargetError, match=r"shop\.orders needs: insert"):
        require_rights(Database(privileges), "orders", ["remove", "insert"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("resource", "is_covered"),
    [
        ({"db": "shop", "collection": ""}, False),  # a privilege on a database covers no collection of the server's
        ({"db": "shop", "collection": "system.buckets.heat"}, True),
        ({"system_buckets": ""}, True),
        ({"system_buckets": "heat"}, True),
        ({"system_buckets": "cold"}, False),
        ({"db": "shop", "system_buckets": "heat"}, True),
        ({"db": "else", "system_buckets": "heat"}, False),
        ({"anyResource": True}, True),
    ],
)
def test_what_holds_a_time_series_has_privileges_of_its_own(resource: dict[str, object], is_covered: bool) -> None:
    database: Any = Database([_privilege("find", **resource)])
    with nullcontext() if is_covered else pytest.raises(TargetError, match="find isn't granted"):
        require_rights(database, "system.buckets.heat", ["find"])


@pytest.mark.parametrize(
    ("name", "resource", "is_covered"),
    [
        ("config", {"db": "", "collection": ""}, False),
        ("local", {"db": "", "collection": ""}, False),
        ("admin", {"db": "", "collection": ""}, True),
        ("config", {"db": "config", "collection": ""}, True),
        ("config", {"db": "", "collection": "chunks"}, True),
        ("config", {"anyResource": True}, True),
    ],
)
def test_what_covers_every_database_does_not_cover_the_servers_own(
    name: str, resource: dict[str, object], is_covered: bool
) -> None:
    database: Any = Database([_privilege("find", **resource)], name=name)
    with nullcontext() if is_covered else pytest.raises(TargetError, match="find isn't granted"):
        require_rights(database, "chunks", ["find"])


class Liar(Database):
    """Of its status `answer` is all that it says."""

    def __init__(self, answer: object) -> None:
        super().__init__([])
        self._answer: Any = answer


def _told(*privileges: object) -> dict[str, object]:
    return {"authInfo": {"authenticatedUsers": [{"user": "u"}], "authenticatedUserPrivileges": list(privileges)}}


@pytest.mark.parametrize(
    "answer",
    [
        {"authInfo": [1]},
        *map(_told, [{}, "x", None, {"resource": {}}, {"resource": None, "actions": []}, {"resource": "db"}]),
        *map(_told, [{"resource": {}, "actions": 5}, {"resource": {}, "actions": [{}]}]),
    ],
    ids=repr,
)
def test_rights_that_cannot_be_read_are_an_error(answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    database: Any = Liar(answer)
    with pytest.raises(TargetError, match="asking for the user's rights: the server's answer can't be read"):
        require_rights(database, "orders", ["find"])
    monkeypatch.setattr(kinds, "control_client", lambda *_, **__: nullcontext(SimpleNamespace(admin=database)))
    site: Any = SimpleNamespace(deployment=SimpleNamespace(access=SimpleNamespace(login="u"), address="a:1"))
    with pytest.raises(TargetError, match="the user's rights can't be asked for"):
        KINDS["step-down"].check(site, "")


class Silent(Database):
    """Tells of a user and of no privilege, as an engine does that `build` names."""

    def __init__(self, build: dict[str, Any]) -> None:
        super().__init__([])
        self._build = build

    def command(self, command: object) -> dict[str, Any]:
        return self._build if command == "buildInfo" else super().command(command)


def test_who_has_no_privilege_may_do_nothing_but_on_an_engine_that_has_none() -> None:
    silent: Any = Silent({"version": "8.0.0", "gitVersion": "0" * 40})
    with pytest.raises(TargetError, match="insert isn't granted"):
        require_rights(silent, "orders", ["insert"])
    ferret: Any = Silent({"version": "7.0.42", "ferretdbVersion": "v1.24.0"})
    require_rights(ferret, "orders", ["insert"])


@pytest.mark.parametrize("database", [Database([], users=()), Database(None)])
def test_without_a_user_and_where_the_server_does_not_tell_nothing_is_refused(database: Any) -> None:
    require_rights(database, "orders", ["insert"])
