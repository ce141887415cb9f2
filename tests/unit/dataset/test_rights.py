"""Which rights a user has, by what the server says of its privileges."""

from typing import Any

import pytest

from brimline.dataset.rights import require_rights
from brimline.errors import TargetError


class Database:
    """Answers `connectionStatus` with these privileges."""

    name = "shop"

    def __init__(self, privileges: object, *, users: object = ({"user": "u"},)) -> None:
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


@pytest.mark.parametrize("database", [Database([], users=()), Database(None)])
def test_without_a_user_and_where_the_server_does_not_tell_nothing_is_refused(database: Any) -> None:
    require_rights(database, "orders", ["insert"])
