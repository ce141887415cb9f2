"""Which members take reads: cases of the drivers' server selection and max staleness specifications."""

from collections.abc import Mapping

import pytest

from brimline.errors import TargetError
from brimline.servers.discovery import Member, Role, Topology
from brimline.servers.selection import Mode, ReadPreference, reads_of


def member(name: str, *, tags: Mapping[str, str] | None = None, written_s: float = 1000.0) -> Member:
    role: Role = "primary" if name == "p" else "secondary"
    return Member(address=f"{name}:1", role=role, tags=tags or {}, last_write_s=written_s)


EAST, WEST = {"dc": "east", "rack": "1"}, {"dc": "west"}
SET = Topology(writable=(member("p", tags=EAST),), secondaries=(member("b", tags=WEST), member("a", tags=EAST)))
ALONE = Topology(writable=(member("p"),))
ROUTERS = Topology(writable=(Member(address="m:1", role="mongos"), Member(address="n:1", role="mongos")))


@pytest.mark.parametrize(
    ("topology", "mode", "tag_sets", "addresses"),
    [
        (SET, "primaryPreferred", (), ()),
        (SET, "secondary", (), ("a:1", "b:1")),
        (SET, "secondary", ({"dc": "west"},), ("b:1",)),
        (SET, "secondary", ({"dc": "east", "rack": "1"},), ("a:1",)),
        (SET, "secondary", ({"dc": "north"}, {"dc": "west"}, {}), ("b:1",)),
        (SET, "secondary", ({"dc": "north"}, {}), ("a:1", "b:1")),
        (SET, "secondaryPreferred", ({"dc": "north"},), ()),
        (SET, "nearest", (), ("a:1", "b:1", "p:1")),
        (SET, "nearest", ({"dc": "east"},), ("a:1", "p:1")),
        (ALONE, "secondaryPreferred", (), ()),
        (ALONE, "nearest", (), ("p:1",)),
        (ROUTERS, "secondary", ({"dc": "west"},), ()),
    ],
)
def test_where_reads_go(
    topology: Topology, mode: Mode, tag_sets: tuple[Mapping[str, str], ...], addresses: tuple[str, ...]
) -> None:
    reads = reads_of(topology, ReadPreference(mode=mode, tag_sets=tag_sets))
    assert reads is not None
    assert reads.addresses == addresses
    assert (reads.mode, reads.tag_sets) == (mode, tag_sets)


def test_without_a_preference_nothing_is_said() -> None:
    assert reads_of(SET, ReadPreference(mode="primary")) is None


def test_members_that_are_far_behind_are_left_out() -> None:
    topology = Topology(
        writable=(member("p", written_s=1000.0),),
        secondaries=(member("a", written_s=920.0), member("b", written_s=919.0)),
    )
    reads = reads_of(topology, ReadPreference(mode="secondary", max_staleness_s=90))
    assert reads is not None
    assert reads.addresses == ("a:1",), "80 s behind, and the news may be 10 s old"


@pytest.mark.parametrize(
    ("topology", "preference", "words"),
    [
        (ALONE, ReadPreference(mode="secondary"), "no secondary that takes reads"),
        (SET, ReadPreference(mode="secondary", tag_sets=({"dc": "north"},)), "no secondary has these tags"),
        (
            Topology(writable=(member("p"),), secondaries=(member("a", written_s=0.0),)),
            ReadPreference(mode="secondary", max_staleness_s=90),
            "more than 90 s behind",
        ),
    ],
)
def test_that_nobody_fits_is_said(topology: Topology, preference: ReadPreference, words: str) -> None:
    with pytest.raises(TargetError, match=words) as raised:
        reads_of(topology, preference)
    assert raised.value.hint
