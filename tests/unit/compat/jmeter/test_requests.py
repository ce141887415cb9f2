from pathlib import Path
from typing import Any

import pytest

from tests.support.jmx import controller, element, group, headers, plan_text, sampler
from tests.unit.compat.jmeter.translating import keys_of, requests, translated, workload


def defaults(*arguments: Any, **properties: Any) -> str:
    named = {f"HTTPSampler.{name}": str(value) for name, value in properties.items()}
    given = [{"HTTPArgument.always_encode": True, "Argument.name": n, "Argument.value": v} for n, v in arguments]
    return element("ConfigTestElement", "Defaults", {**named, "HTTPsampler.Arguments": {"Arguments.arguments": given}})


ARGUMENTS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("GET", [("q", "a b&c"), ("n", "5")], {"get": {"path": "/x", "query": {"q": "a b&c", "n": "5"}}}),
    ("GET", [("q", "a%20b", False)], {"get": {"path": "/x?q=a%20b"}}),
    ("GET", [("q", "a b", True), ("q", "c", True)], {"get": {"path": "/x?q=a+b&q=c"}}),
    ("POST", [("q", "a b"), ("r", "c+d", False)], {"post": {"path": "/x", "form": {"q": "a b", "r": "c d"}}}),
    ("PUT", [("q", "1")], {"put": {"path": "/x", "form": {"q": "1"}}}),
    ("DELETE", [("q", "1")], {"delete": {"path": "/x", "query": {"q": "1"}}}),
    ("HEAD", [], {"head": {"path": "/x"}}),
    ("OPTIONS", [], {"options": {"path": "/x"}}),
    ("PROPFIND", [], {"request": {"method": "PROPFIND", "path": "/x"}}),
    ("POST", [], {"post": {"path": "/x"}}),
]


@pytest.mark.parametrize(("method", "arguments", "made"), ARGUMENTS)
def test_parameters_are_a_query_or_a_form(
    tmp_path: Path, method: str, arguments: list[Any], made: dict[str, Any]
) -> None:
    keys = workload(tmp_path, plan_text(group(sampler("x", "/x", method=method, arguments=arguments))))
    assert requests(keys) == [made]


def test_fields_that_a_mapping_can_not_have_are_a_body(tmp_path: Path) -> None:
    arguments = [("a", "1 2"), ("a", "${__Random(1,2)}")]
    (request,) = requests(workload(tmp_path, plan_text(group(sampler(path="/x", method="POST", arguments=arguments)))))
    wanted = {"path": "/x", "headers": {"content-type": "application/x-www-form-urlencoded"}, "body": "a=1+2&a=$random"}
    assert request == {"post": wanted}


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_body_is_sent_as_it_stands(tmp_path: Path, method: str) -> None:
    body = '{\n "a": "${__Random(1,2)}", "b": "$c"\n}'
    keys = workload(tmp_path, plan_text(group(sampler(path="/x", method=method, body=body))))
    (request,) = requests(keys)
    sent = {"path": "/x", "body": '{\n "a": "$random", "b": "$$c"\n}'}
    assert request == ({"post": sent} if method == "POST" else {"request": {"method": "DELETE", **sent}})


@pytest.mark.parametrize(
    ("said", "uri", "path"),
    [
        ({"domain": "h", "port": ""}, "http://h", "/x"),
        ({"domain": "h", "port": 80}, "http://h", "/x"),
        ({"domain": "h", "port": 443, "protocol": "https"}, "https://h", "/x"),
        ({"domain": "h", "port": 8443, "protocol": "HTTPS"}, "https://h:8443", "/x"),
        ({"domain": "h", "path": "https://other:81/a?b=c"}, "https://other:81", "/a?b=c"),
        ({"domain": "http://h:82", "port": ""}, "http://h:82", "/x"),
        ({"domain": "h", "port": "", "path": "a b/ü%zz#top"}, "http://h", "/a%20b/%C3%BC%25zz%23top"),
        ({"domain": "[::1]", "port": 8080}, "http://[::1]:8080", "/x"),
        ({"domain": "${nobody}", "port": ""}, None, "/x"),
        ({"domain": "", "port": ""}, None, "/x"),
    ],
)
def test_where_requests_go(tmp_path: Path, said: dict[str, Any], uri: str | None, path: str) -> None:
    protocol = said.pop("protocol", "")
    text = plan_text(group(sampler("x", said.pop("path", "/x"), **said)))
    wanted = f'<stringProp name="HTTPSampler.protocol">{protocol}</stringProp>'
    keys = workload(tmp_path, text.replace('<stringProp name="HTTPSampler.protocol"></stringProp>', wanted))
    assert keys.get("target") == (None if uri is None else {"uri": uri})
    assert requests(keys)[0]["get"]["path"] == path


def test_requests_to_other_hosts_are_left_out_with_their_secrets(tmp_path: Path) -> None:
    stranger = sampler("Metrics", "/m", headers(X_Api_Key="hidden-word"), domain="metrics.example")
    found = translated(tmp_path, plan_text(group(sampler("A"), stranger, sampler("B"))))
    keys = keys_of(found)
    assert [each["name"] for each in requests(keys)] == ["A", "B"]
    assert "headers" not in keys["http"]
    assert "its host is http://metrics.example:8080" in found.not_taken[0]
    assert found.environment == []


def test_the_nearest_setting_counts(tmp_path: Path) -> None:
    """Of defaults and headers beside, around and below a request; never of those in another branch."""
    inner = controller(
        "GenericController",
        defaults(path="/inner"),
        headers(X_Level="inner", X_Inner="1"),
        sampler("own", "/own", headers(X_Level="own"), domain="", port=""),
        sampler("inner", "", domain="", port=""),
    )
    beside = controller("GenericController", headers(X_Elsewhere="1"), sampler("beside", "", domain="", port=""))
    plan = plan_text(
        defaults(("lang", "zh"), domain="h", port="81", path="/outer"),
        headers(X_Level="plan", X_Plan="1"),
        group(inner, beside, headers(X_Level="group")),
    )
    keys = workload(tmp_path, plan)
    assert keys["target"] == {"uri": "http://h:81"}
    assert keys["http"]["headers"] == {"x-plan": "1"}
    assert [(each["get"]["path"], each["get"]["headers"]) for each in requests(keys)] == [
        ("/own", {"x-level": "own", "x-inner": "1"}),
        ("/inner", {"x-level": "inner", "x-inner": "1"}),
        ("/outer", {"x-elsewhere": "1", "x-level": "group"}),
    ]
    assert {str(each["get"]["query"]) for each in requests(keys)} == {"{'lang': 'zh'}"}


def test_headers_that_all_have_are_said_once(tmp_path: Path) -> None:
    keys = workload(tmp_path, plan_text(headers(Accept="text/html", X_A="é"), group(sampler("A"), sampler("B"))))
    assert keys["http"]["headers"] == {"accept": "text/html", "x-a": "%C3%A9"}
    assert all("headers" not in each["get"] for each in requests(keys))


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "Cookie", "X-Auth-Token"])
def test_no_secret_is_written(tmp_path: Path, name: str) -> None:
    found = translated(tmp_path, plan_text(headers(**{name.replace("-", "_"): "hidden-word"}), group(sampler())))
    variable = f"SHOP_{name.upper().replace('-', '_')}"
    assert keys_of(found)["http"]["headers"] == {name.lower(): {"env": variable}}
    assert found.environment == [variable]
    assert "hidden-word" not in next(iter(found.workloads.values())).text + "".join([*found.not_taken, *found.changed])


def test_a_header_with_what_a_request_kept_is_no_secret_of_the_plan(tmp_path: Path) -> None:
    token = element(
        "JSONPostProcessor",
        "t",
        {"JSONPostProcessor.referenceNames": "t", "JSONPostProcessor.jsonPathExprs": "$.t"},
    )
    sent = sampler("A", "/", headers(Authorization="Bearer ${t}"))
    keys = workload(tmp_path, plan_text(group(sampler("in", "/in", token), sent)))
    assert requests(keys)[1]["get"]["headers"] == {"authorization": "Bearer $t"}


def test_a_login_is_that_of_the_environment(tmp_path: Path) -> None:
    login = {"Authorization.url": "http://h/", "Authorization.username": "u", "Authorization.password": "hidden-word"}

    def manager(entry: dict[str, str]) -> str:
        return element("AuthManager", "a", {"AuthManager.auth_list": [entry]})

    found = translated(tmp_path, plan_text(manager(login), group(sampler())))
    assert keys_of(found)["http"]["basic"] == {"username": "u", "password": {"env": "SHOP_PASSWORD"}}
    assert "hidden-word" not in next(iter(found.workloads.values())).text
    found = translated(tmp_path, plan_text(manager({**login, "Authorization.mechanism": "KERBEROS"}), group(sampler())))
    assert "basic" not in keys_of(found)["http"]
    assert "its mechanism is KERBEROS" in found.not_taken[0]


def test_cookies_connections_and_redirects_are_those_of_the_plan(tmp_path: Path) -> None:
    def http(*settings: str, **more: Any) -> Any:
        return workload(tmp_path, plan_text(*settings, group(sampler(**more))))["http"]

    assert http() == {"keep_alive": True, "follow_redirects": 0, "cookies": False}
    cookies = element("CookieManager", "c", {"CookieManager.clearEachIteration": False})
    assert http(cookies, follow_redirects=True) == {"keep_alive": True, "follow_redirects": 20, "cookies": True}
    assert http(use_keepalive=False, auto_redirects=True)["keep_alive"] is False
    plan = plan_text(group(*(sampler(n, follow_redirects=n != "C") for n in "ABC")))
    found = translated(tmp_path, plan)
    assert keys_of(found)["http"]["follow_redirects"] == 20
    assert '"C" (HTTPSamplerProxy): its redirects are followed, or not, as of most' in found.changed[-1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"image_parser": True}, "images, styles and scripts"),
        ({"DO_MULTIPART_POST": True}, "not as multipart"),
        ({"proxyHost": "p"}, "its proxy is not used"),
    ],
)
def test_what_a_request_asks_for_besides_is_listed(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    (remark,) = translated(tmp_path, plan_text(group(sampler(**more)))).not_taken
    assert said in remark
