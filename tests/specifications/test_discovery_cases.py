"""One look at all servers against the list of the drivers' specification: `discovery.yaml`."""

import socketserver
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from bson import ObjectId
from pymongo.errors import AutoReconnect

from brimline.errors import TargetError
from brimline.servers import external
from brimline.servers.discovery import Topology, discover
from brimline.servers.uri import parse_server_uri
from tests.support import fake_mongos

LISTS: Mapping[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("discovery.yaml").read_text(encoding="utf-8")
)
CASES = LISTS["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_what_is_found(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(TargetError) as raised:
            _found(case)
        assert case["error"] in raised.value.message
        return
    topology = _found(case)
    writable = [member.address for member in topology.writable]
    assert writable == list(map(_port, case.get("routers", [case.get("primary")])))
    assert sorted(member.address for member in topology.secondaries) == list(map(_port, case.get("secondaries", [])))


def test_the_list_says_why() -> None:
    assert len({case["case"] for case in CASES}) == len(CASES)
    assert all(len({"error", "primary", "routers"} & set(case)) == 1 for case in CASES)
    assert all("error" in case for case in CASES if "differs" in case)
    assert all(each["why"] for each in LISTS["not applicable"])


@pytest.mark.parametrize("versions", [(0, 6), (99, 120)], ids=["too_old", "too_new"])
@pytest.mark.parametrize("query", ["", "?directConnection=false", "?replicaSet=rs"])
def test_a_server_of_another_age_is_told(
    versions: tuple[int, int], query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    oldest, newest = versions
    hello = {"ok": 1, "isWritablePrimary": True, "minWireVersion": oldest, "maxWireVersion": newest}
    monkeypatch.setattr(fake_mongos, "_answer", lambda _: hello)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), fake_mongos.Connection) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(TargetError, match="too old or too new a version of the protocol"):
            external(f"mongodb://127.0.0.1:{server.server_address[1]}/{query}", connect_timeout_s=1)
        server.shutdown()


def _found(case: Mapping[str, Any]) -> Topology:
    answers = {_port(name): _hello(name, words, case["answers"]) for name, words in case["answers"].items()}
    now_s = 0.0

    def ask(address: str) -> Mapping[str, Any]:
        if address not in answers:
            raise AutoReconnect("connection refused")
        return answers[address]

    def rest(length_s: float) -> None:
        nonlocal now_s
        now_s += length_s

    query = f"replicaSet={case['set']}" if "set" in case else "directConnection=false"
    uri = parse_server_uri(f"mongodb://{','.join(case['asks'])}/?{query}")
    return discover(uri.seeds, ask, set_name=uri.set_name, timeout_s=1, now=lambda: now_s, rest=rest)


def _hello(name: str, words: str | Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    more = {"is": words} if isinstance(words, str) else dict(words)
    role = more.pop("is", None)
    if role is None:
        return more
    hosts = more.pop("hosts", [other for other, each in others.items() if _is_plain_member(each)])
    election = more.pop("election", None)
    if election is not None:
        more |= {"electionId": ObjectId(f"{election[0]:024x}"), "setVersion": election[1]}
    return {
        "setName": "rs",
        "hosts": list(map(_port, hosts)),
        "me": _port(name),
        "isWritablePrimary": role == "P",
        "secondary": role == "S",
        "maxWireVersion": 21,
        **more,
    }


def _is_plain_member(words: str | Mapping[str, Any]) -> bool:
    return isinstance(words, str) or "is" in words or "isreplicaset" in words


def _port(name: str) -> str:
    return f"{name}:27017"
