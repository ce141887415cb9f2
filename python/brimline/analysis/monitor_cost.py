"""Owns what watching the server cost it, over the measured window, and the check that it was little.

The server's CPU time for the monitor is that of the thread that serves it, where the server runs on this machine. Of
another machine only a bound is known: the server can't have worked on the monitor's commands for longer than their
answers took.
"""

from dataclasses import dataclass

from brimline.analysis.finding import Finding, Standing
from brimline.analysis.server_window import ServerWindow
from brimline.record.model import RunRecord
from brimline.units import NS_PER_S, format_duration, format_percentage
from brimline.wording import message

SERVER_SHARE_MAX = 0.005
"""Share of the CPU time that the server used, above which watching it is part of what was measured.

Where the server used less than one CPU, the share is held against one CPU: a server that is nearly idle spends a good
part of its time on being looked at, but has enough left for the load not to notice.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorCost:
    """CPU time per second of the measured window, in ns. `server_ns_per_s` is a bound where `exact` is False.

    `server_share` is its part in all the CPU time that the server used, None where that isn't known;
    `monitor_ns_per_s` is that of the monitor's own thread.
    """

    server_ns_per_s: float
    server_share: float | None
    monitor_ns_per_s: float
    exact: bool

    @property
    def little(self) -> bool:
        """Whether it can't have changed what was measured."""
        if self.server_share is None:
            return False
        return min(self.server_share, self.server_ns_per_s / 1e9) <= SERVER_SHARE_MAX


def monitor_cost(record: RunRecord) -> MonitorCost | None:
    """What watching cost in the measured window; None where nothing was watched, or before its cost was recorded."""
    window = _measured_window(record)
    times_ns = window.values("at_ns")
    monitor_ns_per_s = window.rate("monitor_cpu_ns")
    if monitor_ns_per_s is None:
        return None
    server_ns_per_s = window.rate("monitor_server_cpu_ns")
    answered_in_ns = sum(window.values("round_trip_ns")[1:])
    bound_ns_per_s = answered_in_ns * NS_PER_S / (times_ns[-1] - times_ns[0])
    used_ns_per_s = window.rate("server_cpu_ns")
    spent_ns_per_s = bound_ns_per_s if server_ns_per_s is None else server_ns_per_s
    return MonitorCost(
        server_ns_per_s=spent_ns_per_s,
        server_share=spent_ns_per_s / used_ns_per_s if used_ns_per_s else None,
        monitor_ns_per_s=monitor_ns_per_s,
        exact=server_ns_per_s is not None,
    )


def monitor_findings(record: RunRecord) -> list[Finding]:
    """The check that watching the server cost it little; nothing to say where nothing is known."""
    cost = monitor_cost(record)
    if cost is None:
        return []
    per_s = format_duration(cost.server_ns_per_s)
    if cost.server_share is None:
        evidence = message("watching took the server at most {time} per second; its CPU time is not known", time=per_s)
        return [Finding("monitor_cost", Standing.UNKNOWN, evidence)]
    share = format_percentage(cost.server_share)
    limit = format_percentage(SERVER_SHARE_MAX)
    if not cost.exact:
        evidence = message("watching took the server at most {share} of its CPU time", share=share)
        return [Finding("monitor_cost", Standing.PASS if cost.little else Standing.UNKNOWN, evidence)]
    if cost.little:
        evidence = message(
            "watching took {share} of the server's CPU time ({time} per second)", share=share, time=per_s
        )
        return [Finding("monitor_cost", Standing.PASS, evidence)]
    evidence = message(
        "watching took {share} of the server's CPU time ({time} per second), more than {limit}",
        share=share,
        time=per_s,
        limit=limit,
    )
    return [Finding("monitor_cost", Standing.WARN, evidence)]


def _measured_window(record: RunRecord) -> ServerWindow:
    intervals = [row for row in record.intervals if row["phase"] == "measure"]
    if not intervals:
        return ServerWindow([])
    return ServerWindow.of(record.server, start_ns=intervals[0]["start_ns"], end_ns=intervals[-1]["end_ns"])
