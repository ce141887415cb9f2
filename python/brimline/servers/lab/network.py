"""Owns how far away the servers of a lab are: delay, rate and loss of the line to them, and how these are written."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

from brimline.errors import UsageError
from brimline.units import (
    NS_PER_S,
    duration_text,
    format_duration,
    format_percentage,
    parse_duration,
    parse_percentage,
    percentage_text,
)
from brimline.wording import Message, joined, message

Between = Literal["clients", "members", "all"]

LOCAL = "local"
"""No line at all: connections reach the servers themselves."""
DELAY_S_MAX = 10
"""Beyond it members take each other for dead."""
RATE_BIT_PER_S_MIN = 8_000.0
RATE_BIT_PER_S_MAX = 100e9
LOSS_MAX = 0.5
_RATE = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[kmg]?)bit", re.IGNORECASE)
_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
_WRITTEN = (
    "write it like 5ms, 100mbit, 5ms+100mbit, 5ms+1% or members:5ms; local is no line at all, 0ms one without delay"
)
_ENDS: Mapping[Between, str] = {
    "clients": "between clients and servers",
    "members": "between the servers",
    "all": "between all of them",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A line to each server. `between`: which connections go over it.

    `delay_ns` is each way, so that a round trip takes twice as long; so is `rate_bit_per_s`; None: any. `loss` is the
    share of segments that are lost and sent again, each way.
    """

    delay_ns: int = 0
    rate_bit_per_s: float | None = None
    between: Between = "clients"
    loss: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.delay_ns <= DELAY_S_MAX * NS_PER_S:
            raise UsageError("the servers can't be that far away", hint=f"give a delay of 0ms to {DELAY_S_MAX}s")
        rate = self.rate_bit_per_s
        if rate is not None and not RATE_BIT_PER_S_MIN <= rate <= RATE_BIT_PER_S_MAX:
            raise UsageError(f"a line can't carry {rate:g} bit/s", hint="give 8kbit to 100gbit")
        if not 0 <= self.loss <= LOSS_MAX:
            raise UsageError(
                f"a line can't lose {percentage_text(self.loss)} of its segments",
                hint=f"give 0% to {percentage_text(LOSS_MAX)}",
            )
        if self.between not in get_args(Between):
            raise UsageError(f'a line is not between "{self.between}"', hint="give clients, members or all")

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Reads what `to_document` made."""
        return cls(**document)

    def to_document(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        document = asdict(self)
        if not self.loss:
            del document["loss"]
        return document

    @property
    def text(self) -> str:
        """Its one spelling, which `parse_network` reads: `members:5ms+100mbit`."""
        parts = []
        if self.delay_ns or (self.rate_bit_per_s is None and not self.loss):
            parts.append(duration_text(self.delay_ns) if self.delay_ns else "0ms")
        if self.rate_bit_per_s is not None:
            parts.append(_rate_text(self.rate_bit_per_s))
        if self.loss:
            parts.append(percentage_text(self.loss))
        return ("" if self.between == "clients" else f"{self.between}:") + "+".join(parts)

    @property
    def described(self) -> Message:
        """`5 ms each way, 100mbit, between clients and servers`."""
        parts: list[str | Message] = []
        if self.delay_ns or self.rate_bit_per_s is None:
            parts.append(message("{delay} each way", delay=format_duration(self.delay_ns)))
        if self.rate_bit_per_s is not None:
            parts.append(_rate_text(self.rate_bit_per_s))
        if self.loss:
            parts.append(message("{share} of the segments lost and sent again", share=format_percentage(self.loss)))
        return joined(", ", [*parts, _ENDS[self.between]])


def parse_network(text: str) -> Network | None:
    """The line that `text` stands for; None for `local`. Raises ValueError, and UsageError where it can't be."""
    text = text.strip()
    if text == LOCAL:
        return None
    between, colon, rest = text.partition(":")
    if not colon:
        between, rest = "clients", text
    delay_ns: int | None = None
    rate: float | None = None
    loss: float | None = None
    for part in rest.split("+"):
        if _RATE.fullmatch(part.strip()):
            if rate is not None:
                raise ValueError(f'"{text}" has two rates; {_WRITTEN}')
            rate = parse_bit_rate(part)
        elif part.strip().endswith("%"):
            if loss is not None:
                raise ValueError(f'"{text}" has two losses; {_WRITTEN}')
            loss = parse_percentage(part)
        elif delay_ns is not None:
            raise ValueError(f'"{text}" has two delays; {_WRITTEN}')
        else:
            try:
                delay_ns = parse_duration(part)
            except ValueError:
                raise ValueError(f'"{text}" is no network; {_WRITTEN}') from None
    return Network(delay_ns=delay_ns or 0, rate_bit_per_s=rate, between=between, loss=loss or 0.0)  # type: ignore[arg-type]


def read_network(text: str) -> str:
    """The one spelling of a network, `local` included. Raises as `parse_network`."""
    network = parse_network(text)
    return LOCAL if network is None else network.text


def parse_bit_rate(text: str) -> float:
    """Bits per second of `100mbit`, as tc(8) writes rates. Raises ValueError."""
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'"{text}" is no rate of a line; write it like 100mbit, in kbit, mbit or gbit per second')
    return float(match["number"]) * _UNITS[match["unit"].lower()]


def _rate_text(rate_bit_per_s: float) -> str:
    unit = next((unit for unit in ("g", "m", "k") if rate_bit_per_s >= _UNITS[unit]), "")
    return f"{rate_bit_per_s / _UNITS[unit]:.10g}{unit}bit"
