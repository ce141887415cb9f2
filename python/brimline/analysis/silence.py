"""Owns the longest time in which nothing was answered: a server that was lost, or one that stood still."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from brimline.analysis.latency import Latency
from brimline.analysis.objective import Slo
from brimline.analysis.outages import outage_ns, outages_of
from brimline.analysis.standstills import runner_standstills
from brimline.plan.model import WireTarget
from brimline.record.model import IntervalRow, RunRecord, Standstill
from brimline.units import NS_PER_S, format_duration
from brimline.wording import message

TOLD_NS_MIN = 1 * NS_PER_S
"""Without an objective, how long the server has to stand still to be told; an outage always is."""
MEDIANS_MIN = 10
"""And how many median service times: operations that take seconds are not answered in each of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A time without an answer, on the run's clock. `ended`: whether something was answered afterwards.

    `cause`: no primary of a followed set, no connection to the server, no answer on open ones, or a driver's
    process that did not run.
    `primary`: where writes went afterwards, "" where that isn't known.
    """

    from_ns: int
    length_ns: int
    ended: bool
    cause: Literal["primary", "connection", "unanswered", "runner"]
    primary: str = ""

    @property
    def is_of_server(self) -> bool:
        """Whether there was no server to answer."""
        return self.cause in ("primary", "connection")

    @property
    def what(self) -> str:
        """`no primary from 13.2 s to 23.6 s, then db2:27017`."""
        names = {
            "primary": "no primary from {at} to {end}",
            "connection": "no connection from {at} to {end}",
            "unanswered": "connections were up, but nothing came from {at} to {end}",
            "runner": "the process of the driver did not run from {at} to {end}",
        }
        end = format_duration(self.from_ns + self.length_ns) if self.ended else "the end of the run"
        what = message(names[self.cause], at=format_duration(self.from_ns), end=end)
        return message("{what}, then {primary}", what=what, primary=self.primary) if self.primary else what

    @property
    def text(self) -> str:
        """`nothing was answered for 10.4 s: no primary from 13.2 s to 23.6 s, then db2:27017`."""
        return message(
            "nothing was answered for {length}: {what}", length=format_duration(self.length_ns), what=self.what
        )


def longest_silence(record: RunRecord) -> Silence | None:
    """The longest of the outages and of the whole sample intervals without an answer; None where there was none."""
    still = runner_standstills(record.summary)
    found = [_told_by(still, each) for each in (*_outages(record), *_stands(record))]
    return max(found, key=lambda each: each.length_ns, default=None)


def _told_by(still: Sequence[Standstill], silence: Silence) -> Silence:
    """What a driver's process that did not run explains is not the server's."""
    end_ns = silence.from_ns + silence.length_ns
    explained_ns = sum(max(0, min(each["to_ns"], end_ns) - max(each["from_ns"], silence.from_ns)) for each in still)
    return replace(silence, cause="runner") if 2 * explained_ns > silence.length_ns else silence


def is_told(silence: Silence, slo: Slo | None, service: Latency | None) -> bool:
    """Whether it belongs to what is read first: it is longer than the objective allows a single operation to take."""
    if slo is not None:
        return silence.length_ns > min(each.limit_ns for each in slo.latencies)
    if silence.cause != "unanswered":
        return True
    median_ns = 0 if service is None else service.p50_ns or 0
    return silence.length_ns >= max(TOLD_NS_MIN, MEDIANS_MIN * median_ns)


def _outages(record: RunRecord) -> list[Silence]:
    target = record.plan.target
    followed = isinstance(target, WireTarget) and target.replica_set is not None
    return [
        Silence(
            from_ns=outage["from_ns"],
            length_ns=outage_ns(outage, record),
            ended=outage["to_ns"] is not None,
            cause="primary" if followed else "connection",
            primary=outage["primary"] or "",
        )
        for outage in outages_of(record)
    ]


def _stands(record: RunRecord) -> list[Silence]:
    """Whole intervals after the warm-up without an answer, though something was sent or due."""
    answered: dict[int, int] = {}
    for row in record.operations:
        answered[row["start_ns"]] = answered.get(row["start_ns"], 0) + row["ok"] + row["miss"]
    found: list[Silence] = []
    rows: list[IntervalRow] = []
    measured: list[IntervalRow | None] = [each for each in record.intervals if each["phase"] != "warmup"]
    for interval in [*measured, None]:
        if interval is not None and _is_silent(interval, answered.get(interval["start_ns"], 0)):
            rows.append(interval)
        elif rows:
            start_ns, up = rows[0]["start_ns"], any(each["connections_up"] for each in rows)
            found.append(
                Silence(
                    from_ns=start_ns,
                    length_ns=rows[-1]["end_ns"] - start_ns,
                    ended=interval is not None,
                    cause="unanswered" if up else "connection",
                )
            )
            rows = []
    return found


def _is_silent(interval: IntervalRow, answered: int) -> bool:
    return not answered and interval["in_flight"] + interval["backlog"] > 0
