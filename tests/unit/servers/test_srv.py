"""`mongodb+srv://` against a name server of the test's own: hosts, options, and answers that are not believed."""

import socketserver
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import dns.message
import dns.resolver
import dns.rrset
import pytest

from brimline.errors import TargetError, UsageError
from brimline.servers.access import Login, Tls
from brimline.servers.uri import parse_server_uri

Zone = Mapping[tuple[str, str], list[str]]
"""Answers by name and type."""
ZONE: Zone = {
    ("_mongodb._tcp.c.example.com.", "SRV"): ["0 0 27018 a.example.com.", "0 0 27019 b.example.com."],
    ("c.example.com.", "TXT"): ['"authSource=users&replicaSet=rs"'],
    ("_mongodb._tcp.plain.example.com.", "SRV"): ["0 0 27017 a.example.com."],
    ("_mongodb._tcp.balanced.example.com.", "SRV"): ["0 0 27017 a.example.com."],
    ("balanced.example.com.", "TXT"): ['"loadBalanced=true"'],
    ("_mongodb._tcp.stolen.example.com.", "SRV"): ["0 0 27017 a.elsewhere.org."],
    ("_mongodb._tcp.odd.example.com.", "SRV"): ["0 0 27017 a.example.com."],
    ("_mongodb._tcp.many.example.com.", "SRV"): [f"0 0 27017 h{number}.example.com." for number in range(51)],
    ("_mongodb._tcp.port.example.com.", "SRV"): ["0 0 0 a.example.com."],
    ("_mongodb._tcp.steers.example.com.", "SRV"): ["0 0 27017 a\\027b.example.com."],
    ("odd.example.com.", "TXT"): ['"tlsInsecure=true"'],
}


class _Asked(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        data, answer_to = self.request
        question = dns.message.from_wire(data)
        response = dns.message.make_response(question)
        asked = question.question[0]
        name, kind = asked.name.to_text(), dns.rdatatype.to_text(asked.rdtype)
        if records := ZONE.get((name, kind)):
            response.answer.append(dns.rrset.from_text(asked.name, 60, "IN", kind, *records))
        elif not any(known == name for known, _ in ZONE):
            response.set_rcode(dns.rcode.NXDOMAIN)
        answer_to.sendto(response.to_wire(), self.client_address)


@pytest.fixture(autouse=True)
def _name_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with socketserver.ThreadingUDPServer(("127.0.0.1", 0), _Asked) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        resolver: Any = dns.resolver.Resolver(configure=False)
        resolver.nameservers, resolver.port = ["127.0.0.1"], server.server_address[1]
        monkeypatch.setattr(dns.resolver, "default_resolver", resolver)
        yield
        server.shutdown()


def test_hosts_and_options_come_from_the_dns() -> None:
    uri = parse_server_uri("mongodb+srv://u:p@c.example.com/shop?retryWrites=false")
    assert sorted(uri.seeds) == ["a.example.com:27018", "b.example.com:27019"], "name servers turn them round"
    assert (uri.set_name, uri.is_direct, uri.retry_writes) == ("rs", False, False)
    assert uri.access.login == Login(username="u", password="p", source="users")
    assert uri.access.tls == Tls()
    plain = parse_server_uri("mongodb+srv://plain.example.com/?tls=false")
    assert (plain.seeds, plain.set_name, plain.access.tls) == (("a.example.com:27017",), None, None)


def test_a_load_balancer_is_refused() -> None:
    with pytest.raises(UsageError, match="is a load balancer"):
        parse_server_uri("mongodb+srv://balanced.example.com")


@pytest.mark.parametrize("name", ["missing", "stolen", "odd"])
def test_what_is_not_there_or_may_not_be_said_is_one_error(name: str) -> None:
    """No such name; a host of another domain; an option that the DNS has no say in."""
    with pytest.raises(TargetError, match="the DNS names no servers"):
        parse_server_uri(f"mongodb+srv://u:hunter2@{name}.example.com")


@pytest.mark.parametrize("name", ["many", "port", "steers"])
def test_hosts_that_no_cluster_has_are_refused(name: str) -> None:
    with pytest.raises(TargetError, match="can't be the servers of a cluster"):
        parse_server_uri(f"mongodb+srv://{name}.example.com/")
