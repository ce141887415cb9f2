"""Connection strings: what is taken, what is refused by name, and that no secret is repeated."""

import pytest

from brimline.errors import UsageError
from brimline.servers.uri import parse_server_uri


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("mongodb://localhost", "localhost:27017"),
        ("mongodb://127.0.0.1:27018/", "127.0.0.1:27018"),
        ("mongodb://DB.example.com:1", "db.example.com:1"),
        ("mongodb://[::1]:27018", "[::1]:27018"),
        ("mongodb://[::1]", "[::1]:27017"),
        ("mongodb://h:1/?directConnection=true&appName=x&retryWrites=false", "h:1"),
        ("mongodb://h:1?tls=false", "h:1"),
        ("mongodb://h:1/shop?w=majority&journal=true", "h:1"),
    ],
)
def test_an_address_is_read(text: str, address: str) -> None:
    uri = parse_server_uri(text)
    assert uri.address == address
    assert uri.redacted == f"mongodb://{address}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("localhost:27017", "has no scheme"),
        ("http://h", "http://"),
        ("mysql://h", "mysql://"),
        ("mongodb+srv://h.example.com", r"mongodb\+srv"),
        ("mongodb://", "names no host"),
        ("mongodb://a:1,b:2", "several hosts"),
        ("mongodb://user:pass/word@h:1", "holds a user name or a password"),
        ("mongodb://%2Ftmp%2Fmongodb.sock", "Unix sockets"),
        ("mongodb://h:x", "can't be read"),
        ("mongodb://h:70000", "can't be read"),
        ("mongodb://[::1:27017", "can't be read"),
        ("mongodb://h/?tls=true", "sets tls, and TLS"),
        ("mongodb://h/?ssl=true", "sets ssl, and TLS"),
        ("mongodb://h/?replicaSet=rs0", "sets replicaSet"),
        ("mongodb://h/?directConnection=false", "sets directConnection"),
        ("mongodb://h/shop?w=1&maxPoolSize=5", "sets maxPoolSize,"),
        ("mongodb://h/?readPreference=secondary", "sets readPreference"),
        ("mongodb://h/?compressors=zstd", "sets compressors"),
        ("mongodb://h/?retryWrites=true", "sets retryWrites"),
        ("mongodb://h/?nonsense=1", "sets nonsense"),
    ],
)
def test_what_can_not_be_honoured_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        parse_server_uri(text)
    assert raised.value.hint
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        "mongodb://user:hunter2@h:1",
        "mongodb://user:hun/ter2@h:1",
        "mongodb://user:hun?ter2@h:1",
        "mongodb://user:hunter2@h:1,g:2/db?tls=true",
        "mongodb://user:hunter2@h:x",
        "mongodb+srv://user:hunter2@h",
        "user:hunter2@h:1",
        "mongodb://h:hunter2",
        "mongodb://h/?hun_ter2=1",
        "mongodb://h/?password=hunter2",
    ],
)
def test_no_secret_is_repeated(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_server_uri(text)
    shown = f"{raised.value} {raised.value.hint} {raised.value.__cause__}"
    assert "ter2" not in shown
    assert "hun" not in shown
