"""Who is let in to the page, and who isn't: other pages, other names, other tokens."""

import ipaddress
from collections.abc import Mapping
from typing import Any

import pytest

from brimline.errors import UsageError
from brimline.ui.guard import BODY_BYTES_MAX, FORM, Access, Guard
from tests.support.asgi import HOST, ORIGIN, Visitor

SEEN: list[Any] = []


async def pages(scope: Any, receive: Any, send: Any) -> None:
    SEEN.append(scope)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


@pytest.fixture
def visitor() -> Visitor:
    SEEN.clear()
    access = Access(port=8170)
    return Visitor(Guard(pages, access), access)


def test_the_token_becomes_a_cookie_and_leaves_the_address(visitor: Visitor) -> None:
    answer = visitor.get(f"/records/a?token={visitor.access.token}&lang=zh")
    assert (answer.status, answer.headers["location"]) == (303, "/records/a?lang=zh")
    assert answer.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert visitor.access.token not in answer.headers["set-cookie"]
    assert not SEEN
    assert visitor.let_in().get("/").text == "inside"


@pytest.mark.parametrize("url", ["/", "/?token=", "/?token=wrong", "/records/a", "/static/ui.js"])
def test_nobody_is_let_in_without_the_token(url: str, visitor: Visitor) -> None:
    assert visitor.get(url).status == 403
    assert visitor.get(url, cookie=f"{visitor.access.cookie}=wrong").status == 403
    assert visitor.get(url, cookie="\x00=;;=").status == 403
    assert not SEEN


def test_the_token_is_no_open_door_to_elsewhere(visitor: Visitor) -> None:
    answer = visitor.get(f"//evil.example/?token={visitor.access.token}")
    assert answer.headers["location"].startswith("/evil.example") or answer.headers["location"] == "/"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8170", "127.0.0.1.evil.example", "", "10.0.0.1:8170", "localhost@evil:80"]
)
def test_another_name_that_leads_here_is_refused(host: str, visitor: Visitor) -> None:
    """DNS rebinding: the name is somebody else's, and the browser thinks that it is theirs."""
    visitor.let_in()
    visitor.headers["host"] = host
    assert visitor.get("/").status == 421
    assert not SEEN


@pytest.mark.parametrize("host", ["127.0.0.1:8170", "localhost:8170", "LOCALHOST:9", "[::1]:8170", "localhost"])
def test_names_of_this_machine_are_known(host: str, visitor: Visitor) -> None:
    visitor.let_in()
    visitor.headers["host"] = host
    assert visitor.get("/").status == 200


def test_other_names_are_known_where_they_were_given() -> None:
    access = Access(port=80, address="0.0.0.0", names=("load.example",))
    assert access.knows_host("load.example") and access.knows_host("10.1.2.3:80") and access.knows_host("[fe80::1]:80")
    assert not access.knows_host("evil.example")
    assert not access.is_loopback and access.url.startswith("http://127.0.0.1:80/?token=")
    assert not Access(port=80, address="10.1.2.3").knows_host("10.1.2.4:80")


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "box.local"])
def test_a_name_that_is_listened_on_becomes_an_address_and_stays_known(name: str) -> None:
    pytest.importorskip("uvicorn")
    from brimline.ui.serve import bound_access, listening

    with listening(Access(port=0)) as listener:
        bound = bound_access(Access(port=0, address=name), listener)
    assert bound.port > 0 and ipaddress.ip_address(bound.address).is_loopback == bound.is_loopback
    assert bound.address in bound.url and bound.knows_host(f"{name}:{bound.port}")
    assert not bound.knows_host("") and not bound.knows_host("evil.example")


@pytest.mark.parametrize("name", ["nowhere.invalid", "a" * 300])
def test_a_name_that_leads_nowhere_is_refused(name: str) -> None:
    pytest.importorskip("uvicorn")
    from brimline.ui.serve import listening

    with pytest.raises(UsageError, match="can't listen on"):
        listening(Access(port=0, address=name))


def test_a_host_that_is_said_twice_is_refused(visitor: Visitor) -> None:
    visitor.headers = {"host": HOST, "Host": HOST}
    assert visitor.get("/").status == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", f"{ORIGIN}.evil.example"])
def test_another_page_is_refused(origin: str, visitor: Visitor) -> None:
    visitor.let_in()
    assert visitor.get("/", origin=origin).status == 403
    assert visitor.post("/start", {"verb": "run"}, origin=origin).status == 403
    assert not SEEN


def test_what_changes_something_says_where_it_comes_from_and_has_the_forms_token(visitor: Visitor) -> None:
    assert visitor.post("/start", {}).status == 403, "without a cookie"
    visitor.let_in()
    assert visitor.post("/start", {}, origin="").status == 403, "without an origin"
    assert visitor.post("/start", {}, csrf="").status == 403
    assert visitor.post("/start", {}, csrf="wrong").status == 403
    assert not SEEN
    assert visitor.post("/start", {"a": ["1", "2"], "b": ""}).status == 200
    assert SEEN[-1][FORM] == [("a", "1"), ("a", "2"), ("b", "")]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(method: str, visitor: Visitor) -> None:
    assert visitor.let_in().ask(method, "/").status == 405


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x" * (BODY_BYTES_MAX + 1), 413),
        (b"x" * BODY_BYTES_MAX, 403),
        (b"a=" + b"\xff\xfe", 400),
        (b"\xff", 400),
        (b"&".join(b"a=1" for _ in range(1000)), 400),
    ],
    ids=["huge", "as large as may be, without a token", "not text", "no text at all", "many fields"],
)
def test_a_body_that_is_no_form_is_refused(body: bytes, status: int, visitor: Visitor) -> None:
    assert visitor.let_in().ask("POST", "/start", body=body, headers={"origin": ORIGIN}).status == status
    assert not SEEN


def test_every_answer_forbids_what_is_not_needed(visitor: Visitor) -> None:
    answers: Mapping[int, Any] = {403: visitor.get("/"), 200: visitor.let_in().get("/")}
    for status, answer in answers.items():
        assert answer.status == status
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"


def test_secrets_are_not_in_what_is_printed_of_them() -> None:
    access = Access(port=1)
    assert access.token not in repr(access) and access.session not in repr(access) and access.csrf not in repr(access)
