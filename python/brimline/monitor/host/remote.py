"""Owns asking `brimline watch` on a server's host how that host is doing, and when, by this machine's clock."""

import http.client
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from brimline.errors import TargetError, on_one_line
from brimline.monitor.host.asking import ANSWER_BYTES_MAX, MEMBERS_MAX, PATH, PROTOCOL_VERSION, Question, boot_id
from brimline.monitor.host.clock import JUMPED, ClockOffset, Exchange
from brimline.monitor.host.figures import can_be
from brimline.monitor.host.peer import Peer
from brimline.monitor.host.source import HOST_COLUMNS, HostGone, Reading, meet
from brimline.monitor.programs import generator_processes
from brimline.record.named_times import named_times_text, read_named_times
from brimline.servers.addresses import joined_address
from brimline.servers.deployment import CPU_COUNT_MAX

FIRST_EXCHANGES = 8
"""Round trips before a run, of which the quickest says how far the clocks are apart."""
STARTED_ANEW = "the host was started anew"
_WORDS_MAX = 80
_TEXTS = ("members_cpu_ns_by_name", "others_cpu_ns_by_name")


class Refused(Exception):
    """It answers, and not with what is asked; the text says why, `hint` what to do."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteHost:
    """`brimline watch` at `host`:`port`; `question` is what it is asked. `token` is never shown."""

    host: str
    port: int
    token: str
    question: Question

    def __repr__(self) -> str:
        return f"RemoteHost({self.address})"

    @property
    def address(self) -> str:
        """As it is named to people."""
        return joined_address(self.host, self.port)

    def watch(self) -> "RemoteWatch":
        """Begins to look."""
        return RemoteWatch(self)

    def require(self) -> None:
        """Raises TargetError where nothing answers there, or not as `brimline watch` of this version."""
        try:
            meet(self.watch())
        except Refused as error:
            raise TargetError(f"the host watcher at {self.address} {error}", hint=error.hint) from None
        except HostGone as error:
            raise TargetError(
                f"no host watcher answers at {self.address}: {error}",
                hint="start it on the server's host: brimline watch; a tunnel must be up: see docs/guides/watch.md",
            ) from None


class RemoteWatch:
    """One connection to it, made anew after trouble; for one thread."""

    def __init__(self, source: RemoteHost) -> None:
        self._source = source
        self._peer = Peer(source.host, source.port)
        self._boot_id: str | None = None
        self._clock = ClockOffset()
        self._facts: Mapping[str, Any] = {}
        self._shares_kernel = False

    def read(self) -> Reading:
        """What the host shows now. Raises HostGone, and Refused where it never will."""
        exchange, answer = self._exchange()
        for _ in range(FIRST_EXCHANGES - self._clock.exchange_count):
            exchange, answer = self._exchange()
        self._facts = _facts(answer["facts"])
        told = {name: value for name, value in answer["columns"].items() if name in HOST_COLUMNS}
        columns = {name: _told(name, value) for name, value in told.items()}
        return Reading(
            at_ns=self._clock.placed(exchange),
            columns={**columns, "shared_host": self._shares_kernel},
            cant_be=frozenset(
                name for name, value in told.items() if value not in (None, "") and columns[name] is None
            ),
        )

    def rest(self, *, since_ns: int, until_ns: int) -> Sequence[Reading]:  # noqa: ARG002 (all was read already)
        """Nothing."""
        return ()

    def facts(self) -> dict[str, Any]:
        """Where it was learnt, and the most by which its instants can be wrong."""
        error_ns = self._clock.placed_error_ns
        return {**self._facts, "source": "watch", "from": self._source.address, "clock_error_ns": error_ns}

    def close(self) -> None:
        """Closes the connection."""
        self._peer.close()

    def _exchange(self) -> tuple[Exchange, dict[str, Any]]:
        source = self._source
        ours = tuple(sorted(generator_processes()))[:MEMBERS_MAX] if self._shares_kernel else ()
        headers = {"Authorization": f"Bearer {source.token}"} if source.token else {}
        path = f"{PATH}?{replace(source.question, ours=ours).query()}"
        page = self._peer.get(path, headers=headers, bytes_max=ANSWER_BYTES_MAX + 1)
        try:
            answer = _understood(page.status, page.body)
        except Refused:
            self.close()
            raise
        exchange = Exchange(page.sent_ns, answer["at_ns"], page.received_ns)
        boot_before = self._boot_id
        if answer["boot_id"] != boot_before:
            self._boot_id = answer["boot_id"]
            self._clock.begin_anew()
            self._shares_kernel = answer["boot_id"] == boot_id() != ""
        has_jumped = self._clock.learn(exchange)
        if boot_before not in (None, answer["boot_id"]):
            raise HostGone(STARTED_ANEW)
        if has_jumped:
            raise HostGone(JUMPED)
        return exchange, answer


def _understood(status: int, body: bytes) -> dict[str, Any]:
    """The answer. Raises Refused where it is none of `brimline watch`, or of another version."""
    document: Any = None
    with suppress(ValueError, RecursionError):
        document = json.loads(body) if len(body) <= ANSWER_BYTES_MAX else None
    known = document if isinstance(document, dict) else {}
    if status == http.client.UNAUTHORIZED:
        raise Refused(
            "does not accept the token",
            hint="give both sides the same one, by BRIMLINE_WATCH_TOKEN or a file: --host-token-file, --token-file",
        )
    if "error" in known:
        raise Refused(f"refuses: {_words(known['error'])}", hint="use the same version of brimline on both sides")
    if status != http.client.OK or "protocol" not in known:
        raise Refused(
            f"is no brimline watch (it answers with status {status})",
            hint="name where brimline watch listens; of a node exporter write http://HOST:9100/metrics",
        )
    if known["protocol"] != PROTOCOL_VERSION:
        raise Refused(
            f"is of another version (brimline {_words(known.get('brimline', 'unknown'))}, "
            f"protocol {_words(known['protocol'])}; here it is {PROTOCOL_VERSION})",
            hint="use the same version of brimline on both sides",
        )
    if not _is_whole(known):
        raise Refused("answers what can't be read", hint="use the same version of brimline on both sides")
    return known


def _is_whole(answer: Mapping[str, Any]) -> bool:
    columns, facts, at_ns = answer.get("columns"), answer.get("facts"), answer.get("at_ns")
    return (
        isinstance(columns, dict)
        and all(value is None or type(value) in (int, float, str) for value in columns.values())
        and isinstance(facts, dict)
        and type(at_ns) is int
        and can_be(at_ns)
        and at_ns >= 0
        and isinstance(answer.get("boot_id"), str)
    )


def _told(name: str, value: Any) -> int | float | str | None:
    """What a column says; what can't be says nothing."""
    if name in _TEXTS:
        return named_times_text(read_named_times(value)) or None
    if not can_be(value) or value < 0:
        return None
    return value if not name.endswith("_cpu_count") or 0 < value <= CPU_COUNT_MAX else None


def _facts(told: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of the host, as `ServerHost.to_dict` has it; what can't be is left out."""
    names = {name: told[name] for name in ("disk", "server") if isinstance(told.get(name), str)}
    speeds = told.get("interfaces_bits_per_s")
    known = speeds.items() if isinstance(speeds, dict) else ()
    return {
        "disk": None,
        **names,
        "interfaces_bits_per_s": {name: speed if can_be(speed) and speed > 0 else None for name, speed in known},
    }


def _words(value: object) -> str:
    return on_one_line(str(value))[:_WORDS_MAX]
