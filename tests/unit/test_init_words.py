"""Words of `brimline init` that need no server."""

import json
from pathlib import Path
from typing import Any

import pytest

import brimline.api.init
from brimline.api.init import InitResult
from brimline.cli.init import _summary
from brimline.cli.words import redact_words
from brimline.spec import load_spec
from tests.support.command_line import CommandLine


def test_without_a_source_it_is_a_file_to_start_from(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("init", "my.yaml")
    assert outcome.exit_code == 0, outcome.stderr
    path = brimline_cli.directory / "my.yaml"
    assert "next: brimline run my.yaml" in outcome.stderr
    spec = load_spec(path).spec
    assert list(spec.operations.shares) == ["latest_orders", "place_order", "spent_by_customer"]
    printed = brimline_cli.run("init")
    assert printed.stdout == path.read_text(encoding="utf-8") == brimline.api.init.starting_text()


def test_a_file_that_is_there_stays(brimline_cli: CommandLine) -> None:
    path = brimline_cli.directory / "mine.yaml"
    path.write_text("mine", encoding="utf-8")
    brimline_cli.run("init", path).check_error(2, "mine.yaml is there already", "--force")
    assert path.read_text(encoding="utf-8") == "mine"
    assert brimline_cli.run("init", path, "--force").exit_code == 0
    assert path.read_text(encoding="utf-8") != "mine"


def test_a_directory_that_is_not_there(brimline_cli: CommandLine) -> None:
    outcome = brimline_cli.run("init", "nowhere/my.yaml")
    assert outcome.exit_code == 1
    assert "nowhere/my.yaml" in outcome.error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("one.yaml", "two.yaml"), "two.yaml is a second file"),
        (("--from", "mongodb://h"), "--from names no collection"),
        (("--from", "mongodb://h", "my.yaml"), "--from names no collection"),
        (("--from", "mongodb://h", "--from-simrunner", "c.json", "a.b"), "--from"),
        (("--from-simrunner", "none.json"), "can't read none.json"),
        (("--log", "none.log"), "none.log can't be read"),
        (("--from", "http://h", "a.b"), "init has no meaning on a service"),
    ],
)  # fmt: skip
def test_words_that_can_not_be_followed(brimline_cli: CommandLine, words: tuple[str, ...], said: str) -> None:
    brimline_cli.run("init", *words).check_error(2, said)


@pytest.mark.parametrize(
    ("made", "next_"),
    [
        ({"from_uri": "mongodb://db:27017"}, "brimline run my.yaml --uri mongodb://db:27017 --data load"),
        (
            {"from_uri": "mongodb://db/?tls=true&appName=a", "existing": True},
            "brimline run my.yaml --uri 'mongodb://db/?tls=true&appName=a'",
        ),
        ({"from_uri": "mongodb://u:hidden-word@db"}, 'brimline run my.yaml --uri "$URI" --data load'),
        ({"existing": True}, 'brimline run my.yaml --uri "$URI"'),
        ({}, "brimline run my.yaml"),
    ],
)
def test_what_comes_next_names_the_server_and_what_loads_the_data(made: dict[str, Any], next_: str) -> None:
    text = "a: 1  # guess: so\nb: 2  # guess: or so\n"
    result = InitResult(text=text, path=Path("my.yaml"), collections=1, operations=5, **made)
    *_, counts, last = _summary(result)
    assert counts == 'my.yaml: 1 collection, 5 operations, 2 guesses marked with "guess:"'
    assert last == f"next: {next_}"
    assert "hidden-word" not in repr(result)
    if made:
        assert _summary(result, Path("p w"))[-1].count(" --password-file 'p w'") == 1


def test_a_simrunner_configuration_is_translated(brimline_cli: CommandLine) -> None:
    configuration = {
        "connectionString": "mongodb://u:hidden-word@h",
        "templates": [{"name": "p", "database": "d", "collection": "c", "template": {"a": "%natural"}}],
        "workloads": [{"name": "put", "template": "p", "op": "insert"}],
    }
    (brimline_cli.directory / "config.json").write_text(json.dumps(configuration), encoding="utf-8")
    outcome = brimline_cli.run("init", "my.yaml", "--from-simrunner", "config.json")
    assert outcome.exit_code == 0, outcome.stderr
    assert "connectionString: is never written" in outcome.stderr
    text = (brimline_cli.directory / "my.yaml").read_text(encoding="utf-8")
    assert "hidden-word" not in text + outcome.stderr
    assert list(load_spec(brimline_cli.directory / "my.yaml").spec.operations.by_name) == ["put"]


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (
            "mongodb://u:hidden-word@h/?tlsCertificateKeyFilePassword=x",
            "mongodb://***@h/?tlsCertificateKeyFilePassword=***",
        ),
        ("h/?unheardOf=hidden-word", "h/?unheardOf=***"),
    ],
)
def test_a_password_in_the_address_is_hidden(address: str, shown: str) -> None:
    assert redact_words(["init", "--from", address])[2] == shown
