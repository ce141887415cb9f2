"""A real server with TLS: runs, imports and users by certificate, and every certificate that is not accepted."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from brimline import _native
from brimline.errors import UsageError
from brimline.plan import resolve, wire_target
from brimline.servers.access import Access, Tls
from brimline.spec import load_spec
from tests.support.certificates import Authority, authority, tls_listener
from tests.support.command_line import CommandLine
from tests.support.runners import TWINS, each_client
from tests.support.secured_mongod import SecuredServer, secured_mongod
from tests.support.server import required_mongod

pytestmark = pytest.mark.mongod

SPEC = """\
name: small
data: {records: 1000, fields: 10, field_length: 100}
operations: {read: 0.5, update: 0.5}
connections: 16
warmup: 0s
operation_count: 2000
"""


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("trusted"), "trusted")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("foreign"), "foreign")


@pytest.fixture(scope="module")
def client_certificate(trusted: Authority) -> Path:
    return trusted.sign("client", unit="clients")


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, trusted: Authority, client_certificate: Path
) -> Iterator[SecuredServer]:
    """Wants TLS and knows the owner of the client's certificate."""
    tls = (
        "--tlsMode",
        "requireTLS",
        "--tlsCertificateKeyFile",
        trusted.sign("server"),
        "--tlsCAFile",
        trusted.certificate,
        "--tlsAllowConnectionsWithoutCertificates",
    )
    client_tls = {"tls": True, "tlsCAFile": str(trusted.certificate)}
    directory = tmp_path_factory.mktemp("tls")
    with secured_mongod(required_mongod(), directory, options=tls, client_tls=client_tls) as started:
        with started.client() as client:
            client["$external"].command(
                "createUser",
                "CN=client,OU=clients,O=brimline tests",
                roles=[{"role": role, "db": "admin"} for role in ("readWriteAnyDatabase", "clusterMonitor")],
            )
        yield started


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SPEC)
    return path


def by_certificate(server: SecuredServer, trusted: Authority, certificate: Path, *, host: str = "127.0.0.1") -> str:
    return (
        f"mongodb://{host}:{server.port}/?tls=true&tlsCAFile={trusted.certificate}"
        f"&tlsCertificateKeyFile={certificate}&authMechanism=MONGODB-X509"
    )


def test_a_run_of_the_owner_of_a_certificate(
    brimline_cli: CommandLine, server: SecuredServer, trusted: Authority, client_certificate: Path, spec: Path
) -> None:
    for host in ("127.0.0.1", "localhost"):
        uri = by_certificate(server, trusted, client_certificate, host=host)
        outcome = brimline_cli.run("run", spec, "--uri", uri, "--data", "load", "--drop", "--json")
        assert outcome.exit_code in (0, 4), outcome.stderr
        assert json.loads(outcome.stdout)["counts_whole_run"]["ok"] == 2000


def test_a_password_over_tls_and_large_documents(
    brimline_cli: CommandLine, server: SecuredServer, trusted: Authority, tmp_path: Path
) -> None:
    """Commands of megabytes and replies of a hundred kilobytes: records of TLS come and go in pieces."""
    spec = tmp_path / "large.yaml"
    spec.write_text(
        "name: large\ndata: {records: 500, fields: 1, field_length: 100000}\noperations: {read: 0.5, scan: 0.5}\n"
        "scan_length: 20\nconnections: 8\nwarmup: 0s\noperation_count: 400\n"
    )
    uri = f"mongodb://root:p%40ss%2Fw%3Aord%251@{server.address}/?tls=true&tlsCAFile={trusted.certificate}"
    outcome = brimline_cli.run("run", spec, "--uri", uri, "--data", "load", "--drop", "--json")
    assert outcome.exit_code in (0, 4), outcome.stderr
    assert json.loads(outcome.stdout)["counts_whole_run"]["ok"] == 400


def test_an_import_over_tls(
    brimline_cli: CommandLine, server: SecuredServer, trusted: Authority, client_certificate: Path, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("_id,a\n" + "".join(f"{row},{row % 7}\n" for row in range(20_000)))
    uri = by_certificate(server, trusted, client_certificate).replace("/?", "/shop?")
    outcome = brimline_cli.run("import", rows, "--headerline", "--uri", uri, "--drop", "--json")
    assert outcome.exit_code == 0, outcome.stderr
    with server.client() as client:
        assert client.shop.rows.count_documents({}) == 20_000


@pytest.mark.slow("a driver starts twice")
@each_client("mongodb", long=TWINS)
def test_a_driver_comes_in_by_password_and_by_certificate(
    client: str, brimline_cli: CommandLine, server: SecuredServer, trusted: Authority, client_certificate: Path,
    spec: Path,
) -> None:  # fmt: skip
    """What opens the server for `wire` opens it for every driver."""
    spec.write_text(SPEC.replace("2000", "200").replace("records: 1000", "records: 100"))
    by_password = f"mongodb://root:p%40ss%2Fw%3Aord%251@{server.address}/?tls=true&tlsCAFile={trusted.certificate}"
    for uri in (by_password, by_certificate(server, trusted, client_certificate)):
        words = ("--client", client, "--uri", uri, "--connections", "2", "--data", "load", "--drop", "--json")
        outcome = brimline_cli.run("run", spec, *words)
        assert outcome.exit_code in (0, 4), outcome.stderr
        assert json.loads(outcome.stdout)["counts_whole_run"]["ok"] == 200


def engine_error(address: str, tls: Tls) -> str:
    """What the engine, without the control plane before it, says of a server that it does not believe."""
    spec = load_spec("ycsb-c", overrides={"connections": 2}).spec.model_copy(update={"connect_timeout_ns": 10**9})
    plan = resolve(spec, target=wire_target(spec, address=address))
    run = _native.start(plan.canonical_json(), Access(tls=tls).native)
    with pytest.raises(_native.TargetError) as raised:
        run.join()
    return str(raised.value)


@pytest.mark.parametrize(
    ("which", "words"),
    [
        ("foreign", "not signed by an authority that is trusted here"),
        ("elsewhere", "the server's certificate is for another host name"),
    ],
)
def test_a_certificate_that_is_not_accepted(
    brimline_cli: CommandLine,
    trusted: Authority,
    foreign: Authority,
    spec: Path,
    tmp_path: Path,
    which: str,
    words: str,
) -> None:
    """By control plane and engine alike, in the same words, within the time to connect; and accepted when asked for."""
    certificate = {
        "foreign": lambda: foreign.sign("server"),
        "elsewhere": lambda: trusted.sign("elsewhere", names="DNS:db.example.org"),
    }[which]()
    tls = ("--tlsMode", "requireTLS", "--tlsCertificateKeyFile", certificate)
    with secured_mongod(
        required_mongod(),
        tmp_path / "server",
        access_control=False,
        options=tls,
        client_tls={"tls": True, "tlsInsecure": True},
    ) as started:
        uri = f"mongodb://{started.address}/?tlsCAFile={trusted.certificate}"
        outcome = brimline_cli.run("run", spec, "--uri", uri)
        outcome.check_refused(words)
        assert words in engine_error(started.address, Tls(ca_file=trusted.certificate))
        waiver = "tlsAllowInvalidHostnames" if which == "elsewhere" else "tlsAllowInvalidCertificates"
        more = () if which == "elsewhere" else (f"mongodb://{started.address}/?tlsInsecure=true",)
        for address in (f"{uri}&{waiver}=true", *more):
            outcome = brimline_cli.run("run", spec, "--uri", address, "--data", "load", "--drop")
            assert outcome.exit_code in (0, 4), outcome.stderr


def test_a_certificate_that_has_expired(brimline_cli: CommandLine, trusted: Authority, spec: Path) -> None:
    with tls_listener(trusted.sign("expired", days=-1)) as address:
        outcome = brimline_cli.run("run", spec, "--uri", f"mongodb://{address}/?tlsCAFile={trusted.certificate}")
        outcome.check_refused("the server's certificate has expired")
        assert "the server's certificate has expired" in engine_error(address, Tls(ca_file=trusted.certificate))


def test_a_host_name_that_does_not_fit_is_the_only_thing_waived(
    foreign: Authority, trusted: Authority, tmp_path: Path
) -> None:
    tls = ("--tlsMode", "requireTLS", "--tlsCertificateKeyFile", foreign.sign("elsewhere", names="DNS:db.example.org"))
    with secured_mongod(
        required_mongod(),
        tmp_path / "server",
        access_control=False,
        options=tls,
        client_tls={"tls": True, "tlsInsecure": True},
    ) as started:
        asked = Tls(ca_file=trusted.certificate, allow_invalid_hostnames=True)
        assert "not signed by an authority" in engine_error(started.address, asked)


def test_servers_with_and_without_tls_are_told_apart(
    brimline_cli: CommandLine, server: SecuredServer, spec: Path, tmp_path: Path
) -> None:
    outcome = brimline_cli.run("run", spec, "--uri", f"mongodb://{server.address}")
    outcome.check_refused("the server wants TLS", "add tls=true")
    with secured_mongod(required_mongod(), tmp_path / "plain", access_control=False) as plain:
        outcome = brimline_cli.run("run", spec, "--uri", f"mongodb://{plain.address}/?tls=true")
        outcome.check_error(5, "TLS")
        assert "TLS" in engine_error(plain.address, Tls(allow_invalid_certificates=True))


def test_a_certificate_of_nobody(
    brimline_cli: CommandLine, server: SecuredServer, trusted: Authority, foreign: Authority, spec: Path
) -> None:
    stranger = trusted.sign("stranger", unit="strangers")
    outcome = brimline_cli.run("run", spec, "--uri", by_certificate(server, trusted, stranger))
    outcome.check_error(5, "does not know the owner of the client's certificate", "$external")
    outcome = brimline_cli.run("run", spec, "--uri", by_certificate(server, trusted, foreign.sign("intruder")))
    outcome.check_error(5, "it may not trust the client's certificate", "tlsCertificateKeyFile")


def test_files_that_hold_no_certificate_or_key(trusted: Authority, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()
    for tls, words in (
        (Tls(ca_file=empty), "no certificate"),
        (Tls(certificate_key_file=trusted.certificate), "no private key"),
        (Tls(certificate_key_file=empty), "no certificate"),
    ):
        with pytest.raises(UsageError, match=words) as raised:
            _ = Access(tls=tls).native
        assert "PEM" in str(raised.value.hint)
