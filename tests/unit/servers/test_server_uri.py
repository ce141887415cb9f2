"""Connection strings: what is taken, what is refused by name, and that no secret is repeated.

The cases follow the drivers' connection string, URI options and authentication specifications.
"""

from pathlib import Path
from urllib.parse import quote_plus

import pytest

from brimline.errors import TargetError, UsageError
from brimline.process_list import PASSWORD_VARIABLE
from brimline.servers.access import OPEN, Access, Compression, Login, Tls
from brimline.servers.password import PasswordSource
from brimline.servers.selection import ReadPreference
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
    assert uri.access == OPEN


@pytest.mark.parametrize(
    ("options", "compression"),
    [
        ("", None),
        ("compressors=", None),
        ("compressors=zstd", Compression(compressors=("zstd",))),
        ("compressors=snappy,zlib", Compression(compressors=("snappy", "zlib"))),
        ("Compressors=ZSTD,,zstd", Compression(compressors=("zstd",))),
        ("compressors=zlib&zlibCompressionLevel=9", Compression(compressors=("zlib",), zlib_level=9)),
        ("compressors=zlib&zlibCompressionLevel=0", Compression(compressors=("zlib",), zlib_level=0)),
        ("compressors=zlib&zlibCompressionLevel=-1", Compression(compressors=("zlib",))),
    ],
)
def test_what_messages_are_compressed_with(options: str, compression: Compression | None) -> None:
    access = parse_server_uri(f"mongodb://h/?{options}").access
    assert access == Access(compression=compression)
    assert access.client_options() == {}, "what isn't measured is never compressed"


@pytest.mark.parametrize(
    ("text", "login"),
    [
        ("mongodb://u:p@h", Login(username="u", password="p", source="admin")),
        ("mongodb://u:p@h/", Login(username="u", password="p", source="admin")),
        ("mongodb://u:p@h/shop", Login(username="u", password="p", source="shop")),
        ("mongodb://u:p@h/shop?authSource=users", Login(username="u", password="p", source="users")),
        ("mongodb://u:@h", Login(username="u", password="", source="admin")),
        ("mongodb://a%40b%3Ac:%2F%3F%23%25+%20@h", Login(username="a@b:c", password="/?#%+ ", source="admin")),
        ("mongodb://u:p%C3%A4@h", Login(username="u", password="pä", source="admin")),
        ("mongodb://u:p@h/?authMechanism=DEFAULT", Login(username="u", password="p", source="admin")),
        (
            "mongodb://u:p@h/?authMechanism=SCRAM-SHA-1",
            Login(username="u", password="p", source="admin", mechanism="SCRAM-SHA-1"),
        ),
        (
            "mongodb://u:p@h/?AUTHMECHANISM=SCRAM-SHA-256&AuthSource=x",
            Login(username="u", password="p", source="x", mechanism="SCRAM-SHA-256"),
        ),
    ],
)
def test_who_the_user_is(text: str, login: Login) -> None:
    uri = parse_server_uri(text)
    assert uri.access.login == login
    assert uri.redacted == "mongodb://h:27017"


def test_a_password_may_hold_every_character() -> None:
    password = "".join(chr(code) for code in range(33, 127))
    login = parse_server_uri(f"mongodb://u:{quote_plus(password)}@h").access.login
    assert login is not None
    assert login.password == password


def test_where_a_password_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(source: PasswordSource) -> str | None:
        login = parse_server_uri("mongodb://u@h", password=source).access.login
        return None if login is None else login.password

    file = tmp_path / "password"
    file.write_text("of the file\n")
    typed = PasswordSource(ask=lambda prompt: f"typed at {prompt}")
    assert found(typed) == "typed at password of u: "
    monkeypatch.setenv(PASSWORD_VARIABLE, "of the environment")
    assert found(typed) == "of the environment"
    assert found(PasswordSource(file=file)) == "of the file"
    login = parse_server_uri("mongodb://u:own@h", password=typed).access.login
    assert login is not None
    assert login.password == "own"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "can't be read"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"a\nb\n", "more than one line"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_password_file_that_holds_none(content: bytes | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        parse_server_uri("mongodb://u@h", password=PasswordSource(file=file))


@pytest.mark.parametrize(
    ("uri", "words"),
    [("mongodb://u:p@h", "has a password as well"), ("mongodb://u:@h", "as well"), ("mongodb://h", "names no user")],
)
def test_a_password_file_that_would_not_be_looked_at(uri: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("other")
    with pytest.raises(UsageError, match=words):
        parse_server_uri(uri, password=PasswordSource(file=file))


def test_a_user_without_a_password_is_told_what_to_do() -> None:
    with pytest.raises(UsageError, match="there is no password") as raised:
        parse_server_uri("mongodb://u@h")
    assert PASSWORD_VARIABLE in str(raised.value.hint)
    assert "--password-file" in str(raised.value.hint)


def test_how_connections_are_secured(tmp_path: Path) -> None:
    file = tmp_path / "a b.pem"
    file.touch()
    for text, tls in {
        "tls=true": Tls(),
        "ssl=true": Tls(),
        "tls=true&ssl=true": Tls(),
        f"tls=true&tlsCAFile={quote_plus(str(file)).replace('+', '%20')}": Tls(ca_file=file),
        f"tlsCertificateKeyFile={str(file).replace(' ', '%20')}": Tls(certificate_key_file=file),
        "tls=true&tlsAllowInvalidHostnames=true": Tls(allow_invalid_hostnames=True),
        "tls=true&tlsAllowInvalidCertificates=true": Tls(allow_invalid_certificates=True),
        "tls=true&tlsAllowInvalidCertificates=false": Tls(),
        "tls=true&tlsInsecure=true": Tls(allow_invalid_hostnames=True, allow_invalid_certificates=True),
        "tlsInsecure=false": Tls(),
    }.items():
        assert parse_server_uri(f"mongodb://h/?{text}").access.tls == tls, text


def test_the_owner_of_a_certificate(tmp_path: Path) -> None:
    file = tmp_path / "client.pem"
    file.touch()
    more = f"authMechanism=MONGODB-X509&tlsCertificateKeyFile={file}"
    login = parse_server_uri(f"mongodb://h/?{more}").access.login
    assert login == Login(username=None, password=None, source="$external", mechanism="MONGODB-X509")
    login = parse_server_uri(f"mongodb://CN%3Dx@h/?{more}&authSource=%24external").access.login
    assert login == Login(username="CN=x", password=None, source="$external", mechanism="MONGODB-X509")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("localhost:27017", "has no scheme"),
        ("http://h", "http://"),
        ("mysql://h", "mysql://"),
        ("mongodb+srv://h.example.com:1", "one host name without a port"),
        ("mongodb+srv://a.example.com,b.example.com", "one host name without a port"),
        ("mongodb://", "names no host"),
        ("mongodb://u:p@", "names no host"),
        ("mongodb://a:1,b:2/?directConnection=true", "names several"),
        ("mongodb://a:1,b:x", "can't be read"),
        ("mongodb://a:1,,b:2", "can't be read"),
        ("mongodb://user:pass/word@h:1", "an @ behind its hosts"),
        ("mongodb://user:pass?word@h:1", "an @ behind its hosts"),
        ("mongodb://user:pass@word@h:1", "user name or the password"),
        ("mongodb://user:pass:word@h:1", "user name or the password"),
        ("mongodb://:pass@h:1", "user name or the password"),
        ("mongodb://@h:1", "user name or the password"),
        ("mongodb://***@h:1", "comes from a record"),
        ("mongodb://%2Ftmp%2Fmongodb.sock", "Unix sockets"),
        ("mongodb://h:x", "can't be read"),
        ("mongodb://h:70000", "the port 70000 is out of range"),
        ("mongodb://a:1,[::1]:65536", "the port 65536 is out of range"),
        ("mongodb://h:0/d", "the port 0 is out of range"),
        ("mongodb://[::1:27017", "can't be read"),
        ("mongodb://h/?tls=yes", "tls in the connection string is true or false"),
        ("mongodb://h/?tls=true&ssl=false", "disagree"),
        ("mongodb://h/?tls=false&tlsInsecure=true", "options of TLS and tls=false"),
        ("mongodb://h/?tlsInsecure=true&tlsAllowInvalidHostnames=true", "exclude each other"),
        ("mongodb://h/?tls=true&tlsCAFile=/no/such/file", "tlsCAFile names no file: /no/such/file"),
        ("mongodb://h/?tls=true&tls=false", "sets tls twice"),
        ("mongodb://h/?tlsCertificateKeyFilePassword=x", "sets tlsCertificateKeyFilePassword"),
        ("mongodb://u:p@h/?authMechanism=PLAIN", "authMechanism is not supported"),
        ("mongodb://u:p@h/?authMechanism=GSSAPI", "authMechanism is not supported"),
        ("mongodb://h/?authMechanism=SCRAM-SHA-1", "needs a user name"),
        ("mongodb://h/?authMechanism=MONGODB-X509", "needs the client's certificate"),
        ("mongodb://h/?directConnection=perhaps", "directConnection in the connection string is true or false"),
        ("mongodb://h/?readPreference=sometimes", "a value of readPreference that is none"),
        ("mongodb://h/?readPreferenceTags=dc:east", "say nothing about a primary"),
        ("mongodb://h/?readPreference=primary&maxStalenessSeconds=120", "say nothing about a primary"),
        ("mongodb://h/?readPreference=secondary&maxStalenessSeconds=89", "maxStalenessSeconds in .* out of range"),
        ("mongodb://h/?readPreference=secondary&maxStalenessSeconds=x", "maxStalenessSeconds in .* out of range"),
        ("mongodb://h/?readPreference=secondary&readPreferenceTags=east", "readPreferenceTags in .* can't be read"),
        ("mongodb://h/?readConcernLevel=strong", "a value of readConcernLevel that is none"),
        ("mongodb://h/?loadBalanced=true", "sets loadBalanced"),
        ("mongodb://h/shop?w=1&maxPoolSize=5", "sets maxPoolSize,"),
        ("mongodb://h/?compressors=gzip", "a value of compressors that is none"),
        ("mongodb://h/?compressors=snappy,lz4", "a value of compressors that is none"),
        ("mongodb://h/?compressors=zlib&zlibCompressionLevel=10", "zlibCompressionLevel in .* out of range"),
        ("mongodb://h/?compressors=zlib&zlibCompressionLevel=+1", "zlibCompressionLevel in .* out of range"),
        ("mongodb://h/?compressors=zlib&zlibCompressionLevel=best", "zlibCompressionLevel in .* out of range"),
        ("mongodb://h/?compressors=zstd&zlibCompressionLevel=3", "zlibCompressionLevel in .* used by nothing"),
        ("mongodb://h/?zlibCompressionLevel=3", "zlibCompressionLevel in .* used by nothing"),
        ("mongodb://h/?retryWrites=perhaps", "retryWrites in the connection string is true or false"),
        ("mongodb://h/?retryReads=1", "retryReads in the connection string is true or false"),
        ("mongodb://h/?serverSelectionTimeoutMS=0", "serverSelectionTimeoutMS in .* out of range"),
        ("mongodb://h/?serverSelectionTimeoutMS=soon", "serverSelectionTimeoutMS in .* out of range"),
        ("mongodb://h/?nonsense=1", "sets nonsense"),
        ("mongodb://h:1,k:1/?replicaSet=", "sets replicaSet to nothing"),
        ("mongodb://h/?connectTimeoutMS=abc", "connectTimeoutMS in the connection string is no number of milliseconds"),
        ("mongodb://u:p@h/?authSource=", "sets authSource to nothing"),
        ("mongodb://h/?tls=true&tlsCAFile=", "sets tlsCAFile to nothing"),
        ("mongodb://h\n", "a blank or a line end among its hosts"),
        ("mongodb://a, b", "a blank or a line end among its hosts"),
    ],
)
def test_what_can_not_be_honoured_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        parse_server_uri(text)
    assert raised.value.hint
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    "name",
    [
        *("maxPoolSize", "max_pool_size", "MAX-POOL-SIZE", "poolSize", "connectionsPerHost", "maxConnectionCount"),
        *("waitQueueMultiple", "threadsAllowedToBlockForConnectionMultiplier", "maxPendingOperationsPerConnection"),
    ],
)
def test_words_of_a_drivers_pool_name_the_option_that_has_it(name: str) -> None:
    with pytest.raises(UsageError, match=name) as raised:
        parse_server_uri(f"mongodb://h/?{name}=5")
    assert "--max-pool-size" in (raised.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "mongodb://user:hun/ter2@h:1",
        "mongodb://user:hun?ter2@h:1",
        "mongodb://user:hun@ter2@h:1",
        "mongodb://user:hun:ter2@h:1",
        "mongodb://user:hunter2@h:1,g:x/db?tls=true",
        "mongodb://user:hunter2@h:x",
        "mongodb://user:hunter2@h/?tls=true&tlsCAFile=/x",
        "mongodb+srv://user:hunter2@h:1",
        "user:hunter2@h:1",
        "mongodb://h:hunter2",
        "mongodb://h/?hun_ter2=1",
        "mongodb://h/?password=hunter2",
        "mongodb://u:p@h/?authMechanism=hunter2",
    ],
)
def test_no_secret_is_repeated(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_server_uri(text)
    shown = f"{raised.value} {raised.value.hint} {raised.value.__cause__}"
    assert "ter2" not in shown
    assert "hun" not in shown


@pytest.mark.parametrize(
    ("text", "seeds", "set_name", "is_direct"),
    [
        ("mongodb://h", ("h:27017",), None, True),
        ("mongodb://h/?directConnection=true&replicaSet=rs", ("h:27017",), "rs", True),
        ("mongodb://h/?replicaSet=rs", ("h:27017",), "rs", False),
        ("mongodb://h/?directConnection=false", ("h:27017",), None, False),
        ("mongodb://a,b:2,[::1]:3/?replicaSet=r%20s", ("a:27017", "b:2", "[::1]:3"), "r s", False),
        ("mongodb://u:p@a:1,a:1,b:2", ("a:1", "b:2"), None, False),
    ],
)
def test_which_servers_are_meant(text: str, seeds: tuple[str, ...], set_name: str | None, is_direct: bool) -> None:
    uri = parse_server_uri(text)
    assert (uri.seeds, uri.set_name, uri.is_direct) == (seeds, set_name, is_direct)
    assert uri.redacted == f"mongodb://{','.join(seeds)}"


def test_what_reads_prefer() -> None:
    def preference(query: str) -> ReadPreference:
        return parse_server_uri(f"mongodb://h/?{query}").read_preference

    assert preference("") == ReadPreference(mode="primary")
    assert preference("readPreference=Nearest") == ReadPreference(mode="nearest")
    assert preference(
        "readPreference=secondary&readPreferenceTags=dc:east,rack:1&readPreferenceTags=&maxStalenessSeconds=120"
    ) == ReadPreference(mode="secondary", tag_sets=({"dc": "east", "rack": "1"}, {}), max_staleness_s=120)
    assert preference("readPreference=secondary&maxStalenessSeconds=-1").max_staleness_s is None
    assert parse_server_uri("mongodb://h/?readConcernLevel=majority").read_concern == "majority"


def test_the_dns_names_hosts_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the string says itself counts more; TLS is on unless it says otherwise."""

    def resolved(host: str) -> tuple[tuple[tuple[str, int], ...], dict[str, str]]:
        assert host == "c.example.com"
        return (("a.example.com", 1), ("b.example.com", 2)), {"replicaset": "rs", "authsource": "users"}

    monkeypatch.setattr("brimline.servers.uri.resolve_srv", resolved)
    uri = parse_server_uri("mongodb+srv://u:p@c.example.com/shop")
    assert uri.seeds == ("a.example.com:1", "b.example.com:2")
    assert (uri.set_name, uri.is_direct, uri.redacted) == ("rs", False, "mongodb+srv://c.example.com")
    assert uri.access == Access(login=Login(username="u", password="p", source="users"), tls=Tls())
    uri = parse_server_uri("mongodb+srv://u:p@c.example.com/?tls=false&authSource=own&replicaSet=other")
    assert uri.access == Access(login=Login(username="u", password="p", source="own"))
    assert uri.set_name == "other"


def test_a_name_that_the_dns_does_not_know() -> None:
    with pytest.raises(TargetError, match="the DNS names no servers") as raised:
        parse_server_uri("mongodb+srv://user:hunter2@brimline.invalid.example.com")
    assert "hunter2" not in f"{raised.value} {raised.value.hint}"


def test_nothing_that_opens_a_server_shows_how() -> None:
    access = parse_server_uri("mongodb://user:hunter2@h:1").access
    assert "hunter2" not in f"{access!r} {access.native!r} {access.login!s}"
    assert access.native is access.native


@pytest.mark.parametrize(
    ("query", "retries", "timeout_ms"),
    [
        ("", (True, True), 30_000),
        ("?retryWrites=false", (True, False), 30_000),
        ("?retryReads=false&retryWrites=TRUE&serverSelectionTimeoutMS=500", (False, True), 500),
    ],
)
def test_what_is_sent_once_more_and_how_long_operations_wait(
    query: str, retries: tuple[bool, bool], timeout_ms: int
) -> None:
    uri = parse_server_uri(f"mongodb://h/{query}")
    assert (uri.retry_reads, uri.retry_writes) == retries
    assert uri.selection_timeout_ms == timeout_ms
