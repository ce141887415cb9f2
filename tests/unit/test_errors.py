"""The error tree: exit codes, and no password in any text."""

import pytest

from brimline import errors


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (errors.BrimlineError("x"), 1),
        (errors.RecordError("x"), 1),
        (errors.UsageError("x"), 2),
        (errors.SpecError("x", path="data.records"), 2),
        (errors.GateFailed("x"), 3),
        (errors.InvalidRun("x"), 4),
        (errors.TargetError("x"), 5),
        (errors.Interrupted(), 130),
        (errors.Interrupted(signal_number=15), 143),
    ],
)
def test_exit_codes_are_those_of_the_command_line(error: errors.BrimlineError, exit_code: int) -> None:
    assert error.exit_code == exit_code


@pytest.mark.parametrize(
    ("uri", "redacted"),
    [
        ("mongodb://host:27017/db?w=1", "mongodb://host:27017/db?w=1"),
        ("mongodb://user:secret@host/db", "mongodb://***@host/db"),
        ("mongodb+srv://user:secret@host", "mongodb+srv://***@host"),
        ("mongodb://user@host", "mongodb://***@host"),
        ("mongodb://user:sec@ret@host", "mongodb://***@host"),
        ("mongodb://user:sec/ret@host", "mongodb://***@host"),
        ("mongodb://a:secret@h1:1,h2:2/?replicaSet=r", "mongodb://***@h1:1,h2:2/?replicaSet=r"),
        ("user:secret@host", "***@host"),
        (
            "mongodb://h/?tlsCertificateKeyFilePassword=secret&w=1",
            "mongodb://h/?tlsCertificateKeyFilePassword=***&w=1",
        ),
        ("", ""),
    ],
)
def test_redact_uri(uri: str, redacted: str) -> None:
    assert errors.redact_uri(uri) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "no answer from mongodb://user:secret@host:1/db",
        'spec: "mongodb+srv://user:secret@host"',
        "http://user:secret@proxy and mongodb://h:1",
        "mongodb://user:sec?secret@host",
        "MONGODB://user:secret@host",
        "mongodb://user:secret secret@host",
        "mongodb://user:sec'secret@host",
        'mongodb://user:sec"secret@host',
        "mongodb://user:<secret>@host",
        "mongodb:/user:secret@host",
        "wrong is user:secret@host",
    ],
)
def test_no_error_text_holds_a_password(text: str) -> None:
    error = errors.TargetError(text, hint=text)
    assert "secret" not in error.message
    assert "secret" not in str(error)
    assert "secret" not in repr(error)
    assert error.hint is not None
    assert "secret" not in error.hint
    assert "***@" in error.message


@pytest.mark.parametrize("name", ["password", "proxyPassword", "db.passwd", "--token", "client_secret"])
def test_what_is_assigned_to_a_secret_is_masked(name: str) -> None:
    assert errors.redact_text(f"given {name}=geheim, and more") == f"given {name}=***, and more"
    assert errors.redact_text(f'{{uri: "mongodb://h/?{name}=ge\'heim"}}') == f'{{uri: "mongodb://h/?{name}=***"}}'
    assert errors.redact_text(f'given {name}="ge heim" and more') == f"given {name}=*** and more"
    once = errors.redact_text(f'"{name}=***"')
    assert once == f'"{name}=***"'


@pytest.mark.parametrize("name", ["--password", "-storepass", "--api-key", "--db.credentials", "--auth-token"])
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("x {} hunter2 y", "x {} *** y"),
        ("x '{}' 'hun ter2' y", "x '{}' *** y"),
        ('x "{}" "hun \\" ter2" y', 'x "{}" *** y'),
        (r"x {} hun\ ter\ 2 y", "x {} *** y"),
        (r"x {} hun'ter'2&3 y", "x {} *** y"),
        ("x {} 'hun'\"ter\"2 y", "x {} *** y"),
        ("ssh h 'mysql {} hunter2'", "ssh h 'mysql {} ***'"),
        ("ssh h 'mysql {} hunter2'; y 'z'", "ssh h 'mysql {} ***'; y 'z'"),
        ("command ['x', '{}', 'hun ter2', 'y'] failed", "command ['x', '{}', ***, 'y'] failed"),
    ],
)
def test_what_stands_behind_a_secret_flag_is_masked(name: str, given: str, shown: str) -> None:
    once = errors.redact_text(given.format(name))
    assert once == shown.format(name)
    assert errors.redact_text(once) == once


def test_a_blank_that_is_escaped_is_part_of_what_is_assigned() -> None:
    assert errors.redact_text(r"x password=hun\ ter2 y") == "x password=*** y"


@pytest.mark.parametrize(
    "text",
    [
        "give --password-file FILE or --key-file FILE",
        "a well-kept secret stays, and so does pre-key x",
        "brimline lab up --sharded 2 --shard-key customer",
        "mail to ann@example.org, see mongodb://host:1/db",
        "uri: mongodb://host:27017 # ask ann@example.org",
        "see mongodb://[::1]:1/db, ask ann@example.org",
        "the password=",
    ],
)
def test_text_without_a_password_stays(text: str) -> None:
    assert errors.redact_text(text) == text
