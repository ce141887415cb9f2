"""Owns what the two sides of `brimline watch` say to each other: one form, one number for its version.

A question is `GET /host` of HTTP, with what it is about as its query; the answer is a JSON object, `Answer`. The token,
where one is wanted, is the header `Authorization: Bearer …`. Nothing is changed by any question.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlencode

PROTOCOL_VERSION = 1
"""Both sides must say the same."""
PATH = "/host"
PORT_DEFAULT = 27027
ANSWER_BYTES_MAX = 256 * 1024
MEMBERS_MAX = 64
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a look at a host is about: the server that listens there on `port`, and the disk with its data.

    `data_path`: where the server says that its data are, "" where it doesn't say. `members`: ports of further members
    of the deployment there. `ours`: the generator's processes, where they run under the same kernel.
    """

    port: int = 0
    data_path: str = ""
    members: tuple[int, ...] = ()
    ours: tuple[int, ...] = ()

    def query(self) -> str:
        """As a part of an address."""
        several = (("member", self.members), ("ours", self.ours))
        return urlencode(
            [("port", self.port), ("data", self.data_path), *((name, each) for name, all_ in several for each in all_)]
        )

    @classmethod
    def parse(cls, query: str) -> Self:
        """The question that a query asks. Raises ValueError."""
        asked = parse_qs(query, max_num_fields=2 * MEMBERS_MAX + 2, strict_parsing=bool(query))
        if "\0" in (data_path := asked.get("data", [""])[0]):
            raise ValueError("no path holds a NUL")
        return cls(
            port=_number(asked, "port"),
            data_path=data_path,
            members=tuple(map(_port, asked.get("member", ()))),
            ours=tuple(pid for pid in map(int, asked.get("ours", ())) if pid),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a host showed. `at_ns`: when, on its own monotonic clock, which begins anew with each `boot_id`.

    `columns` as in a `ServerRow`; `facts`: what doesn't change, as `ServerHost.to_dict` has it.
    """

    at_ns: int
    boot_id: str
    columns: Mapping[str, int | float | str | None]
    facts: Mapping[str, Any]
    brimline: str
    protocol: int = PROTOCOL_VERSION


def boot_id() -> str:
    """What names this boot of this machine's kernel, in all its containers; "" where it doesn't say."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _number(asked: Mapping[str, list[str]], name: str) -> int:
    return int(asked[name][0]) if name in asked else 0


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port < 1 << 16:
        raise ValueError(f"{port} is no port")
    return port
