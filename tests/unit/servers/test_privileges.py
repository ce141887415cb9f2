"""A user who may not see everything: what the server refuses is named, and only a stranger is turned away."""

from collections.abc import Mapping
from typing import Any, cast

import pytest
from pymongo.errors import OperationFailure

from brimline.compat.mongostat.watching import _status
from brimline.errors import TargetError
from brimline.monitor import read_opcounters
from brimline.servers.deployment import Client, inspect_deployment, server_documents
from brimline.servers.uri import parse_server_uri

_REFUSED = OperationFailure("not authorized", code=13, details={"codeName": "Unauthorized"})
_OPEN = {"hello": {"isWritablePrimary": True}, "buildInfo": {"version": "6.0.5", "gitVersion": "f" * 40}}


class _Admin:
    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def command(self, command: str | Mapping[str, Any]) -> Any:
        name = command if isinstance(command, str) else next(iter(command))
        answer = self._answers.get(name, _REFUSED)
        if isinstance(answer, Exception):
            raise answer
        return answer


class _Client:
    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.admin = _Admin(answers)


def _client(**answers: Any) -> Client:
    return cast(Client, _Client({**_OPEN, **answers}))


def _signed_in(*users: str) -> dict[str, Any]:
    return {"authInfo": {"authenticatedUsers": [{"user": user, "db": "admin"} for user in users]}}


@pytest.mark.parametrize("code", [13, 18, 8000])
def test_a_user_who_may_not_see_the_servers_state_can_still_run(code: int) -> None:
    client = _client(connectionStatus=_signed_in("ann"), serverStatus=OperationFailure("no", code=code))
    deployment = inspect_deployment(client, address="h:1", uri_redacted="mongodb://h:1")
    assert (deployment.version, deployment.engine, deployment.pid) == ("6.0.5", "unknown", None)
    assert deployment.cpu_count is None


def test_a_stranger_is_turned_away() -> None:
    with pytest.raises(TargetError):
        inspect_deployment(_client(connectionStatus=_signed_in()), address="h:1", uri_redacted="mongodb://h:1")


@pytest.mark.parametrize("code", [13, 18, 8000])
def test_counters_that_are_refused_are_absent(code: int) -> None:
    assert read_opcounters(_client(serverStatus=OperationFailure("no", code=code))) is None


@pytest.mark.parametrize("code", [13, 18, 8000])
def test_a_refused_state_is_told_with_the_role_it_needs(code: int) -> None:
    def refuse(_name: str) -> dict[str, Any]:
        raise OperationFailure("no", code=code)

    with pytest.raises(TargetError) as caught:
        _status(refuse, parse_server_uri("mongodb://ann:secret@h:1"))
    assert "clusterMonitor" in (caught.value.hint or "")


def test_documents_that_are_refused_are_named() -> None:
    documents = server_documents(_client())
    assert documents["refused"] == {"getCmdLineOpts": "Unauthorized", "hostInfo": "Unauthorized"}
    assert "refused" not in server_documents(_client(getCmdLineOpts={"argv": []}, hostInfo={"system": {}}))
