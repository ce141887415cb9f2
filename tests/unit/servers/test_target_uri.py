"""Addresses of services and SQL databases: what is read, what is refused, and that nothing secret is repeated."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from brimline.errors import UsageError
from brimline.execution.targets import sql_database
from brimline.servers import Deployment
from brimline.servers.password import PasswordSource
from brimline.servers.target_uri import parse_target_uri, protocol_of
from brimline.spec import load_spec


@pytest.mark.parametrize(
    ("uri", "protocol"),
    [
        ("http://shop.example", "http"),
        ("HTTPS://shop.example/", "http"),
        ("mysql://h/d", "mysql"),
        ("mariadb://h/d", "mysql"),
        ("postgresql://h/d", "postgres"),
        ("postgres://h/d", "postgres"),
        ("mongodb://h", "mongodb"),
        ("mongodb+srv://h", "mongodb"),
        ("h:27017", "mongodb"),
    ],
)
def test_the_scheme_says_what_a_server_speaks(uri: str, protocol: str) -> None:
    assert protocol_of(uri) == protocol


def test_a_service_has_a_base_path_and_an_authority() -> None:
    target = parse_target_uri("http://Shop.example:8080/api/v1/")

    assert (target.address, target.authority, target.path) == ("shop.example:8080", "Shop.example:8080", "/api/v1")
    assert target.tls is None


def test_https_is_with_tls_on_its_own_port() -> None:
    target = parse_target_uri("https://[::1]/")

    assert target.address == "[::1]:443"
    assert target.tls is not None
    assert not target.tls.allow_invalid_certificates


@pytest.mark.parametrize(("scheme", "port"), [("mysql", 3306), ("mariadb", 3306), ("postgresql", 5432)])
def test_a_database_has_its_own_port_and_the_user_of_the_address(scheme: str, port: int) -> None:
    target = parse_target_uri(f"{scheme}://u%40x:p%2Fw@db.example/shop?tls=true&tlsInsecure=true")

    assert (target.address, target.database) == (f"db.example:{port}", "shop")
    assert target.access.login is not None
    assert (target.access.login.username, target.access.login.password) == ("u@x", "p/w")
    assert target.tls is not None
    assert target.tls.allow_invalid_certificates
    assert target.redacted == f"{scheme}://***@db.example:{port}/shop".replace(f":{port}", "")


def test_the_password_of_a_user_who_is_named_alone_comes_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hidden\n")

    target = parse_target_uri("mysql://u@h/d", password=PasswordSource(file=tmp_path / "password"))

    assert target.access.login is not None
    assert target.access.login.password == "hidden"
    assert "hidden" not in repr(target)


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("http://", "names no host"),
        ("http://h:port/", "can't be read"),
        ("http://h:70000/", "the port 70000 is out of range"),
        ("mysql://u:p@h:0/d", "the port 0 is out of range"),
        ("mysql://u:70000/x@h/d", "can't be read|an @ or a #"),
        ("http://h h/", "a blank in it"),
        ("mysql://u:s3cret/x@h/d", "can't be read"),
        ("mysql://h/x@y", "an @ or a #"),
        ("mysql://u:s3c@ret@h/d", "can't be read"),
        ("mysql://h/a/b", "more than a database"),
        ("mysql://h/d?sslmode=require", "an option that isn't known: sslmode"),
        ("mysql://h/d?tls=maybe", "neither true nor false"),
        ("mysql://h/d?tls=false&tlsInsecure=true", "options of TLS and tls=false"),
        ("https://h/?tls=false", "https is with TLS"),
        ("mysql://h/d?tlsCAFile=/nowhere.pem", "names no file"),
        ("mysql://***@h/d", "comes from a record"),
    ],
)
def test_what_cannot_be_honoured_is_refused_and_no_secret_repeated(uri: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        parse_target_uri(uri)

    assert "s3c" not in refused.value.message + (refused.value.hint or "")


def test_words_of_a_pool_name_the_option_that_has_it() -> None:
    for name in ("maxPoolSize", "maximumPoolSize"):
        with pytest.raises(UsageError, match=name) as refused:
            parse_target_uri(f"mysql://h/d?{name}=3")
        assert "--max-pool-size" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("uri", "is_refused"),
    [
        ("mariadb://h/mysql", True),
        ("mysql://h/sys", True),
        ("mysql://h/template1", False),
        ("postgresql://h/template1", True),
        ("postgresql://h/mysql", False),
    ],
)
def test_a_database_of_the_server_itself_is_given_no_tables(uri: str, is_refused: bool) -> None:
    where = parse_target_uri(uri)
    deployment = cast(Deployment, SimpleNamespace(protocol=where.protocol, of_uri=where, address=where.address))
    spec = load_spec("ycsb-c").spec
    if not is_refused:
        assert sql_database(spec, deployment).kind == where.protocol
        return
    with pytest.raises(UsageError, match="one of the server's own databases"):
        sql_database(spec, deployment)
