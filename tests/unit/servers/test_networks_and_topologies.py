"""How far away a lab is and what it is made of, each in one word; what can't be is refused by name."""

import pytest

from brimline.errors import UsageError
from brimline.servers.lab.names import is_client_routed, is_sharded, read_topology, topology_spec
from brimline.servers.lab.network import LOCAL, Network, parse_network
from brimline.servers.lab.spec import LabSpec, members_of

MS = 1_000_000


@pytest.mark.parametrize(
    ("text", "network", "spelling"),
    [
        ("5ms", Network(delay_ns=5 * MS), "5ms"),
        (" 0ms ", Network(), "0ms"),
        ("0.5ms", Network(delay_ns=MS // 2), "500us"),
        ("100Mbit", Network(rate_bit_per_s=1e8), "100mbit"),
        ("1.5gbit", Network(rate_bit_per_s=1.5e9), "1.5gbit"),
        ("1000kbit", Network(rate_bit_per_s=1e6), "1mbit"),
        ("100mbit+5ms", Network(delay_ns=5 * MS, rate_bit_per_s=1e8), "5ms+100mbit"),
        ("members:5ms", Network(delay_ns=5 * MS, between="members"), "members:5ms"),
        ("clients:5ms", Network(delay_ns=5 * MS), "5ms"),
        ("1%+5ms", Network(delay_ns=5 * MS, loss=0.01), "5ms+1%"),
        ("0.5%", Network(loss=0.005), "0.5%"),
        ("50%", Network(loss=0.5), "50%"),
        ("all:64000bit", Network(rate_bit_per_s=64e3, between="all"), "all:64kbit"),
    ],
)
def test_a_network_has_one_spelling(text: str, network: Network, spelling: str) -> None:
    assert parse_network(text) == network
    assert network.text == spelling
    assert parse_network(spelling) == network
    assert Network.from_document(network.to_document()) == network


def test_local_is_no_network() -> None:
    assert parse_network(LOCAL) is None


def test_a_network_is_described_with_both_ways_and_its_ends() -> None:
    assert Network(delay_ns=5 * MS, rate_bit_per_s=1e8).described == (
        "5.00 ms each way, 100mbit, between clients and servers"
    )
    assert Network(delay_ns=MS, loss=0.01).described == (
        "1.00 ms each way, 1 % of the segments lost and sent again, between clients and servers"
    )
    assert Network(delay_ns=MS, between="members").described == "1.00 ms each way, between the servers"


@pytest.mark.parametrize("text", ["", "far", "5", "5ms+6ms", "1mbit+2mbit", "1%+2%", "5ms,1mbit", "5 mbyte"])
def test_what_is_no_network(text: str) -> None:
    with pytest.raises(ValueError, match="write it like"):
        parse_network(text)


@pytest.mark.parametrize("text", ["11s", "1bit", "1000gbit", "51%", "nobody:5ms"])
def test_what_no_network_can_be(text: str) -> None:
    with pytest.raises(UsageError):
        parse_network(text)


def test_a_line_between_members_needs_members() -> None:
    line = Network(delay_ns=MS, between="members")
    with pytest.raises(UsageError, match="no servers that speak with each other"):
        LabSpec(network=line)
    with pytest.raises(UsageError, match="no servers that speak with each other"):
        LabSpec(topology="replica set", members=members_of(1), network=line)
    assert LabSpec(topology="replica set", members=members_of(2), network=line).network == line


@pytest.mark.parametrize(
    ("text", "name", "topology", "members", "shards"),
    [
        ("standalone", "standalone", "standalone", 0, 0),
        ("replica-set-3", "replica-set-3", "replica set", 3, 0),
        ("replica-set-03", "replica-set-3", "replica set", 3, 0),
        ("shards-2", "client-routed-2", "client-routed shards", 0, 2),
        ("client-routed-4x2", "client-routed-4x2", "client-routed shards", 2, 4),
        ("shards-1", "client-routed-1", "client-routed shards", 0, 1),
        ("sharded-2", "sharded-2", "sharded cluster", 1, 2),
        ("sharded-02x1", "sharded-2", "sharded cluster", 1, 2),
        ("sharded-4x3", "sharded-4x3", "sharded cluster", 3, 4),
    ],
)
def test_a_topology_has_one_name(text: str, name: str, topology: str, members: int, shards: int) -> None:
    assert read_topology(text) == name
    assert read_topology(name) == name
    spec = topology_spec(name)
    assert (spec.topology, len(spec.members), spec.shard_count) == (topology, members, shards)
    assert is_client_routed(name) is (topology == "client-routed shards")
    assert is_sharded(name) is (topology == "sharded cluster")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ring-3", "no topology"),
        ("", "no topology"),
        ("shards-0", "1 to 16 shards"),
        ("shards-17", "1 to 16 shards"),
        ("cluster-2", "behind a mongos is sharded-2"),
        ("sharded-cluster", "behind a mongos is sharded-2"),
        ("sharded-0", "1 to 16 shards"),
    ],
)
def test_what_is_no_topology(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_topology(text)


@pytest.mark.parametrize("text", ["replica-set-0", "replica-set-8", "shards-2x8"])
def test_what_no_replica_set_can_be(text: str) -> None:
    with pytest.raises(UsageError):
        read_topology(text)
