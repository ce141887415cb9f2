"""How an address that somebody wrote is read, wherever one is given."""

import pytest

from brimline.api.watch import watch
from brimline.errors import UsageError
from brimline.execution.telemetry.sink import _address as prometheus_address
from brimline.servers.addresses import read_address


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("db1:27027", ("db1", 27027)),
        ("10.0.0.5:65535", ("10.0.0.5", 65535)),
        ("[fd00::1]:1", ("fd00::1", 1)),
        ("[fe80::1%eth0]:080", ("fe80::1%eth0", 80)),
        *(
            (text, None)
            for text in ("db1", "db1:", ":1", "db1:x", "db1:²", "db1:-1", "a/b:1", "fd00::1:1", "[host]:1", "a b:1")
        ),
    ],
)
def test_a_host_and_a_port(text: str, read: tuple[str, int] | None) -> None:
    assert read_address(text) == read


@pytest.mark.parametrize("port", ["65536", "99999", "9" * 5000])
def test_a_port_that_none_can_be_is_not_another_one(port: str) -> None:
    """A socket would take it modulo 65536."""
    for read in (read_address, watch, prometheus_address):
        with pytest.raises(UsageError, match=r"the port \d{5,9} is out of range"):
            read(f"127.0.0.1:{port}")


def test_any_port_that_is_free_is_for_who_listens() -> None:
    assert read_address("h:0", port_min=0) == ("h", 0) == prometheus_address("h:0")
    with pytest.raises(UsageError, match="the port 0 is out of range"):
        read_address("h:0")
